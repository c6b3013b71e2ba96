"""What a completion says is not the answer."""

from __future__ import annotations

import re

MAX_DENIAL_CHARACTERS = 60
"""A denial is looked for in as many before the words that announce an answer."""


def is_disowned(announcement: re.Match[str]) -> bool:
    """Whether words that announce an answer (`answer is`) follow a denial of it in their line."""
    text, end = announcement.string, announcement.start()
    begin = max(0, end - MAX_DENIAL_CHARACTERS)
    begin = max(begin, text.rfind("\n", begin, announcement.end() - 1) + 1)
    disowned, counted = (
        expression.search(text, begin, end) is not None for expression in (_DISOWNED, _COUNTED)
    )
    return disowned and not counted


_CLAIM = (
    r"(?:say(?:ing)?|think|believe|claim|conclude|assume|agree|sure|certain|convinced|confident)"
)
_ARTICLES = r"(?:[ ]+(?:the|an?|my|our|your|final))*"
_DISOWNING = (
    rf"(?:\b(?:wrong|incorrect)"
    rf"|\b(?:wrong|incorrect|false)[ ]+(?:to[ ]+{_CLAIM}(?:[ ]+that)?|that){_ARTICLES}"
    rf"|(?:\bnot|\bcannot|n['’]t)[ ]+(?:be[ ]+)?{_CLAIM}(?:[ ]+(?:that|if|whether))?{_ARTICLES}"
    rf"|(?:\bnot|n['’]t)[ ]+(?:(?:true|correct|right|the[ ]+case)[ ]+)?that{_ARTICLES})[ *_]+"
)
"""What stands right before `answer is` where it tells what the answer is not. Nothing that ends a
clause comes between: `I am not sure, but the answer is 5`."""
_DISOWNED = re.compile(_DISOWNING + "$", re.IGNORECASE)
_COUNTED = re.compile(
    r"(?:\b(?:total|(?:number|count|fraction|percentage|proportion|probability|chance)s?[ ]+"
    r"(?:of|for|that))\b(?:(?!\b(?:is|are|so|but)\b)[^.,:;?!])*|\d[ *_]+)"
    r"\b(?:wrong|incorrect)[ *_]+$",
    re.IGNORECASE,
)
"""What counts wrong answers, and denies none: `the number of wrong answers is 12`."""


_OPTION = r"(?:[(\[][A-Za-z][)\]]|[(\[]?\b[A-Z]\b[)\]]?)"
_NOUN = r"(?:(?i:option|choice|answer)s?\s+)?"
_NEXT = rf"{_NOUN}{_OPTION}(?![)\]]?\s+(?i:is|are|must|remains?|stands|looks|seems|has)\b)"
_OPTIONS = rf"{_NOUN}{_OPTION}(?:\s*,\s*{_NEXT})*(?:(?:\s*,)?\s+(?i:and|or)\s+{_NEXT})*"
"""A list of options ends with what follows its `and`: in `A, C and D, option B` B is not of it."""
_NEITHER = rf"{_NOUN}{_OPTION}(?:(?:\s*,\s*{_NEXT})*(?:\s*,)?\s+(?i:n?or)\s+{_NEXT})?"
"""What `not` denies: one option, or a list that ends with `or`. In `not A, B` B is chosen."""
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
"""An option, by its letter, with the words that say that it is not the answer."""
