"""Whether two answers are equal: yes, no, or not decided here.

Symmetric by construction: a pair is put in a fixed order of kinds before anything looks at it, and
expressions are compared by `evaluation.same`, which does not depend on the order either.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Literal

from verifier_service.mathematics.answer_parser import parse_answer, parse_as_list
from verifier_service.mathematics.conditions import read_condition
from verifier_service.mathematics.equations import same_equation, same_relation
from verifier_service.mathematics.evaluation import (
    DIGITS,
    Undefined,
    numeric,
    same,
)
from verifier_service.mathematics.expression_parser import parse_number
from verifier_service.mathematics.expressions import (
    Call,
    Expression,
    Number,
    Product,
    Sum,
    Symbol,
    difference,
    has_symbol,
    quotient,
    substitute,
    variables,
    walk,
    with_parts,
)
from verifier_service.mathematics.extraction import Joint
from verifier_service.mathematics.notation import GREEK, Unreadable
from verifier_service.mathematics.plain_text import text_key, unwrapped, without_text_commands
from verifier_service.mathematics.ranges import as_ranges
from verifier_service.mathematics.units import Unit
from verifier_service.mathematics.values import (
    Answer,
    Grid,
    Named,
    Range,
    Ranges,
    Relation,
    Several,
    Time,
    Value,
    Words,
)
from verifier_service.mathematics.wording import read_as_time

MAX_UNORDERED = 200
"""Elements of lists that are compared without regard to order: each with each."""


@dataclass(frozen=True)
class Rules:
    """The options of a comparison, as documented on `Accuracy`."""

    units: Literal["compare", "require", "ignore"] = "compare"
    percent: Literal["lenient", "strict"] = "lenient"
    order_matters: bool = True
    tolerance: float = 1e-6


@dataclass(frozen=True)
class Reading:
    """A text with everything that a comparison needs to know of it."""

    text: str
    key: str
    answers: tuple[Answer, ...]
    """Its readings; empty where it cannot be read."""
    choice: tuple[str, str] | None
    """Letter and text of a multiple-choice option: `(B) 12`."""
    letters: str = ""
    """Letters of several multiple-choice options, in order."""
    condition: str = ""
    """Under which the answer is said to hold; empty if under none."""


_CHOICE = re.compile(
    r"(?:option|choice|answer|answer is|the correct answer is|the answer is)?\s*[:\s]*"
    r"(?:\\(?:text|textbf|mathrm|mathbf|textrm)\s*\{\s*)?[(\[]?\s*([A-Ja-j])\s*[)\]]?\s*\}?"
    r"(?:\s*$|\s*[.:)\]}]\s*\}?\s*(?P<rest>.*)$|(?<=[)\]}])\s*(?P<rest2>.*)$|\s+(?P<rest3>\S.*)$)",
    re.DOTALL | re.IGNORECASE,
)


_SEVERAL_CHOICES = re.compile(
    r"[,;]\s*[A-J]\s*[:=]|^[\s,;)]*(?:and|or|&)?[\s,;]*[(\[]?[A-J][)\]]?(?:[\s,;.]|$|and|or)"
)


_NUMBER = re.compile(r"\s*(-?[0-9]{1,30}(?:\.[0-9]{1,30})?)\.?\s*", re.ASCII)


def reading(text: str) -> Reading:
    """Read a text once for any number of comparisons."""
    if (plain := _NUMBER.fullmatch(text)) is not None:  # what most answers are
        return Reading(text, plain[1], (Value(parse_number(plain[1])),), None)
    answers: list[Answer] = []
    try:
        answers.append(parse_answer(text))
        as_list = parse_as_list(text)
        if as_list is not None:
            answers.append(as_list)
    except (Unreadable, RecursionError):
        pass
    as_time = read_as_time(text)
    if as_time is not None:
        answers.append(as_time)
    return Reading(
        text, text_key(text), tuple(answers), _choice(text), _letters(text), read_condition(text)
    )


_LETTERS = re.compile(r"[(\[]?[A-J][)\]]?(?:\s*(?:,|;|&|and|\s)\s*[(\[]?[A-J][)\]]?)*|[A-J]{2,6}")
_MAX_CHOICE_CHARACTERS = 500


def _letters(text: str) -> str:
    """The letters of several options: `A, C`, `(A) and (C)`, `AC`; empty for anything else."""
    if len(text) > _MAX_CHOICE_CHARACTERS:
        return ""
    text = text_key(text).upper() if "\\text" in text else unwrapped(text)
    if not _LETTERS.fullmatch(text):
        return ""
    letters = re.findall(r"[A-J]", text.replace("and", "").replace("AND", ""))
    return "".join(letters) if len(letters) > 1 and letters == sorted(set(letters)) else ""


def joined(readings: Sequence[Reading], text: str, joint: Joint) -> Reading:
    """Several statements as one answer: a list, or alternatives."""
    answers = tuple(one.answers[0] for one in readings if one.answers)
    kind = "tuple" if joint == "parts" else joint
    together = (Several(kind, answers),) if len(answers) == len(readings) else ()
    return Reading(text, text_key(text), together, None)


def _choice(text: str) -> tuple[str, str] | None:
    if len(text) > _MAX_CHOICE_CHARACTERS:
        return None
    match = _CHOICE.fullmatch(unwrapped(without_text_commands(text)))
    if match is None or _SEVERAL_CHOICES.search(match["rest"] or match["rest2"] or ""):
        return None
    rest = match["rest"] or match["rest2"] or ""
    if match["rest3"]:
        return None  # `A bird`: an article, not an option
    return match[1].upper(), unwrapped(rest.strip(" }"))


def equal(left: Reading, right: Reading, rules: Rules) -> bool | None:
    """Whether two texts give the same answer; None where that is not decided here."""
    if left.key == right.key and left.key:
        return True
    if left.condition and right.condition and left.condition != right.condition:
        return False
    times = [_time_of(one) for one in (left, right)]
    if times[0] and times[1]:
        return _times(times[0], times[1])
    if left.letters and left.letters == right.letters:
        return True
    if (chosen := _same_choice(left, right, rules)) is not None:
        return chosen
    if not left.answers or not right.answers:
        return False if _marks(left.text) != _marks(right.text) else _unread(left, right)
    verdicts = [compare(one, other, rules) for one in left.answers for other in right.answers]
    if True in verdicts:
        return True
    if None in verdicts and _marks(left.text) != _marks(right.text):
        return False
    return None if None in verdicts else False


_MARK = re.compile(
    r"\\(?:bar|hat|tilde|overline|dot|ddot|partial|ldots|cdots|dots)(?![a-z])|'|\.\.\.|\^\{?[(*]"
)


def _marks(text: str) -> Counter[str]:
    """Accents, primes and dots, which math-verify does not see."""
    return Counter(_MARK.findall(text.replace("\\prime", "'")))


def _time_of(one: Reading) -> Time | None:
    return next((answer for answer in one.answers if isinstance(answer, Time)), None)


def _unread(left: Reading, right: Reading) -> bool | None:
    """Prose is compared as text, and it is not equal; LaTeX goes on to math-verify."""
    for one in (left, right):
        if one.answers and isinstance(one.answers[0], Words):
            return False
    if "\\" not in left.text and "\\" not in right.text:
        return False if _is_prose(left) or _is_prose(right) else None
    return None


def _is_prose(one: Reading) -> bool:
    return not one.answers and len(re.findall(r"[A-Za-z]{4,}", one.text)) > 1


def _same_choice(left: Reading, right: Reading, rules: Rules) -> bool | None:
    one, other = left.choice, right.choice
    if one and other:
        letters = [reading_.text.strip() for reading_ in (left, right)]
        if all(len(letter) == 1 for letter in letters):
            is_option = letters[0].upper() == letters[1].upper() and letters[0].upper() in "ABCD"
            return True if is_option or letters[0] == letters[1] else None
        if one[1] and other[1]:
            return one[0] == other[0] and equal(reading(one[1]), reading(other[1]), rules)
        # Two lower-case letters may be variables.
        is_option = bool(one[1] or other[1]) or _is_upper(left, right)
        return True if is_option and one[0] == other[0] else None
    for chosen, plain in ((one, right), (other, left)):
        if chosen and chosen[1]:
            return equal(reading(chosen[1]), plain, rules) or None
    return None


def _is_upper(left: Reading, right: Reading) -> bool:
    return any(_TEXT_COMMAND.sub("", one.text).isupper() for one in (left, right))


_TEXT_COMMAND = re.compile(r"\\[a-z]+")


_ORDER: tuple[type, ...] = (Named, Relation, Several, Ranges, Grid, Words, Time, Value)


def compare(left: Answer, right: Answer, rules: Rules) -> bool | None:
    """Whether two answers are equal; None where that is not decided here."""
    if left == right:
        return True
    if _ORDER.index(type(left)) > _ORDER.index(type(right)):
        left, right = right, left
    match left, right:
        case Named(), Named():
            return _named(left, right, rules)
        case Named(), Relation():
            return same_equation(_as_relation(left), right, rules.tolerance)
        case Named(), _:
            return compare(left.value, right, rules)
        case Relation(), Relation():
            return same_relation(left, right, rules.tolerance)
        case Relation(), Value():
            return _right_side(left, right, rules)
        case Several(), Several():
            return _several(left, right, rules)
        case Several(), Ranges():
            ranges = as_ranges(left)
            return _ranges(ranges, right, rules) if ranges else False
        case Several(), Grid():
            return _vector(left, right, rules)
        case Several(), _ if len(left.items) == 1:
            return compare(left.items[0], right, rules)
        case Several(), _ if left.kind in ("or", "list"):
            return _all_equal(left, right, rules)
        case Ranges(), Ranges():
            return _ranges(left, right, rules)
        case Grid(), Grid():
            return _grids(left, right, rules)
        case Words(), Words():
            return _squeezed(left.text) == _squeezed(right.text)
        case Time(), Time():
            return _times(left, right)
        case Value(), Value():
            return _values(left, right, rules)
    return False


def distinct_alternatives(answer: Answer, rules: Rules) -> bool:
    """Whether the answer offers several different values for one thing, with `or` between them.

    `x = 1 or x = 2` does not: it says which set x is in.
    """
    if not isinstance(answer, Several) or answer.kind != "or":
        return False
    if all(isinstance(item, Named | Relation) for item in answer.items):
        return False
    first = answer.items[0]
    return any(compare(first, other, rules) is not True for other in answer.items[1:])


def _all_equal(several: Several, single: Answer, rules: Rules) -> bool | None:
    """`1/2 or 0.5` is one value written twice; a list of different values is not one value."""
    if several.kind == "list":
        return False
    return _all([compare(item, single, rules) for item in several.items])


def _all(verdicts: Sequence[bool | None]) -> bool | None:
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _times(left: Time, right: Time) -> bool:
    """Whether two times of day agree; one that does not tell its half of the day fits both."""
    if left.minutes == right.minutes or left.seconds != right.seconds:
        return left.seconds == right.seconds
    if bool(left.half) == bool(right.half):
        return False
    untold = right if left.half else left
    return untold.minutes < 13 * 60 and (left.minutes - right.minutes) % (12 * 60) == 0


def _squeezed(text: str) -> str:
    return text.replace(" ", "").replace("-", "").replace("'", "")


# Names and relations


def _named(left: Named, right: Named, rules: Rules) -> bool | None:
    if left.is_function and right.is_function and left.argument and right.argument:
        if left.name != right.name and {left.name, right.name} & {"y"} == set():
            return False
        value = _renamed(right.value, right.argument, left.argument)
        return compare(left.value, value, rules)
    if _name_different_quantities(left.name, right.name):
        return False
    return compare(left.value, right.value, rules)


_LABELS = frozenset(
    "answer theanswer finalanswer thefinalanswer result value solution total ans".split()
)
_GREEK_NAMES = GREEK | {"infty"}


def _name_different_quantities(left: str, right: str) -> bool:
    """Whether two names cannot stand for the same: two symbols, or two words."""
    one, other = _squeezed(left).lower(), _squeezed(right).lower()
    if left == right or {one, other} & _LABELS:
        return False
    if _is_symbol(left) != _is_symbol(right):
        return _primes(left) != _primes(right)
    if _is_symbol(left):
        return True
    return one not in other and other not in one


def _primes(name: str) -> int:
    return name.count("'") + 2 * name.count('"')


def _is_symbol(name: str) -> bool:
    """Whether a name is a letter, perhaps with an index, a prime or an argument; not a word."""
    stem = re.split(r"[_'\"(^]", name)[0].removeprefix("angle")
    return len(stem) <= 2 or stem in _GREEK_NAMES


def _renamed(answer: Answer, old: str, new: str) -> Answer:
    if isinstance(answer, Value):
        return Value(substitute(answer.expression, {old: Symbol(new)}), answer.unit, answer.words)
    return answer


def _as_relation(named: Named) -> Relation | None:
    if isinstance(named.value, Value) and _is_symbol(named.name) and not named.is_function:
        return Relation("=", Symbol(named.name), named.value.expression)
    return None


def _right_side(relation: Relation, value: Value, rules: Rules) -> bool | None:
    """`m + n = 5` gives 5, and an identity its value: `x^2 - 1 = (x - 1)(x + 1)`."""
    if relation.sign != "=" or isinstance(relation.left, Symbol):
        return False
    if variables(relation.right) or not variables(relation.left):
        is_identity = same(relation.left, relation.right, rules.tolerance)
        if not is_identity:
            return is_identity
    elif not _is_asked_for(relation.left):
        return False
    return compare(Value(relation.right), value, rules)


_UNKNOWNS = frozenset("xyzt")


def _is_asked_for(left: Expression) -> bool:
    """Whether an equation with this left side names a value, and is not one to solve."""
    if isinstance(left, Call):  # |AB|, sin A
        return not variables(left) & _UNKNOWNS
    if isinstance(left, Product):  # the segment AB
        return all(isinstance(one, Symbol) and one.name.isupper() for one in left.factors)
    return isinstance(left, Sum) and all(
        isinstance(term, Symbol) and term.name not in _UNKNOWNS for term in left.terms
    )


# Lists, tuples, sets, ranges, matrices


def _several(left: Several, right: Several, rules: Rules) -> bool | None:
    kinds = {left.kind, right.kind}
    if kinds == {"list", "or"} and _are_statements(left) and _are_statements(right):
        return False  # p and q, p or q
    if _all_named(left) and _all_named(right) and len(left.items) == len(right.items):
        return _by_name(left, right, rules)
    if len(left.items) == len(right.items) and "set" not in kinds and "or" not in kinds:
        for one, other in ((left, right), (right, left)):
            if _all_symbols(one) and not any(isinstance(item, Named) for item in other.items):
                return _in_order(left, right, rules)
    if "tuple" in kinds and len(kinds) == 1:
        return _tuples(left, right, rules)
    if "tuple" in kinds:
        tuple_, other = (left, right) if left.kind == "tuple" else (right, left)
        if other.kind == "list" and len(other.items) != len(tuple_.items) and len(other.items) == 1:
            return compare(tuple_, other.items[0], rules)
        if other.kind == "list" and len(other.items) == len(tuple_.items):
            is_bare = tuple_.brackets in ("()", "::", "")
            return _in_order(left, right, rules) if is_bare else False
        if rules.order_matters or other.kind == "or":
            return False
    return _unordered(left, right, rules)


def _are_statements(several: Several) -> bool:
    """Whether the items are letters or words, of which `and` and `or` say different things."""
    return all(
        isinstance(item, Words) or (isinstance(item, Value) and _has_only_symbols(item.expression))
        for item in several.items
    )


def _has_only_symbols(expression: Expression) -> bool:
    return all(isinstance(part, Symbol | Product) for part in walk(expression))


def _tuples(left: Several, right: Several, rules: Rules) -> bool | None:
    if len(left.items) != len(right.items):
        return False
    if len(left.items) == 2 and left.brackets != right.brackets and _are_ranges(left, right):
        return False
    if rules.order_matters:
        return _in_order(left, right, rules)
    return _unordered(left, right, rules)


def _are_ranges(left: Several, right: Several) -> bool:
    """Whether brackets could mean open and closed ends; those of vectors do not."""
    return {left.brackets, right.brackets} == {"()", "[]"}


def _in_order(left: Several, right: Several, rules: Rules) -> bool | None:
    return _all(
        [compare(one, other, rules) for one, other in zip(left.items, right.items, strict=True)]
    )


def _all_named(several: Several) -> bool:
    names = [item.name for item in several.items if isinstance(item, Named)]
    return len(names) == len(several.items) == len(set(names))


def _all_symbols(several: Several) -> bool:
    """Whether every element has a symbol of its own: x = 1, y = 2."""
    return _all_named(several) and all(
        _is_symbol(item.name) for item in several.items if isinstance(item, Named)
    )


def _by_name(left: Several, right: Several, rules: Rules) -> bool | None:
    values = {item.name: item for item in right.items if isinstance(item, Named)}
    named = [item for item in left.items if isinstance(item, Named)]
    if set(values) != {item.name for item in named}:
        return False
    return _all([compare(item, values[item.name], rules) for item in named])


def _unordered(left: Several, right: Several, rules: Rules) -> bool | None:
    """Whether the elements can be paired off; in sets and alternatives, repeats do not count."""
    first, second = list(left.items), list(right.items)
    if max(len(first), len(second)) > MAX_UNORDERED:
        return None
    if not {left.kind, right.kind} <= {"list", "tuple"}:
        first, second = _unique(first, rules), _unique(second, rules)
    if len(first) != len(second):
        return False
    sizes = [[_size(item) for item in items] for items in (first, second)]
    verdicts = [
        [
            compare(one, other, rules) if _may_be_close(a, b) else False
            for other, b in zip(second, sizes[1], strict=True)
        ]
        for one, a in zip(first, sizes[0], strict=True)
    ]
    free = set(range(len(second)))
    for row in verdicts:
        partner = next((index for index in sorted(free) if row[index]), None)
        if partner is not None:
            free.remove(partner)
    if not free:
        return True
    columns = zip(*verdicts, strict=True)
    if any(not any(v is not False for v in line) for line in (*verdicts, *columns)):
        return False  # an element without a partner
    return None if any(None in row for row in verdicts) else False


def _size(item: Answer) -> float | None:
    """About how large an element is; None where that is not known."""
    if not isinstance(item, Value) or item.unit or variables(item.expression):
        return None
    try:
        value = numeric(item.expression, {}, 15)
        return float(value.real) if not value.imag else None
    except (Undefined, Unreadable, OverflowError, TypeError):
        return None


def _may_be_close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return True
    return abs(one - other) <= 0.2 * max(abs(one), abs(other))


def _unique(items: Sequence[Answer], rules: Rules) -> list[Answer]:
    found: list[Answer] = []
    for item in items:
        if not any(compare(item, other, rules) for other in found):
            found.append(item)
    return found


def _ranges(left: Ranges | None, right: Ranges, rules: Rules) -> bool | None:
    if left is None:
        return False
    if left.variable and right.variable and left.variable != right.variable:
        return False
    if len(left.pieces) != len(right.pieces):
        return False
    return _all(
        [
            _same_range(one, other, rules)
            for one, other in zip(_sorted(left.pieces), _sorted(right.pieces), strict=True)
        ]
    )


def _sorted(pieces: Sequence[Range]) -> list[Range]:
    def start(piece: Range) -> float:
        if piece.low is None:
            return -math.inf
        return float(numeric(piece.low, {}, 15).real)

    try:
        return sorted(pieces, key=start)
    except (Undefined, Unreadable, TypeError, OverflowError):
        return list(pieces)


def _same_range(one: Range, other: Range, rules: Rules) -> bool | None:
    verdicts: list[bool | None] = []
    for end, other_end, is_same in (
        (one.low, other.low, one.low_closed == other.low_closed),
        (one.high, other.high, one.high_closed == other.high_closed),
    ):
        if end is None or other_end is None:
            verdicts.append(end is other_end)
        else:
            verdicts += (is_same, same(end, other_end, rules.tolerance))
    return _all(verdicts)


def _vector(several: Several, grid: Grid, rules: Rules) -> bool | None:
    """A row or column is a tuple; a matrix is a tuple of its rows."""
    rows = [item for item in several.items if isinstance(item, Several) and item.kind == "tuple"]
    if several.kind == "tuple" and len(rows) == len(several.items) > 1:
        return _grids(Grid(tuple(row.items for row in rows)), grid, rules)
    if several.kind != "tuple" or (len(grid.rows) > 1 and len(grid.rows[0]) > 1):
        return False
    cells = tuple(cell for row in grid.rows for cell in row)
    if len(cells) != len(several.items):
        return False
    return _in_order(several, Several("tuple", cells), rules)


def _grids(left: Grid, right: Grid, rules: Rules) -> bool | None:
    if [len(row) for row in left.rows] != [len(row) for row in right.rows]:
        return False
    return _all(
        [
            compare(one, other, rules)
            for row, other_row in zip(left.rows, right.rows, strict=True)
            for one, other in zip(row, other_row, strict=True)
        ]
    )


# Values


def _values(left: Value, right: Value, rules: Rules) -> bool | None:
    if left.base or right.base:
        return _based(left, right)
    if rules.units == "ignore":
        return _expressions(left.expression, right.expression, rules)
    if _name_different_things(left.words, right.words):
        return False
    if _is_percent(left) or _is_percent(right):
        return _percents(left, right, rules)
    if left.unit and right.unit:
        return _measured(left, right, rules)
    if left.unit or right.unit:
        measured, plain = (left, right) if left.unit else (right, left)
        if plain.words:  # 3 hours, 3 students
            return False
        if _is_angle(measured.unit) and has_symbol(plain.expression, "pi"):
            return _expressions(_radians(measured), plain.expression, rules)
        if rules.units == "require":
            return False
    return _expressions(left.expression, right.expression, rules)


def _name_different_things(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether both say what they count, and it is not the same: 5 apples, 5 pears."""
    one, other = set(left), set(right)
    return bool(one and other and not (one <= other or other <= one))


def _based(left: Value, right: Value) -> bool:
    """Numbers that name their base; a base missing on one side is ignored, as a unit is."""
    if not (isinstance(left.expression, Number) and isinstance(right.expression, Number)):
        return False
    if left.base and right.base:
        digits = (str(left.expression.value), str(right.expression.value))
        return int(digits[0], left.base) == int(digits[1], right.base)
    return left.expression.value == right.expression.value


def _is_percent(value: Value) -> bool:
    return value.unit is not None and value.unit.dimension == (("percent", 1),)


def _is_angle(unit: Unit | None) -> bool:
    return unit is not None and unit.dimension == (("angle", 1),)


def _radians(value: Value) -> Expression:
    return Product((value.expression, Number(Fraction(1, 180)), Symbol("pi")))


def _percents(left: Value, right: Value, rules: Rules) -> bool | None:
    if _is_percent(left) and _is_percent(right):
        return _expressions(left.expression, right.expression, rules)
    percent, plain = (left, right) if _is_percent(left) else (right, left)
    share = quotient(percent.expression, Number(Fraction(100)))
    verdict = _expressions(share, plain.expression, rules)
    if verdict or rules.percent == "strict":
        return verdict
    return _expressions(percent.expression, plain.expression, rules)


def _measured(left: Value, right: Value, rules: Rules) -> bool | None:
    if left.unit is None or right.unit is None:
        return False
    if {left.unit.dimension, right.unit.dimension} == {(("angle", 1),), (("radian", 1),)}:
        angle, radian = (left, right) if _is_angle(left.unit) else (right, left)
        return _expressions(_radians(angle), radian.expression, rules)
    if left.unit.dimension != right.unit.dimension:
        return False
    if left.unit == right.unit:
        return _expressions(left.expression, right.expression, rules)
    return _expressions(_in_base_units(left), _in_base_units(right), rules)


def _in_base_units(value: Value) -> Expression:
    if value.unit is None:
        return value.expression
    scaled = Product((value.expression, Number(value.unit.size)))
    return difference(scaled, Number(-value.unit.offset)) if value.unit.offset else scaled


_PARAMETERS = frozenset("k n m l j N K M".split())


def _expressions(left: Expression, right: Expression, rules: Rules) -> bool | None:
    verdict = same(left, right, rules.tolerance)
    if verdict is not False:
        return verdict
    if _rounds_to(left, right, rules.tolerance):
        return True
    # `log` alone is natural to some and decimal to others.
    one, other = _with_decimal_logarithms(left), _with_decimal_logarithms(right)
    if (one, other) != (left, right) and same(one, other, rules.tolerance):
        return True
    return any(
        same(left, renamed, rules.tolerance) for renamed in _with_same_parameters(left, right)
    )


def _with_decimal_logarithms(expression: Expression) -> Expression:
    changed = with_parts(expression, _with_decimal_logarithms)
    if isinstance(changed, Call) and changed.name == "log" and len(changed.arguments) == 1:
        return Call("log", (*changed.arguments, Number(Fraction(10))))
    return changed


def _rounds_to(left: Expression, right: Expression, tolerance: float) -> bool:
    """Whether one is a decimal of enough places to which the other rounds."""
    places = max(round(-math.log10(tolerance)), 1) if tolerance else math.inf
    for literal, other in ((left, right), (right, left)):
        if not isinstance(literal, Number) or (literal.decimals or 0) < places or variables(other):
            continue
        half = Fraction(1, 2 * 10 ** (literal.decimals or 0))
        if abs(literal.value) <= half:
            continue
        try:
            gap = abs(numeric(difference(other, literal), {}, DIGITS))
        except (Undefined, Unreadable):
            continue
        if gap <= float(half) * (1 + 1e-9):
            return True
    return False


_MAX_PARAMETERS = 3
_CONSTANT = re.compile(r"[A-DcKk](?:_\w)?")


def _with_same_parameters(left: Expression, right: Expression) -> Iterator[Expression]:
    """The right one with its arbitrary integers or constants called as in the left one."""
    only_left = sorted(variables(left) - variables(right))
    only_right = sorted(variables(right) - variables(left))
    if not 0 < len(only_left) == len(only_right) <= _MAX_PARAMETERS:
        return
    names = {*only_left, *only_right}
    are_integers = (
        len(only_left) == 1
        and names <= _PARAMETERS
        and has_symbol(left, "pi")
        and has_symbol(right, "pi")
    )
    shared = variables(left) & variables(right)
    are_constants = all(map(_CONSTANT.fullmatch, names)) and not all(
        map(_CONSTANT.fullmatch, shared)
    )
    if are_integers or are_constants:
        for order in permutations(only_left):
            yield substitute(
                right, {old: Symbol(new) for old, new in zip(only_right, order, strict=True)}
            )
