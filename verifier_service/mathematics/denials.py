"""Values and options of which a completion says that they are not the answer."""

from __future__ import annotations

import re

MAX_DENIAL_CHARACTERS = 60
"""Longest text before the announcement of an answer in which a denial of it is sought."""


def is_disowned(announcement: re.Match[str]) -> bool:
    """Whether a denial stands before the announcement of an answer (`answer is`), in its line."""
    text, end = announcement.string, announcement.start()
    begin = max(0, end - MAX_DENIAL_CHARACTERS)
    begin = max(begin, text.rfind("\n", begin, announcement.end() - 1) + 1)
    is_denied = _DISOWNED.search(text, begin, end) is not None
    return is_denied and _COUNTED.search(text, begin, end) is None


_CLAIM = (
    r"(?:say(?:ing)?|think|believe|claim|conclude|assume|agree|sure|certain|convinced|confident)"
)
_ARTICLES = r"(?:[ ]+(?:the|an?|my|our|your|final))*"
# A denial right before `answer is 5`: `n't think that the ` in `I don't think that the answer is`.
# Nothing that ends a clause may come between: `I am not sure, but the answer is 5` denies nothing.
_DISOWNING = (
    rf"(?:\b(?:wrong|incorrect)"
    rf"|\b(?:wrong|incorrect|false)[ ]+(?:to[ ]+{_CLAIM}(?:[ ]+that)?|that){_ARTICLES}"
    rf"|(?:\bnot|\bcannot|n['’]t)[ ]+(?:be[ ]+)?{_CLAIM}(?:[ ]+(?:that|if|whether))?{_ARTICLES}"
    rf"|(?:\bnot|n['’]t)[ ]+(?:(?:true|correct|right|the[ ]+case)[ ]+)?that{_ARTICLES})[ *_]+"
)
# Such a denial at the end of a text.
_DISOWNED = re.compile(_DISOWNING + "$", re.IGNORECASE)
# Words that count wrong answers and deny none: `number of wrong ` before `answers is 12`.
_COUNTED = re.compile(
    r"(?:\b(?:total|(?:number|count|fraction|percentage|proportion|probability|chance)s?[ ]+"
    r"(?:of|for|that))\b(?:(?!\b(?:is|are|so|but)\b)[^.,:;?!])*|\d[ *_]+)"
    r"\b(?:wrong|incorrect)[ *_]+$",
    re.IGNORECASE,
)


# The letter of an option: `(b)`, `B`, `[B]`.
_OPTION = r"(?:[(\[][A-Za-z][)\]]|[(\[]?\b[A-Z]\b[)\]]?)"
_NOUN = r"(?:(?i:option|choice|answer)s?\s+)?"
# An option further on in a list, unless a statement about it begins there: `C is` is none.
_NEXT = rf"{_NOUN}{_OPTION}(?![)\]]?\s+(?i:is|are|must|remains?|stands|looks|seems|has)\b)"
# A list of options, up to the one behind its `and`: the `A, C and D` of `A, C and D, option B`.
_OPTIONS = rf"{_NOUN}{_OPTION}(?:\s*,\s*{_NEXT})*(?:(?:\s*,)?\s+(?i:and|or)\s+{_NEXT})*"
# The options that `not` denies: one, or a list that ends with `or`. In `not A, B` B is chosen.
_NEITHER = rf"{_NOUN}{_OPTION}(?:(?:\s*,\s*{_NEXT})*(?:\s*,)?\s+(?i:n?or)\s+{_NEXT})?"
# Options with the words that reject them: `ruling out A and C`, `not (B)`, `B is wrong`.
REJECTED_OPTION = re.compile(
    rf"(?i:{_DISOWNING}(?:final[ ])?(?:option|choice|answer)s?(?:\s*(?:is|are|:))?\s*){_OPTIONS}"
    rf"|(?i:\b(?:reject|eliminat|exclud|discard)(?:e?[sd]|e|ing)?\s+|\brul(?:e[sd]?|ing)\s+out\s+)"
    rf"{_OPTIONS}"
    rf"|\(?(?i:\b(?:and|but)\s+)?(?i:(?:\bnot|n['’]t)\s+){_NEITHER}"
    rf"|(?i:\b(?:option|choice)\s+)?{_OPTION}\s+(?:(?i:fails)\b"
    rf"|(?i:is|was|looks|seems|must\s+be|has\s+been)"
    rf"\s+(?i:wrong|false|incorrect|eliminated|rejected|excluded|discarded|ruled\s+out)\b"
    rf"|(?i:is|was)(?i:n['’]t|\s+not)\b(?:\s+{_NEITHER})?)"
)
