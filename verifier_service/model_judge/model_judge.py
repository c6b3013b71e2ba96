"""The judge that is a model: an answer that rules leave open becomes votes, and votes a verdict."""

from __future__ import annotations

import time

from verifier_service.model_judge.asking import Asking
from verifier_service.model_judge.group_judge import GroupJudge
from verifier_service.model_judge.judge_options import JudgeOptions
from verifier_service.model_judge.open_answer import OpenAnswer
from verifier_service.model_judge.open_group import OpenGroup
from verifier_service.model_judge.reasons import JudgeReason
from verifier_service.model_judge.replies import Said
from verifier_service.model_judge.rubric import OpenRubric
from verifier_service.model_judge.rubric_judge import ask_rubric
from verifier_service.model_judge.votes import Votes, ask_votes
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifier import MAX_EXTRACTED_CHARACTERS


class ModelJudge:
    """Asks the model.

    Args:
        options: the model, and how it is asked.
        asking: calls its endpoints.
    """

    def __init__(self, options: JudgeOptions, asking: Asking) -> None:
        self.num_decided = 0
        """Answers that the model has scored."""
        self._options = options
        self._asking = asking
        self._groups = GroupJudge(options, asking)

    async def ask(self, question: OpenAnswer | OpenRubric | OpenGroup) -> Verdict:
        """The verdict on a question."""
        match question:
            case OpenAnswer():
                return await self._ask_about_answer(question)
            case OpenRubric():
                return await ask_rubric(self._asking, self._options, question)
            case OpenGroup():
                return await self._groups.ask(question)

    async def decision(self, answer: OpenAnswer) -> bool | None:
        """Whether the model finds an answer equal, for no verdict; None where it does not say."""
        decision = (await self._votes(answer)).decision
        return None if decision is None else decision == "equal"

    async def _ask_about_answer(self, answer: OpenAnswer) -> Verdict:
        start = time.perf_counter()
        votes = await self._votes(answer)
        return self._verdict(answer, votes, time.perf_counter() - start)

    async def _votes(self, answer: OpenAnswer) -> Votes:
        """Votes, of which every other one sees the answers in the other order."""
        template, model = self._options.template, self._options.model
        mark = self._asking.mark(answer.answer)

        async def ask(number: int) -> Said:
            messages = template.messages(answer, mark=mark, swapped=number % 2 == 1)
            return await self._asking.said(template, model, messages)

        return await ask_votes(self._options.num_votes, ask)

    def _verdict(self, answer: OpenAnswer, votes: Votes, seconds: float) -> Verdict:
        details = self._options.decided(self._options.template, seconds)
        details["votes"] = {one: votes.num(one) for one in ("equal", "different")}
        probability = votes.probability("equal")
        if probability is not None:
            details["probability"] = round(probability, 4)
        extracted = answer.answer[:MAX_EXTRACTED_CHARACTERS]
        decision = votes.decision
        if decision is None:
            return Verdict(Outcome.FAILED, None, votes.lost[-1], seconds, extracted, details)
        self.num_decided += 1
        is_equal = decision == "equal"
        reason = JudgeReason.EQUAL if is_equal else JudgeReason.DIFFERENT
        return Verdict(Outcome.SCORED, float(is_equal), reason, seconds, extracted, details)
