"""Classes of test code whose objects cross to the program by value, found by text alone.

Test code gives a function such as `max_depth(root)` nodes of a class of its own, as LeetCode's
problems do. Where the class does no more than keep values, an object of it is these values, and the
program is given the class to make it again. A class that does more could hold the answers: its
source is given to no program, and its objects are not passed.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"})
_SHOWN_AS = frozenset({"__repr__", "__str__"})
_CONTAINERS = frozenset({"list", "dict", "set", "tuple", "frozenset"})
_PLAIN_VALUES = (
    *(ast.Name, ast.Constant, ast.List, ast.Dict, ast.Set, ast.Tuple, ast.IfExp, ast.BoolOp),
    *(ast.Compare, ast.Call, ast.expr_context, ast.boolop, ast.cmpop),
)
"""Expressions that an `__init__` may assign: arguments, or defaults in their place."""
# A class at the top without bases: `class Node:`, `class Node(object):`.
_CLASS = re.compile(r"^class\s+\w+\s*(\(\s*(object)?\s*\)\s*)?:", re.MULTILINE)
_PRELUDE = "from __future__ import annotations\nfrom dataclasses import dataclass, field\n"


@dataclass(frozen=True)
class RecordClass:
    """A class whose objects are no more than the values of their fields."""

    fields: frozenset[str]
    """Names of the fields that the text of the class shows."""
    source: str
    """Source of the class as a program gets it."""


def may_have_records(code: str) -> bool:
    """Whether test code may have such classes: always where it has. Decided without parsing it."""
    return _CLASS.search(code) is not None


def record_classes(body: list[ast.stmt]) -> Mapping[str, RecordClass]:
    """The classes at the top of test code whose objects cross by value, by name."""
    bound = [name for statement in body for name in _bound_names(statement)]
    classes = {
        one.name: one
        for one in body
        if isinstance(one, ast.ClassDef) and bound.count(one.name) == 1 and _keeps_values(one)
    }
    found = {}
    for name, node in classes.items():
        given = _given(node, set(classes))
        if given is not None:
            found[name] = RecordClass(frozenset(_fields(node)), ast.unparse(given))
    return found


def given_source(records: Mapping[str, RecordClass]) -> str:
    """Source that defines the classes, for the program's process."""
    return _PRELUDE + "\n".join(one.source for one in records.values())


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name


def _keeps_values(node: ast.ClassDef) -> bool:
    """Whether a class has no bases, keeps values, and has no methods but special ones."""
    if node.keywords or any(ast.unparse(base) != "object" for base in node.bases):
        return False
    if not all(_is_dataclass(one) for one in node.decorator_list):
        return False
    for one in node.body:
        if isinstance(one, ast.FunctionDef):
            if one.name not in {"__init__", *COMPARISONS, *_SHOWN_AS} or one.decorator_list:
                return False
        elif isinstance(one, ast.AnnAssign):
            is_field = isinstance(one.target, ast.Name) and bool(node.decorator_list)
            if not is_field or not (one.value is None or _is_default(one.value)):
                return False
        elif not (isinstance(one, ast.Pass) or _is_text(one) or _is_slots(one)):
            return False
    return True


def _is_dataclass(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    if ast.unparse(named) not in ("dataclass", "dataclasses.dataclass"):
        return False
    options = decorator.keywords if isinstance(decorator, ast.Call) else []
    return all(isinstance(one.value, ast.Constant) for one in options)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_slots(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and [
        ast.unparse(one) for one in statement.targets
    ] == ["__slots__"]


def _is_default(value: ast.expr) -> bool:
    """Whether it is a value that tells nothing: zero, one, empty, or `field(default_factory=list)`.

    An `__init__` with other values in it, or one that computes, could hold answers.
    """
    if isinstance(value, ast.Call):
        parts = [*value.args, *(keyword.value for keyword in value.keywords)]
        return ast.unparse(value.func) in {"field", *_CONTAINERS} and all(map(_is_default, parts))
    for node in ast.walk(value):
        if not isinstance(node, _PLAIN_VALUES) or (
            isinstance(node, ast.Call) and ast.unparse(node.func) not in _CONTAINERS
        ):
            is_negative = isinstance(node, ast.UnaryOp | ast.USub)
            if not is_negative:
                return False
        if isinstance(node, ast.Constant) and node.value not in (None, True, False, 0, 1, "", 0.0):
            return False
    return True


def _given(node: ast.ClassDef, records: Set[str]) -> ast.ClassDef | None:
    """The class without annotations and texts; None if it does more than keep values."""
    body: list[ast.stmt] = []
    for one in node.body:
        if isinstance(one, ast.FunctionDef):
            if one.name == "__init__" and not _only_assigns(one):
                return None
            if one.name in _SHOWN_AS:
                continue
            if one.name in COMPARISONS and not _only_compares(one, records):
                return None
            body.append(_without_annotations(one))
        elif isinstance(one, ast.AnnAssign):
            body.append(ast.AnnAssign(one.target, ast.Name("object"), one.value, one.simple))
        elif not _is_text(one):
            body.append(one)
    found = ast.ClassDef(
        name=node.name,
        bases=[],
        keywords=[],
        body=body or [ast.Pass()],
        decorator_list=[_decorator(one) for one in node.decorator_list],
    )
    return ast.fix_missing_locations(found)


def _decorator(node: ast.expr) -> ast.expr:
    name = ast.Name("dataclass")
    return ast.Call(name, [], node.keywords) if isinstance(node, ast.Call) else name


def _only_assigns(function: ast.FunctionDef) -> bool:
    """Whether an `__init__` only puts its arguments, or defaults, into attributes."""
    arguments = function.args
    defaults = [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]
    names = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return (
        arguments.vararg is None
        and arguments.kwarg is None
        and all(map(_is_default, defaults))
        and all(_is_plain_statement(one, names) for one in function.body)
    )


def _is_plain_statement(statement: ast.stmt, names: Set[str]) -> bool:
    if isinstance(statement, ast.Pass) or _is_text(statement):
        return True
    if isinstance(statement, ast.If):
        inner = (*statement.body, *statement.orelse)
        return _is_plain(statement.test, names) and all(
            _is_plain_statement(one, names) for one in inner
        )
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    else:
        return False
    assert statement.value is not None
    return _is_plain(statement.value, names) and all(_is_target(one, names) for one in targets)


def _is_target(node: ast.expr, names: Set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "self"
    if isinstance(node, ast.Tuple):
        return all(_is_target(one, names) for one in node.elts)
    return isinstance(node, ast.Name) and node.id in names


def _is_plain(value: ast.expr, names: Set[str]) -> bool:
    used = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return _is_default(value) and used <= {*names, *_CONTAINERS}


def _only_compares(function: ast.FunctionDef, records: Set[str]) -> bool:
    """Whether a comparison uses nothing but its operands."""
    own = {one.arg for one in function.args.args}
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                own.add(node.id)
        elif isinstance(node, ast.Constant) and node.value not in (None, True, False, 0, 1):
            return False
    used = {
        node.id for node in ast.walk(_without_annotations(function)) if isinstance(node, ast.Name)
    }
    return all(name in own or name in records or hasattr(builtins, name) for name in used)


def _without_annotations(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function without texts and without annotations, which may name what is nowhere."""
    arguments = function.args
    body: list[ast.stmt] = []
    for one in function.body:
        if isinstance(one, ast.AnnAssign) and one.value is not None:
            body.append(ast.Assign([one.target], one.value))
        elif not _is_text(one):
            body.append(one)
    plain = ast.arguments(
        posonlyargs=[ast.arg(one.arg) for one in arguments.posonlyargs],
        args=[ast.arg(one.arg) for one in arguments.args],
        kwonlyargs=[ast.arg(one.arg) for one in arguments.kwonlyargs],
        defaults=arguments.defaults,
        kw_defaults=arguments.kw_defaults,
    )
    found = ast.FunctionDef(function.name, plain, body or [ast.Pass()], [])
    return ast.fix_missing_locations(found)


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            yield inner.attr
        elif isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
            yield inner.target.id
