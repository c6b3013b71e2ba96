r"""Residues by a modulus: `3 \pmod 7` beside `10 \pmod 7`, and beside the numbers `7k + 3`."""

from __future__ import annotations

from fractions import Fraction

from verifier_service.mathematics.exact_values import NotExact, Undefined, exact
from verifier_service.mathematics.expressions import Number, Power, variables, walk
from verifier_service.mathematics.periodic import INTEGER_NAMES
from verifier_service.mathematics.values import Quantity, Several

_PLACES = (0, 1, 2, 5, -11, 300)
"""Integers at which a formula is tried."""


def are_congruent(left: Several, right: Several) -> bool:
    """Whether two residues in digits are the same by one modulus: 2 and 7 modulo 5."""
    one, other = _residue(left), _residue(right)
    return one is not None and other is not None and one == other


def is_residue_class(residue: Several, formula: Quantity) -> bool:
    """Whether a formula in one integer gives the numbers of a residue class, and no others.

    `7k + 3` and `7k - 4` both give those that are 3 modulo 7.
    """
    found = _residue(residue)
    names = variables(formula.expression)
    if found is None or formula.unit or formula.words or len(names) != 1:
        return False
    (name,) = names
    if name not in INTEGER_NAMES or any(isinstance(one, Power) for one in walk(formula.expression)):
        return False
    try:
        values = [exact(formula.expression, {name: Fraction(place)}) for place in _PLACES]
    except (NotExact, Undefined):
        return False
    start, step = values[0], values[1] - values[0]
    is_linear = all(
        value == start + step * place for value, place in zip(values, _PLACES, strict=True)
    )
    return is_linear and (start % found[1], abs(step)) == found


def _residue(several: Several) -> tuple[Fraction, Fraction] | None:
    """The least residue of at least 0, and its modulus; None where one is no whole number."""
    numbers = [
        item.expression.value
        for item in several.items
        if isinstance(item, Quantity) and isinstance(item.expression, Number) and item.unit is None
    ]
    if len(numbers) != 2 or numbers[1] <= 0 or any(one.denominator != 1 for one in numbers):
        return None
    return numbers[0] % numbers[1], numbers[1]
