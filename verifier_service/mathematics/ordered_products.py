"""Products of letters whose order counts, since they stand for matrices or points: `AB`, `BA`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verifier_service.mathematics.expressions import Expression, Number, Power, Product, Symbol

_ORDERED = frozenset("ABCDEPQ")
"""Letters that stand for points, matrices and options; `RC` and `IR` are products of numbers."""
_Letters = tuple[tuple[str, Fraction], ...]


def ordered_letters(expression: Expression) -> _Letters | None:
    """The letters of a product whose order counts, with exponents; None for anything else.

    Letters are capitals: those of _ORDERED, or any where one is inverted. Equal neighbours are one.

    >>> ordered_letters(Product((Symbol("A"), Symbol("B"))))
    (('A', Fraction(1, 1)), ('B', Fraction(1, 1)))
    >>> ordered_letters(Product((Symbol("R"), Symbol("C")))) is None
    True
    """
    found: list[tuple[str, Fraction]] = []
    factors = factors_of(expression)
    has_inverse = False
    for factor in factors:
        letter = _letter_to_a_power(factor)
        if letter is None:
            return None
        has_inverse = has_inverse or letter[1] < 0
        if found and found[-1][0] == letter[0]:
            letter = (letter[0], letter[1] + found.pop()[1])
        if letter[1]:
            found.append(letter)
    if has_inverse or _ORDERED.issuperset(name for name, _ in found):
        return tuple(found)
    return None


def factors_of(expression: Expression) -> Sequence[Expression]:
    """The factors of a product, with those of products among them in order: `(AB)A`."""
    if not isinstance(expression, Product):
        return (expression,)
    return [inside for factor in expression.factors for inside in factors_of(factor)]


def _letter_to_a_power(factor: Expression) -> tuple[str, Fraction] | None:
    match factor:
        case Symbol(name) if len(name) == 1 and name.isupper():
            return name, Fraction(1)
        case Power(Symbol(name), Number(exponent, _)) if len(name) == 1 and name.isupper():
            return name, exponent
    return None
