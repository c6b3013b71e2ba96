"""`string_similarity`: how similar is the answer to the reference?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service import strict_json
from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart, SeveralAnswers, answer_part
from verifier_service.completion import Completion
from verifier_service.containment import WantedTexts
from verifier_service.instructions.visible import visible
from verifier_service.reason import Reason
from verifier_service.reference import acceptable_answers, bad
from verifier_service.text_similarity import (
    edit_similarity,
    items_in,
    rouge_l,
    sequence_ratio_to,
    set_f1,
    token_f1,
)
from verifier_service.verifier import Judge, Judgement, TextVerifier, Unverifiable

SimilarityMetric = Literal[
    "sequence_ratio", "edit", "rouge_l", "token_f1", "set_f1", "contains", "bleu", "chrf"
]
Similarity = Callable[[str, str], float]
METRICS: dict[str, Similarity] = {
    "sequence_ratio": lambda one, other: sequence_ratio_to(other)(one),
    "edit": edit_similarity,
    "rouge_l": rouge_l,
    "token_f1": token_f1,
}
LIBRARY_METRICS = ("bleu", "chrf")
MAX_ANSWER_CHARACTERS = 50_000
TIMES_AS_LONG = 20
"""An answer that should contain texts may be so many times as long as these together."""
MIN_ROOM_CHARACTERS = 400
"""A few sentences, which an answer may always have."""


class StringSimilarityReason(Reason):
    """Reasons of `string_similarity`."""

    SIMILAR = "similar", "The similarity of the most similar reference, or 1 from `threshold` on."
    NOT_SIMILAR = "not_similar", "0: the similarity is 0, or below `threshold`."
    NO_PREFIX = "no_prefix", "0: the answer does not begin with reference.prefix."
    NO_LIST = "no_list", "0: the answer ends with no list (only with set_f1)."
    TOO_LONG = "too_long", "0: the answer is too long for the metric."
    MANY_NUMBERS = (
        "many_numbers",
        "0: the reference has numbers, and the answer too many others (only with contains).",
    )
    NO_ANSWER = "no_answer", "0: the part that should hold the answer is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the answer tags have different contents."
    MISSING_PACKAGE = (
        "missing_package",
        "unverifiable: bleu and chrf need `pip install reward-verifier[similarity]`.",
    )


class StringSimilarity(TextVerifier):
    """The similarity of the answer and the reference."""

    purpose: ClassVar[str] = (
        "the similarity of the answer and reference.answer (a text, or a list of which the most "
        "similar counts), between 0 and 1; reference.prefix must stand before the answer, where "
        "there is one"
    )
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    reasons: ClassVar[Iterable[Reason]] = StringSimilarityReason

    type: Literal["string_similarity"] = "string_similarity"
    metric: SimilarityMetric = Field(
        default="sequence_ratio",
        description="sequence_ratio: difflib's, as MRCR; edit: by edit distance; rouge_l: "
        "F-measure by the longest common words; token_f1: SQuAD's; set_f1: of the list at the "
        "answer's end and the texts of the reference, as GraphWalks; contains: the share of the "
        "reference's texts that the answer has as whole words and numbers, as RULER; bleu, chrf: "
        "of sacrebleu",
    )
    threshold: float | None = Field(
        default=None, gt=0, le=1, description="1 from this similarity on, else 0"
    )
    case_sensitive: bool = Field(default=True, description="tell Paris from paris")
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    @property
    def task_size(self) -> int:
        """A small task: a long text takes milliseconds."""
        return 32

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        wanted = self._wanted(reference)
        prefix = _prefix(reference)
        longest = self._longest(wanted)
        contained = WantedTexts([visible(text) or text for text in wanted])
        similarity = self._similarity_to(wanted)

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, StringSimilarityReason.AMBIGUOUS_ANSWER)
            if answer is None:
                return Judgement(0.0, StringSimilarityReason.NO_ANSWER)
            if not answer.startswith(prefix):
                return Judgement(0.0, StringSimilarityReason.NO_PREFIX, answer)
            text = self._cased(answer.removeprefix(prefix))
            if self.metric == "contains":
                text = visible(text)
            if len(text) > longest:
                return Judgement(0.0, StringSimilarityReason.TOO_LONG)
            if self.metric == "set_f1":
                items = items_in(text)
                if items is None:
                    return Judgement(0.0, StringSimilarityReason.NO_LIST)
                return self._judgement(set_f1(items, wanted), ", ".join(items))
            if self.metric == "contains":
                if contained.has_too_many_numbers(text):
                    return Judgement(0.0, StringSimilarityReason.MANY_NUMBERS)
                return self._judgement(contained.share_in(text), answer)
            return self._judgement(similarity(text), answer)

        return judge

    def _similarity_to(self, wanted: list[str]) -> Callable[[str], float]:
        """The similarity of a text and the most similar of the reference. Raises Unverifiable."""
        if self.metric == "sequence_ratio" and len(wanted) == 1:
            return sequence_ratio_to(wanted[0])
        similarity = _similarity(self.metric)
        return lambda text: max(similarity(text, one) for one in wanted)

    def _judgement(self, similarity: float, extracted: str) -> Judgement:
        score = similarity
        if self.threshold is not None:
            score = float(similarity >= self.threshold)
        reason = StringSimilarityReason.SIMILAR if score else StringSimilarityReason.NOT_SIMILAR
        return Judgement(score, reason, extracted, {"similarity": round(similarity, 6)})

    def _wanted(self, reference: Mapping[str, Any]) -> list[str]:
        """The texts of the reference. Raises Unverifiable."""
        if self.metric == "set_f1":
            return [self._cased(text) for text in _items(reference)]
        prefix = _prefix(reference)
        texts = [text.strip().removeprefix(prefix) for text in acceptable_answers(reference)]
        texts = [self._cased(text) for text in texts]
        if not all(texts) or max(map(len, texts)) > MAX_ANSWER_CHARACTERS:
            raise bad("answer", f"expected texts of 1 to {MAX_ANSWER_CHARACTERS} characters")
        return texts

    def _longest(self, wanted: list[str]) -> int:
        """Characters of the longest answer. One that has all texts of a context retrieves none."""
        if self.metric != "contains":
            return MAX_ANSWER_CHARACTERS
        return max(MIN_ROOM_CHARACTERS, TIMES_AS_LONG * sum(map(len, wanted)))

    def _cased(self, text: str) -> str:
        return text if self.case_sensitive else text.lower()


def _prefix(reference: Mapping[str, Any]) -> str:
    """The text before the answer, which has lost the white space at its start. Raises Unverifiable.

    White space at the prefix's own start would refuse every answer.
    """
    prefix = reference.get("prefix", "")
    if not isinstance(prefix, str):
        raise bad("prefix", "expected a text")
    return prefix.lstrip()


def _items(reference: Mapping[str, Any]) -> list[str]:
    """The set of a reference: a list, or its JSON text, which may be empty. Raises Unverifiable."""
    answer = reference.get("answer")
    if isinstance(answer, str):
        try:
            answer = strict_json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise bad("answer", "expected a list, or its JSON text") from error
    if answer == []:
        return []
    return acceptable_answers({"answer": answer} if answer is not None else {})


@cache
def _similarity(metric: str) -> Similarity:
    """The function of a metric. Raises Unverifiable where its package is missing."""
    if metric in METRICS:
        return METRICS[metric]
    if metric not in LIBRARY_METRICS:
        return lambda _one, _other: 0.0  # of sets and containment, which are counted otherwise
    try:
        from sacrebleu.metrics import BLEU, CHRF  # noqa: PLC0415  it takes 0.3 s to load
    except ImportError as error:
        message = f"{metric} needs reward-verifier[similarity], which the service has not"
        raise Unverifiable(StringSimilarityReason.MISSING_PACKAGE, message) from error
    scorer = BLEU(effective_order=True) if metric == "bleu" else CHRF()

    def similarity(one: str, other: str) -> float:
        return min(float(scorer.sentence_score(one, [other]).score) / 100, 1.0)

    return similarity
