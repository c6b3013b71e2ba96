"""Sentences and words of a text, close to those that NLTK finds in English.

IFEval, IF-RLVR and IFBench count what NLTK's Punkt model and Treebank tokenizer find. The model is
a download of its own, so its rules are written here: a sentence ends at . ? or ! before white
space, unless an abbreviation, an initial or an ellipsis stands there and no new sentence follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TITLES = frozenset(
    "mr mrs ms dr prof rev hon gen col capt lt sgt maj cmdr adm sen rep gov pres st mt ft".split()
)
"""Abbreviations that stand before a name, so that no sentence ends there."""
_ABBREVIATIONS = _TITLES | frozenset(
    "jr sr inc ltd co corp bros vs e.g i.e u.s u.k u.n d.c ph.d a.m p.m b.c a.d cf al fig figs "
    "vol no nos pp ed eds jan feb mar apr aug sept oct nov dec mon tue wed thu fri sat sun "
    "approx dept est ave blvd rd".split()
)
_STARTERS = frozenset(
    "the this that these those he she it we they you but in however although while when if there "
    "a an and so then after as for at on what why how".split()
)
"""Words that begin a sentence after an abbreviation, where they have a capital."""

# An end with the marks that close it: the `."` of `He said "no." Then`.
_END = re.compile(r"(?<![.?!])(?P<mark>[.?!]++)(?P<close>[\"'\u201d\u2019)\]}*_]*+)(?=\s|$)")
# The word before an end: the `Dr` of `see Dr. Who`.
_LAST_WORD = re.compile(r"[\w.&'\u2019-]+$")
# The first word behind an end: the `The` of ` "The end`.
_NEXT_WORD = re.compile(r"\s*[\"'\u201c\u2018(\[*_]*(\w+)?")


def sentences(text: str, *, with_signs: bool = False) -> list[str]:
    """The sentences of a text, each with a word in it; `with_signs` also those of signs alone.

    >>> sentences("Dr. Who left. He saw 3.5 stars! Why?")
    ['Dr. Who left.', 'He saw 3.5 stars!', 'Why?']
    """
    return [part for part in _parts(text) if with_signs or re.search(r"\w", part)]


def _parts(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        if not _ends_sentence(text, start, end):
            continue
        yield text[start : end.end()].strip()
        start = end.end()
    if text[start:].strip():
        yield text[start:].strip()


def _ends_sentence(text: str, start: int, end: re.Match[str]) -> bool:
    mark = end["mark"]
    if mark != "." and not mark.startswith(".."):
        return True
    following = _NEXT_WORD.match(text, end.end())
    next_word = (following[1] if following else None) or ""
    if mark.startswith(".."):
        return not next_word[:1].islower() and bool(next_word)
    found = _LAST_WORD.search(text, max(start, end.start() - 40), end.start())
    word = found[0].lower() if found else ""
    if word.isdigit():
        return not next_word[:1].islower()
    is_initial = len(word) == 1 and word.isalpha() and word != "i"
    if is_initial:
        return next_word.lower() in _STARTERS and next_word[:1].isupper()
    if word not in _ABBREVIATIONS:
        return True
    return word not in _TITLES and next_word[:1].isupper() and next_word.lower() in _STARTERS


def count_words(text: str) -> int:
    """The number of words: runs of letters, digits and underscores."""
    return sum(1 for _ in re.finditer(r"\w+", text))


# Signs that are words of their own: the brackets and the comma of `(a, b)`.
_SIGNS = re.compile(r"\.{2,}|--|[;@#$%&?!*()\[\]{}<>\u201c\u201d]|[:,](?!\d)")
# A double quote that opens: the first one of `("so")`.
_OPENING = re.compile(r"(^|[ (\[{<])\"")
# The end of a contraction: the `n't` of `don't`, the `'s` of `it's`.
_CONTRACTED = re.compile(r"(?i)(?<=\w)(n't|['\u2019](?:s|m|d|ll|re|ve))\b")
# Quotes around words: both of `'so'`.
_QUOTES = re.compile(r"(?<!\w)'(?=\w)|(?<=\w)'(?!\w)")
_TWO_WORDS = re.compile(r"(?i)\b(can)(not)\b|\b(gon|wan)(na)\b|\b(got)(ta)\b|\b(gim|lem)(me)\b")


def word_tokens(text: str) -> list[str]:
    """The words and signs of a text, as the Treebank tokenizer finds them.

    >>> word_tokens("I can't (really) go.")
    ['I', 'ca', "n't", '(', 'really', ')', 'go', '.']
    """
    return [token for sentence in _parts(text) for token in _tokens(sentence)]


def _tokens(sentence: str) -> list[str]:
    found = _OPENING.sub(r"\1 `` ", sentence).replace('"', " '' ")
    found = _SIGNS.sub(r" \g<0> ", found)
    found = _QUOTES.sub(" ' ", found)
    found = _CONTRACTED.sub(r" \1", found)
    found = _TWO_WORDS.sub(lambda two: " ".join(part for part in two.groups() if part), found)
    found = re.sub(r"(?<=[^.\s])\.(?=[\])}>\"'\u00bb\u201d\u2019 ]*+\s*$)", " .", found)
    return found.split()
