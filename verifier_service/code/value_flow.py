"""Origins of the values of expressions in test code, read from its text.

Names are followed through assignments, loops, containers, parameters and results of the test's own
functions. A name stands for all that its scope ever assigns to it.

A maker is the text's name for where a value of the program comes from. `f` and `.x` are a name and
an attribute, `f()` and `.x()` what they return, and `f()[]` the elements of that.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from verifier_service.code.syntax_tree import children, inner_nodes
from verifier_service.code.value_codec import BUILT_IN_TYPES

OWN = "<own>"
"""Maker of an object of the tests' own that is no plain data: a function, an iterator."""
_MODULE = "<program>"
"""Maker of the program as a module."""


def result_of(maker: str) -> str:
    """The maker of what a value returns when it is called. What a result returns counts as it.

    >>> [result_of(maker) for maker in ("f", ".x", "f()")]
    ['f()', '.x()', 'f()']
    """
    return maker if maker.endswith((")", "]")) else f"{maker}()"


def element_of(maker: str, place: str = "") -> str:
    """The maker of the elements of a value, and of theirs.

    The text tells elements apart by the names of keys, and by places in a tuple that it unpacks.

    >>> [element_of("f()"), element_of("f()[]"), element_of("f()", "1"), element_of("f()[]", "x")]
    ['f()[]', 'f()[]', 'f()[1]', 'f()[x]']
    """
    if maker.endswith("]") and not place:
        return maker
    return f"{maker.partition('[')[0]}[{place}]"


@dataclass(frozen=True)
class Held:
    """Makers of what an expression may stand for."""

    itself: frozenset[str] = frozenset()
    """Makers of the value."""
    inside: frozenset[str] = frozenset()
    """Makers of what is in it, if it is a container that the tests have made."""

    @property
    def all(self) -> frozenset[str]:
        """Makers of the value and of what is in it."""
        return self.itself | self.inside

    @property
    def elements(self) -> frozenset[str]:
        """Makers of the value's elements."""
        return self.inside | {element_of(maker) for maker in self.itself if maker != OWN}

    def __or__(self, other: Held) -> Held:
        if not other.all:
            return self
        return Held(self.itself | other.itself, self.inside | other.inside)


_NOTHING = Held()
_OWN = Held(frozenset({OWN}))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
_Scope = ast.AST | None

_ITERATORS = frozenset({"iter", "map", "zip", "filter", "enumerate", "reversed"})
_COPIES = frozenset({"list", "tuple", "sorted", "set", "frozenset", "dict", "deque", *_ITERATORS})
"""Functions whose results have the elements of their arguments."""
_CHOICES = frozenset({"next", "min", "max"})
_GIVE_ELEMENTS = frozenset(
    {"get", "pop", "popitem", "popleft", "setdefault", "items", "values", "keys", "copy"}
)
_TAKE_ELEMENTS = frozenset({"append", "add", "insert", "extend", "appendleft", "update"})
_MAKERS_OF_OWN = {
    "builtins": frozenset({"open", "type", "object", "memoryview", *_ITERATORS}),
    "functools": frozenset({"partial", "cmp_to_key", "lru_cache"}),
    "io": frozenset({"StringIO", "BytesIO"}),
    "re": frozenset({"compile", "match", "search", "fullmatch", "finditer"}),
    "operator": frozenset({"itemgetter", "attrgetter", "methodcaller"}),
}
"""Functions of the judge's modules whose results are no plain data."""
_MODULES_OF_OWN = frozenset({"itertools", "sympy"})
"""Modules whose functions return hardly anything that is plain data."""


class ValueFlow:
    """The makers of all expressions of test code.

    Args:
        tree: the test code.
        program_names: names that the program provides.
        program_modules: names under which the program is imported as a module.
        candidate: makers of the argument with which the judge calls `check(candidate)`.
        records: fields of the classes of the tests whose objects cross by value, by name.
    """

    def __init__(
        self,
        tree: ast.Module,
        *,
        program_names: Set[str],
        program_modules: Set[str],
        candidate: frozenset[str] = frozenset(),
        records: Mapping[str, frozenset[str]] = MappingProxyType({}),
    ) -> None:
        self.nodes = _from_the_leaves(tree)
        """All nodes in the order of the text, children before their parents."""
        self.inner_nodes = inner_nodes(self.nodes)
        """The nodes without names and constants, in the same order."""
        self._names = program_names
        self._program_modules = program_modules
        self._candidate = candidate
        self._records = records
        self.record_fields: frozenset[str] = frozenset().union(*records.values())
        """Fields of the tests' own objects that cross by value."""
        self._parents: dict[ast.AST, _Scope] = {}
        self._scopes: dict[ast.AST, _Scope] = {}
        self._functions: dict[str, list[_Function]] = {}
        self._classes: dict[str, ast.ClassDef] = {}
        self._modules: dict[str, str] = {}
        self._imports: dict[str, tuple[str, str]] = {}
        self._aliases: dict[str, str] = {}
        self._held: dict[ast.AST, Held] = {}
        self._variables: dict[tuple[_Scope, str], Held] = {}
        self._results: dict[str, Held] = {}
        self._has_changed = True
        self._read_scopes(tree)
        self._bind_parameters()
        ruled = [node for node in self.nodes if type(node) in _RULED]
        while self._has_changed:
            self._has_changed = False
            for node in ruled:
                self._visit(node)

    def of(self, node: ast.AST) -> Held:
        """Makers of what an expression may stand for."""
        return self._held.get(node, _NOTHING)

    def is_of_the_program(self, node: ast.AST) -> bool:
        """Whether an expression stands for a value of the program, not for a call of the tests."""
        is_own_call = isinstance(node, ast.Call) and called_name(node) in self._functions
        return bool(self.of(node).itself - {OWN}) and not is_own_call

    def origin_of(self, function: ast.AST) -> tuple[str, str]:
        """The judge's package that a function is of, and its name there; both empty if of none.

        A function that Python has built in is of `builtins`.
        """
        if isinstance(function, ast.Name):
            name = function.id
            if name in self._names and hasattr(builtins, name):
                return "", ""
            if name in self._imports:
                return self._imports[name]
            is_builtin = name not in self._functions and hasattr(builtins, name)
            return ("builtins", name) if is_builtin else ("", "")
        owner = function
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        if isinstance(function, ast.Attribute) and isinstance(owner, ast.Name):
            module = self._modules.get(owner.id, "")
            return (module, function.attr) if module else ("", "")
        return "", ""

    def module_of(self, function: ast.AST) -> str:
        """The imported package that a function is of; empty if it is of none."""
        module, _ = self.origin_of(function)
        return "" if module == "builtins" and isinstance(function, ast.Name) else module

    def uses(self, *names: str) -> bool:
        """Whether the test code has one of these names, imported or not."""
        used = {node.id for node in self.nodes if isinstance(node, ast.Name)}
        return not used.isdisjoint(names) or any(map(self.imports, names))

    def imports(self, package: str) -> bool:
        """Whether the test code imports a package, or something of it."""
        imported = {package for package, _ in self._imports.values()}
        return package in imported or package in self._modules.values()

    def function_of(self, node: ast.AST) -> str:
        """The name of the test's own function in which a statement is; empty if it is in none."""
        scope = self._scopes[node]
        return scope.name if isinstance(scope, _FUNCTIONS) else ""

    # Scopes

    def _read_scopes(self, tree: ast.Module) -> None:
        waiting: list[tuple[ast.AST, _Scope]] = [(tree, None)]
        for node, scope in waiting:  # it grows
            self._scopes[node] = scope
            if isinstance(node, _SCOPES):
                self._parents[node] = scope
            inner = node if isinstance(node, _SCOPES) else scope
            waiting += ((child, inner) for child in children(node))
            if isinstance(node, _FUNCTIONS):
                self._functions.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.ClassDef):
                self._classes[node.name] = node
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    if name not in self._program_modules:
                        self._modules[name] = alias.name.partition(".")[0]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    name, package = (
                        alias.asname or alias.name,
                        (node.module or "").partition(".")[0],
                    )
                    if name in self._names:
                        self._aliases[name] = alias.name
                    else:
                        self._imports[name] = (package, alias.name)

    def _bind_parameters(self) -> None:
        """Parameters of functions that the code does not call may be anything of the program's."""
        called = {called_name(node) for node in self.inner_nodes if isinstance(node, ast.Call)}
        for functions in self._functions.values():
            for function in functions:
                for name in _parameters(function):
                    held = _NOTHING
                    if function.name not in called and name not in ("self", "cls"):
                        held = Held(self._candidate or frozenset({name}))
                    self._variables[function, name] = held

    def _look_up(self, name: str, scope: _Scope) -> Held:
        first = scope
        while True:
            is_visible = scope is first or not isinstance(scope, ast.ClassDef)
            if is_visible and (scope, name) in self._variables:
                return self._variables[scope, name]
            if scope is None:
                break
            scope = self._parents[scope]
        if name in self._program_modules:
            return Held(frozenset({_MODULE}))
        if name in self._functions or self._is_own_class(name):
            return _OWN
        if name in self._names:
            return Held(frozenset({self._aliases.get(name, name)}))
        if callable(getattr(builtins, name, None)) and name not in BUILT_IN_TYPES:
            return _OWN
        return _NOTHING

    def _is_own_class(self, name: str) -> bool:
        """Whether a name is a class of the tests whose instances are no plain data."""
        found = self._classes.get(name)
        return found is not None and not found.bases

    def _store(self, scope: _Scope, name: str, held: Held) -> None:
        before = self._variables.get((scope, name))
        after = held if before is None else before | held
        if after != before:
            self._variables[scope, name] = after
            self._has_changed = True

    # Bindings

    def _visit(self, node: ast.AST) -> None:
        rule = _RULES.get(type(node))
        if rule is not None:
            held = rule(self, node)
            if held.all:
                self._held[node] = held
        binding = _BINDINGS.get(type(node))
        if binding is not None:
            binding(self, node)

    def _bind(self, target: ast.AST, held: Held) -> None:
        if isinstance(target, ast.Name):
            self._store(self._scopes[target], target.id, held)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, Held(inside=held.all))
        elif isinstance(target, ast.Tuple | ast.List):
            for place, one in enumerate(target.elts):
                makers = {element_of(maker, str(place)) for maker in held.itself - {OWN}}
                self._bind(one, Held(held.inside | makers, held.inside))
        elif isinstance(target, ast.Attribute) and _is_self(target.value):
            self._store(None, f"self.{target.attr}", held)
        elif isinstance(target, ast.Subscript):
            self._put_inside(target.value, held)

    def _put_inside(self, container: ast.expr, held: Held) -> None:
        """Note that a container has got an element. A container of the program is the program's."""
        if held.all and not self.of(container).itself:
            self._bind(container, Held(inside=held.all))

    def _bind_assignment(self, node: Any) -> None:
        if node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._bind(target, self.of(node.value))
                if isinstance(self._scopes[node], ast.ClassDef) and isinstance(target, ast.Name):
                    self._store(None, f"self.{target.id}", self.of(node.value))

    def _bind_loop(self, node: Any) -> None:
        target, iterable = node.target, node.iter
        name = called_name(iterable) if isinstance(iterable, ast.Call) else ""
        if name in ("enumerate", "zip") and isinstance(target, ast.Tuple):
            each: list[Held] = [self.of(argument) for argument in iterable.args]
            if name == "enumerate":
                each = [_NOTHING, *each[:1]]
            for one, held in zip(target.elts, each, strict=False):
                self._bind(one, Held(held.elements, held.inside))
            return
        held = self.of(iterable)
        self._bind(target, Held(held.elements, held.inside))

    def _bind_context(self, node: ast.withitem) -> None:
        if node.optional_vars is not None:
            self._bind(node.optional_vars, self.of(node.context_expr))

    def _bind_error(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            self._variables[self._scopes[node], node.name] = _NOTHING

    def _bind_result(self, node: ast.Return | ast.Yield) -> None:
        function: _Scope = self._scopes[node]
        if isinstance(function, _FUNCTIONS) and node.value is not None:
            held = self.of(node.value)
            if isinstance(node, ast.Yield):
                held = Held(inside=held.all)
            before = self._results.get(function.name, _NOTHING)
            self._results[function.name] = before | held
            self._has_changed |= before | held != before

    def _bind_arguments(self, node: ast.Call) -> None:
        name = called_name(node)
        for function in self._functions.get(name, ()):
            names = [one for one in _parameters(function) if one not in ("self", "cls")]
            for parameter, argument in zip(names, node.args, strict=False):
                self._store(function, parameter, self.of(argument))
            for keyword in node.keywords:
                if keyword.arg in names:
                    self._store(function, keyword.arg, self.of(keyword.value))
        if isinstance(node.func, ast.Attribute) and name in _TAKE_ELEMENTS:
            for argument in node.args:
                self._put_inside(node.func.value, self.of(argument))

    # Expressions

    def _name(self, node: ast.Name) -> Held:
        return self._look_up(node.id, self._scopes[node])

    def _attribute(self, node: ast.Attribute) -> Held:
        if _is_self(node.value):
            return self._variables.get((None, f"self.{node.attr}"), _NOTHING)
        makers = self.of(node.value).itself - {OWN}
        if _MODULE in makers:
            return Held(frozenset({node.attr}))
        return Held(frozenset({f".{node.attr}"})) if makers else _NOTHING

    def _call(self, node: ast.Call) -> Held:
        name, function = called_name(node), self.of(node.func)
        makers = frozenset(result_of(maker) for maker in function.itself - {OWN})
        if isinstance(node.func, ast.Attribute) and name in _GIVE_ELEMENTS:
            elements = self.of(node.func.value).elements
            return Held(makers | elements, elements)
        if makers:
            return Held(makers)
        if name in self._functions:
            return self._results.get(name, _NOTHING)
        if name in self._records:
            return Held(inside=self._together([*node.args, *(one.value for one in node.keywords)]))
        if self._is_own_class(name) or self._makes_own(node.func):
            return Held(_OWN.itself, self._elements(node.args)) if name in _COPIES else _OWN
        if name in _COPIES:
            return Held(inside=self._elements(node.args))
        if name in _CHOICES:
            elements = self._elements(node.args)
            return Held(elements, elements)
        if name in ("copy", "deepcopy") and node.args:
            return self.of(node.args[0])
        if name == "getattr" and len(node.args) > 1 and self.of(node.args[0]).itself - {OWN}:
            attribute = node.args[1].value if isinstance(node.args[1], ast.Constant) else ""
            return Held(frozenset({f".{attribute!s}"}))
        return _NOTHING

    def _makes_own(self, function: ast.expr) -> bool:
        """Whether a function of the judge's modules returns what is no plain data."""
        module, name = self.origin_of(function)
        return module in _MODULES_OF_OWN or name in _MAKERS_OF_OWN.get(module, ())

    def _elements(self, nodes: Iterable[ast.expr]) -> frozenset[str]:
        return frozenset().union(*(self.of(node).elements for node in nodes))

    def _subscript(self, node: ast.Subscript) -> Held:
        held, key = self.of(node.value), node.slice
        if isinstance(key, ast.Slice):
            return Held(held.elements - held.inside, held.inside)
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            makers = {element_of(maker, key.value) for maker in held.itself - {OWN}}
            return Held(held.inside | makers, held.inside)
        return Held(held.elements, held.inside)

    def _display(self, node: Any) -> Held:
        parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
        return Held(inside=self._together(part for part in parts if part is not None))

    def _comprehension(self, node: Any) -> Held:
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        inside = self._together(parts)
        return Held(_OWN.itself if isinstance(node, ast.GeneratorExp) else frozenset(), inside)

    def _together(self, nodes: Iterable[ast.expr]) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for node in nodes:
            held = self.of(node.value) if isinstance(node, ast.Starred) else self.of(node)
            found |= held.elements if isinstance(node, ast.Starred) else held.all
        return found

    def _united(self, node: Any) -> Held:
        held = _NOTHING
        for part in _united_parts(node):
            held |= self.of(part)
        return held


def _from_the_leaves(tree: ast.Module) -> list[ast.AST]:
    """All nodes in the order of the text, children before their parents."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += children(node)
    return found[::-1]


def called_name(node: ast.Call) -> str:
    """The last part of a called function's name; empty if it has none."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _united_parts(node: Any) -> Iterator[ast.expr]:
    """Expressions of which one is the value, or from which an operator makes it."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.BinOp):
        if not (isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)):
            yield from (node.left, node.right)
    elif isinstance(node, ast.UnaryOp):
        if not isinstance(node.op, ast.Not):
            yield node.operand
    else:
        yield node.value


def _parameters(function: _Function) -> list[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [argument.arg for argument in named]


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


_RULES: Mapping[type[ast.AST], Callable[[ValueFlow, Any], Held]] = {
    ast.Name: ValueFlow._name,
    ast.Attribute: ValueFlow._attribute,
    ast.Call: ValueFlow._call,
    ast.Subscript: ValueFlow._subscript,
    ast.Lambda: lambda _flow, _node: _OWN,
    **dict.fromkeys((ast.List, ast.Tuple, ast.Set, ast.Dict), ValueFlow._display),
    **dict.fromkeys(
        (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), ValueFlow._comprehension
    ),
    **dict.fromkeys(
        (ast.IfExp, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.NamedExpr, ast.Await),
        ValueFlow._united,
    ),
}
_BINDINGS: Mapping[type[ast.AST], Callable[[ValueFlow, Any], None]] = {
    **dict.fromkeys(
        (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr), ValueFlow._bind_assignment
    ),
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.comprehension), ValueFlow._bind_loop),
    ast.withitem: ValueFlow._bind_context,
    ast.ExceptHandler: ValueFlow._bind_error,
    **dict.fromkeys((ast.Return, ast.Yield), ValueFlow._bind_result),
    ast.Call: ValueFlow._bind_arguments,
}
_RULED = _RULES.keys() | _BINDINGS.keys()
