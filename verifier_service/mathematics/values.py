"""What a final answer is: a value, a list, a tuple, a set, ranges, a relation, a matrix, words.

How the text of an answer was written is forgotten; what it says is kept: units, names (`x = 2`),
brackets, decimal points. See `answer_parser` for how it is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from verifier_service.mathematics.expressions import Expression
from verifier_service.mathematics.units import Unit


@dataclass(frozen=True, slots=True)
class Value:
    """A quantity: an expression, perhaps with a unit or with words after it."""

    expression: Expression
    unit: Unit | None = None
    words: tuple[str, ...] = ()
    base: int | None = None
    """Of a whole number that names its base: `101_2`. The expression is what its digits say in
    base ten."""


@dataclass(frozen=True, slots=True)
class Named:
    """`x = 2`, `f(x) = x^2`, `Maximum: 3`."""

    name: str
    value: Answer
    argument: str | None = None
    """The variable of a function that is defined; None for anything else."""
    is_function: bool = False


@dataclass(frozen=True, slots=True)
class Several:
    """Several answers; `kind` is "list" (a, b), "or", "set" {a, b} or "tuple" (a, b)."""

    kind: str
    items: tuple[Answer, ...]
    brackets: str = ""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from low to high; None is infinite."""

    low: Expression | None
    low_closed: bool
    high: Expression | None
    high_closed: bool


@dataclass(frozen=True, slots=True)
class Ranges:
    """A union of ranges, perhaps of a named variable."""

    pieces: tuple[Range, ...]
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """An equation or inequality that names no value: left `=`, `<`, `<=` or `!=` right."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix, row by row."""

    rows: tuple[tuple[Answer, ...], ...]


@dataclass(frozen=True, slots=True)
class Words:
    """Prose, in normal form."""

    text: str


@dataclass(frozen=True, slots=True)
class Time:
    """A time of day, in minutes since midnight; `half` is "a", "p" or empty: not told."""

    minutes: int
    seconds: int
    half: str


Answer = Value | Named | Several | Ranges | Relation | Grid | Words | Time

EVERYTHING = Ranges((Range(None, False, None, False),))
EMPTY = Several("set", ())
