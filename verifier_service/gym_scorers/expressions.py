"""Python's notation in answers, read from its syntax tree: nothing is evaluated as a program."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import sympy

from verifier_service.gym_scorers.silence import without_warnings

MAX_EXPONENT = 500
MAX_BITS = 10_000
"""Largest result of a whole-number expression, in bits."""
_TRIGONOMETRY = ("sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan")
_HYPERBOLIC = ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(sympy, name)
    for name in (*_TRIGONOMETRY, *_HYPERBOLIC, "exp", "log", "sqrt", "Abs")
} | {"ln": sympy.log, "abs": sympy.Abs}
_CONSTANTS: Mapping[str, Any] = {"pi": sympy.pi, "E": sympy.E, "I": sympy.I}
_MAX_ARGUMENTS = 2
_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Pow: operator.pow,
}
_SYMBOLIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)


class BadNotation(ValueError):
    """The text is not of the notation that is read."""


def read_literal(text: str) -> Any:
    """A literal such as a list of lists.

    >>> read_literal("[['Q', '_'], ['_', 'Q']]")
    [['Q', '_'], ['_', 'Q']]

    Raises:
        BadNotation: it is none.
    """
    try:
        return ast.literal_eval(_tree(text))
    except (ValueError, TypeError) as error:
        raise BadNotation("no literal") from error


def read_integer_expression(text: str) -> int:
    """The value of an expression of whole numbers and Python's operations on bits.

    >>> read_integer_expression("((0x13 << 0x2) ^ 0b1)")
    77

    Raises:
        BadNotation: it is none, or over the bounds.
    """
    return _integer(_tree(text).body)


def _integer(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            result = value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            result = -_integer(operand)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            result = ~_integer(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            one, other = _integer(left), _integer(right)
            if isinstance(op, ast.Div | ast.Pow):
                raise BadNotation("an operation that is none on bits")
            if isinstance(op, ast.LShift | ast.RShift) and not 0 <= other <= MAX_BITS:
                raise BadNotation("a shift over the bounds")
            result = _OPERATIONS[type(op)](one, other)
        case _:
            raise BadNotation("no expression of whole numbers")
    if result.bit_length() > MAX_BITS:
        raise BadNotation("a number over the bounds")
    return result


def read_symbolic(text: str, local_dict: Mapping[str, Any] | None = None) -> Any:
    """A sympy expression: numbers, names, operations and functions of analysis.

    >>> read_symbolic("2*x**2 - sin(x)/3")
    2*x**2 - sin(x)/3

    Args:
        text: in Python's notation, as sympy's `parse_expr` has it.
        local_dict: values of names; others are symbols.

    Raises:
        BadNotation: it has anything else, or an exponent over the bounds.
    """
    return _symbolic(_tree(text).body, local_dict or {})


def _symbolic(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return sympy.Integer(value)
        case ast.Constant(value=float(value)):
            return sympy.Float(value)
        case ast.Name(id=name):
            return names.get(name) or _CONSTANTS.get(name) or sympy.Symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_symbolic(operand, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _symbolic(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _SYMBOLIC):
            one, other = _symbolic(left, names), _symbolic(right, names)
            if isinstance(op, ast.Pow) and other.is_Rational and abs(other) > MAX_EXPONENT:
                raise BadNotation("an exponent over the bounds")
            return _OPERATIONS[type(op)](one, other)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if (
            name in _FUNCTIONS and len(arguments) <= _MAX_ARGUMENTS
        ):
            return _FUNCTIONS[name](*(_symbolic(one, names) for one in arguments))
    raise BadNotation("no expression of numbers, names and functions")


def _tree(text: str) -> ast.Expression:
    with without_warnings():  # about an answer's escapes
        try:
            return ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise BadNotation("no expression of Python") from error
