"""The names of test code through which the program can be reached.

Such a name is the program's own, or stands for something of the test code that uses one. What can
be reached through no such name is the same for every program.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterable, Iterator, Set

from verifier_service.code.assertions import KNOWN_PACKAGES
from verifier_service.code.syntax_tree import walk

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class ProgramReach:
    """Which names of test code lead to the program.

    Args:
        code: the test code.
        body: its statements, and those that are added to it.
        python_names: names of functions of Python that are the program's.

    Raises:
        SyntaxError, ValueError: the code is not Python.
    """

    def __init__(
        self, code: str, body: list[ast.stmt], python_names: Set[str] = frozenset()
    ) -> None:
        table = symtable.symtable(code, "tests.py", "exec")
        self.uses: dict[str, set[str]] = {}
        """The names that each name of the test code is made of."""
        imported = dict(_imports(body))
        for child in table.get_children():
            self.uses.setdefault(child.get_name(), set()).update(_globals_of(child))
        for statement in body:
            loaded = set(loaded_names(statement))
            for name in changed_names(statement):
                if name not in imported:
                    self.uses.setdefault(name, set()).update(loaded)
        own = {symbol.get_name() for symbol in table.get_symbols() if _is_bound(symbol)}
        own.update(name for statement in body for name in _inner_names(statement))
        free = {name for names in self.uses.values() for name in names}
        free.update(name for statement in body for name in loaded_names(statement))
        self._names = {name for name in free - own if not hasattr(builtins, name)}
        self._names |= python_names & free
        self._names.update(name for name, is_provided in imported.items() if not is_provided)
        self._follow()

    def _follow(self) -> None:
        """Add the names that are made of names of the program."""
        users: dict[str, set[str]] = {}
        for user, names in self.uses.items():
            for name in names:
                users.setdefault(name, set()).add(user)
        waiting = list(self._names)
        while waiting:
            found = users.get(waiting.pop(), set()) - self._names
            self._names |= found
            waiting += found

    def includes(self, node: ast.AST) -> bool:
        """Whether code reaches the program."""
        return not self._names.isdisjoint(loaded_names(node))


def loaded_names(node: ast.AST) -> Iterator[str]:
    """Names that code reads where it stands: of a definition only what is evaluated at once."""
    if isinstance(node, _DEFINITIONS):
        parts: list[ast.AST] = [*node.decorator_list]
        parts += [*node.bases, *node.keywords] if isinstance(node, ast.ClassDef) else [node.args]
    else:
        parts = [node]
    for part in parts:
        for inner in walk(part):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
                yield inner.id


def changed_names(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds, or whose objects it may change."""
    if isinstance(statement, _DEFINITIONS):
        yield statement.name
        return
    for node in walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name):
            yield node.value.id


def _inner_names(statement: ast.stmt) -> Iterator[str]:
    """Names of the comprehensions and lambdas in a statement that is no definition."""
    if not isinstance(statement, _DEFINITIONS):
        for node in walk(statement):
            if isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _imports(body: Iterable[ast.stmt]) -> Iterator[tuple[str, bool]]:
    """Names that imports bind, and whether the sandbox provides their packages."""
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    package = alias.name.partition(".")[0]
                    yield alias.asname or package, package in KNOWN_PACKAGES
            elif isinstance(node, ast.ImportFrom):
                package = (node.module or "").partition(".")[0]
                for alias in node.names:
                    yield alias.asname or alias.name, package in KNOWN_PACKAGES


def _globals_of(table: symtable.SymbolTable) -> Iterator[str]:
    """Names of the module that a function or class, or one inside it, reads."""
    for symbol in table.get_symbols():
        if symbol.is_global() and symbol.is_referenced():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals_of(child)


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
