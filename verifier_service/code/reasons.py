"""The reasons of `code`, and the one table from how a process ended to its reason."""

from __future__ import annotations

import re
from collections.abc import Mapping

from verifier_service.reason import EngineReason, Reason
from verifier_service.sandbox.execution import Execution, ExitReason


class CodeReason(Reason):
    """Reasons of `code`: that of the first test that failed, or `passed`."""

    PASSED = "passed", "1: every test passed."
    WRONG_ANSWER = "wrong_answer", "an output or a result is not the one that a test expects."
    RUNTIME_ERROR = "runtime_error", "the program raised an exception, crashed or ended too early."
    MODULE_NOT_FOUND = (
        "module_not_found",
        "0: the program imports a module that programs of this service do not have.",
    )
    COMPILE_ERROR = "compile_error", "0: it is not a program of its language."
    TIME_LIMIT_EXCEEDED = (
        "time_limit_exceeded",
        "it took more CPU or wall time than allowed, or slept.",
    )
    MEMORY_LIMIT_EXCEEDED = "memory_limit_exceeded", "it took more memory than allowed."
    OUTPUT_LIMIT_EXCEEDED = "output_limit_exceeded", "it wrote more than allowed."
    INVALID_OUTPUT = (
        "invalid_output",
        "a returned value was more than the judge could take, or an object where plain data can be "
        "judged.",
    )
    SANDBOX_VIOLATION = "sandbox_violation", "it made a system call that ends the process."
    NO_CODE = "no_code", "0: the completion has no whole fenced block of the language."
    UNSUPPORTED_TEST = (
        "unsupported_test",
        "unverifiable: a test passes functions or objects of its own to the program, compares "
        "objects of the program, or evaluates its results; or the language has stdio tests only.",
    )
    MISSING_TOOLCHAIN = (
        "missing_toolchain",
        "unverifiable: this machine has no toolchain of the language; `details` says what to "
        "install.",
    )
    SANDBOX_ERROR = "sandbox_error", "failed: the sandbox cannot run programs, or not this time."


REASON_OF_EXIT: Mapping[ExitReason, CodeReason] = {
    ExitReason.CPU_LIMIT: CodeReason.TIME_LIMIT_EXCEEDED,
    ExitReason.WALL_LIMIT: CodeReason.TIME_LIMIT_EXCEEDED,
    ExitReason.IDLE_LIMIT: CodeReason.TIME_LIMIT_EXCEEDED,
    ExitReason.OUTPUT_LIMIT: CodeReason.OUTPUT_LIMIT_EXCEEDED,
    ExitReason.COMPILE_ERROR: CodeReason.COMPILE_ERROR,
    ExitReason.FORBIDDEN: CodeReason.SANDBOX_VIOLATION,
    ExitReason.MEMORY_LIMIT: CodeReason.MEMORY_LIMIT_EXCEEDED,
    ExitReason.SIGNALED: CodeReason.RUNTIME_ERROR,
    ExitReason.EXITED: CodeReason.RUNTIME_ERROR,
    ExitReason.STOPPED: CodeReason.RUNTIME_ERROR,
}
"""Reason of a test that needed more of a program than it gave before it ended in this way.

A program that exits with code 0 has passed nothing yet: its output is compared first. One that
leaves the conversation with its judge, and is stopped for it, may as well have exited a moment
earlier: both have one reason, whoever was faster.
"""

# The last line of a program's traceback: "ModuleNotFoundError: No module named 'pandas'".
_NO_MODULE = re.compile(rb"ModuleNotFoundError: No module named '[\w.]+'.*\n\Z")


def reason_of(execution: Execution) -> CodeReason:
    """Reason of a test for which a program ended in this way, before it gave what it should."""
    reason = REASON_OF_EXIT[execution.reason]
    if reason is CodeReason.RUNTIME_ERROR and _NO_MODULE.search(execution.stderr[-1000:]):
        return CodeReason.MODULE_NOT_FOUND
    return reason


UNVERIFIABLE = frozenset(
    {CodeReason.UNSUPPORTED_TEST, CodeReason.MISSING_TOOLCHAIN, EngineReason.BAD_REFERENCE}
)
"""Reasons that are no fault of the program; a verdict with one of them has no score."""
