"""The models that a service asks: one that judges, and one that rewards."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from verifier_service.model_judge.asking import Asking
from verifier_service.model_judge.audits import Audits
from verifier_service.model_judge.model_judge import ModelJudge
from verifier_service.model_judge.open_answer import OpenAnswer
from verifier_service.model_judge.open_group import OpenGroup
from verifier_service.model_judge.open_reward import OpenReward
from verifier_service.model_judge.reasons import CallReason
from verifier_service.model_judge.reward_client import RewardModelClient
from verifier_service.model_judge.rubric import OpenRubric
from verifier_service.verdict import Verdict, unverifiable

NO_JUDGE = "rules do not decide, and VERIFIER_JUDGE_URL names no model to ask"
NO_REWARD_MODEL = "VERIFIER_REWARD_MODEL_URL names no reward model to ask"

_question = msgspec.json.Decoder(OpenAnswer | OpenRubric | OpenGroup | OpenReward)


@dataclass
class Models:
    """The models of a service, as far as its settings name any, and the calls of each."""

    max_questions: int | None = None
    """Most questions of one request."""
    judge: ModelJudge | None = None
    reward_model: RewardModelClient | None = None
    asking: dict[str, Asking] = field(default_factory=dict)
    """The calls of each, by `judge` or `reward`."""
    audits: Audits = field(default_factory=Audits)

    async def ask(self, question: str) -> Verdict:
        """The verdict on a question in JSON."""
        found = _question.decode(question)
        if isinstance(found, OpenReward):
            if self.reward_model is None:
                return unverifiable(CallReason.NO_JUDGE, message=NO_REWARD_MODEL)
            return await self.reward_model.ask(found)
        if self.judge is None:
            return unverifiable(CallReason.NO_JUDGE, message=NO_JUDGE)
        return await self.judge.ask(found)

    def audit(self, question: str) -> None:
        """Check an answer that rules decided, later and for the metrics alone."""
        found = _question.decode(question)
        if self.judge is not None and isinstance(found, OpenAnswer):
            self.audits.check(found, self.judge)

    @property
    def num_decided(self) -> int:
        """Answers that the judge has scored."""
        return 0 if self.judge is None else self.judge.num_decided
