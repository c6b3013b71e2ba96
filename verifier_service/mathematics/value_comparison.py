"""Whether two values are equal, whatever kinds of values they are.

Symmetric by construction: a pair is put in a fixed order of kinds before anything looks at it, and
expressions are compared by `expression_equality.same`, which does not depend on the order either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from verifier_service.mathematics.equations import same_equation, same_relation
from verifier_service.mathematics.exact_values import Undefined
from verifier_service.mathematics.expression_equality import same
from verifier_service.mathematics.expressions import (
    Call,
    Expression,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    has_symbol,
    substitute,
    variables,
    walk,
)
from verifier_service.mathematics.notation import GREEK, Unreadable
from verifier_service.mathematics.numeric_values import numeric
from verifier_service.mathematics.pairing import MAX_UNORDERED, same_elements
from verifier_service.mathematics.periodic import INTEGER_NAMES
from verifier_service.mathematics.quantity_comparison import (
    same_expression,
    same_quantity,
    with_decimal_logarithms,
)
from verifier_service.mathematics.ranges import as_ranges, bound_as_relation
from verifier_service.mathematics.residues import are_congruent, is_residue_class
from verifier_service.mathematics.rules import Rules
from verifier_service.mathematics.set_operations import joined
from verifier_service.mathematics.values import (
    Grid,
    Named,
    Quantity,
    Range,
    Ranges,
    Relation,
    Several,
    Time,
    Value,
    Words,
)

_ORDER: tuple[type, ...] = (Named, Relation, Several, Ranges, Grid, Words, Time, Quantity)


def same_value(left: Value, right: Value, rules: Rules) -> bool | None:
    """Whether two values are equal; None where that is not decided here."""
    if left == right:
        return True
    if _ORDER.index(type(left)) > _ORDER.index(type(right)):
        left, right = right, left
    match left, right:
        case Named(), Named():
            return _same_named(left, right, rules)
        case Named(), Relation():
            return _same_as_equation(left, right, rules)
        case Named(), _:
            return not _denies(left.name) and same_value(left.value, right, rules)
        case Relation(), Relation():
            return same_relation(left, right, rules.tolerance)
        case Relation(), Ranges() if (bound := bound_as_relation(right)) is not None:
            return same_relation(left, bound, rules.tolerance)
        case Relation(), Quantity():
            return _gives(left, right, rules)
        case Several(), Several():
            return _same_several(left, right, rules)
        case Several(), Ranges():
            ranges = as_ranges(left)
            return _same_ranges(ranges, right, rules) if ranges else False
        case Several(), Grid():
            return _same_vector(left, right, rules)
        case Several(brackets="mod"), Quantity():
            return is_residue_class(left, right)
        case Several(), _ if len(left.items) == 1:
            return same_value(left.items[0], right, rules)
        case Several(), _ if left.kind in ("or", "list"):
            return _each_is(left, right, rules)
        case Ranges(), Ranges():
            return _same_ranges(left, right, rules)
        case Grid(), Grid():
            return _same_grid(left, right, rules)
        case Words(), Words():
            return _same_words(left.text, right.text)
        case Time(), Time():
            return same_time(left, right)
        case Quantity(), Quantity():
            return same_quantity(left, right, rules)
    return False


def has_different_alternatives(value: Value, rules: Rules) -> bool:
    """Whether different values with `or` between them are offered for one thing.

    `x = 1 or x = 2` is no such offer: it says which set x is in.
    """
    if not isinstance(value, Several) or value.kind != "or":
        return False
    if all(isinstance(item, Named | Relation) or _is_solution(item) for item in value.items):
        return False
    items = dict.fromkeys(value.items)
    return len(items) > MAX_UNORDERED or any(
        same_value(one, other, rules) is not True for one, other in combinations(items, 2)
    )


def _is_solution(value: Value) -> bool:
    """Whether a value is a tuple that names each of its elements: `x = 1, y = 2`."""
    return isinstance(value, Several) and value.kind == "tuple" and _all_named(value)


def _each_is(several: Several, single: Value, rules: Rules) -> bool | None:
    """Whether several alternatives are one value: `1/2 or 0.5`. A list is never one value."""
    if several.kind == "list":
        return False
    return _all([same_value(item, single, rules) for item in several.items])


def _all(verdicts: Sequence[bool | None]) -> bool | None:
    """False where one verdict is; else None where one is open."""
    if False in verdicts:
        return False
    return None if None in verdicts else True


def same_time(left: Time, right: Time) -> bool:
    """Whether two times of day are equal; a time without a.m. or p.m. can be either."""
    if left.minutes == right.minutes or left.seconds != right.seconds:
        return left.seconds == right.seconds
    if bool(left.half) == bool(right.half):
        return False
    untold = right if left.half else left
    return untold.minutes < 13 * 60 and (left.minutes - right.minutes) % (12 * 60) == 0


_KINDS = frozenset("function number triangle angle matrix series sequence curve".split())
"""Nouns that an adjective before them may stand for: `odd function` and `odd` say the same."""
_NO_ADJECTIVES = frozenset("no not one this that same other such".split())
"""Words before such a noun that do not say without it what they say with it."""


def _same_words(left: str, right: str) -> bool:
    """Whether words are the same, but for a noun at the end of one that says what is described."""
    if _squeezed(left) == _squeezed(right):
        return True
    shorter, longer = sorted((left, right), key=len)
    adjective, _, noun = longer.rpartition(" ")
    return noun in _KINDS and adjective == shorter and shorter not in _NO_ADJECTIVES


# The hyphen between two words: that of `co-op`. The sign of `-ms/t` has no word before it.
_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")


def _squeezed(text: str) -> str:
    """Words without the marks that may stand between them."""
    return _HYPHEN.sub("", text.replace(" ", "").replace("'", ""))


# Names and relations


# A name that says that the value is not the answer: `not x`, `wrong`, `the answer is not`.
_DENIAL = re.compile(
    r"not(?:.(?:_\w+)?)?|.not|.*(?:isnot|isn't|cannot|never)|"
    r"(?:the|a)?(?:wrong|incorrect|false|invalid)(?:answer|value|result|solution)?",
    re.IGNORECASE,
)


def _denies(name: str) -> bool:
    return _DENIAL.fullmatch(name) is not None


def _same_named(left: Named, right: Named, rules: Rules) -> bool | None:
    if left.name != right.name and (_denies(left.name) or _denies(right.name)):
        return False
    if left.is_function and right.is_function and left.argument and right.argument:
        if left.name != right.name and {left.name, right.name} & {"y"} == set():
            return False
        value = _renamed(right.value, right.argument, left.argument)
        return same_value(left.value, value, rules)
    if any(
        one.is_function
        and one.argument
        and not other.is_function
        and other.name.rstrip("'") == "y"
        and _primes(one.name) == _primes(other.name)
        for one, other in ((left, right), (right, left))
    ):
        return same_value(left.value, right.value, rules)
    if _name_different_quantities(left.name, right.name):
        return _same_solved(left, right, rules)
    return same_value(left.value, right.value, rules)


def _same_solved(left: Named, right: Named, rules: Rules) -> bool | None:
    """Whether one equation is solved for two of its variables: `x = 2y`, `y = x/2`."""
    one, other = _as_relation(left), _as_relation(right)
    if one is None or other is None:
        return False
    if left.name not in variables(other.right) or right.name not in variables(one.right):
        return False
    return same_equation(one, other, rules.tolerance)


_LABELS = frozenset(
    "answer theanswer finalanswer thefinalanswer result value solution total ans".split()
)
_GREEK_NAMES = GREEK | {"infty"}


def _name_different_quantities(left: str, right: str) -> bool:
    """Whether two names cannot stand for one quantity: two symbols, or two words."""
    left, right = (one.removeprefix("angle").removeprefix("hat ") for one in (left, right))
    one, other = _squeezed(left).lower(), _squeezed(right).lower()
    if left == right or {one, other} & _LABELS:
        return False
    if _is_symbol(left) != _is_symbol(right):
        return _primes(left) != _primes(right)
    if _is_symbol(left):
        return not _adds_an_index(left, right)
    return one not in other and other not in one


def _adds_an_index(left: str, right: str) -> bool:
    """Whether one symbol is the other with an index: `T`, `T_2`, but not `T_1`, `T_2`.

    The one without says as much as no name at all, which equals either.
    """
    shorter, longer = sorted((left, right), key=len)
    stem, mark, index = longer.partition("_")
    # A name with a word is kept in small letters: e_total
    if mark and len(index) > 1 and index.isalpha():
        shorter, stem = shorter.lower(), stem.lower()
    return bool(mark) and stem == shorter


def _primes(name: str) -> int:
    return name.count("'") + 2 * name.count('"')


# The sign that ends the letter of a symbol: the `_` of `x_1`, the `(` of `f(x)`.
_END_OF_LETTER = re.compile(r"[_'\"(^]")


def _is_symbol(name: str) -> bool:
    """Whether a name is a letter, perhaps with an index, an accent or an argument; not a word."""
    stem = _END_OF_LETTER.split(name)[0].removeprefix("angle").rpartition(" ")[2]
    return len(stem) <= 2 or stem in _GREEK_NAMES


def _renamed(value: Value, old: str, new: str) -> Value:
    """A quantity with another name for one of its variables; any other value as it is."""
    if isinstance(value, Quantity):
        return Quantity(substitute(value.expression, {old: Symbol(new)}), value.unit, value.words)
    return value


def _as_relation(named: Named) -> Relation | None:
    if isinstance(named.value, Quantity) and _is_symbol(named.name) and not named.is_function:
        return Relation("=", Symbol(named.name), named.value.expression)
    return None


def _same_as_equation(named: Named, relation: Relation, rules: Rules) -> bool | None:
    """Whether a named value is what an equation says: `y = 2x`, or `7/2 = 3.5` for `x = 7/2`."""
    if isinstance(named.value, Quantity) and not variables(relation.left):
        return not _denies(named.name) and _gives(relation, named.value, rules)
    return same_equation(_as_relation(named), relation, rules.tolerance)


def _gives(relation: Relation, value: Quantity, rules: Rules) -> bool | None:
    """Whether an equation states a value: `m + n = 5` states 5, an identity its right side."""
    if relation.sign != "=" or isinstance(relation.left, Symbol):
        return False
    if variables(relation.right) or not variables(relation.left):
        is_identity = same(relation.left, relation.right, rules.tolerance)
        if not is_identity:
            return is_identity
    elif not _is_asked_for(relation.left) or _is_out_of_range(relation):
        return False
    return same_value(Quantity(relation.right), value, rules)


def is_vanishing_sum(value: Value) -> bool:
    """Whether a value is an equation of powers and 0, as `a^2 + b = 0`: nobody asks for the 0."""
    return (
        isinstance(value, Relation)
        and value.sign == "="
        and isinstance(value.left, Sum)
        and any(isinstance(part, Power) for part in walk(value.left))
        and not variables(value.right)
        and same(value.right, Number(Fraction(0)), 0.0) is True
    )


def _is_out_of_range(relation: Relation) -> bool:
    """Whether no real number has the sine or cosine that an equation states: `sin A = 5`."""
    if not isinstance(relation.left, Call) or relation.left.name not in ("sin", "cos"):
        return False
    try:
        return bool(abs(numeric(relation.right, {}, 15)) > 1 + 1e-12)
    except (Undefined, Unreadable):
        return False


def _is_measurable(call: Call) -> bool:
    """Whether a question may ask for a function's value: `|AB|` or `log_a b`, not `|a - 5|`."""
    if call.name in ("ln", "factorial") or (call.name == "log" and len(call.arguments) == 1):
        return False
    (inside, *_) = call.arguments
    return call.name != "abs" or not (
        isinstance(inside, Sum) and any(not variables(term) for term in inside.terms)
    )


_MINUS_ONE = Number(Fraction(-1))
_UNKNOWNS = frozenset("xyzt")
"""Variables that an equation is solved for."""


def _is_asked_for(left: Expression) -> bool:
    """Whether an equation with this left side states a value, rather than one to solve."""
    if isinstance(left, Call):  # |AB|, sin A
        return not variables(left) & _UNKNOWNS and _is_measurable(left)
    if isinstance(left, Product):  # the segment AB, the ratio AB/CD, the area AB*CD/2, -p
        factors = _factors(left)
        top = [one for one in factors if not isinstance(one, Power)]
        under = [one for one in factors if isinstance(one, Power)]
        are_reciprocals = all(one.exponent == _MINUS_ONE for one in under)
        segments = [*top, *(one.base for one in under)]
        if len(top) == 1 and any(map(_is_number, left.factors)):  # A/2 = 3 is to be solved
            return isinstance(top[0], Symbol) and "_" in top[0].name and _is_power_of_asked(left)
        return bool(top) and are_reciprocals and all(map(_is_segment, segments))
    return isinstance(left, Sum) and all(map(_is_term_asked_for, left.terms))


def _is_term_asked_for(term: Expression) -> bool:
    """Whether a term is a letter of a question, a power of one, or a segment: `AB - 2 CD = 7`."""
    factors = _factors(term)
    return (len(factors) > 1 and all(map(_is_segment, factors))) or _is_power_of_asked(term)


def _factors(expression: Expression) -> list[Expression]:
    """The factors of a product that are no numbers."""
    if isinstance(expression, Product):
        return [factor for one in expression.factors for factor in _factors(one)]
    return [] if _is_number(expression) else [expression]


def _is_number(expression: Expression) -> bool:
    """Whether a factor is a number, or one over a number."""
    return isinstance(expression, Number) or (
        isinstance(expression, Power) and isinstance(expression.base, Number)
    )


def _is_segment(expression: Expression) -> bool:
    """Whether an expression is a capital, or several in a row: the `AB` of `AB = 5`."""
    if isinstance(expression, Product):
        return all(map(_is_segment, expression.factors))
    return isinstance(expression, Symbol) and expression.name.isupper()


def _is_power_of_asked(term: Expression) -> bool:
    """Whether a term is a letter of a question, or a power of one: those of `a^2 - b^2 = 13`."""
    if isinstance(term, Product) and len(term.factors) == 2 and _MINUS_ONE in term.factors:
        (term,) = (one for one in term.factors if one != _MINUS_ONE)
    base = term.base if isinstance(term, Power) and isinstance(term.exponent, Number) else term
    return isinstance(base, Symbol) and base.name not in _UNKNOWNS


# Lists, tuples, sets, ranges, matrices


def _same_several(left: Several, right: Several, rules: Rules) -> bool | None:
    kinds = {left.kind, right.kind}
    if kinds == {"list", "or"} and _are_statements(left) and _are_statements(right):
        return False  # p and q, p or q
    if len(left.items) == len(right.items):
        if _all_named(left) and _all_named(right):
            if kinds == {"list", "or"}:
                return False  # x = 5 and y = 7, x = 5 or y = 7
            return _same_by_name(left, right, rules)
        if kinds <= {"list", "tuple"} and _names_the_other(left, right):
            return _same_in_order(left, right, rules)
    if kinds == {"tuple"}:
        return _same_tuples(left, right, rules)
    if left.kind in ("set", "or") and _is_list_of_program(right):
        return len(left.items) == len(right.items) and _same_unordered(left, right, rules)
    if left.kind == "tuple":
        return _same_as_tuple(right, left, rules)
    if right.kind == "tuple":
        return _same_as_tuple(left, right, rules)
    return _same_unordered(left, right, rules)


_TRUTHS = {"yes": True, "no": False, "T": True, "F": False}


def truths_of(value: Value) -> list[bool] | None:
    """The verdicts of a list of nothing else: `True, False`, `T, F`; None for any other value."""
    if not isinstance(value, Several) or value.kind not in ("list", "tuple"):
        return None
    names = [_name_of(item) for item in value.items]
    return [_TRUTHS[name] for name in names] if all(name in _TRUTHS for name in names) else None


def _name_of(value: Value) -> str:
    """The word or the symbol that is all of a value; empty for other values."""
    if isinstance(value, Words):
        return value.text
    if isinstance(value, Quantity) and isinstance(value.expression, Symbol):
        return value.expression.name
    return ""


def _names_the_other(left: Several, right: Several) -> bool:
    """Whether one side gives a symbol to each value, and the other to none: the order tells.

    It does not for roots: a problem that lists them gives them no names.
    """
    return any(
        _all_symbols(one)
        and not any(isinstance(item, Named) for item in other.items)
        and not (other.kind == "list" and _are_indices(one))
        for one, other in ((left, right), (right, left))
    )


def _are_indices(several: Several) -> bool:
    """Whether the symbols of values are one letter with indices: `x_1 = 2, x_2 = 3`."""
    names = [item.name for item in several.items if isinstance(item, Named)]
    return len({name[0] for name in names}) == 1 and all(map(_ROOT.fullmatch, names))


# A root of an equation: `x_1`.
_ROOT = re.compile(r"[xyzt]_\{?\d\}?")


FEWEST_IN_BRACKETS = 3
"""Fewest elements of a list as programs write it, `[1, 2, 3]`: `[1, 2]` is an interval."""


def _is_list_of_program(several: Several) -> bool:
    items = several.items
    return several.brackets == "[]" and FEWEST_IN_BRACKETS <= len(items) == len(set(items))


_COORDINATES = (frozenset("xyz"), frozenset("abcd"), frozenset("ABCDEF"))


def _in_order_of_names(several: Several) -> Several:
    """Values of coordinates in the order of their names: x = 1, y = 2 for y = 2, x = 1."""
    named = {item.name: item for item in several.items if isinstance(item, Named)}
    is_named = len(named) == len(several.items)
    if not is_named or not any(letters.issuperset(named) for letters in _COORDINATES):
        return several
    return replace(several, items=tuple(named[name] for name in sorted(named)))


def _same_as_tuple(other: Several, tuple_: Several, rules: Rules) -> bool | None:
    """Whether a list, a set or alternatives are the same as a tuple."""
    if other.kind == "list" and len(other.items) == len(tuple_.items):
        is_bare = _is_list_of_program(tuple_) or tuple_.brackets in ("()", "::", "")
        return _same_in_order(other, tuple_, rules) if is_bare else False
    if len(other.items) == 1 and (other.kind == "list" or _is_tuple(other.items[0])):
        return same_value(tuple_, other.items[0], rules)
    if rules.order_matters or other.kind == "or":
        return False
    return _same_unordered(other, tuple_, rules)


def _are_statements(several: Several) -> bool:
    """Whether the items are letters or words, of which `and` and `or` say different things."""
    return all(
        isinstance(item, Words)
        or (isinstance(item, Quantity) and _has_only_symbols(item.expression))
        for item in several.items
    )


def _has_only_symbols(expression: Expression) -> bool:
    return all(isinstance(part, Symbol | Product) for part in walk(expression))


def _same_tuples(left: Several, right: Several, rules: Rules) -> bool | None:
    if len(left.items) != len(right.items):
        return False
    if left.brackets == right.brackets == "mod":
        return are_congruent(left, right) or _same_in_order(left, right, rules)
    if len(left.items) == 2 and left.brackets != right.brackets and _are_ranges(left, right):
        return False
    if rules.order_matters:
        return _same_in_order(left, right, rules)
    return _same_unordered(left, right, rules)


def _are_ranges(left: Several, right: Several) -> bool:
    """Whether brackets could mean open and closed ends; those of vectors do not."""
    return {left.brackets, right.brackets} == {"()", "[]"}


def _same_in_order(left: Several, right: Several, rules: Rules) -> bool | None:
    if not (_all_named(left) and _all_named(right)):
        left, right = _in_order_of_names(left), _in_order_of_names(right)
    pairs = list(zip(left.items, right.items, strict=True))
    if any(_is_lone_set(one) != _is_lone_set(other) for one, other in pairs):
        return False
    return _all([same_value(one, other, rules) for one, other in pairs])


def _all_named(several: Several) -> bool:
    names = [item.name for item in several.items if isinstance(item, Named)]
    return len(names) == len(several.items) == len(set(names))


def _all_symbols(several: Several) -> bool:
    """Whether every element has a symbol of its own: `x = 1, y = 2`."""
    return _all_named(several) and all(
        _is_symbol(item.name) for item in several.items if isinstance(item, Named)
    )


def _same_by_name(left: Several, right: Several, rules: Rules) -> bool | None:
    values = {item.name: item for item in right.items if isinstance(item, Named)}
    named = [item for item in left.items if isinstance(item, Named)]
    if set(values) != {item.name for item in named}:
        return False
    return _all([same_value(item, values[item.name], rules) for item in named])


def _same_unordered(left: Several, right: Several, rules: Rules) -> bool | None:
    """Whether elements are the same in any order; repeats count in lists and tuples only."""

    def same_if_close(one: _Sized, other: _Sized) -> bool | None:
        if _is_lone_set(one.value) != _is_lone_set(other.value):
            return False
        return same_value(one.value, other.value, rules) if one.may_equal(other) else False

    return same_elements(
        [_Sized(item, _size(item)) for item in left.items],
        [_Sized(item, _size(item)) for item in right.items],
        same_if_close,
        repeats_count={left.kind, right.kind} <= {"list", "tuple"},
    )


def _is_tuple(item: Value) -> bool:
    return isinstance(item, Several) and item.kind == "tuple"


def _is_lone_set(item: Value) -> bool:
    """Whether an element is a set of one element, which is not that element: {1} beside 1."""
    return isinstance(item, Several) and item.kind == "set" and len(item.items) == 1


class _Sized(NamedTuple):
    """An element with its size where that is known: most elements are told apart by it at once."""

    value: Value
    size: float | None

    def may_equal(self, other: _Sized) -> bool:
        """False where the sizes differ by far more than rounding and tolerance allow."""
        if self.size is None or other.size is None:
            return True
        return abs(self.size - other.size) <= 0.2 * max(abs(self.size), abs(other.size))


def _size(item: Value) -> float | None:
    """About how large an element is; None where that is not known, or more than one size fits."""
    if not isinstance(item, Quantity) or item.unit or item.base or variables(item.expression):
        return None
    if with_decimal_logarithms(item.expression) != item.expression:
        return None
    try:
        value = numeric(item.expression, {}, 15)
        return float(value.real) if not value.imag else None
    except (Undefined, Unreadable, OverflowError, TypeError):
        return None


def _same_ranges(left: Ranges | None, right: Ranges, rules: Rules) -> bool | None:
    if left is None:
        return False
    if left.variable and right.variable and left.variable != right.variable:
        one, other = bound_as_relation(left), bound_as_relation(right)
        return one is not None and other is not None and same_relation(one, other, rules.tolerance)
    return same_elements(
        _joined(left),
        _joined(_with_integer_of(right, left)),
        lambda one, other: _same_range(one, other, rules),
        repeats_count=True,
    )


def _with_integer_of(ranges: Ranges, other: Ranges) -> Ranges:
    """Ranges over an integer beside pi, with the name that the other side gives that integer."""
    own, names = _ends_of(ranges), _ends_of(other)
    letters = [{name for end in ends for name in variables(end)} for ends in (own, names)]
    only_own, only_other = letters[0] - letters[1], letters[1] - letters[0]
    if not len(only_own) == len(only_other) == 1 or not only_own | only_other <= INTEGER_NAMES:
        return ranges
    if not all(has_symbol(end, "pi") or not variables(end) for end in (*own, *names)):
        return ranges
    rename = {only_own.pop(): Symbol(only_other.pop())}
    return Ranges(
        tuple(
            Range(
                piece.low and substitute(piece.low, rename),
                piece.low_closed,
                piece.high and substitute(piece.high, rename),
                piece.high_closed,
            )
            for piece in ranges.pieces
        ),
        ranges.variable,
    )


def _ends_of(ranges: Ranges) -> list[Expression]:
    return [end for piece in ranges.pieces for end in (piece.low, piece.high) if end is not None]


def _joined(ranges: Ranges) -> tuple[Range, ...]:
    return joined(ranges.pieces) if len(ranges.pieces) > 1 else ranges.pieces


def _same_range(one: Range, other: Range, rules: Rules) -> bool | None:
    verdicts: list[bool | None] = []
    for end, other_end, is_same in (
        (one.low, other.low, one.low_closed == other.low_closed),
        (one.high, other.high, one.high_closed == other.high_closed),
    ):
        if end is None or other_end is None:
            verdicts.append(end is other_end)
        else:
            verdicts += (is_same, same_expression(end, other_end, rules))
    return _all(verdicts)


def _same_vector(several: Several, grid: Grid, rules: Rules) -> bool | None:
    """Whether a matrix is the same as a tuple: of its cells, or of its rows."""
    rows = [item for item in several.items if isinstance(item, Several) and item.kind == "tuple"]
    if several.kind == "tuple" and len(rows) == len(several.items) > 1:
        return _same_grid(Grid(tuple(row.items for row in rows)), grid, rules)
    if several.kind != "tuple" or (len(grid.rows) > 1 and len(grid.rows[0]) > 1):
        return False
    cells = tuple(cell for row in grid.rows for cell in row)
    if len(cells) != len(several.items):
        return False
    return _same_in_order(several, Several("tuple", cells), rules)


def _same_grid(left: Grid, right: Grid, rules: Rules) -> bool | None:
    if [len(row) for row in left.rows] != [len(row) for row in right.rows]:
        return False
    return _all(
        [
            same_value(one, other, rules)
            for row, other_row in zip(left.rows, right.rows, strict=True)
            for one, other in zip(row, other_row, strict=True)
        ]
    )
