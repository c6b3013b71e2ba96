"""Which part of a completion is its answer: what follows the reasoning, or a tag in it holds."""

from __future__ import annotations

import re
from typing import Literal

AnswerPart = Literal["answer", "answer_tag", "completion"]
PART_DESCRIPTION = (
    "answer: what <answer> holds, or without such a tag everything after the reasoning; "
    "answer_tag: only what <answer> holds; completion: everything"
)

# Up to the next opening tag, so that the time stays linear where tags are not closed.
_ANSWER_TAG = re.compile(r"<answer>((?:(?!<answer>).)*?)</answer>", re.DOTALL)


class SeveralAnswers(ValueError):
    """The completion has answer tags that hold different things."""


def after_reasoning(text: str) -> str | None:
    """What follows the reasoning; None where it never ends, so that there is no answer after it.

    >>> after_reasoning("<think>4?</think> It is 5.")
    ' It is 5.'
    >>> after_reasoning("It is 5.")
    'It is 5.'
    >>> after_reasoning("<think>4?") is None
    True
    """
    after = text.rpartition("</think>")[2]
    return None if "<think>" in after else after


def answer_part(text: str, part: AnswerPart = "answer") -> str | None:
    """That part, without white space around it; None where it is missing or empty.

    >>> answer_part("<think>4?</think><answer> 5 </answer>")
    '5'
    >>> answer_part("<think>4?</think> It is 5.")
    'It is 5.'
    >>> answer_part("It is 5.", "answer_tag") is None
    True

    Raises:
        SeveralAnswers: there are answer tags with different contents.
    """
    if part == "completion":
        return text.strip() or None
    after = after_reasoning(text)
    if after is None:
        return None
    tagged = {inside.strip() for inside in _ANSWER_TAG.findall(after)}
    if len(tagged) > 1:
        raise SeveralAnswers
    if tagged:
        return tagged.pop() or None
    if part == "answer_tag" or "<answer>" in after:
        return None
    return after.strip() or None
