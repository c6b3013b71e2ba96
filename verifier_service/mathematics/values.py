"""Values of final answers: quantities, lists, tuples, sets, ranges, relations, matrices, words.

A value keeps the meaning of a text, with units, names (`x = 2`), brackets and decimal points, and
forgets how it was written. `answer_parser` makes values from texts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from verifier_service.mathematics.expressions import Expression, Number
from verifier_service.mathematics.units import Unit


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression, perhaps with a unit or with words behind it: `5`, `2 m`, `3 apples`."""

    expression: Expression
    unit: Unit | None = None
    words: tuple[str, ...] = ()
    base: int | None = None
    """Base that a whole number names: 2 in `101_2`. The expression reads its digits in base ten."""
    rounding: Number | None = None
    """The decimal to which its author rounds it, another form of it: the 1.67 of `5/3 ≈ 1.67`."""


@dataclass(frozen=True, slots=True)
class Named:
    """A value with a name: `x = 2`, `f(x) = x^2`, `Maximum: 3`."""

    name: str
    value: Value
    argument: str | None = None
    """Variable of the function that is defined; None for any other value."""
    is_function: bool = False


@dataclass(frozen=True, slots=True)
class Several:
    """Several values: a list, alternatives, a set or a tuple."""

    kind: str
    """Kind of collection: "list" `a, b`, "or" `a or b`, "set" `{a, b}`, "tuple" `(a, b)`."""
    items: tuple[Value, ...]
    brackets: str = ""
    """Opening and closing bracket of a tuple; "::" for a ratio, empty where it has none."""


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from low to high; an end that is None is infinite."""

    low: Expression | None
    low_closed: bool
    high: Expression | None
    high_closed: bool
    is_solved: bool = field(default=True, compare=False)
    """False where the bounds follow from an inequality that is not solved: `2x < 6`."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """A union of ranges, perhaps of a named variable."""

    pieces: tuple[Range, ...]
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """An equation or inequality that names no value; its sign is `=`, `<`, `<=` or `!=`."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix, row by row."""

    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Words:
    """Prose, in normal form."""

    text: str


@dataclass(frozen=True, slots=True)
class Time:
    """A time of day."""

    minutes: int
    """Whole minutes since midnight."""
    seconds: int
    half: str
    """Half of the day: "a" for a.m., "p" for p.m., empty where the text does not tell."""


Value = Quantity | Named | Several | Ranges | Relation | Grid | Words | Time

EVERYTHING = Ranges((Range(None, False, None, False),))
EMPTY = Several("set", ())
