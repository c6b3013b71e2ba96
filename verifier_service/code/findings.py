"""Results of a program's tests, on their way from the process that counts them to the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from verifier_service.code.reasons import CodeReason
from verifier_service.reason import EngineReason

MAX_SHOWN_CHARACTERS = 500

_REASONS = frozenset({*CodeReason, EngineReason.BAD_REFERENCE})


@dataclass
class Findings:
    """Results of a program's tests. A test without a result was not reached, and has failed."""

    total: int
    """Number of the tests, which follows from the tests alone; 0 where they cannot be counted."""
    num_results: int = 0
    """Tests that have been run."""
    num_passed: int = 0
    """Tests that have been run and passed."""
    reason: str = CodeReason.PASSED
    """Reason of the first failure, or `passed`: a `CodeReason`, or `bad_reference` where the tests
    cannot be run whatever the program is."""
    first_failed: int | None = None
    """Index of the first test that failed, from 0."""
    shown: str = ""
    """Output or error of the program in that test, cut."""
    expected: str = ""
    """Output or result that that test expects, cut."""

    @property
    def has_failed(self) -> bool:
        """Whether there was a failure."""
        return self.reason != CodeReason.PASSED

    @property
    def passed(self) -> int:
        """Tests that passed: not all of them where something beside the tests failed."""
        return min(self.num_passed, max(self.total - 1, 0)) if self.has_failed else self.num_passed

    def add(self, reason: str, shown: str = "", expected: str = "") -> None:
        """Count a test. Raises ValueError: the reason is none that tests can have."""
        if reason == CodeReason.PASSED:
            self.num_passed += 1
        else:
            self.fail(reason, shown, expected)
        self.num_results += 1

    def fail(self, reason: str, shown: str = "", expected: str = "") -> None:
        """Take a failure that is not the result of a test. Raises ValueError as `add`."""
        if reason not in _REASONS or reason == CodeReason.PASSED:
            raise ValueError(f"no reason of a failure: {reason[:MAX_SHOWN_CHARACTERS]!a}")
        if not self.has_failed:
            self.reason = reason
            self.first_failed = max(min(self.num_results, self.total - 1), 0)
            self.shown, self.expected = readable(shown), readable(expected)


def readable(text: str) -> str:
    """The text, cut. A lone surrogate, which a message can hold, becomes a question mark.

    JSON has no lone surrogates: a verdict with one could not be sent.
    """
    return text[:MAX_SHOWN_CHARACTERS].encode("utf-8", "replace").decode()
