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
import socket
import sys
import types
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from verifier_service.code import codec
from verifier_service.code.program_side import MODULE
from verifier_service.sandbox.entries import Context

MAX_DETAIL_CHARACTERS = 500


class Unsupported(BaseException):
    """A test needs something of the program that cannot cross as plain data."""


class ProgramGone(BaseException):
    """The program's process has ended, or sends nonsense."""


class ProgramRaised(Exception):
    """The program raised something that is no Exception, such as SystemExit."""


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
        program = _Program(channel)
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


def _run_cases(program: _Program, asked: dict[str, Any], findings: Findings) -> None:
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


def _run_asserts(program: _Program, asked: dict[str, Any], findings: Findings) -> None:
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


def _prepare_imports(nodes: list[ast.AST], program: _Program) -> None:
    """Modules that only the program can be: `from solution import f`, `from exercise import f`."""
    stand_in = _ProgramModule(program)
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


class _ProgramModule(types.ModuleType):
    """The program as a module."""

    def __init__(self, program: _Program) -> None:
        super().__init__(MODULE)
        self.__program = program

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__program.name(name)
        if found is None:
            raise AttributeError(name)
        return found


# The program, seen from here


class _Program:
    """The connection to the program's process."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._classes: dict[str, Any] = {}
        self._names: dict[str, Any] = {}
        self._is_ready = False
        self.num_requests = 0

    def name(self, name: str) -> Any:
        """What stands for a name of the program; None if it has no such name."""
        if name not in self._names:
            namespace: dict[str, Any] = {}
            self.add_names([name], namespace)
            self._names[name] = namespace.get(name)
        return self._names[name]

    def add_names(self, names: list[str], namespace: dict[str, Any]) -> None:
        """Put what stands for the program's names into a namespace, those that it has."""
        kinds = self._ask("describe", 0, names)
        if not isinstance(kinds, list) or len(kinds) != len(names):
            raise ProgramGone("nonsense")
        for name, kind in zip(names, kinds, strict=True):
            if kind is None:
                continue
            if isinstance(kind, Handle):
                namespace[name] = kind
            elif isinstance(kind, list):
                namespace[name] = self._class(name, kind)
            else:
                namespace[name] = self.ask("get", 0, name)
            self._names[name] = namespace[name]

    def _class(self, name: str, bases: list[Any]) -> Any:
        if name not in self._classes:
            if "BaseException" in bases:
                self._classes[name] = type(name, (_exception_base(bases),), {})
            else:
                number = self._ask_raw("get", 0, name)
                if not _is_handle(number):
                    raise ProgramGone("nonsense")
                handle = {"_program": self, "_number": number[1], "__module__": MODULE}
                self._classes[name] = _ClassProxy(name, (Handle,), handle)
        return self._classes[name]

    def ask(self, operation: str, target: int, *arguments: Any) -> Any:
        """Have the program do something; the result as plain data or as a handle."""
        return self._ask(operation, target, *arguments)

    def _ask(self, operation: str, target: int, *arguments: Any) -> Any:
        try:
            return codec.decode(self._ask_raw(operation, target, *arguments), self._find)
        except codec.Malformed as error:
            raise ProgramGone("nonsense") from error

    def _ask_raw(self, operation: str, target: int, *arguments: Any) -> Any:
        self.num_requests += 1
        try:
            encoded = [codec.encode(argument, _stand) for argument in arguments]
            codec.send(self._channel, [operation, target, *encoded])
        except codec.NotPlain as error:
            raise Unsupported(f"passed to the program: {error}") from error
        except OSError as error:
            raise ProgramGone("ended") from error
        # The first request is sent before the program can answer: that saves waiting for it twice.
        if not self._is_ready and self._receive() != "ready":
            raise ProgramGone("nonsense")
        self._is_ready = True
        answer = self._receive()
        if isinstance(answer, list) and len(answer) == 2 and answer[0] == "value":
            return answer[1]
        if isinstance(answer, list) and len(answer) == 4 and answer[0] == "raised":
            raise self._exception(*answer[1:])
        raise ProgramGone("nonsense")

    def _receive(self) -> Any:
        try:
            return codec.receive(self._channel)
        except (EOFError, OSError) as error:
            raise ProgramGone("ended") from error
        except codec.Malformed as error:
            raise ProgramGone("nonsense") from error

    def _exception(self, name: Any, bases: Any, arguments: Any) -> Exception:
        if not (isinstance(name, str) and isinstance(bases, list) and isinstance(arguments, list)):
            raise ProgramGone("nonsense")
        try:
            values = [codec.decode(argument, self._find) for argument in arguments]
        except codec.Malformed as error:
            raise ProgramGone("nonsense") from error
        kind = self._classes.get(name)
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            kind = _exception_base(bases)
        try:
            raised = kind(*values)
        except Exception:  # noqa: BLE001  such as UnicodeDecodeError without its five arguments
            raised = ProgramRaised(name)
        raised._from_program = True  # type: ignore[attr-defined]
        return raised

    def _find(self, data: list[Any]) -> Any:
        if not _is_handle(data):
            raise codec.Malformed(str(data[0]))
        _, number, class_name = data
        kind = self._classes.get(class_name)
        if not (isinstance(kind, type) and issubclass(kind, Handle)):
            kind = Handle
        handle = object.__new__(kind)
        object.__setattr__(handle, "_program", self)
        object.__setattr__(handle, "_number", number)
        return handle


def _is_handle(data: Any) -> bool:
    return (
        isinstance(data, list)
        and len(data) == 3
        and data[0] == "handle"
        and type(data[1]) is int
        and isinstance(data[2], str)
    )


def _exception_base(bases: list[Any]) -> type[Exception]:
    for name in bases:
        kind = getattr(builtins, str(name), None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind
    return ProgramRaised


def _stand(value: Any) -> Any:
    """What is sent to the program for something that is not plain data."""
    if isinstance(value, Handle | _ClassProxy):
        return ["handle", value._number, ""]
    kind = type(value).__name__
    raise codec.NotPlain(f"a {kind}, which the program would have to call or to compare")


class _ClassProxy(type):
    """Stands for a class of the program: its instances are handles."""

    _program: _Program
    _number: int

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        made = cls._program.ask("call", cls._number, list(arguments), named)
        # What a test makes by a class's name it may use as the class means it. A function's name
        # does not become a class's because the program says so.
        if isinstance(made, Handle) and cls.__name__[:1].isupper():
            object.__setattr__(made, "_made_by_test", True)
        return made

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls._program.ask("get", cls._number, name)


class Handle:
    """Stands for an object of the program.

    Attributes and calls are forwarded; comparisons, truth, arithmetic and `in` never are: their
    answer would be the program's word for what the test wants to know.
    """

    _program: _Program
    _number: int
    _made_by_test = False

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it in the program."""
        return self._program.ask("call", self._number, list(arguments), named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._program.ask("get", self._number, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._program.ask("set", self._number, name, value)

    def __len__(self) -> int:
        return self._whole("len")

    def __iter__(self) -> Any:
        return self._program.ask("iter", self._number)

    def __next__(self) -> Any:
        return self._program.ask("next", self._number)

    def __getitem__(self, key: Any) -> Any:
        return self._program.ask("item", self._number, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._program.ask("set_item", self._number, key, value)

    def __delitem__(self, key: Any) -> None:
        self._program.ask("delete_item", self._number, key)

    def __enter__(self) -> Any:
        return self._program.ask("enter", self._number)

    def __exit__(self, *error: object) -> None:
        self._program.ask("exit", self._number)

    def __str__(self) -> str:
        return self._text("str")

    def __repr__(self) -> str:
        return self._text("repr")

    def __int__(self) -> int:
        return self._whole("int")

    def __float__(self) -> float:
        found = self._program.ask("float", self._number)
        if type(found) is not float:
            raise ProgramGone("nonsense")
        return found

    def _whole(self, operation: str) -> int:
        found = self._program.ask(operation, self._number)
        if type(found) is not int:
            raise ProgramGone("nonsense")
        return found

    def _text(self, operation: str) -> str:
        found = self._program.ask(operation, self._number)
        if type(found) is not str:
            raise ProgramGone("nonsense")
        return found

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __bool__(self) -> bool:
        raise self._not_asked("the truth")

    def __contains__(self, value: object) -> bool:
        raise self._not_asked("membership", value)

    def __abs__(self) -> Any:
        raise self._not_asked("the absolute value")

    def __neg__(self) -> Any:
        raise self._not_asked("the negative")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Handle) and self._number == other._number:
            return True
        if self._is_for_the_program(other):
            raise self._not_asked("equality", other)
        return False

    def _not_asked(self, what: str, other: object = None) -> BaseException:
        message = f"{what} of an object of the program is not asked for"
        return Unsupported(message) if self._is_for_the_program(other) else TypeError(message)

    def _is_for_the_program(self, other: object) -> bool:
        """Whether the test itself brought the program's objects together."""
        return self._made_by_test or (isinstance(other, Handle) and other._made_by_test)


def _unordered(self: Handle, other: object) -> bool:
    raise self._not_asked("the order", other)


def _no_arithmetic(self: Handle, other: object) -> Any:
    raise self._not_asked("arithmetic", other)


for _name in ("lt", "le", "gt", "ge"):
    setattr(Handle, f"__{_name}__", _unordered)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    setattr(Handle, f"__{_name}__", _no_arithmetic)
    setattr(Handle, f"__r{_name}__", _no_arithmetic)
