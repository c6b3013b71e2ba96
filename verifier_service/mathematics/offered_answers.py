"""Values that a completion offers beside its answer, of which a reader could choose."""

from __future__ import annotations

import re

from verifier_service.mathematics.denials import MAX_LINE_CHARACTERS

# A short value: `5`, `-3/4`, `$x^2$`.
_VALUE = r"(?:\$[^$\n]{1,80}\$|[-−]?\d[\d.,/]{0,40}(?<![.,]))"
# A second value behind the first, in the same line: the `6` of `5. Or 6`, of `5 as well as 6`, of
# `5 if n is odd and 6 if n is even`, of `5 and the answer is 6`.
_SECOND = re.compile(
    rf"(?P<first>{_VALUE})(?:[.!?]\s+[(\[]?(?:(?:edit|ps|note|update)\b[:,.]?\s+)?"
    rf"(?:or|maybe|perhaps|possibly|alternatively)\b[,:]?\s+"
    rf"|[.;,!?]\s+(?:and\s+|but\s+)?if\s+(?:that|this|it|not|wrong|rejected)\b[^.\n]{{0,40}}?,\s+"
    rf"(?:then\s+)?(?:please\s+)?(?:(?:use|try|take|read|accept|it|is|the|my|second|answer)\s+){{0,4}}"
    rf"|,?\s+as\s+well\s+as\s+|[.!?;]\s+also,?\s+(?={_VALUE}[$*]{{0,3}}[.!]?\s{{0,9}}(?:\n|\Z))"
    rf"|[.!;,]\s+(?:but\s+|and\s+|also\s+)?(?={_VALUE}\s+(?:works|is\s+(?:also\s+|equally\s+)?"
    rf"(?:possible|right|correct|valid|fine|an\s+answer|acceptable)|would\s+(?:also\s+)?(?:work|do)))"
    rf"|,?\s+(?:and|or)\s+(?:maybe\s+|perhaps\s+|else\s+)?the\s+(?:final\s+)?answer\s+is\s+"
    rf"|,?\s+(?:if|when)\b[^.\n]{{0,80}}?[\s,;](?:else|otherwise)[\s,]+"
    rf"|[^\n;.]{{0,80}}?[;,.]\s+(?:but\s+|and\s+|while\s+|whereas\s+)?(?:the\s+|an?\s+)?"
    rf"(?:second|other|latter|alternative|another|different)\s+"
    rf"(?:(?:possible\s+)?(?:method|approach|answer|way|possibility|option|reading|interpretation"
    rf"|calculation|estimate|result|view)\s+)?"
    rf"(?:gives?|yields?|is|says?|would\s+(?:be|give)|leads\s+to|gets?)\s+)(?P<second>{_VALUE})"
    rf"|(?P<one>{_VALUE}),?\s+(?:if|when|for)\b[^.\n]{{0,80}}?(?:,\s|;\s|\sand\s)(?:and\s+)?"
    rf"(?P<other>{_VALUE})\s+(?:if|when|for|otherwise|else)\b",
    re.IGNORECASE,
)


# Another announcement right behind the first, without a word that revises or concludes: the
# `. The answer is B` of `The answer is A. The answer is B.`
_ANNOUNCED_AGAIN = re.compile(
    rf"\W{{0,4}}(?P<first>{_VALUE}|(?-i:\(?\b[A-HJ]\b\)?))[.;!,]?\s+"
    r"(?:(?:and|or|the|my|our|your|his|her|an|another|other|second|alternative|possible|also"
    r"|\w+['’]s)\s+){0,3}answer(?:\s+is|\s*[:=])\W{1,4}"
    rf"(?P<second>{_VALUE}|(?-i:\(?\b[A-HJ]\b\)?))",
    re.IGNORECASE,
)


def is_offered_beside(announced: re.Match[str], again: re.Match[str]) -> bool:
    """Whether a second announcement of an answer is an alternative to the first one."""
    match = _ANNOUNCED_AGAIN.match(announced.string, announced.end())
    if match is not None and match.end() > again.start():
        return True
    match = _SECOND.match(announced.string, announced.end())
    return match is not None and match.end() > again.start()


def offered_values(text: str, position: int) -> tuple[str, str] | None:
    """The two values that an announcement offers behind a position; None where it offers one.

    >>> offered_values("The answer is 5. Or 6.", 14), offered_values("It is 5 if n is odd.", 6)
    (('5', '6'), None)
    """
    match = _SECOND.match(text, position) or _ANNOUNCED_AGAIN.match(text, position)
    if match is None:
        return None
    first, second = filter(None, match.groups())
    return first.strip("$"), second.strip("$")


# Two values with a condition between them, in words or as programs write it: `5 if odd else 6`,
# `if odd: 5, else: 6`, `odd ? 5 : 6`.
_EITHER = re.compile(
    rf"(?P<first>{_VALUE})[^.\n]{{0,60}}?\b(?:if|when|unless)\b[^\n]{{0,80}}?"
    rf"\b(?:else|otherwise)\b\W{{0,3}}(?:(?:it|is|return|the|answer|we|get|print)\W{{1,3}}){{0,4}}"
    rf"(?P<second>{_VALUE})"
    rf"|\b(?:if|when)\b[^\n]{{0,80}}?[:,\s(](?P<one>{_VALUE})[^\n]{{0,40}}?\b(?:else|otherwise)\b"
    rf"\W{{0,3}}(?:(?:it|is|return|the|answer|we|get|print)\W{{1,3}}){{0,4}}(?P<other>{_VALUE})"
    rf"|(?P<here>{_VALUE})(?:\s[a-z]{{1,12}}){{0,3}},?\s+(?:if|when|unless)\b[^.\n]{{0,80}}?[,;\s]\s?"
    rf"(?:and\s+|but\s+)?(?P<elsewhere>{_VALUE})\s+(?:otherwise|else)\b"
    rf"|\?\s*(?P<yes>{_VALUE})\s*:\s*(?P<no>{_VALUE})"
    rf"|\b(?:if|when|assuming|suppose|unless)\b[^;\n]{{0,60}}?[,;\s](?P<once>{_VALUE})[,;]\s+"
    rf"(?:and\s+|but\s+)?(?:if|when|assuming|suppose)\b[^\n]{{0,60}}?[,;\s](?P<again>{_VALUE})"
    rf"|\bunless\b[^,;\n]{{0,40}}\s(?P<unless>{_VALUE}),[^\n]{{0,30}}?\s(?P<main>{_VALUE})"
    rf"|(?P<same>{_VALUE})[^;.\n]{{0,30}};\s+(?:and\s+)?so\s+is\s+(?P<so>{_VALUE})"
    rf"|\bone\s+(?:\w+\s+)?(?:says?|claims?|thinks?|gets?|gives?)\s+(?P<says>{_VALUE}),\s+(?:and\s+)?"
    rf"(?:the\s+|an)other\s+(?:one\s+)?(?:(?:says?|claims?|thinks?|gets?|gives?)\s+)?(?P<too>{_VALUE})"
    rf"|\b(?:method|approach|answer|way|reading|interpretation|guess|formula|calculation)s?\b"
    rf"[^\n;.]{{0,40}}?(?P<this>{_VALUE})[,;]\s+(?:and\s+|but\s+|while\s+)?(?:by\s+|in\s+|with\s+)?"
    rf"(?:the\s+|an?\s*)(?:other|second|latter)\s+(?:\w+\s+){{0,2}}?(?P<that>{_VALUE})",
    re.IGNORECASE,
)


def offered_in_line(line: str) -> tuple[str, str] | None:
    """The values of which a condition in a line chooses one; None where it chooses none.

    >>> offered_in_line("5 if odd else 6"), offered_in_line("If odd, we add 5 and get 6.")
    (('5', '6'), None)
    """
    line = line[:MAX_LINE_CHARACTERS]
    match = _EITHER.search(line) if _may_offer(line.lower()) else None
    if match is None:
        return None
    first, second = filter(None, match.groups())
    return first.strip("$"), second.strip("$")


_EITHER_WORDS = (
    "so is",
    "else",
    "otherwise",
    "unless",
    "other",
    "second",
    "latter",
    "assuming",
    "suppose",
)


def _may_offer(line: str) -> bool:
    """Whether a line in lower case has the words of `_EITHER`, whose search takes far longer."""
    if any(word in line for word in _EITHER_WORDS) or line.count("if") + line.count("when") > 1:
        return True
    return "?" in line and ":" in line
