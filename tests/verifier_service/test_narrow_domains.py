"""Expressions that are real in a small interval, or only far from 0."""

from __future__ import annotations

import pytest

from tests.verifier_service.judging import judge
from verifier_service.verifiers.accuracy import Accuracy


def reason(right: str, answer: str) -> str:
    return str(judge(Accuracy(), {"answer": right}, f"<answer>{answer}</answer>").reason)


@pytest.mark.parametrize("factor", [2, 4, 7, 9, 16, 23, 100])
def test_roots_that_are_real_near_zero_alone_are_compared_there(factor: int) -> None:
    right = f"x + sqrt(1-{factor}*x**2)/2"
    assert reason(right, f"x + 1/2*sqrt(1-{factor}*x**2)") == "equal"
    assert reason(right, f"1/2*sqrt(1-{factor}*x**2) + x") == "equal"
    assert reason(right, f"x + 1/3*sqrt(1-{factor}*x**2)") == "different"
    assert reason(right, f"x - 1/2*sqrt(1-{factor}*x**2)") == "different"


def test_roots_that_are_real_far_from_zero_alone_are_compared_there() -> None:
    right = r"x + \sqrt{4x - 400}"
    assert reason(right, r"x + 2\sqrt{x - 100}") == "equal"
    assert reason(right, r"x + 2\sqrt{x - 101}") == "different"


def test_an_integral_with_an_inverse_function_may_write_its_factor_before_the_root() -> None:
    right = "-3*x*asin(2*x) - 3*sqrt(1 - 4*x**2)/2 + C"
    assert reason(right, "-3*x*asin(2*x) - 3/2*sqrt(1 - 4*x**2) + C") == "equal"
    assert reason(right, "-3*x*asin(2*x) - 3/4*sqrt(1 - 4*x**2) + C") == "different"
    assert reason(right, "-3*x*acos(2*x) - 3/2*sqrt(1 - 4*x**2) + C") == "different"


@pytest.mark.parametrize(
    ("right", "answer"),
    [
        (r"x + \frac{\sqrt{1-9x^2}}2", r"x + \frac12\sqrt{1-9x^2} + x^{100}"),
        (r"x + \frac{\sqrt{1-9x^2}}2", r"x + \frac12\sqrt{1-9x^2} + x^{1000}"),
        (r"x + \sqrt{4x-400}", r"x + 2\sqrt{x-100} + e^{-x}"),
        (r"x + \sqrt{1-9x^2}", r"x + \sqrt{1-9x^2} + 10^{-60}"),
    ],
)
def test_a_term_that_is_tiny_where_the_roots_are_real_is_seen(right: str, answer: str) -> None:
    assert reason(right, answer) != "equal"
