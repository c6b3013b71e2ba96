"""Test code that no program fails: its tests have no assertion, no call and nothing else to do.

    def check(candidate):
        pass

Every program would pass it, and be paid. Code of this kind comes from generated data sets.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

_IDLE = (
    ast.Module,
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arguments, ast.arg, ast.Lambda),
    *(ast.Import, ast.ImportFrom, ast.alias),
    *(ast.Pass, ast.Expr, ast.Return, ast.Assign, ast.AnnAssign, ast.If),
    *(ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.cmpop, ast.expr_context),
    *(ast.List, ast.Tuple, ast.Dict, ast.Set),
)
"""Nodes that ask nothing of a program. A name that it lacks is found out, and no more."""


def can_fail(nodes: Iterable[ast.AST]) -> bool:
    """Whether a program could fail test code with these nodes, all that there are.

    >>> [can_fail(ast.walk(ast.parse(text))) for text in ("check(f)", "check(f(1))", "assert f")]
    [True, True, True]
    >>> can_fail(ast.walk(ast.parse("def check(f):\\n    assert True\\ncheck(f)")))
    False
    """
    found = list(nodes)
    methods = {one for node in found if isinstance(node, ast.ClassDef) for one in node.body}
    own = {node.name for node in found if isinstance(node, _DEFINITIONS) and node not in methods}
    return any(not isinstance(node, _IDLE) and not _is_idle(node, own) for node in found)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _is_idle(node: ast.AST, own: set[str]) -> bool:
    """Whether it is an assertion of a constant, a call of the tests' own or `unittest.main()`."""
    match node:
        case ast.Assert(test=ast.Constant(value=value)):
            return bool(value)
        case ast.Call(func=ast.Name(id=name)):
            return name in own
        case ast.Call(func=ast.Attribute(value=ast.Name(id="unittest"), attr="main")):
            return True
    return False
