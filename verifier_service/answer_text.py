"""The answer in a completion: the text after the reasoning, or the content of a tag there."""

from __future__ import annotations

import re
from typing import Literal

AnswerPart = Literal["answer", "answer_tag", "completion"]
"""Part of a completion that a verifier reads; PART_DESCRIPTION explains the values."""
PART_DESCRIPTION = (
    "answer: the content of <answer>, or without such a tag everything after the reasoning but the "
    "tokens that end it; answer_tag: the content of <answer> only; completion: everything"
)

_START, _END = "<answer>", "</answer>"
# The content of a closed answer tag: the `5` of `<answer>5</answer>`. It must hold no opening tag:
# else a text of many unclosed tags would take quadratic time.
_ANSWER_TAG = re.compile(r"<answer>((?:(?!<answer>).)*?)</answer>", re.DOTALL)


class SeveralAnswers(ValueError):
    """The completion has answer tags that hold different things."""


_REASONING_MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
"""Beginning and end of reasoning, as DeepSeek and Qwen, Claude, Kimi, OpenThinker and gpt-oss mark
it. The answer of gpt-oss begins where its reasoning has ended."""


def after_reasoning(text: str) -> str | None:
    """The text after the reasoning; None where the reasoning never ends.

    >>> after_reasoning("<think>4?</think> It is 5.")
    ' It is 5.'
    >>> after_reasoning("It is 5.")
    'It is 5.'
    >>> after_reasoning("<think>4?") is None
    True
    """
    for beginning, end in _REASONING_MARKS:
        text = text.rpartition(end)[2]
        if beginning in text:
            return None
    return text


# A token that ends a completion: `</s>`, `<|im_end|>`.
_END_TOKEN = re.compile(
    r"</s>|(?i:<eo[a-z](?:_token)?>)|<end_of_(?:turn|text)>|<[|\uff5c][\w▁|]{1,40}[|\uff5c]>"
)


def without_end_tokens(text: str) -> str:
    """The text without the tokens behind it that end a completion.

    >>> without_end_tokens("5<|im_end|>\\n</s>"), without_end_tokens("<s>old</s>")
    ('5', '<s>old</s>')
    """
    text = text.rstrip()
    end = len(text)
    has_elements = text.endswith(">") and "<s>" in text
    while end and text[end - 1] == ">":
        start = text.rfind("<", 0, end)
        if start < 0 or not _END_TOKEN.fullmatch(text, start, end):
            break
        if has_elements and text.startswith("</s>", start):
            break
        while start and text[start - 1].isspace():
            start -= 1
        end = start
    return text[:end]


def answer_part(text: str, part: AnswerPart = "answer") -> str | None:
    """A part of a completion, without white space around it; None where it is missing or empty.

    >>> answer_part("<think>4?</think><answer> 5 </answer>")
    '5'
    >>> answer_part("<think>4?</think> It is 5.<|im_end|>")
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
    start = after.find(_START)
    if start < 0:
        return None if part == "answer_tag" else without_end_tokens(after).lstrip() or None
    start += len(_START)
    if after.find(_START, start) < 0:
        end = after.find(_END, start)
        return after[start:end].strip() or None if end >= 0 else None
    tagged = {inside.strip() for inside in _ANSWER_TAG.findall(after)}
    if len(tagged) > 1:
        raise SeveralAnswers
    return (tagged.pop() or None) if tagged else None


# A line, or a heading, that announces a document in JSON or XML: `Here is the JSON:`, `## JSON`.
_ANNOUNCEMENT = re.compile(
    r"(?:[*_# \t]{0,8}\w[^\n{}\[\]<>]{0,200}:[*_]{0,2}|#{1,6} [^\n{}\[\]<>]{1,100})"
    r"[ \t]*\n\s*(?=[{\[<])"
)


def without_announcement(answer: str) -> str:
    """An answer without the line that announces its document, which begins with a bracket.

    >>> without_announcement("Here is the JSON:\\n[1]"), without_announcement("So: [1]")
    ('[1]', 'So: [1]')
    """
    announcement = _ANNOUNCEMENT.match(answer)
    return answer[announcement.end() :] if announcement else answer
