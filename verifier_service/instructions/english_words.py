"""The constraints of IFBench on verbs and syllables, by dictionaries of English words.

The packages lemminflect (forms of words) and syllapy (syllables, the source's own) are an extra:
`pip install reward-verifier[instructions]`. The source asks NLTK's tagger for the first word's part
of speech; here a dictionary says whether the word is a verb, and the next word whether it is a
noun.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

from verifier_service.instructions.constraint import (
    Finding,
    MissingPackage,
    Response,
    constraint,
)

MAX_WORD_CHARACTERS = 60
"""Longer runs of letters are no English word."""
_NO_SIGNS = str.maketrans("", "", string.punctuation)
_MODALS = frozenset("can could may might must shall should will would ought".split())
"""Verbs that NLTK's tagger does not count as such."""
_AFTER_NOUNS = _MODALS | frozenset(
    "is are was were be been has have had do does did of ' 's".split()
)
"""Words behind the noun: `is` after `Love is patient`."""


class NoEnglishWords(MissingPackage):
    """The package lemminflect or syllapy is not installed."""


@cache
def _lemmas() -> Callable[[str], dict[str, Any]]:
    try:
        from lemminflect import getAllLemmas  # noqa: PLC0415
    except ImportError as error:
        raise NoEnglishWords from error
    lemmas: Callable[[str], dict[str, Any]] = getAllLemmas
    return lemmas


@cache
def _syllable_counter() -> Callable[[str], int]:
    try:
        from syllapy import count  # noqa: PLC0415
    except ImportError as error:
        raise NoEnglishWords from error
    counter: Callable[[str], int] = count
    return counter


@constraint("words:start_verb")
def start_verb(response: Response) -> Finding:
    """The first word is a verb in any form; a modal verb is one where the response is closed."""
    tokens = response.tokens
    first = tokens[0].lower() if tokens else ""
    if not first.isalpha() or len(first) > MAX_WORD_CHARACTERS:
        return Finding(False, f"{first[:40]!r}")
    kinds = set(_lemmas()(first))
    if first in _MODALS:
        return Finding(response.closed, "a modal verb")
    if not kinds & {"VERB", "AUX"}:
        return Finding(False, f"{first!r} is no verb")
    is_noun = "NOUN" in kinds and not _is_followed_by_an_object(tokens)
    return Finding(not is_noun, f"{first!r}, {'a noun here' if is_noun else 'a verb'}")


def _is_followed_by_an_object(tokens: list[str]) -> bool:
    """Whether a word that may be a noun is not one: the `Plan` of `Plan a trip`."""
    following = tokens[1].lower() if len(tokens) > 1 else ""
    is_gerund = tokens[0].lower().endswith("ing")
    return is_gerund or (following[:1].isalnum() and following not in _AFTER_NOUNS)


@constraint("words:odd_even_syllables")
def odd_even_syllables(response: Response) -> Finding:
    """Words of an odd and of an even number of syllables alternate."""
    words = response.lower.translate(_NO_SIGNS).split()
    if response.closed:  # a number or a sign has no syllables, and one word alternates with nothing
        wrong = next((word for word in words if not re.search("[a-z]", word)), None)
        if wrong is not None or len(words) < 2:
            return Finding(False, f"{wrong[:40]!r} is no word" if wrong else "one word")
    count = _syllable_counter()
    for one, two in pairwise(words):
        if count(one) % 2 == count(two) % 2:
            return Finding(False, f"{one[:40]!r} and {two[:40]!r}")
    return Finding(True, f"{len(words)} words")
