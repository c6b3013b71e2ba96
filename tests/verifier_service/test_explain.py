"""`explain`: what was judged, where it stands, how it was read, and what decided."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.shared_data import SharedDataMissing, read_shared_data
from verifier_service.completion import Completion
from verifier_service.engine.request_limits import MAX_EXPLAINED_VERDICTS
from verifier_service.explanation import MAX_TESTS, MAX_TEXT_CHARACTERS, Place, spans_of
from verifier_service.mathematics.extraction import extract
from verifier_service.schemas import ScoreResponse
from verifier_service.verifier import Undecided, Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

OPEN = r"\boxed{\int_0^1 x\,dx}"
"""An answer that the own reader leaves to math-verify."""
ADD = "def add(a, b):\n    return a + b\n"
CASES = [{"args": [1, 2], "returns": 3}, {"args": [2, 2], "returns": 5}]


def ask(
    http: httpx.Client, body: dict[str, Any], *completions: Any, **reference: Any
) -> list[dict[str, Any]]:
    """The verdicts of the one verifier of a request on a group."""
    group = {"reference": reference, "completions": list(completions)}
    response = http.post("/v1/score", json={**body, "groups": [group]})
    assert response.status_code == 200, response.text
    ScoreResponse.model_validate_json(response.content)
    found = response.json()["groups"][0]["completions"]
    return [next(iter(one["verdicts"].values())) for one in found]


def explained(
    http: httpx.Client, verifier: str, *completions: Any, **reference: Any
) -> list[dict[str, Any]]:
    body = {"verifiers": [{"type": verifier}], "explain": True}
    return ask(http, body, *completions, **reference)


def marked(completion: str, explanation: dict[str, Any]) -> list[str]:
    """The parts of a completion that an explanation marks."""
    return [completion[span["start"] : span["end"]] for span in explanation.get("spans", [])]


@pytest.mark.parametrize(
    ("completion", "answer", "stage", "spans", "read"),
    [
        ("It is 2.", "2", "text", ["2"], ["2"]),
        (r"\boxed{\frac{4}{8}}", "0.5", "values", [r"\frac{4}{8}"], ["4/8", "1/2"]),
        (r"\boxed{3} or \boxed{4}", "3", "values", ["3", "4"], ["one of (3, 4)"]),
        (OPEN, "0.5", "math_verify", [r"\int_0^1 x\,dx"], None),
        ("<think>2", "2", "extraction", [], None),
        (r"\boxed{5\text{ cm}}", "0.05 m", "values", [r"5\text{ cm}"], ["5 cm"]),
    ],
    ids=["text", "values", "two", "math_verify", "none", "unit"],
)
def test_an_answer_is_found_read_and_decided(
    http: httpx.Client,
    completion: str,
    answer: str,
    stage: str,
    spans: list[str],
    read: list[str] | None,
) -> None:
    (verdict,) = explained(http, "accuracy", completion, answer=answer)
    found = verdict["explanation"]
    assert found["stage"] == stage
    assert marked(completion, found) == spans
    assert found["references"][0]["text"] == answer
    if read is not None:
        assert set(found["answer"]["read"]) <= set(read)
        assert found["answer"]["read"]


@pytest.mark.parametrize(
    ("completion", "start"),
    [
        ("7 is not it. <answer>7</answer> For 7 days", 21),
        ("<think>7</think>The answer is 7. So 7 in words: seven. Note: 7", 30),
        ("\U0001f600 e\u0301 \\boxed{7}", 12),
        ("so $\\boxed{\n7\n}$, as 7 > 0", 12),
    ],
    ids=["tag", "phrase", "astral", "box"],
)
def test_a_place_is_that_of_the_answer_and_no_other(completion: str, start: int) -> None:
    found = extract(completion)
    assert found is not None
    assert spans_of(completion, found.statements, extract) == [Place(start, start + 1)]


def test_a_sign_before_the_box_is_marked_with_it() -> None:
    completion = r"Thus $-\boxed{2}$."
    found = extract(completion)
    assert found is not None
    (span,) = spans_of(completion, found.statements, extract)
    assert completion[span.start : span.end] == r"-\boxed{2"


REQUESTS: list[tuple[dict[str, Any], dict[str, Any], list[Any]]] = [
    ({"type": "accuracy"}, {"answer": ["1/2", "7"]}, ["It is 0.5", "8", OPEN, "", "3 or 4"]),
    ({"type": "accuracy", "mode": "math_verify"}, {"answer": "1/2"}, ["$0.5$", "no"]),
    ({"type": "accuracy"}, {}, ["1"]),
    ({"type": "exact_match"}, {"answer": "a"}, ["<answer> a </answer>", "<answer>a", "b"]),
    ({"type": "multiple_choice"}, {"answer": "B"}, ["The answer is (B).", "A or B", "none"]),
    ({"type": "regex", "pattern": "[0-9]+"}, {}, ["a 1 b 22", "none"]),
    ({"type": "json_schema", "schema": {"type": "object"}}, {}, ["{}", "[]", "}"]),
    ({"type": "format"}, {}, ["<think>a</think><answer>b</answer>", "b"]),
    ({"type": "length"}, {"answer": "2"}, ["2", "It is 2", "3"]),
    ({"type": "repetition"}, {}, ["a b c a b c a b c"]),
    ({"type": "code"}, {"tests": {"type": "asserts", "code": "assert add(1, 2) == 3"}}, [ADD, ""]),
    ({"type": "code"}, {}, [ADD]),
]


@pytest.mark.parametrize(
    ("verifier", "reference", "completions"),
    REQUESTS,
    ids=[f"{number}-{one[0]['type']}" for number, one in enumerate(REQUESTS)],
)
def test_an_explanation_changes_no_verdict(
    http: httpx.Client,
    verifier: dict[str, Any],
    reference: dict[str, Any],
    completions: list[Any],
) -> None:
    plain, asked, again = (
        ask(http, {"verifiers": [verifier], **more}, *completions, **reference)
        for more in ({}, {"explain": True}, {"explain": False})
    )
    for one in (*plain, *asked, *again):
        one.pop("seconds")
    assert all("explanation" not in one for one in (*plain, *again))
    assert all(one.pop("explanation")["stage"] for one in asked)
    assert plain == asked == again


def test_equal_questions_of_different_completions_have_places_of_their_own(
    http: httpx.Client,
) -> None:
    completions = [OPEN, f"Longer: {OPEN}"]
    verdicts = explained(http, "accuracy", *completions, answer="0.5")
    starts = [verdict["explanation"]["spans"][0]["start"] for verdict in verdicts]
    assert starts == [7, 15]


def test_a_streamed_line_has_explanations(http: httpx.Client) -> None:
    body = {
        "verifiers": [{"type": "accuracy"}],
        "explain": True,
        "groups": [{"reference": {"answer": "2"}, "completions": [r"\boxed{2}"]}],
    }
    response = http.post(
        "/v1/score", json=body, headers={"Accept": "Application/X-NDJSON, application/json;q=0.1"}
    )
    line = json.loads(response.text.split("\n")[0])
    verdict = line["completions"][0]["verdicts"]["accuracy"]
    assert verdict["explanation"]["spans"] == [{"start": 7, "end": 8}]


def test_a_large_request_has_explanations(http: httpx.Client) -> None:
    long = "word " * 2000
    completions = [f"{long} {number} \\boxed{{{number}}}" for number in range(150)]
    verdicts = explained(http, "accuracy", *completions, answer="7")
    spans = [verdict["explanation"]["spans"][0] for verdict in verdicts]
    found = [
        text[span["start"] : span["end"]] for text, span in zip(completions, spans, strict=True)
    ]
    assert found == [str(number) for number in range(150)]


def test_so_many_explanations_are_not_given_at_once(http: httpx.Client) -> None:
    body = {
        "verifiers": [{"type": "format"}],
        "explain": True,
        "groups": [{"completions": ["a"] * (MAX_EXPLAINED_VERDICTS + 1)}],
    }
    response = http.post("/v1/score", json=body)
    assert response.status_code == 413
    assert f"at most {MAX_EXPLAINED_VERDICTS}" in response.json()["error"]["message"]


def test_each_test_of_a_whole_program_is_told(http: httpx.Client) -> None:
    program = "print(int(input()) + 1)"
    completion = f"Here:\n```python\n{program}\n```\n"
    cases = [{"stdin": "1", "stdout": "2"}, {"stdin": "5", "stdout": "7"}]
    body = {"verifiers": [{"type": "code", "run_all": True}], "explain": True}
    tests = {"type": "stdio", "cases": cases}
    (verdict,) = ask(http, body, completion, tests=tests)
    found = verdict["explanation"]
    assert found["stage"] == "tests"
    assert [one.strip() for one in marked(completion, found)] == [program]
    first, second = found["tests"]
    assert (first["reason"], second["reason"]) == ("passed", "wrong_answer")
    assert (second["given"], second["expected"], second["received"]) == ("5", "7", "6\n")
    assert second["cpu_seconds"] > 0
    assert second["peak_memory_bytes"] > 2**20


def test_each_call_of_a_function_is_told(http: httpx.Client) -> None:
    body = {"verifiers": [{"type": "code", "scoring": "fraction"}], "explain": True}
    tests = {"type": "function", "entry_point": "add", "cases": [*CASES, *CASES]}
    (verdict,) = ask(http, body, f"```python\n{ADD}```", tests=tests)
    found = verdict["explanation"]
    reasons = [one["reason"] for one in found["tests"]]
    assert reasons == ["passed", "wrong_answer", "passed", "failed"]
    wrong = found["tests"][1]
    assert (wrong["given"], wrong["expected"]) == ("add(2, 2)", "5")
    assert "4" in wrong["received"]
    assert found["cpu_seconds"] > 0


def test_a_completion_without_a_program_is_told(http: httpx.Client) -> None:
    tests = {"type": "function", "entry_point": "add", "cases": CASES}
    (verdict,) = explained(http, "code", "I cannot.", tests=tests)
    assert (verdict["reason"], verdict["explanation"]) == ("no_code", {"stage": "extraction"})


@pytest.mark.slow
@pytest.mark.parametrize("text", ["7, \\boxed{7} and ", "\\boxed{", "<answer>7", "$7$ or "])
def test_a_long_completion_keeps_its_verdict(http: httpx.Client, text: str) -> None:
    completion = text * (350_000 // len(text)) + " so 7."  # a third of the limit on an item's time
    plain, asked = (
        ask(http, {"verifiers": [{"type": "accuracy"}], **more}, completion, answer="7")[0]
        for more in ({}, {"explain": True})
    )
    assert (plain["score"], plain["reason"]) == (asked["score"], asked["reason"])


REAL = ("pairs_human_labelled.jsonl", "completions_rg_think_boxed.jsonl.gz")


@pytest.mark.slow
@pytest.mark.parametrize("file", REAL)
def test_every_real_answer_has_its_place_and_the_stage_that_decided(file: str) -> None:
    try:
        rows = read_shared_data(f"math/{file}")[:200]
    except SharedDataMissing as missing:
        pytest.skip(str(missing))
    accuracy = Accuracy()
    for row in rows:
        reference = {"answer": row["gold"]}
        text = row.get("completion") or f"Thus \\boxed{{{row['answer']}}}"
        try:
            judge = accuracy.prepare(reference)
            judgement = judge(Completion(text))
        except Unverifiable:
            continue
        found = accuracy.explain(reference, judge, Completion(text))
        is_open = isinstance(judgement, Undecided)
        assert (found.stage == "math_verify") == is_open, row["id"]
        has_answer = isinstance(judgement, Undecided) or judgement.extracted is not None
        assert bool(found.spans) == has_answer, row["id"]


def test_an_explanation_is_small_whatever_is_judged(http: httpx.Client) -> None:
    answer = "x" * 9_000
    (verdict,) = explained(http, "accuracy", f"<answer>{answer}</answer>", answer=[answer] * 50)
    assert len(json.dumps(verdict["explanation"])) < 40 * MAX_TEXT_CHARACTERS
    cases = [{"stdin": "1" * 5_000, "stdout": "1" * 5_000}] * 2 * MAX_TESTS
    tests = {"type": "stdio", "cases": cases}
    (verdict,) = explained(http, "code", "```python\nprint(input())\n```", tests=tests)
    assert verdict["reason"] == "passed"
    assert len(verdict["explanation"]["tests"]) == MAX_TESTS
    assert len(json.dumps(verdict["explanation"])) < 4 * MAX_TESTS * MAX_TEXT_CHARACTERS
