"""Results of a program's tests, on their way from the process that counts them to the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from verifier_service.code.reasons import CodeReason
from verifier_service.reason import EngineReason

MAX_SHOWN_CHARACTERS = 500

_REASONS = frozenset({*CodeReason, EngineReason.BAD_REFERENCE})


@dataclass
class Findings:
    """Results of a program's tests.

    Raises:
        ValueError: the reason is none that tests can have.
    """

    passed: int
    total: int
    reason: str | None
    """Reason of the first test that failed, or `passed`: a `CodeReason`, or `bad_reference` where
    the tests cannot be run whatever the program is. None where the program's process was gone: the
    way it ended is the reason."""
    first_failed: int | None
    """Index of that test, from 0."""
    shown: str
    """Output or error of the program in that test, cut."""
    expected: str
    """Output or result that that test expects, cut."""

    @classmethod
    def empty(cls) -> Findings:
        """Findings before the first test."""
        return cls(0, 0, CodeReason.PASSED, None, "", "")

    def __post_init__(self) -> None:
        # JSON from the judge's process is checked here: code of the tests runs beside the judge.
        if self.reason is not None and self.reason not in _REASONS:
            raise ValueError(f"no reason of a test: {self.reason[:MAX_SHOWN_CHARACTERS]!a}")

    def add(self, reason: str | None, shown: str = "", expected: str = "") -> None:
        """Count a test."""
        self.total += 1
        if reason == CodeReason.PASSED:
            self.passed += 1
        elif self.reason == CodeReason.PASSED:
            self.reason, self.first_failed = reason, self.total - 1
            self.shown, self.expected = _readable(shown), _readable(expected)


def _readable(text: str) -> str:
    """The text, cut. A lone surrogate, which a message can hold, becomes a question mark.

    JSON has no lone surrogates: a verdict with one could not be sent.
    """
    return text[:MAX_SHOWN_CHARACTERS].encode("utf-8", "replace").decode()
