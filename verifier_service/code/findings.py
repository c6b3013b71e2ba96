"""Results of a program's tests, on their way from the process that counts them to the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field

from verifier_service.code.reasons import CodeReason
from verifier_service.reason import EngineReason

MAX_SHOWN_CHARACTERS = 500

_REASONS = frozenset({*CodeReason, EngineReason.BAD_REFERENCE})


@dataclass(frozen=True)
class CaseRun:
    """One run of a whole program, for people to read."""

    stdin: str
    expected: str
    received: str
    """Standard output; of a program that failed, standard error."""
    cpu_seconds: float
    wall_seconds: float
    peak_memory_bytes: int


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
    reasons: list[str] = field(default_factory=list, compare=False)
    """Reason of each test that has been run: `failed` where only the first failure is known."""
    shares: list[float] = field(default_factory=list, compare=False)
    """Share of the points of each of these tests, from 0 to 1."""
    transcript: str = field(default="", compare=False)
    """The conversation of the first case that failed, or of the last, cut."""
    runs: dict[int, CaseRun] = field(default_factory=dict, compare=False)
    """Runs of whole programs by test, where the plan keeps them."""
    cpu_seconds: float = field(default=0.0, compare=False)
    """CPU time of the program in all of its runs."""
    peak_memory_bytes: int = field(default=0, compare=False)
    """Largest resident memory of its runs."""

    @property
    def has_failed(self) -> bool:
        """Whether there was a failure."""
        return self.reason != CodeReason.PASSED

    @property
    def passed(self) -> int:
        """Tests that passed: not all of them where something beside the tests failed."""
        return min(self.num_passed, max(self.total - 1, 0)) if self.has_failed else self.num_passed

    def add(
        self, reason: str, shown: str = "", expected: str = "", *, share: float | None = None
    ) -> None:
        """Count a test. Raises ValueError: the reason is none that tests can have."""
        if reason == CodeReason.PASSED:
            self.num_passed += 1
        else:
            self.fail(reason, shown, expected)
        self.count(reason, share)

    def count(self, reason: str, share: float | None = None) -> None:
        """Count the result of a test; without a share, it has all of its points or none."""
        self.num_results += 1
        self.reasons.append(reason)
        self.shares.append(float(reason == CodeReason.PASSED) if share is None else share)

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
