"""`exact_match`, `multiple_choice`, `regex`, `json_schema` and `code_format`: their reasons."""

from __future__ import annotations

import json
import re
import socket
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import verdicts
from verifier_service.reference import acceptable_answers
from verifier_service.verdict import MAX_MESSAGE_CHARACTERS
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.code_format import CodeFormat, matches_open_r1
from verifier_service.verifiers.exact_match import ExactMatch
from verifier_service.verifiers.json_schema import JsonSchema
from verifier_service.verifiers.multiple_choice import MultipleChoice
from verifier_service.verifiers.regex import Regex

PROGRAM = "```python\nprint(1)\n```"


def schema(of: Any, **options: Any) -> JsonSchema:
    return JsonSchema.model_validate({"type": "json_schema", "schema": of, **options})


# exact_match


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Paris", "equal"),
        (" Paris\n", "equal"),
        ("<think>London?</think>Paris", "equal"),
        ("<think>a</think><answer>\nParis\n</answer>", "equal"),
        ("<answer>Paris</answer> indeed, <answer>Paris</answer>", "equal"),
        ("paris", "different"),
        ("It is Paris", "different"),
        ("<answer>Paris</answer><answer>London</answer>", "ambiguous_answer"),
        ("<think>Paris", "no_answer"),
        ("<answer>Paris", "no_answer"),
        ("<answer> </answer>", "no_answer"),
        ("", "no_answer"),
    ],
)
def test_exact_match_gives_its_reason(text: str, reason: str) -> None:
    found = judge(ExactMatch(), {"answer": "Paris"}, text)
    assert (found.score, found.reason) == (float(reason == "equal"), reason)


@pytest.mark.parametrize(
    ("options", "text", "reason"),
    [
        ({"case_sensitive": False}, "NEW YORK", "equal"),
        ({}, "New  York", "different"),
        ({"collapse_white_space": True}, "New \n York", "equal"),
        ({"part": "answer_tag"}, "New York", "no_answer"),
        ({"part": "completion"}, "<think>a</think>New York", "different"),
    ],
)
def test_the_options_of_exact_match(options: Any, text: str, reason: str) -> None:
    assert judge(ExactMatch(**options), {"answer": "New York"}, text).reason == reason


def test_exact_match_takes_one_of_several_answers() -> None:
    assert judge(ExactMatch(), {"answer": ["a", 3]}, "3").score == 1.0


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ({}, "missing_reference"),
        ({"answer": []}, "missing_reference"),
        ({"answer": " "}, "bad_reference"),
        ({"answer": {"a": 1}}, "bad_reference"),
        ({"answer": [True]}, "bad_reference"),
    ],
)
def test_a_reference_that_nothing_could_match_is_unverifiable(reference: Any, reason: str) -> None:
    with pytest.raises(Unverifiable) as raised:
        judge(ExactMatch(), reference, "x")
    assert raised.value.reason == reason


@given(st.text(st.characters(exclude_characters="<>", exclude_categories=["Cs"])))
def test_a_completion_equal_to_its_reference_scores_1(text: str) -> None:
    if text.strip():
        assert judge(ExactMatch(), {"answer": text}, text).score == 1.0


# multiple_choice

CITIES = {"A": "London", "B": "Paris", "C": "Rome", "D": "Both A and B"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("B", "equal"),
        ("(b)", "equal"),
        ("B.", "equal"),
        ("**B**", "equal"),
        (r"$\boxed{B}$", "equal"),
        (r"\boxed{\text{(B)}}", "equal"),
        (r"\boxed{\textbf{(B)}\ 5}", "equal"),
        ("<think>A? C?</think><answer>B</answer>", "equal"),
        ("The answer is B.", "equal"),
        ("The correct answer is (B) because A is wrong.", "equal"),
        ("Answer: B) Paris", "equal"),
        ("Answer: B: Paris", "equal"),
        ("I choose option B", "equal"),
        ("A is wrong, so B is correct", "equal"),
        ("Answer: A\nNo.\nAnswer: B", "equal"),
        ("The answer is C", "different"),
        ("The answer is A or B", "ambiguous_answer"),
        ("Answer: A, B", "ambiguous_answer"),
        ("Answer: A and B", "ambiguous_answer"),
        ("Answer: A/B", "ambiguous_answer"),
        ("The answer is B. Or maybe C.", "ambiguous_answer"),
        (r"\boxed{A} or \boxed{B}", "ambiguous_answer"),
        ("<answer>(A) or (B)</answer>", "ambiguous_answer"),
        ("Option A or option B", "ambiguous_answer"),
        ("I do not know", "no_answer"),
        ("A good question", "no_answer"),
        ("a good question", "no_answer"),
        # case
        ("Choose B not A", "equal"),
        ("Hence option (b).", "equal"),
        ("Thus, (b) is correct.", "equal"),
        ("So: Option B.", "equal"),
        ("So I Select A", "different"),
        ("We see that f(b) is 3", "no_answer"),
        ("Not (b)", "no_answer"),
        ("(b) is incorrect.", "no_answer"),
        # beside what is rejected
        ("Final answer: B (not A)", "equal"),
        ("The answer is (B), not (C)", "equal"),
        ("B, since A fails", "equal"),
        ("B because A is wrong", "equal"),
        ("B because it is even, or maybe C", "ambiguous_answer"),
        ("A is wrong. B", "equal"),
        ("(A) is wrong (B) is correct", "equal"),
        ("B and not C", "equal"),
        ("not B", "no_answer"),
        ("Not B.", "no_answer"),
        ("A is not B", "no_answer"),
        ("(B) isn't correct.", "no_answer"),
        ("A or B is wrong", "no_answer"),
        ("It is not A or B", "no_answer"),
        ("It isn't A or B", "no_answer"),
        ("It's C, not A or B", "different"),
        ("Choose C, not A or B", "different"),
        ("C. It can't be A or B.", "different"),
        ("The answer is B; it cannot be A or C.", "equal"),
        ("The answer cannot be B.", "no_answer"),
        ("Answer: B (not A or C)", "equal"),
        ("Answer: B, not A, C, or D", "equal"),
        ("It is not A nor option C. Choose B.", "equal"),
        ("not A or B is correct", "equal"),
        ("Not A, B is correct", "equal"),
        # options whose text denies something
        ("Answer: (B) is not continuous", "equal"),
        ("Answer: B) is not continuous", "equal"),
        ("Answer: B. is not Euclidean", "equal"),
        (r"\boxed{\text{(B) is not prime}}", "equal"),
        ("<answer>(B) is not prime</answer>", "equal"),
        ("Answer: (B) fails to converge", "equal"),
        ("Answer: B) was not affected", "equal"),
        ("Answer: (B) isn't a vector", "equal"),
        ("Answer: (C) is not continuous", "different"),
        ("Answer: (B) is not continuous, or maybe C", "ambiguous_answer"),
        ("Answer: (B) is wrong for this reason", "no_answer"),
        ("Answer: (B) is not correct", "no_answer"),
        ("Answer: (B) isn't quite the right one", "no_answer"),
        ("Answer: (B) is not, so C is best", "different"),
        ("Answer: (B) fails because it is odd", "no_answer"),
        ("Answer: (B) is not A", "no_answer"),
        ("The text says little.\n(B) is not supported by it", "no_answer"),
        ("We look at each.\nB) is not supported by the text", "no_answer"),
        ("Answer: option B is not continuous", "no_answer"),
        # what is eliminated
        ("We reject option B. C.", "no_answer"),
        ("We eliminate (A), (C) and (D), leaving (B)", "equal"),
        ("Eliminating A, B is correct", "equal"),
        ("Excluding (A), (B) is correct", "equal"),
        ("Reject A and choose B", "equal"),
        ("This rules out options A and B", "no_answer"),
        ("Option B is eliminated, so C is correct.", "different"),
        ("We discard choice (b)", "no_answer"),
        ("excluding (b) and (c)", "no_answer"),
        ("Eliminating A, C and D, option B remains.", "equal"),
        ("After eliminating A, C, and D, option B must be right.", "equal"),
        ("Rejecting A and C, option B stands.", "equal"),
        ("Ruling out A, C and D, option B looks right.", "equal"),
        ("Excluding (A), (C) and (D), we have option B", "equal"),
        ("Rejecting A and C, option B must be rejected.", "no_answer"),
        ("We reject A, option B has been excluded too.", "no_answer"),
        ("Eliminating A, B, and C", "no_answer"),
        ("Answer: Gaussian elimination (B)", "equal"),
        ("By process of elimination (B)", "equal"),
        ("This is an elimination (B)", "equal"),
        # words that only open the sentence
        ("It is B.", "equal"),
        ("So B.", "equal"),
        ("Thus, it's (B)!", "equal"),
        ("<answer>It is B</answer>", "equal"),
        ("It is A.", "different"),
        ("It is A or B.", "ambiguous_answer"),
        ("So B, or maybe C", "ambiguous_answer"),
        ("It is not B.", "no_answer"),
        ("So it is a B flat.", "no_answer"),
        ("It is b.", "no_answer"),
        # what is disowned
        ("The wrong answer is B", "no_answer"),
        ("The incorrect option is B.", "no_answer"),
        ("Incorrect option: B", "no_answer"),
        ("I don't think the answer is B.", "no_answer"),
        ("I don't think the answer is A. Choose B.", "equal"),
        ("The wrong option is A. B is correct.", "equal"),
        ("The wrong options are (A), (C) and (D). It is (B)", "equal"),
        ("<think>B", "no_answer"),
        ("", "no_answer"),
        # another option in a sentence or line of its own
        ("The answer is B. Or it could be C.", "ambiguous_answer"),
        ("The answer is B.\nOr C.", "ambiguous_answer"),
        ("Answer: B\n\nAlternatively, C.", "ambiguous_answer"),
        ("Answer: B\n\nPerhaps it could be D.", "ambiguous_answer"),
        ("Answer: B if it is even else C", "ambiguous_answer"),
        ("Answer: B; otherwise C", "ambiguous_answer"),
        ("Answer: C; otherwise, B", "ambiguous_answer"),
        ("Answer: C, alternatively B", "ambiguous_answer"),
        ("Answer: B\n\nA or C would be too small.", "equal"),
        ("Answer: B. Otherwise A would hold.", "equal"),
        ("Answer: B\n\nOr so I think.", "equal"),
        # the answer comes first
        ("B\n\nExplanation: it is the only even one.", "equal"),
        ("**B**\n\nBecause A is odd.", "equal"),
        ("C\n\nExplanation: it is even.", "different"),
        ("B\nC\nBoth would do.", "no_answer"),
        ("B\nA) one\nand so on", "no_answer"),
        ("B\n\nChoose C, as it is even.", "different"),
        ("B\nI choose C.\nIt is even.", "no_answer"),
        ("B or C\n\nExplanation: both are even.", "no_answer"),
        # corrected in a later line
        ("Answer: B\nWait, actually C.", "ambiguous_answer"),
        ("Answer: B\n\nActually, (C)", "ambiguous_answer"),
        ("\\boxed{B}\nNo, it is **C**.", "ambiguous_answer"),
        ("Answer: C\nWait, it should be B.", "ambiguous_answer"),
        ("Answer: B\nActually, A would need more.", "equal"),
        ("Answer: B\nNo, it is B.", "equal"),
        ("Answer: B\nWait for more.", "equal"),
        # between quotes
        ("The answer is 'B'.", "equal"),
        ("So the correct option is \u201cB\u201d.", "equal"),
        ('**Answer:** "B"', "equal"),
        ("The answer is 'C'.", "different"),
        ("The answer is 'C', not 'B'.", "different"),
        ("The answer is not 'B'.", "no_answer"),
        ("The answer is 'B' or 'C'.", "ambiguous_answer"),
        ("The answer is 'B' and 'C'.", "ambiguous_answer"),
        ("The letter 'B' is in 'CAB'.\nThe answer is C.", "different"),
        # in a fence, under a heading, in JSON, in brackets behind the letter
        ("```\nB\n```", "equal"),
        ("#### B", "equal"),
        ("```\nC\n```", "different"),
        ('{"answer": "B"}', "equal"),
        ('So:\n```json\n{"reasoning": "A is odd.", "Answer": "(B)"}\n```', "equal"),
        ('{"answer": "C"}', "different"),
        ('{"answer": "B or C"}', "ambiguous_answer"),
        ('{"answer": "B", "choice": "C"}', "ambiguous_answer"),
        ('{"answer": ["B", "C"]}', "no_answer"),
        ('{"answer": "C", "answer": "B"}', "ambiguous_answer"),
        ("Answer: B (an even one)", "equal"),
        ("Answer: B (not C)", "equal"),
        ("Answer: B (or C)", "ambiguous_answer"),
        ("Answer: A (B)", "ambiguous_answer"),
        ("Answer: B (incorrect)", "no_answer"),
        # other languages
        ("La respuesta correcta es B.", "equal"),
        ("La respuesta correcta no es B.", "no_answer"),
        ("La risposta corretta è B.", "equal"),
        ("Die Antwort ist nicht B.", "no_answer"),
        ("正解はBです。", "equal"),
        ("答案应该是B", "equal"),
        ("答案不是B", "no_answer"),
        ("我选B", "equal"),
        ("不选B", "no_answer"),
        ("【B】", "equal"),
        ("答案\uff1a【B】", "equal"),
        ("Answer\uff1aB", "equal"),
        ("【A】【B】", "ambiguous_answer"),
        ("不选【B】", "no_answer"),
        ("Answer\uff1aC", "different"),
        ("不要选B", "no_answer"),
        ("【答案】B", "equal"),
        ("【答案】: B <eoa>", "equal"),
        ("【解析】A 错误。<eoe>\n【答案】 B <eoa>", "equal"),
        ("【答案】B\uff0cD", "ambiguous_answer"),
        ("答案\uff1aB\uff0e本题考查副词", "equal"),
        ("答案\uff1aC\uff0e本题考查副词", "different"),
        ("答案\uff1aB或C", "no_answer"),
        ("A\uff0e表述正确\nB\uff0e句式杂糅", "no_answer"),
        ("【答案】A. ①② B. ①③ C. ②④ D. ③④", "ambiguous_answer"),
        ("Answer: B. London, not A. Paris", "equal"),
        ("【答案】B【解析】因为A错", "equal"),
        ("【解析】A项错误。\n【答案】(B)", "equal"),
        ("【答案】C\n【解析】B项错误。", "different"),
        ("故选\uff1aB\uff0e", "equal"),
        ("故选B\uff0e", "equal"),
        ("故选C\uff0e", "different"),
        ("故不选B\uff0e", "no_answer"),
        ("不选(B)", "no_answer"),
        ("不能选\uff08B\uff09", "no_answer"),
        ("答案不是(B)", "no_answer"),
        ("应该排除(B)", "no_answer"),
        ("(B)不对", "no_answer"),
        ("(B)是错误的", "no_answer"),
        ("不选(A)\uff0c选(B)", "equal"),
        ("排除(A)、(C)和(D)\uff0c所以选(B)", "equal"),
        ("答案是(B)\uff0c不是(C)", "equal"),
        ("正确答案不是(A)而是(B)", "equal"),
        ("不正确的是(B)", "equal"),
        ("错误的选项是(B)", "equal"),
        ("(A)正确\uff0c(B)错误\uff0c故选(B)", "equal"),
        ("没选B", "no_answer"),
        ("正解はBではない", "no_answer"),
        ("정답은 B가 아니다", "no_answer"),
        ("Cevap B değil", "no_answer"),
        ("La respuesta B no es correcta", "no_answer"),
        ("B\n\nNo wait, C.", "ambiguous_answer"),
        ("B\n\nHmm, C is better", "no_answer"),
        ("B\n\nThat is wrong.", "no_answer"),
        ("B\n\nActually, C.", "ambiguous_answer"),
        ("B\n\nNot B.", "no_answer"),
        ("B\n\nA is incorrect, since Rome lies in Italy.", "equal"),
        ("B\n\nRome is not a French city, and Paris is actually its capital.", "equal"),
        ("B\n\nThe final velocity is 5 m/s, not A.", "equal"),
        ("정답은 B입니다.", "equal"),
        ("정답은 C입니다.", "different"),
        ("The answer is not A. It is B.", "equal"),
    ],
)
def test_multiple_choice_gives_its_reason(text: str, reason: str) -> None:
    found = judge(MultipleChoice(), {"answer": "B"}, text)
    assert (found.score, found.reason) == (float(reason == "equal"), reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Paris", "equal"),
        (r"\boxed{\text{Paris}}", "equal"),
        ("B) Paris", "equal"),
        ("The answer is Rome.", "different"),
        ("A) Paris", "ambiguous_answer"),
        ("(B) Rome", "ambiguous_answer"),
        ("The answer is Rome (B)", "ambiguous_answer"),
        ("Rome, option B.", "ambiguous_answer"),
        ("Paris (B)", "equal"),
        ("Paris [b].", "equal"),
        ("The answer is Rome (C)", "different"),
        ("Answer: Both A and B", "different"),
        ("Answer: Madrid", "no_answer"),
        ("Answer: B (Paris)", "equal"),
        ("Answer: B, Paris", "equal"),
        ("Answer: B Paris", "equal"),
        ("Answer: A, Paris", "ambiguous_answer"),
        ("Answer: C (Paris)", "ambiguous_answer"),
    ],
)
@pytest.mark.parametrize("choices", [CITIES, list(CITIES.values())])
def test_an_option_can_be_named_by_its_text(choices: Any, text: str, reason: str) -> None:
    found = judge(MultipleChoice(), {"answer": "B", "choices": choices}, text)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"options": list(CITIES.values())}, "equal"),
        ({"options": CITIES, "choices": None}, "equal"),
        ({"options": ["x", "y"], "choices": CITIES}, "equal"),
        ({"options": 4}, "no_answer"),
        ({"options": ["x", 7]}, "no_answer"),
    ],
)
def test_a_column_of_options_has_their_texts(columns: dict[str, Any], reason: str) -> None:
    found = judge(MultipleChoice(), {"answer": "B", **columns}, f"The answer is {CITIES['B']}.")
    assert found.reason == reason


OPTIONS = ["London", "Paris", "Rome", "Berlin"]


@pytest.mark.parametrize("letter", "ABCD")
@pytest.mark.parametrize(
    "text",
    [
        "A) London\nB) Paris\nC) Rome\nD) Berlin",
        "A) London B) Paris C) Rome D) Berlin",
        "<think>A?</think>- A. London\n- B. Paris",
        r"\boxed{A}. B is also right.",
        "The answer is A. If wrong, B.",
        r"\boxed{A}. Second choice: B",
    ],
)
def test_a_text_that_repeats_options_or_names_two_chooses_none(text: str, letter: str) -> None:
    reference = {"answer": letter, "choices": OPTIONS}
    assert judge(MultipleChoice(), reference, text).reason == "ambiguous_answer"


@pytest.mark.parametrize(
    "text",
    [
        "A) London\nB) Paris\n\nB",
        "B) Paris",
        "A) London is no.\nB) Paris is it.\nAnswer: B",
        r"\boxed{B}. A is wrong.",
        "The answer is B. If wrong, tell me.",
        "The answer is B. If wrong, I apologize.",
        "The answer is B.\nSecond choice: B",
    ],
)
def test_a_text_that_repeats_options_and_chooses_one_chooses_it(text: str) -> None:
    reference = {"answer": "B", "choices": OPTIONS}
    assert judge(MultipleChoice(), reference, text).reason == "equal"


@pytest.mark.parametrize(
    ("letter", "reason"), [("A", "equal"), ("B", "ambiguous_answer"), ("C", "ambiguous_answer")]
)
def test_a_text_that_denies_something_is_compared_with_the_choices(
    letter: str, reason: str
) -> None:
    choices = {"A": "is not continuous", "B": "is continuous", "C": "is not a function"}
    text = f"Answer: ({letter}) is not continuous"
    found = judge(MultipleChoice(), {"answer": letter, "choices": choices}, text)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ({}, "missing_reference"),
        ({"answer": "Paris"}, "bad_reference"),
        ({"answer": 1}, "bad_reference"),
        ({"answer": "E", "choices": CITIES}, "bad_reference"),
        ({"answer": "A", "choices": "London"}, "bad_reference"),
        ({"answer": "A", "choices": ["London", 7]}, "bad_reference"),
        ({"answer": "A", "choices": ["x"] * 27}, "bad_reference"),
        ({"answer": "A", "choices": {"1": "London"}}, "bad_reference"),
        ({"answer": "A", "choices": {"a": "London", "A": "Paris"}}, "bad_reference"),
    ],
)
def test_a_reference_that_is_no_letter_is_unverifiable(reference: Any, reason: str) -> None:
    with pytest.raises(Unverifiable) as raised:
        judge(MultipleChoice(), reference, "A")
    assert raised.value.reason == reason


@pytest.mark.parametrize("answer", ["C", "c", "(C)", " C. ", "C)"])
def test_a_reference_may_decorate_its_letter(answer: str) -> None:
    assert judge(MultipleChoice(), {"answer": answer}, "C").score == 1.0


@pytest.mark.parametrize(
    "reference",
    [
        {"answer": "(B) Rome"},
        {"answer": r"\textbf{(B) } 12"},
        {"answer": "B. Rome", "choices": ["Oslo", "rome"]},
        {"answer": "Rome", "choices": ["Oslo", "Rome"]},
        {"answer": "Rome", "options": ["Oslo", "Rome"]},
        {"answer": "E. coli", "choices": ["S. aureus", "E. coli"]},
        {"answer": "x", "choices": ["y", "x"]},
    ],
)
def test_a_reference_names_its_option_by_letter_or_text(reference: dict[str, Any]) -> None:
    assert judge(MultipleChoice(), reference, "The answer is B.").score == 1.0
    assert judge(MultipleChoice(), reference, "The answer is A.").score == 0.0


@pytest.mark.parametrize(
    "reference",
    [
        {"answer": "(B) Rome", "choices": ["Rome", "Oslo"]},
        {"answer": "Rome", "choices": ["Rome", "Rome"]},
        {"answer": "Rome"},
        {"answer": "B or C"},
    ],
)
def test_a_reference_that_names_no_option_is_bad(reference: dict[str, Any]) -> None:
    with pytest.raises(Unverifiable, match="expected the letter of an option"):
        judge(MultipleChoice(), reference, "The answer is B.")


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "A ",
        "A or ",
        ", maybe",
        "option ",
        "<answer>",
        "```\n",
        "or\n",
        "A\n",
        "# ",
        "antwort ",
        '{"a":',
    ],
)
def test_long_statements_name_no_option_and_cost_little(piece: str) -> None:
    for text in (piece * 100_000, "Answer: A" + piece * 100_000):
        assert judge(MultipleChoice(), {"answer": "A"}, text).reason in ("no_answer", "equal")


def test_a_list_of_options_that_breaks_off_costs_little() -> None:
    text = "B, " + "Option A " * 100 + "Option"  # two ways to read each space were 2**100
    assert judge(MultipleChoice(), {"answer": "B"}, text).reason == "no_answer"


def test_of_a_long_last_line_the_end_counts() -> None:
    text = "word " * 1000 + "so B is correct."
    assert judge(MultipleChoice(), {"answer": "B"}, text).reason == "equal"


# regex


@pytest.mark.parametrize(
    ("options", "text", "reason"),
    [
        ({"pattern": r"\d+"}, "it is 42.", "matched"),
        ({"pattern": r"\d+", "match": "full"}, "it is 42.", "not_matched"),
        ({"pattern": r"\d+", "match": "full"}, "<answer> 42 </answer>", "matched"),
        ({"pattern": "(?i)yes"}, "YES", "matched"),
        ({"pattern": "é+"}, "caféé", "matched"),
        ({"pattern": "42"}, "<think>42</think> none", "not_matched"),
        ({"pattern": "42", "part": "completion"}, "<think>42</think> none", "matched"),
        ({"pattern": ".*"}, "", "no_answer"),
        ({"pattern": "a"}, "<answer>a</answer><answer>b</answer>", "ambiguous_answer"),
        ({"pattern": "(a+)+$"}, "a" * 50_000 + "b", "not_matched"),
    ],
)
def test_regex_gives_its_reason(options: Any, text: str, reason: str) -> None:
    found = judge(Regex(**options), {}, text)
    assert (found.score, found.reason) == (float(reason == "matched"), reason)


def test_regex_shows_what_matched() -> None:
    assert judge(Regex(pattern=r"\d+"), {}, "it is 42.").extracted == "42"


def test_the_pattern_can_stand_in_the_reference_and_the_option_wins() -> None:
    assert judge(Regex(), {"pattern": "b"}, "b").score == 1.0
    assert judge(Regex(pattern="a"), {"pattern": "b"}, "b").score == 0.0


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ({}, "missing_reference"),
        ({"pattern": ""}, "missing_reference"),
        ({"pattern": "("}, "bad_reference"),
        ({"pattern": r"(a)\1"}, "bad_reference"),
        ({"pattern": 3}, "bad_reference"),
        ({"pattern": "\ud800"}, "bad_reference"),
        ({"pattern": "a" * 10_001}, "bad_reference"),
    ],
)
def test_a_bad_pattern_in_the_reference_is_unverifiable(reference: Any, reason: str) -> None:
    with pytest.raises(Unverifiable) as raised:
        judge(Regex(), reference, "x")
    assert raised.value.reason == reason


def test_a_bad_pattern_in_an_option_is_refused(http: httpx.Client) -> None:
    body = {"verifiers": [{"type": "regex", "pattern": "(a"}], "groups": []}
    response = http.post("/v1/score", json=body)
    assert response.status_code == 422
    assert response.json()["error"]["message"] == (
        "verifiers.0.pattern: not a pattern of RE2: missing ): (a"
    )


def test_a_pattern_that_compiles_to_too_much_is_refused() -> None:
    with pytest.raises(ValidationError, match="pattern too large"):
        Regex(pattern=r"\pL{1000}")


# json_schema

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("text", "reason", "broken"),
    [
        ('{"name": "Ada", "age": 36}', "valid", None),
        ('<think>{}</think>\n```json\n{"name": "Ada"}\n```', "valid", None),
        ('<answer>\n```\n{"name": "Ada"}\n```\n</answer>', "valid", None),
        ("{}", "invalid", ("required", "")),
        ('{"name": 1}', "invalid", ("type", "/name")),
        ('{"name": "Ada", "age": -1}', "invalid", ("minimum", "/age")),
        ('Here is the JSON:\n\n{"name": "Ada"}', "valid", None),
        ('## The person\n\n{"name": "Ada"}', "valid", None),
        ("", "no_answer", None),
        ("<answer>{}</answer><answer>[]</answer>", "ambiguous_answer", None),
    ],
)
def test_json_schema_gives_its_reason(
    text: str, reason: str, broken: tuple[str, str] | None
) -> None:
    expected = None if broken is None else dict(zip(("keyword", "path"), broken, strict=True))
    for verifier, reference in [(schema(PERSON), {}), (JsonSchema(), {"schema": PERSON})]:
        found = judge(verifier, reference, text)
        assert (found.score, found.reason) == (float(reason == "valid"), reason)
        assert found.details == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('Here:\n{"name": "Ada"}\n{"name": "Bob"}', "Extra data: line 2"),
        ('Here: {"name": "Ada"}', "Expecting value: line 1"),
        ('{"name": "Ada\nLovelace"}', "Invalid control character at: line 1 column 14"),
        ('{"name": "Ada", "name": 1}', "a key occurs twice"),
        ('{"name": "Ada", "age": NaN}', "NaN is not JSON"),
        ('{"name": "Ada", "age": 1e999}', "a number that no float can hold"),
        ('{"name": "Ada", "age": ' + "9" * 5000 + "}", "a number that no float can hold"),
    ],
)
def test_what_is_no_json_is_told_where(text: str, problem: str) -> None:
    found = judge(schema(PERSON), {}, text)
    assert (found.score, found.reason) == (0.0, "not_json")
    assert found.details is not None
    assert found.details["problem"].startswith(problem)


def test_a_bad_schema_is_told_where() -> None:
    with pytest.raises(Unverifiable, match="no JSON Schema: /properties/age/type: 'objct' is not"):
        schema({"properties": {"age": {"type": "objct"}}}).prepare({})


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "strnig"},
        {"pattern": "("},
        {"pattern": "a{99999999999999999999}"},
        {"$schema": 3},
        {"$schema": "http://["},
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/passwd"},
        [],
        "string",
        7,
    ],
)
def test_a_bad_schema_is_unverifiable(bad: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)  # whoever fetches, fails in another way
    with pytest.raises(Unverifiable) as raised:
        judge(JsonSchema(), {"schema": bad}, "{}")
    assert raised.value.reason == "bad_reference"


@pytest.mark.parametrize(
    "bad",
    [
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"$ref": "#/x"}}, "x": {"items": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"$ref": "#/x"}}, "x": {"$ref": "#/x"}},
        {"properties": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#/properties/a"}]}}},
        {"properties": {"a": {"pattern": "(?=b)"}}},
        {"properties": {"a": {"patternProperties": {r"(b)\1": {}}}}},
    ],
)
@pytest.mark.parametrize("document", ["{}", '{"a": 1}', '{"a": null}', '{"a": "b"}'])
def test_whether_a_schema_can_judge_depends_on_no_document(bad: Any, document: str) -> None:
    with pytest.raises(Unverifiable) as raised:
        judge(schema(bad), {}, document)
    assert raised.value.reason == "bad_reference"


@pytest.mark.parametrize(
    "good",
    [
        {"items": {"$ref": "#"}},
        {"$anchor": "list", "items": {"$ref": "#list"}},
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"properties": {"pattern": {"const": "(?=a)"}}},
        {"$defs": {"x": {"$id": "http://a/b", "type": "array"}}, "$ref": "http://a/b"},
        {"$schema": "http://json-schema.org/draft-04/schema#", "id": "x", "items": {"$ref": "#"}},
    ],
)
def test_a_schema_may_refer_to_itself_and_to_published_ones(good: Any) -> None:
    document: Any = {} if "$ref" in good and "$defs" not in good else []
    assert judge(schema(good), {}, json.dumps(document)).reason == "valid"


def test_a_pattern_takes_time_linear_in_the_document() -> None:
    """Backtracking would not end: every keyword with patterns meets the text."""
    text = "a" * 100_000 + "b"
    rules: list[dict[str, Any]] = [
        {"additionalProperties": {"pattern": "^(a+)+$"}},
        {"patternProperties": {"^(a+)+$": False, "b$": False}},
        {"patternProperties": {"^(a+)+$": True}, "additionalProperties": False},
        {"patternProperties": {"^(a+)+$": True}, "unevaluatedProperties": False},
    ]
    for rule in rules:
        assert judge(schema(rule), {}, json.dumps({text: text})).reason == "invalid"
        assert judge(schema(rule), {}, "{}").reason == "valid"


def test_a_lone_surrogate_matches_as_some_character() -> None:
    assert judge(schema({"pattern": "^a.$"}), {}, r'"a\ud800"').reason == "valid"


@pytest.mark.slow
def test_equal_items_are_found_in_time_linear_in_the_document() -> None:
    """Objects have no order, so that comparing each with each would not end."""
    objects = ", ".join(f'{{"a": [{number}]}}' for number in range(100_000))
    unique = schema({"uniqueItems": True})
    assert judge(unique, {}, f"[{objects}]").reason == "valid"
    assert judge(unique, {}, f'[{objects}, {{"a": [7.0]}}]').reason == "invalid"


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ('[1, true, 0, false, null, "1", [1], [[1]], {"a": 1}, [], {}]', "valid"),
        ("[1, 1.0]", "invalid"),
        ("[0, -0.0]", "invalid"),
        ('[[1, {"a": 2}], [1.0, {"a": 2.0}]]', "invalid"),
        ("[[true], [1]]", "valid"),
        ('[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', "invalid"),
        ('["a, b", "a", "b"]', "valid"),
        (r'["\ud800", "\ud801", "?"]', "valid"),
    ],
)
def test_items_are_equal_as_json_values(items: str, reason: str) -> None:
    assert judge(schema({"uniqueItems": True}), {}, items).reason == reason


def test_a_missing_schema_is_named() -> None:
    with pytest.raises(Unverifiable) as raised:
        judge(JsonSchema(), {}, "{}")
    assert raised.value.reason == "missing_reference"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=8,
    )
)
def test_any_document_fits_itself_as_a_constant(document: Any) -> None:
    text = f"```json\n{json.dumps(document)}\n```"
    assert judge(schema({"const": document}), {}, text).score == 1.0
    assert judge(schema(False), {}, text).reason == "invalid"


# code_format


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"<think>a</think><answer>{PROGRAM}</answer>", "matched"),
        (f"<think>a</think><answer>\n{PROGRAM}\n</answer>", "matched"),
        ("<think>a</think><answer>\n```py\n1\n```\n</answer>", "matched"),
        (f"<think>a</think>\n<answer>\nSo:\n{PROGRAM}\nDone.\n</answer>\n", "matched"),
        ("<think>a</think><answer>\n```\n1\n```\n</answer>", "no_code"),
        ("<think>a</think><answer>\n```cpp\n1\n```\n</answer>", "no_code"),
        ("<think>a</think><answer>\n```python\n\n```\n</answer>", "no_code"),
        ("<think>a</think><answer>\n```python\n1\n</answer>", "no_code"),
        (f"<think>\n{PROGRAM}\n</think><answer>1</answer>", "no_code"),
        (PROGRAM, "missing_tag"),
        (f"<think>a</think><answer>\n{PROGRAM}\n</answer> more", "text_outside"),
        (f"<think>a</think><answer>\n{PROGRAM}\n</answer><|im_end|>", "matched"),
        (f"<answer>\n{PROGRAM}\n</answer><think>a</think>", "wrong_order"),
        (f"<think></think><answer>\n{PROGRAM}\n</answer>", "empty_body"),
        (f"<think>a<think></think><answer>\n{PROGRAM}\n</answer>", "repeated_tag"),
    ],
)
def test_code_format_gives_its_reason(text: str, reason: str) -> None:
    found = judge(CodeFormat(), {}, text)
    assert (found.score, found.reason) == (float(reason == "matched"), reason)


def test_code_format_takes_other_languages_and_a_prefilled_tag() -> None:
    text = "a</think><answer>\n```c++\n1\n```\n</answer>"
    assert judge(CodeFormat(language="C++", prefilled=True), {}, text).score == 1.0
    assert judge(CodeFormat(language="rust", prefilled=True), {}, text).reason == "no_code"


PIECES = (
    *("<think>\n", "\n</think>\n", "<answer>\n", "\n</answer>", "</answer>", "\n"),
    *("```python", "```", "`", "x"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_open_r1_code_format_is_open_r1s_expression(text: str) -> None:
    expression = r"^<think>\n.*?\n</think>\n<answer>\n.*?```python.*?```.*?\n</answer>$"
    framed = f"<think>\n{text}\n</think>\n<answer>\n{text}\n</answer>{text}"
    for one in (text, framed):
        expected = re.match(expression, one, re.DOTALL | re.MULTILINE) is not None
        assert matches_open_r1(one, "python") == expected
        found = judge(CodeFormat(mode="open_r1"), {}, one)
        assert (found.score, found.reason) == (
            (1.0, "matched") if expected else (0.0, "not_matched")
        )


def test_open_r1_code_format_takes_linear_time() -> None:
    hostile = "<think>\n" + "\n</think>\n<answer>\n```python```" * 50_000
    assert judge(CodeFormat(mode="open_r1"), {}, hostile).score == 0.0


# through the service


@pytest.mark.parametrize(
    ("verifier", "reference"),
    [
        ({"type": "exact_match"}, {"answer": "2"}),
        ({"type": "multiple_choice"}, {"answer": "B"}),
        ({"type": "regex", "pattern": "(a|aa)+$"}, {}),
        ({"type": "json_schema", "schema": {"type": "array", "items": {"type": "array"}}}, {}),
        ({"type": "code_format"}, {}),
        ({"type": "code_format", "mode": "open_r1"}, {}),
        ({"type": "repetition"}, {}),
        ({"type": "soft_overlong"}, {}),
        ({"type": "cosine_length"}, {"answer": "2"}),
        ({"type": "length"}, {"answer": "2"}),
    ],
)
def test_hostile_texts_get_a_verdict_from_workers(
    http: httpx.Client, verifier: dict[str, Any], reference: dict[str, Any]
) -> None:
    texts = ["", "\0", "[" * 20_000, "{" * 20_000, "(" * 20_000, "a" * 20_000 + "b", "é🙂" * 9]
    completions = [{"text": text, "num_tokens": 10} for text in texts]
    found = verdicts(http, verifier, *completions, **reference)
    assert [verdict["outcome"] for verdict in found] == ["scored"] * len(texts)


@pytest.mark.parametrize(
    ("verifier", "reference", "message"),
    [
        ("accuracy", {"anwser": "2"}, "reference.answer is needed; there are: anwser"),
        ("accuracy", {}, "reference.answer is needed; the reference is empty"),
        ("accuracy", {"answer": ""}, "reference.answer is empty"),
        ("accuracy", {"answer": {}}, "reference.answer: found an object, expected a text, a "),
        ("multiple_choice", {"answer": "E", "choices": ["x"]}, "expected the letter of an option"),
        ("multiple_choice", {"answer": 1}, "found 1, expected the letter of an option"),
        ("multiple_choice", {"answer": "yes"}, "found 'yes', expected the letter of an option"),
        ("regex", {"pattern": "("}, "reference.pattern: not a pattern of RE2: missing ): ("),
        ("json_schema", {"schema": 7}, "reference.schema: found a number, expected a JSON Schema"),
        ("soft_overlong", {}, "the completion is needed as {text, num_tokens}"),
        ("code", {"tests": {"type": "stdio"}}, "reference.tests.cases: Field required"),
    ],
)
def test_an_unverifiable_verdict_says_what_is_wrong(
    http: httpx.Client, verifier: str, reference: dict[str, Any], message: str
) -> None:
    options = {"max_completion_tokens": 9, "cache_tokens": 3} if verifier == "soft_overlong" else {}
    group = {"reference": reference, "completions": ["<answer>2</answer>"]}
    body = {"verifiers": [{"type": verifier, **options}], "groups": [group]}
    completion = http.post("/v1/score", json=body).json()["groups"][0]["completions"][0]
    found = completion["verdicts"][verifier]
    assert found["outcome"] == "unverifiable"
    assert message in found["details"]["message"]


def test_the_message_shows_no_more_than_an_excerpt_of_the_keys() -> None:
    with pytest.raises(Unverifiable) as raised:
        acceptable_answers({f"{number}{'x' * 10_000}": "" for number in range(1000)})
    assert len(raised.value.message) < MAX_MESSAGE_CHARACTERS


def test_bad_references_get_a_verdict_from_workers(http: httpx.Client) -> None:
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"type": "json_schema", "schema": {"type": "strnig"}}, {}),
        ({"type": "json_schema"}, {"schema": {"$ref": "http://127.0.0.1:9/"}}),
        ({"type": "regex"}, {"pattern": "("}),
        ({"type": "multiple_choice"}, {"answer": "?"}),
    ]
    for verifier, reference in cases:
        (found,) = verdicts(http, verifier, "{}", **reference)
        assert (found["outcome"], found["reason"]) == ("unverifiable", "bad_reference")


LAST_LETTERS = [
    # The answer that is announced names no option, and the last line does.
    (
        "B",
        "The final result is 8.\nBy the problem, 8 is B.\nSo our selection is option B. #### B",
    ),
    ("D", "The answer is seven hundredths.\n\nSo the option is D."),
    # A line of a computation that ends with the letter.
    ("D", "Plug in n = 4: (4 + 6) = 10 ANS:D"),
    ("A", "588 - 150 = 438\nanswer.A"),
    ("E", "Bob covered 24*2 = 48 more km (ANSWER E)"),
    ("C", "x = 100 m. Answer C"),
    ("D", "90 - 81 = 9%\nD is the answer"),
]
NO_LAST_LETTERS = [
    ("A", "The answer is 8.\nA is wrong."),
    ("A", "The answer is 8.\nA) 8\nB) 9"),
    ("B", "The result is 8.\nOptions A and B fit."),
    ("B", "x = 9. Answer A or answer B"),
    ("B", "x = 9. It is not answer B"),
    ("B", "x = 9. The wrong answer B"),
    ("B", "x = 9. I doubt that it is answer B"),
    ("B", "A is the answer, or B is the answer"),
    ("B", "x = 9. Take A and answer B"),
    ("A", "x = 9. Answer A car"),
]


@pytest.mark.parametrize(("letter", "text"), LAST_LETTERS)
def test_the_letter_in_a_last_line_is_the_choice(letter: str, text: str) -> None:
    assert judge(MultipleChoice(), {"answer": letter}, text).score == 1
    other = "C" if letter != "C" else "B"
    assert judge(MultipleChoice(), {"answer": other}, text).reason == "different"


@pytest.mark.parametrize(("letter", "text"), NO_LAST_LETTERS)
def test_a_letter_in_a_last_line_that_chooses_none_is_no_choice(letter: str, text: str) -> None:
    assert judge(MultipleChoice(), {"answer": letter}, text).score == 0


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Look at the table.\nThe charity received the most donations in October.", "A"),
        ("The banquet ends at 12:35 P.M.", "B"),
        ("The statement is true.", "C"),
    ],
)
def test_a_last_line_may_end_with_the_text_of_one_option(text: str, letter: str) -> None:
    choices = {"A": "October", "B": "12:35 P.M.", "C": "true", "D": "the club"}
    for other in choices:
        reference = {"answer": other, "choices": choices}
        assert judge(MultipleChoice(), reference, text).score == (other == letter)


@pytest.mark.parametrize(
    "text",
    [
        "October had more than the club.",
        "It is not October.",
        "It could be October.",
        "It was an untrue October",
        "The club met in October.",
    ],
)
def test_a_last_line_that_names_two_options_or_denies_one_chooses_none(text: str) -> None:
    choices = {"A": "October", "B": "untrue", "C": "the club"}
    for letter in choices:
        reference = {"answer": letter, "choices": choices}
        assert judge(MultipleChoice(), reference, text).score == 0


CHOOSES = [
    # The value of one option, in any notation.
    (["$1: 1$", "$3: 2$", "$8: 5$"], "C", r"so \boxed{8:5}"),
    ([r"$\pi$", r"$2 \pi$"], "B", r"\boxed{2\pi}"),
    (["1:4", "1:3"], "A", r"The ratio is \boxed{\frac14}."),
    (["0.5", "5"], "A", "The answer is 1/2."),
    (["-1", "1"], "A", "The answer is -1."),
    ([".5", "5"], "A", "The answer is .5"),
    (["5", "6"], "B", r"$\boxed{6}$ (B)"),
    # The verdict that opens a sentence.
    (["Yes", "No"], "B", "No, it is not the roughest."),
    (["True", "False"], "B", "False. It only maps the pixels."),
    # Other words.
    (["35°", "25°"], "B", "所以答案是25°。对应选项是B。"),
    (["x", "y"], "B", "The answer is (B).\n\nNow, the final answer is:"),
    (["x", "y"], "B", "The answer is ... B"),
    (["x", "y"], "B", "Final answer: B.<EOS_TOKEN><EOS_TOKEN>"),
    (["x", "y"], "B", "If n is odd, the answer is A. If n is even, the answer is B. So it is B."),
]
CHOOSES_NONE = [
    (["5 m", "6 m"], "A", "The answer is 5 km."),
    (["1", "2"], "A", "The answer is -1."),
    (["1", "2"], "A", "We add up.\nso we get -1"),
    (["1", "2"], "B", "We divide.\nso we get 1/2"),
    (["0.5", "50%"], "A", r"\boxed{\frac12}"),
    (["Yes", "No"], "B", "No. Actually yes."),
    (["Yes", "No"], "B", "Is it so?\nNo, that is another one."),
    (["yes", "no"], "A", "Which?\nChoices:\n(A) yes\n(B) no"),
    (["yes", "no"], "B", "Which?\nChoices:\n(A) yes\n(B) no"),
    (["yes", "no"], "A", "Consider each choice:\n(A) means yes.\n(B) means no, as"),
    (["x", "40"], "B", "The correct option letter is C: 40"),
    (["x", "y"], "A", "I do not have enough information to select between options A and B."),
    (["x", "y"], "B", "If n is odd, the answer is A. If n is even, the answer is B."),
    (["x", "y"], "B", "The answer is (B). Without data we cannot give a definitive answer."),
    (["x", "y"], "B", "错误的选项是B。"),
    (["5", "6"], "A", r"$\boxed{5}$ (B)"),
    (["5", "6"], "A", r"\boxed{5} or \boxed{6}"),
    (["5", "6"], "A", "The answer is 5. Also 6."),
]


@pytest.mark.parametrize(("choices", "letter", "text"), CHOOSES)
def test_an_option_can_be_named_by_its_value(choices: list[str], letter: str, text: str) -> None:
    assert judge(MultipleChoice(), {"answer": letter, "choices": choices}, text).score == 1
    other = "B" if letter == "A" else "A"
    assert judge(MultipleChoice(), {"answer": other, "choices": choices}, text).score == 0


@pytest.mark.parametrize(("choices", "letter", "text"), CHOOSES_NONE)
def test_another_value_or_a_refusal_names_no_option(
    choices: list[str], letter: str, text: str
) -> None:
    assert judge(MultipleChoice(), {"answer": letter, "choices": choices}, text).score == 0


@pytest.mark.parametrize(
    "piece",
    [
        "answer is ",
        "if the answer is ",
        "A) x\n",
        "options A, ",
        "No, ",
        "\nChoices: ",
        "不选(B)、",
        "排除",
    ],
)
def test_a_choice_is_found_in_linear_time(piece: str) -> None:
    reference = {"answer": "A", "choices": ["yes", "no"]}
    assert_linear(lambda text: judge(MultipleChoice(), reference, text), piece)


NONE_OF_THEM = ["Cannot be determined", "Not enough information"]
REFUSALS = [
    "The answer is D. It is impossible to determine the answer.",
    "The answer is D, as we cannot determine the answer.",
    "**D**\n\nWithout data we cannot determine the answer.",
]


@pytest.mark.parametrize("option", NONE_OF_THEM)
@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_agrees_with_an_option_that_says_so(text: str, option: str) -> None:
    reference = {"answer": "D", "choices": ["1", "2", "3", option]}
    assert judge(MultipleChoice(), reference, text).reason == "equal"


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_takes_another_option_back(text: str) -> None:
    reference = {"answer": "D", "choices": ["1", "2", "3", "4"]}
    assert judge(MultipleChoice(), reference, text).reason == "no_answer"


@pytest.mark.parametrize(
    ("text", "reason"),
    [(REFUSALS[0], "no_answer"), (REFUSALS[1], "equal"), (REFUSALS[2], "no_answer")],
)
def test_without_choices_a_refusal_may_be_the_reason_of_an_option(text: str, reason: str) -> None:
    assert judge(MultipleChoice(), {"answer": "D"}, text).reason == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I don't know.\n\nIt is the French one: Paris", "equal"),
        ("It is the French one: Paris\n\nI don't know.", "no_answer"),
        ("I don't know.\n\nIt is the English one: London", "different"),
    ],
)
def test_words_before_an_option_named_by_its_text_take_nothing_back(text: str, reason: str) -> None:
    reference = {"answer": "B", "choices": ["London", "Paris"]}
    assert judge(MultipleChoice(), reference, text).reason == reason


CASES = "If it is even, the answer is A. If it is odd, the answer is B."


@pytest.mark.parametrize("choices", [None, ["x", "y"]])
@pytest.mark.parametrize(
    ("end", "reason"),
    [
        *[
            (f" It is odd.{space}{answer}", "equal")
            for space in (" ", "\n\n")
            for answer in (r"\boxed{B}", "<answer>B</answer>", "**B**", "Final answer: B")
        ],
        (r" It is even. \boxed{A}", "different"),
        (" So it is B.", "equal"),
        ("", "ambiguous_answer"),
        (" So it depends.", "ambiguous_answer"),
        (" Otherwise: C", "ambiguous_answer"),
    ],
)
def test_an_answer_behind_cases_chooses_one(
    end: str, reason: str, choices: list[str] | None
) -> None:
    reference = {"answer": "B"} if choices is None else {"answer": "B", "choices": choices}
    assert judge(MultipleChoice(), reference, CASES + end).reason == reason


@pytest.mark.parametrize(
    ("choices", "letter", "text", "reason"),
    [
        (
            ["Yes", "No"],
            "A",
            "Yes, I can help. We compute 7 mod 2 = 1. Therefore 7 is not even.",
            "no_answer",
        ),
        (
            ["True", "False"],
            "A",
            "True, the problem is tricky. We find a counterexample, and the claim fails.",
            "no_answer",
        ),
        (["Yes", "No"], "A", "Yes, it is even. Its last digit is 4.", "equal"),
        (["Yes", "No"], "A", "Yes, it is even, so it is not prime.", "equal"),
        (["Yes", "No"], "B", "No, it is rough. It does not have a slope there.", "equal"),
        (["True", "False"], "B", "False, the sum is odd. But this is true.", "no_answer"),
    ],
)
def test_an_opening_verdict_counts_unless_a_conclusion_follows(
    choices: list[str], letter: str, text: str, reason: str
) -> None:
    assert judge(MultipleChoice(), {"answer": letter, "choices": choices}, text).reason == reason
