"""The judge's process: runs test code in which the program's names are proxies of its objects.

The judge asks the program for values and compares plain data itself. It never asks the program to
compare, and never sends it the value that a result is compared with. It writes its findings to the
result pipe, which the program's process does not have.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import socket
import sys
import types
import unittest
from typing import Any, NoReturn

from verifier_service.code import value_codec
from verifier_service.code.assertions import AssertionCode
from verifier_service.code.findings import Findings
from verifier_service.code.handles import (
    PassedBackTooMuch,
    ProgramGone,
    ProgramModule,
    RemoteProgram,
    Unsupported,
)
from verifier_service.code.program_process import MODULE
from verifier_service.code.reasons import CodeReason
from verifier_service.reason import EngineReason
from verifier_service.sandbox.entries import EntryContext


def run_judge(context: EntryContext) -> None:
    """Sandbox entry. The payload holds the tests and `run_all`, as `run_tests` writes them."""
    tests = json.loads(context.payload)
    channel, result = context.channel, context.result
    assert channel is not None
    assert result is not None
    context.begin()
    findings = judge_tests(channel, tests)
    channel.close()  # the program ends while this process does
    _report(result, findings)


def judge_tests(channel: socket.socket, tests: dict[str, Any]) -> Findings:
    """Run the tests against the program at the other end of the channel."""
    findings = Findings.empty()
    try:
        program = RemoteProgram(channel)
        run = {"asserts": _run_asserts, "function": _run_cases}[tests["type"]]
        run(program, tests, findings)
    except Unsupported as error:
        if findings.reason == CodeReason.PASSED:  # an earlier failure is no fault of the tests
            findings.add(CodeReason.UNSUPPORTED_TEST, str(error))
    except ProgramGone as error:
        findings.add(None, str(error))
    except PassedBackTooMuch as error:
        findings.add(CodeReason.INVALID_OUTPUT, str(error))
    except (MemoryError, RecursionError) as error:
        findings.add(CodeReason.INVALID_OUTPUT, type(error).__name__)
    except _BadTests as error:
        findings.add(EngineReason.BAD_REFERENCE, str(error))
    except Exception as error:
        if not hasattr(error, "_from_program"):
            raise
        # Its name alone: its text may have to be asked for, of a program that has ended.
        findings.add(CodeReason.RUNTIME_ERROR, type(error).__name__)
    return findings


def _report(result: int, findings: Findings) -> NoReturn:
    os.write(result, json.dumps(vars(findings)).encode())
    os._exit(0)


def _text_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {_message_of(error)}"


def _message_of(error: BaseException) -> str:
    """The text of an error; empty if one of its arguments has no text.

    An argument may be an object of the program, which is asked for its text and may raise instead.
    """
    try:
        return str(error)
    except Exception:  # noqa: BLE001  whatever the program raised, or an integer of 10,000 digits
        return ""


class _BadTests(Exception):
    """The test code cannot be run, whatever the program is."""


# Function cases


def _run_cases(program: RemoteProgram, tests: dict[str, Any], findings: Findings) -> None:
    owner, name = _owner(program, tests["entry_point"])
    if owner is None and program.name(name) is None:
        findings.add(CodeReason.RUNTIME_ERROR, f"there is no {tests['entry_point']}")
        return
    for case in tests["cases"]:
        try:
            function = getattr(owner(), name) if owner else program.name(name)
            found = function(*case.get("args", []), **case.get("kwargs", {}))
            if _same(found, case["returns"], tests["tolerance"]):
                findings.add(CodeReason.PASSED)
            else:
                findings.add(CodeReason.WRONG_ANSWER, f"returned {found!r}")
        except PassedBackTooMuch as error:  # the arguments are the tests' own, none came back
            raise Unsupported(str(error)) from error
        except Exception as error:  # noqa: BLE001  whatever the program raised
            findings.add(CodeReason.RUNTIME_ERROR, _text_of(error))
        if findings.reason != CodeReason.PASSED and not tests["run_all"]:
            return


def _owner(program: RemoteProgram, entry_point: str) -> tuple[Any, str]:
    """The class that has the entry point as a method, or None; and the last part of its name.

    Where no function is called `two_sum`, a class `Solution` is expected to have it, as in
    LeetCode's problems. `Solution.two_sum` and `Solution().two_sum` name the class.
    """
    class_name, _, name = entry_point.rpartition(".")
    class_name = class_name.removesuffix("()")
    if not class_name and program.name(name) is None:
        class_name = "Solution"
    owner = program.name(class_name) if class_name else None
    return (owner if isinstance(owner, type) else None), name


def _same(found: Any, expected: Any, tolerance: float) -> bool:
    """Whether a result equals a value of JSON, which has no tuples and may round its floats."""
    if isinstance(expected, list):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(expected)
            and all(_same(a, b, tolerance) for a, b in zip(found, expected, strict=True))
        )
    if isinstance(expected, dict):
        return isinstance(found, dict) and _same_items(found, expected, tolerance)
    numbers = (int, float)
    if tolerance and isinstance(found, numbers) and isinstance(expected, numbers):
        return bool(abs(found - expected) <= tolerance * max(1.0, abs(expected)))
    return bool(found == expected)


def _same_items(found: dict[Any, Any], expected: dict[str, Any], tolerance: float) -> bool:
    """Whether a dict equals an object of JSON, whose keys are text.

    Each key is turned into text once, and by the judge alone: an object of the program could be
    another text at each question.
    """
    try:
        for key in found:
            value_codec.encode(key, _refuse_key)
    except value_codec.NotPlain:
        return False
    items = {str(key): value for key, value in found.items()}
    return (
        len(items) == len(found)
        and items.keys() == expected.keys()
        and all(_same(value, expected[key], tolerance) for key, value in items.items())
    )


def _refuse_key(key: Any) -> NoReturn:
    raise value_codec.NotPlain(type(key).__name__)


# Test code


def _run_asserts(program: RemoteProgram, tests: dict[str, Any], findings: Findings) -> None:
    source = _prepare(program, tests)
    namespace: dict[str, Any] = {"__name__": "tests", "__builtins__": builtins}
    namespace |= {name: usual.load() for name, usual in source.judges_names.items()}
    program.add_names(source.free_names(), namespace)
    # Test code often ends with `unittest.main()`, which would run its tests and end the process.
    unittest.main = lambda *_, **__: None  # type: ignore[assignment]
    for part in source.parts():
        (statement,) = part.body
        before = program.num_requests
        reason, text = _run_part(compile(part, "tests.py", "exec"), namespace)
        is_test = isinstance(statement, ast.Assert) or (
            program.num_requests > before and not isinstance(statement, _PREPARATIONS)
        )
        if is_test or reason is not CodeReason.PASSED:
            _count(findings, reason, text)
        if reason is not CodeReason.PASSED and not (is_test and tests["run_all"]):
            return
    _run_unittest(namespace, source.test_functions(), findings, run_all=tests["run_all"])
    if not findings.total:
        raise _BadTests("there is no test in it")


def _prepare(program: RemoteProgram, tests: dict[str, Any]) -> AssertionCode:
    """The test code, with its imports provided for and with a call of `check` where it lacks one.

    Raises:
        Unsupported: the code cannot be run outside the program's process.
        _BadTests: the code is not Python.
    """
    try:
        source = AssertionCode(
            tests["code"], entry_point=tests["entry_point"] or "", module=tests["module"] or ""
        )
    except (SyntaxError, ValueError) as error:
        raise _BadTests(str(error)) from error
    why = source.cannot_be_run_apart()
    if why:
        raise Unsupported(why)
    _prepare_imports(source, program)
    program.exceptions_of_tests = source.exception_names()
    if tests["entry_point"] and source.defines_uncalled_check():
        # Asked for outside of `try`: a ValueError of the program is no fault of the tests.
        expression = _expression(program, tests["entry_point"])
        try:
            source.add_call("check", expression)
        except (SyntaxError, ValueError) as error:
            raise _BadTests(str(error)) from error
    return source


def _count(findings: Findings, reason: CodeReason, text: str) -> None:
    """Count a test of test code. The text of a wrong answer names the expected value."""
    if reason is CodeReason.WRONG_ANSWER:
        findings.add(reason, expected=text)
    else:
        findings.add(reason, text)


def _expression(program: RemoteProgram, entry_point: str) -> str:
    """The entry point as an expression of Python, for test code to call."""
    owner, name = _owner(program, entry_point)
    return f"{owner.__name__}().{name}" if owner else entry_point


_PREPARATIONS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
    *(ast.Assign, ast.AnnAssign, ast.AugAssign),
)
"""Statements that are no test, though they may ask the program for something."""


def _run_part(code: types.CodeType, namespace: dict[str, Any]) -> tuple[CodeReason, str]:
    try:
        exec(code, namespace)
    except AssertionError as error:
        return CodeReason.WRONG_ANSWER, _message_of(error) or "an assertion failed"
    except Exception as error:  # noqa: BLE001
        return _reason_of(error), _text_of(error)
    except SystemExit as end:
        return CodeReason.WRONG_ANSWER, f"the tests ended with {_message_of(end)}"
    return CodeReason.PASSED, ""


def _reason_of(error: Exception) -> CodeReason:
    """`runtime_error` if the program raised the error, `wrong_answer` if the test code did."""
    if hasattr(error, "_from_program"):
        return CodeReason.RUNTIME_ERROR
    return CodeReason.WRONG_ANSWER


def _run_unittest(
    namespace: dict[str, Any], functions: list[str], findings: Findings, *, run_all: bool
) -> None:
    """Run the classes of unittest, and functions as pytest would."""
    loader = unittest.TestLoader()
    cases = [
        value
        for value in namespace.values()
        if isinstance(value, type)
        and issubclass(value, unittest.TestCase)
        and value.__module__ == "tests"
    ]
    suites: list[unittest.TestCase | unittest.TestSuite] = [
        loader.loadTestsFromTestCase(case) for case in cases
    ]
    suites += [unittest.FunctionTestCase(namespace[name], description=name) for name in functions]
    for suite in suites:
        counter = _UnittestCounter(findings, run_all=run_all)
        suite.run(counter)
        if counter.shouldStop:
            return


class _UnittestCounter(unittest.TestResult):
    """Counts the tests of a suite. A skipped test is not counted."""

    def __init__(self, findings: Findings, *, run_all: bool) -> None:
        super().__init__()
        self._findings = findings
        self._run_all = run_all
        self._failed: set[Any] = set()

    def _fail(self, test: Any, reason: CodeReason, text: str) -> None:
        if test in self._failed:
            return
        self._failed.add(test)
        name = test.shortDescription() if isinstance(test, unittest.FunctionTestCase) else ""
        name = name or getattr(test, "_testMethodName", str(test))
        _count(self._findings, reason, f"{name}: {text}")
        if not self._run_all:
            self.stop()

    def addSuccess(self, test: Any) -> None:
        if test not in self._failed:
            self._findings.add(CodeReason.PASSED)

    def addFailure(self, test: Any, err: Any) -> None:
        self._fail(test, CodeReason.WRONG_ANSWER, _message_of(err[1]))

    def addError(self, test: Any, err: Any) -> None:
        _raise_what_ends_all(err[1])
        self._fail(test, _reason_of(err[1]), _text_of(err[1]))

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is None:
            return
        if isinstance(err[1], test.failureException):
            self.addFailure(test, err)
        else:
            self.addError(test, err)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        _raise_what_ends_all(err[1])
        self._findings.add(CodeReason.PASSED)

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._fail(test, CodeReason.WRONG_ANSWER, "it was expected to fail")


def _raise_what_ends_all(error: BaseException) -> None:
    """Raise errors that end all tests: unittest takes each for the outcome of one."""
    if isinstance(error, Unsupported | ProgramGone | PassedBackTooMuch):
        raise error


def _prepare_imports(source: AssertionCode, program: RemoteProgram) -> None:
    """Provide the program as each module that the code imports it from."""
    stand_in = ProgramModule(program)
    for name in ("__main__", MODULE, *source.program_modules()):
        sys.modules[name] = stand_in
