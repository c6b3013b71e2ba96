"""`code`: does the completion's program pass the tests?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from verifier_service.code.extraction import last_block
from verifier_service.code.languages import LANGUAGES, LanguageName
from verifier_service.verdict import Reason
from verifier_service.verifier import Verifier


class CodeReason(Reason):
    """Reasons of `code`: `passed`, or the reason of the first test that failed."""

    PASSED = "passed", "1: every test passed."
    WRONG_ANSWER = "wrong_answer", "a test got another result than it expects."
    RUNTIME_ERROR = "runtime_error", "the program raised an exception, crashed or ended too early."
    COMPILE_ERROR = "compile_error", "0: the program does not compile."
    TIME_LIMIT_EXCEEDED = (
        "time_limit_exceeded",
        "the program took more CPU or wall time than allowed.",
    )
    MEMORY_LIMIT_EXCEEDED = "memory_limit_exceeded", "the program took more memory than allowed."
    OUTPUT_LIMIT_EXCEEDED = "output_limit_exceeded", "the program wrote more than allowed."
    INVALID_OUTPUT = "invalid_output", "the program returned more than the service accepts."
    SANDBOX_VIOLATION = "sandbox_violation", "the program made a forbidden system call."
    NO_CODE = "no_code", "0: the completion has no whole fenced block of the language."
    UNSUPPORTED_TEST = (
        "unsupported_test",
        "unverifiable: a test passes functions or objects of its own to the program, or compares "
        "objects of the program with each other; or the language has stdio tests only.",
    )
    MISSING_TOOLCHAIN = (
        "missing_toolchain",
        "unverifiable: this machine has no compiler of the language; `details` says what to "
        "install.",
    )
    SANDBOX_ERROR = "sandbox_error", "failed: the sandbox could not run the program."


class Code(Verifier):
    """Runs the completion's program against `reference.tests` in the sandbox."""

    purpose: ClassVar[str] = (
        "runs the program in the completion's last fenced block against reference.tests in a "
        "sandbox; 1 if every test passed, else 0, or the share that passed"
    )
    needs: ClassVar[tuple[str, ...]] = ("tests",)
    reasons: ClassVar[Iterable[Reason]] = CodeReason
    workers: ClassVar[Literal["text", "code"]] = "code"
    unavailable: ClassVar[Reason] = CodeReason.SANDBOX_ERROR

    type: Literal["code"] = "code"
    language: LanguageName = Field(default="python", description="language of the program")
    part: Literal["last_block", "completion"] = Field(
        default="last_block", description="text that is the program; completion: all of it"
    )
    tags: tuple[str, ...] | None = Field(
        default=None,
        description="tags of the fenced blocks to look for; default: those of the language",
    )
    scoring: Literal["all", "fraction"] = Field(
        default="all", description="all: 1 or 0; fraction: the share of tests that passed"
    )
    run_all: bool = Field(
        default=False,
        description="go on after the first test that fails; always so with scoring: fraction",
    )
    cpu_seconds: float = Field(
        default=4.0, gt=0, le=60, description="CPU time of one stdio case, or of all calls"
    )
    total_cpu_seconds: float = Field(
        default=30.0, gt=0, le=600, description="CPU time of all stdio cases together"
    )
    memory_bytes: int = Field(
        default=512 * 2**20, ge=2**24, le=2**33, description="memory of the program"
    )
    output_bytes: int = Field(
        default=2**20, ge=1, le=2**26, description="what the program may print in one run"
    )
    reveal_expected: bool = Field(
        default=False, description="show in `details` the result that the first failed test expects"
    )

    @property
    def task_size(self) -> int:
        """One completion: running a program takes milliseconds at least."""
        return 1

    def program_in(self, text: str) -> str | None:
        """The program in a completion; None where the completion has none."""
        if self.part == "completion":
            return text
        tags = self.tags or LANGUAGES[self.language].tags
        return last_block(text, tuple(tag.lower() for tag in tags))
