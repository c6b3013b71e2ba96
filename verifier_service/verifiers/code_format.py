"""`code_format`: does the completion have the form, and its answer a program?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.code.extraction import last_block
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.completion import Completion
from verifier_service.instructions.visible import is_blank
from verifier_service.reason import Reason
from verifier_service.verifier import Judge, Judgement, TextVerifier
from verifier_service.verifiers.format import FormatReason, form_reason

FORM = ("<think>", "</think>", "<answer>", "</answer>")


class CodeFormatReason(Reason):
    """Reasons of `code_format`: those of `format`, and `no_code`."""

    MATCHED = "matched", "1: the completion has the form, and its answer a program."
    NO_CODE = "no_code", "0: the answer has no whole fenced block with a tag of the language."
    MISSING_TAG = "missing_tag", FormatReason.MISSING_TAG.meaning
    REPEATED_TAG = "repeated_tag", FormatReason.REPEATED_TAG.meaning
    WRONG_ORDER = "wrong_order", FormatReason.WRONG_ORDER.meaning
    TEXT_OUTSIDE = "text_outside", FormatReason.TEXT_OUTSIDE.meaning
    EMPTY_BODY = "empty_body", FormatReason.EMPTY_BODY.meaning
    NOT_MATCHED = "not_matched", FormatReason.NOT_MATCHED.meaning


class CodeFormat(TextVerifier):
    """1 if the completion has the form and a fenced program in its answer, else 0."""

    purpose: ClassVar[str] = (
        "1 if the completion is <think>...</think><answer>...</answer> as `format` wants it, and "
        "the answer has a fenced block tagged with the language; else 0"
    )
    reasons: ClassVar[Iterable[Reason]] = CodeFormatReason

    type: Literal["code_format"] = "code_format"
    mode: Literal["strict", "open_r1"] = Field(
        default="strict",
        description="open_r1: what open-r1's regular expression accepts, holes included",
    )
    language: str = Field(
        default="python",
        pattern=r"^[A-Za-z0-9+#_.-]{1,30}$",
        description="tag of the fenced block; strict also takes py and python3 for python",
    )
    prefilled: bool = Field(
        default=False, description="the prompt ends with <think>, so completions lack it"
    )

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """The judge of completions, which needs nothing of the reference."""
        return self._judge_open_r1 if self.mode == "open_r1" else self._judge

    def _judge(self, completion: Completion) -> Judgement:
        text = FORM[0] + completion.text if self.prefilled else completion.text
        reason = CodeFormatReason[form_reason(text, FORM).name]
        if reason is not CodeFormatReason.MATCHED:
            return Judgement(0.0, reason)
        name = self.language.lower()
        tags = LANGUAGES[name].tags if name in LANGUAGES else (name,)
        program = last_block(text, tags, untagged=False)  # the rule of `code`, in the answer
        if program is None or is_blank(program):
            return Judgement(0.0, CodeFormatReason.NO_CODE)
        return Judgement(1.0, reason)

    def _judge_open_r1(self, completion: Completion) -> Judgement:
        text = f"<think>\n{completion.text}" if self.prefilled else completion.text
        if matches_open_r1(text, self.language):
            return Judgement(1.0, CodeFormatReason.MATCHED)
        return Judgement(0.0, CodeFormatReason.NOT_MATCHED)


def matches_open_r1(text: str, language: str) -> bool:
    r"""Whether the expression of open-r1's code_format reward matches, in linear time.

    The expression is `^<think>\n.*?\n</think>\n<answer>\n.*?```LANGUAGE.*?```.*?\n</answer>$` with
    DOTALL and MULTILINE: literals with anything between them. It matches exactly if each literal is
    found when it is sought as early as possible. Backtracking would take time with the fourth power
    of the length.
    """
    start = "<think>\n"
    if not text.startswith(start):
        return False
    position = len(start)
    for literal in ("\n</think>\n<answer>\n", f"```{language}", "```"):
        found = text.find(literal, position)
        if found < 0:
            return False
        position = found + len(literal)
    rest = text[position:]
    return rest.endswith("\n</answer>") or "\n</answer>\n" in rest
