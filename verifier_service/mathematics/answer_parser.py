"""The parser of final answers: from the text of an answer to a `Value`.

It reads from the outside in: lists, then relations and sets, then brackets, then quantities.
`splitting` tells where tokens are split, `quantities`, `ranges` and `wording` read the parts, and
`expression_parser` every mathematical expression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from verifier_service.mathematics.combinatorics import with_binomials
from verifier_service.mathematics.conditions import (
    has_changing_condition,
    is_condition,
    without_condition,
    without_union_over_integers,
)
from verifier_service.mathematics.domains import on_domain, split_domain
from verifier_service.mathematics.equal_sides import (
    Constants,
    are_different,
    are_far_apart,
    are_other_amounts,
    constant_chain,
    constants,
    contradict,
    contradicts,
    differ_somewhere,
    two_sides,
)
from verifier_service.mathematics.expression_parser import parse_expression
from verifier_service.mathematics.expressions import (
    Symbol,
    variables,
)
from verifier_service.mathematics.interval_notation import range_between
from verifier_service.mathematics.names_of_values import (
    function_head,
    has_words,
    is_colon,
    is_name,
    is_turned_round,
    name_of,
    names_e,
    names_point,
    solutions_of_system,
    variable_of,
    with_names,
)
from verifier_service.mathematics.notation import Kind, Token, Unreadable, tokenize
from verifier_service.mathematics.plain_text import (
    has_grouped_digits,
    rewritten,
    text_key,
    unwrapped,
    without_delimiters,
    without_text_commands,
)
from verifier_service.mathematics.quantities import (
    begins_unit,
    read_compound,
    read_quantity,
    read_unit,
    with_signs_of_units,
)
from verifier_service.mathematics.ranges import (
    as_ranges,
    combine_ranges,
    interval,
    solve_inequality,
)
from verifier_service.mathematics.roundings import are_constant, rounding_of, with_rounding
from verifier_service.mathematics.set_operations import combined
from verifier_service.mathematics.spelled_numbers import with_digits
from verifier_service.mathematics.splitting import (
    is_bracketed,
    split_at,
    split_list,
    split_rows,
    split_set_builder,
    split_sets,
)
from verifier_service.mathematics.values import (
    Grid,
    Named,
    Quantity,
    Ranges,
    Relation,
    Several,
    Value,
    Words,
)
from verifier_service.mathematics.wording import is_date_in_digits, read_phrase

MAX_DEPTH = 12
"""Deepest nesting of lists, relations and brackets."""
_MAX_MEMBERSHIP = 7
"""Tokens of `k \\in \\mathbb{Z}`, and of one more sign; longer conditions say more."""

_EQUALITIES = frozenset({"=", "≈"})
_RELATIONS = _EQUALITIES | {"<", "<=", ">", ">=", "!="}
_RELATIONS_AND_MEMBERSHIP = _RELATIONS | {"∈"}
_SYSTEMS = frozenset({"cases", "aligned", "align", "gathered", "split"})
"""Environments of equations, one in each row."""
_MATRICES = frozenset("matrix pmatrix bmatrix Bmatrix Vmatrix smallmatrix array".split())
_LEADING_WORDS = frozenset(
    (
        "the it answer value result is are equals approximately about exactly at only just "
        "around roughly nearly in"
    ).split()
)
"""Words before an answer that change nothing: `approximately 5`."""


def parse_answer(text: str) -> Value:
    """The answer that a text gives.

    Raises:
        Unreadable: it is neither mathematics as this package reads it nor plain words.

    >>> parse_answer("12").expression
    Number(value=Fraction(12, 1), decimals=None)
    >>> parse_answer(r"x \\in \\{1\\}").items[0].expression.value
    Fraction(1, 1)
    """
    text = unwrapped(text)
    if not text or is_date_in_digits(text) or _DECIMAL_COMMA.fullmatch(text):
        return Words(text)
    if _STATEMENTS.fullmatch(text):
        return Words("".join(sorted(set(_STATEMENT.findall(text)))))
    if _PLACE_AMONG_NUMBERS.match(without_text_commands(text)):
        return Words(text_key(text))
    if _NUMBER_OF_ELEMENTS.search(text):
        raise Unreadable("the number of elements of a set")
    text = with_binomials(rewritten(text))
    tokens = tokenize(without_delimiters(text))
    if not tokens:
        return Words(text_key(text))
    start = next((i for i, one in enumerate(tokens) if one.text.lower() not in _LEADING_WORDS), 0)
    spelled = with_digits(tokens[start:], begins_unit, alone=True)
    return _AnswerParser([*tokens[:start], *spelled]).answer()


# A number whose decimals begin with 0, and no list of two whole numbers: `10,05`, but not `1,000`.
_DECIMAL_COMMA = re.compile(r"[-−+]?\d+,0(?:\d|\d{3,})")
# The number of a statement that a question lists, and several of them: `②`, `①, ③`.
_STATEMENT = re.compile("[①-⑨]")
_STATEMENTS = re.compile(r"[①-⑨](?:[\s,\uff0c、和与]{0,3}[①-⑨]){0,8}")
# The place of a number among others, which is not its value: `the 42nd prime`.
_PLACE_AMONG_NUMBERS = re.compile(
    r"(?:the\s+)?\d+\s?(?:st|nd|rd|th)\s+(?:(?:smallest|largest|odd|positive|even)\s+)?"
    r"(?:prime|composite|Fibonacci|Lucas|Catalan|triangular|perfect|square|cube|Mersenne|harmonic)\b",
    re.IGNORECASE,
)
# The sign of a number of elements: the `\#` of `\#\{12\}`, which is 1.
_NUMBER_OF_ELEMENTS = re.compile(r"\\#\s*(?:\\left\s*)?[\\({A-Z]")


def parse_as_list(text: str) -> Value | None:
    """The other reading of `1,234`: a list of numbers; None if a text has only one reading."""
    if not has_grouped_digits(text):
        return None
    try:
        return _AnswerParser(tokenize(without_delimiters(unwrapped(text)))).answer()
    except Unreadable:
        return None


def parse_as_range(text: str) -> Value | None:
    """The other reading of `3-5`, of `3 to 5`: the numbers between; None for any other text."""
    between = range_between(without_text_commands(unwrapped(text)))
    return None if between is None else as_ranges(parse_answer(between))


def parse_as_names(text: str) -> Value | None:
    """The other reading of `x = y = z = 1`: each name with its value; None for any other text."""
    match = _SAME_VALUE.fullmatch(without_delimiters(unwrapped(text)))
    if match is None:
        return None
    value = parse_answer(match["value"])
    names = [name.strip() for name in match["names"].split("=")[:-1]]
    if len(set(names)) < len(names) or isinstance(value, Several | Words):
        return None
    return Several("list", tuple(Named(name, value) for name in names))


# Several letters with one value: `x = y = z = 1`.
_SAME_VALUE = re.compile(
    r"(?P<names>(?:\s*[a-zA-Z]\s*=){2,6})(?P<value>\s*[-−]?[\d\\][^=≈,;]{0,60})"
)


def parse_with_letters(text: str) -> tuple[Value, frozenset[str]] | None:
    """The reading of a text in which short words are products of variables: `ax-ay`, `ma`.

    Returns:
        The value and its letters; None where no word can be such a product, or where this reading
        is no mathematics.
    """
    text = with_binomials(rewritten(unwrapped(text)))
    try:
        tokens = tokenize(without_delimiters(text), words_as_letters=True)
        value = _AnswerParser(tokens).answer() if tokens else None
    except (Unreadable, RecursionError):
        return None
    letters = frozenset(token.text for token in tokens if token.kind is Kind.LETTER)
    return None if value is None else (value, letters)


class _AnswerParser:
    """Parses the tokens of one answer, or of a part of one at some depth."""

    def __init__(self, tokens: list[Token], depth: int = 0, *, is_in_list: bool = False) -> None:
        self.is_in_list = is_in_list
        if depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")
        self.tokens = tokens
        self.depth = depth

    def answer(self) -> Value:
        """Everything that the tokens say: one item, or a list of them."""
        if (found := self._on_domain()) is not None:
            return found
        parts, joints = split_list(self.tokens)
        if len(parts) == 1:
            return _as_lines(self._item(parts[0]))
        if (amount := read_compound(self.tokens)) is not None:  # 2 hours and 30 minutes
            return amount
        kept = [part for part in parts if not is_condition(part)]
        if not kept:
            raise Unreadable("a list without items")
        if len(kept) < len(parts):
            joints = joints[: len(kept) - 1]
        items = [self._item(part, is_in_list=len(kept) > 1) for part in kept]
        if len(items) == 1:
            return items[0]
        has_or = "or" in joints
        if any(isinstance(item, Ranges) for item in items):
            return combine_ranges(items, is_union=has_or)
        return Several("or" if has_or else "list", tuple(solutions_of_system(_flat(items))))

    def _on_domain(self) -> Value | None:
        """`f(x) = x^2 (x \\ge 1)`; None for an answer without a domain."""
        split = split_domain(self.tokens)
        if split is None:
            return None
        try:
            domain = self._nested(split[1]).answer()
            return on_domain(self._item(split[0]), domain)
        except Unreadable:
            return None

    def item(self) -> Value:
        """One element of a list, or the only one."""
        if has_changing_condition(self.tokens):
            return Words(name_of(self.tokens))
        self.tokens = without_union_over_integers(without_condition(self.tokens))
        if not self.tokens:
            raise Unreadable("an empty item")
        for parse in (
            self._phrase,
            self._labelled,
            self._relation,
            self._union,
            self._point,
            self._measured_tuple,
            self._bracketed,
            self._environment,
            self._quantity,
        ):
            found = parse()
            if found is not None:
                return found
        return self._prose()

    def _nested(self, tokens: Sequence[Token], *, is_in_list: bool = False) -> _AnswerParser:
        return _AnswerParser(list(tokens), self.depth + 1, is_in_list=is_in_list)

    def _item(self, tokens: Sequence[Token], *, is_in_list: bool = False) -> Value:
        return self._nested(tokens, is_in_list=is_in_list).item()

    def _items(self, parts: Sequence[Sequence[Token]]) -> tuple[Value, ...]:
        return tuple(self._item(part) for part in parts)

    # Phrases, labels and prose

    def _phrase(self) -> Value | None:
        return read_phrase(self.tokens)

    def _labelled(self) -> Value | None:
        """`Maximum: 3`, `Alice: 5`."""
        inner = range(1, len(self.tokens) - 1)
        index = next((index for index in inner if is_colon(self.tokens[index])), None)
        if index is None:
            return None
        label = self.tokens[:index]
        if has_words(label) or (len(label) == 1 and label[0].kind is Kind.LETTER):
            return Named(name_of(label), self._item(self.tokens[index + 1 :]))
        return None

    def _quantity(self) -> Value | None:
        return read_quantity(self.tokens)

    def _prose(self) -> Value:
        """Words with mathematics among them; words that say nothing are left out before it."""
        tokens = self.tokens
        if not has_words(tokens):
            raise Unreadable("neither an expression nor words")
        start = next((i for i, t in enumerate(tokens) if t.kind is not Kind.WORD), len(tokens))
        leading = {token.text.lower() for token in tokens[:start]}
        if 0 < start < len(tokens) and leading <= _LEADING_WORDS:
            return self._item(tokens[start:])
        return Words(" ".join(token.text.lower() for token in tokens))

    # Relations

    def _relation(self) -> Value | None:
        """`x = 2`, `1 < x <= 3`, `x \\in [0, 1]`."""
        tokens = _with_membership_sign(_with_equal_signs(self.tokens))
        parts, signs = split_at(tokens, _RELATIONS_AND_MEMBERSHIP)
        if not signs:
            return None
        if not parts[0] and signs[0] in _EQUALITIES:  # `= 5`
            return self._item(self.tokens[1:])
        if not all(parts):
            raise Unreadable("a relation with one side")
        if signs == ["∈"]:
            return self._membership(*parts)
        if _EQUALITIES.issuperset(signs):
            return self._equality(parts, signs)
        if "∈" in signs:
            raise Unreadable("a relation with ∈")
        return solve_inequality([parse_expression(part) for part in parts], signs)

    def _membership(self, variable: list[Token], values: list[Token]) -> Value:
        inside = self._item(values)
        return replace(inside, variable=name_of(variable)) if isinstance(inside, Ranges) else inside

    def _equality(self, parts: list[list[Token]], signs: Sequence[str]) -> Value:
        """An equation; what stands behind `≈` only rounds it: `1/3 ≈ 0.33` is a third."""
        if signs[-1] == "≈" and "≈" not in signs[:-1]:
            sides = constants(*parts[-2:]) or self._amounts(*parts[-2:])
            if sides is not None and not any(map(variables, sides)):
                return self._rounded(parts, signs, sides)
            if are_constant(parts[-2]):
                return self._rounded(parts, signs, None)
        if signs == ["≈"] and is_name(parts[0]) and is_name(parts[1]):
            return Words(
                " ≈ ".join(name_of(part) for part in parts)
            )  # no equation of two variables
        if "≈" in signs and not is_name(parts[0]):
            if len(parts) == 2 and are_far_apart(constants(*parts)):
                return Words(" ≈ ".join(name_of(part) for part in parts))
            parts = parts[: signs.index("≈") + 1]
        return self._item(parts[0]) if len(parts) == 1 else self._equation(parts)

    def _rounded(
        self, parts: list[list[Token]], signs: Sequence[str], sides: Constants | None
    ) -> Value:
        """A constant and what its author rounds it to: `x = 5/3 ≈ 1.67`."""
        if are_far_apart(sides):
            return Words(" ≈ ".join(name_of(part) for part in parts))
        value = self._equality(parts[:-1], signs[:-1]) if signs[:-1] else self._item(parts[0])
        return with_rounding(value, rounding_of(*sides) if sides else None)

    def _amounts(self, exact: list[Token], rounded: list[Token]) -> Constants | None:
        """The numbers of a constant and its rounding, with a unit: `12\\pi cm ≈ 37.7 cm`."""
        try:
            values = self._items((exact, rounded))
        except Unreadable:
            return None
        amounts = [one for one in values if isinstance(one, Quantity)]
        units = {one.unit for one in amounts} - {None}
        if len(amounts) < 2 or len(units) != 1:
            return None
        return amounts[0].expression, amounts[1].expression

    def _equation(self, parts: list[list[Token]]) -> Value:
        """Two or more sides, all equal."""
        if names_e(parts):
            named = self._equation([[parts[0][0]._replace(text="epsilon")], *parts[1:]])
            return replace(named, name="e") if isinstance(named, Named) else named
        parts = [_without_bar(parts[0]), *parts[1:]]
        for parse in (self._function, self._named, self._named_tuple):
            found = parse(parts)
            if found is not None:
                return found
        if len(parts) > 2 and (measured := self._measured_chain(parts)) is not None:
            return measured
        try:
            sides = [parse_expression(part) for part in parts]
        except Unreadable:
            if len(parts) > 2:
                raise
            return self._measured(parts)
        if contradict([side for side in sides if not variables(side)]):
            return Words(" = ".join(name_of(part) for part in parts))
        if len(sides) == 2:
            return two_sides(*sides)
        if any(variables(side) for side in sides):
            if are_different(sides):
                return Words(" = ".join(name_of(part) for part in parts))
            return Named(name_of(parts[0]), Quantity(sides[-1]))
        return constant_chain(sides)

    def _function(self, parts: list[list[Token]]) -> Value | None:
        """`f(x) = x^2`, `f(2) = 4`, and both turned round."""
        if len(parts) == 2 and is_turned_round(*parts):
            parts = parts[::-1]
        head = function_head(parts[0])
        if head is None:
            return None
        name, argument = head
        return Named(name, self._item(parts[-1]), argument, is_function=argument is not None)

    def _named(self, parts: list[list[Token]]) -> Value | None:
        """`x = 2`, `x = y = 2`, `total cost = 5`."""
        if all(is_name(part) for part in parts[:-1]):
            name, value = name_of(parts[0]), self._item(parts[-1])
            is_estimate = name.startswith("hat ")  # \hat{\mu} = \bar{x} says \bar{x}
            if len(parts) == 2 and not is_estimate and (symbol := variable_of(value)) is not None:
                return Relation("=", Symbol(name), symbol)
            if len(parts) > 2 and variable_of(value) is not None:
                return Words(" = ".join(name_of(part) for part in parts))
            return Named(name, value)
        if len(parts) == 2 and has_words(parts[0]):
            return self._measured(parts)
        return None

    def _measured(self, parts: list[list[Token]]) -> Value:
        """A value with its name: `total cost = 5`, `5 m = 500 cm`."""
        value = self._item(parts[1])
        if parts[0][0].kind is Kind.NUMBER and are_other_amounts(self._item(parts[0]), value):
            return Words(" = ".join(name_of(part) for part in parts))
        return Named(name_of(parts[0]), value)

    def _measured_chain(self, parts: list[list[Token]]) -> Value | None:
        """A measure or count behind several sides: `Q = CV = 2 C`, `n = 2 + 1 = 3 bolts`."""
        last = self._item(parts[-1]) if is_name(parts[0]) else None
        if not isinstance(last, Quantity) or (last.unit is None and not last.words):
            return None
        if any(contradicts(self._item(part), last) for part in parts[1:-1]):
            return Words(" = ".join(name_of(part) for part in parts))
        return Named(name_of(parts[0]), last)

    def _named_tuple(self, parts: list[list[Token]]) -> Value | None:
        """`(x, y) = (1, 2)`: each value with its name."""
        if parts[0][0].text != "(":
            return None
        names = self._item(parts[0])
        if not isinstance(names, Several) or len(parts) > 2:
            return None
        values = self._item(parts[1])
        if differ_somewhere(names, values):
            return Words(" = ".join(name_of(part) for part in parts))
        return with_names(names, values, name_of(parts[0]))

    # Sets and brackets

    def _union(self) -> Value | None:
        """`(0, 1) \\cup (2, 3)`, `\\mathbb{R} \\setminus \\{0\\}`."""
        parts, operators = split_sets(self.tokens)
        if len(parts) == 1:
            return None
        return combined(self._items(parts), operators)

    def _bracketed(self) -> Value | None:
        """`(1, 2)`, `{1, 2}`, `(0, 1]`, `{x | x > 0}`; None for an expression in brackets."""
        if not is_bracketed(self.tokens):
            return None
        opening, inside, closing = self.tokens[0].text, self.tokens[1:-1], self.tokens[-1].text
        is_set = opening in ("{", "\\{")
        if is_set and (built := self._set_builder(inside)) is not None:
            return built
        parts, _ = split_list(self._nested(inside).tokens)
        if len(parts) == 1 and opening == "{":
            return self._item(inside)
        if len(parts) == 1 and opening in ("(", "["):
            is_grid = _is_grid(inside, opening)
            return self._item(inside) if is_grid or _is_more_than_expression(inside) else None
        items = self._items(parts)
        if is_set:
            return Several("set", tuple(_flat(items)))
        if opening + closing in ("(]", "[)"):
            ranges = interval(items, opening + closing)
            if ranges is None:
                raise Unreadable("brackets that do not match")
            return ranges
        return _tuples(items, opening + closing)

    def _point(self) -> Value | None:
        """`P(1, 2)`, `the point (1, 2)`: the coordinates. `C(5, 2)` is a binomial coefficient."""
        start = 0
        while start < len(self.tokens) and self.tokens[start].text.lower() in ("the", "point"):
            start += 1
        has_word = start > 0 and self.tokens[start - 1].text.lower() == "point"
        texts = [token.text for token in self.tokens[start : start + 3 : 2]]
        in_braces = texts == ["{", "}"]  # \mathcal{N}(0, 1)
        if start < len(self.tokens) - 5 and names_point(self.tokens[start + in_braces]):
            start, has_word = start + 1 + 2 * in_braces, True
        rest = self.tokens[start:]
        if not has_word or len(rest) < 5 or rest[0].text != "(" or not is_bracketed(rest):
            return None
        coordinates = self._nested(rest)._bracketed()
        if not isinstance(coordinates, Several):
            return None
        name = name_of(self.tokens[:start])
        # Alone, the point P(1, 2) is (1, 2); of two points each has its own place.
        return Named(name, coordinates) if self.is_in_list and _is_letter(name) else coordinates

    def _measured_tuple(self) -> Value | None:
        """`(3, 4) m/s`: coordinates with a unit behind them."""
        closing = {"(": ")", "⟨": "⟩"}.get(self.tokens[0].text)
        end = next((i for i, token in enumerate(self.tokens) if token.text == closing), -1)
        unit = read_unit(with_signs_of_units(self.tokens[end + 1 :])) if end > 0 else None
        found = self._nested(self.tokens[: end + 1])._bracketed() if unit else None
        if not isinstance(found, Several) or found.kind != "tuple":
            return None
        items = [
            replace(item, unit=unit) if isinstance(item, Quantity) and item.unit is None else item
            for item in found.items
        ]
        return replace(found, items=tuple(items))

    def _set_builder(self, inside: Sequence[Token]) -> Value | None:
        """`{x | x > 0}`: its condition; `{2k | k > 0}`: its element and its condition."""
        split = split_set_builder(inside)
        if split is None:
            return None
        element, condition = split
        if len(element) > 1 and is_condition(condition) and len(condition) < _MAX_MEMBERSHIP:
            return self._item(element)  # \{k\pi | k \in \mathbb{Z}\}
        texts = [token.text for token in element]
        if "∈" in texts:
            element = element[: texts.index("∈")]
            whole = sorted({"Z", "N", "Q"}.intersection(texts))
            if whole:
                name = Words(f"{name_of(element)} in {whole[0]}")
                return Several("tuple", (name, self._nested(condition).answer()), "{|}")
        if len(element) == 1:
            if element[0].kind is not Kind.LETTER:
                return None
            found = self._nested(condition).answer()
            if isinstance(found, Ranges) and found.variable == element[0].text:
                return replace(found, variable=None)
            return found
        return Several("tuple", (self._item(element), Words(name_of(condition))), "{|}")

    # Environments of LaTeX

    def _environment(self) -> Value | None:
        """A matrix, a system of equations, or the cases of a function."""
        first, last = self.tokens[0], self.tokens[-1]
        begin, _, name = first.text.partition(" ")
        if begin != "begin" or first.kind is not Kind.FUNCTION:
            return None
        if last.text != f"end {name}" or name not in _MATRICES | _SYSTEMS:
            raise Unreadable(f"environment {name}")
        rows = split_rows(self.tokens[1:-1])
        if name == "cases" and any(len(row) > 1 for row in rows):
            return Several("set", tuple(self._case(row) for row in rows))
        if name in _SYSTEMS:
            equations = self._items([[token for cell in row for token in cell] for row in rows])
            return equations[0] if len(equations) == 1 else Several("list", equations)
        if name == "array" and len(rows) == len(rows[0]) == 1:
            return self._item(rows[0][0])
        return Grid(tuple(self._items(row) for row in rows))

    def _case(self, cells: Sequence[list[Token]]) -> Value:
        """A value and the condition under which it holds."""
        kept = [_without_if(cell) for cell in cells]
        if len(kept) != 2 or not all(kept):
            raise Unreadable("a case without a condition")
        value, condition = kept
        if condition[0].text in ("otherwise", "else"):
            return Several("tuple", (self._item(value), Words("otherwise")))
        return Several("tuple", (self._item(value), self._nested(condition).answer()))


def _as_lines(value: Value) -> Value:
    """The two equations of `y = ±2x`; any other value as it is."""
    inside = value.value if isinstance(value, Named) and not value.is_function else value
    if not isinstance(inside, Several) or inside.kind != "list" or inside is value:
        return value
    vary = all(isinstance(one, Quantity) and variables(one.expression) for one in inside.items)
    return Several("list", tuple(_flat([value]))) if vary else value


def _flat(items: Sequence[Value]) -> list[Value]:
    """Items with the elements of lists among them in place of the lists: `x = ±1` is two items."""
    flat: list[Value] = []
    for item in items:
        inside = item.value if isinstance(item, Named) and not item.is_function else item
        if not isinstance(inside, Several) or inside.kind != "list":
            flat.append(item)
        elif isinstance(item, Named):
            flat += [replace(item, value=one) for one in inside.items]
        else:
            flat += inside.items
    return flat


def _tuples(items: tuple[Value, ...], brackets: str) -> Several:
    """A tuple; a list of two where one element is a list of two: `(±1, 2)`.

    With two signs in one tuple nobody can tell whether they go together: they stay in it.
    """
    lists = [one for one in items if isinstance(one, Several) and one.kind == "list"]
    if len(lists) != 1 or len(items) < 2:
        return Several("tuple", items, brackets)
    (signed,) = lists
    return Several(
        "list",
        tuple(
            Several("tuple", tuple(value if one is signed else one for one in items), brackets)
            for value in signed.items
        ),
    )


def _without_bar(tokens: list[Token]) -> list[Token]:
    """The segment `AB` of `\\overline{AB}`; any other tokens as they are."""
    is_segment = len(tokens) == 5 and tokens[0].text == "overline" and tokens[1].text == "{"
    if is_segment and all(one.kind is Kind.LETTER and one.text.isupper() for one in tokens[2:4]):
        return tokens[2:4]
    return tokens


def _with_equal_signs(tokens: list[Token]) -> list[Token]:
    """The tokens with `=` for `:=`, and for an `≡` without a modulus."""
    texts = [token.text for token in tokens]
    if "≡" in texts and not {"mod", "pmod", "bmod"} & set(texts):
        tokens = [one._replace(text="=") if one.text == "≡" else one for one in tokens]
    return [
        token
        for token, following in zip(tokens, [*texts[1:], ""], strict=True)
        if not (is_colon(token) and following == "=")
    ]


def _with_membership_sign(tokens: list[Token]) -> list[Token]:
    """The tokens with `∈` for the words between a letter and an interval: `x in (0, 1]`."""
    if len(tokens) < 3 or tokens[0].kind is not Kind.LETTER:
        return tokens
    for words in (("in",), ("belongs", "to"), ("is", "in"), ("lies", "in")):
        end = 1 + len(words)
        named = tuple(token.text.lower() for token in tokens[1:end])
        if named == words and len(tokens) > end and tokens[end].text in ("(", "[", "{"):
            return [tokens[0], Token(Kind.SIGN, "∈"), *tokens[end:]]
    return tokens


def _is_more_than_expression(tokens: Sequence[Token]) -> bool:
    """Whether brackets hold a relation, a union, an angle or words."""
    return any(
        token.text in _RELATIONS or token.text in ("∪", "°") or token.kind is Kind.WORD
        for token in tokens
    )


def _is_letter(name: str) -> bool:
    return len(name) == 1 and name.isupper()


def _is_grid(tokens: Sequence[Token], opening: str) -> bool:
    """Whether brackets hold a matrix. One column in round ones may be a binomial coefficient."""
    begin, _, name = tokens[0].text.partition(" ")
    if begin != "begin" or name not in _MATRICES or tokens[-1].text != f"end {name}":
        return False
    return opening == "[" or any(token.text == "&" for token in tokens)


def _without_if(cell: list[Token]) -> list[Token]:
    """A cell of a case without the `if` and the commas around its value or condition."""
    while cell and cell[-1].text in (",", ";", ".", "if"):
        cell = cell[:-1]
    while cell and cell[0].text in ("if", "for", "when", ","):
        cell = cell[1:]
    return cell
