"""`format`, `tag_count` and `reasoning_steps`: reasons, and parity with open-r1."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.shared_data import shared_data
from tests.verifier_service.judging import judge as judge_with
from verifier_service.verifier import Judgement, TextVerifier
from verifier_service.verifiers.format import Format
from verifier_service.verifiers.reasoning_steps import ReasoningSteps
from verifier_service.verifiers.tag_count import TagCount

GOOD = "<think>\na\n</think>\n<answer>\nb\n</answer>"


def judge(verifier: TextVerifier, text: str) -> Judgement:
    return judge_with(verifier, {}, text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (GOOD, "matched"),
        (f"\n {GOOD}\n", "matched"),
        (GOOD + "<|im_end|>", "matched"),
        (GOOD + "</s>\n", "matched"),
        (GOOD + " more<|im_end|>", "text_outside"),
        (GOOD + "<|im_end|> more", "text_outside"),
        ("<think>a</think><answer>b</answer>", "matched"),
        ("<think>a</think>", "missing_tag"),
        ("", "missing_tag"),
        ("<think>a<think>b</think><answer>c</answer>", "repeated_tag"),
        (GOOD + GOOD, "repeated_tag"),
        ("<answer>b</answer><think>a</think>", "wrong_order"),
        ("<think>a<answer>b</think>c</answer>", "wrong_order"),
        (GOOD + " and more", "text_outside"),
        ("So " + GOOD, "text_outside"),
        ("<think>a</think> so <answer>b</answer>", "text_outside"),
        ("<think> </think><answer>b</answer>", "empty_body"),
        ("<think>a</think><answer>\n</answer>", "empty_body"),
        ("<think>a</think><answer>\u200b</answer>", "empty_body"),
        ("<think>\u2060\ufeff</think><answer>b</answer>", "empty_body"),
        ("<think>\u3164</think><answer>b</answer>", "empty_body"),
        ("<think>a</think><answer>\u2800 \u00ad\x00</answer>", "empty_body"),
        ("<think>a</think><answer><!-- b --></answer>", "empty_body"),
        ("<think>a</think><answer><!-- b --> b</answer>", "matched"),
        ("<think>a</think><answer>\u200b0</answer>", "matched"),
        ("<think>\u0e04\u0e34\u0e14</think><answer>\U0001f600</answer>", "matched"),
    ],
)
def test_format_gives_its_reason(text: str, reason: str) -> None:
    found = judge(Format(), text)
    assert (found.score, found.reason) == (float(reason == "matched"), reason)


def test_format_takes_other_tags() -> None:
    text = "<reasoning>a</reasoning><solution>b</solution>"
    assert judge(Format(tags=("reasoning", "solution")), text).reason == "matched"
    assert judge(Format(), text).reason == "missing_tag"


def test_two_tags_have_two_names() -> None:
    """A form with one name for both tags fits no completion."""
    with pytest.raises(ValidationError, match=r"tags\n.*two different names.*'think' twice"):
        Format(tags=("think", "think"))


@pytest.mark.parametrize("mode", ["strict", "open_r1"])
def test_a_prefilled_opening_tag_counts(mode: Any) -> None:
    rest = GOOD.removeprefix("<think>\n")
    assert judge(Format(mode=mode, prefilled=True), rest).reason == "matched"
    assert judge(TagCount(mode=mode, prefilled=True), rest).score == 1.0
    assert judge(TagCount(mode=mode), rest).score == 0.75


@pytest.mark.parametrize(
    ("text", "score", "reason"),
    [
        (GOOD, 1.0, "all_tags"),
        ("<think>a</think> 3", 0.5, "some_tags"),
        ("<think><think>a</think>", 0.25, "some_tags"),
        ("3", 0.0, "no_tags"),
    ],
)
def test_tag_count_gives_a_quarter_for_each_tag(text: str, score: float, reason: str) -> None:
    found = judge(TagCount(), text)
    assert (found.score, found.reason, found.details) == (score, reason, {"tags": 4 * score})


@pytest.mark.parametrize(
    ("text", "strict", "open_r1"),
    [
        ("1. a\n2. b\n3. c", 1.0, 1 / 3),
        ("Step 1: a\nStep 2: b", 2 / 3, 2 / 3),
        ("First, a. Next, b. Finally, c.", 1.0, 1.0),
        ("so\n- a\n* b", 2 / 3, 2 / 3),
        ("1.\n2.\n3.", 0.0, 1 / 3),
        ("Step 1:Step 2:Step 3:", 0.0, 1.0),
        ("Step 1: a Step 2: b", 2 / 3, 2 / 3),
        ("First,First,Second,", 0.0, 1.0),
        ("Firstly, a\nSecondly, b\nThirdly, c", 1.0, 0.0),
        ("so\n- \n- \n* \u200b", 0.0, 1.0),
        ("1. \n2. ...\n3. c", 1 / 3, 1 / 3),
        ("### Step 1: Add\n- a\n- b", 1.0, 1.0),
        ("it is 3.5 - 2", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_reasoning_steps_are_counted(text: str, strict: float, open_r1: float) -> None:
    assert judge(ReasoningSteps(), text).score == pytest.approx(strict)
    assert judge(ReasoningSteps(mode="open_r1"), text).score == pytest.approx(open_r1)


def test_the_number_of_steps_for_a_full_score_is_an_option() -> None:
    found = judge(ReasoningSteps(target=4), "- a\n- b")
    assert (found.score, found.reason, found.details) == (0.5, "some_steps", {"steps": 2})


def test_open_r1_format_equals_open_r1_on_real_completions() -> None:
    rows = shared_data("format/format_tag_parity.jsonl.gz")
    found = [judge(Format(mode="open_r1"), row["completion"]).score for row in rows]
    assert found == [row["open_r1_format_reward"] for row in rows]


def test_open_r1_tag_count_equals_open_r1_on_real_completions() -> None:
    rows = shared_data("format/format_tag_parity.jsonl.gz")
    found = [judge(TagCount(mode="open_r1"), row["completion"]).score for row in rows]
    assert found == [row["open_r1_tag_count_reward"] for row in rows]


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<answer>", "</answer>", "\n", "x", "1. "]))
)
def test_scores_are_in_range_and_agree_for_any_text(parts: list[str]) -> None:
    text = "".join(parts)
    tags = judge(TagCount(), text)
    assert tags.score in (0.0, 0.25, 0.5, 0.75, 1.0)
    assert 0.0 <= judge(ReasoningSteps(), text).score <= 1.0
    if judge(Format(), text).score == 1.0:
        assert tags.reason == "all_tags"
