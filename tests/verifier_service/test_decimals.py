"""How far a decimal may lie from what it equals: last places, exact values, and `rounding`."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verifier_service.judging import judge
from verifier_service.mathematics.decimals import plain_decimal
from verifier_service.mathematics.expressions import Number, Power, Product
from verifier_service.verifiers.accuracy import Accuracy


def reason(reference: str, answer: str, **options: int) -> str:
    verifier = Accuracy.model_validate(options)
    return judge(verifier, {"answer": reference}, rf"\boxed{{{answer}}}").reason.value


def assert_either_way(reference: str, answer: str, expected: str, **options: int) -> None:
    assert reason(reference, answer, **options) == expected
    assert reason(answer, reference, **options) == expected


@pytest.mark.parametrize(
    ("reference", "wrong", "right"),
    [
        # Decimals of seven digits and more agree to half a unit of the coarser last place.
        ("39.23604364", "39.23604460", "39.236043642"),
        ("2.370642602", "2.370642878", "2.3706426"),
        ("115.9432944", "115.9433223", "115.94329440"),
        ("-18.90156193", "-18.90156211", "-18.901561930"),
        ("0.9321836177", "0.9321835785", "0.93218361770"),
        ("12345678.25", "12345679.25", "12345678.250"),
        ("39.23604364", "39.23604365", "39.23604364"),
        (r"6.0221407\times10^{23}", r"6.0221419\times10^{23}", "6.02214070e23"),
        ("x = 2.370642602", "x = 2.370642878", "x = 2.3706426020"),
        (r"48.540467\%", r"48.540492\%", "0.48540467"),
        # A product or a sum of decimals is as precise as its long ones, not as its short ones.
        ("48.54046742", r"48.54044921\cdot1.0", r"48.54046742\cdot1.0"),
        ("48.54046742", "48.54+0.00044921", "48.54+0.00046742"),
        ("48.54046742", r"\frac{4854044921}{100000000}\cdot1.0", r"\frac{4854046742}{100000000}"),
        ("1.52399025", "(1+0.2344999)^2", "(1+0.2345)^2"),
        # What has no decimals is met exactly, with letters or pi too.
        ("1000000x", "1000000.9x", "1000000.0x"),
        ("x+1000000", "x+1000000.9", "1000000.0+x"),
        ("y=38x", "y=38.0000021x", "y=38.0x"),
        ("x=2y+38", "x=2y+38.0000021", "x=2y+38.0"),
        (r"38\pi", r"38.0000021\pi", r"38.0\pi"),
        (r"1000000\pi", r"1000000.9\pi", "3141592.6536"),
        (r"1000000\sqrt2", "1414213.0", "1414213.5624"),
        ("38+2i", "38.0000021+2i", "38.0+2.0i"),
        (r"\frac{2x}{3}", "0.6666672x", "0.666667x"),
        ("(38, 2)", "(38.0000021, 2)", "(38.0, 2.0)"),
        (r"\{38, 2\}", r"\{38.0000021, 2\}", r"\{38.0, 2\}"),
        ("[0, 38]", "[0, 38.0000021]", "[0, 38.0]"),
        ("38 cm", "38.0000021 cm", "38.0 cm"),
        ("38 km", "38000.0021 m", "38000.0 m"),
        (r"38\%", r"38.0000021\%", r"38.0\%"),
        (r"\begin{pmatrix}38\\1\end{pmatrix}", "(38.0000021, 1)", "(38.0, 1)"),
        ("100!", r"9.33262154439\times10^{157}", r"100\cdot99!"),
        # Two places of many say little: 1/54145 is not 0.000018.
        (r"\frac{1}{54145}", "0.000018", "0.00001847"),
        ("0.0000018", "0.000002", "0.00000180"),
        ("0.0123457", "0.01238", "0.012346"),
    ],
)
def test_a_near_decimal_is_wrong_and_a_rounded_one_is_right(
    reference: str, wrong: str, right: str
) -> None:
    assert_either_way(reference, wrong, "different")
    assert_either_way(reference, right, "equal")


@pytest.mark.parametrize(
    ("reference", "rounded", "digits"),
    [
        ("600/7", "85.71", 4),
        (r"\pi", "3.14", 3),
        (r"\frac{1587}{52}", "30.52", 4),
        (r"10\sqrt6", "24.5", 3),
        ("6/7", r"85.71\%", 4),
        ("600/7 cm", "85.7 cm", 3),
        (r"(1, \frac13)", "(1, 0.33)", 2),
        (r"[0, \sqrt2]", "[0, 1.41]", 3),
        ("x = 600/7", "x = 85.71", 4),
        ("85.714286", "85.71", 4),
        ("100!", r"9.33\times10^{157}", 3),
    ],
)
def test_rounding_accepts_so_many_digits_either_way(
    reference: str, rounded: str, digits: int
) -> None:
    assert_either_way(reference, rounded, "different")
    assert_either_way(reference, rounded, "equal", rounding=digits)
    assert_either_way(reference, rounded, "different", rounding=digits + 1)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [("600/7", "85.72"), (r"\pi", "3.15"), (r"2\pi", "6"), ("600/7", "86"), ("x/3", "0.33x")],
)
def test_rounding_accepts_neither_wrong_digits_nor_integers(reference: str, answer: str) -> None:
    assert_either_way(reference, answer, "different", rounding=1)


seven_to_eleven_digits = st.integers(10**6, 10**11)


@given(seven_to_eleven_digits, st.integers(1, 9), st.integers(-9, 9), st.sampled_from([1, -1]))
def test_two_decimals_of_one_length_are_equal_only_if_they_are_one(
    units: int, places: int, steps: int, sign: int
) -> None:
    texts = [decimal(sign * one, places) for one in (units, units + steps)]
    assert (reason(texts[0], texts[1]) == "equal") == (steps == 0)


def decimal(units: int, places: int) -> str:
    digits = str(abs(units)).zfill(places + 1)
    return f"{'-' if units < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def test_a_plain_decimal_may_have_a_power_of_ten() -> None:
    decimal, ten = Number(Fraction(5, 2), 1), Number(Fraction(10))
    exponent = Number(Fraction(3))
    assert plain_decimal(Product((decimal, Power(ten, exponent)))) == decimal
    assert plain_decimal(Product((decimal, Number(Fraction(1, 100))))) == decimal
    assert plain_decimal(Product((decimal, Number(Fraction(2))))) is None
    assert plain_decimal(Number(Fraction(5, 2))) is None


@pytest.mark.parametrize("form", ["value", "same"])
def test_numbers_of_thousands_of_digits_are_compared(form: str) -> None:
    whole, below = "9" * 3000, "7" * 2500
    verifier = Accuracy.model_validate({"form": form, "rounding": 3})
    reference = {"answer": rf"{whole}\frac{{1}}{{{below}}} \cdot 2.5"}
    found = judge(verifier, reference, rf"\boxed{{\frac{{{whole}}}{{{below}}} \cdot 1.5}}")
    assert (found.score, found.reason) == (0.0, "different")
