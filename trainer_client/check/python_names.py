"""The names that a Python file defines and what they take, from its text: nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Parameters:
    """The names that a function, or a class that is called, takes its arguments by."""

    names: frozenset[str]
    required: frozenset[str]
    takes_all: bool
    """Whether it has `**columns`."""


def parameters_of(source: bytes, name: str) -> Parameters | None:
    """The parameters of a function or class of a module.

    None where only running it would tell: it is imported, decorated, defined twice, or of a class
    with bases.

    Raises:
        SyntaxError: the source is not Python.
        ValueError: it has a null byte.

    >>> sorted(parameters_of(b"def f(completions, answer, limit=3): pass", "f").required)
    ['answer', 'completions']
    """
    tree = ast.parse(source)
    stored = [one for one in _names(tree) if one == name]
    defined = [one for one in tree.body if getattr(one, "name", None) == name]
    if len(stored) != 1 or len(defined) != 1 or getattr(defined[0], "decorator_list", None):
        return None
    match defined[0]:
        case ast.FunctionDef() | ast.AsyncFunctionDef() as function:
            return _taken(function.args)
        case ast.ClassDef(bases=[], keywords=[]) as one:
            return _taken_by_class(one)
    return None


def _taken_by_class(one: ast.ClassDef) -> Parameters | None:
    """The parameters of `__init__`, without the object itself."""
    methods = [part for part in one.body if isinstance(part, ast.FunctionDef)]
    found = [part for part in methods if part.name in ("__init__", "__new__")]
    if not found:
        return Parameters(frozenset(), frozenset(), takes_all=False)
    if len(found) > 1 or found[0].name == "__new__" or found[0].decorator_list:
        return None
    taken = _taken(found[0].args)
    own = {part.arg for part in found[0].args.args[:1]}
    return taken and Parameters(taken.names - own, taken.required - own, taken.takes_all)


def _taken(arguments: ast.arguments) -> Parameters | None:
    """The parameters; None where one cannot be given by its name."""
    if arguments.posonlyargs:
        return None
    names = [one.arg for one in arguments.args]
    keywords = [one.arg for one in arguments.kwonlyargs]
    required = names[: len(names) - len(arguments.defaults)]
    required += [
        one for one, value in zip(keywords, arguments.kw_defaults, strict=True) if value is None
    ]
    return Parameters(
        frozenset(names + keywords), frozenset(required), takes_all=arguments.kwarg is not None
    )
