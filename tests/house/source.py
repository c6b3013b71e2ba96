"""The tree as its checks read it: modules, their docstrings, functions and types."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True)
class Module:
    """One file of a package."""

    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text())

    @property
    def place(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def functions(self) -> Iterator[FunctionNode]:
        return (node for node in ast.walk(self.tree) if isinstance(node, FunctionNode))

    @property
    def docstrings(self) -> Iterator[tuple[int, str]]:
        """Line and text of every string that documents a module, class, function or name."""
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Module | ast.ClassDef | FunctionNode):
                continue
            for statement in node.body:
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    text = statement.value.value
                    if isinstance(text, str):
                        yield statement.lineno, text

    @property
    def public_types(self) -> Iterator[str]:
        """Names of classes and of aliases such as `Judge = Callable[...]`."""
        for node in self.tree.body:
            name = None
            if isinstance(node, ast.ClassDef):
                name = node.name
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
            if name and name[0].isupper() and not name.isupper() and len(name) > 1:
                yield name


def modules(package: str) -> list[Module]:
    """The modules of a folder; programs that tests run lie in folders that are no packages."""
    files = sorted((ROOT / package).rglob("*.py"))
    return [Module(path) for path in files if (path.parent / "__init__.py").exists()]
