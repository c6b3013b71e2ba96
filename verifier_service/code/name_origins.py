"""Whose a name is that test code uses and does not define: the program's, or a usual one.

The text alone decides. Where `math.isclose(f(3), 0.73)` lacks its import, a program could define
`math`, so the judge provides it. But `assert gcd(12, 18) == 6` tests a program's own `gcd`.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from verifier_service.code.syntax_tree import children, walk
from verifier_service.code.usual_names import UsualName, usual_name

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_NAMED = (*_DEFINITIONS, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_SCOPES = (
    *(*_DEFINITIONS, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_Roots = dict[str, frozenset[str]]
"""Names of the program, or usual ones, that the value of each variable may come from."""
_ARGUMENT = "()"
"""Root of a parameter: the test may pass a function or a value of the program."""


def names_of_the_judge(tree: ast.Module, *, program: Set[str]) -> dict[str, UsualName]:
    """Usual names that the code uses, does not define, and does not test.

    Args:
        tree: the test code.
        program: names that are the program's: of its entry point, and imported from its module.
    """
    uses = _free_uses(tree)
    found = {
        name: usual
        for name in sorted(uses.keys() - program)
        if (usual := usual_name(name, uses[name]))
    }
    functions = {name for name in found if "" in uses[name]}  # not `math.gcd`, `datetime.now`
    others = program | (uses.keys() - found.keys())
    tested = _Subjects(functions, others).found_in(tree.body) if functions else set()
    if not others and not tested:  # then there is nothing else that the code could test
        tested = functions
    return {name: usual for name, usual in found.items() if name not in tested}


_NEVER_TESTED = frozenset(
    {
        *("__import__", "breakpoint", "compile", "delattr", "dir", "eval", "exec", "getattr"),
        *("globals", "hasattr", "isinstance", "issubclass", "locals", "object", "print"),
        *("setattr", "super", "type", "vars"),
    }
)
"""Functions of Python that code uses to test others, and no program is asked to write."""


def tested_builtins(tree: ast.Module, *, program: Set[str]) -> frozenset[str]:
    """Functions of Python, such as `sum`, that the code tests because it can test nothing else.

    Args:
        tree: the test code.
        program: names that are the program's: of its entry point, and imported from its module.
    """
    if program or _free_uses(tree):
        return frozenset()
    bound = _bound_in(tree)
    names = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and callable(getattr(builtins, node.id, None))
    }
    usual = {name for name in names - bound - _NEVER_TESTED if name.islower()}
    return (
        frozenset(_Subjects(usual, set(), alone=True).found_in(tree.body)) if usual else frozenset()
    )


# Names that nothing defines


def _free_uses(tree: ast.Module) -> dict[str, set[str]]:
    """Names that neither the code nor Python defines, with the attributes that are asked of each.

    The attribute "" stands for a use of the name by itself.
    """
    uses: defaultdict[str, set[str]] = defaultdict(set)
    nothing: frozenset[str] = frozenset()
    # With each node: names bound around it, and those bound in the body of its class alone.
    waiting: list[tuple[ast.AST, frozenset[str], frozenset[str]]] = [
        (tree, _bound_in(tree), nothing)
    ]
    while waiting:
        node, bound, of_class = waiting.pop()
        name, attribute = _use(node)
        known = name in bound or name in of_class or hasattr(builtins, name)
        if name and not known:
            if not name.startswith("__"):
                uses[name].add(attribute)
            continue
        for child in children(node):
            if isinstance(child, ast.ClassDef):
                waiting.append((child, bound, _bound_in(child)))
            elif isinstance(child, _SCOPES):
                waiting.append((child, bound | _bound_in(child), nothing))
            else:
                waiting.append((child, bound, of_class))
    return uses


def _use(node: ast.AST) -> tuple[str, str]:
    """The name that a node reads, and the attribute that it asks of it; empty if there is none."""
    owner, attribute = (node.value, node.attr) if isinstance(node, ast.Attribute) else (node, "")
    if isinstance(owner, ast.Name) and not isinstance(owner.ctx, ast.Store):
        return owner.id, attribute
    return "", ""


def _bound_in(scope: ast.AST) -> frozenset[str]:
    """Names that a scope binds, without the scopes in it."""
    bound: set[str] = set()
    free: set[str] = set()
    waiting = list(children(scope))
    while waiting:
        node = waiting.pop()
        bound.update(_bound_by(node))
        if isinstance(node, ast.Global):
            free.update(node.names)
        if not isinstance(node, _SCOPES):
            waiting += children(node)
    return frozenset(bound - free)


def _bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, _NAMED) and node.name:
        yield node.name


# Names that are tested


class _Subjects:
    """Usual names that assertions test, because nothing else in them can be the program's.

    The statements are read in their order, and each variable has the names that its last value
    came from.
    """

    def __init__(self, usual: Set[str], program: Set[str], *, alone: bool = False) -> None:
        self._usual = usual
        self._is_alone = alone
        """Whether only assertions count in which there is no other name at all."""
        self._program = program | {_ARGUMENT}
        self._tested: set[str] = set()
        self._of_self: _Roots = {}
        """Roots of the attributes of `self`, which test methods share."""

    def found_in(self, body: list[ast.stmt]) -> set[str]:
        """The usual names that the statements test."""
        # With each statement: roots of the variables around it, and whether each call in it is a
        # test, because it is expected to raise. Not recursive: 1000 times `elif` is nested so deep.
        outermost: _Roots = {}
        waiting = [(statement, outermost, False) for statement in reversed(body)]
        while waiting:
            statement, roots, asserts = waiting.pop()
            if isinstance(statement, _FUNCTIONS):
                roots = self._roots_in(statement, roots)
            elif not isinstance(statement, ast.ClassDef):
                self._read(statement, roots, asserts=asserts)
                asserts = asserts or _expects_an_error(statement)
            inner = [(node, roots, asserts) for node in _statements_in(statement)]
            waiting += reversed(inner)
        return self._tested

    def _roots_in(self, function: ast.FunctionDef | ast.AsyncFunctionDef, roots: _Roots) -> _Roots:
        """Roots of the variables in a function; those around it learn what calls of it give."""
        inner = dict(roots)
        for node in walk(function.args):
            if isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
                inner[node.arg] = frozenset({_ARGUMENT})
        body = (node for statement in function.body for node in walk(statement))
        used = self._names(body, inner) - {_ARGUMENT}
        roots[function.name] = self._of_self[function.name] = used
        return inner

    def _read(self, statement: ast.stmt, roots: _Roots, *, asserts: bool) -> None:
        for value, targets in _assignments(statement):
            found = self._names(walk(value), roots)
            for node in (node for target in targets for node in walk(target)):
                name, attribute = _use(node)
                if isinstance(node, ast.Name):
                    roots[node.id] = found
                elif name == "self":
                    self._of_self[attribute] = found
        if (
            isinstance(statement, ast.Assert)
            or (isinstance(statement, ast.Expr) and _is_assertion(statement.value))
            or (isinstance(statement, ast.Expr | ast.Assign) and asserts)
        ):
            self._see_test(statement, roots)

    def _see_test(self, test: ast.stmt, roots: _Roots) -> None:
        found = self._names(walk(test), roots)
        if found & self._program or (self._is_alone and found - self._usual - {""}):
            return
        # In `isclose(mean([1, 2]), 1.5)` it is `mean` that is tested.
        around = {
            node.func.id
            for node in walk(test)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            for argument in (*node.args, *node.keywords)
            if (self._names(walk(argument), roots) & self._usual) - {node.func.id}
        }
        self._tested |= (found & self._usual) - around

    def _names(self, nodes: Iterable[ast.AST], roots: _Roots) -> frozenset[str]:
        """Names that the nodes read, with each variable replaced by its roots."""
        found: set[str] = set()
        for node in nodes:
            name, attribute = _use(node)
            if name == "self":
                found |= self._of_self.get(attribute, frozenset())
            else:
                found |= roots.get(name, {name})
        return frozenset(found)


def _statements_in(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Statements in the blocks of a statement."""
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(statement, field, [])
    for block in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from block.body


def _assignments(statement: ast.stmt) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """Values that a statement binds to targets."""
    if isinstance(statement, ast.Assign):
        yield statement.value, statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign) and statement.value:
        yield statement.value, [statement.target]
    elif isinstance(statement, ast.For | ast.AsyncFor):
        yield statement.iter, [statement.target]
    elif isinstance(statement, ast.With | ast.AsyncWith):
        for item in statement.items:
            if item.optional_vars is not None:
                yield item.context_expr, [item.optional_vars]


def _is_assertion(call: ast.expr) -> bool:
    return isinstance(call, ast.Call) and _called(call).startswith(("assert", "check"))


def _expects_an_error(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Try):
        return True
    items = statement.items if isinstance(statement, ast.With | ast.AsyncWith) else []
    calls = [item.context_expr for item in items]
    return any(isinstance(call, ast.Call) and "aises" in _called(call) for call in calls)


def _called(call: ast.Call) -> str:
    """The last part of the name of the function that is called; empty if it has none."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""
