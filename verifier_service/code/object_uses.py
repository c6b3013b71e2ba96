"""Uses of the program's objects by test code, read from its text.

An object of a class of the program stays in the program's process. The judge cannot compare it, add
it or ask for its truth: only the program could answer, and its answer would decide the score. Test
code that needs such an answer is found here by its text, before any program is run, so that it is
the same for all programs.

A maker is the text's name for where a value of the program comes from. `f` and `.x` are a name and
an attribute, `f()` and `.x()` what they return, and `f()[]` the elements of that.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from verifier_service.code.value_flow import OWN, Held, ValueFlow, called_name, result_of

_CORE_TYPES = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset)
CORE_ATTRIBUTES = frozenset(
    name for kind in _CORE_TYPES for name in dir(kind) if not name.startswith("_")
)
"""Attributes of plain data. An honest function returns plain data where a test uses these only."""
_CORE_DATA = frozenset({"real", "imag", "numerator", "denominator"})
"""The attributes of plain data that are no methods."""
_OTHER_ATTRIBUTES = frozenset(
    {
        *("appendleft", "popleft", "extendleft", "rotate", "maxlen", "most_common", "elements"),
        *("subtract", "total", "move_to_end", "year", "month", "day", "hour", "minute", "second"),
        *("microsecond", "days", "seconds", "microseconds", "total_seconds", "isoformat", "date"),
        *("time", "strftime", "timestamp", "weekday", "isoweekday", "tzinfo", "quantize", "start"),
        *("stop", "step", "limit_denominator", "is_nan", "sqrt"),
    }
)
"""Attributes of other values that arrive as themselves: a date, a Counter, a Decimal."""
_METHODS_OF_MATCHES = frozenset({"group", "groups", "groupdict", "span", "end"})
_ATTRIBUTES_OF_ARRAYS = frozenset(
    {
        *(
            "T",
            "all",
            "any",
            "argmax",
            "argmin",
            "argsort",
            "astype",
            "cumprod",
            "cumsum",
            "diagonal",
        ),
        *(
            "dot",
            "dtype",
            "flat",
            "flatten",
            "item",
            "itemsize",
            "max",
            "mean",
            "min",
            "ndim",
            "nonzero",
        ),
        *(
            "prod",
            "ravel",
            "reshape",
            "round",
            "shape",
            "size",
            "squeeze",
            "std",
            "sum",
            "swapaxes",
        ),
        *("tobytes", "tolist", "trace", "transpose", "var"),
    }
)
_ATTRIBUTES_OF_PATHS = frozenset({"name", "parent", "parts", "stem", "suffix", "as_posix"})
_PLAIN_CLASSES = frozenset(
    {
        *("Counter", "Decimal", "Fraction", "OrderedDict", "defaultdict", "deque"),
        *("date", "datetime", "time", "timedelta", "Path", "PurePath", "UUID"),
    }
)
"""Classes whose objects arrive as themselves, for test code that uses them without an import."""
# The place of an element that the text names: the `[1]` of `f()[1]`, the `[name]` of `.x[name]`.
_PLACE = re.compile(r"\[.+\]$", re.DOTALL)
_TRUTH_CALLS = frozenset({"bool", "assertTrue", "assertFalse", "assert_", "failUnless"})
_ONE_OPERAND_CALLS = frozenset({"abs", "round", "divmod", "pow", "hash"})
_ELEMENT_CALLS = frozenset({"sum", "min", "max", "sorted", "set", "frozenset", "any", "all"})
_SEARCHES = frozenset({"index", "count", "remove"})
_NOT_COMPARED = frozenset(
    {
        *("assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex", "assertLogs"),
        *("assertNoLogs", "assertIsNone", "assertIsNotNone", "assertIsInstance"),
        *("assertNotIsInstance", "assertRegex", "assertNotRegex", *_TRUTH_CALLS),
    }
)


@dataclass(frozen=True)
class ObjectUses:
    """Uses of objects of the program by test code."""

    why_unsupported: str
    """Why no program can be judged by the code; empty if programs can."""
    answering: frozenset[str]
    """Makers of objects that the code uses as such. They may answer what plain data also would."""


def object_uses(flow: ValueFlow) -> ObjectUses:
    """Find what test code does with objects of the program."""
    objects = frozenset(_object_makers(flow, plain_attributes(flow)))
    why = next(_unsupported_uses(flow, objects), "")
    answering = objects.union(_constructions(flow), _arrays(flow))
    return ObjectUses(why, frozenset(_PLACE.sub("[]", maker) for maker in answering))


# Which makers make objects


def plain_attributes(flow: ValueFlow) -> Set[str]:
    """Attributes of values that arrive as themselves, beyond those that all plain data has."""
    of_arrays = _ATTRIBUTES_OF_ARRAYS if flow.uses("numpy", "np") else frozenset()
    of_paths = _ATTRIBUTES_OF_PATHS if flow.uses("pathlib", "Path", "PurePath") else frozenset()
    return _OTHER_ATTRIBUTES | of_arrays | of_paths | flow.record_fields


def _object_makers(flow: ValueFlow, plain: Set[str]) -> Iterator[str]:
    """Makers whose values are objects of the program's classes, because the text uses them so."""
    called = {node.func for node in flow.inner_nodes if isinstance(node, ast.Call)}
    for node in flow.inner_nodes:
        if isinstance(node, ast.Attribute):
            for maker in flow.of(node.value).itself - {OWN}:
                is_called = node in called
                known = plain | _METHODS_OF_MATCHES if is_called else plain
                yield from _makers_by_attribute(maker, node, known, is_called=is_called)
        elif isinstance(node, ast.ClassDef):
            for base in node.bases:
                yield from map(result_of, flow.of(base).itself - {OWN})
        elif isinstance(node, ast.BinOp):
            sides = flow.of(node.left).itself | flow.of(node.right).itself
            yield from filter(_is_construction, sides)
        elif isinstance(node, ast.Set):
            yield from filter(_is_construction, flow.of(node).inside)
        elif isinstance(node, ast.Call):
            yield from _makers_by_class(flow, node)
    for left, right, _ in _comparisons(flow):
        for one, other in ((left, right), (right, left)):
            if flow.of(other).all - {OWN}:
                yield from filter(_is_construction, flow.of(one).all)


def _makers_by_attribute(
    maker: str, node: ast.Attribute, plain: Set[str], *, is_called: bool
) -> Iterator[str]:
    name = node.attr
    if name.startswith("__"):
        return
    if _is_construction(maker):
        yield maker
    elif name in CORE_ATTRIBUTES:
        # Plain data lets nothing be stored in it, and a method of it that is not called is no use.
        is_method_alone = not is_called and name not in _CORE_DATA
        if is_method_alone or not isinstance(node.ctx, ast.Load):
            yield maker
    elif name not in plain:
        yield maker
    if _is_construction(result_of(maker)):  # the class itself has the attribute
        yield result_of(maker)


def _makers_by_class(flow: ValueFlow, node: ast.Call) -> Iterator[str]:
    """Makers of values that the text calls instances of a class of the program."""
    if called_name(node) in ("isinstance", "assertIsInstance") and len(node.args) > 1:
        classes = flow.of(node.args[1]).all - {OWN} - _PLAIN_CLASSES
        if classes:
            yield from map(result_of, classes)
            yield from flow.of(node.args[0]).itself - {OWN}


def _is_construction(maker: str) -> bool:
    """Whether a maker is a call of what its name tells to be a class: `Point()`."""
    name = maker.removesuffix("()")
    is_class = name[:1].isupper() and name not in _PLAIN_CLASSES
    return is_class and name != maker and "_" not in name


def _constructions(flow: ValueFlow) -> Iterator[str]:
    for node in flow.inner_nodes:
        if isinstance(node, ast.Call):
            yield from filter(_is_construction, flow.of(node).itself)


def _arrays(flow: ValueFlow) -> Iterator[str]:
    """Makers of what the text hands to numpy, which asks arrays of the program for elements."""
    for node in flow.inner_nodes:
        if isinstance(node, ast.Call) and flow.module_of(node.func) == "numpy":
            for argument in node.args:
                yield from flow.of(argument).itself - {OWN}


# Which uses of objects cannot be judged


def _unsupported_uses(flow: ValueFlow, objects: Set[str]) -> Iterator[str]:
    compared = "it compares objects of the program"
    for left, right, kind in _comparisons(flow):
        sides = ((flow.of(left), right), (flow.of(right), left))
        if any(_needs_equality(held, other, objects) for held, other in sides):
            yield compared
        elif kind is ast.In and objects & flow.of(right).inside:
            yield "it looks for a value among objects of the program"
    denied = {one for node in flow.inner_nodes for one in _denied(node)}
    for node in flow.inner_nodes:
        if any(_is_object(flow, one, objects) for one in _truths(node)):
            yield "it asks for the truth of an object of the program"
        elif any(_is_object(flow, one, objects) for one in _operands(node)):
            yield "it computes with objects of the program"
        elif isinstance(node, ast.Call) and node not in denied and _asks_for_base(flow, node):
            yield "it asks for the bases of a class of the program"
        elif isinstance(node, ast.Call) and _compares_elements(flow, node, objects):
            yield f"{called_name(node)} needs the operators of objects of the program"
        elif isinstance(node, ast.Set) and objects & flow.of(node).inside:
            yield "it makes a set of objects of the program"
        elif isinstance(node, ast.Attribute) and _is_special(flow, node, objects):
            yield f"it asks for {node.attr} of an object of the program"


def _comparisons(flow: ValueFlow) -> Iterator[tuple[ast.expr, ast.expr, type[ast.AST]]]:
    """Pairs of expressions that the code compares, with `ast.In` for a search, else `ast.Eq`."""
    for node in flow.inner_nodes:
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, right, operator in zip(operands, operands[1:], node.ops, strict=False):
                found = ast.In if isinstance(operator, ast.In | ast.NotIn) else ast.Eq
                yield left, right, found
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            name = called_name(node)
            if name.startswith("assert") and name not in _NOT_COMPARED:
                found = ast.In if name in ("assertIn", "assertNotIn") else ast.Eq
                yield node.args[0], node.args[1], found


def _needs_equality(held: Held, other: ast.expr, objects: Set[str]) -> bool:
    """Whether a comparison with the other expression asks an object of the program."""
    if isinstance(other, ast.Constant) and other.value is None:
        return False
    makers = objects & held.itself
    if _is_literal(other):  # elements of an array of the program are numbers
        makers = {maker for maker in makers if not maker.endswith("]")}
    if any("(" in maker or maker.startswith(".") for maker in makers):
        return True
    return bool(objects & held.inside) and not _is_empty(other)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _is_empty(node: ast.expr) -> bool:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, ast.Call):
        return not node.args and not node.keywords and isinstance(node.func, ast.Name)
    return isinstance(node, ast.Constant)


def _is_object(flow: ValueFlow, node: ast.expr, objects: Set[str]) -> bool:
    makers = objects & flow.of(node).itself
    return any("(" in maker or maker.startswith(".") for maker in makers)


def _truths(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions whose truth is asked for."""
    if isinstance(node, ast.Assert | ast.If | ast.While | ast.IfExp):
        yield node.test
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield from node.values[:-1]
    elif isinstance(node, ast.comprehension):
        yield from node.ifs
    elif isinstance(node, ast.Call) and called_name(node) in _TRUTH_CALLS:
        yield from node.args[:1]


def _operands(node: ast.AST) -> Iterable[ast.expr]:
    """Operands of arithmetic. Text on the left of `%` only prints what is on its right."""
    if isinstance(node, ast.BinOp):
        prints = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
        return () if prints else (node.left, node.right)
    if isinstance(node, ast.AugAssign):
        return (node.target, node.value)
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return (node.operand,)
    if isinstance(node, ast.Call) and called_name(node) in _ONE_OPERAND_CALLS:
        return node.args
    return ()


def _compares_elements(flow: ValueFlow, node: ast.Call, objects: Set[str]) -> bool:
    """Whether a call compares, adds or hashes elements that are objects of the program."""
    name = called_name(node)
    if isinstance(node.func, ast.Attribute):
        is_ours = not flow.of(node.func.value).itself - {OWN}
        return (
            is_ours
            and name in _SEARCHES
            and any(_is_object(flow, one, objects) for one in node.args)
        )
    if name not in _ELEMENT_CALLS or any(keyword.arg == "key" for keyword in node.keywords):
        return False
    if len(node.args) > 1 and name in ("min", "max"):
        return any(_is_object(flow, one, objects) for one in node.args)
    return any(objects & flow.of(one).elements for one in node.args)


def _denied(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions that the code expects to be false."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Call) and called_name(node) == "assertFalse":
        yield from node.args[:1]
    elif isinstance(node, ast.Compare) and len(node.comparators) == 1:
        expected = node.comparators[0]
        if isinstance(expected, ast.Constant) and expected.value is False:
            yield node.left


def _asks_for_base(flow: ValueFlow, node: ast.Call) -> bool:
    """Whether a call asks if a class of the program derives from another one of it.

    Only the program could tell. That `Point()` is a `Point` is known without it.
    """
    if len(node.args) < 2:
        return False
    name, classes = called_name(node), flow.of(node.args[1]).all - {OWN} - _PLAIN_CLASSES
    asked = flow.of(node.args[0]).itself - {OWN}
    if name in ("isinstance", "assertIsInstance"):
        asked = frozenset(maker.removesuffix("()") for maker in asked if _is_construction(maker))
    elif name not in ("issubclass", "assertIsSubclass"):
        return False
    return bool(asked and classes) and asked.isdisjoint(classes)


def _is_special(flow: ValueFlow, node: ast.Attribute, objects: Set[str]) -> bool:
    """Whether a special attribute such as `__dict__` is asked for, which a stand-in has not."""
    if not (node.attr.startswith("__") and node.attr.endswith("__")):
        return False
    makers = flow.of(node.value).itself - {OWN}
    return any(maker in objects or maker.isidentifier() for maker in makers) and not hasattr(
        builtins, node.attr
    )
