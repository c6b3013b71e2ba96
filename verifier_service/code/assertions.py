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
from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from typing import TypeGuard

from verifier_service.code.empty_tests import can_fail
from verifier_service.code.evaluated_literals import missing_name
from verifier_service.code.exception_names import exception_names
from verifier_service.code.name_origins import names_of_the_judge, tested_builtins
from verifier_service.code.object_uses import ObjectUses, object_uses
from verifier_service.code.records_in_text import record_classes
from verifier_service.code.result_uses import ResultUses
from verifier_service.code.syntax_tree import children, inner_nodes, walk
from verifier_service.code.usual_names import INSTALLED, PROGRAM_MODULES, UsualName, is_there
from verifier_service.code.value_flow import ValueFlow

ENTRY = "__entry__"
"""Name of the entry point in an added call, where its own name means Python's in the code."""
_OF_NAMESPACE = frozenset({"__builtins__", "__file__"})
_REDIRECTIONS = frozenset({"redirect_stdout", "redirect_stderr", "redirect_stdin"})
_STREAMS = frozenset({"stdin", "stdout", "stderr"})


class AssertionCode:
    """The code of tests of the type `asserts`.

    Args:
        code: the code.
        entry_point: function that the tests are about; empty if it is not known.
        module: module that the code imports the program from, besides `PROGRAM_MODULES`.

    Raises:
        SyntaxError, ValueError: the code is not Python.
    """

    def __init__(self, code: str, *, entry_point: str = "", module: str = "") -> None:
        # `Solution().two_sum` has two names of the program.
        self._entry_names = frozenset(entry_point.replace("()", "").split(".")) - {""}
        self._program_modules = PROGRAM_MODULES | self._entry_names | {module.partition(".")[0]}
        self._tree = ast.parse(code)
        self._nodes = walk(self._tree)
        self._inner = inner_nodes(self._nodes)
        self._entry_point = entry_point
        self.records = record_classes(self._tree.body)
        """Classes of the code whose objects cross by value, by name."""
        self.python_names = self._find_python_names()
        """Names of functions of Python, such as `sum`, that are the program's in this code."""
        self.judges_names: Mapping[str, UsualName] = names_of_the_judge(
            self._tree, program=self._entry_names | set(self._imported_names())
        )
        """Names that nothing in the code defines and that mean something of Python's."""

    def _find_python_names(self) -> frozenset[str]:
        if not hasattr(builtins, self._entry_point):
            program = self._entry_names | set(self._imported_names())
            return tested_builtins(self._tree, program=program)
        # `check(candidate)` is called with the entry point, and its own `sum` is Python's, unless
        # it has no use for what it is called with.
        if not (self.defines_uncalled_check() and self._check_uses_what_it_is_given()):
            return frozenset({self._entry_point})
        for node in self._nodes:  # as in the `test_check` of MultiPL-E
            if _is_call(node, {"check"}):
                for argument in filter(_is_name, node.args):
                    argument.id = ENTRY if argument.id == self._entry_point else argument.id
        return frozenset()

    @property
    def entry_name(self) -> str:
        """The expression that stands for the entry point in code that is added."""
        is_builtin = hasattr(builtins, self._entry_point)
        return ENTRY if is_builtin and not self.python_names else self._entry_point

    def _imported_names(self) -> Iterator[str]:
        """Names that the code imports of the program, and names of its modules."""
        for node in self._inner:
            if isinstance(node, ast.ImportFrom) and not self._is_known(node):
                yield from (alias.asname or alias.name for alias in node.names)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    package = alias.name.partition(".")[0]
                    if self._is_of_program(package):
                        yield alias.asname or package

    @property
    def body(self) -> list[ast.stmt]:
        """The statements at the top."""
        return self._tree.body

    def add_call(self, name: str, argument: str) -> None:
        """Append a call of a function. Raises SyntaxError: the argument is no expression."""
        call = ast.Call(ast.Name(name, ast.Load()), [ast.parse(argument, mode="eval").body], [])
        statement = ast.fix_missing_locations(ast.Expr(call))
        self._tree.body.append(statement)
        self._nodes += walk(statement)
        self._inner += inner_nodes(walk(statement))

    def can_fail(self) -> bool:
        """Whether there is a program that fails the code."""
        return can_fail(self._nodes)

    def cannot_be_run_apart(self) -> str:
        """Why the code cannot be run in another process than the program; empty if it can."""
        why = self._unavailable_name() or self._reach_into_the_streams()
        if why:
            return why
        if self._awaits_the_program():
            return "it awaits what the program's process would have to run"
        changed = next(self._changed_arguments(), "")
        if changed:
            return f"it looks at what the program has changed in {changed}"
        if self.records and any(map(self._asks_for_identity, self._inner)):
            return "it asks whether a result is the same object as one of its own"
        missing = missing_name(self._nodes)
        if missing:
            return f"it evaluates a text with the name {missing}, which is in no other code"
        for function in self._test_functions():
            if function.args.args or function.args.posonlyargs or function.args.kwonlyargs:
                return f"{function.name} has parameters, which are fixtures"
        return self.object_uses.why_unsupported or self.result_uses.why_unsupported()

    @cached_property
    def object_uses(self) -> ObjectUses:
        """Uses of the program's objects by the code."""
        return object_uses(self.flow)

    @cached_property
    def result_uses(self) -> ResultUses:
        """Expressions of the code that the program's results reach."""
        names = self._names_of_the_program | self._modules_of_the_program()
        return ResultUses(self.flow, program_names=names)

    @cached_property
    def flow(self) -> ValueFlow:
        """Origins of the values of the code's expressions."""
        name = self._entry_point.rpartition(".")[2]
        is_called_by_judge = name and self.defines_uncalled_check()
        return ValueFlow(
            self._tree,
            program_names=self._names_of_the_program,
            program_modules=self._modules_of_the_program(),
            candidate=frozenset({name, f".{name}"} if is_called_by_judge else ()),
            records={name: one.fields for name, one in self.records.items()},
        )

    def _modules_of_the_program(self) -> set[str]:
        """Names under which the code imports the program, as in `import solution as s`."""
        return {
            (alias.asname or alias.name).partition(".")[0]
            for node in self._inner
            if isinstance(node, ast.Import)
            for alias in node.names
            if self._is_of_program(alias.name.partition(".")[0])
        }

    def _unavailable_name(self) -> str:
        """The import, or use without an import, of a module that tests do not find."""
        if any(isinstance(node, ast.ImportFrom) and node.level for node in self._inner):
            return "it imports relative to a package, and is in none"
        for name in sorted(self.imported_modules()):
            package = name.partition(".")[0]
            if package == "pytest":
                return "it imports pytest, whose fixtures and parametrize are not supported"
            if not self._is_of_program(package) and not is_there(package):
                return (
                    f"it imports {package}, which is not there; if that is the program, "
                    "tests.module has to say so"
                )
            if name == "unittest.mock":
                return "it replaces objects of the program's process"
        for name, usual in self.judges_names.items():
            if not is_there(usual.package):
                return f"it uses {name} of {usual.package}, which is not there"
        return ""

    def program_modules(self) -> list[str]:
        """Modules that the code imports and that stand for the program."""
        return [
            name for name in self.imported_modules() if self._is_of_program(name.partition(".")[0])
        ]

    def _is_of_program(self, package: str) -> bool:
        # An entry point may be called `queue`, and the module `queue` is Python's all the same.
        return package in self._program_modules and package not in KNOWN_PACKAGES

    def _is_known(self, node: ast.ImportFrom) -> bool:
        return not self._is_of_program((node.module or "").partition(".")[0])

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
        names = self._names_of_the_program
        return any(
            _is_call(inner, names)
            for node in self._inner
            if isinstance(node, ast.Await) or _runs_a_coroutine(node)
            for inner in walk(node)
        ) or any(
            self.flow.is_of_the_program(awaited)
            for node in self._inner
            for awaited in _awaited(node)
        )

    def _changed_arguments(self) -> Iterator[str]:
        """Names of containers that the program is expected to change in place.

        Such a container is passed in a call whose result is not used, and is read next.
        """
        names = self._names_of_the_program
        for body in self._bodies():
            scope = _Scope(body, set(self.records) and {*self.records, *self._own_names()})
            for call in scope.statements:
                if _is_call(call.value, names) or self._calls_a_solution(call.value):
                    passed = {node.id for node in children(call.value) if _is_name(node)}
                    yield from sorted(filter(lambda name: scope.reads_next(name, call), passed))

    def _calls_a_solution(self, node: ast.AST) -> bool:
        """Whether it is a call such as `Solution().rotate(values)`, or of a module's function."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            return False
        owner = node.func.value
        is_module = isinstance(owner, ast.Name) and owner.id in self._modules_of_the_program()
        return is_module or "Solution()" in self.flow.of(owner).itself

    def _asks_for_identity(self, node: ast.AST) -> bool:
        """Whether code asks if a result is an object of the tests, of which it is a copy."""
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            sides = [node.left, node.comparators[0]]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            sides = node.args[:2] if node.func.attr in ("assertIs", "assertIsNot") else []
        if any(isinstance(side, ast.Constant) for side in sides):
            return False
        are_results = {self.flow.is_of_the_program(side) for side in sides}
        return are_results == {True, False}

    def _bodies(self) -> Iterator[list[ast.stmt]]:
        yield self._tree.body
        for node in self._inner:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.body

    @cached_property
    def _names_of_the_program(self) -> set[str]:
        """Names that nothing in the code defines: the program's, and those of parameters.

        A parameter may be a function of the program, as in `check(candidate)`.
        """
        return {*self._imported_names(), *self.free_names()} - self._own_names()

    def _own_names(self) -> set[str]:
        """Names of functions and classes of the code, and names it imports of known packages.

        Inner functions are included. Methods are not: they are called through their object.
        """
        methods = {
            node for owner in self._inner if isinstance(owner, ast.ClassDef) for node in owner.body
        }
        own = (
            node
            for node in self._inner
            if isinstance(node, _DEFINITIONS)
            or (isinstance(node, ast.ImportFrom) and self._is_known(node))
        )
        return {name for node in own if node not in methods for name in _defined_names(node)}

    def imported_modules(self) -> set[str]:
        """Names of imported modules; `from unittest import mock` also counts as `unittest.mock`.

        A name in a call of `import_module` or `__import__` counts, if it is a literal.
        """
        names = set()
        for node in self._inner:
            if isinstance(node, ast.Call) and node.args and _imports_by_name(node):
                names |= {name for name in [_literal(node.args[0])] if name}
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
                if node.module == "unittest":
                    names |= {f"unittest.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
        return names

    def free_names(self) -> list[str]:
        """Names that the code uses and does not define, without those that mean Python's."""
        return sorted(
            name
            for name in self._loaded() - self.defined_names() - self.judges_names.keys()
            if (not hasattr(builtins, name) or name in self.python_names)
            and name not in _OF_NAMESPACE
            and name != ENTRY
        )

    def defined_names(self) -> set[str]:
        """Names that the statements at the top define."""
        return {name for statement in self._tree.body for name in _defined_names(statement)}

    def exception_names(self) -> frozenset[str]:
        """Names that the code uses as exceptions."""
        return exception_names(self._inner)

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

    def _check_uses_what_it_is_given(self) -> bool:
        (*_, check) = (
            node
            for node in self._tree.body
            if isinstance(node, ast.FunctionDef) and node.name == "check"
        )
        parameters = {node.arg for node in walk(check.args) if isinstance(node, ast.arg)}
        return any(isinstance(node, ast.Name) and node.id in parameters for node in walk(check))

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


KNOWN_PACKAGES = sys.stdlib_module_names | INSTALLED
"""Packages that the sandbox provides."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CONTAINERS = frozenset(
    {
        *("list", "dict", "set", "bytearray", "deque", "Counter", "OrderedDict", "defaultdict"),
        *("array", "asarray", "arange", "zeros", "ones", "full", "empty", "eye", "linspace"),
    }
)
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_EXPECT_ERRORS = frozenset({"assertRaises", "assertRaisesRegex", "raises", "suppress"})


class _Scope:
    """Uses of names in the statements of a body, without inner functions and classes."""

    def __init__(self, body: list[ast.stmt], makers: Set[str] = frozenset()) -> None:
        self._makers = makers
        """Names of functions and classes whose results count as containers."""
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
                waiting += ((child, fails) for child in children(node))
        for uses in self._uses.values():
            uses.sort()

    def _see(self, node: ast.AST, *, fails: bool) -> None:
        if isinstance(node, ast.Name):
            use = node.lineno, node.col_offset, isinstance(node.ctx, ast.Load)
            self._uses.setdefault(node.id, []).append(use)
        elif isinstance(node, ast.Assign) and _makes_a_container(node.value, self._makers):
            self._containers |= {target.id for target in node.targets if _is_name(target)}
        elif isinstance(node, ast.Expr) and not fails:
            self.statements.append(node)

    def reads_next(self, name: str, after: ast.Expr) -> bool:
        """Whether the name is a container's, and is read next after the statement, not assigned."""
        uses = self._uses.get(name, [])
        index = bisect.bisect(uses, (after.end_lineno or 0, after.end_col_offset or 0, False))
        return name in self._containers and index < len(uses) and uses[index][2]


def _imports_by_name(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name | ast.Attribute) and _name(call.func) in (
        "import_module",
        "__import__",
    )


def _literal(node: ast.expr) -> str:
    """The text of a literal; empty if it is none."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _makes_a_container(node: ast.expr, makers: Set[str]) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        return _name(node.func) in _CONTAINERS | makers
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


def _awaited(node: ast.AST) -> list[ast.expr]:
    """Expressions whose values the code runs as coroutines."""
    if isinstance(node, ast.Await):
        return [node.value]
    return node.args[:1] if isinstance(node, ast.Call) and _runs_a_coroutine(node) else []


def _is_call(node: ast.AST, names: set[str]) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and _is_name(node.func) and node.func.id in names


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _defined_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, _DEFINITIONS):
        yield node.name
        return
    for inner in walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.alias):
            yield (inner.asname or inner.name).partition(".")[0]
