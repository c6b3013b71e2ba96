"""Answers side by side at the end of a text: each behind a label, or each alone in its line."""

from __future__ import annotations

import re
import string
from fractions import Fraction

MAX_CHARACTERS = 120
"""Longest text of one of several answers."""
_MAX_ANSWERS = 9
_MAX_LABEL_CHARACTERS = 40

# A thing of which a text can give several, each with an answer of its own: `Case 2`, `Answer B`.
_NOUNS = (
    "answer option candidate possibility solution guess case scenario method approach attempt "
    "interpretation reading version outcome result choice way part"
).split()
_NOUN = rf"(?:{'|'.join(_NOUNS)}|possible\s+answer)"
_ORDINALS = (
    ("1", "a", "i", "one", "first", "1st", "one possible"),
    ("2", "b", "ii", "two", "second", "2nd", "another", "the other", "alternative", "other"),
    ("3", "c", "iii", "three", "third", "3rd"),
    ("4", "d", "iv", "four", "fourth", "4th"),
    ("5", "e", "v", "five", "fifth", "5th"),
    ("6", "f", "vi", "six", "sixth", "6th"),
    ("7", "g", "vii", "seven", "seventh", "7th"),
    ("8", "h", "viii", "eight", "eighth", "8th"),
    ("9", "j", "ix", "nine", "ninth", "9th"),
)
_RANKS = {name: rank for rank, names in enumerate(_ORDINALS, start=1) for name in names}
_INDEX = "[1-9]|[a-hj]|i{1,3}|i?v|vi{0,3}|ix|one|two|three|four|five|six|seven|eight|nine"
_ORDINAL = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|1st|2nd|3rd|[4-9]th"
    "|one possible|another|the other|alternative|other|one"
)
# The label of one of several answers: `**Answer 2:**`, `Candidate #2.`, `First answer:`.
_LABEL = re.compile(
    rf"\b(?:{_NOUN}s?\s*#?\(?(?P<index>{_INDEX})\)?\s*\**(?:[:.)=]|\s(?:is|gives|yields|says)\b|\s*(?:[-=]>|→))"
    rf"|(?P<ordinal>{_ORDINAL})\s+{_NOUN}\s*\**(?:[:=]|\s(?:is|gives|would\s+be)\b))\**",
    re.IGNORECASE,
)
# The beginning of a conclusion, or of another sentence, behind the last of several answers.
_CONCLUSION = re.compile(
    r"\b(?:total|sum|so|thus|hence|therefore|altogether|overall|together|finally|then|combined)\b"
    r"|[.!?;]\s+\S",
    re.IGNORECASE,
)
# A verdict on an option, which is no answer: the `correct` of `Option B is correct`.
_VERDICT = re.compile(
    r"(?:not\s+)?(?:the\s+)?(?:in)?(?:correct|valid|right|true|false|wrong|possible|best|better|out)\b",
    re.IGNORECASE,
)
_AROUND = string.whitespace + "\u00a0\u200b\u200c\u200d\u2060\ufeff*,;./"
# The last number of an answer in words or of a chain: the `5` of `2 + 3 = 5`.
_LAST_NUMBER = re.compile(r"-?\d[\d.,/]*(?<![.,])(?=\D*$)")


def labelled_answers(text: str) -> tuple[str, ...]:
    """The answers with labels from the first on with which a text ends; empty without two.

    >>> labelled_answers("Answer 1: 11\\nAnswer 2: 12"), labelled_answers("Case A: 5. Case B: 6.")
    (('11', '12'), ('5', '6'))
    >>> labelled_answers("Case 1: 3. Case 2: 4. The total is 7."), labelled_answers("Answer 2: 12")
    ((), ())
    """
    start = max(0, len(text) - _MAX_ANSWERS * (MAX_CHARACTERS + _MAX_LABEL_CHARACTERS))
    if sum(map(text[start:].lower().count, _NOUNS)) < 2:  # the pattern takes far longer
        return ()
    labels = list(_LABEL.finditer(text, start))[-_MAX_ANSWERS:]
    ranks = [_RANKS[" ".join((one["index"] or one["ordinal"]).lower().split())] for one in labels]
    first = len(ranks) - 1 - ranks[::-1].index(1) if 1 in ranks else len(ranks)
    if ranks[first:] != list(range(1, len(ranks) - first + 1)) or len(ranks) - first < 2:
        return ()
    starts = [label.end() for label in labels[first:]]
    ends = [label.start() for label in labels[first + 1 :]] + [len(text)]
    found = [text[one:end].strip(_AROUND) for one, end in zip(starts, ends, strict=True)]
    if not all(map(_is_answer, found)) or len(set(map(_value, found))) == 1:
        return ()
    return tuple(dict.fromkeys(found))


def _is_answer(text: str) -> bool:
    if not text or "\n" in text or len(text) > MAX_CHARACTERS:
        return False
    return _CONCLUSION.search(text) is None and _VERDICT.match(text) is None


def _value(text: str) -> str:
    """The end of a chain, or the last number in words: methods may agree in different words."""
    number = _LAST_NUMBER.search(text)
    return number[0] if number else text


# One announcement twice, each with a value in a line of its own: `Answer: 5`, `Answer: 6`, or
# `Another answer: 6`.
_REPEATED = re.compile(
    r"(?:\A|\n)[ \t*#]*(?P<label>(?:the[ ]|my[ ])?(?:final[ ])?(?:answer|result|solution))\**"
    r"(?:\s*:|[ ]is)[ ]*\**[ ]*\$?(?P<first>-?\d[\d.,/]*?)\$?\**\.?[ \t]*\n\s*"
    r"[*#]{0,4}[ ]?(?:(?:another|other|second|alternative)[ ])?(?P=label)\**(?:\s*:|[ ]is)"
    r"[ ]*\**[ ]*\$?"
    r"(?P<second>-?\d[\d.,/]*?)\$?\**\.?\s*\Z",
    re.IGNORECASE,
)


def repeated_answers(text: str) -> tuple[str, ...]:
    """The two values that one announcement gives in the last two lines; empty without two.

    >>> repeated_answers("Answer: 5\\nAnswer: 6"), repeated_answers("Answer: 5\\nWait.\\nAnswer: 6")
    (('5', '6'), ())
    """
    line = text.rfind("\n", 0, len(text) - 1) + 1
    if not line or len(text) - line > MAX_CHARACTERS:
        return ()
    parts = (text[line:], text[max(0, line - MAX_CHARACTERS) : line])
    if not all(":" in part or " is " in part for part in parts):
        return ()
    match = _REPEATED.search(text, max(0, len(text) - 2 * MAX_CHARACTERS))
    if match is None or _amount(match["first"]) == _amount(match["second"]):
        return ()
    return match["first"], match["second"]


# A line with the answer to a part of a question: `**(1)** $2$`, `(b) x = 3`.
_PART = re.compile(
    r"[*_>]{0,3}\s{0,3}[(（](?P<label>[1-9]|[a-h]|i{1,3}|iv|v)[)）][*_]{0,3}[:.]?[*_]{0,3}\s{1,3}(?P<value>\S.*)"
)
# A word, which no value has: `apples`; and an equation between values, as in a step of a solution.
_PROSE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}|[^\sA-Za-z]\s*=|=.*=")
_LETTERS_OF_PARTS = {
    letter: place
    for letters in ("1 2 3 4 5 6 7 8 9", "a b c d e f g h", "i ii iii iv v")
    for place, letter in enumerate(letters.split())
}


def answers_of_parts(text: str, *, may_have_more: bool = True) -> str:
    """The answers to the parts of a question in the last lines, in one line; empty without two.

    >>> answers_of_parts("Therefore:\\n**(1)** $2$\\n\\n**(2)** $3$"), answers_of_parts("(2) 3")
    ('(1) 2; (2) 3', '')

    Args:
        text: a text.
        may_have_more: whether other lines may stand before them.
    """
    if ")" not in text and "）" not in text:
        return ""
    found: list[re.Match[str]] = []
    end = len(text.rstrip())
    while end > 0 and len(found) <= _MAX_ANSWERS:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end].strip()
        if line:
            part = _PART.fullmatch(line) if len(line) <= MAX_CHARACTERS else None
            if part is None or _PROSE.search(part["value"]):
                if not may_have_more:
                    return ""
                break
            found.append(part)
        end = start - 1
    found.reverse()
    places = [_LETTERS_OF_PARTS[part["label"]] for part in found]
    if len(places) < 2 or places != list(range(len(places))):
        return ""
    return "; ".join(f"({one['label']}) {one['value'].strip(_AROUND + '$')}" for one in found)


# Marks at the start of a line: the `- ` of `- A`, the `b) ` of `b) 6`, the `First: ` of `First: 6`.
_MARK = re.compile(
    rf"(?:[-*•]\s+|\(?(?:{_INDEX})[.):]\s+|(?:{_ORDINAL})\s*[:.]\s*)(?=\S)", re.IGNORECASE
)
# A line that is nothing but the letter of an option, or nothing but a number: `(A)`, `B.`, `-5`.
_LONE_LETTER = re.compile(r"[(\[]?([A-J])[)\].:]*[,;]?")
_LONE_NUMBER = re.compile(r"(?:[a-z]\s*=\s*)?[-−+]?[$€£]?\d[\d.,]*(?:/\d+)?%?\s?[,;./|]?")
# A line with a label and a number: `Plan A: 5`, `Even n: 5`.
_NAMED_NUMBER = re.compile(r"(?P<label>[^:=→\d][^:=→]{0,40}?)\s*(?:[:=→]|->)\s*(?P<number>.+)")
_MAX_LINES = 20
_STAGES = frozenset({"step", "stage", "line", "equation", "round", "iteration"})
"""First words of labels whose last line alone gives the answer: `Step 2: 6`."""
_OPPOSITES = frozenset(
    "try except catch if else case default even odd min max low high lower upper yes no".split()
)
"""First words of labels of which each excludes the others."""


def lone_values(text: str) -> tuple[str, ...]:
    """The options, or the numbers, that stand alone in the lines of a text; empty without two.

    Lines of numbers count where the text has no other lines, those of options at its end.

    >>> lone_values("5\\n6"), lone_values("The options:\\nA.\\nB."), lone_values("2 + 3\\n5")
    (('5', '6'), ('A', 'B'), ())
    """
    start = text.rfind("\n") + 1
    if not start or len(text) - start > MAX_CHARACTERS:
        return ()
    lines = [_unmarked(line) for line in text.split("\n") if line.strip()]
    letters = []
    for line in reversed(lines):
        if (letter := _LONE_LETTER.fullmatch(line)) is None:
            break
        letters.append(letter[1])
    if len(set(letters)) > 1:
        return tuple(dict.fromkeys(reversed(letters)))
    if not 1 < len(lines) <= _MAX_LINES:
        return ()
    lines = _without_like_labels(lines)
    if not all(map(_LONE_NUMBER.fullmatch, lines)):
        return ()
    names = {line.partition("=")[0] if "=" in line else "" for line in lines}
    found = {_amount(line): line.rstrip(",;./|") for line in lines}
    return tuple(found.values()) if len(found) > 1 and len(names) == 1 else ()


# A line that gives an unknown its value: `- $x = -3$`, `**y_1 = \frac{1}{2}**`. A radius before an
# area is none: of `r = 6` and `A = 36` the last is the answer.
_ASSIGNED = re.compile(
    r"(?:[-*•]\s{1,3})?[*$ ]{0,6}(?:\\\()?(?P<name>[xyz](?:_\{?\d\}?)?)\*{0,2}\s?=\s?"
    r"(?P<value>[-−]?(?:\d[\d.,]{0,20}(?:/\d{1,9})?(?<![.,])|\\[dt]?frac\{\d{1,9}\}\{\d{1,9}\}))"
    r"(?:\\\))?[*$ .,;\\]{0,8}"
)
# The end of a line that leads to a list: the `:` of `The solution is:`, of `**Solution:**`.
_LEADS = re.compile(
    r"\A(?=[^\n]{0,120}\b(?:solutions?|answers?|roots?|thus|hence|therefore|so|get|obtain)\b)"
    r"(?:[^\n]{0,120}[:：][*_ ]{0,4}|#{1,6}\s[^\n]{1,80})\Z",
    re.IGNORECASE,
)
# A word with which a line leads to no values, or to some of several: `Not a solution:`.
_LEADS_ELSEWHERE = re.compile(
    r"\b(?:not|no|wrong|given|let|try|trying|suppose|assume|example|reject|discard|test|case|first|second"
    r"|third|other|another|substitut\w*|if)\b",
    re.IGNORECASE,
)


def assigned_values(text: str, *, may_have_more: bool = True) -> str:
    r"""The values of different letters in the last lines, in one line; empty without two.

    They make a whole answer where they are a list and the text has no other lines, or where the
    line above leads to them: the last of several steps is an answer by itself.

    >>> assigned_values("Thus:\n- $x = 3$\n- $y = -2$"), assigned_values("x = 3\nSo we get\ny = -2")
    ('x = 3, y = -2', '')

    Args:
        text: a text.
        may_have_more: whether a line that leads to them may stand before them.
    """
    lines = [
        line.strip() for line in text[-_MAX_LINES * MAX_CHARACTERS :].split("\n") if line.strip()
    ]
    found: dict[str, str] = {}
    is_whole = not may_have_more or all(line[0] in "-*•" for line in lines)
    while lines and (line := _ASSIGNED.fullmatch(lines[-1])) and line["name"] not in found:
        found[line["name"]] = f"{line['name']} = {line['value']}"
        lines.pop()
    leads = may_have_more and leads_to_values(lines[-1]) if lines else is_whole
    if len(found) < 2 or not leads or any(map(_ASSIGNED.fullmatch, lines)):
        return ""
    return ", ".join(reversed(found.values()))


def leads_to_values(line: str, *, is_announcement: bool = False) -> bool:
    """Whether a line leads to the values of unknowns that are the answer.

    >>> leads_to_values("The solution is:"), leads_to_values("We are given:")
    (True, False)

    Args:
        line: the line above the values.
        is_announcement: whether the line is known to announce an answer.
    """
    is_lead = is_announcement or _LEADS.match(line) is not None
    return is_lead and _LEADS_ELSEWHERE.search(line) is None


def _without_like_labels(lines: list[str]) -> list[str]:
    """The numbers of lines whose labels begin or end with one word: `Plan A: 5`, `Plan B: 6`."""
    named = [_NAMED_NUMBER.fullmatch(line) for line in lines]
    labels = [one["label"].lower().split() for one in named if one]
    if not labels or len(labels) < len(lines) or labels[0][0] in _STAGES:
        return lines
    is_alike = _OPPOSITES.issuperset(label[0] for label in labels) or (
        len(labels[0]) > 1 and any(len({label[end] for label in labels}) == 1 for end in (0, -1))
    )
    return [one["number"] for one in named if one] if is_alike else lines


def _unmarked(line: str) -> str:
    """A line without its bullet or label, and without the signs around its mathematics."""
    line = line.strip()
    if (mark := _MARK.match(line)) is not None:
        line = line[mark.end() :]
    return line.strip("*$ ")


def _amount(line: str) -> Fraction | str:
    """The value of a line that is a number: that of `10/2` is 5."""
    number = line.rpartition("=")[2].strip(" ,;./|$€£").replace(",", "").replace("−", "-")
    try:
        return Fraction(number)
    except (ValueError, ZeroDivisionError):
        return number
