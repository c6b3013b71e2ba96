"""No completion is right for two references that differ by more than the leniency."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from verifier_service.mathematics.comparison import read_answer, same_answer
from verifier_service.verifiers.accuracy import Accuracy

RULES = Accuracy().rules
LENIENCY = Fraction(1, 10**5)
"""Relative difference from which two references have no answer in common: twice the tolerance, and
what a decimal of six places and four digits may be rounded by."""

values = st.fractions(-(10**9), 10**9, max_denominator=10**6).filter(bool)
near = st.fractions(-LENIENCY * 20, LENIENCY * 20, max_denominator=10**9)


def fraction(value: Fraction) -> str:
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def decimal(places: int) -> Callable[[Fraction], str]:
    def write(value: Fraction) -> str:
        units = round(value * 10**places)
        digits = str(abs(units)).zfill(places + 1)
        return f"{'-' if units < 0 else ''}{digits[:-places]}.{digits[-places:]}"

    return write


ways_to_write = st.one_of(
    st.just(fraction),
    st.integers(6, 12).map(decimal),
    st.just(lambda value: f"{value.numerator}/{value.denominator}"),
)
ways_to_place = st.sampled_from(
    [
        "{}",
        "x = {}",
        r"({}, 3)",
        r"\{{3, {}\}}",
        "{} x + 1",
        r"{} \cdot \pi",
        r"\begin{{pmatrix}}{}\\3\end{{pmatrix}}",
        "[{}, 10^{{30}}]",
        "y = {} x",
        r"{}\text{{ cm}}",
    ]
)


def is_right(reference: str, answer: str) -> bool:
    return same_answer(read_answer(reference), read_answer(answer), RULES) is True


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(values, near, ways_to_write, ways_to_write, ways_to_write, ways_to_place, near)
def test_no_completion_is_right_for_two_references(
    value: Fraction,
    step: Fraction,
    write_one: Callable[[Fraction], str],
    write_other: Callable[[Fraction], str],
    write_answer: Callable[[Fraction], str],
    place: str,
    offset: Fraction,
) -> None:
    other = value * (1 + step)
    assume(abs(step) > LENIENCY and abs(value) >= Fraction(1, 10))
    references = [place.format(write_one(value)), place.format(write_other(other))]
    for guess in (value, other, (value + other) / 2, value * (1 + offset)):
        answer = place.format(write_answer(guess))
        assert not all(is_right(reference, answer) for reference in references)


@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12), ways_to_write)
def test_no_completion_is_right_for_two_integers(
    one: int, other: int, write: Callable[[Fraction], str]
) -> None:
    assume(one != other)
    for guess in (Fraction(one), Fraction(other), Fraction(one + other, 2)):
        answer = write(guess)
        assert not (is_right(str(one), answer) and is_right(str(other), answer))


@given(st.integers(-(10**12), 10**12), st.integers(1, 3))
def test_a_right_decimal_of_an_integer_is_right(value: int, places: int) -> None:
    assert is_right(str(value), decimal(places)(Fraction(value)))


polynomials = st.lists(st.integers(-50, 50), min_size=2, max_size=4).filter(lambda one: one[-1])


def polynomial(coefficients: list[int]) -> str:
    return " + ".join(f"({one}) x^{{{power}}}" for power, one in enumerate(coefficients))


@given(polynomials, polynomials, st.sampled_from(["{}", "f(x) = {}", "({}, 1)", "y = {}"]))
def test_no_polynomial_is_right_for_two_references(
    one: list[int], other: list[int], place: str
) -> None:
    assume(one != other)
    texts = [place.format(polynomial(coefficients)) for coefficients in (one, other)]
    assert [is_right(texts[0], text) for text in texts] == [True, False]
    assert [is_right(texts[1], text) for text in texts] == [False, True]
