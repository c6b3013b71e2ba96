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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from verifier_service.code.program_side import MODULE
from verifier_service.code.proxies import ProgramGone, ProgramModule, RemoteProgram, Unsupported
from verifier_service.sandbox.entries import Context

MAX_DETAIL_CHARACTERS = 500


@dataclass
class Findings:
    """What came of the tests so far."""

    passed: int = 0
    total: int = 0
    reason: str = "passed"
    """Of the first test that failed."""
    detail: str = ""

    def add(self, reason: str, detail: str = "") -> None:
        """Count a test."""
        self.total += 1
        if reason == "passed":
            self.passed += 1
        elif self.reason == "passed":
            self.reason, self.detail = reason, detail[:MAX_DETAIL_CHARACTERS]


def judge(context: Context) -> None:
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
    function = program.name(asked["entry_point"])
    if function is None:
        findings.add("runtime_error", f"there is no {asked['entry_point']}")
        return
    for case in asked["cases"]:
        try:
            found = function(*case.get("args", []), **case.get("kwargs", {}))
            reason = (
                "passed" if _same(found, case["returns"], asked["tolerance"]) else "wrong_answer"
            )
            findings.add(reason, f"returned {found!r}" if reason != "passed" else "")
        except Exception as error:  # noqa: BLE001  whatever the program raised
            findings.add("runtime_error", f"{type(error).__name__}: {error}")
        if findings.reason != "passed" and not asked["run_all"]:
            return


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
        tree = ast.parse(asked["code"])
    except (SyntaxError, ValueError) as error:
        raise _BadTests(str(error)) from error
    entry_point = asked["entry_point"]
    if entry_point and _defines_uncalled_check(tree):
        tree.body += ast.parse(f"check({entry_point})").body
    namespace: dict[str, Any] = {"__name__": "tests", "__builtins__": builtins}
    nodes = list(ast.walk(tree))
    _prepare_imports(nodes, program)
    program.add_names(_free_names(tree, nodes), namespace)
    unittest.main = lambda *_, **__: None  # type: ignore[assignment]  # run below
    for part in _parts(tree):
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
    _run_unittest(namespace, asked, findings)
    if not findings.total:
        raise _BadTests("there is no test in it")


_PREPARATIONS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
    *(ast.Assign, ast.AnnAssign, ast.AugAssign),
)
"""Statements that are no test, though they may ask the program for something."""


def _parts(tree: ast.Module) -> Iterator[ast.Module]:
    """The statements one by one: each assertion is a test of its own."""
    for statement in tree.body:
        yield ast.Module([statement], [])


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


def _run_unittest(namespace: dict[str, Any], asked: dict[str, Any], findings: Findings) -> None:
    cases = [
        value
        for value in namespace.values()
        if isinstance(value, type)
        and issubclass(value, unittest.TestCase)
        and value.__module__ == "tests"
    ]
    loader = unittest.TestLoader()
    for case in cases:
        suite = loader.loadTestsFromTestCase(case)
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
        self._findings.add(reason, f"{getattr(test, '_testMethodName', test)}: {detail}")
        if not self._run_all:
            self.stop()

    def addSuccess(self, test: Any) -> None:
        if test not in self._failed:
            self._findings.add("passed")

    def addFailure(self, test: Any, err: Any) -> None:
        self._fail(test, "wrong_answer", str(err[1]))

    def addError(self, test: Any, err: Any) -> None:
        if isinstance(err[1], Unsupported | ProgramGone):
            raise err[1]
        self._fail(test, _reason(err[1]), f"{err[0].__name__}: {err[1]}")

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._fail(test, "wrong_answer", str(err[1]))

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._findings.add("passed")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._fail(test, "wrong_answer", "it was expected to fail")


def _defines_uncalled_check(tree: ast.Module) -> bool:
    """Whether there is HumanEval's `check(candidate)`, and nothing that calls it."""
    defined = any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in tree.body)
    called = any(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "check"
        for node in tree.body
    )
    return defined and not called


def _free_names(tree: ast.Module, nodes: list[ast.AST]) -> list[str]:
    """Names that the test code uses and neither defines nor has built in."""
    loaded = {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    stored = {name for statement in tree.body for name in _defined_names(statement)}
    return sorted(name for name in loaded - stored if not hasattr(builtins, name))


def _defined_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.alias):
            yield (inner.asname or inner.name).partition(".")[0]


def _prepare_imports(nodes: list[ast.AST], program: RemoteProgram) -> None:
    """Modules that only the program can be: `from solution import f`, `from exercise import f`."""
    stand_in = ProgramModule(program)
    sys.modules["__main__"] = sys.modules[MODULE] = stand_in
    names = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    for name in names:
        if name not in sys.modules and not _is_installed(name):
            sys.modules[name] = stand_in


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, OSError):
        return False
