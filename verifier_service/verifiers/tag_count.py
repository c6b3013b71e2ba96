"""`tag_count`: a quarter for each of the four tags, a smoother signal than `format`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.verifier import Judge, Judgement, TextVerifier

TAGS = ("<think>", "</think>", "<answer>", "</answer>")
OPEN_R1_TAGS = ("<think>\n", "\n</think>\n", "\n<answer>\n", "\n</answer>")


class TagCountReason(Reason):
    """Reasons of `tag_count`; `details.tags` has the number."""

    ALL_TAGS = "all_tags", "1: each of the four is there exactly once."
    SOME_TAGS = "some_tags", "0.25, 0.5 or 0.75."
    NO_TAGS = "no_tags", "0: none is there exactly once."


class TagCount(TextVerifier):
    """A quarter for each of the four tags that is there exactly once."""

    purpose: ClassVar[str] = (
        "0.25 for each of <think>, </think>, <answer>, </answer> that is there exactly once"
    )
    reasons: ClassVar[Iterable[Reason]] = TagCountReason

    type: Literal["tag_count"] = "tag_count"
    mode: Literal["strict", "open_r1"] = Field(
        default="strict",
        description="open_r1: a tag counts only with the line breaks that open-r1 asks for",
    )
    prefilled: bool = Field(
        default=False, description="the prompt ends with <think>, so completions lack it"
    )

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """See `Verifier`; no reference is needed."""
        return self._judge

    def _judge(self, completion: Completion) -> Judgement:
        tags = OPEN_R1_TAGS if self.mode == "open_r1" else TAGS
        text = tags[0] + completion.text if self.prefilled else completion.text
        num_tags = sum(text.count(tag) == 1 for tag in tags)
        reason = (
            TagCountReason.ALL_TAGS
            if num_tags == len(tags)
            else TagCountReason.SOME_TAGS
            if num_tags
            else TagCountReason.NO_TAGS
        )
        return Judgement(num_tags / len(tags), reason, details={"tags": num_tags})
