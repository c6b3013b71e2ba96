"""`instruction_following`: does the response follow the constraints of its prompt?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart, SeveralAnswers, answer_part
from verifier_service.completion import Completion
from verifier_service.instructions import emoji_ends, english_words, if_rlvr, ifbench_tasks
from verifier_service.instructions.constraint import (
    BadArguments,
    CheckResponse,
    MissingPackage,
    Response,
    check_of,
)
from verifier_service.instructions.rows import BadRow, instructions_in
from verifier_service.instructions.visible import visible
from verifier_service.reason import Reason
from verifier_service.reference import bad, missing
from verifier_service.verifier import Judge, Judgement, TextVerifier, Unverifiable

REGISTERED = (if_rlvr, ifbench_tasks, emoji_ends, english_words)
"""Modules that register constraints when they are imported, with those that they import."""
MAX_FOUND_CHARACTERS = 100
MAX_RESPONSE_CHARACTERS = 200_000


class InstructionFollowingReason(Reason):
    """Reasons of `instruction_following`."""

    FOLLOWED = "followed", "1: the response follows every constraint."
    PARTLY_FOLLOWED = (
        "partly_followed",
        "Between 0 and 1 (or 0 with scoring all): the response follows some constraints; "
        "`details.instructions` tells of each.",
    )
    NOT_FOLLOWED = "not_followed", "0: the response follows no constraint."
    NO_ANSWER = "no_answer", "0: the part that should be the response is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the answer tags have different contents."
    TOO_LONG = "too_long", f"0: the response has more than {MAX_RESPONSE_CHARACTERS:,} characters."
    MISSING_PACKAGE = (
        "missing_package",
        "unverifiable: a constraint needs a package that the service has not: "
        "`pip install reward-verifier[instructions]`.",
    )


class InstructionFollowing(TextVerifier):
    """The share of a prompt's constraints that the response follows."""

    purpose: ClassVar[str] = (
        "the share of the constraints of IFEval, IF-RLVR and IFBench that the response follows; "
        "reference.instructions has their ids and arguments ({id, kwargs}), or the reference is a "
        "row as those data sets ship it (`instruction_id_list` and `kwargs`, or `ground_truth`)"
    )
    reasons: ClassVar[Iterable[Reason]] = InstructionFollowingReason

    type: Literal["instruction_following"] = "instruction_following"
    mode: Literal["default", "source"] = Field(
        default="default",
        description="default: what meets a check and not the constraint's words is refused, such "
        "as keywords in comments or empty bullets; source: as the data sets' own code",
    )
    matching: Literal["strict", "loose"] = Field(
        default="strict",
        description="loose: a constraint is also followed if it is without the response's first "
        "line, last line, both, or all asterisks",
    )
    scoring: Literal["fraction", "all"] = Field(
        default="fraction", description="all: 1 only if every constraint is followed"
    )
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    @property
    def task_size(self) -> int:
        """A small task: telling a language takes milliseconds."""
        return 32

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        checks = _checks(reference)

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, InstructionFollowingReason.AMBIGUOUS_ANSWER)
            if self.mode == "default" and answer is not None:
                answer = visible(answer.replace("\r\n", "\n")).strip()
            if not answer:
                return Judgement(0.0, InstructionFollowingReason.NO_ANSWER)
            if len(answer) > MAX_RESPONSE_CHARACTERS:
                return Judgement(0.0, InstructionFollowingReason.TOO_LONG)
            return self._judgement(checks, answer)

        return judge

    def _judgement(self, checks: Sequence[tuple[str, CheckResponse]], answer: str) -> Judgement:
        closed = self.mode == "default"
        forms = [Response(one, closed=closed) for one in self._forms(answer)]
        findings = []
        for name, check in checks:
            every = (_found(name, check, form) for form in forms)
            first = next(every)
            followed = first["followed"] or any(one["followed"] for one in every)
            findings.append({**first, "followed": followed})
        number = sum(one["followed"] for one in findings)
        share = number / len(findings)
        reason = InstructionFollowingReason.PARTLY_FOLLOWED
        if number == len(findings):
            reason = InstructionFollowingReason.FOLLOWED
        elif number == 0:
            reason = InstructionFollowingReason.NOT_FOLLOWED
        score = share if self.scoring == "fraction" else float(share == 1)
        return Judgement(score, reason, details={"instructions": findings})

    def _forms(self, answer: str) -> Iterator[str]:
        """The forms of a response of which one must follow a constraint."""
        yield answer
        if self.matching == "strict":
            return
        lines = answer.split("\n")
        cut = ["\n".join(some).strip() for some in (lines[1:], lines[:-1], lines[1:-1])]
        for form in (answer.replace("*", ""), *cut, *(one.replace("*", "") for one in cut)):
            if form.strip():
                yield form


def _found(name: str, check: CheckResponse, response: Response) -> dict[str, Any]:
    """The finding of a check in JSON. Raises Unverifiable where a package is missing."""
    try:
        finding = check(response)
    except MissingPackage as error:
        message = f"{name} needs reward-verifier[instructions], which the service has not"
        raise Unverifiable(InstructionFollowingReason.MISSING_PACKAGE, message) from error
    found = finding.found[:MAX_FOUND_CHARACTERS]
    return {"id": name, "followed": finding.followed, "found": found}


def _checks(reference: Mapping[str, Any]) -> list[tuple[str, CheckResponse]]:
    """The constraints of a reference with their checks. Raises Unverifiable."""
    try:
        instructions = instructions_in(reference)
    except BadRow as error:
        field, _, message = str(error).partition(": ")
        raise bad(field, message) from error
    if instructions is None:
        raise missing("instructions", reference)
    try:
        return [(name, check_of(name, arguments)) for name, arguments in instructions]
    except BadArguments as error:
        raise bad("instructions", str(error)) from error
