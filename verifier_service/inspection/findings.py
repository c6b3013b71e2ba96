"""Findings about the rows of a data set: a closed set of kinds, each with what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from verifier_service.verdict import MAX_MESSAGE_CHARACTERS


class FindingKind(StrEnum):
    """A kind of finding: its meaning, what to do, and whether such a row is of no use."""

    meaning: str
    remedy: str
    is_fatal: bool

    def __new__(cls, value: str, meaning: str, remedy: str, is_fatal: bool = True) -> Self:
        """A member whose value is the first part."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning, member.remedy, member.is_fatal = meaning, remedy, is_fatal
        return member

    UNREADABLE_ROW = (
        "unreadable_row",
        "the row is no JSON object, or holds what JSON cannot",
        "mend the file",
    )
    UNKNOWN_SHAPE = (
        "unknown_shape",
        "the row has no shape that is known, or several that differ",
        "rename columns by --column, or name the shape by --reference-format",
    )
    EMPTY_REFERENCE = (
        "empty_reference",
        "the row has the column of the reference, and nothing in it",
        "fill it, or leave the row out",
    )
    NO_PROMPT = (
        "no_prompt",
        "the row has no problem to pose",
        "name the column by --column prompt=COLUMN",
    )
    NO_VERIFIER = (
        "no_verifier",
        "this service has no verifier of the kind that the row needs",
        "leave the row out, or install a plugin that judges it",
    )
    BAD_REFERENCE = (
        "bad_reference",
        "the reference cannot be used, so every completion is unverifiable",
        "mend the reference, or leave the row out",
    )
    SELF_MISMATCH = (
        "self_mismatch",
        "a completion that gives the reference itself is refused",
        "write the reference as an answer alone, or leave the row out",
    )
    UNREACHABLE_ANSWER = (
        "unreachable_answer",
        "the reference in the chosen form of answers is not found again",
        "choose another --answer-format, or leave the row out",
    )
    SOLUTION_DIFFERS = (
        "solution_differs",
        "the row's own solution ends with another answer than its reference",
        "look which of the two is right",
    )
    SOLUTION_FAILS = (
        "solution_fails",
        "no solution of the row passes the row's tests",
        "mend the tests or the solution; a right program may be refused, too",
    )
    NONDETERMINISTIC = (
        "nondeterministic",
        "three runs of one program gave different results",
        "seed random numbers, sort sets, take the clock out of tests",
    )
    TRIVIAL_PASSES = (
        "trivial_passes",
        "a program that does nothing useful passes every test",
        "add tests with other results",
    )
    CONFLICTING_REFERENCES = (
        "conflicting_references",
        "rows with the same problem have different references",
        "find the right one, and remove the others",
    )
    GIVEN_AWAY = (
        "given_away",
        "the problem states its answer",
        "cut the answer out of the problem",
    )
    LANGUAGE_MISSING = (
        "language_missing",
        "programs of this language cannot run here",
        "install its toolchain (verifier-service doctor lists them), or leave the row out",
    )
    PACKAGE_MISSING = (
        "package_missing",
        "the row's solution imports a package that programs here do not have",
        "install the package beside the service, or leave the row out",
    )
    NOT_JUDGED = (
        "not_judged",
        "the workers failed to judge the row",
        "run the command again; with --verdicts it goes on where it was",
    )
    DUPLICATE = (
        "duplicate",
        "the problem was posed before, and the references agree",
        "--write keeps the first",
        False,
    )
    CONSTANT_ANSWER = (
        "constant_answer",
        "one answer is right in so many rows that a policy can learn to say it always",
        "balance the answers, or drop rows that have it",
        False,
    )
    EMPTY_ANSWER = (
        "empty_answer",
        "the answer is nothing: an empty set, no solution, no call",
        "keep such rows few, because a completion that gives up is right on them",
        False,
    )
    ODD_ANSWER = (
        "odd_answer",
        "the answer has words, where nearly all other rows have numbers",
        "look whether it is an answer",
        False,
    )
    FEW_TESTS = (
        "few_tests",
        "there are too few tests to tell a right program",
        "add tests, or lower --min-tests",
        False,
    )
    SLOW_TESTS = (
        "slow_tests",
        "the row's own solution takes long",
        "use smaller tests; each completion costs as much, and slower ones time out",
        False,
    )


@dataclass(frozen=True)
class RowFinding:
    """A finding about one row."""

    kind: FindingKind
    message: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", self.message[:MAX_MESSAGE_CHARACTERS])

    def as_json(self) -> dict[str, str | bool]:
        """The finding for a file."""
        return {
            "kind": self.kind.value,
            "message": self.message,
            "unusable": self.kind.is_fatal,
        }
