"""Names of arbitrary constants and integers, which an answer may choose: the `C` of `x^2 + C`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations

from verifier_service.mathematics.expressions import (
    Expression,
    Symbol,
    has_symbol,
    substitute,
    variables,
)
from verifier_service.mathematics.periodic import INTEGER_NAMES

_MAX_PARAMETERS = 3
"""Largest number of names that are tried in each order."""
# The name of an arbitrary constant: `C`, `c_1`.
_CONSTANT_NAME = re.compile(r"[A-DcKk](?:_\w)?")


def with_same_parameters(left: Expression, right: Expression) -> Iterator[Expression]:
    """The right side with its arbitrary integers or constants named as on the left side."""
    only_left = sorted(variables(left) - variables(right))
    only_right = sorted(variables(right) - variables(left))
    if not 0 < len(only_left) == len(only_right) <= _MAX_PARAMETERS:
        return
    names = {*only_left, *only_right}
    are_integers = (
        len(only_left) == 1
        and names <= INTEGER_NAMES
        and has_symbol(left, "pi")
        and has_symbol(right, "pi")
    )
    shared = variables(left) & variables(right)
    are_constants = all(map(_CONSTANT_NAME.fullmatch, names)) and not all(
        map(_CONSTANT_NAME.fullmatch, shared)
    )
    if are_integers or are_constants:
        for order in permutations(only_left):
            yield substitute(
                right, {old: Symbol(new) for old, new in zip(only_right, order, strict=True)}
            )
