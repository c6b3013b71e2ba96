"""Test code as text: what it needs, and what is a test in it, before any of it is run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

FOREIGN_PACKAGES = frozenset(
    {
        *("PIL", "bs4", "cv2", "django", "faker", "fastapi", "flask", "freezegun"),
        *("hypothesis", "keras", "lxml", "matplotlib", "mock", "nltk", "nose", "pandas"),
        *("parameterized", "psutil", "pydantic", "pytest", "requests", "requests_mock"),
        *("scipy", "seaborn", "sklearn", "sqlalchemy", "statsmodels", "tensorflow", "torch"),
        *("tqdm", "transformers", "yaml"),
    }
)
"""Packages that the sandbox does not have, so that they are not taken for the program."""
_REDIRECTIONS = frozenset({"redirect_stdout", "redirect_stderr", "redirect_stdin"})
_STREAMS = frozenset({"stdin", "stdout", "stderr"})


class TestSource:
    """Test code.

    Raises:
        SyntaxError, ValueError: it is not Python.
    """

    __test__ = False  # for pytest, which takes it for a test by its name

    def __init__(self, code: str) -> None:
        self._tree = ast.parse(code)
        self._nodes = list(ast.walk(self._tree))

    def parts(self) -> Iterator[ast.Module]:
        """The statements one by one: each assertion is a test of its own."""
        for statement in self._tree.body:
            yield ast.Module([statement], [])

    def add_call(self, name: str, argument: str) -> None:
        """Call a function at the end. Raises SyntaxError: the argument is no expression."""
        call = ast.Call(ast.Name(name, ast.Load()), [ast.parse(argument, mode="eval").body], [])
        statement = ast.fix_missing_locations(ast.Expr(call))
        self._tree.body.append(statement)
        self._nodes += ast.walk(statement)

    def cannot_be_run_apart(self) -> str:
        """Why it cannot be run in another process than the program; empty if it may be."""
        for name in self.imported_modules():
            package = name.partition(".")[0]
            if package in FOREIGN_PACKAGES:
                return f"it imports {package}, which is not there"
            if name == "unittest.mock":
                return "it replaces objects of the program's process"
        for node in self._nodes:
            if isinstance(node, ast.Name | ast.Attribute) and _name(node) in _REDIRECTIONS:
                return "it redirects what the program prints"
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                owner = node.value
                if isinstance(owner, ast.Name) and owner.id == "sys" and node.attr in _STREAMS:
                    return f"it replaces sys.{node.attr} of the program's process"
        for function in self._test_functions():
            if function.args.args or function.args.posonlyargs or function.args.kwonlyargs:
                return f"{function.name} has parameters, which are fixtures"
        return ""

    def imported_modules(self) -> set[str]:
        """The modules that it imports, and what may be one: `a.b` for `from a import b`."""
        names = set()
        for node in self._nodes:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
                if node.module == "unittest":
                    names |= {f"unittest.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
        return names

    def free_names(self) -> list[str]:
        """Names that it uses and neither defines nor has built in."""
        stored = {name for statement in self._tree.body for name in _defined_names(statement)}
        return sorted(name for name in self._loaded() - stored if not hasattr(builtins, name))

    def defines_uncalled_check(self) -> bool:
        """Whether there is HumanEval's `check(candidate)`, and nothing that calls it."""
        body = self._tree.body
        defined = any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in body)
        called = any(
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id == "check"
            for node in body
        )
        return defined and not called

    def test_functions(self) -> list[str]:
        """Names of functions that pytest would run."""
        return [function.name for function in self._test_functions()]

    def _test_functions(self) -> list[ast.FunctionDef]:
        """Those that it does not call itself."""
        loaded = self._loaded()
        return [
            node
            for node in self._tree.body
            if isinstance(node, ast.FunctionDef)
            and node.name.startswith("test")
            and node.name not in loaded
        ]

    def _loaded(self) -> set[str]:
        return {
            node.id
            for node in self._nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _defined_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.alias):
            yield (inner.asname or inner.name).partition(".")[0]
