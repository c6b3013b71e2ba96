"""Which part of a completion is its answer, for verifiers that take it word by word."""

from __future__ import annotations

import re
from typing import Literal

Part = Literal["answer", "answer_tag", "completion"]
PART_DESCRIPTION = (
    "answer: what <answer> holds, or without such a tag everything after the reasoning; "
    "answer_tag: only what <answer> holds; completion: everything"
)

# Up to the next opening tag, so that the time stays linear where tags are not closed.
_ANSWER_TAG = re.compile(r"<answer>((?:(?!<answer>).)*?)</answer>", re.DOTALL)


class SeveralAnswers(ValueError):
    """The completion has answer tags that hold different things."""


def answer_part(text: str, part: Part = "answer") -> str | None:
    """That part, without white space around it; None where it is missing or empty.

    Reasoning that never ends has no answer after it.

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
    after = text.rpartition("</think>")[2]
    if "<think>" in after:
        return None
    tagged = {inside.strip() for inside in _ANSWER_TAG.findall(after)}
    if len(tagged) > 1:
        raise SeveralAnswers
    if tagged:
        return tagged.pop() or None
    if part == "answer_tag" or "<answer>" in after:
        return None
    return after.strip() or None
