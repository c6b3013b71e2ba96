"""In the judge's process: run test code, whose free names are proxies of the program's objects.

The judge asks the program for values and compares plain data itself. It never asks the program to
compare, and never sends it what a result is compared with. What it finds is written to the result
pipe, which the program's process does not have.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import json
import os
import sys
import types
import unittest
from dataclasses import dataclass
from typing import Any, NoReturn

from verifier_service.code.assertions import TestSource
from verifier_service.code.handles import (
    PassedBackTooMuch,
    ProgramGone,
    ProgramModule,
    RemoteProgram,
    Unsupported,
)
from verifier_service.code.program_process import MODULE
from verifier_service.sandbox.entries import EntryContext

MAX_DETAIL_CHARACTERS = 500


@dataclass
class Findings:
    """What came of the tests so far."""

    passed: int = 0
    total: int = 0
    reason: str = "passed"
    """Of the first test that failed."""
    detail: str = ""
    first_failed: int | None = None
    """Its place among the tests, from 0."""

    def add(self, reason: str, detail: str = "") -> None:
        """Count a test."""
        self.total += 1
        if reason == "passed":
            self.passed += 1
        elif self.reason == "passed":
            # A lone surrogate, which an exception's message can hold, is no text for a reader.
            text = detail[:MAX_DETAIL_CHARACTERS].encode("utf-8", "replace").decode()
            self.reason, self.detail = reason, text
            self.first_failed = self.total - 1


def judge(context: EntryContext) -> None:
    """Sandbox entry: the payload says which tests to run, as `grading` writes it."""
    asked = json.loads(context.payload)
    channel, result = context.channel, context.result
    assert channel is not None
    assert result is not None
    context.begin()
    findings = Findings()
    try:
        program = RemoteProgram(channel)
        run = {"asserts": _run_asserts, "function": _run_cases}[asked["type"]]
        run(program, asked, findings)
    except Unsupported as error:
        if findings.reason == "passed":  # what has failed before is no fault of the tests
            findings.add("unsupported_test", str(error))
    except ProgramGone as error:
        findings.add("program_gone", str(error))
    except PassedBackTooMuch as error:
        findings.add("invalid_output", str(error))
    except (MemoryError, RecursionError) as error:
        findings.add("invalid_output", type(error).__name__)
    except _BadTests as error:
        findings.add("bad_tests", str(error))
    channel.close()  # the program ends while this process does
    _report(result, findings)


def _report(result: int, findings: Findings) -> NoReturn:
    os.write(result, json.dumps(vars(findings)).encode())
    os._exit(0)


class _BadTests(Exception):
    """The test code cannot be run, whatever the program is."""


# Function cases


def _run_cases(program: RemoteProgram, asked: dict[str, Any], findings: Findings) -> None:
    owner, name = _owner(program, asked["entry_point"])
    if owner is None and program.name(name) is None:
        findings.add("runtime_error", f"there is no {asked['entry_point']}")
        return
    for case in asked["cases"]:
        try:
            function = getattr(owner(), name) if owner else program.name(name)
            found = function(*case.get("args", []), **case.get("kwargs", {}))
            reason = (
                "passed" if _same(found, case["returns"], asked["tolerance"]) else "wrong_answer"
            )
            findings.add(reason, f"returned {found!r}" if reason != "passed" else "")
        except PassedBackTooMuch as error:  # nothing is: the arguments are the tests' own
            raise Unsupported(str(error)) from error
        except Exception as error:  # noqa: BLE001  whatever the program raised
            findings.add("runtime_error", f"{type(error).__name__}: {error}")
        if findings.reason != "passed" and not asked["run_all"]:
            return


def _owner(program: RemoteProgram, entry_point: str) -> tuple[Any, str]:
    """The class that has an entry point as a method, if one has, and the last part of its name.

    `two_sum` is looked for in a class `Solution` if there is no such function, as of LeetCode's
    problems; `Solution.two_sum` and `Solution().two_sum` name the class.
    """
    class_name, _, name = entry_point.rpartition(".")
    class_name = class_name.removesuffix("()")
    if not class_name and program.name(name) is None:
        class_name = "Solution"
    owner = program.name(class_name) if class_name else None
    return (owner if isinstance(owner, type) else None), name


def _same(found: Any, expected: Any, tolerance: float) -> bool:
    """Whether a result is what JSON says; JSON has no tuples, and its floats may be rounded."""
    if isinstance(expected, list):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(expected)
            and all(_same(a, b, tolerance) for a, b in zip(found, expected, strict=True))
        )
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and {str(key) for key in found} == set(expected)
            and all(_same(value, expected[str(key)], tolerance) for key, value in found.items())
        )
    numbers = (int, float)
    if tolerance and isinstance(found, numbers) and isinstance(expected, numbers):
        return bool(abs(found - expected) <= tolerance * max(1.0, abs(expected)))
    return bool(found == expected)


# Test code


def _run_asserts(program: RemoteProgram, asked: dict[str, Any], findings: Findings) -> None:
    try:
        source = TestSource(asked["code"])
        why = source.cannot_be_run_apart()
        if why:
            raise Unsupported(why)
        _prepare_imports(source, program)
        if asked["entry_point"] and source.defines_uncalled_check():
            source.add_call("check", _expression(program, asked["entry_point"]))
    except (SyntaxError, ValueError) as error:
        raise _BadTests(str(error)) from error
    namespace: dict[str, Any] = {"__name__": "tests", "__builtins__": builtins}
    program.add_names(source.free_names(), namespace)
    unittest.main = lambda *_, **__: None  # type: ignore[assignment]  # run below
    for part in source.parts():
        (statement,) = part.body
        before = program.num_requests
        reason, detail = _run_part(compile(part, "tests.py", "exec"), namespace)
        is_test = isinstance(statement, ast.Assert) or (
            program.num_requests > before and not isinstance(statement, _PREPARATIONS)
        )
        if is_test or reason != "passed":
            findings.add(reason, detail)
        if reason != "passed" and not (is_test and asked["run_all"]):
            return
    _run_unittest(namespace, source.test_functions(), asked, findings)
    if not findings.total:
        raise _BadTests("there is no test in it")


def _expression(program: RemoteProgram, entry_point: str) -> str:
    """What test code writes for an entry point."""
    owner, name = _owner(program, entry_point)
    return f"{owner.__name__}().{name}" if owner else entry_point


_PREPARATIONS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
    *(ast.Assign, ast.AnnAssign, ast.AugAssign),
)
"""Statements that are no test, though they may ask the program for something."""


def _run_part(code: types.CodeType, namespace: dict[str, Any]) -> tuple[str, str]:
    try:
        exec(code, namespace)
    except AssertionError as error:
        return "wrong_answer", str(error) or "an assertion failed"
    except Exception as error:  # noqa: BLE001
        return _reason(error), f"{type(error).__name__}: {error}"
    except SystemExit as end:
        return "wrong_answer", f"the tests ended with {end.code}"
    return "passed", ""


def _reason(error: Exception) -> str:
    """Whether the program raised it, or the test code, which could not use what it got."""
    return "runtime_error" if hasattr(error, "_from_program") else "wrong_answer"


def _run_unittest(
    namespace: dict[str, Any], functions: list[str], asked: dict[str, Any], findings: Findings
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
        result = _Result(findings, run_all=asked["run_all"])
        suite.run(result)
        if result.shouldStop:
            return


class _Result(unittest.TestResult):
    """Counts the tests of a suite; what is skipped is none."""

    def __init__(self, findings: Findings, *, run_all: bool) -> None:
        super().__init__()
        self._findings = findings
        self._run_all = run_all
        self._failed: set[Any] = set()

    def _fail(self, test: Any, reason: str, detail: str) -> None:
        if test in self._failed:
            return
        self._failed.add(test)
        name = test.shortDescription() if isinstance(test, unittest.FunctionTestCase) else ""
        name = name or getattr(test, "_testMethodName", str(test))
        self._findings.add(reason, f"{name}: {detail}")
        if not self._run_all:
            self.stop()

    def addSuccess(self, test: Any) -> None:
        if test not in self._failed:
            self._findings.add("passed")

    def addFailure(self, test: Any, err: Any) -> None:
        self._fail(test, "wrong_answer", str(err[1]))

    def addError(self, test: Any, err: Any) -> None:
        _raise_what_ends_all(err[1])
        self._fail(test, _reason(err[1]), f"{err[0].__name__}: {err[1]}")

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is None:
            return
        if isinstance(err[1], test.failureException):
            self.addFailure(test, err)
        else:
            self.addError(test, err)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        _raise_what_ends_all(err[1])
        self._findings.add("passed")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._fail(test, "wrong_answer", "it was expected to fail")


def _raise_what_ends_all(error: BaseException) -> None:
    """Unittest takes anything but KeyboardInterrupt for the outcome of one test."""
    if isinstance(error, Unsupported | ProgramGone | PassedBackTooMuch):
        raise error


def _prepare_imports(source: TestSource, program: RemoteProgram) -> None:
    """Modules that only the program can be: `from solution import f`, `from exercise import f`."""
    stand_in = ProgramModule(program)
    sys.modules["__main__"] = sys.modules[MODULE] = stand_in
    for name in source.imported_modules():
        if name not in sys.modules and not _is_installed(name):
            sys.modules[name] = stand_in


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, OSError):
        return False
