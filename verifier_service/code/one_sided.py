"""Comparisons in which a result has too few elements for anything to be compared.

An empty array of numpy broadcasts with any number, and `zip` ends with its shortest argument: a
program that returns `[]` would pass `np.allclose(f(3), 5.0)` and `for a, b in zip(f(3), [1, 2])`.
Operators and calls are found in the text, and checked where the text runs.
"""

from __future__ import annotations

import ast
import functools
import importlib
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from verifier_service.code.assertions import AssertionCode
from verifier_service.code.handles import Handle
from verifier_service.code.syntax_tree import walk
from verifier_service.code.value_flow import OWN

LONG_ENOUGH = "__long_enough__"
"""Name, in test code, of the function that gets the arguments of `zip` and `map`."""
_OPERATORS: dict[type[ast.AST], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Sub: ("__subtract__", operator.sub),
    ast.Eq: ("__equal__", operator.eq),
    ast.NotEq: ("__not_equal__", operator.ne),
}
"""The operators that compare arrays, with names of the functions that stand for them."""
_CLOSE = ("allclose", "isclose", "array_equiv")
_ELEMENTWISE = ("equal", "not_equal", "subtract")
_OF_UFUNCS = ("accumulate", "at", "outer", "reduce", "reduceat")
_ASSERTIONS = (
    *("assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_equal"),
    *("assert_array_almost_equal", "assert_array_almost_equal_nulp", "assert_array_equal"),
    "assert_array_max_ulp",
)
_KEYWORDS = ("a", "b", "a1", "a2", "actual", "desired", "x", "y", "x1", "x2")
"""Names of the two values that functions of numpy compare."""


# In the text


def add_checks(source: AssertionCode) -> None:
    """Put checks around the comparisons of test code whose tests have been counted."""
    checking = _Checking(source)
    for statement in source.body:
        checking.visit(statement)
        ast.fix_missing_locations(statement)


class _Checking(ast.NodeTransformer):
    """Puts checks into calls of `zip` and `map`, and operators where arrays may be compared."""

    def __init__(self, source: AssertionCode) -> None:
        self._flow = source.flow
        compared: list[ast.AST] = []
        if source.flow.uses("numpy", "np"):
            nodes = [one for one in source.flow.inner_nodes if _operator_of(one) is not None]
            compared += filter(source.result_uses.reach, nodes)
        self._compared = frozenset(compared)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        paired_from = {("builtins", "zip"): 0, ("builtins", "map"): 1}
        start = paired_from.get(self._flow.origin_of(node.func))
        are_results: list[bool] = []
        if start is not None and not any(isinstance(one, ast.Starred) for one in node.args):
            are_results = [self._is_of_results(one) for one in node.args[start:]]
        self.generic_visit(node)
        if len(set(are_results)) == 2:
            flags = ast.Tuple([ast.Constant(one) for one in are_results], ast.Load())
            checked = _call(LONG_ENOUGH, [flags, *node.args[start:]], node)
            node.args[start:] = [ast.copy_location(ast.Starred(checked, ast.Load()), node)]
        return node

    def _is_of_results(self, argument: ast.expr) -> bool:
        """Whether a part of an argument, such as `f(3)` in `np.array(f(3))`, is the program's."""
        return any(self._flow.of(part).all - {OWN} for part in walk(argument))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return self._checked(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        return self._checked(node)

    def _checked(self, node: ast.BinOp | ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sign = _operator_of(node)
        if sign is None or node not in self._compared:
            return node
        right = node.right if isinstance(node, ast.BinOp) else node.comparators[0]
        return _call(_OPERATORS[sign][0], [node.left, right], node)


def _operator_of(node: ast.AST) -> type[ast.AST] | None:
    """The operator of an expression `a - b`, `a == b` or `a != b`; None for any other."""
    if isinstance(node, ast.BinOp):
        found: type[ast.AST] = type(node.op)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        found = type(node.ops[0])
    else:
        return None
    return found if found in _OPERATORS else None


def _call(name: str, arguments: list[ast.expr], place: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), arguments, []), place)


# Where the text runs


def checks() -> dict[str, Any]:
    """The functions that checked test code calls, by name."""
    operators = {name: _guarded_operator(one) for name, one in _OPERATORS.values()}
    return {LONG_ENOUGH: long_enough, **operators}


def long_enough(are_results: Sequence[bool], *values: Any) -> list[Any]:
    """The values, to be iterated over side by side.

    A result raises AssertionError when it ends before the longest value that is none. A `range`
    counts positions, and expects nothing of the result.
    """
    lengths = [
        len(value)
        for value, is_result in zip(values, are_results, strict=True)
        if not is_result and hasattr(type(value), "__len__") and not isinstance(value, range)
    ]
    num_expected = max(lengths, default=0)
    return [
        _at_least(num_expected, value) if is_result else value
        for value, is_result in zip(values, are_results, strict=True)
    ]


def _at_least(num_expected: int, result: Any) -> Iterator[Any]:
    num_found = 0
    for num_found, element in enumerate(result, 1):  # noqa: B007
        yield element
    if num_found < num_expected:
        raise AssertionError(f"the result has {num_found} elements, expected {num_expected}")


def guard_numpy(*, has_testing: bool) -> None:
    """Have the comparisons of numpy fail where one side alone has no elements.

    Args:
        has_testing: whether the test code uses `numpy.testing`, which takes long to import.
    """
    numpy = sys.modules["numpy"]
    for name in _CLOSE:
        setattr(numpy, name, _guarded(getattr(numpy, name), otherwise=numpy.False_))
    for name in _ELEMENTWISE:
        ufunc = getattr(numpy, name)
        guarded = _guarded(ufunc)
        for method in _OF_UFUNCS:
            setattr(guarded, method, getattr(ufunc, method))
        setattr(numpy, name, guarded)
    if has_testing:
        testing = importlib.import_module("numpy.testing")
        for name in _ASSERTIONS:
            reads_objects = name != "assert_equal"  # which compares objects as they are
            setattr(testing, name, _guarded(getattr(testing, name), reads_objects=reads_objects))


def _guarded(
    function: Callable[..., Any], *, otherwise: Any = None, reads_objects: bool = True
) -> Callable[..., Any]:
    """The function; with one empty side it returns `otherwise`, or raises AssertionError.

    With `reads_objects` objects of the program become arrays first: they are asked for their
    elements once, and cannot answer the function otherwise.
    """

    @functools.wraps(function)
    def guarded(*values: Any, **named: Any) -> Any:
        if reads_objects:
            values = tuple(map(_as_array, values))
            named = {name: _as_array(value) for name, value in named.items()}
        compared = [*values, *(named[name] for name in _KEYWORDS if name in named)][:2]
        if not _is_one_sided(compared):
            return function(*values, **named)
        if otherwise is None:
            raise AssertionError("one side of a comparison has no elements, the other has")
        return otherwise

    return guarded


def _guarded_operator(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The operator, guarded where numpy computes it: `[1] != []` of lists compares all there is."""
    guarded = _guarded(function, reads_objects=False)

    def apply(left: Any, right: Any) -> Any:
        numpy: Any = sys.modules.get("numpy")
        arrays = () if numpy is None else (numpy.ndarray, numpy.generic)
        is_numpys = any(issubclass(type(one), arrays) for one in (left, right))
        return guarded(left, right) if is_numpys else function(left, right)

    return apply


def _as_array(value: Any) -> Any:
    is_object = issubclass(type(value), Handle)
    return sys.modules["numpy"].asanyarray(value) if is_object else value


def _is_one_sided(compared: Sequence[Any]) -> bool:
    """Whether numpy would compare nothing: one value has no elements, the other has."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        return False
    known = (list, tuple, int, float, complex, numpy.ndarray, numpy.generic)
    # By `type`: a stand-in would have the program answer for `__class__`.
    sizes = [_size(numpy, one) for one in compared if issubclass(type(one), known)]
    return len(sizes) == 2 and min(sizes) == 0 < max(sizes)


def _size(numpy: Any, value: Any) -> int:
    try:
        return int(numpy.size(value))
    except ValueError:  # rows of several lengths
        return 1
