"""Literals that test code evaluates, as in `exec("assert f(1) == 1")`, read from its text.

The judge asks the program for the names that the test code itself uses. A name that is in a literal
alone would be missing, whatever the program is.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator, Mapping, Sequence

_EVALUATORS = frozenset({"exec", "eval", "compile"})


def missing_name(nodes: Sequence[ast.AST]) -> str:
    """A name that an evaluated literal uses and nothing provides; empty if there is none.

    Args:
        nodes: all nodes of the test code.
    """
    evaluating = [node for node in nodes if isinstance(node, ast.Call) and _evaluates(node)]
    if not evaluating:
        return ""
    known = {name for node in nodes for name in _names(node)}
    values: dict[str, list[ast.expr]] = {}
    for node in nodes:
        for name, value in _values(node):
            values.setdefault(name, []).append(value)
    found: set[str] = set()
    for node in evaluating:
        for text in _texts(node.args[0], values):
            used, bound = _names_of_text(text)
            found |= used
            known |= bound
    return min(
        (name for name in found - known if not (hasattr(builtins, name) or name.startswith("__"))),
        default="",
    )


def _names(node: ast.AST) -> Iterator[str]:
    """Names that a node uses or binds. Each text may be one: a key of a namespace."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def _evaluates(call: ast.Call) -> bool:
    """Whether a call evaluates text with the names of the test code."""
    if not (isinstance(call.func, ast.Name) and call.func.id in _EVALUATORS and call.args):
        return False
    if call.func.id == "compile":
        return True
    return not call.keywords and all(map(_is_own_namespace, call.args[1:]))


def _is_own_namespace(node: ast.expr) -> bool:
    return ast.unparse(node) in ("globals()", "locals()")


def _values(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names, and what code assigns to them or gives them in a loop over what it writes out."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        target, iterable = node.target, node.iter
        if isinstance(target, ast.Name) and isinstance(iterable, ast.List | ast.Tuple):
            yield from ((target.id, value) for value in iterable.elts)


def _texts(node: ast.expr, values: Mapping[str, Sequence[ast.expr]]) -> Iterator[str]:
    """The text that a literal is, or those to which a name is bound."""
    for one in values.get(node.id, ()) if isinstance(node, ast.Name) else [node]:
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value
        elif isinstance(one, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "0" for part in one.values)
            yield "".join(map(str, parts))


def _names_of_text(text: str) -> tuple[set[str], set[str]]:
    """Names that code in a text takes from outside, and those that it binds; none if it has errors.

    >>> _names_of_text("def g(x): return f(x)\\nassert g(1) == 1") == ({"f"}, {"g"})
    True
    """
    try:
        table = symtable.symtable(text.strip(), "text", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(), set()
    bound = {one.get_name() for one in table.get_symbols() if _is_bound(one)}
    return set(_outer_names(table)) - bound, bound


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()


def _outer_names(table: symtable.SymbolTable) -> Iterator[str]:
    is_top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (is_top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _outer_names(child)
