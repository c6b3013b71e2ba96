"""The tree as its checks read it: modules, their docstrings, functions and types.

Each file is parsed once, and what the checks ask of it is kept instead of its syntax.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = tuple(
    sorted(
        folder.name
        for folder in ROOT.iterdir()
        if (folder / "__init__.py").exists() and folder.name not in ("tests", "benchmarks")
    )
)
"""Packages that are installed."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Block = ast.Module | ast.ClassDef | FunctionNode


@dataclass(frozen=True)
class Function:
    """One function of a module, or a method."""

    name: str
    line: int
    num_lines: int


@dataclass(frozen=True)
class Module:
    """One file of a package."""

    path: Path
    functions: tuple[Function, ...]
    docstrings: tuple[tuple[int, str], ...]
    """Line and text of every string that documents a module, class, function or name."""
    public_types: tuple[str, ...]
    """Names of classes and of aliases such as `Judge = Callable[...]`."""

    @property
    def place(self) -> str:
        return str(self.path.relative_to(ROOT))


@cache
def modules(package: str) -> tuple[Module, ...]:
    """The modules of a folder; programs that tests run lie in folders that are no packages."""
    files = sorted((ROOT / package).rglob("*.py"))
    return tuple(_read(path) for path in files if (path.parent / "__init__.py").exists())


def _read(path: Path) -> Module:
    tree = ast.parse(path.read_text())
    blocks = list(_blocks(tree))
    return Module(
        path,
        functions=tuple(
            Function(block.name, block.lineno, (block.end_lineno or 0) - block.lineno + 1)
            for block in blocks
            if isinstance(block, FunctionNode)
        ),
        docstrings=tuple(found for block in blocks for found in _docstrings(block)),
        public_types=tuple(_public_types(tree)),
    )


def _blocks(node: ast.AST) -> Iterator[Block]:
    """The module, its classes and functions, and those within them."""
    if isinstance(node, Block):
        yield node
    # An expression holds no statements, so no class and no function.
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from _blocks(child)


def _docstrings(block: Block) -> Iterator[tuple[int, str]]:
    for statement in block.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            text = statement.value.value
            if isinstance(text, str):
                yield statement.lineno, text


def _public_types(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        name = None
        if isinstance(node, ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        if name and name[0].isupper() and not name.isupper() and len(name) > 1:
            yield name
