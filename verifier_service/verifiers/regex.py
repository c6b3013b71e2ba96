"""`regex`: does the answer match a pattern? RE2 takes time linear in the text, whatever it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import re2
from pydantic import Field, ValidationInfo, field_validator

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart, SeveralAnswers, answer_part
from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.reference import bad, kind, missing
from verifier_service.verifier import Judge, Judgement, TextVerifier

MAX_PATTERN_CHARACTERS = 10_000
MAX_PROGRAM_BYTES = 2**20
"""What a compiled pattern may take. Compiling one, or finding that it takes more, may take 1 s."""
QUICK_CHARACTERS = 200
"""Of a request's patterns together."""
QUICK_PROGRAM_BYTES = 2**15
"""With both bounds, the patterns of a request take 20 ms at most, counted repetitions of Unicode
classes included; usual ones take 0.1 ms."""


class SlowPattern(Exception):
    """The patterns of a request may take long to check."""


class QuickPatterns:
    """Checks the patterns of one request where others wait; a validation context of pydantic."""

    def __init__(self) -> None:
        self._characters_left = QUICK_CHARACTERS

    def check(self, pattern: str) -> None:
        """Raises SlowPattern where this cannot tell: the pattern may be good or bad."""
        self._characters_left -= len(pattern)
        if self._characters_left < 0:
            raise SlowPattern
        try:
            _compiled(pattern, QUICK_PROGRAM_BYTES)
        except ValueError as error:
            raise SlowPattern from error


class RegexReason(Reason):
    """Reasons of `regex`."""

    MATCHED = "matched", "1: the answer matches; `extracted` is what did."
    NOT_MATCHED = "not_matched", "0: it does not."
    NO_ANSWER = "no_answer", "0: the part that should match is missing or empty."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: there are answer tags with different contents."


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
        description="default: that of the reference; (?i), (?s) and (?m) set flags inside it",
    )
    match: Literal["search", "full"] = Field(
        default="search", description="search: anywhere in the answer; full: all of it"
    )
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None, info: ValidationInfo) -> str | None:
        if pattern is not None and isinstance(info.context, QuickPatterns):
            info.context.check(pattern)
        elif pattern is not None:
            _compiled(pattern)
        return pattern

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """See `Verifier`."""
        compiled = _compiled(self.pattern) if self.pattern is not None else _of(reference)
        look = compiled.fullmatch if self.match == "full" else compiled.search

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, RegexReason.AMBIGUOUS_ANSWER)
            if answer is None:
                return Judgement(0.0, RegexReason.NO_ANSWER)
            found = look(answer)
            if found is None:
                return Judgement(0.0, RegexReason.NOT_MATCHED)
            return Judgement(1.0, RegexReason.MATCHED, found[0])

        return judge


def _of(reference: Mapping[str, Any]) -> Any:
    pattern = reference.get("pattern")
    if pattern is None or pattern == "":
        raise missing("pattern", reference)
    if not isinstance(pattern, str) or len(pattern) > MAX_PATTERN_CHARACTERS:
        expected = f"expected a text of at most {MAX_PATTERN_CHARACTERS} characters"
        raise bad("pattern", f"found {kind(pattern)}, {expected}")
    try:
        return _compiled(pattern)
    except ValueError as error:
        raise bad("pattern", "RE2 does not take it") from error


def _compiled(pattern: str, max_program_bytes: int = MAX_PROGRAM_BYTES) -> Any:
    """Raises ValueError where RE2 does not take the pattern."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = max_program_bytes
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(f"not a pattern of RE2: {_text(error)}") from error


def _text(error: Exception) -> str:
    message = error.args[0] if error.args else ""
    return message.decode(errors="replace") if isinstance(message, bytes) else str(message)
