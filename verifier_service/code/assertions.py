"""Test code as text, read before any of it is run.

The text says which names the program has to provide, which statements are tests, and why some test
code cannot be run in another process than the program.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import sys
from collections import deque
from collections.abc import Iterator
from typing import TypeGuard

FOREIGN_PACKAGES = frozenset(
    {
        *("PIL", "bs4", "cv2", "django", "faker", "fastapi", "flask", "freezegun"),
        *("hypothesis", "keras", "lxml", "matplotlib", "mock", "nltk", "nose", "pandas"),
        *("parameterized", "psutil", "pydantic", "pytest", "requests", "requests_mock"),
        *("scipy", "seaborn", "sklearn", "sqlalchemy", "statsmodels", "tensorflow", "torch"),
        *("tqdm", "transformers", "yaml"),
    }
)
"""Packages that the sandbox lacks. A missing module that is not listed is taken for the program."""
_REDIRECTIONS = frozenset({"redirect_stdout", "redirect_stderr", "redirect_stdin"})
_STREAMS = frozenset({"stdin", "stdout", "stderr"})


class AssertionCode:
    """The code of tests of the type `asserts`.

    Raises:
        SyntaxError, ValueError: the code is not Python.
    """

    def __init__(self, code: str) -> None:
        self._tree = ast.parse(code)
        self._nodes = list(ast.walk(self._tree))

    @property
    def body(self) -> list[ast.stmt]:
        """The statements at the top."""
        return self._tree.body

    def add_call(self, name: str, argument: str) -> ast.Call:
        """Append a call of a function. Raises SyntaxError: the argument is no expression."""
        call = ast.Call(ast.Name(name, ast.Load()), [ast.parse(argument, mode="eval").body], [])
        statement = ast.fix_missing_locations(ast.Expr(call))
        self._tree.body.append(statement)
        self._nodes += ast.walk(statement)
        return call

    def pass_to(self, call: ast.Call, argument: str) -> None:
        """Change the argument of a call that was added."""
        call.args = [ast.fix_missing_locations(ast.parse(argument, mode="eval").body)]
        self._nodes += ast.walk(call.args[0])

    def cannot_be_run_apart(self) -> str:
        """Why the code cannot be run in another process than the program; empty if it can."""
        why = self._unavailable_import() or self._reach_into_the_streams()
        if why:
            return why
        if self._awaits_the_program():
            return "it awaits what the program's process would have to run"
        changed = next(self._changed_arguments(), "")
        if changed:
            return f"it looks at what the program has changed in {changed}"
        for function in self._test_functions():
            if function.args.args or function.args.posonlyargs or function.args.kwonlyargs:
                return f"{function.name} has parameters, which are fixtures"
        return ""

    def _unavailable_import(self) -> str:
        for name in self.imported_modules():
            package = name.partition(".")[0]
            if package in FOREIGN_PACKAGES:
                return f"it imports {package}, which is not there"
            if name == "unittest.mock":
                return "it replaces objects of the program's process"
        return ""

    def _reach_into_the_streams(self) -> str:
        """How the code reads or replaces the standard streams of the program; empty if not."""
        for node in self._nodes:
            if isinstance(node, ast.Name | ast.Attribute) and _name(node) in _REDIRECTIONS:
                return "it redirects what the program prints"
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                owner = node.value
                if isinstance(owner, ast.Name) and owner.id == "sys" and node.attr in _STREAMS:
                    return f"it replaces sys.{node.attr} of the program's process"
        return ""

    def _awaits_the_program(self) -> bool:
        """Whether the code runs a coroutine that a function of the program has made."""
        names = self._names_of_the_program()
        return any(
            _is_call(inner, names)
            for node in self._nodes
            if isinstance(node, ast.Await) or _runs_a_coroutine(node)
            for inner in ast.walk(node)
        )

    def _changed_arguments(self) -> Iterator[str]:
        """Names of containers that the program is expected to change in place.

        Such a container is passed in a call whose result is not used, and is read next.
        """
        names = self._names_of_the_program()
        for body in self._bodies():
            scope = _Scope(body)
            for call in scope.statements:
                if _is_call(call.value, names):
                    passed = {
                        node.id for node in ast.iter_child_nodes(call.value) if _is_name(node)
                    }
                    yield from sorted(filter(lambda name: scope.reads_next(name, call), passed))

    def _bodies(self) -> Iterator[list[ast.stmt]]:
        yield self._tree.body
        for node in self._nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.body

    def _names_of_the_program(self) -> set[str]:
        """Names that nothing in the code defines: the program's, and those of parameters.

        A parameter may be a function of the program, as in `check(candidate)`.
        """
        imported = {
            alias.asname or alias.name
            for node in self._nodes
            if isinstance(node, ast.ImportFrom) and not _is_known(node)
            for alias in node.names
        }
        return imported.union(self.free_names()) - self._own_names()

    def _own_names(self) -> set[str]:
        """Names of functions and classes of the code, and names it imports of known packages.

        Inner functions are included. Methods are not: they are called through their object.
        """
        methods = {
            node for owner in self._nodes if isinstance(owner, ast.ClassDef) for node in owner.body
        }
        own = (
            node
            for node in self._nodes
            if isinstance(node, _DEFINITIONS)
            or (isinstance(node, ast.ImportFrom) and _is_known(node))
        )
        return {name for node in own if node not in methods for name in _defined_names(node)}

    def imported_modules(self) -> set[str]:
        """Names of imported modules; `from unittest import mock` also counts as `unittest.mock`."""
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
        """Names that the code uses and does not define, without those that Python has built in."""
        stored = {name for statement in self._tree.body for name in _defined_names(statement)}
        return sorted(name for name in self._loaded() - stored if not hasattr(builtins, name))

    def defines_uncalled_check(self) -> bool:
        """Whether the code defines HumanEval's `check(candidate)` and does not call it."""
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
        """Functions named `test...` that the code does not call itself."""
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


KNOWN_PACKAGES = sys.stdlib_module_names | {"mpmath", "numpy", "sympy"}
"""Packages that the sandbox provides."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CONTAINERS = frozenset(
    {"list", "dict", "set", "bytearray", "deque", "Counter", "OrderedDict", "defaultdict"}
)
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_EXPECT_ERRORS = frozenset({"assertRaises", "assertRaisesRegex", "raises", "suppress"})


class _Scope:
    """Uses of names in the statements of a body, without inner functions and classes."""

    def __init__(self, body: list[ast.stmt]) -> None:
        self.statements: list[ast.Expr] = []
        """Statements that are an expression only, without those that are expected to raise."""
        self._containers: set[str] = set()
        self._uses: dict[str, list[tuple[int, int, bool]]] = {}
        """Uses of each name, in order: line, column, whether the name is read."""
        waiting: deque[tuple[ast.AST, bool]] = deque((node, False) for node in body)
        while waiting:
            node, fails = waiting.popleft()
            self._see(node, fails=fails)
            if not isinstance(node, _DEFINITIONS):
                fails = fails or _expects_errors(node)
                waiting += ((child, fails) for child in ast.iter_child_nodes(node))
        for uses in self._uses.values():
            uses.sort()

    def _see(self, node: ast.AST, *, fails: bool) -> None:
        if isinstance(node, ast.Name):
            use = node.lineno, node.col_offset, isinstance(node.ctx, ast.Load)
            self._uses.setdefault(node.id, []).append(use)
        elif isinstance(node, ast.Assign) and _makes_a_container(node.value):
            self._containers |= {target.id for target in node.targets if _is_name(target)}
        elif isinstance(node, ast.Expr) and not fails:
            self.statements.append(node)

    def reads_next(self, name: str, after: ast.Expr) -> bool:
        """Whether the name is a container's, and is read next after the statement, not assigned."""
        uses = self._uses.get(name, [])
        index = bisect.bisect(uses, (after.end_lineno or 0, after.end_col_offset or 0, False))
        return name in self._containers and index < len(uses) and uses[index][2]


def _is_known(node: ast.ImportFrom) -> bool:
    return (node.module or "").partition(".")[0] in KNOWN_PACKAGES


def _makes_a_container(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        return _name(node.func) in _CONTAINERS
    return isinstance(node, _DISPLAYS)


def _expects_errors(node: ast.AST) -> bool:
    if isinstance(node, ast.Try):
        return True
    calls = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name | ast.Attribute)
        and _name(call.func) in _EXPECT_ERRORS
        for call in calls
    )


def _runs_a_coroutine(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    owner, name = node.func.value, node.func.attr
    return name == "run_until_complete" or (
        name == "run" and _is_name(owner) and owner.id == "asyncio"
    )


def _is_call(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and _is_name(node.func) and node.func.id in names


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _defined_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, _DEFINITIONS):
        yield node.name
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.alias):
            yield (inner.asname or inner.name).partition(".")[0]
