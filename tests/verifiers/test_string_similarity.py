"""`string_similarity`: measures worked by hand, references of other projects, and padding."""

from __future__ import annotations

import sys
from difflib import SequenceMatcher
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import verdicts
from verifier_service.text_similarity import (
    common_length,
    edit_distance,
    items_in,
    rouge_l,
    set_f1,
    token_f1,
)
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers import string_similarity
from verifier_service.verifiers.string_similarity import METRICS, StringSimilarity

SHORT = st.text("abc ", max_size=12)


def outcome(text: str, answer: Any, prefix: str = "", **options: Any) -> tuple[float, str]:
    reference = {"answer": answer, **({"prefix": prefix} if prefix else {})}
    found = judge(StringSimilarity(**options), reference, text)
    return found.score, found.reason.value


@given(SHORT, SHORT)
def test_edit_distance_is_that_of_the_definition(one: str, other: str) -> None:
    row = list(range(len(other) + 1))
    for index, sign in enumerate(one, 1):
        before, row[0] = row[0], index
        for place, wanted in enumerate(other, 1):
            best = min(row[place] + 1, row[place - 1] + 1, before + (sign != wanted))
            before, row[place] = row[place], best
    assert edit_distance(one, other) == row[-1]


@given(SHORT, SHORT)
def test_the_common_length_is_that_of_the_definition(one: str, other: str) -> None:
    row = [0] * (len(other) + 1)
    for sign in one:
        before = 0
        for place, wanted in enumerate(other, 1):
            best = before + 1 if sign == wanted else max(row[place], row[place - 1])
            before, row[place] = row[place], best
    assert common_length(one, other) == row[-1]


@pytest.mark.parametrize("metric", METRICS)
@given(one=st.text(max_size=30), other=st.text(max_size=30))
def test_a_similarity_lies_between_0_and_1(metric: str, one: str, other: str) -> None:
    assert 0 <= METRICS[metric](one, other) <= 1


@pytest.mark.parametrize(
    ("metric", "answer", "reference", "expected"),
    [
        ("sequence_ratio", "abcd", "bcde", 0.75),
        ("edit", "kitten", "sitting", 4 / 7),
        ("edit", "Paris", "Paris", 1),
        ("rouge_l", "the cat sat", "the cat sat down", 6 / 7),
        ("rouge_l", "sat cat the", "the cat sat", 1 / 3),
        ("token_f1", "The tall Eiffel Tower", "Eiffel Tower", 4 / 5),
        ("token_f1", "an apple", "the apple", 1),
        ("set_f1", "Final Answer: [a, b, c]", '["a", "b"]', 4 / 5),
        ("set_f1", "So **Final Answer**: ['b', 'a']", ["a", "b"], 1),
        ("set_f1", "Final Answer: []", "[]", 1),
        ("set_f1", "[x]\nFinal Answer: [a]", ["a"], 1),
        ("contains", "The numbers are 12 and 34.", ["12", "34"], 1),
        ("contains", "The number is 12.", ["12", "34"], 0.5),
    ],
)
def test_a_measure_is_the_one_worked_by_hand(
    metric: Any, answer: str, reference: Any, expected: float
) -> None:
    assert outcome(answer, reference, metric=metric)[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "answer", ["x9 The poem", "x9The poem.", "x9 The long poem", "x9", "The poem"]
)
def test_mrcr_wants_its_prefix(answer: str) -> None:
    """MRCR's own code wants it, too."""
    wanted = "x9The poem"
    expected = 0.0
    if answer.startswith("x9"):
        given_text = answer.removeprefix("x9")
        expected = SequenceMatcher(None, given_text, "The poem").ratio()
    assert outcome(answer, wanted, prefix="x9")[0] == pytest.approx(expected)


HOSTILE: list[tuple[str, str, Any]] = [
    (metric, text, reference)
    for metric, reference in {
        "sequence_ratio": "The cat sat on the mat.",
        "edit": "The cat sat on the mat.",
        "rouge_l": "The cat sat on the mat.",
        "token_f1": "The cat sat on the mat.",
        "set_f1": ["cat", "mat", "hat"],
        "contains": ["7351", "9902", "1284"],
    }.items()
    for text in (
        "cat mat hat sat on the " * 200,
        " ".join(f"{number:04d}" for number in range(10_000)),
        "Final Answer: [" + ", ".join(f"x{number}" for number in range(500)) + ", cat]",
        "<think>The cat sat on the mat. 7351 9902 1284</think> No.",
        "<think>The cat sat on the mat. [cat, mat, hat] 7351 9902 1284",
        "<answer>The cat</answer><answer>The cat sat on the mat.</answer>",
        "[" * 5000,
        "a" * 60_000,
        "\x00" * 100,
    )
]


@pytest.mark.parametrize(("metric", "text", "reference"), HOSTILE)
def test_padding_and_lists_of_everything_score_little(
    metric: Any, text: str, reference: Any
) -> None:
    assert outcome(text, reference, metric=metric)[0] < 0.35
    honest = (
        "[cat, mat, hat]"
        if metric == "set_f1"
        else " ".join(reference if isinstance(reference, list) else [reference])
    )
    assert outcome(honest, reference, metric=metric) == (1, "similar")


def test_a_threshold_makes_it_1_or_0() -> None:
    assert outcome("abcd", "bcde", threshold=0.75) == (1, "similar")
    assert outcome("abcd", "bcde", threshold=0.76) == (0, "not_similar")


def test_the_most_similar_reference_counts() -> None:
    assert outcome("Paris", ["Rome", "Paris"])[0] == 1
    assert outcome("paris", ["Paris"], metric="edit")[0] == pytest.approx(0.8)
    assert outcome("paris", ["Paris"], metric="edit", case_sensitive=False)[0] == 1


@pytest.mark.parametrize(
    ("text", "reason", "options"),
    [
        ("", "no_answer", {}),
        ("<think>a", "no_answer", {}),
        ("<answer>a</answer><answer>b</answer>", "ambiguous_answer", {}),
        ("no list", "no_list", {"metric": "set_f1"}),
        ("x" * 50_001, "too_long", {}),
        ("1 " * 2_000, "too_long", {"metric": "contains"}),
    ],
)
def test_a_reason_says_why_nothing_is_similar(
    text: str, reason: str, options: dict[str, Any]
) -> None:
    assert outcome(text, ["1"], **options) == (0, reason)


@pytest.mark.parametrize(
    ("honest", "refused", "reference"),
    [
        ("It is 7.", "It is 17.", "7"),
        ("x = 7, so 7", "x7", "7"),
        ("**7**", "7.5", "7"),
        ("_7_", "-7", "7"),
        ("7, 12", "7,000", "7"),
        ("$7", "\u22127", "7"),
        ("(7)", "7/2", "7"),
        ("- 7", "2^7", "7"),
        ("at 7: yes", "7:30", "7"),
        ("-7", "5-7", "-7"),
        ("It is .5", "1.5", ".5"),
        ("The 12 and the 34", "1234", "12"),
        ("1,000 of them", "1,000,000", "1,000"),
        ("7 km", "17 km", "7 km"),
        ("7%", "7.5%", "7%"),
        ("in Paris.", "Parisian", "Paris"),
        ("__Paris__", "comParis", "Paris"),
        ("C++, of course", "C, of course", "C++"),
        ("共7个", "共17个", "7"),
        ("答案是北京市。", "南京", "北京"),
        ("서울은 수도다", "부산", "서울"),
        ("7 <b>it is</b>", "<!-- 7 -->", "7"),
        ("It is 7.", "<span style='display:none'>7</span> no", "7"),
        ("Of 12, 5 went in 2023, so 7 are left.", " ".join(map(str, range(10))), "7"),
        ("7 km", " ".join(f"{one} km" for one in range(20)), "7 km"),
        ("The answer is 42. " * 20, " ".join(map(str, range(500))), "42"),
        ("It is Paris. " * 30, "Rome Oslo Paris Bern Kiev " * 20, "Paris"),
    ],
)
def test_contains_wants_whole_words_among_few_others(
    honest: str, refused: str, reference: str
) -> None:
    assert outcome(honest, reference, metric="contains") == (1, "similar")
    assert outcome(refused, reference, metric="contains")[0] == 0


def test_contains_says_which_answers_list_numbers() -> None:
    wanted = ["12", "34"]
    assert outcome("12 34 1 2 3 4 5 6", wanted, metric="contains") == (1, "similar")
    assert outcome("12 34 1 2 3 4 5 6 7", wanted, metric="contains") == (0, "many_numbers")
    assert outcome("Paris 1 2 3 4 5 6 7", "Paris", metric="contains") == (1, "similar")


@pytest.mark.parametrize(
    ("reference", "options", "message"),
    [
        ({}, {}, "reference.answer is needed"),
        ({"answer": " "}, {}, "texts of 1 to"),
        ({"answer": {"a": 1}}, {}, "found an object"),
        ({"answer": "x" * 50_001}, {}, "texts of 1 to"),
        ({"answer": "no list"}, {"metric": "set_f1"}, "expected a list"),
        ({"answer": "a", "prefix": 1}, {}, "reference.prefix: expected a text"),
    ],
)
def test_a_wrong_reference_is_named(
    reference: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(Unverifiable, match=message):
        judge(StringSimilarity(**options), reference, "text")


@pytest.mark.parametrize(("metric", "name"), [("bleu", "BLEU"), ("chrf", "CHRF")])
def test_bleu_and_chrf_are_those_of_sacrebleu(metric: Any, name: str) -> None:
    metrics = pytest.importorskip("sacrebleu.metrics")
    scorer = metrics.BLEU(effective_order=True) if name == "BLEU" else metrics.CHRF()
    one, other = "the cat sat on a mat today", "the cat sat on the mat"
    expected = scorer.sentence_score(one, [other]).score / 100
    assert outcome(one, other, metric=metric)[0] == pytest.approx(expected)
    assert outcome(other, other, metric=metric)[0] == pytest.approx(1)


def test_rouge_l_is_that_of_rouge_score() -> None:
    scorers = pytest.importorskip("rouge_score.rouge_scorer")
    one, other = "A cat, that sat: on the mat!", "The cat sat on a big mat."
    expected = scorers.RougeScorer(["rougeL"]).score(other, one)["rougeL"].fmeasure
    assert rouge_l(one, other) == pytest.approx(expected)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    string_similarity._similarity.cache_clear()
    with pytest.raises(Unverifiable) as error:
        judge(StringSimilarity(metric="bleu"), {"answer": "a"}, "a")
    assert error.value.reason.value == "missing_package"
    assert "reward-verifier[similarity]" in error.value.message


@pytest.mark.parametrize("metric", ["token_f1", "rouge_l"])
@pytest.mark.parametrize(("answer", "other"), [("+", "-"), ("A", "..."), ("∞", "?!"), ("the", "A")])
def test_a_reference_without_words_is_met_by_itself_alone(
    metric: Any, answer: str, other: str
) -> None:
    assert outcome(answer, answer, metric=metric) == (1, "similar")
    assert outcome(other, answer, metric=metric) == (0, "not_similar")


def test_white_space_before_a_prefix_refuses_no_answer() -> None:
    assert outcome("pre x", " pre x", prefix=" pre ") == (1, "similar")
    assert outcome("x", " pre x", prefix=" pre ") == (0, "no_prefix")


def test_items_are_those_of_the_last_list() -> None:
    assert items_in("none") is None
    assert items_in("[a] then {b, c}") == ["b", "c"]
    assert set_f1([], []) == 1
    assert set_f1([], ["a"]) == 0
    assert token_f1("", "") == 1


def test_workers_measure(http: httpx.Client) -> None:
    verifier = {"type": "string_similarity", "metric": "edit"}
    found = verdicts(http, verifier, "kitten", "sitting", answer="sitting")
    assert [one["score"] for one in found] == [pytest.approx(4 / 7), 1]
