"""Names that test code uses as exceptions: whose objects the judge may make itself."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress"})
_COMPARING = frozenset({"isinstance", "issubclass", "assertIsInstance", "assertNotIsInstance"})


def exception_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Names in `except X`, `raises(X)`, `isinstance(e, X)`, `raise X(...)` and their like.

    The name of `module.X` is `X`.
    """
    return frozenset(
        name for node in nodes for used in _exceptions(node) for name in _class_names(used)
    )


def _exceptions(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions in a node that have to be exceptions, or tuples of them."""
    if isinstance(node, ast.ExceptHandler) and node.type is not None:
        yield node.type
    elif isinstance(node, ast.Raise):
        for raised in filter(None, (node.exc, node.cause)):
            yield raised.func if isinstance(raised, ast.Call) else raised
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if name in _EXPECTING:
            yield from node.args[:1]
        elif name in _COMPARING and len(node.args) > 1:
            made, kind = node.args[:2]
            yield kind
            if any(map(_is_built_in_exception, _class_names(kind))):
                yield made.func if isinstance(made, ast.Call) else made


def _is_built_in_exception(name: str) -> bool:
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)


def _class_names(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Tuple):
        for item in node.elts:
            yield from _class_names(item)
