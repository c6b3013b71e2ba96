"""Skips in test code that are the same for every program."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from verifier_service.code.program_reach import ProgramReach, loaded_names
from verifier_service.code.syntax_tree import walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def is_skip(node: ast.AST) -> bool:
    """Whether it is `self.skipTest(...)` or `raise unittest.SkipTest(...)`."""
    if isinstance(node, ast.Raise):
        return node.exc is not None and called_name(node.exc) == "SkipTest"
    return isinstance(node, ast.Call) and called_name(node) == "skipTest"


def called_name(node: ast.expr) -> str:
    """`skip` for `unittest.skip("later")`, `unittest.skip` and `skip`; empty for other things."""
    node = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def skips_by_itself(function: FunctionNode, reach: ProgramReach) -> bool:
    """Whether no program decides about the skips of a function, if there are any."""
    if any(map(reach.includes, function.decorator_list)):
        return False
    own = {node.arg for node in walk(function) if isinstance(node, ast.arg)}
    for node in walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
    return _by_itself(function.body, own, reach)


def _by_itself(body: Sequence[ast.stmt], own: set[str], reach: ProgramReach) -> bool:
    for statement in body:
        if not any(map(is_skip, walk(statement))):
            continue
        if isinstance(statement, ast.If):
            if not _is_fixed(statement.test, own, reach):
                return False
            if not _by_itself([*statement.body, *statement.orelse], own, reach):
                return False
        elif not is_skip(statement.value if isinstance(statement, ast.Expr) else statement):
            return False  # in a loop or a `try`, which the program may bring to it
    return True


def _is_fixed(condition: ast.expr, own: Iterable[str], reach: ProgramReach) -> bool:
    """Whether a condition is the same for every program.

    `cls is Base` is: the idiom that skips the tests of a class that others derive from.
    """
    if isinstance(condition, ast.Compare) and isinstance(condition.ops[0], ast.Is):
        sides = [condition.left, *condition.comparators]
        if all(isinstance(side, ast.Name) for side in sides) and "cls" in loaded_names(condition):
            return True
    return not reach.includes(condition) and set(own).isdisjoint(loaded_names(condition))
