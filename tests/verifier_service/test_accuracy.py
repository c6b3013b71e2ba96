"""`accuracy`: which text is the final answer, and what equals the reference."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.shared_data import shared_data
from tests.verifier_service.judging import judge as judge_with
from verifier_service.reason import EngineReason
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


def reason(verifier: Accuracy, answer: object, text: str) -> str:
    return judge_with(verifier, {"answer": answer}, text).reason.value


@pytest.mark.parametrize(
    ("options", "answer", "given", "expected"),
    [
        ({}, "90", r"90^\circ", "equal"),
        ({"units": "require"}, "90", r"90^\circ", "different"),
        ({"units": "ignore"}, "5 km", "5 m", "equal"),
        ({}, "0.5", r"50\%", "equal"),
        ({}, "50", r"50\%", "equal"),
        ({"percent": "strict"}, "0.5", r"50\%", "equal"),
        ({"percent": "strict"}, "50", r"50\%", "different"),
        ({}, "(1, 2)", "(2, 1)", "different"),
        ({"order_matters": False}, "(1, 2)", "(2, 1)", "equal"),
        ({}, "3.14", "3.15", "different"),
        ({"tolerance": 0.01}, "3.14", "3.15", "equal"),
        ({"tolerance": 0.01}, "314", "315", "different"),  # whole numbers are exact
        ({}, r"\sqrt{2}", "1.41421356", "equal"),
        ({"tolerance": 0}, r"\sqrt{2}", "1.41421356", "different"),
        ({"tolerance": 0}, "1/8", "0.125", "equal"),
    ],
)
def test_options_change_what_is_equal(
    options: dict[str, object], answer: str, given: str, expected: str
) -> None:
    assert reason(Accuracy.model_validate(options), answer, rf"\boxed{{{given}}}") == expected


def test_the_places_to_look_at_can_be_chosen() -> None:
    strict = Accuracy(extract=("boxed",))
    assert reason(strict, "2", "The answer is 2.") == "no_answer"
    assert reason(strict, "2", r"The answer is 3: \boxed{2}") == "equal"


@pytest.mark.parametrize(
    "option", [{"units": "ignore"}, {"extract": ["boxed"]}, {"tolerance": 0.1}]
)
def test_an_option_that_has_no_effect_in_a_mode_is_refused(option: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(option))):
        Accuracy.model_validate({"mode": "open_r1", **option})


@pytest.mark.parametrize(
    ("answer", "text", "expected"),
    [
        ("2022", "The answer is 2021 or 2022 or 2023.", "ambiguous_answer"),
        (["2021", "2022"], "The answer is 2021 or 2022.", "ambiguous_answer"),
        ("4", r"It is \boxed{3} or \boxed{4}.", "ambiguous_answer"),
        ("4", r"\boxed{3} and \boxed{4}", "ambiguous_answer"),
        ("3, 4", r"\boxed{3} and \boxed{4}", "equal"),
        ("4", r"So \boxed{3}. Wait, no. It is \boxed{4}.", "equal"),
        ("2", "The answer is 2 or 2.0.", "equal"),
        ("1, 2", r"\boxed{x = 1 \text{ or } x = 2}", "equal"),
        ("1", r"\boxed{x = 1 \text{ or } x = 2}", "different"),
        ("1, 2, 3", r"\boxed{x = 1 \text{ or } x = 2}", "different"),
        (r"\pm 2", r"\boxed{2, -2}", "equal"),
        (r"\pm 2", r"\boxed{2}", "different"),
        ("2", r"\boxed{\pm 2}", "different"),
        ("x < 1 or x > 2", r"\boxed{(-\infty, 1) \cup (2, \infty)}", "equal"),
        ("x < 1 or x > 2", r"\boxed{x < 1}", "different"),
        (["2", "3"], r"\boxed{3}", "equal"),
    ],
)
def test_alternatives_are_not_an_answer_but_a_set_is(
    answer: object, text: str, expected: str
) -> None:
    assert reason(Accuracy(), answer, text) == expected


def test_an_answer_of_endless_length_is_too_large() -> None:
    assert reason(Accuracy(), "1", rf"\boxed{{{'1' * 10_001}}}") == "too_large"


def test_a_reference_that_cannot_be_read_equals_its_own_text_and_tells_nothing_else() -> None:
    reference = {"answer": r"\frac{}{2k}"}
    assert judge_with(Accuracy(), reference, r"\boxed{\frac{}{2k}}").reason == "equal"
    with pytest.raises(Unverifiable) as caught:
        judge_with(Accuracy(), reference, r"\boxed{2}")
    assert caught.value.reason is EngineReason.BAD_REFERENCE


def test_modes_call_math_verify_as_their_peers_do() -> None:
    default, math_verify = Accuracy(), Accuracy(mode="math_verify")
    open_r1 = Accuracy(mode="open_r1")
    # An interval against an inequality is equal one way round only.
    assert reason(math_verify, "0<x<1", r"$(0,1)$") == "equal"
    assert reason(math_verify, "(0,1)", r"$0<x<1$") == "different"
    assert reason(default, "(0,1)", r"$0<x<1$") == "equal"
    # open-r1 reads LaTeX only.
    assert reason(math_verify, "2", "It is 2") == "equal"
    assert reason(open_r1, "2", "It is 2") == "no_answer"
    assert reason(open_r1, "2", r"\boxed{2}") == "equal"


@pytest.mark.parametrize("mode", ["math_verify", "open_r1"])
def test_a_reference_that_a_peer_cannot_read_is_unverifiable(
    mode: Literal["math_verify", "open_r1"],
) -> None:
    with pytest.raises(Unverifiable) as caught:
        judge_with(Accuracy(mode=mode), {"answer": "$$"}, "$2$")
    assert caught.value.reason is EngineReason.BAD_REFERENCE
