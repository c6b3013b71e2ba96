"""Readings of test code: all that the judge takes from its text before it asks a program.

A reading follows from the text alone, so one serves all programs that are judged by the same tests:
the first judge packs it, and the judges of the next programs are handed it.
"""

from __future__ import annotations

import ast
import base64
import builtins
import marshal
import pickle
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from verifier_service.code.assertions import ENTRY, AssertionCode
from verifier_service.code.counting import PREPARATIONS, CountedTests, Part, count_tests
from verifier_service.code.handles import TESTS_FILE
from verifier_service.code.one_sided import add_checks
from verifier_service.code.pytest_text import UnsupportedPytest, in_unittest
from verifier_service.code.records_in_text import RecordClass
from verifier_service.code.result_uses import Span
from verifier_service.code.syntax_tree import walk
from verifier_service.code.unittest_text import CountedClass
from verifier_service.code.usual_names import UsualName

NO_TEST = "there is no test in it"


class BadTests(Exception):
    """The test code cannot be run, whatever the program is."""


class NotApart(Exception):
    """The test code cannot be run in another process than the program; the message says why."""


@dataclass(frozen=True)
class CompiledPart:
    """A statement at the top of test code, ready to run."""

    marshalled: bytes
    num_tests: int
    is_split: bool
    """Whether its tests have marks in it."""
    is_preparation: bool
    """Whether it is no test, though it may ask the program for something."""

    @property
    def code(self) -> types.CodeType:
        """The statement as code."""
        code: types.CodeType = marshal.loads(self.marshalled)
        return code


@dataclass(frozen=True)
class AssertsReading:
    """Test code that has been read."""

    parts: tuple[CompiledPart, ...]
    classes: Mapping[str, CountedClass]
    functions: tuple[str, ...]
    total: int
    """Number of the tests."""
    lacks_call: bool
    """Whether the last part stands for the call of `check` that the code does not have."""
    judges_names: Mapping[str, UsualName]
    """Names that nothing in the code defines and that mean something of Python's."""
    defined_names: frozenset[str]
    """Names that the statements at the top define."""
    free_names: tuple[str, ...]
    """Names that the program has to provide."""
    program_modules: tuple[str, ...]
    """Modules that the code imports and that stand for the program."""
    exceptions: frozenset[str]
    """Names that the code uses as exceptions."""
    records: Mapping[str, RecordClass]
    """Classes of the code whose objects cross by value, by name."""
    python_names: frozenset[str]
    """Names of functions of Python, such as `sum`, that are the program's in this code."""
    is_entry_of_python: bool
    """Whether the entry point has a name that means Python's in this code, see `ENTRY`."""
    answering: frozenset[str]
    """Makers of objects of the program that the code uses as such, see `ObjectUses`."""

    def names_of_program(self, expression: str) -> list[str]:
        """Names that the program has to provide for the code and for an expression of the judge's.

        Raises SyntaxError: the expression is none.
        """
        nodes = walk(ast.parse(expression, mode="eval")) if expression else []
        more = {node.id for node in nodes if isinstance(node, ast.Name)}
        known = {*self.free_names, *self.defined_names, *self.judges_names, *dir(builtins)}
        return [*self.free_names, *sorted(more - known)]

    def pack(self) -> str:
        """The reading as ASCII text."""
        return base64.b64encode(pickle.dumps(self)).decode()

    @classmethod
    def unpack(cls, packed: str) -> Self:
        """The reading that a judge of the same tests has packed.

        It is unpickled, so it must come from nowhere else: the code of those tests runs in this
        process in any case.
        """
        reading = pickle.loads(base64.b64decode(packed))
        assert isinstance(reading, cls)
        return reading


def read_test_code(tests: Mapping[str, Any]) -> AssertsReading:
    """Read tests of the type `asserts`.

    Raises:
        NotApart: the code cannot be run outside the program's process.
        BadTests: the code is not Python, or more than can be read.
    """
    entry_point = tests["entry_point"]
    try:
        source = _source_of(tests)
        why = source.cannot_be_run_apart()
        if why:
            raise NotApart(why)
        lacks_call = bool(entry_point) and source.defines_uncalled_check()
        if lacks_call:
            source.add_call("check", source.entry_name)
        if not source.can_fail():
            raise BadTests(NO_TEST)
        counted = count_tests(source, in_unittest(tests["code"]))
        add_checks(source)
        return _reading_of(source, counted, lacks_call=lacks_call)
    except UnsupportedPytest as error:
        raise NotApart(str(error)) from error
    except (SyntaxError, ValueError) as error:
        raise BadTests(str(error)) from error
    except (MemoryError, RecursionError) as error:
        raise BadTests(f"it is more than can be read: {type(error).__name__}") from error


def passes_results(tests: Mapping[str, Any], span: Span) -> bool:
    """Whether the call at a place of the test code passes results back to the program.

    Few programs make it a question, so the code is read again for it.
    """
    return _source_of(tests).result_uses.reach_arguments(span)


def _source_of(tests: Mapping[str, Any]) -> AssertionCode:
    module, entry_point = tests["module"] or "", tests["entry_point"] or ""
    return AssertionCode(in_unittest(tests["code"]), entry_point=entry_point, module=module)


def _reading_of(
    source: AssertionCode, counted: CountedTests, *, lacks_call: bool
) -> AssertsReading:
    return AssertsReading(
        parts=tuple(map(_compiled, counted.parts)),
        classes=counted.classes,
        functions=counted.functions,
        total=counted.total,
        lacks_call=lacks_call,
        judges_names=source.judges_names,
        defined_names=frozenset(source.defined_names()),
        free_names=tuple(source.free_names()),
        program_modules=tuple(source.program_modules()),
        exceptions=source.exception_names(),
        records=source.records,
        python_names=source.python_names,
        is_entry_of_python=source.entry_name == ENTRY,
        answering=source.object_uses.answering,
    )


def _compiled(part: Part) -> CompiledPart:
    code = compile(ast.Module([part.statement], []), TESTS_FILE, "exec")
    return CompiledPart(
        marshal.dumps(code),
        part.num_tests,
        part.is_split,
        isinstance(part.statement, PREPARATIONS),
    )
