"""The form of an answer: whether it leaves an operation to do, and whether two forms are the same.

`37*24` has the value of `888` and leaves a product to do; `(x+1)^2` has the value of `x^2+2x+1` and
is factored. The comparison of values does not see this, so the option `form` of `accuracy` asks
here, about answers whose values are equal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import mpmath

from verifier_service.mathematics.exact_values import Undefined
from verifier_service.mathematics.expressions import (
    MINUS_ONE,
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    variables,
    walk,
)
from verifier_service.mathematics.notation import Kind, Token, Unreadable, tokenize
from verifier_service.mathematics.numeric_values import DIGITS, numeric
from verifier_service.mathematics.values import (
    Grid,
    Named,
    Quantity,
    Ranges,
    Relation,
    Several,
    Value,
)

MAX_DENOMINATOR = 10**6
"""Largest denominator of a rational value that a constant with roots or functions may have."""
_OPERATIONS = frozenset("factorial binom gcd lcm floor ceil abs max min".split())
"""Functions that a number can always be put in place of, if they are of numbers."""
_OF_ANGLES = frozenset("sin cos tan cot sec csc cosec".split())


def leaves_operation(value: Value) -> bool:
    """Whether a value leaves an operation between numbers to do.

    Sums, products, powers and functions of numbers do, and fractions that can be reduced. Roots,
    multiples of pi and e, powers of ten and sums like `1 + \\sqrt 2` do not, but for those with a
    rational value. An inequality that is not solved for its variable does, and digits in a base.
    """
    match value:
        case Quantity(expression, _, _, base):
            return base is not None or _leaves_operation(expression)
        case Named(_, inside):
            return leaves_operation(inside)
        case Several(_, _, "::"):  # its quotients are no fractions that somebody wrote
            return False
        case Several(_, items):
            return any(map(leaves_operation, items))
        case Grid(rows):
            return any(leaves_operation(cell) for row in rows for cell in row)
        case Relation(_, left, right):
            sides = [_leaves_operation(left), _leaves_operation(right)]
            is_stated = not variables(left) and not variables(right)  # 37*24 = 888
            return all(sides) if is_stated else any(sides)
        case Ranges(pieces):
            ends = [end for one in pieces for end in (one.low, one.high) if end is not None]
            is_solved = all(one.is_solved for one in pieces)
            return not is_solved or any(map(_leaves_operation, ends))
    return False


def leaves_more(answer: Value, reference: Value) -> bool:
    """Whether an answer is an equation that the reference solves, or has letters that cancel."""
    if isinstance(answer, Quantity) and isinstance(reference, Quantity):
        return len(variables(answer.expression)) > len(variables(reference.expression))
    if isinstance(answer, Several) and isinstance(reference, Several):
        return any(isinstance(one, Relation) for one in answer.items) and not any(
            isinstance(one, Relation) for one in reference.items
        )
    return (
        isinstance(answer, Relation)
        and isinstance(reference, Named)
        and isinstance(reference.value, Quantity)
        and not variables(reference.value.expression)
    )


def text_leaves_operation(text: str) -> bool:
    """Whether a text that no reader understands has signs of an operation to do.

    These are the names of operations, such as `\\sum`, operators between two numbers, and matrices
    side by side.
    """
    try:
        tokens = tokenize(text)
    except Unreadable:
        return True
    return any(map(_names_operation, tokens)) or any(
        _joins_numbers(tokens, index) for index in range(1, len(tokens) - 1)
    )


_NAMES = frozenset(
    (
        "sum prod coprod int iint iiint oint lim limsup liminf gcd lcm binom det max min mod "
        "bmod choose ! !! Gamma perm"
    ).split()
) | {"begin vmatrix", "begin Vmatrix"}
"""Tokens of operations."""


def _names_operation(token: Token) -> bool:
    return token.kind is not Kind.WORD and token.text in _NAMES


def _joins_numbers(tokens: Sequence[Token], index: int) -> bool:
    """Whether an operator stands between two numbers, but for a power of ten behind a factor."""
    before, sign, after = tokens[index - 1 : index + 2]
    if before.text.startswith("end ") and sign.text.startswith("begin "):  # matrices
        return True
    if sign.kind is not Kind.SIGN or sign.text not in "+-*/^":
        return False
    if before.kind is not Kind.NUMBER or after.kind is not Kind.NUMBER:
        return False
    if index > 1 and tokens[index - 2].text in ("^", "_"):
        return False
    is_power_of_ten = "10" in (before.text if sign.text == "^" else "", after.text) and (
        sign.text == "^" or [one.text for one in tokens[index + 2 : index + 3]] == ["^"]
    )
    return not is_power_of_ten


# An operation on sets that were written out, or on intervals: `\\{1\\} \\cup \\{2\\}`, `∩`.
_OF_SETS = re.compile(r"\\(?:cup|cap|setminus)(?![a-zA-Z])|[∪∩∖]")
_OF_INTERVALS = re.compile(r"\\cap(?![a-zA-Z])|∩")


def joins_sets(text: str, value: Value) -> bool:
    """Whether a text writes its set as an operation on others; a union of intervals is none."""
    if isinstance(value, Ranges):
        return _OF_INTERVALS.search(text) is not None
    is_set = isinstance(value, Several) and value.kind == "set"
    return is_set and _OF_SETS.search(text) is not None


# Operations in an expression


def _leaves_operation(expression: Expression) -> bool:
    if _is_rational_in_disguise(expression):
        return True
    match expression:
        case Number():
            return not expression.is_reduced
        case Sum(terms):
            return _has_like_terms(terms) or any(map(_leaves_operation, terms))
        case Product():
            return _product_leaves_operation(expression)
        case Power(base, exponent):
            return _power_leaves_operation(base, exponent)
        case Call(name, arguments):
            return _call_leaves_operation(name, arguments)
    return False


def _is_rational_in_disguise(expression: Expression) -> bool:
    """Whether a constant with roots, functions, pi or e has a rational value: `\\sqrt{16}`."""
    if isinstance(expression, Number | Symbol) or variables(expression):
        return False
    parts = walk(expression)
    if all(isinstance(part, Number | Sum | Product) for part in parts):
        return False
    if all(not isinstance(part, Call | Symbol) and not _is_root(part) for part in parts):
        return False
    return _is_rational(expression)


def _is_rational(expression: Expression, unit: Expression | None = None) -> bool:
    """Whether a constant, divided by a unit, is a fraction with a small denominator."""
    try:
        value = numeric(expression, {}, DIGITS)
        with mpmath.workdps(DIGITS):
            value = value / numeric(unit, {}, DIGITS) if unit else value
            if abs(mpmath.im(value)) > 1e-30 or abs(value) > 1e15:
                return False
            scale = 10**40
            rounded = Fraction(int(mpmath.nint(mpmath.re(value) * scale)), scale)
    except (Undefined, Unreadable, TypeError, OverflowError):
        return False
    return abs(rounded.limit_denominator(MAX_DENOMINATOR) - rounded) < Fraction(1, 10**30)


def _is_root(expression: Expression) -> bool:
    match expression:
        case Power(_, Number(value, _)):
            return value.denominator > 1
    return False


def _has_like_terms(terms: Sequence[Expression]) -> bool:
    """Whether two terms could be added, or one is 0: `9 - 5`, `2x + x`, but not `x^2 + x`."""
    kinds = [_factors(term).kind for term in terms]
    if any(isinstance(term, Number) and not term.value for term in terms):
        return True
    return len(set(kinds)) < len(kinds)


@dataclass
class _Factors:
    """The factors of a product above and below the line, without signs."""

    numbers: list[Number] = field(default_factory=list)
    divisors: list[Number] = field(default_factory=list)
    powers_of_ten: list[Power] = field(default_factory=list)
    above: list[Expression] = field(default_factory=list)
    below: list[Expression] = field(default_factory=list)

    @property
    def kind(self) -> tuple[frozenset[Expression], frozenset[Expression]]:
        """All but the numbers: terms of one kind can be added."""
        return frozenset([*self.above, *self.powers_of_ten]), frozenset(self.below)


def _factors(expression: Expression) -> _Factors:
    found = _Factors()
    _collect(expression, found, is_below=False)
    return found


def _collect(expression: Expression, found: _Factors, *, is_below: bool) -> None:
    match expression:
        case Product((first, second)) if first == MINUS_ONE and not isinstance(second, Number):
            _collect(second, found, is_below=is_below)
        case Product((_, Number(value, None), Symbol("pi"))) if value == Fraction(1, 180):
            (found.below if is_below else found.above).append(expression)  # degrees
        case Product(factors):
            for factor in factors:
                _collect(factor, found, is_below=is_below)
        case Power(base, exponent) if exponent == MINUS_ONE:
            _collect(base, found, is_below=not is_below)
        case Power(Number(value, None), Number(exponent, None)) if (
            value == 10 and exponent.denominator == 1 and not is_below
        ):
            found.powers_of_ten.append(expression)
        case Number():
            (found.divisors if is_below else found.numbers).append(expression)
        case _:
            (found.below if is_below else found.above).append(expression)


def _product_leaves_operation(product: Product) -> bool:
    match product.factors:
        case (degrees, Number(value, None), Symbol("pi")) if value == Fraction(1, 180):
            return _leaves_operation(degrees)
    found = _factors(product)
    if max(len(found.numbers), len(found.divisors), len(found.powers_of_ten)) > 1:
        return True
    if found.divisors and not _is_reduced(found, found.divisors[0]):
        return True
    if _have_like_roots(found):
        return True
    parts = (*found.numbers, *found.above, *found.below)
    return any(map(_leaves_operation, parts))


def _is_reduced(found: _Factors, divisor: Number) -> bool:
    """Whether nothing can be cancelled between the numbers of a fraction."""
    if divisor.decimals or divisor.value.denominator > 1 or abs(divisor.value) == 1:
        return False
    contents = [_content(one) for one in (*found.numbers, *found.above)]
    if None in contents:
        return False
    return all(math.gcd(one or 1, int(divisor.value)) == 1 for one in contents)


def _content(expression: Expression) -> int | None:
    """The whole number that divides all of an expression; None where its numbers are not whole."""
    match expression:
        case Number(value, decimals):
            return int(value) if value.denominator == 1 and not decimals else None
        case Sum(terms):
            numbers = [_factors(term).numbers for term in terms]
            wholes = [int(one[0].value) if one else 1 for one in numbers]
            return math.gcd(*wholes)
    return 1


def _have_like_roots(found: _Factors) -> bool:
    """Whether roots of numbers could be multiplied or cancelled: `\\sqrt2 \\sqrt3`."""
    above, below = ([_radicand(one) for one in side] for side in (found.above, found.below))
    one, other = ([root for root in side if root is not None] for side in (above, below))
    if len(one) > 1 or len(other) > 1:
        return True
    return bool(one and other and math.gcd(one[0], other[0]) > 1)


def _radicand(expression: Expression) -> int | None:
    match expression:
        case Power(Number(value, _), Number(exponent, _)) if exponent.denominator > 1:
            return value.numerator
    return None


def _power_leaves_operation(base: Expression, exponent: Expression) -> bool:
    if _leaves_operation(exponent):
        return True
    is_whole = isinstance(exponent, Number) and exponent.value.denominator == 1
    if isinstance(base, Number) and base.value < 0 and _degree(exponent) % 2 == 0:
        return True
    if isinstance(base, Number) and is_whole:
        return base.value != 10 or base.decimals is not None
    if is_whole and exponent != MINUS_ONE and not variables(base):
        return base not in (Symbol("e"), Symbol("pi"))
    return _leaves_operation(base)


def _degree(exponent: Expression) -> int:
    """The degree of the root that an exponent takes: 2 for 1/2, 1 for a whole number."""
    return exponent.value.denominator if isinstance(exponent, Number) else 1


def _call_leaves_operation(name: str, arguments: Sequence[Expression]) -> bool:
    if any(map(_leaves_operation, arguments)):
        return True
    if name in "±∓" or any(map(variables, arguments)):
        return False
    pi = Symbol("pi")
    if name in _OPERATIONS or (name in _OF_ANGLES and _is_rational(arguments[0], pi)):
        return True
    return name.startswith("arc") and _is_rational(Call(name, tuple(arguments)), pi)


# Two forms


def same_form(left: Value, right: Value) -> bool:
    """Whether two values, which are equal, are written in one form.

    Expressions are both expanded or both factored, into as many terms or factors, with the same
    roots, functions and kinds of numbers. Units, bases and sides of equations are the same.
    """
    left, right = _unnamed(left, right)
    match left, right:
        case Quantity(), Quantity():
            return _same_quantity_form(left, right)
        case Relation(), Relation():
            sides = [_shape(one) for one in (left.left, left.right, right.left, right.right)]
            return sides[:2] == sides[2:] or sides[:2] == sides[:1:-1]
        case (Relation(_, _, side), Quantity() as other) | (
            Quantity() as other,
            Relation(_, _, side),
        ):
            return same_form(Quantity(side), other)
        case (Relation(), _) | (_, Relation()):
            return False
        case Several(_, items), Several(_, others):
            return _same_forms(items, others)
        case Grid(), Grid():
            return _same_forms(_cells(left), _cells(right))
        case Ranges(), Ranges():
            return _same_forms(_ends(left), _ends(right))
    return True


def _unnamed(left: Value, right: Value) -> tuple[Value, Value]:
    """Two values without their names, unless one of them is an equation."""
    kinds = {type(left), type(right)}
    if kinds == {Relation, Named}:
        return left, right
    return (
        left.value if isinstance(left, Named) else left,
        right.value if isinstance(right, Named) else right,
    )


def _same_forms(left: Sequence[Value], right: Sequence[Value]) -> bool:
    """Whether each element has one of the same form on the other side."""
    return all(
        any(same_form(one, other) for other in others)
        for own, others in ((left, right), (right, left))
        for one in own
    )


def _cells(grid: Grid) -> list[Value]:
    return [cell for row in grid.rows for cell in row]


def _ends(ranges: Ranges) -> list[Value]:
    ends = [end for one in ranges.pieces for end in (one.low, one.high)]
    return [Quantity(end) for end in ends if end is not None]


def _same_quantity_form(left: Quantity, right: Quantity) -> bool:
    if left.base != right.base:
        return False
    percents = [
        one.unit is not None and one.unit.dimension == (("percent", 1),) for one in (left, right)
    ]
    if percents[0] != percents[1] or (left.unit and right.unit and left.unit != right.unit):
        return False
    return _shape(left.expression) == _shape(right.expression)


def _shape(expression: Expression) -> tuple[object, ...]:
    """The parts of a form that two expressions of one form have in common."""
    constant = (
        _leaves_operation(expression) and _literals(expression),
        any(isinstance(one, Number) and _is_broken(one) for one in walk(expression)),
        frozenset(_roots(expression, is_below=False)),
        frozenset(one.name for one in walk(expression) if isinstance(one, Call)),
    )
    if not variables(expression):
        return constant
    terms = _terms(expression)
    return (*constant[1:], len(terms), tuple(sorted(map(_sums_in_factors, terms))))


def _literals(expression: Expression) -> tuple[Fraction, ...]:
    return tuple(sorted(abs(one.value) for one in walk(expression) if isinstance(one, Number)))


def _is_broken(number: Number) -> bool:
    """Whether a number is written as a decimal that is not whole."""
    return bool(number.decimals) and number.value.denominator > 1


def _roots(expression: Expression, *, is_below: bool) -> list[tuple[object, ...]]:
    """The roots and logarithms of numbers in an expression, each with its side of the line."""
    match expression:
        case Power(base, exponent) if exponent == MINUS_ONE:
            return _roots(base, is_below=not is_below)
        case Power(base, Number(exponent, _)) if exponent.denominator > 1:
            inside = base if isinstance(base, Number) else None
            return [(inside, exponent, is_below), *_roots(base, is_below=is_below)]
        case Call() if not variables(expression):
            return [(expression, is_below)]
        case Sum(parts) | Product(parts) | Call(_, parts):
            return [root for part in parts for root in _roots(part, is_below=is_below)]
        case Power(base, exponent):
            return [*_roots(base, is_below=is_below), *_roots(exponent, is_below=is_below)]
    return []


def _terms(expression: Expression) -> list[Expression]:
    """The terms of a sum, also of a sum in a sum; any other expression alone."""
    match expression:
        case Sum(terms):
            return [one for term in terms for one in _terms(term)]
        case Product((first, Sum() as inside)) if first == MINUS_ONE:
            return [inside]
    return [expression]


def _sums_in_factors(term: Expression) -> tuple[int, int]:
    """How many factors of a term are sums, above and below the line; squares count twice."""
    found = _factors(term)
    above, below = (sum(map(_multiplicity, side)) for side in (found.above, found.below))
    return above, below


def _multiplicity(factor: Expression) -> int:
    match factor:
        case Sum():
            return 1
        case Power(Sum(), Number(exponent, _)) if exponent.denominator == 1:
            return abs(int(exponent))
        case Power(Sum() | Product(), _):
            return 1
    return 0
