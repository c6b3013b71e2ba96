"""`format`: is the completion `<think>...</think><answer>...</answer>` and nothing else?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator

from verifier_service.answer_text import without_end_tokens
from verifier_service.completion import Completion
from verifier_service.instructions.visible import is_blank
from verifier_service.reason import Reason
from verifier_service.verifier import Judge, Judgement, TextVerifier

TagName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,30}$")]

# The expression of open-r1's format_reward: `<think>\n1\n</think>\n<answer>\n2\n</answer>`. Its `$`
# matches before any line break (MULTILINE), so it accepts text after the last tag. Do not mend it:
# mode open_r1 exists to give open-r1's scores.
OPEN_R1 = re.compile(
    r"^<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>$", re.DOTALL | re.MULTILINE
)


class FormatReason(Reason):
    """Reasons of `format`."""

    MATCHED = "matched", "1: the completion has the form."
    MISSING_TAG = "missing_tag", "0: a tag is missing."
    REPEATED_TAG = "repeated_tag", "0: a tag occurs more than once."
    WRONG_ORDER = "wrong_order", "0: each tag occurs once, but not in order."
    TEXT_OUTSIDE = "text_outside", "0: text stands before, between or after the two parts."
    EMPTY_BODY = "empty_body", "0: a part holds nothing that shows: white space or a comment."
    NOT_MATCHED = "not_matched", "0: open-r1's expression does not match (only with mode open_r1)."


class Format(TextVerifier):
    """1 if the completion has the form, else 0."""

    purpose: ClassVar[str] = (
        "1 if the completion is <think>...</think><answer>...</answer>: nothing but white space "
        "outside, or tokens that end it, each tag exactly once and in order, both parts non-empty; "
        "else 0"
    )
    reasons: ClassVar[Iterable[Reason]] = FormatReason

    type: Literal["format"] = "format"
    mode: Literal["strict", "open_r1"] = Field(
        default="strict",
        description="open_r1: exactly open-r1's regular expression, holes included",
    )
    tags: tuple[TagName, TagName] = Field(
        default=("think", "answer"),
        description="names of the two tags (strict only)",
        json_schema_extra={"uniqueItems": True},
    )
    prefilled: bool = Field(
        default=False,
        description="the prompt ends with the first opening tag, so completions lack it",
    )

    @field_validator("tags")
    @classmethod
    def _differ(cls, tags: tuple[TagName, TagName]) -> tuple[TagName, TagName]:
        if tags[0] == tags[1]:
            raise ValueError(f"two different names are needed, found {tags[0]!r} twice")
        return tags

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Return the judge of completions; no reference is needed."""
        if self.mode == "open_r1":
            return self._judge_open_r1
        return self._judge

    def _judge(self, completion: Completion) -> Judgement:
        text = f"<{self.tags[0]}>{completion.text}" if self.prefilled else completion.text
        reason = form_reason(text, [f"<{end}{tag}>" for tag in self.tags for end in ("", "/")])
        return Judgement(1.0 if reason is FormatReason.MATCHED else 0.0, reason)

    def _judge_open_r1(self, completion: Completion) -> Judgement:
        text = f"<think>\n{completion.text}" if self.prefilled else completion.text
        if OPEN_R1.match(text):
            return Judgement(1.0, FormatReason.MATCHED)
        return Judgement(0.0, FormatReason.NOT_MATCHED)


def form_reason(text: str, tags: Sequence[str]) -> FormatReason:
    """The first fault in the form of a text with four tags; MATCHED where it has none.

    Tokens that end a completion may stand behind it.
    """
    if not text.rstrip().endswith(tags[-1]):
        text = without_end_tokens(text)
    counts = [text.count(tag) for tag in tags]
    if 0 in counts:
        return FormatReason.MISSING_TAG
    if counts != [1, 1, 1, 1]:
        return FormatReason.REPEATED_TAG
    positions = [text.index(tag) for tag in tags]
    if positions != sorted(positions):
        return FormatReason.WRONG_ORDER
    ends = [position + len(tag) for position, tag in zip(positions, tags, strict=True)]
    outside = text[: positions[0]], text[ends[1] : positions[2]], text[ends[3] :]
    if any(part.strip() for part in outside):
        return FormatReason.TEXT_OUTSIDE
    bodies = text[ends[0] : positions[1]], text[ends[2] : positions[3]]
    if any(map(is_blank, bodies)):
        return FormatReason.EMPTY_BODY
    return FormatReason.MATCHED
