"""Answers by cases: the 5 and the 6 of `For n odd: 5. For n even: 6.`

Only cases that exclude each other count: `For n = 1: 2. For n = 2: 4.` may count up to the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_CHARACTERS = 600
"""Longest end of a text in which cases are sought."""
_MAX_CLAUSE = 240
_MAX_CLAUSES = 12
_MAX_BEFORE_BOX = 120

# A short value: `6`, `$x^2$`, `\boxed{6}`.
_VALUE = (
    r"[*_]{0,3}(?:\$?\\boxed\{(?P<boxed>[^{}\n]{1,60})\}\$?|(?P<value>\$[^$\n]{1,60}\$"
    r"|[-−]?[$€£]?\d[\d,]{0,20}(?:\.\d{1,20})?(?:/\d{1,9})?(?:\\?%)?))[*_]{0,3}"
)
# A word before the condition of a case: `If`, `For`, `Case 2`, `Otherwise`.
_HEAD = r"(?:if|when|whenever|for|suppose|assuming|case|otherwise|else)\b"
# Parts of words without which no clause is a case.
_WORDS = (
    "If ",
    " if ",
    "hen ",
    "For ",
    " for ",
    "ase ",
    "therwise",
    "lse",
    "odd",
    "even",
    "Odd",
    "Even",
    "uppos",
    "ssum",
)
# Words between a condition and its value: `the answer is `, `we get `.
_LEADS = (
    r"(?:(?:then|so|thus|and|the|our|my|final|correct|required|answer|result|value|solution|number|is|are"
    r"|equals?|it|this|we|get|have|obtain|there|would|be|will|gives?|yields?)\s{1,3}|[a-z]\s?=\s?|[:,*(]\s?){0,9}"
)
# A clause with its condition first, or with its value first: `For n odd: 5`, `5 if n is odd`.
_CONDITION_FIRST = re.compile(
    rf"[\W_]{{0,9}}(?:(?:so|and|but|while|whereas|thus)\s)?(?P<condition>(?:{_HEAD}|(?:[a-z]\s(?:is\s)?)?(?:odd|even)\b)"
    rf"[^\n]{{0,120}}?)[\s:,.*]{{0,4}}{_LEADS}{_VALUE}(?:\s[a-z]{{1,12}}){{0,2}}[\W_]{{0,6}}",
    re.IGNORECASE,
)
_VALUE_FIRST = re.compile(
    rf"[\W_]{{0,9}}(?:(?:so|and|but|while|whereas|thus)\s)?{_LEADS}{_VALUE}(?:\s[a-z]{{1,12}}){{0,2}},?\s"
    r"(?P<condition>(?:if|when|whenever|for|otherwise|else)\b[^\n]{0,120}?)[\s.!*]{0,4}",
    re.IGNORECASE,
)
# A word of a case that does not hold: `If n were even, it would be 6.`
_UNREAL = re.compile(r"\b(?:were|had)\b", re.IGNORECASE)
# A conclusion from a case, which is none of its own: `, so the solution is $x > 5$`.
_CONCLUSION = re.compile(
    r"[,$]\s{1,2}(?:so|thus|hence|therefore),?\s(?:the|our)\s(?:\w{1,12}\s){0,2}"
    r"(?:solution|answer|domain|range|set|interval)s?\b",
    re.IGNORECASE,
)
# A clause that only names a case, whose value stands in the next one: `Case 2: n even.`
_NAMES_CASE = re.compile(
    r"[\W_]{0,9}(?:case|suppose|assuming|if|when)\b[^\n$=\\]{1,80}", re.IGNORECASE
)
# The beginning of that next one: `Then the answer is`.
_CONCLUDES = re.compile(
    r"[\W_]{0,9}(?:then|here|we|it|the\s(?:answer|result|value))\b", re.IGNORECASE
)
# The place between two clauses: behind `. `, before `, for even n`.
_BETWEEN = re.compile(
    r"(?<=[.!;])\s+|\n+|,\s+(?=(?:(?:and|but|while|whereas)\s)?(?:if|when|for|otherwise|odd|even)\b)"
    r"|\sand\s(?=(?:if|when|for)\b|[a-z]\s(?:is\s)?(?:odd|even)\b)"
)
# Words and signs of which one excludes the other.
_OPPOSITES = tuple(
    tuple(re.compile(one, re.IGNORECASE) for one in pair)
    for pair in (
        (r"\bodd\b", r"\beven\b"),
        (r"\bpositive\b", r"\b(?:negative|zero)\b"),
        (r"\bnegative\b", r"\b(?:non-?negative|zero)\b"),
        (r"\bnon-?zero\b", r"(?<!non-)(?<!non)\bzero\b"),
        (r"\brational\b", r"\birrational\b"),
        (r"\bprime\b", r"\bcomposite\b"),
        (r"\bordered\b", r"\bunordered\b"),
        (r"\b(?:distinct|different)\b", r"\b(?:identical|same|equal)\b"),
        (r"\bwith\b", r"\bwithout\b"),
        (r"\bsmall\b", r"\b(?:large|big)\b"),
        (r"\binclu(?:de|ding)", r"\bexclu(?:de|ding)"),
        (r"\bmore\b", r"\b(?:less|fewer)\b"),
        (r"\bgreater\b", r"\b(?:less|smaller)\b"),
        (r"<|\\lt\b", r">|≥|\\ge(?:q|qslant)?\b|\\gt\b"),
        (r"≤|\\le(?:q|qslant)?\b", r">|\\gt\b"),
        (r"≠|\\neq?\b", r"="),
        (r"\bcase (?:1|one|i|a)\b", r"\bcase (?:2|two|ii|b)\b"),
        (r"\bfirst case\b", r"\b(?:second|other) case\b"),
        (r"", r"^(?:otherwise|else)\b"),
        (r"^(?:(?!\bnot\b|n['’]t\b).)*$", r"\bnot\b|n['’]t\b"),
    )
)  # fmt: skip
_LIKE_WORDS = 2
"""Fewest words that a condition and its denial share: `order matters`, `order does not matter`."""


@dataclass(frozen=True)
class Case:
    """The value of one case."""

    condition: str
    value: str
    is_boxed: bool


def values_by_cases(text: str) -> tuple[Case, ...]:
    """The two cases that close a text, with their values; empty where it has one value.

    >>> [one.value for one in values_by_cases("For n odd: 5. For n even: 6.")]
    ['5', '6']
    >>> values_by_cases("For n = 1 we get 2. For n = 2 we get 4.")
    ()
    """
    end = text[-MAX_CHARACTERS:]
    box = end.rfind("\\boxed{")
    around = (
        end[max(0, box - _MAX_BEFORE_BOX) : box + _MAX_BEFORE_BOX]
        if box >= 0
        else end[-_MAX_CLAUSE:]
    )
    if not any(map(around.__contains__, _WORDS)):
        return ()
    clauses = _clauses(end)
    boxed = [place for place, one in enumerate(clauses) if "\\boxed{" in one]
    last = boxed[-1] if boxed else len(clauses) - 1
    if boxed and last + 1 < len(clauses) and _case(clauses[last + 1]):
        last += 1  # the other case stands behind the box
    if last < 1:
        return ()
    one = _case(clauses[last])
    other = _case(clauses[last - 1]) if one else None
    if (
        other is None
        or one is None
        or other.value == one.value
        or (one.is_boxed and not other.is_boxed)
    ):
        return ()
    are_plain = not other.is_boxed and "answer" not in clauses[last].lower()
    if are_plain and "0" in (one.value, other.value):  # the case that counts nothing
        return ()
    return (other, one) if _exclude_each_other(other.condition, one.condition) else ()


def _clauses(text: str) -> list[str]:
    """The clauses of a text, with the name of a case before the sentence that gives its value."""
    clauses = [one for one in _BETWEEN.split(text) if one.strip()][-_MAX_CLAUSES:]
    found: list[str] = []
    for clause in clauses:
        names_case = found and _NAMES_CASE.fullmatch(found[-1]) and not _case(found[-1])
        if names_case and _CONCLUDES.match(clause):
            found[-1] = f"{found[-1]} {clause}"
        else:
            found.append(clause)
    return found


def _case(clause: str) -> Case | None:
    if len(clause) > _MAX_CLAUSE:
        return None
    match = _CONDITION_FIRST.fullmatch(clause) or _VALUE_FIRST.fullmatch(clause)
    if match is None or _UNREAL.search(clause) or _CONCLUSION.search(clause):
        return None
    value = match["boxed"] or match["value"].strip("$")
    return Case(match["condition"].strip(), value, match["boxed"] is not None)


def _exclude_each_other(one: str, other: str) -> bool:
    if one.casefold() == other.casefold():
        return False
    for first, second in _OPPOSITES[:-1]:
        for left, right in ((one, other), (other, one)):
            is_one = first.search(left) and not second.search(left)
            if is_one and second.search(right) and not (first.pattern and first.search(right)):
                return True
    first, second = _OPPOSITES[-1]
    like = {*one.lower().split()} & {*other.lower().split()}
    is_denied = bool(second.search(one)) != bool(second.search(other))
    return is_denied and len(like) >= _LIKE_WORDS
