"""Constants too large for any number type: told apart by their size, or left open."""

from __future__ import annotations

import math
from fractions import Fraction

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verifier_service.test_score import verdicts
from verifier_service.mathematics.answer_parser import parse_answer
from verifier_service.mathematics.expressions import Expression, Number, Power, Product
from verifier_service.mathematics.magnitude import differ_in_size
from verifier_service.mathematics.values import Quantity

TOWER = "9^{9^{9^9}}"


def expression(text: str) -> Expression:
    value = parse_answer(text)
    assert isinstance(value, Quantity)
    return value.expression


@pytest.mark.parametrize(
    ("left", "right", "differ"),
    [
        (TOWER, "5", True),
        (TOWER, "-" + TOWER, True),
        (TOWER, "9^{9^{9^8}}", True),
        (TOWER, "9^{9^{9^9}} + 10^{400}", False),  # too close to tell
        (TOWER, r"\frac{9^{9^{9^9}}}{2}", False),
        (TOWER, TOWER, False),
        ("(((5!)!)!)!", "120", True),
        ("10^{1000}!", "10^{1000}", True),
        (r"\pi^{e^{1000}}", "2", True),
        ("9^{9^9} - 9^{9^9} + 2", "2", False),  # what cancels is not known
        ("(10^{17} + 1 - 10^{17})^{9^{9^9}}", "1", False),  # nor what rounding loses
        ("(1 + 10^{-20})^{10^{400}}", "1", False),
        ("(-2)^{9^{9^9}}", "2", False),
        ("9^{9^{9^9}} x", "7", True),
        ("9^{9^{9^9}} + x", "x", True),
        (r"\sin(9^{9^9})", "2", False),
        ("2", "3", False),  # floats are compared exactly elsewhere
    ],
)
def test_only_what_clearly_differs_in_size_does(left: str, right: str, differ: bool) -> None:
    point = {"x": Fraction(218, 97)}
    for one, other in ((left, right), (right, left)):
        assert differ_in_size(expression(one), expression(other), point) == differ


@given(st.integers(2, 10**6), st.integers(300, 10**9), st.integers(2, 50))
def test_one_number_written_in_two_ways_never_differs(base: int, power: int, factor: int) -> None:
    """b^(kp) is (b^k)^p, and b^p b^p is b^(2p)."""

    def number(value: int) -> Expression:
        return Number(Fraction(value))

    one = Power(number(base), number(factor * power))
    assert not differ_in_size(one, Power(number(base**factor), number(power)), {})
    half = Power(number(base), number(power))
    twice = Power(number(base), number(2 * power))
    assert not differ_in_size(Product((half, half)), twice, {})


@given(st.integers(2, 1000), st.integers(300, 10**6), st.floats(1.5, 10))
def test_a_larger_power_differs(base: int, power: int, ratio: float) -> None:
    """The logarithm of the logarithm is larger by ln(ratio), far above the margin of an index."""
    large = math.ceil(power * ratio**20)
    one, other = (Power(Number(Fraction(base)), Number(Fraction(n))) for n in (power, large))
    in_floats = large * math.log(base) < 690
    assert differ_in_size(one, other, {}) != in_floats


def test_power_towers_of_a_group_cost_no_time(http: httpx.Client) -> None:
    """Each was worked on until its time was up."""
    towers = [rf"\boxed{{{n}^{{9^{{9^{{9}}}}}}}}" for n in range(2, 12)]
    for reference in ("2", r"\frac{x^2+1}{x-1}", "(1, 2)"):
        found = verdicts(http, {"type": "accuracy"}, *towers, answer=reference)
        assert {verdict["reason"] for verdict in found} == {"different"}


def test_a_power_tower_equals_itself(http: httpx.Client) -> None:
    (found,) = verdicts(http, {"type": "accuracy"}, rf"\boxed{{{TOWER}}}", answer=TOWER)
    assert found["reason"] == "equal"
