"""The statement that closes a text: its last box or tag, and those that are offered with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Joint = Literal["list", "or", "parts"]
"""Relation of several statements: a list, alternatives, or answers to questions in order."""

NOTHING: tuple[str, ...] = ()
"""No statement: a source found the place of the answer, and no answer there."""

# Words that take back what was said before them: `Wait,`, `that is wrong`.
_REVISION = re.compile(
    r"\b(?:wait|actually|correct(?:ion|ed)?|mistake|revis\w+|instead|re-?check\w*|hmm|oops|error|"
    r"wrong|sorry|let me|rather|however|but)\b|however|更正|不对",
    re.IGNORECASE,
)

# Words that keep an answer beside another: `If that is wrong`, `or else`, `it could also be`.
_CONDITIONAL = re.compile(
    r"\bif\b[^.]{0,40}\b(?:wrong|incorrect|not)\b|\bor else\b|\b(?:could|might|may) also be\b",
    re.IGNORECASE,
)

# The label of the next part of a question, between two boxes: `(b)`, `. Part (b): `.
_PART = re.compile(r"[\s*$.,;\\()\]]*(?:Part\s*)?\(?(?:[b-h]|[2-8]|i[iv]|iii)\)[\s*$:(\\\[]*")

# The same with a sentence behind it: `**Part (b):** The mean is `.
_PART_BEGINS = re.compile(r"[\s*$.,;\\()\]#]*(?:Part\s*\(?|\()(?:[b-h]|i[iv]|iii)\)", re.IGNORECASE)

# A word between two statements: the `and` of `\boxed{3} and \boxed{4}`.
JOINT_WORDS = re.compile(r"[A-Za-z]+|或|和(?![是为])|或者")

# A word that offers an alternative: `or`, `perhaps`.
_OR = re.compile(
    r"\b(?:or|alternatively|either|maybe|perhaps|possibly|otherwise)\b|或", re.IGNORECASE
)

_CONNECTORS = frozenset(
    (
        "and or also alternatively either maybe perhaps possibly text quad qquad mathrm "
        "hspace cup otherwise as well it is could be can approx approximately about roughly"
    ).split()
)


def closing_statement(
    text: str, found: Sequence[tuple[int, int, str]]
) -> tuple[tuple[str, ...], Joint]:
    """The last box or tag (start, end, content), and those that are offered with it."""
    filled = [one for one in found if FILLED.search(one[2])]
    if not filled or filled[-1] is not found[-1]:
        return NOTHING, "list"
    kept = [filled[-1]]
    gaps: list[str] = []
    for one in reversed(filled[:-1]):
        gap = text[one[1] : kept[-1][0]]
        if not (_is_same_statement(gap) or _is_announced_again(text, one[0], gap)):
            break
        kept.append(one)
        gaps.append(gap)
    statements = tuple(dict.fromkeys(inside for _, _, inside in reversed(kept)))
    if len(statements) > 1 and all(map(_is_part, gaps)):
        return statements, "parts"
    is_or = len(statements) > 1 and any(_OR.search(gap) or not _is_joined(gap) for gap in gaps)
    return statements, "or" if is_or else "list"


# A sign that can be an answer: a letter, a digit, `∅`, `\{\}`.
FILLED = re.compile(r"[^\W_]|[∅∞π]|\\\{\s{0,9}\\\}")


def _is_same_statement(gap: str) -> bool:
    """Whether the text between two boxes leaves them in one closing statement."""
    if _CONDITIONAL.search(gap):
        return True
    if _REVISION.search(gap):
        return False
    if _is_part(gap):
        return True
    words = JOINT_WORDS.findall(gap)
    if all(word.lower() in _CONNECTORS for word in words):
        return True
    return "\n" not in gap.strip() and len(words) <= 12


# The words between two boxes that are both announced: `. I hope it is correct.\n\nThe final answer
# is $`.
_ANNOUNCED_AGAIN = re.compile(
    r"[\s$.*)\]\\]{0,20}(?:I\s+hope\s+it\s+is\s+correct[.\s]{0,9})?[\s#*]{0,9}(?:(?:so|thus|hence|therefore),?\s+)?"
    r"(?:(?:the\s+)?final\s+answer[\s:*]{0,9})?(?:(?:the|my|our)\s+)?(?:final\s+)?answer\s{0,9}(?:\bis\b|:)"
    r"[\s:*$(\[\\]{0,9}",
    re.IGNORECASE,
)
# The end of an announcement right before a box: the `answer is $` of `The answer is $\boxed{5}$`.
_ANNOUNCES = re.compile(r"\banswer\W{0,3}(?:\bis\b)?[\s:*$(\[\\]{1,9}\Z", re.IGNORECASE)

_MAX_ANNOUNCING = 40
"""Most characters before a box in which its announcement is sought."""


def _is_announced_again(text: str, first: int, gap: str) -> bool:
    """Whether two boxes are announced as the answer, with nothing else between them.

    Args:
        text: a text.
        first: the start of the first box in it.
        gap: the text between the boxes.
    """
    before = text[max(0, first - _MAX_ANNOUNCING) : first]
    return _ANNOUNCED_AGAIN.fullmatch(gap) is not None and _ANNOUNCES.search(before) is not None


def _is_part(gap: str) -> bool:
    """Whether a gap begins the next part of a question."""
    return bool(_PART.fullmatch(gap) or _PART_BEGINS.match(gap))


def _is_joined(gap: str) -> bool:
    """Whether a gap says that both boxes belong to one answer: a comma, `and`, nothing at all."""
    if _is_part(gap):
        return True
    words = JOINT_WORDS.findall(gap)
    return all(word.lower() in _CONNECTORS for word in words)
