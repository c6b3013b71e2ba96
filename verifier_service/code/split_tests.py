"""Tests inside a statement: iterations of a loop, and assertions of a function that it calls."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from verifier_service.code.checks_in_text import Checks
from verifier_service.code.syntax_tree import children, walk

MARK = "__test__"
"""Name of the context manager around a test. It gives the test a result of its own."""
MAX_SPLIT_TESTS = 10_000
"""Most tests into which the statements of a text are split; one that has more is one test."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_AS_LONG = frozenset({"enumerate", "reversed", "sorted"})
"""Functions whose result is as long as their first argument."""


class Splitter:
    """Puts marks around the tests inside the statements of test code.

    Args:
        body: the statements.
        checks: their checks.
    """

    def __init__(self, body: list[ast.stmt], checks: Checks) -> None:
        self._checks = checks
        self._body = body
        self._left = MAX_SPLIT_TESTS
        nodes = [node for statement in body for node in walk(statement)]
        self._loads = _names(nodes, ast.Load)
        self._stores = _names(nodes, ast.Store)
        self._stores.update(node.name for node in nodes if isinstance(node, _NAMED))
        self._stores.update(node.arg for node in nodes if isinstance(node, ast.arg))
        self._reads = Counter(name for node in nodes for name in _names_only_read(node))
        self._functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
        self._displays = {
            name: (value, scope)
            for scope in (body, *(function.body for function in self._functions.values()))
            for name, value in _displays(scope)
        }
        self._calls = Counter(filter(None, map(_called_function, body)))
        self._sizes: dict[str, int | None] = {}

    def split(self, statement: ast.stmt) -> int | None:
        """The number of tests into which a statement is split; None if it is one test."""
        name = _called_function(statement)
        found = None
        if isinstance(statement, ast.For):
            # The iterations of a loop that asserts nothing would be tests that nobody can fail.
            asserts = self._checks.asserts(statement)
            found = self._mark_iterations(statement, self._body) if asserts else None
        elif name in self._functions:
            found = self._size_of(name)
        if found is None or found > self._left:
            return None
        self._left -= found
        return found

    def _size_of(self, name: str) -> int | None:
        """The number of tests in a function; they are marked once."""
        if name not in self._sizes:
            function = self._functions[name]
            # A function that is called elsewhere too would have more results than tests.
            is_known = self._stores[name] == 1 and self._loads[name] == self._calls[name]
            can_split = is_known and not function.decorator_list and not _ends_early(function)
            self._sizes[name] = self._mark_function(function) if can_split else None
        return self._sizes[name]

    def _mark_function(self, function: ast.FunctionDef) -> int | None:
        """Mark the tests of a function; None if it has none."""
        total = 0
        for index, statement in enumerate(function.body):
            if not self._checks.asserts(statement):
                continue
            if isinstance(statement, ast.For):
                found = self._mark_iterations(statement, function.body)
                if found is not None:
                    total += found
                    continue
            function.body[index] = _marked([statement])
            total += 1
        return total or None

    def _mark_iterations(self, loop: ast.For, scope: list[ast.stmt]) -> int | None:
        """The number of iterations, each of which is marked; None if the text does not give it."""
        if loop.orelse or any(
            isinstance(node, ast.Break | ast.Return | ast.Yield | ast.YieldFrom)
            for node in _nodes_outside_functions(loop.body)
        ):
            return None
        found = self._length(loop.iter, scope)
        if found is None or found > self._left:
            return None
        loop.body = [_marked(loop.body)]
        return found

    def _length(self, node: ast.expr, scope: list[ast.stmt]) -> int | None:
        """The number of elements, if the text gives it."""
        if isinstance(node, ast.List | ast.Tuple):
            is_whole = not any(isinstance(item, ast.Starred) for item in node.elts)
            return len(node.elts) if is_whole else None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return len(node.value)
        if isinstance(node, ast.Name):
            value = self._literal(node.id, scope)
            return None if value is None else self._length(value, scope)
        if isinstance(node, ast.Call) and not node.keywords:
            return self._length_of_call(node, scope)
        return None

    def _length_of_call(self, call: ast.Call, scope: list[ast.stmt]) -> int | None:
        if not isinstance(call.func, ast.Name) or self._stores[call.func.id] or not call.args:
            return None
        name = call.func.id
        if name == "range":
            numbers = [self._integer(argument, scope) for argument in call.args]
            known = [number for number in numbers if number is not None]
            if len(known) < len(numbers) or len(known) > 3 or 0 in known[2:]:
                return None
            return _length_of_range(range(*known))
        if name == "zip":
            lengths = [self._length(argument, scope) for argument in call.args]
            known = [length for length in lengths if length is not None]
            return min(known) if len(known) == len(lengths) else None
        return self._length(call.args[0], scope) if name in _AS_LONG else None

    def _integer(self, node: ast.expr, scope: list[ast.stmt]) -> int | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found = self._integer(node.operand, scope)
            return None if found is None else -found
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            is_len = node.func.id == "len" and not self._stores["len"]
            return self._length(node.args[0], scope) if is_len else None
        return None

    def _literal(self, name: str, scope: list[ast.stmt]) -> ast.expr | None:
        """The value of a name that is bound once, in this scope or at the top, and only read."""
        if self._stores[name] != 1 or self._reads[name] != self._loads[name]:
            return None
        value, owner = self._displays.get(name, (None, None))
        return value if owner is scope or owner is self._body else None


def _displays(scope: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Names to which a statement of a body assigns a list or tuple that it writes out."""
    for statement in scope:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and isinstance(statement.value, ast.List | ast.Tuple):
                yield target.id, statement.value


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _names(nodes: list[ast.AST], context: type[ast.expr_context]) -> Counter[str]:
    return Counter(
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)
    )


def _names_only_read(node: ast.AST) -> Iterator[str]:
    """Names whose values cannot change in this use: they are iterated over, or indexed."""
    uses: list[ast.expr] = []
    if isinstance(node, ast.For | ast.comprehension):
        uses = [node.iter]
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        uses = [node.value]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        uses = node.args if node.func.id in {*_AS_LONG, "zip", "len"} else []
    yield from (use.id for use in uses if isinstance(use, ast.Name))


def _called_function(statement: ast.stmt) -> str:
    """Name of the function that a statement calls and does no more; empty if it does not."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        return function.id if isinstance(function, ast.Name) else ""
    return ""


def _ends_early(function: ast.FunctionDef) -> bool:
    """Whether it can return before its last statement, or is a generator."""
    *body, last = function.body
    if not isinstance(last, ast.Return):
        body.append(last)
    return any(
        isinstance(node, ast.Return | ast.Yield | ast.YieldFrom)
        for node in _nodes_outside_functions(body)
    )


def _nodes_outside_functions(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes but those inside definitions."""
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _DEFINITIONS):
            waiting += children(node)


def _length_of_range(numbers: range) -> int | None:
    try:
        return len(numbers)
    except OverflowError:
        return None


def _marked(body: list[ast.stmt]) -> ast.With:
    """Statements as one test."""
    first = body[0]
    mark = ast.copy_location(ast.Name(MARK, ast.Load()), first)
    return ast.copy_location(ast.With([ast.withitem(mark, None)], body), first)
