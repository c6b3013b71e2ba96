"""Results of tests in the judge's process: of marked statements, and of tests of unittest."""

from __future__ import annotations

import unittest
from collections.abc import Sequence
from typing import Any

from verifier_service.code.handles import (
    NotPlainData,
    PassedBackTooMuch,
    ProgramGone,
    Unsupported,
)
from verifier_service.code.journal import Journal
from verifier_service.code.reasons import CodeReason


def count(journal: Journal, reason: CodeReason, text: str) -> None:
    """Write the result of a test. The text of a wrong answer names the expected value."""
    journal.add(reason, *_shown(reason, text))


def fail(journal: Journal, reason: CodeReason, text: str) -> None:
    """Write a failure of test code that is not the result of a test."""
    journal.fail(reason, *_shown(reason, text))


def _shown(reason: CodeReason, text: str) -> tuple[str, str]:
    return ("", text) if reason is CodeReason.WRONG_ANSWER else (text, "")


def outcome_of_error(error: Exception) -> tuple[CodeReason, str]:
    """The outcome of a test that ended with an error.

    It is `runtime_error` if the program raised another error than AssertionError or lacks a name
    that the test uses, `invalid_output` if the program returned an object for which the test had no
    use, and else `wrong_answer`.
    """
    if isinstance(error, AssertionError):
        return CodeReason.WRONG_ANSWER, message_of(error) or "an assertion failed"
    return _outcome_of_another_error(error)


def _outcome_of_another_error(error: BaseException) -> tuple[CodeReason, str]:
    is_programs = hasattr(error, "_from_program")
    if type(error) is NameError and isinstance(error.name, str) and not is_programs:
        return CodeReason.RUNTIME_ERROR, f"there is no {error.name}"
    return _reason_of(error), text_of(error)


def text_of(error: BaseException) -> str:
    """The type and the text of an error."""
    return f"{type(error).__name__}: {message_of(error)}"


def message_of(error: BaseException) -> str:
    """The text of an error; empty if one of its arguments has no text.

    An argument may be an object of the program, which is asked for its text and may raise instead.
    """
    try:
        return str(error)
    except Exception:  # noqa: BLE001  whatever the program raised, or an integer of 10,000 digits
        return ""


def _reason_of(error: BaseException) -> CodeReason:
    if isinstance(error, NotPlainData):
        return CodeReason.INVALID_OUTPUT
    is_programs = hasattr(error, "_from_program")
    if is_programs and isinstance(error, ModuleNotFoundError):
        return CodeReason.MODULE_NOT_FOUND
    return CodeReason.RUNTIME_ERROR if is_programs else CodeReason.WRONG_ANSWER


class Marks:
    """The context manager around tests inside a statement: each has a result of its own."""

    def __init__(self, journal: Journal, *, run_all: bool) -> None:
        self._journal = journal
        self.run_all = run_all
        self.num_left = 0
        """Tests of the statement that have no result yet. With none left the marks do nothing."""

    def __enter__(self) -> None:
        """Begin a test."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Write the result of the test. A failure ends the statement only if tests end with it."""
        if not self.num_left:
            return False
        if error is None:
            self.num_left -= 1
            self._journal.add(CodeReason.PASSED)
            return False
        if not self.run_all or not isinstance(error, Exception):
            return False
        self.num_left -= 1
        count(self._journal, *outcome_of_error(error))
        return True


def run_counted(
    tests: Sequence[unittest.TestCase],
    num_tests: int,
    journal: Journal,
    *,
    run_all: bool,
    may_skip: bool = False,
) -> bool:
    """Run the tests of one class, or a function, which have `num_tests` results.

    With `may_skip` a skipped test passes: it is skipped for every program. Returns whether to go on
    after it.
    """
    results = _CountedResults(journal, run_all=run_all, may_skip=may_skip)
    unittest.TestSuite(tests).run(results)
    if results.shouldStop:
        return False
    num_left = num_tests - results.num_results
    reason, text = results.problem or (CodeReason.WRONG_ANSWER, "a test was not reached")
    if results.is_class_skipped:
        reason, text = CodeReason.PASSED, ""
    for _ in range(num_left):
        count(journal, reason, text)
    if results.problem and not num_left:
        fail(journal, reason, text)
    return run_all or not journal.has_failed


def run_uncounted(tests: Sequence[unittest.TestCase], journal: Journal) -> bool:
    """Run tests that the text does not show. Whether all of them passed."""
    results = _UncountedResults(journal)
    unittest.TestSuite(tests).run(results)
    return not results.shouldStop


class _Results(unittest.TestResult):
    """Outcomes of tests of unittest."""

    def fail_test(self, test: Any, reason: CodeReason, text: str) -> None:
        """Take a failure of a test, or of a class. A test can have several."""
        raise NotImplementedError

    def pass_test(self, test: Any) -> None:
        """Take the success of a test."""

    def addSuccess(self, test: Any) -> None:
        self.pass_test(test)

    def addFailure(self, test: Any, err: Any) -> None:
        self.fail_test(test, CodeReason.WRONG_ANSWER, message_of(err[1]))

    def addError(self, test: Any, err: Any) -> None:
        _raise_what_ends_all(err[1])
        self.fail_test(test, *_outcome_of_another_error(err[1]))

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is None:
            return
        if isinstance(err[1], test.failureException):
            self.addFailure(test, err)
        else:
            self.addError(test, err)

    def addSkip(self, test: Any, reason: str) -> None:
        """Take a skip as a failure: the program may have brought it about."""
        test = getattr(test, "test_case", test)  # the test of a subtest
        self.fail_test(test, CodeReason.WRONG_ANSWER, f"skipped: {reason}")

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        """Take a failed assertion as a success.

        An error is none: a program that raises one in every call would pass the test.
        """
        _raise_what_ends_all(err[1])
        is_failure = isinstance(err[1], test.failureException)
        if is_failure and not hasattr(err[1], "_from_program"):
            self.pass_test(test)
        else:
            self.addError(test, err)

    def addUnexpectedSuccess(self, test: Any) -> None:
        self.fail_test(test, CodeReason.WRONG_ANSWER, "it was expected to fail")


class _CountedResults(_Results):
    """Writes one result for each test."""

    def __init__(self, journal: Journal, *, run_all: bool, may_skip: bool) -> None:
        super().__init__()
        self._journal = journal
        self._run_all = run_all
        self._may_skip = may_skip
        self.is_class_skipped = False
        """Whether the class was skipped as a whole, and may be."""
        self._known: set[Any] = set()
        self.problem: tuple[CodeReason, str] | None = None
        """Failure of the class itself, such as one of its `setUpClass`."""

    @property
    def num_results(self) -> int:
        """Number of tests that have a result."""
        return len(self._known)

    def addSkip(self, test: Any, reason: str) -> None:
        if not self._may_skip:
            super().addSkip(test, reason)
        elif isinstance(test, unittest.TestCase):
            self.pass_test(getattr(test, "test_case", test))
        else:
            self.is_class_skipped = True

    def pass_test(self, test: Any) -> None:
        if test not in self._known:
            self._known.add(test)
            self._journal.add(CodeReason.PASSED)

    def fail_test(self, test: Any, reason: CodeReason, text: str) -> None:
        if not isinstance(test, unittest.TestCase):
            self.problem = self.problem or (reason, f"{test}: {text}")
        elif test not in self._known:
            self._known.add(test)
            count(self._journal, reason, f"{_name(test)}: {text}")
            if not self._run_all:
                self.stop()


class _UncountedResults(_Results):
    """Writes the first failure."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    def fail_test(self, test: Any, reason: CodeReason, text: str) -> None:
        if not self.shouldStop:
            fail(self._journal, reason, f"{_name(test)}: {text}")
            self.stop()

    def addSkip(self, test: Any, reason: str) -> None:
        """Leave out a test with a decorator that skips it; take any other skip as a failure."""
        method = getattr(test, getattr(test, "_testMethodName", ""), None)
        if not any(getattr(one, "__unittest_skip__", False) for one in (type(test), method)):
            super().addSkip(test, reason)


def _name(test: Any) -> str:
    name = test.shortDescription() if isinstance(test, unittest.FunctionTestCase) else ""
    return str(name or getattr(test, "_testMethodName", test))


def _raise_what_ends_all(error: BaseException) -> None:
    """Raise errors that end all tests: unittest takes each for the outcome of one."""
    if isinstance(error, Unsupported | ProgramGone | PassedBackTooMuch):
        raise error
