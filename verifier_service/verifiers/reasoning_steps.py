"""`reasoning_steps`: does the completion show its reasoning in steps?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.verifier import Judge, Judgement, TextVerifier

# open-r1's reasoning_steps_reward: without MULTILINE, `^\d+\.` counts at the very start only.
OPEN_R1 = re.compile(r"(Step \d+:|^\d+\.|\n-|\n\*|First,|Second,|Next,|Finally,)")
STEP = re.compile(
    r"Step \d+:|^[ \t]*(?:\d+[.)]|[-*])[ \t]|\b(?:First|Second|Third|Next|Then|Finally),",
    re.MULTILINE,
)


class ReasoningStepsReason(Reason):
    """Reasons of `reasoning_steps`; `details.steps` has the number."""

    ENOUGH_STEPS = "enough_steps", "1: at least `target` steps."
    SOME_STEPS = "some_steps", "Between 0 and 1: fewer than `target` steps."
    NO_STEPS = "no_steps", "0: no step."


class ReasoningSteps(TextVerifier):
    """The number of steps as a share of a target, at most 1."""

    purpose: ClassVar[str] = (
        "min(1, steps / target), where a step is `Step 1:`, a numbered or bulleted line, or a word "
        "such as `First,`"
    )
    reasons: ClassVar[Iterable[Reason]] = ReasoningStepsReason

    type: Literal["reasoning_steps"] = "reasoning_steps"
    mode: Literal["strict", "open_r1"] = Field(
        default="strict",
        description="open_r1: exactly open-r1's expression, which counts `1.` at the start only",
    )
    target: int = Field(default=3, gt=0, description="steps for a score of 1")

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """See `Verifier`; no reference is needed."""
        return self._judge

    def _judge(self, completion: Completion) -> Judgement:
        pattern = OPEN_R1 if self.mode == "open_r1" else STEP
        num_steps = len(pattern.findall(completion.text))
        reason = (
            ReasoningStepsReason.ENOUGH_STEPS
            if num_steps >= self.target
            else ReasoningStepsReason.SOME_STEPS
            if num_steps
            else ReasoningStepsReason.NO_STEPS
        )
        return Judgement(min(1.0, num_steps / self.target), reason, details={"steps": num_steps})
