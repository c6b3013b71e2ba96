"""The number of tests in test code, from its text alone.

A program must not decide how many tests it has: one that ends after the tests that it passes would
have passed them all. So the tests are counted before the program is asked for anything:

| in the text | tests |
|---|---|
| an assertion at the top | one |
| a loop at the top over a literal, or a range, with an assertion | one for each iteration |
| a call of a function of the text, such as `check(f)`, at the top | its assertions and iterations |
| any other statement at the top that uses the program, with a check (`checks_in_text`) | one |
| such a statement without a check | none; one, if there are no other tests |
| a method `test...` of a class of unittest, or a function `test...` | one |
| a test that the text skips whatever the program is | none |
| code that no program fails (`empty_tests`) | it is refused before |

Marks are put around the tests inside loops and functions, so that each has a result of its own.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from verifier_service.code.assertions import AssertionCode
from verifier_service.code.checks_in_text import Checks
from verifier_service.code.program_reach import ProgramReach
from verifier_service.code.split_tests import Splitter
from verifier_service.code.unittest_text import CountedClass, counted_classes, is_skipped

PREPARATIONS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
    *(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Delete),
)
"""Statements that are no test, though they may ask the program for something."""


@dataclass(frozen=True)
class Part:
    """A statement at the top of test code."""

    statement: ast.stmt
    num_tests: int
    is_split: bool
    """Whether its tests have marks in it."""
    has_check: bool = True
    """Whether it may fail a program for its answer."""


@dataclass(frozen=True)
class CountedTests:
    """The tests of test code, in the order in which they are run."""

    parts: tuple[Part, ...]
    classes: Mapping[str, CountedClass]
    functions: tuple[str, ...]

    @property
    def total(self) -> int:
        """Number of the tests."""
        methods = sum(len(found.methods) for found in self.classes.values())
        return sum(part.num_tests for part in self.parts) + methods + len(self.functions)


def count_tests(source: AssertionCode, code: str) -> CountedTests:
    """The tests of test code; its statements get marks.

    Raises:
        SyntaxError, ValueError: the code is not Python.
    """
    body = source.body
    reach = ProgramReach(code, body, source.python_names)
    deleted = set(_deleted_names(body))
    classes = counted_classes(body, reach)
    defined = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    functions = {name: defined[name] for name in source.test_functions()}
    checks = Checks(body)
    run = [statement for statement in body if not _is_main_guard(statement)]
    splitter = Splitter(run, checks)
    found = CountedTests(
        tuple(_part(statement, reach, splitter, checks) for statement in body),
        {name: found for name, found in classes.items() if name not in deleted},
        tuple(
            name
            for name, node in functions.items()
            if name not in deleted and not is_skipped(node, body, reach)
        ),
    )
    return _without_uses(found)


def _without_uses(found: CountedTests) -> CountedTests:
    """The tests but statements without a check, unless there are no others.

    A wrong program would be paid for `print(f(1))`, which no answer can fail.
    """
    parts = tuple(
        part if part.has_check else dataclasses.replace(part, num_tests=0) for part in found.parts
    )
    checked = dataclasses.replace(found, parts=parts)
    return checked if checked.total else found


def _part(statement: ast.stmt, reach: ProgramReach, splitter: Splitter, checks: Checks) -> Part:
    if isinstance(statement, ast.Assert):
        return Part(statement, 1, is_split=False)
    if isinstance(statement, PREPARATIONS) or not reach.includes(statement):
        return Part(statement, 0, is_split=False)
    if _is_main_guard(statement):
        return Part(statement, 0, is_split=False)
    has_check = checks.may_fail(statement)
    num_tests = splitter.split(statement)
    if num_tests is None:
        return Part(statement, 1, is_split=False, has_check=has_check)
    return Part(statement, num_tests, is_split=True)


def _is_main_guard(statement: ast.stmt) -> bool:
    """Whether it is `if __name__ == "__main__"`, which is never true of tests, without `else`."""
    return (
        isinstance(statement, ast.If)
        and not statement.orelse
        and ast.unparse(statement.test).replace('"', "'")
        in ("__name__ == '__main__'", "'__main__' == __name__")
    )


def _deleted_names(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.Delete):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
