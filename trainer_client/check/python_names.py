"""The names that a Python file defines, from its text: nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions whose names are their own."""


def defined_names(source: bytes) -> set[str]:
    """The names of a module; with `*` where it may have others, which only running it would tell.

    Raises:
        SyntaxError: the source is not Python.
        ValueError: it has a null byte.

    >>> sorted(defined_names(b"import a.b as c\\nif c:\\n    d = e = 1\\nclass F: g = 1"))
    ['F', 'c', 'd', 'e']
    """
    return set(_names(ast.parse(source)))


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield "*" if child.name == "__getattr__" else child.name
            case ast.Import() | ast.ImportFrom():
                yield from (one.asname or one.name.partition(".")[0] for one in child.names)
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Name(id="globals" | "vars" | "exec"):
                yield "*"
            case _ if not isinstance(child, _SCOPES):
                yield from _names(child)
