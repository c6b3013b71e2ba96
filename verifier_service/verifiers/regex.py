"""`regex`: does the answer match a pattern? RE2 takes time linear in the text for any pattern."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart, SeveralAnswers, answer_part
from verifier_service.completion import Completion
from verifier_service.patterns import compiled
from verifier_service.reason import Reason
from verifier_service.reference import bad, kind, missing
from verifier_service.verifier import Judge, Judgement, TextVerifier

MAX_PATTERN_CHARACTERS = 10_000
MAX_PROBLEM_CHARACTERS = 200
"""Longest message on a reference's pattern, of which RE2 quotes the part that it refuses."""
QUICK_CHARACTERS = 200
"""Longest text of all patterns of a request together that are checked at once."""
QUICK_PROGRAM_BYTES = 2**15
"""Largest compiled pattern that is checked at once. Within both bounds the patterns of a request
take 20 ms at most, with counted repetitions of Unicode classes; usual ones take 0.1 ms."""


class SlowPattern(Exception):
    """The patterns of a request may take too long to check at once."""


class QuickPatterns:
    """Checks the patterns of one request while others wait: a validation context of pydantic."""

    def __init__(self) -> None:
        self._characters_left = QUICK_CHARACTERS

    def check(self, pattern: str) -> None:
        """Raises SlowPattern where the bounds are met before the pattern is known to be valid."""
        self._characters_left -= len(pattern)
        if self._characters_left < 0:
            raise SlowPattern
        try:
            compiled(pattern, QUICK_PROGRAM_BYTES)
        except ValueError as error:
            raise SlowPattern from error


class RegexReason(Reason):
    """Reasons of `regex`."""

    MATCHED = "matched", "1: the answer matches; `extracted` is the text that matched."
    NOT_MATCHED = "not_matched", "0: the answer does not match."
    NO_ANSWER = "no_answer", "0: the part that should match is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the answer tags have different contents."


class Regex(TextVerifier):
    """1 if the answer matches the pattern, else 0."""

    purpose: ClassVar[str] = (
        "1 if the answer matches a pattern in RE2's syntax (option `pattern`, else "
        "reference.pattern), else 0"
    )
    reasons: ClassVar[Iterable[Reason]] = RegexReason

    type: Literal["regex"] = "regex"
    pattern: str | None = Field(
        default=None,
        max_length=MAX_PATTERN_CHARACTERS,
        description="default: the reference's pattern; (?i), (?s) and (?m) set flags inside it",
    )
    match: Literal["search", "full"] = Field(
        default="search", description="search: anywhere in the answer; full: all of it"
    )
    min_lines: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="so many lines of the answer must match, each by itself; default: the answer "
        "as a whole",
    )
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None, info: ValidationInfo) -> str | None:
        if pattern is not None and isinstance(info.context, QuickPatterns):
            info.context.check(pattern)
        elif pattern is not None:
            compiled(pattern)
        return pattern

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        pattern = compiled(self.pattern) if self.pattern is not None else _pattern_of(reference)
        look = pattern.fullmatch if self.match == "full" else pattern.search

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, RegexReason.AMBIGUOUS_ANSWER)
            if answer is None:
                return Judgement(0.0, RegexReason.NO_ANSWER)
            if self.min_lines is not None:
                return _of_lines([look(line) for line in answer.split("\n")], self.min_lines)
            found = look(answer)
            if found is None:
                return Judgement(0.0, RegexReason.NOT_MATCHED)
            return Judgement(1.0, RegexReason.MATCHED, found[0])

        return judge


def _of_lines(found: Sequence[Any], min_lines: int) -> Judgement:
    """The judgement of matches, one for each line."""
    matches = [one[0] for one in found if one is not None]
    details = {"lines": len(matches)}
    if len(matches) < min_lines:
        return Judgement(0.0, RegexReason.NOT_MATCHED, details=details)
    return Judgement(1.0, RegexReason.MATCHED, matches[0], details)


def _pattern_of(reference: Mapping[str, Any]) -> Any:
    pattern = reference.get("pattern")
    if pattern is None or pattern == "":
        raise missing("pattern", reference)
    if not isinstance(pattern, str) or len(pattern) > MAX_PATTERN_CHARACTERS:
        expected = f"expected a text of at most {MAX_PATTERN_CHARACTERS} characters"
        raise bad("pattern", f"found {kind(pattern)}, {expected}")
    try:
        return compiled(pattern)
    except ValueError as error:
        raise bad("pattern", str(error)[:MAX_PROBLEM_CHARACTERS]) from error
