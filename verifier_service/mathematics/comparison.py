"""Whether two texts give the same answer: yes, no, or not decided here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from verifier_service.mathematics.answer_parser import (
    parse_answer,
    parse_as_list,
    parse_as_names,
    parse_as_range,
    parse_with_letters,
)
from verifier_service.mathematics.bracketed_notes import with_quotient, without_brackets
from verifier_service.mathematics.chemistry import (
    Chemistry,
    read_chemistry,
    same_chemistry,
)
from verifier_service.mathematics.chinese_numerals import with_arabic_digits
from verifier_service.mathematics.closing_statement import Joint
from verifier_service.mathematics.conditions import read_condition
from verifier_service.mathematics.counts_in_other_scripts import with_plain_words
from verifier_service.mathematics.decimals import significant_digits
from verifier_service.mathematics.derivatives import variables_of_derivatives
from verifier_service.mathematics.expression_parser import parse_number
from verifier_service.mathematics.expressions import Number
from verifier_service.mathematics.form import (
    joins_sets,
    leaves_more,
    leaves_operation,
    same_form,
    text_leaves_operation,
)
from verifier_service.mathematics.inequalities import same_solutions
from verifier_service.mathematics.labelled_values import labelled_values
from verifier_service.mathematics.letter_words import have_same_words
from verifier_service.mathematics.notation import Unreadable
from verifier_service.mathematics.number_bases import BasedNumber, based_number, writes_digits
from verifier_service.mathematics.number_notation import roman_value, without_only
from verifier_service.mathematics.option_letters import Option, labelled_option, several_letters
from verifier_service.mathematics.orbitals import have_same_orbitals
from verifier_service.mathematics.order_chains import order_of_names
from verifier_service.mathematics.periodic import same_family
from verifier_service.mathematics.plain_text import (
    text_key,
    unwrapped,
    without_delimiters,
    without_text_commands,
)
from verifier_service.mathematics.quantity_comparison import same_expression
from verifier_service.mathematics.ranges import as_ranges
from verifier_service.mathematics.roundings import (
    is_rounded,
    rounding_of,
    with_rounding_sign,
    without_percentage,
)
from verifier_service.mathematics.rules import Form, FormFault, Rules
from verifier_service.mathematics.series import same_series
from verifier_service.mathematics.spelled_numbers import stated_once
from verifier_service.mathematics.unit_vectors import read_unit_vectors
from verifier_service.mathematics.value_comparison import (
    is_vanishing_sum,
    same_time,
    same_value,
    truths_of,
)
from verifier_service.mathematics.values import (
    Named,
    Quantity,
    Ranges,
    Relation,
    Several,
    Time,
    Value,
    Words,
)
from verifier_service.mathematics.wording import read_as_time


@dataclass(frozen=True)
class AnswerReading:
    """The text of an answer with everything that a comparison needs to know of it."""

    text: str
    key: str
    values: tuple[Value, ...]
    """Values that the text can have; empty where it cannot be read."""
    option: Option | None
    """The multiple-choice option that the text is: `(B) 12`."""
    letters: str = ""
    """Sorted letters of several multiple-choice options: `A, C`."""
    condition: str = ""
    """Condition under which the answer is said to hold; empty without one."""
    number: Number | None = None
    """The number that the text is, if it has nothing but digits, a sign and a point."""
    roman: int | None = None
    """The value of a Roman numeral that the text can be."""

    @cached_property
    def with_letters(self) -> tuple[Value, frozenset[str]] | None:
        """The reading in which short words are products of variables, and its letters."""
        return parse_with_letters(self.text)

    @cached_property
    def based(self) -> BasedNumber | None:
        """The number that the text is if it names its base."""
        return None if self.number else based_number(unwrapped(self.text))

    @cached_property
    def order(self) -> tuple[str, ...] | None:
        """The names in the order that the text is: `a < b < c`."""
        return order_of_names(self.text) if _MAY_ORDER.search(self.text) else None

    @cached_property
    def chemistry(self) -> Chemistry | None:
        """The chemical formula or reaction that the text can be."""
        return read_chemistry(unwrapped(self.text))


# A sign of an order: `<`, `\gt`.
_MAY_ORDER = re.compile(r"[<>＜＞]|\\[lg]t(?![a-z])")
# A number in digits, as most answers are: `12`, `-0.5.`.
_PLAIN_NUMBER = re.compile(r"\s*(-?[0-9]{1,30}(?:\.[0-9]{1,30})?)\.?\s*", re.ASCII)


MAX_KEPT_READINGS = 16
"""Most readings that are kept: right answers are often written as their reference is."""
MAX_KEPT_CHARACTERS = 200
"""Longest text whose reading is kept."""


def read_answer(text: str) -> AnswerReading:
    """Read a text once for any number of comparisons."""
    return _read_answer(text) if len(text) > MAX_KEPT_CHARACTERS else _kept_reading(text)


def _read_answer(text: str) -> AnswerReading:
    if (plain := _PLAIN_NUMBER.fullmatch(text)) is not None:
        number = parse_number(plain[1])
        return AnswerReading(text, plain[1], (Quantity(number),), None, number=number)
    plain_text = without_text_commands(unwrapped(text))
    simple = with_quotient(without_brackets(plain_text))
    if simple != plain_text:
        text = plain_text = simple
    numerals = without_only(plain_text)
    if numerals != plain_text:
        text = numerals
    elif (once := stated_once(plain_text) or without_percentage(plain_text)) is not None:
        text = once
    values: list[Value] = []
    option = labelled_option(text)
    if option is not None and "$" in text and option.text:  # `(D) $5$` is no product of D
        return replace(read_answer(option.text), text=text, key=text_key(text), option=option)
    try:
        values.append(_parsed(text))
        others = (parse_as_list(text), parse_as_range(text), parse_as_names(text))
        values += [one for one in others if one is not None]
    except (Unreadable, RecursionError):
        pass
    roman = roman_value(numerals)
    if roman is not None:
        values.append(Quantity(parse_number(str(roman))))
    if (in_digits := with_arabic_digits(plain_text)) is not None:
        with suppress(Unreadable):
            number_in_digits = parse_answer(in_digits)
            values += [number_in_digits] if isinstance(number_in_digits, Quantity) else []
    is_quantity = any(isinstance(one, Quantity) for one in values)
    if not is_quantity and (plain_words := with_plain_words(plain_text)) is not None:
        with suppress(Unreadable):
            values.append(parse_answer(plain_words))
    values += read_unit_vectors(without_delimiters(unwrapped(text)))
    as_time = read_as_time(text)
    if as_time is not None:
        values.append(as_time)
    if not values and (chemistry := read_chemistry(unwrapped(text))) is not None:
        values.append(Words(str(chemistry)))
    return AnswerReading(
        text,
        text_key(text),
        tuple(values),
        option,
        several_letters(text),
        read_condition(text),
        roman=roman,
    )


def _parsed(text: str) -> Value:
    """The value of a text, whose last words may round it. Raises Unreadable.

    A decimal that is no rounding of what stands before it is a second answer: `5, or about 5.4`.
    """
    signed = with_rounding_sign(text)
    if signed != text:
        with suppress(Unreadable):
            value = parse_answer(signed)
            if is_rounded(value):
                return value
    return parse_answer(text)


_kept_reading = lru_cache(MAX_KEPT_READINGS)(_read_answer)


def joined_answer(readings: Sequence[AnswerReading], text: str, joint: Joint) -> AnswerReading:
    """Several statements as one answer: a list, or alternatives; two forms of one value are it."""
    if len(readings) == 2 and joint == "list":
        for exact, other in (readings, readings[::-1]):
            if _are_one_value(exact, other):
                return exact
    if len(readings) == 2 and joint == "or":
        once = without_percentage(" or ".join(one.text for one in readings))
        if once is not None:
            return read_answer(once)
    values = tuple(one.values[0] for one in readings if one.values)
    kind = "tuple" if joint == "parts" else joint
    together = (Several(kind, values),) if len(values) == len(readings) else ()
    return AnswerReading(text, text_key(text), together, None)


MIN_DIGITS_OF_ROUNDING = 3
"""Significant digits from which a decimal behind a value rounds it, and is no value of its own."""
_EXACTLY = Rules("require", "strict", order_matters=True, tolerance=0.0, rounding=None)


def _are_one_value(first: AnswerReading, second: AnswerReading) -> bool:
    """Whether the second statement is the first one in another form, or rounds it."""
    if not first.values or not second.values:
        return False
    one, other = first.values[0], second.values[0]
    if same_value(one, other, _EXACTLY):
        return True
    if not isinstance(one, Quantity) or not isinstance(other, Quantity) or one.unit != other.unit:
        return False
    rounding = rounding_of(one.expression, other.expression)
    return rounding is not None and significant_digits(rounding) >= MIN_DIGITS_OF_ROUNDING


def meets(reference: AnswerReading, answer: AnswerReading, rules: Rules) -> bool | None:
    """Whether an answer is that of a reference; None where that is not decided here.

    As `same_answer`, but that a reference in a base asks for its digits in that base. A number in
    base ten may also be written without its base.
    """
    if _is_zero_of_a_relation(reference, answer):
        return False
    based = reference.based
    if based is None or (reference.key == answer.key and answer.key):
        return same_answer(reference, answer, rules)
    if based.base == 10:
        in_another_base = answer.based is not None and answer.based.base != 10
        return False if in_another_base else same_answer(reference, answer, rules)
    *sides, last = unwrapped(answer.text).split("=")
    if len(sides) > 1 or (sides and len(sides[0].strip()) > 1):  # 137 = 254_7
        if based_number(last) == BasedNumber(based.value, 10):  # 254_7 = 137_{10}
            return all(_is_of(side, based) for side in sides) and any(
                writes_digits(side, based) for side in sides
            )
        is_true = same_answer(reference, answer, rules) is True
        return (is_true and writes_digits(last, based)) or writes_digits(answer.text, based)
    return writes_digits(unwrapped(answer.text), based)


def _is_zero_of_a_relation(reference: AnswerReading, answer: AnswerReading) -> bool:
    """Whether an answer is the 0 alone of `a^2 + b = 0`, which says how a and b are related."""
    return (
        len(reference.values) == 1
        and is_vanishing_sum(reference.values[0])
        and bool(answer.values)
        and all(isinstance(value, Quantity) for value in answer.values)
    )


def _is_of(side: str, reference: BasedNumber) -> bool:
    """Whether a side of an equation is a letter or the number of a reference with its base."""
    number = based_number(side)
    return len(side.strip()) == 1 if number is None else number.value == reference.value


def _same_of_a_kind(left: AnswerReading, right: AnswerReading) -> bool | None:
    """Whether two Roman numerals, times, orders or lists of verdicts are the same; else None."""
    if left.roman and right.roman:  # VI is not IV, though the product of its letters is
        return left.roman == right.roman
    times = [_time_of(one) for one in (left, right)]
    if times[0] and times[1]:
        return same_time(times[0], times[1])
    # The order of three names is read as inequalities, too.
    if (left.order and right.order) or any(one.order and not one.values for one in (left, right)):
        return left.order == right.order
    # Of which statements verdicts are, their order tells.
    truths = [truths_of(one.values[0]) if one.values else None for one in (left, right)]
    return truths[0] == truths[1] if truths[0] and truths[1] else None


def same_answer(left: AnswerReading, right: AnswerReading, rules: Rules) -> bool | None:
    """Whether two texts give the same answer; None where that is not decided here."""
    if left.key == right.key and left.key:
        return _asks(left.text) == _asks(right.text)  # `Paris` and `Paris?`
    if "\\" in left.key and "\\" in right.key and _closed_up(left.key) == _closed_up(right.key):
        return True
    if left.number and right.number:  # as most pairs are
        return same_expression(left.number, right.number, rules)
    if left.condition and right.condition and left.condition != right.condition:
        return False
    if _differ_in_derivatives(left.text, right.text) or _differ_in_quantifiers(left, right):
        return False
    if (same_words := _same_special_words(left.text, right.text)) is not None:
        return same_words
    if (same_labelled := _same_labelled(left.text, right.text, rules)) is not None:
        return same_labelled
    if (found := _same_of_a_kind(left, right)) is not None:
        return found
    if left.letters and left.letters == right.letters:
        return True
    if (chosen := _same_option(left, right, rules)) is not None:
        return chosen
    if _same_letters(left, right, rules) or _same_inequalities(left, right):
        return True
    if _capitals(left.text) == _capitals(right.text) != set() and same_chemistry(
        left.chemistry, right.chemistry
    ):
        return True
    if _same_family(left, right) or _same_renamed(left, right, rules):
        return True
    if same_series(left.text, right.text, rules.tolerance):
        return True
    if _are_different_digits(left, right):
        return False
    if not left.values or not right.values:
        return False if _marks(left.text) != _marks(right.text) else _same_unread(left, right)
    verdicts = [same_value(one, other, rules) for one in left.values for other in right.values]
    if True in verdicts:
        return True
    if None in verdicts and _marks(left.text) != _marks(right.text):
        return False
    return None if None in verdicts else False


# The end of a question: the `?}` of `\text{Paris?}`.
_QUESTION_MARK = re.compile(r"[?？][\s})$*.]{0,9}\Z")


def _asks(text: str) -> bool:
    """Whether a text ends with a question mark, and so only guesses."""
    return _QUESTION_MARK.search(text, max(0, len(text) - 10)) is not None


# A quantifier, which math-verify does not see: `\forall`, `∃`.
_QUANTIFIER = re.compile(r"\\(?P<name>forall|exists|nexists)(?![A-Za-z])|[∀∃∄]")
_QUANTIFIERS = {"∀": "forall", "∃": "exists", "∄": "nexists"}


def _differ_in_quantifiers(left: AnswerReading, right: AnswerReading) -> bool:
    """Whether both sides have quantifiers, and not the same in the same order."""
    each = [
        [_QUANTIFIERS.get(one[0], one["name"]) for one in _QUANTIFIER.finditer(side.text)]
        for side in (left, right)
    ]
    return bool(each[0] and each[1]) and each[0] != each[1]


def _same_special_words(left: str, right: str) -> bool | None:
    """Whether two texts name the same orbitals or sets of words; None where one names neither."""
    orbitals = have_same_orbitals(left, right)
    return have_same_words(left, right) if orbitals is None else orbitals


def _same_labelled(left: str, right: str, rules: Rules) -> bool | None:
    """Whether two texts have the same values behind the same labels; None where labels differ."""
    one = labelled_values(left)
    other = labelled_values(right) if one else None
    if not one or not other or one.keys() != other.keys():
        return None
    verdicts = [
        same_answer(read_answer(value), read_answer(other[label]), rules)
        for label, value in one.items()
    ]
    return None if None in verdicts else all(verdicts)


# Digits and letters in one word, a digit behind a letter: the `1d5a5` of base 14. A power of ten in
# a program (`1e5`) is a number; `m1m2`, `2x3x5` and `sin30cos60` are products.
_DIGITS_AND_LETTERS = re.compile(
    r"(?!\d{1,30}e\d)(?!([k-z])\d(?:\1\d){1,30}\Z|\d{1,30}(?:x\d{1,30}){2,30}\Z)"
    r"(?![0-9a-z]{0,30}(?:sin|cos|tan|log|pi))(?=\w{3})[0-9]*[a-z]+[0-9][0-9a-z]*",
    re.ASCII,
)
# Zero as programs write it in a base: `0x0`.
_ZERO_OF_PROGRAM = re.compile(r"0[xbo]0+")


def _are_different_digits(left: AnswerReading, right: AnswerReading) -> bool:
    """Whether two texts are digits in a base that differ, or one of them is and the other is 0.

    As products `1d5a5` would be `1a5d5`, and `8hf0` would be 0.
    """
    texts = [_word_of_digits(one) for one in (left, right)]
    in_base = [_DIGITS_AND_LETTERS.fullmatch(text) is not None for text in texts]
    if not any(in_base) or not all(map(_is_without_unit, (*left.values, *right.values))):
        return False
    return texts[0] != texts[1] if all(in_base) else "0" in texts


def _word_of_digits(answer: AnswerReading) -> str:
    """The text of an answer in small letters; `0` for each way to write zero."""
    text = unwrapped(answer.text).casefold()
    is_zero = answer.number is not None and answer.number.value == 0
    return "0" if is_zero or _ZERO_OF_PROGRAM.fullmatch(text) else text


def _is_without_unit(value: Value) -> bool:
    return isinstance(value, Quantity) and value.unit is None


def _differ_in_derivatives(left: str, right: str) -> bool:
    """Whether two texts take derivatives by different letters: `dy/dx`, `dy/dt`."""
    one = variables_of_derivatives(left)
    return bool(one) and one != (variables_of_derivatives(right) or one)


# A space in LaTeX that separates no two numbers: that of `AB \parallel CD`.
_SPACE = re.compile(r"(?<!\d) | (?!\d)")


def _closed_up(key: str) -> str:
    return _SPACE.sub("", key)


class UnreadableForm(Exception):
    """The reference has a form that nothing here can read."""


def wrong_form(reference: AnswerReading, answer: AnswerReading, form: Form) -> FormFault | None:
    """The fault in the form of an answer whose value is right; None without one.

    Signs of operations decide about a text that has no value here. An operation of the reference
    allows those of the answer.

    Raises:
        UnreadableForm: the form must be the reference's, and that has no value here.
    """
    if form == "value" or (reference.key == answer.key and answer.key):
        return None
    if reference.based is not None and reference.based.base != 10:  # its digits are its form
        return None
    if answer.option is not None:
        if not answer.option.text:
            return None
        chosen = reference.option.text if reference.option else ""
        expected = read_answer(chosen) if chosen else reference
        return wrong_form(expected, read_answer(answer.option.text), form)
    if not _leaves_operation(reference) and (
        _leaves_operation(answer) or _leaves_more(answer, reference)
    ):
        return "unevaluated"
    if form == "evaluated":
        return None
    if not reference.values:
        raise UnreadableForm
    is_same = bool(answer.values) and same_form(reference.values[0], answer.values[0])
    return None if is_same else "other_form"


def _leaves_operation(one: AnswerReading) -> bool:
    if one.values:
        return leaves_operation(one.values[0]) or joins_sets(one.text, one.values[0])
    return text_leaves_operation(without_delimiters(one.text))


def _leaves_more(answer: AnswerReading, reference: AnswerReading) -> bool:
    if not answer.values or not reference.values:
        return False
    return leaves_more(answer.values[0], reference.values[0])


# A mark that math-verify does not see: `\bar`, `'`, `...`, the `^*` of `x^*`, the `^{+` of
# `5^{+1}_{-1}`, the `_` of `12_{hex}`, the `\%2` of `12\%2`, `%%`, the sign at an end of `5-` or
# `/5`.
_MARK = re.compile(
    r"(?<=\d)_|%\s*\\?[%\d]|\\(?:#|bar|hat|tilde|overline|dot|ddot|partial|ldots|cdots|dots)(?![a-z])|'|\.\.+|…"
    r"|\^\{?[(*+]|(?:[-+*/^=:<>?&|@~]|\\(?:cdot|times|div|pm|mp))(?=[\s$]*$)|^[\s$]*[*/^:?&@]"
)


def _marks(text: str) -> Counter[str]:
    """Accents, primes and dots: texts that differ in them must not reach math-verify."""
    return Counter(_MARK.findall(text.replace("\\prime", "'")))


# A short word that may be a product of variables: the `ma` of `F=ma`, the `ab-cd` of `ab-cd`.
_SHORT_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,6}(?![A-Za-z])")
# Everything but letters outside commands: the `\\frac{` and the `}{2}` of `\\frac{ab}{2}`.
_NO_LETTERS = re.compile(r"\\[A-Za-z]+|[^A-Za-z]")
# The name of a value: the `x = ` of `x = mg/k`.
_NAME = re.compile(r"\s*[A-Za-z](?:_\w)?\s*=\s*(?=[^\s=][^=]*\Z)")
# A text that is one word of three letters or more: `cat` and `act` are no products.
_ONE_WORD = re.compile(r"\s*[A-Za-z]{3,}\s*")


def _same_letters(left: AnswerReading, right: AnswerReading, rules: Rules) -> bool:
    """Whether the sides are equal where short words are products, with the same letters.

    Both must be mathematics of the same variables then. Two measured quantities keep their units.
    """
    names = [_NAME.match(one.text) for one in (left, right)]
    if (names[0] is None) != (names[1] is None) and not ("=" in left.text and "=" in right.text):
        left, right = (
            read_answer(one.text[name.end() :]) if name else one
            for one, name in zip((left, right), names, strict=True)
        )
    texts = (left.text, right.text)
    if _letters_of(left.text) != _letters_of(right.text):
        return False
    with_words = [text for text in texts if _SHORT_WORD.search(text)]
    plain = [without_text_commands(unwrapped(text)) for text in texts]
    if not with_words or all(map(_ONE_WORD.fullmatch, plain)):
        return False
    if len(with_words) == 2 and all(_is_measured(one) for one in (left, right)):
        return False
    one, other = left.with_letters, right.with_letters
    if one is None or other is None or one[1] != other[1] or not one[1]:
        return False
    return same_value(one[0], other[0], rules) is True


def _capitals(text: str) -> set[str]:
    return set(_NO_CAPITAL.sub("", text))


# Everything but capital letters, with which symbols of elements begin.
_NO_CAPITAL = re.compile(r"[^A-Z]+")


def _letters_of(text: str) -> set[str]:
    """The letters of a text that stand in no LaTeX command."""
    return set(_NO_LETTERS.sub("", text))


def _same_inequalities(left: AnswerReading, right: AnswerReading) -> bool:
    """Whether the sides are inequalities or ranges with the same solutions."""
    if len(left.values) != 1 or len(right.values) != 1:
        return False
    sides = [
        value if isinstance(value, Relation) else as_ranges(value)
        for value in (left.values[0], right.values[0])
    ]
    if not any(isinstance(side, Relation) for side in sides):
        return False
    one, other = sides
    if one is None or other is None or any(_is_equation(side) for side in (one, other)):
        return False
    return same_solutions(one, other) is True


def _is_equation(side: Relation | Ranges) -> bool:
    return isinstance(side, Relation) and side.sign == "="


def _same_family(left: AnswerReading, right: AnswerReading) -> bool:
    """Whether the sides are one family over the integers: `x = k\\pi`, `n\\pi + \\pi`."""
    if not {left.condition, right.condition} <= {"", "integer"}:
        return False
    sides = [
        value.value if isinstance(value, Named) else value
        for value in (*left.values[:1], *right.values[:1])
    ]
    if len(sides) < 2 or not all(isinstance(one, Quantity) and one.unit is None for one in sides):
        return False
    names = {
        value.name for one in (left, right) for value in one.values if isinstance(value, Named)
    }
    one, other = (side.expression for side in sides if isinstance(side, Quantity))
    are_declared = not any(
        one.condition != "integer"
        or _SOME_INTEGERS.search(one.text)
        or _has_argument(one.values[:1])
        for one in (left, right)
    )
    return len(names) < 2 and same_family(one, other, are_declared=are_declared)


# A bound of the integers of a family: the `^+` of `\mathbb{Z}^+`, `_{>0}`.
_SOME_INTEGERS = re.compile(
    r"(?:Z|ℤ)\s?\}?\s?[_^*]|[<>≤≥]|\\[gl]e(?:q|qslant)?(?![a-z])|\bpositive\b"
)


def _has_argument(values: Sequence[object]) -> bool:
    """Whether a value is that of a function or of a sequence: `f(n) = 2n`, `a_n = 2n`."""
    return any(isinstance(one, Named) and (one.argument or "_" in one.name) for one in values)


# The letter that the end of an answer declares: the `t` of `(t, 2t), t \in \mathbb{R}`.
_DECLARED = re.compile(
    r"[^A-Za-z\\](?P<name>[a-z])\s?(?:\\in(?![a-z])|∈)\s?(?:\\math(?:bb|bf|rm)\s?\{?\s?)?[ZRNQℤℝℕℚ]\W{0,5}\Z"
)


def _same_renamed(left: AnswerReading, right: AnswerReading, rules: Rules) -> bool:
    """Whether the sides are equal with one name for the letter that the end of each declares."""
    declared = [_DECLARED.search(one.text, max(0, len(one.text) - 40)) for one in (left, right)]
    if declared[0] is None or declared[1] is None:
        return False
    new, old = (one["name"] for one in declared if one)
    renamed = re.sub(rf"(?<![A-Za-z\\]){old}(?![A-Za-z])", new, right.text)
    if new == old or new in _letters_of(right.text) or old in _letters_of(renamed):
        return False
    return same_answer(left, read_answer(renamed), rules) is True


def _is_measured(one: AnswerReading) -> bool:
    value = one.values[0] if one.values else None
    return isinstance(value, Quantity) and value.unit is not None


def _time_of(one: AnswerReading) -> Time | None:
    return next((value for value in one.values if isinstance(value, Time)), None)


def _same_unread(left: AnswerReading, right: AnswerReading) -> bool | None:
    """Prose differs, since its text does; LaTeX goes on to math-verify."""
    for one in (left, right):
        if one.values and isinstance(one.values[0], Words):
            return False
        if _NUMBERS_IN_A_ROW.fullmatch(one.text):
            return False
    if "\\" not in left.text and "\\" not in right.text:
        return False if _is_prose(left) or _is_prose(right) else None
    return None


# Numbers with nothing but spaces between them, which math-verify adds: `42 43`.
_NUMBERS_IN_A_ROW = re.compile(r"\s*-?[0-9][0-9.]*(?:\s+-?[0-9][0-9.]*)+\s*")
# A word of prose, of four letters or more: the `this` of `this one`.
_PROSE_WORD = re.compile(r"[A-Za-z]{4,}")


def _is_prose(one: AnswerReading) -> bool:
    return not one.values and len(_PROSE_WORD.findall(one.text)) > 1


def _same_option(left: AnswerReading, right: AnswerReading, rules: Rules) -> bool | None:
    """Whether two texts are the same option; None where they need not be options at all."""
    one, other = left.option, right.option
    if one and other:
        return _same_letter_and_text(left, one, right, other, rules)
    for option, plain in ((one, right), (other, left)):
        if option and option.text:
            return same_answer(read_answer(option.text), plain, rules) or None
    return None


def _same_letter_and_text(
    left: AnswerReading, one: Option, right: AnswerReading, other: Option, rules: Rules
) -> bool | None:
    letters = [reading.text.strip() for reading in (left, right)]
    if all(len(letter) == 1 for letter in letters):
        is_option = letters[0].upper() == letters[1].upper() and letters[0].upper() in "ABCD"
        return True if is_option or letters[0] == letters[1] else None
    if one.text and other.text:
        is_same = one.letter == other.letter
        return is_same and same_answer(read_answer(one.text), read_answer(other.text), rules)
    # Two lower-case letters may be variables.
    is_option = bool(one.text or other.text) or _is_upper(left) or _is_upper(right)
    return True if is_option and one.letter == other.letter else None


# A LaTeX command: the `\text` of `\text{B}`.
_COMMAND = re.compile(r"\\[a-z]+")


def _is_upper(one: AnswerReading) -> bool:
    return _COMMAND.sub("", one.text).isupper()
