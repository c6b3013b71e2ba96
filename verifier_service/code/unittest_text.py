"""Test methods of the classes of unittest in test code, from its text alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from verifier_service.code.program_reach import ProgramReach, changed_names, loaded_names
from verifier_service.code.skips_in_text import FunctionNode, called_name, is_skip, skips_by_itself
from verifier_service.code.syntax_tree import walk

_SKIPS = frozenset({"skip", "skipIf", "skipUnless"})


@dataclass(frozen=True)
class CountedClass:
    """Tests of a class of unittest."""

    methods: tuple[str, ...]
    """Methods that are tests."""
    skipped: frozenset[str]
    """Methods that are skipped whatever the program is, which do not count."""
    is_skipped_by_itself: bool
    """Whether no program decides about the skips in the bodies of its methods."""


def counted_classes(body: list[ast.stmt], reach: ProgramReach) -> dict[str, CountedClass]:
    """Classes at the top of test code that unittest runs.

    A class with a decorator or keyword of an unknown meaning is left out.
    """
    known = _read_classes(body)
    elsewhere = any(map(_skips_elsewhere, body))
    found = {}
    for name, read in known.items():
        if read.is_case and read.is_plain:
            skips = read.is_skipped(body, reach)
            skipped = {
                method
                for method, node in read.methods.items()
                if skips or (node is not None and is_skipped(node, body, reach))
            }
            methods = tuple(sorted(read.methods.keys() - skipped))
            by_itself = all(skips_by_itself(function, reach) for function in read.functions)
            by_itself &= not elsewhere and not any(map(reach.includes, read.decorators))
            found[name] = CountedClass(methods, frozenset(skipped), by_itself)
    return found


def case_names(body: list[ast.stmt]) -> frozenset[str]:
    """Names of the classes at the top of test code that derive from TestCase."""
    return frozenset(name for name, found in _read_classes(body).items() if found.is_case)


@dataclass(frozen=True)
class _Class:
    """A class of the text, with what it inherits from others."""

    methods: dict[str, FunctionNode | None]
    """Test methods; None for one that is assigned."""
    functions: tuple[FunctionNode, ...]
    """All methods, those of its bases included."""
    decorators: tuple[ast.expr, ...]
    is_case: bool
    is_plain: bool

    def is_skipped(self, body: list[ast.stmt], reach: ProgramReach) -> bool:
        """Whether all tests are skipped whatever the program is."""
        return any(_skips(decorator, body, reach) for decorator in self.decorators)


def _read_classes(body: list[ast.stmt]) -> dict[str, _Class]:
    known: dict[str, _Class] = {}
    cases = {"TestCase", "IsolatedAsyncioTestCase"} | set(_other_names_of_cases(body))
    for node in body:
        if isinstance(node, ast.ClassDef):
            known[node.name] = _read_class(node, known, cases)
    return known


def _read_class(node: ast.ClassDef, known: dict[str, _Class], cases: set[str]) -> _Class:
    bases = [called_name(base) for base in node.bases]
    inherited = [known[name] for name in bases if name in known]
    methods: dict[str, FunctionNode | None] = {}
    for base in reversed(inherited):
        methods |= base.methods
    for statement in node.body:
        if isinstance(statement, FunctionNode) and statement.name.startswith("test"):
            methods[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            is_none = isinstance(statement.value, ast.Constant) and statement.value.value is None
            for target in statement.targets:
                if isinstance(target, ast.Name) and target.id.startswith("test"):
                    methods[target.id] = None
                    if is_none:  # the idiom that takes an inherited test away
                        del methods[target.id]
    decorators = (*node.decorator_list, *(one for base in inherited for one in base.decorators))
    functions = [one for base in inherited for one in base.functions]
    return _Class(
        methods,
        (*functions, *(one for one in node.body if isinstance(one, FunctionNode))),
        decorators,
        is_case=any(name in cases for name in bases) or any(base.is_case for base in inherited),
        is_plain=not node.keywords and all(called_name(one) in _SKIPS for one in decorators),
    )


def _skips_elsewhere(statement: ast.stmt) -> bool:
    """Whether a function at the top skips tests, or code in a function sets a global variable."""
    is_function = isinstance(statement, FunctionNode)
    return any(
        isinstance(node, ast.Global) or (is_function and is_skip(node)) for node in walk(statement)
    )


def _other_names_of_cases(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module == "unittest":
            for alias in node.names:
                if alias.asname and alias.name in ("TestCase", "IsolatedAsyncioTestCase"):
                    yield alias.asname


def is_skipped(function: FunctionNode, body: list[ast.stmt], reach: ProgramReach) -> bool:
    """Whether a test is skipped whatever the program is."""
    if any(_skips(decorator, body, reach) for decorator in function.decorator_list):
        return True
    statements = function.body[ast.get_docstring(function) is not None :]
    first = statements[0] if statements else None
    return first is not None and is_skip(first.value if isinstance(first, ast.Expr) else first)


def _skips(decorator: ast.expr, body: list[ast.stmt], reach: ProgramReach) -> bool:
    """Whether a decorator skips tests whatever the program is."""
    name = called_name(decorator)
    if name == "skip":
        return True
    if name not in _SKIPS or not isinstance(decorator, ast.Call) or reach.includes(decorator):
        return False
    conditions = [*decorator.args[:1], *(k.value for k in decorator.keywords if k.arg != "reason")]
    if len(conditions) != 1:
        return False
    try:
        holds = bool(_value(conditions[0], body, reach))
    except Exception:  # noqa: BLE001  the condition is the tests' own, and may raise anything
        return False
    return holds if name == "skipIf" else not holds


def _value(condition: ast.expr, body: list[ast.stmt], reach: ProgramReach) -> Any:
    """The value of an expression, for which the statements that it needs are run."""
    needed, waiting = set[str](), list(loaded_names(condition))
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += reach.uses.get(name, ())
    namespace: dict[str, Any] = {"__name__": "tests"}
    for statement in body:
        if needed.intersection(_bound_names(statement)):
            exec(compile(ast.Module([statement], []), "tests.py", "exec"), namespace)
    return eval(compile(ast.Expression(condition), "tests.py", "eval"), namespace)


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield (alias.asname or alias.name).partition(".")[0]
    elif not isinstance(statement, ast.Assert | ast.Expr):
        yield from changed_names(statement)
