"""`reward_model`: the score that a reward model behind an endpoint gives a response.

The worker takes the response out of the completion; the API process calls the endpoint
(`model_judge.reward_client`). docs/judges.md has the protocols.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, Self

import msgspec
from pydantic import Field, model_validator

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart
from verifier_service.completion import Completion
from verifier_service.model_judge.open_reward import OpenReward, one_turn
from verifier_service.model_judge.reasons import CallReason, RewardModelReason
from verifier_service.model_judge.response_text import MAX_RESPONSE_CHARACTERS, response_text
from verifier_service.model_judge.task_text import task_text
from verifier_service.reason import EngineReason, Reason
from verifier_service.verifier import AskingVerifier, Judge, Judgement, Undecided

LOWEST, HIGHEST = -1000.0, 1000.0


class RewardModel(AskingVerifier):
    """The score that a reward model gives the response."""

    purpose: ClassVar[str] = (
        "the score that a reward model (VERIFIER_REWARD_MODEL_URL) gives the response to "
        "reference.problem, cut to `minimum` and `maximum`; `minimum` without a response. "
        "details.reward has the score before it is cut"
    )
    score_range: ClassVar[tuple[float, float]] = (LOWEST, HIGHEST)
    reasons: ClassVar[Iterable[Reason]] = (*RewardModelReason, *CallReason)

    type: Literal["reward_model"] = "reward_model"
    minimum: float = Field(
        default=-10.0,
        ge=LOWEST,
        le=HIGHEST,
        description="lowest score, also of a completion that has no response or cannot be judged",
    )
    maximum: float = Field(default=10.0, ge=LOWEST, le=HIGHEST, description="highest score")
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        if self.minimum >= self.maximum:
            raise ValueError("expected a minimum below the maximum")
        return self

    @property
    def score_if_killed(self) -> float:
        """The lowest score: a completion that is too slow to judge must not gain by it."""
        return self.minimum

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the task, and return the judge of responses."""
        problem, label = task_text(reference), reference.get("answer")

        def judge(completion: Completion) -> Judgement | Undecided:
            response = response_text(completion.text, self.part)
            if response is None:
                return Judgement(
                    self.minimum, RewardModelReason.NO_RESPONSE, details={"by": "rules"}
                )
            if len(response) > MAX_RESPONSE_CHARACTERS:
                return Judgement(0.0, EngineReason.TOO_LARGE, details={"by": "rules"})
            question = OpenReward(
                one_turn(response),
                None if problem is None else one_turn(problem),
                label if isinstance(label, str) else None,
                self.minimum,
                self.maximum,
            )
            return Undecided(msgspec.json.encode(question).decode())

        return judge
