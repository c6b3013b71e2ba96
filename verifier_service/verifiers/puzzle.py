"""`puzzle`: does the answer solve a puzzle whose solution can be checked exactly?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart, SeveralAnswers, answer_part
from verifier_service.code.extraction import last_block
from verifier_service.completion import Completion
from verifier_service.mathematics.boxes import boxes_in
from verifier_service.puzzles.checkers import CHECKERS
from verifier_service.puzzles.finding import PuzzleFinding, PuzzleReason
from verifier_service.puzzles.reading import UnreadableSolution
from verifier_service.reason import Reason
from verifier_service.reference import MAX_KEY_CHARACTERS, bad, kind, missing
from verifier_service.validation import did_you_mean
from verifier_service.verifier import Judge, Judgement, TextVerifier

MAX_ANSWER_CHARACTERS = 50_000
BLOCK_TAGS = ("json", "text", "python", "plaintext")
"""Tags of fenced blocks that hold a solution, beside none."""


class Puzzle(TextVerifier):
    """1 if the answer solves the puzzle, else 0 or the share that is right."""

    purpose: ClassVar[str] = (
        "1 if the answer solves the puzzle of reference.puzzle, else 0 or a share: countdown "
        "(numbers, target), sudoku (grid: any solution that keeps the clues), cells (the value of "
        "each cell of a logic grid or board), grid (ARC), order, set (items), edges, point (near "
        "another, or in a box), schedule (events in their windows of time)"
    )
    needs: ClassVar[tuple[str, ...]] = ("puzzle",)
    reasons: ClassVar[Iterable[Reason]] = PuzzleReason

    type: Literal["puzzle"] = "puzzle"
    scoring: Literal["all", "parts"] = Field(
        default="all",
        description="parts: the share of right cells, places, or of whole rows, columns and boxes; "
        "F1 of sets and edges; (1 - distance / max_distance)^2 of a point; all: 1 or 0",
    )
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    @property
    def task_size(self) -> int:
        """A small task: a large grid takes a millisecond."""
        return 64

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        name = reference.get("puzzle")
        if name is None:
            raise missing("puzzle", reference)
        if not isinstance(name, str):
            raise bad("puzzle", f"found {kind(name)}, expected the name of a puzzle")
        if name not in CHECKERS:
            shown = name[:MAX_KEY_CHARACTERS]
            raise bad("puzzle", f"no puzzle {shown!r}{did_you_mean(shown, CHECKERS)}")
        check = CHECKERS[name](reference)

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, PuzzleReason.AMBIGUOUS_ANSWER)
            if answer is None:
                return Judgement(0.0, PuzzleReason.NO_ANSWER)
            if len(answer) > MAX_ANSWER_CHARACTERS:
                return Judgement(0.0, PuzzleReason.TOO_LONG)
            solution = _solution(answer)
            try:
                return self._judgement(check(solution), solution)
            except UnreadableSolution as error:
                problem = {"problem": str(error)}
                return Judgement(0.0, PuzzleReason.MALFORMED, solution, problem)

        return judge

    def _judgement(self, found: PuzzleFinding, solution: str) -> Judgement:
        if found.share == 1 or (found.is_solved and self.scoring == "all"):
            return Judgement(1.0, PuzzleReason.SOLVED, solution)
        details = {"share": round(found.share, 6)}
        if self.scoring == "parts" and found.share > 0:
            return Judgement(found.share, PuzzleReason.PARTLY_SOLVED, solution, details)
        return Judgement(0.0, found.fault, solution, details)


def _solution(answer: str) -> str:
    """The last box of an answer, else its last fenced block, else all of it.

    A block with a list or object after it shows something else, such as the input.
    """
    boxes = boxes_in(answer)
    if boxes:
        return boxes[-1][2]
    block = last_block(answer, BLOCK_TAGS)
    after = answer.rpartition("```")[2]
    return answer if block is None or "]" in after or "}" in after else block.strip()
