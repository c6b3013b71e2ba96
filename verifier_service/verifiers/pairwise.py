"""`pairwise`: which responses of a group are better, as a model finds that compares them in pairs.

The worker takes the responses out of the completions; the API process has the model compare them
(`model_judge.group_judge`). docs/judges.md has the threat model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import msgspec
from pydantic import Field

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart
from verifier_service.completion import Completion
from verifier_service.model_judge.open_answer import cleaned_lines
from verifier_service.model_judge.open_group import GroupScoring, OpenGroup
from verifier_service.model_judge.reasons import CallReason, PairwiseReason
from verifier_service.model_judge.response_text import response_text
from verifier_service.model_judge.task_text import task_text
from verifier_service.model_judge.tournament import bradley_terry, win_rate
from verifier_service.reason import EngineReason, Reason
from verifier_service.reference import missing
from verifier_service.verifier import (
    AskingGroupVerifier,
    Judge,
    Judgement,
    Undecided,
    Unverifiable,
)

MAX_COMPLETIONS = 32
"""Most completions of a group: all pairs of them in both orders are 992 calls."""
MAX_COMPARED_CHARACTERS = 8000
"""Longest response that is compared; a longer one is `too_large` and loses."""
BY_RULES: Mapping[str, Any] = {"by": "rules"}


class Pairwise(AskingGroupVerifier):
    """How often the response of a completion is better than others of its group."""

    purpose: ClassVar[str] = (
        "how often the response is better than others of its group, as a model "
        "(VERIFIER_JUDGE_URL) finds that compares them in pairs and in both orders for "
        "reference.problem; 0.5 for a group of equals, 0 without a response"
    )
    reasons: ClassVar[Iterable[Reason]] = (*PairwiseReason, *CallReason)

    type: Literal["pairwise"] = "pairwise"
    scoring: GroupScoring = Field(
        default="win_rate",
        description="win_rate: the share of comparisons that are won, ties half; bradley_terry: "
        "the chance to beat a response of medium strength, for groups in which not all meet",
    )
    opponents: int | None = Field(
        default=None,
        ge=2,
        le=MAX_COMPLETIONS,
        multiple_of=2,
        description="responses that each is compared with, an even number; default: all of the "
        "group",
    )
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    @property
    def task_size(self) -> int:
        """A small task: the questions of a group repeat its responses."""
        return MAX_COMPLETIONS

    def prepare_group(self, reference: Mapping[str, Any], group: Sequence[Completion]) -> Judge:
        """Read the task and the responses of a group, and return the judge of each."""
        problem = task_text(reference)
        if problem is None:
            raise missing("problem", reference, instead="prompt")
        if len(group) > MAX_COMPLETIONS:
            found = f"the group has {len(group)} completions"
            raise Unverifiable(
                PairwiseReason.LARGE_GROUP, f"{found}, expected at most {MAX_COMPLETIONS}"
            )
        given = [self._response(completion) for completion in group]
        # Their order, which decides who meets whom, is not that of the request.
        responses = sorted({one for one in given if not isinstance(one, Reason)}, key=_digest)
        counts = [given.count(one) for one in responses]
        whole = OpenGroup(
            responses,
            counts,
            0,
            len(group) - sum(counts),
            cleaned_lines(problem),
            self.scoring,
            self.opponents,
        )

        def judge(completion: Completion) -> Judgement | Undecided:
            response = self._response(completion)
            if isinstance(response, Reason):
                return Judgement(0.0, response, details={**BY_RULES})
            question = msgspec.structs.replace(whole, index=responses.index(response))
            if len(responses) == 1:
                return _without_opponents(question)
            return Undecided(msgspec.json.encode(question).decode())

        return judge

    def _response(self, completion: Completion) -> str | Reason:
        """The response of a completion, cleaned, or the reason why it loses."""
        response = response_text(completion.text, self.part)
        if response is None:
            return PairwiseReason.NO_RESPONSE
        if len(response) > MAX_COMPARED_CHARACTERS:
            return EngineReason.TOO_LARGE
        return cleaned_lines(response)


def _without_opponents(group: OpenGroup) -> Judgement:
    """The judgement on the only response of a group, which may be that of several completions."""
    (response,) = group.responses
    if group.counts == [1] and group.num_without == 0:
        return Judgement(0.5, PairwiseReason.NO_OPPONENT, response, {**BY_RULES})
    if group.scoring == "bradley_terry":
        (score,) = bradley_terry({}, group.counts, group.num_without)
    else:
        score = win_rate(0, {}, group.counts, group.num_without)
    return Judgement(score, PairwiseReason.COMPARED, response, {**BY_RULES})


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
