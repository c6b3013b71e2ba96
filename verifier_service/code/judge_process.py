"""The judge's process: runs test code in which the program's names are proxies of its objects.

The judge asks the program for values and compares plain data itself. It never asks the program to
compare, and never sends it the value that a result is compared with. It writes its journal to the
result pipe, which the program's process does not have.
"""

from __future__ import annotations

import builtins
import json
import os
import socket
import sys
import types
import unittest
from collections.abc import Iterator
from functools import partial
from typing import Any, TypeGuard

from verifier_service.code import one_sided
from verifier_service.code.assertions import ENTRY
from verifier_service.code.handles import (
    TESTS_FILE,
    PassedBackTooMuch,
    ProgramGone,
    ProgramModule,
    RemoteProgram,
    Unsupported,
)
from verifier_service.code.journal import Journal
from verifier_service.code.program_process import MODULE
from verifier_service.code.reasons import CodeReason
from verifier_service.code.records_in_text import given_source, may_have_records
from verifier_service.code.results_in_judge import (
    Marks,
    count,
    fail,
    message_of,
    outcome_of_error,
    run_counted,
    run_uncounted,
    text_of,
)
from verifier_service.code.returned_values import is_same
from verifier_service.code.split_tests import MARK
from verifier_service.code.tests_reading import (
    NO_TEST,
    AssertsReading,
    BadTests,
    CompiledPart,
    NotApart,
    passes_results,
    read_test_code,
)
from verifier_service.code.value_flow import result_of
from verifier_service.reason import EngineReason
from verifier_service.sandbox.entries import EntryContext

TESTS_MODULE = "tests"
"""Name of the module in which test code runs."""


def run_judge(context: EntryContext) -> None:
    """Sandbox entry. The payload has a line with the tests and `run_all`, and one with a reading of
    the tests, which is empty for the first program."""
    asked, _, reading = context.payload.partition(b"\n")
    tests = json.loads(asked) | {"reading": reading.decode()}
    channel, result = context.channel, context.result
    assert channel is not None
    assert result is not None
    context.begin()
    journal = Journal(result)
    is_gone = judge_tests(channel, tests, journal)
    channel.close()  # the program ends while this process does
    journal.end(program_is_gone=is_gone)
    os._exit(0)


def judge_tests(channel: socket.socket, tests: dict[str, Any], journal: Journal) -> bool:
    """Run the tests against the program at the other end. Whether it was gone before their end."""
    try:
        program = RemoteProgram(channel)
        journal.before_result = program.raise_end
        run = {"asserts": _run_asserts, "function": _run_cases}[tests["type"]]
        run(program, tests, journal)
        program.raise_end()
    except Unsupported as error:
        if not journal.has_failed:  # an earlier failure is no fault of the tests
            journal.fail(CodeReason.UNSUPPORTED_TEST, str(error))
    except ProgramGone:
        return True
    except PassedBackTooMuch as error:
        journal.fail(CodeReason.INVALID_OUTPUT, str(error))
    except (MemoryError, RecursionError) as error:
        journal.fail(CodeReason.INVALID_OUTPUT, type(error).__name__)
    except BadTests as error:
        journal.fail(EngineReason.BAD_REFERENCE, str(error))
    except Exception as error:
        if not hasattr(error, "_from_program"):
            raise
        # Its name alone: its text may have to be asked for, of a program that has ended.
        journal.fail(CodeReason.RUNTIME_ERROR, type(error).__name__)
    return False


# Function cases


def _run_cases(program: RemoteProgram, tests: dict[str, Any], journal: Journal) -> None:
    journal.begin(len(tests["cases"]))
    owner, name = _owner(program, tests["entry_point"])
    if owner is None and program.name(name) is None:
        journal.add(CodeReason.RUNTIME_ERROR, f"there is no {tests['entry_point']}")
        return
    for case in tests["cases"]:
        program.check_arguments(case.get("args", []), case.get("kwargs", {}))
    for case in tests["cases"]:
        try:
            function = getattr(owner(), name) if owner else program.name(name)
            found = function(*case.get("args", []), **case.get("kwargs", {}))
            right = [case["returns"], *case.get("also", ())]
            if any(is_same(found, one, tests["tolerance"]) for one in right):
                journal.add(CodeReason.PASSED)
            else:
                journal.add(CodeReason.WRONG_ANSWER, f"returned {found!r}")
        except Exception as error:  # noqa: BLE001  whatever the program raised
            is_missing = isinstance(error, ModuleNotFoundError)
            reason = CodeReason.MODULE_NOT_FOUND if is_missing else CodeReason.RUNTIME_ERROR
            journal.add(reason, text_of(error))
        if journal.has_failed and not tests["run_all"]:
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
    program.answering |= {result_of(class_name)}  # the method may be called like one of a list's
    return (owner if isinstance(owner, type) else None), name


# Test code


def _run_asserts(program: RemoteProgram, tests: dict[str, Any], journal: Journal) -> None:
    reading = _read(tests, journal)
    # Test code in which no test is found, such as `exec("assert f(1) == 2")`, is one test.
    journal.begin(reading.total or 1)
    program.answering = reading.answering
    program.exceptions_of_tests = reading.exceptions
    program.passes_results = partial(passes_results, tests)
    _prepare_imports(reading, program)
    if may_have_records(tests["code"]):
        program.give_classes(list(reading.records), given_source(reading.records))
    marks = Marks(journal, run_all=tests["run_all"])
    namespace = _namespace(program, reading)
    namespace |= {MARK: marks, **one_sided.checks()}
    if "numpy" in sys.modules:
        one_sided.guard_numpy(has_testing="testing" in tests["code"])
    codes = [part.code for part in reading.parts]
    expression = ""
    if reading.is_entry_of_python:
        namespace[ENTRY] = program.name(tests["entry_point"])
    elif reading.lacks_call:
        expression = _expression(program, tests["entry_point"])
        codes[-1] = compile(f"check({expression})", TESTS_FILE, "exec")
    namespace |= {name: usual.load() for name, usual in reading.judges_names.items()}
    program.add_names(reading.names_of_program(expression), namespace)
    # Test code often ends with `unittest.main()`, which would run its tests and end the process.
    unittest.main = lambda *_, **__: None  # type: ignore[assignment]
    is_test = False
    for part, code in zip(reading.parts, codes, strict=True):
        before = program.num_requests
        if not _run_part(part, code, namespace, marks, journal):
            return
        is_test |= program.num_requests > before and not part.is_preparation
    is_test |= _run_unittest(namespace, reading, journal, run_all=tests["run_all"])
    if reading.total or journal.has_failed:
        return
    if not is_test:
        raise BadTests(NO_TEST)
    journal.add(CodeReason.PASSED)


def _read(tests: dict[str, Any], journal: Journal) -> AssertsReading:
    """The reading that an earlier judge has made, or a new one. Raises Unsupported, BadTests."""
    if tests["reading"]:
        return AssertsReading.unpack(tests["reading"])
    try:
        reading = read_test_code(tests)
    except NotApart as error:
        raise Unsupported(str(error)) from error
    journal.keep_reading(reading.pack())
    return reading


def _namespace(program: RemoteProgram, reading: AssertsReading) -> dict[str, Any]:
    """The namespace of the tests, which is that of a module.

    A data class looks for the names of its fields' types in the module.
    """
    module = types.ModuleType(TESTS_MODULE)
    sys.modules[TESTS_MODULE] = module
    namespace = module.__dict__
    program.records.class_named = lambda name: _record_class(name, namespace, reading, program)
    # Where the program lacks its `sum`, Python's would answer for it.
    namespace["__builtins__"] = {
        name: value for name, value in vars(builtins).items() if name not in reading.python_names
    }
    return namespace


def _record_class(
    name: str, namespace: dict[str, Any], reading: AssertsReading, program: RemoteProgram
) -> type | None:
    """The class of the tests whose objects cross by value; None if no such class has the name."""
    found = namespace.get(name) if name in reading.records else None
    if not isinstance(found, type):
        return None
    program.records.prepare(found)
    return found


def _run_part(
    part: CompiledPart,
    code: types.CodeType,
    namespace: dict[str, Any],
    marks: Marks,
    journal: Journal,
) -> bool:
    """Run a statement at the top, and count its tests. Whether to go on after it."""
    before = journal.num_results
    marks.num_left = part.num_tests if part.is_split else 0
    reason, text = _outcome_of(code, namespace)
    num_left = part.num_tests - (journal.num_results - before)
    if reason is CodeReason.PASSED and part.is_split and num_left:
        reason, text = CodeReason.WRONG_ANSWER, "a test was not reached"
    for _ in range(num_left):
        count(journal, reason, text)
    if reason is not CodeReason.PASSED and not num_left:
        fail(journal, reason, text)
    return reason is CodeReason.PASSED or (marks.run_all and part.num_tests > 0)


def _expression(program: RemoteProgram, entry_point: str) -> str:
    """The entry point as an expression of Python, for test code to call."""
    owner, name = _owner(program, entry_point)
    return f"{owner.__name__}().{name}" if owner else entry_point


def _outcome_of(code: types.CodeType, namespace: dict[str, Any]) -> tuple[CodeReason, str]:
    try:
        exec(code, namespace)
    except SystemExit as end:
        return CodeReason.WRONG_ANSWER, f"the tests ended with {message_of(end)}"
    except Exception as error:  # noqa: BLE001
        return outcome_of_error(error)
    return CodeReason.PASSED, ""


def _run_unittest(
    namespace: dict[str, Any], reading: AssertsReading, journal: Journal, *, run_all: bool
) -> bool:
    """Run the classes of unittest, and functions as pytest would. Whether there are any."""
    cases = [
        value
        for value in dict.fromkeys(filter(_is_class, namespace.values()))
        if issubclass(value, unittest.TestCase) and value.__module__ == TESTS_MODULE
    ]
    made = [test for case in cases for test in _made_tests(case, namespace, reading)]
    if made and not run_uncounted(made, journal):
        return True
    for name, found in reading.classes.items():
        case = namespace.get(name)
        tests: list[unittest.TestCase] = []
        if _is_class(case) and case in cases:
            tests = [case(method) for method in found.methods if hasattr(case, method)]
        may_skip, num_tests = found.is_skipped_by_itself, len(found.methods)
        if not run_counted(tests, num_tests, journal, run_all=run_all, may_skip=may_skip):
            return True
    for name in reading.functions:
        function = unittest.FunctionTestCase(namespace[name], description=name)
        if not run_counted([function], 1, journal, run_all=run_all):
            return True
    return bool(made)


def _is_class(value: object) -> TypeGuard[type]:
    return isinstance(value, type)


def _made_tests(
    case: type[unittest.TestCase], namespace: dict[str, Any], reading: AssertsReading
) -> Iterator[unittest.TestCase]:
    """Tests of a class that the text does not show, such as those that `setattr` adds."""
    known: set[str] = set()
    if namespace.get(case.__name__) is case and case.__name__ in reading.classes:
        found = reading.classes[case.__name__]
        known = {*found.methods, *found.skipped}
    methods = unittest.TestLoader().getTestCaseNames(case)
    for name in methods or ["runTest"] * hasattr(case, "runTest"):
        if name not in known:
            yield case(name)


def _prepare_imports(reading: AssertsReading, program: RemoteProgram) -> None:
    """Provide the program as each module that the code imports it from."""
    stand_in = ProgramModule(program)
    for name in ("__main__", MODULE, *reading.program_modules):
        sys.modules[name] = stand_in
