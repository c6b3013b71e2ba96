"""The tolerance of decimals: the distance of a decimal from a value that it may equal.

A tolerance is relative. It matters only where one side is written as a decimal:
`expression_equality.same` applies it to values, `quantity_comparison` to rounded ones. Between
whole numbers and fractions nothing is forgiven.
"""

from __future__ import annotations

import math

DECIMAL_TOLERANCE = 1e-6
"""Default of the option `tolerance` of `accuracy`."""
MAX_DECIMAL_TOLERANCE = 0.1
"""Bound below which that option must stay."""


def rounding_places(tolerance: float) -> float:
    """Number of decimals from which a decimal may be a rounded value; infinite for tolerance 0.

    >>> rounding_places(1e-6), rounding_places(0.05)
    (6, 1)
    """
    return max(round(-math.log10(tolerance)), 1) if tolerance else math.inf
