"""`reasoning_steps`: does the completion show its reasoning in steps?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.verifier import Judge, Judgement, TextVerifier

# A step as open-r1's reasoning_steps_reward counts it: `Step 1:`, `First,`. Without MULTILINE,
# `1.` counts at the very start of the text only.
OPEN_R1 = re.compile(r"(Step \d+:|^\d+\.|\n-|\n\*|First,|Second,|Next,|Finally,)")
# The start of a step: `Step 1:`, `1. ` or `- ` at the start of any line, `First,`, `Secondly,`.
STEP = re.compile(
    r"Step \d+:|^[ \t]*(?:\d+[.)]|[-*])[ \t]"
    r"|\b(?:(?:First|Second|Third)(?:ly)?|Next|Then|Finally),",
    re.MULTILINE,
)
_WORD = re.compile(r"\w")


class ReasoningStepsReason(Reason):
    """Reasons of `reasoning_steps`; `details.steps` has the number of steps."""

    ENOUGH_STEPS = "enough_steps", "1: at least `target` steps."
    SOME_STEPS = "some_steps", "Between 0 and 1: fewer than `target` steps."
    NO_STEPS = "no_steps", "0: no step."


class ReasoningSteps(TextVerifier):
    """The number of steps as a share of a target, at most 1."""

    purpose: ClassVar[str] = (
        "min(1, steps / target), where a step is `Step 1:`, a numbered or bulleted line, or a word "
        "such as `First,`, with a word before the next step"
    )
    reasons: ClassVar[Iterable[Reason]] = ReasoningStepsReason

    type: Literal["reasoning_steps"] = "reasoning_steps"
    mode: Literal["strict", "open_r1"] = Field(
        default="strict",
        description="open_r1: exactly open-r1's expression, which counts `1.` at the start only",
    )
    target: int = Field(default=3, gt=0, description="steps for a score of 1")

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Return the judge of completions; no reference is needed."""
        return self._judge

    def _judge(self, completion: Completion) -> Judgement:
        text = completion.text
        num_steps = len(OPEN_R1.findall(text)) if self.mode == "open_r1" else _num_steps(text)
        reason = (
            ReasoningStepsReason.ENOUGH_STEPS
            if num_steps >= self.target
            else ReasoningStepsReason.SOME_STEPS
            if num_steps
            else ReasoningStepsReason.NO_STEPS
        )
        return Judgement(min(1.0, num_steps / self.target), reason, details={"steps": num_steps})


def _num_steps(text: str) -> int:
    """The number of steps that say something before the next one begins."""
    spans = [found.span() for found in STEP.finditer(text)]
    return sum(
        _WORD.search(text, behind, end) is not None
        for (_, behind), (end, _) in pairwise([*spans, (len(text), 0)])
    )
