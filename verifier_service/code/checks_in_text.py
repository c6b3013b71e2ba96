"""Checks in test code: the code that can fail a program for its answer, found by text alone.

An assertion that the text swallows is none: in a `try` whose handler catches AssertionError and
fails nobody itself, or in `with suppress(AssertionError)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from verifier_service.code.skips_in_text import FunctionNode, called_name
from verifier_service.code.syntax_tree import children, walk
from verifier_service.code.unittest_text import case_names

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_CATCH_ASSERTIONS = frozenset({"AssertionError", "Exception", "BaseException"})
_ENDS = frozenset({"exit", "quit", "sys.exit", "os._exit", "os.abort", "self.fail"})
"""Functions that end the tests, or fail one."""


class Checks:
    """The checks in the statements of test code.

    Args:
        body: the statements.
    """

    def __init__(self, body: list[ast.stmt]) -> None:
        self._functions = {one.name for one in body if isinstance(one, ast.FunctionDef)}
        users: dict[str, set[str]] = {}
        waiting: list[str] = []
        for name, node in self._named_code(body):
            inner = list(_nodes([node], enters_definitions=True))
            waiting += [name for one in inner if self._is_check(one)][:1]
            for used in map(_used_name, inner):
                users.setdefault(used, set()).add(name)
        self._failing: set[str] = set()
        """Names of code that has a check, or uses code that has one; methods with a dot."""
        while waiting:
            name = waiting.pop()
            if name not in self._failing:
                self._failing.add(name)
                waiting += users.get(name, ())

    def _named_code(self, body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
        """Code that runs where a name is used, with the name."""
        cases = case_names(body)
        for statement in body:
            if isinstance(statement, ast.ClassDef):
                methods = (one for one in statement.body if isinstance(one, FunctionNode))
                yield from ((f".{method.name}", method) for method in methods)
            if isinstance(statement, _DEFINITIONS):
                # A runner gives the tests of a class of unittest results of their own.
                if statement.name not in cases:
                    yield statement.name, statement
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        yield from ((target.id, part) for part in self._kept(statement.value))

    def _kept(self, value: ast.expr) -> Iterator[ast.AST]:
        """The parts of a value that may be called later: names, but of functions called here."""
        called = {node.func for node in walk(value) if isinstance(node, ast.Call)}
        for node in _nodes([value], enters_definitions=False):
            is_called_here = node in called and _used_name(node) in self._functions
            if isinstance(node, ast.Lambda) or (isinstance(node, ast.Name) and not is_called_here):
                yield node

    def asserts(self, statement: ast.stmt) -> bool:
        """Whether a statement has an assertion, or calls a function that stands for one.

        What the statement defines is left out.
        """
        if isinstance(statement, _DEFINITIONS):
            return False
        return any(
            isinstance(node, ast.Assert) or self._is_assertion(node)
            for node in _nodes([statement], enters_definitions=False)
        )

    def _is_assertion(self, node: ast.AST) -> bool:
        """Whether it is a call such as `assert_close(a, b)` whose result is not used."""
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            return False
        name = _used_name(node.value.func)
        if name in self._functions:
            return name in self._failing
        return "assert" in called_name(node.value).lower()

    def may_fail(self, statement: ast.stmt) -> bool:
        """Whether a statement, or code of the text that it uses, has a check."""
        return any(
            self._is_check(node) or _used_name(node) in self._failing
            for node in _nodes([statement], enters_definitions=True)
        )

    def _is_check(self, node: ast.AST) -> bool:
        """Whether code fails a program, or has a name that says so and no definition here."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = called_name(node.value)
            return "check" in name.lower() and name not in self._functions
        return _fails(node)


def _fails(node: ast.AST) -> bool:
    """Whether code is an assertion, raises an error or ends the tests."""
    if isinstance(node, ast.Call):
        return "assert" in called_name(node).lower() or ast.unparse(node.func) in _ENDS
    return isinstance(node, ast.Assert | ast.Raise)


def _used_name(node: ast.AST) -> str:
    """The name that code reads, or the method that it calls with a dot; empty for other code."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return f".{node.func.attr}"
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else ""


def _nodes(body: Sequence[ast.AST], *, enters_definitions: bool) -> Iterator[ast.AST]:
    """All nodes but those whose assertions are swallowed."""
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, _DEFINITIONS) and not enters_definitions:
            continue
        if isinstance(node, ast.Try | ast.TryStar) and any(map(_swallows, node.handlers)):
            waiting += [*node.handlers, *node.orelse, *node.finalbody]
        elif isinstance(node, ast.With) and any(map(_is_suppression, node.items)):
            continue
        else:
            waiting += children(node)


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches assertions and fails nobody."""
    if handler.type is not None and not _names_assertions(handler.type):
        return False
    return not any(_fails(node) for one in handler.body for node in walk(one))


def _is_suppression(item: ast.withitem) -> bool:
    call = item.context_expr
    return (
        isinstance(call, ast.Call)
        and called_name(call) == "suppress"
        and any(map(_names_assertions, call.args))
    )


def _names_assertions(node: ast.expr) -> bool:
    return any(
        isinstance(inner, ast.Name | ast.Attribute) and called_name(inner) in _CATCH_ASSERTIONS
        for inner in walk(node)
    )
