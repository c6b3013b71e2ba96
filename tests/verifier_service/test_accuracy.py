"""`accuracy`: which text is the final answer, and what equals the reference."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shared_data import shared_data
from tests.verifier_service.judging import judge as judge_with
from verifier_service.verdict import EngineReason
from verifier_service.verifier import Judgement, Unverifiable
from verifier_service.verifiers.accuracy import Accuracy


@pytest.fixture(autouse=True, scope="module")
def _without_math_verifys_warnings() -> Iterator[None]:
    logger = logging.getLogger("math_verify")
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


def judge(answer: object, text: str) -> Judgement:
    return judge_with(Accuracy(), {"answer": answer}, text)


@pytest.mark.parametrize(
    ("answer", "text", "reason"),
    [
        ("2", r"\boxed{2}", "equal"),
        ("2", "The answer is 2.", "equal"),
        ("2", "<think>3</think><answer>2</answer>", "equal"),
        ("3", "<think>3</think><answer>2</answer>", "different"),
        ("2", "<think>so 2</think>I cannot tell", "no_answer"),
        ("1/2", r"<think>.</think><answer>\frac{1}{2}</answer>", "equal"),
        ("1/2", r"<think>.</think><answer>$\frac{2}{4}$</answer>", "equal"),
        (r"\frac{1}{2}", "0.5", "equal"),
        ("x^2+2x+1", r"\boxed{(x+1)^2}", "equal"),
        ("1 + 1 = 2\n#### 2", r"\boxed{2}", "equal"),
        ("1,234", r"\boxed{1234}", "equal"),
        (["4", "2"], r"\boxed{2}", "equal"),
        (["4", "3"], r"\boxed{2}", "different"),
        (2, r"\boxed{2}", "equal"),
        ("2", "<think>the answer is 2", "no_answer"),
        ("2", "<think>a</think><answer></answer> 2", "no_answer"),
        ("2", "", "no_answer"),
        ("2", "there is no number in this text", "no_answer"),
        ("A", "<think>.</think><answer> A </answer>", "equal"),
        ("A", "<think>.</think><answer>B</answer>", "different"),
        ("6 - 5i", "<think>.</think><answer>6 - 5i</answer>", "equal"),
        ("5", "<think>.</think><answer>5 apples</answer>", "equal"),
        ("2", "<think>.</think><answer>I cannot tell</answer>", "different"),
    ],
)
def test_a_completion_gets_its_reason(answer: object, text: str, reason: str) -> None:
    found = judge(answer, text)
    assert (found.score, found.reason) == (float(reason == "equal"), reason)


def test_what_was_compared_is_reported() -> None:
    assert judge("2", "<think>.</think><answer> x = 2 </answer>").extracted == "x = 2"
    assert judge("2", r"so \boxed{3}").extracted == "3"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ({}, EngineReason.MISSING_REFERENCE),
        ({"answer": ""}, EngineReason.MISSING_REFERENCE),
        ({"answer": []}, EngineReason.MISSING_REFERENCE),
        ({"answer": "$$"}, EngineReason.BAD_REFERENCE),
        ({"answer": {"a": 1}}, EngineReason.BAD_REFERENCE),
        ({"answer": True}, EngineReason.BAD_REFERENCE),
    ],
)
def test_a_reference_that_cannot_be_used_says_why(
    reference: dict[str, object], reason: EngineReason
) -> None:
    with pytest.raises(Unverifiable) as caught:
        Accuracy().prepare(reference)
    assert caught.value.reason is reason


@settings(max_examples=50, deadline=None)
@given(st.integers(-(10**12), 10**12), st.integers(1, 10**6))
def test_a_number_equals_itself_and_no_other(number: int, other: int) -> None:
    text = f"<think>\nx\n</think>\n<answer>\n{number}\n</answer>"
    assert judge(str(number), text).reason == "equal"
    assert judge(str(number + other), text).reason == "different"


def test_every_real_reference_equals_itself() -> None:
    golds = [row["gold"] for row in shared_data("math/gold_math500.jsonl")]
    found = {gold: judge(gold, f"<think>.</think><answer>{gold}</answer>") for gold in golds}
    assert [gold for gold, judgement in found.items() if judgement.reason != "equal"] == []
