"""`exact_match`: is the answer, character by character, what the reference says?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart, SeveralAnswers, answer_part
from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.reference import acceptable_answers, bad
from verifier_service.verifier import Judge, Judgement, TextVerifier


class ExactMatchReason(Reason):
    """Reasons of `exact_match`."""

    EQUAL = "equal", "1: the answer is the reference, or one of them."
    DIFFERENT = "different", "0: it is none of them."
    NO_ANSWER = "no_answer", "0: the part that should hold the answer is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: there are answer tags with different contents."


class ExactMatch(TextVerifier):
    """1 if the answer is the reference character by character, else 0."""

    purpose: ClassVar[str] = (
        "1 if the answer is reference.answer (a string or a number, or a list of which one must "
        "be met) character by character, else 0; white space around both is left out"
    )
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    reasons: ClassVar[Iterable[Reason]] = ExactMatchReason

    type: Literal["exact_match"] = "exact_match"
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)
    collapse_white_space: bool = Field(
        default=False, description="whether any run of white space inside counts as one space"
    )
    case_sensitive: bool = Field(default=True, description="whether Paris differs from paris")

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """See `Verifier`."""
        accepted = {self._normalised(text) for text in acceptable_answers(reference)}
        if "" in accepted:
            raise bad("answer", "it has nothing but white space")

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, ExactMatchReason.AMBIGUOUS_ANSWER)
            if answer is None:
                return Judgement(0.0, ExactMatchReason.NO_ANSWER)
            if self._normalised(answer) in accepted:
                return Judgement(1.0, ExactMatchReason.EQUAL, answer)
            return Judgement(0.0, ExactMatchReason.DIFFERENT, answer)

        return judge

    def _normalised(self, text: str) -> str:
        text = " ".join(text.split()) if self.collapse_white_space else text.strip()
        return text if self.case_sensitive else text.casefold()
