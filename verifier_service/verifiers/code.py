"""`code`: does the completion's program pass the tests?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from verifier_service.code.languages import LANGUAGES
from verifier_service.verdict import Reason
from verifier_service.verifier import Verifier


class CodeReason(Reason):
    """Reasons of `code`: that of the first test that failed, or `passed`."""

    PASSED = "passed", "1: every test passed."
    WRONG_ANSWER = "wrong_answer", "a test got another answer than it expects."
    RUNTIME_ERROR = "runtime_error", "the program raised an exception, crashed or ended too early."
    COMPILE_ERROR = "compile_error", "0: it is not a program of its language."
    TIME_LIMIT_EXCEEDED = "time_limit_exceeded", "it took more CPU or wall time than allowed."
    MEMORY_LIMIT_EXCEEDED = "memory_limit_exceeded", "it took more memory than allowed."
    OUTPUT_LIMIT_EXCEEDED = "output_limit_exceeded", "it wrote more than allowed."
    INVALID_OUTPUT = "invalid_output", "what it returned was more than the judge could take."
    SANDBOX_VIOLATION = "sandbox_violation", "it made a system call that ends the process."
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
    SANDBOX_ERROR = "sandbox_error", "failed: the sandbox cannot run programs, or not this time."


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
    language: Literal["python", "cpp"] = Field(default="python", description="of the program")
    tags: tuple[str, ...] | None = Field(
        default=None,
        description="of the fenced blocks to look for; default: the language's usual ones",
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
        default=False, description="give what the first failed test expects in `details`"
    )

    @property
    def task_size(self) -> int:
        """See `Verifier`: running a program takes milliseconds at least."""
        return 1

    @property
    def block_tags(self) -> tuple[str, ...]:
        """Tags of the fenced blocks to look for, in lower case."""
        return tuple(tag.lower() for tag in self.tags or LANGUAGES[self.language].tags)
