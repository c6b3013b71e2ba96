"""Ways of the program's results through test code, read from its text.

A result is what the text computes from anything of the program. Code that evaluates text must never
get one: a program would then run its own code in the judge's process.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from functools import cached_property

from verifier_service.code.syntax_tree import children, walk
from verifier_service.code.value_flow import OWN, ValueFlow, called_name

Span = tuple[int | None, int | None, int | None, int | None]
"""A place in text: first line, last line, first column, last column, as `co_positions` has them."""
_EVALUATORS = {
    "builtins": frozenset({"eval", "exec", "compile", "__import__", "breakpoint"}),
    "numpy": frozenset({"load"}),
    "importlib": frozenset({"import_module", "__import__"}),
    "os": frozenset({"system", "popen", "execv", "execve", "spawnv", "posix_spawn"}),
    "typing": frozenset({"get_type_hints", "ForwardRef"}),
    "inspect": frozenset({"get_annotations"}),
    "pkgutil": frozenset({"resolve_name"}),
    "pydoc": frozenset({"locate", "resolve", "importfile"}),
    "types": frozenset({"FunctionType", "CodeType"}),
    "operator": frozenset({"attrgetter", "methodcaller"}),
}
"""Functions that run code, load objects or find names by text or bytes, by module."""
_EVALUATING_MODULES = frozenset(
    {
        *("pickle", "_pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"),
        *("yaml", "sympy", "code", "codeop", "runpy", "timeit", "doctest", "pdb", "bdb", "trace"),
        *("cProfile", "profile", "subprocess", "ctypes", "logging", "zipimport", "copyreg", "imp"),
        *("multiprocessing", "jsonpickle", "pandas", "numexpr"),
    }
)
"""Modules of which no function may get a result. `sympy` evaluates texts that it is given."""
_SAFE_FUNCTIONS = frozenset(
    {"getLogger", "debug", "info", "warning", "error", "dumps", "safe_load"}
)
"""Functions of such modules that evaluate nothing."""
_SYMPY_METHODS = frozenset(
    {"subs", "equals", "evalf", "replace", "xreplace", "coeff", "diff", "integrate", "limit"}
)
"""Methods of expressions of sympy that evaluate text."""
_PLAIN_MODULES = frozenset(
    {
        *("base64", "bisect", "calendar", "cmath", "collections", "copy", "datetime", "decimal"),
        *("fractions", "heapq", "html", "json", "math", "os", "random", "statistics", "string"),
        *("textwrap", "time", "urllib"),
    }
)
"""Modules whose functions make plain data, or change their argument."""


class ResultUses:
    """The expressions of test code that the program's results reach.

    Names are followed without regard to scopes and order: what one function assigns to a name
    counts for the name everywhere.

    Args:
        flow: the makers of the code's expressions.
        program_names: names that the program provides, and names of parameters.
    """

    def __init__(self, flow: ValueFlow, *, program_names: Set[str]) -> None:
        self._flow = flow
        self._names = set(program_names)
        self._attributes: set[str] = set()
        self._called = {node.func for node in flow.inner_nodes if isinstance(node, ast.Call)}

    @cached_property
    def _reached(self) -> set[ast.AST]:
        """All nodes that results reach, found when they are first asked for: few texts need it."""
        self._names.update(
            node.name
            for node in self._flow.nodes
            if isinstance(node, ast.ExceptHandler) and node.name
        )
        reached: set[ast.AST] = set()
        known = -1
        while known != (known := len(reached)):
            for node in self._flow.nodes:
                if self._is_reached(node, reached):
                    reached.add(node)
                self._mark_targets(node, reached)
        return reached

    def reach(self, node: ast.AST) -> bool:
        """Whether an expression is computed from anything of the program."""
        return node in self._reached

    def reach_arguments(self, span: Span) -> bool:
        """Whether a result is in the arguments of the call at a place of the text."""
        calls = [
            one
            for one in self._flow.inner_nodes
            if isinstance(one, ast.Call) and _span(one) == span
        ]
        return not calls or any(self.reach(part) for call in calls for part in _arguments(call))

    def why_unsupported(self) -> str:
        """Why no program can be judged by the code; empty if programs can."""
        unknown: set[ast.AST] = set()
        for node in self._flow.nodes:
            if self._is_unknown(node) or not unknown.isdisjoint(children(node)):
                unknown.add(node)
            if isinstance(node, ast.Call):
                why = self._evaluation(node) or self._passed_on(node, unknown)
                if why:
                    return why
            elif self._is_loose_evaluator(node):
                return f"{ast.unparse(node)} could evaluate what the program returns"
        return ""

    # What results reach

    def _is_reached(self, node: ast.AST, reached: Set[ast.AST]) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._names
        if isinstance(node, ast.Attribute) and node.attr in self._attributes:
            return True
        return not reached.isdisjoint(children(node))

    def _mark_targets(self, node: ast.AST, reached: Set[ast.AST]) -> None:
        """Mark the names to which a statement or a call gives a result."""
        if isinstance(node, ast.withitem) and node.optional_vars is not None:
            context = node.context_expr  # `assertRaises(...) as caught` gives the program's error
            if node in reached or _is_call_of(context, ("assert", "raises")):
                self._mark(node.optional_vars)
        if node not in reached:
            return
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._mark(target)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            if node.iter in reached:
                self._mark(node.target)
        elif isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
            function = self._flow.function_of(node)
            self._names.add(function)
            self._attributes.add(function)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and not self._flow.module_of(node.func)
            and any(one in reached for one in _arguments(node))
        ):
            self._mark(node.func.value)  # such as `results.append(f(x))`

    def _mark(self, target: ast.AST) -> None:
        for node in walk(target):
            if isinstance(node, ast.Name) and node.id not in ("self", "cls"):
                self._names.add(node.id)
            elif isinstance(node, ast.Attribute):
                self._attributes.add(node.attr)

    # What must get no result

    def _evaluation(self, node: ast.Call) -> str:
        """Why a call would evaluate a result; empty if it would not."""
        origin, name = self._flow.origin_of(node.func), called_name(node)
        if origin == ("numpy", "load") and _loads_numbers(node):
            return ""
        is_method = isinstance(node.func, ast.Attribute) and not origin[0]
        if is_method and name in _SYMPY_METHODS and self._flow.imports("sympy"):
            pass
        elif not self._is_evaluator(node.func):
            return ""
        if not any(map(self.reach, _arguments(node))):
            return ""
        return f"{ast.unparse(node.func)} would evaluate what the program returns"

    def _is_loose_evaluator(self, node: ast.AST) -> bool:
        """Whether an evaluator is used as a value, as in `map(eval, f(x))`."""
        return (
            isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and node not in self._called
            and self._is_evaluator(node)
        )

    def _is_evaluator(self, function: ast.expr) -> bool:
        module, name = self._flow.origin_of(function)
        if module in _EVALUATING_MODULES:
            return name not in _SAFE_FUNCTIONS
        return name in _EVALUATORS.get(module, ())

    def _is_unknown(self, node: ast.AST) -> bool:
        """Whether this calls a function of a module that may make no plain data of a result."""
        if not isinstance(node, ast.Call):
            return False
        module = self._flow.module_of(node.func)
        is_unknown = module != "" and module not in _PLAIN_MODULES
        return is_unknown and any(map(self.reach, _arguments(node)))

    def _passed_on(self, node: ast.Call, unknown: Set[ast.AST]) -> str:
        """Why the arguments of a call of the program cannot be passed to it; empty if they can."""
        if not self._flow.of(node.func).itself - {OWN}:
            return ""
        for part in _arguments(node):
            if OWN in self._flow.of(part).all:
                return (
                    "passed to the program: a function or an object of the tests, which the program"
                    " would have to call or to compare"
                )
            if part in unknown:
                return "passed to the program: what another module makes of its results"
        return ""


def _arguments(node: ast.Call) -> Iterator[ast.expr]:
    for argument in node.args:
        yield argument.value if isinstance(argument, ast.Starred) else argument
    for keyword in node.keywords:
        yield keyword.value


def _is_call_of(node: ast.expr, prefixes: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Call) and called_name(node).startswith(prefixes)


def _loads_numbers(node: ast.Call) -> bool:
    """Whether a call of `np.load` refuses objects, as it does unless it is told otherwise."""
    if any(keyword.arg is None for keyword in node.keywords):
        return False
    allowed = [keyword.value for keyword in node.keywords if keyword.arg == "allow_pickle"]
    return len(node.args) < 3 and all(
        isinstance(value, ast.Constant) and not value.value for value in allowed
    )


def _span(node: ast.expr) -> Span:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
