"""Answers that took seconds are decided at once: nested functions, quotients of factorials."""

from __future__ import annotations

import time

import pytest

from tests.verifier_service.judging import judge
from verifier_service.mathematics.math_verify_comparison import MAX_ROUND, accepts_either_way
from verifier_service.verifiers.accuracy import Accuracy


@pytest.mark.parametrize(
    ("opening", "closing", "number"),
    [
        (r"\sin(", ")", 61),
        (r"\sin(", ")", 10),
        (r"\ln{", "}", 61),
        (r"\sin[", "]", 61),
        (r"\sqrt{", "}", 61),
        (r"\frac{1}{1+", "}", 61),
    ],
)
def test_math_verify_is_not_asked_of_many_brackets_in_each_other(
    opening: str, closing: str, number: int
) -> None:
    start = time.process_time()
    assert not accepts_either_way(r"\frac12", f"{opening * number}x{closing * number}")
    assert time.process_time() - start < 0.5


def test_math_verify_is_asked_of_a_few_brackets() -> None:
    number = MAX_ROUND - 1
    nested = f"{'(' * number}x+1{')' * number}"
    assert accepts_either_way("x+1", nested)


@pytest.mark.parametrize(
    ("reference", "answer", "reason"),
    [
        ("1000000", "1000000!/999999!", "equal"),
        ("1000000", r"\frac{1000000!}{999999!}", "equal"),
        (r"\frac{1000000!}{999999!}", "1000000", "equal"),
        ("999999000000", r"\frac{1000000!}{999998!}", "equal"),
        ("999999", "1000000!/999999!", "different"),
        ("1", "1000000!/1000000!", "equal"),
        ("1000000", "1000000!", "different"),
        ("9900", r"\frac{100!}{98!}", "equal"),
    ],
)
def test_quotients_of_large_factorials_are_cancelled(
    reference: str, answer: str, reason: str
) -> None:
    assert judge(Accuracy(), {"answer": reference}, rf"\boxed{{{answer}}}").reason == reason


def test_a_cancelled_quotient_is_still_to_be_evaluated() -> None:
    verifier = Accuracy(form="evaluated")
    found = judge(verifier, {"answer": "1000000"}, r"\boxed{1000000!/999999!}")
    assert found.reason == "unevaluated"
