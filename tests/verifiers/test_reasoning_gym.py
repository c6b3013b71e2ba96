"""`reasoning_gym`: readers in the place of `eval`, closed scorers, and entries of the package.

Tests with the package run where it is installed, as `make test-interop` installs it.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import verdicts
from verifier_service.gym_scorers import closed, loading
from verifier_service.gym_scorers.expressions import (
    BadNotation,
    read_integer_expression,
    read_literal,
    read_symbolic,
)
from verifier_service.gym_scorers.fresh_entry import copies_of
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.reasoning_gym import ReasoningGym

needs_package = pytest.mark.skipif(
    not loading.can_score(), reason=f"needs {loading.PACKAGE} {loading.VERSION}"
)
COINS = {"question": "?", "answer": "0.109375", "metadata": {"source_dataset": "coin_flip"}}
HALTING = {"answer": "True", "metadata": {"source_dataset": "game_of_life_halting"}}
FOUR = {
    "answer": "1*(7*4 - 4)",
    "metadata": {"source_dataset": "puzzle24", "numbers": [7, 4, 4, 1]},
}


def outcome(entry: dict[str, Any], text: str, **options: Any) -> tuple[float, str]:
    found = judge(ReasoningGym(**options), entry, text)
    return found.score, found.reason.value


@pytest.mark.parametrize(
    ("text", "value"),
    [("((0x138b + 0xd33f) - (0x9631 * 0xfd9))", -0x94B47BF), ("~5 & 12", 8), ("1 << 4 | 3", 19)],
)
def test_an_expression_of_bits_has_its_value(text: str, value: int) -> None:
    assert read_integer_expression(text) == value


HOSTILE_NOTATION = (
    "__import__('os').system('true')",
    "().__class__.__bases__[0].__subclasses__()",
    "open('/etc/passwd').read()",
    "(lambda: 1)()",
    "[x for x in range(9)]",
    "exec('1')",
    "f'{1}'",
    "x if x else 1",
    "True",
    "a.b",
    "1; 2",
    "",
    "(" * 300 + "1" + ")" * 300,
    "-" * 20_000 + "1",
    "9" * 5_000,
    "\x00",
    "\ud800",
    "print(1)",
    "x := 5",
)


@pytest.mark.parametrize("text", HOSTILE_NOTATION)
def test_what_is_no_notation_is_not_read(text: str) -> None:
    with pytest.raises(BadNotation):
        read_symbolic(text)
    with pytest.raises(BadNotation):
        read_integer_expression(text)


@pytest.mark.parametrize("text", [one for one in HOSTILE_NOTATION if one != "True"])
def test_a_literal_is_not_run(text: str) -> None:
    with pytest.raises(BadNotation):
        read_literal(text)


@pytest.mark.parametrize("text", ["1 << 99999999", "1 << -1", "(1 << 9999) * (1 << 9999)", "2**5"])
def test_numbers_of_bits_are_bounded(text: str) -> None:
    with pytest.raises(BadNotation):
        read_integer_expression(text)


@pytest.mark.parametrize("text", ["9**9**9", "x**(10**9)", "2**-501"])
def test_exponents_are_bounded(text: str) -> None:
    with pytest.raises(BadNotation):
        read_symbolic(text)


@pytest.mark.parametrize(
    "text",
    ["2*x**2 - 3*x/4 + C", "-exp(2*x)*sin(x)/5", "log(x)*sqrt(x)", "0.5*x + pi*E", "+x - -y"],
)
def test_a_symbolic_expression_is_that_of_sympy(text: str) -> None:
    sympy = pytest.importorskip("sympy")
    assert read_symbolic(text) == sympy.parse_expr(text)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("0.109375", 1),
        ("7/64", 1),
        ("0.1093", 1),
        ("0", 1 / 8),
        ("0.1", 3 / 8),
        ("0.109", 5 / 8),
        ("1", 0),
        ("1e99999999", 0),
        ("1/0", 0),
        ("nan", 0),
        ("9" * 4000, 0),
        ("", 0),
    ],
)
def test_a_probability_has_the_share_of_its_digits(answer: str, score: float) -> None:
    assert closed.coin_flip(answer, COINS) == pytest.approx(score)


@pytest.mark.parametrize(("answer", "score"), [("True", 1), ("true", 1), ("False", 0), ("x", 0)])
def test_halting_is_the_word_and_not_any_text(answer: str, score: float) -> None:
    assert closed.game_of_life_halting(answer, HALTING) == score


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1*(7*4 - 4)", 1),
        ("7 × 4 − 4 × 1", 1),  # noqa: RUF001
        ("20 + 1 + 2 + 1", 0.01),
        ("7*4 - 4", 0.01),
        ("7*4 - 4*1 + 0", 0.01),
        ("99/4 + 1 - 1*1", 0.01),
        ("1*(7*4 - 4", 0.01),
        ("24", 0.01),
    ],
)
def test_24_is_made_of_the_numbers_of_the_puzzle(answer: str, score: float) -> None:
    assert closed.puzzle24(answer, FOUR) == score


def test_a_number_that_is_none_scores_0() -> None:
    score = closed.without_nan(lambda _answer, _entry: 1.0)
    assert [score(text, {}) for text in ("nan", "NaN+nanj", "-inf", "4.0 - 7.0i")] == [0, 0, 0, 1]


def _write_everywhere(entry: dict[str, Any]) -> None:
    entry["answer"] = "forged"
    entry["metadata"]["grid"][0].append(9)
    entry["metadata"]["sizes"].clear()
    entry["metadata"]["new"] = 1
    entry["metadata"].pop("name")


def test_what_a_scorer_writes_into_an_entry_is_in_no_other_copy() -> None:
    metadata = {"grid": [[1], [2]], "sizes": {"rows": 2}, "name": "n", "none": None}
    entry = {"question": "?", "answer": "5", "metadata": metadata}
    original = copy.deepcopy(entry)
    fresh = copies_of(entry)
    _write_everywhere(fresh())
    assert fresh() == original == entry


@pytest.mark.parametrize(
    "read",
    [
        *(dict, copy.deepcopy, lambda one: {**one}, lambda one: dict(one.items())),
        *(lambda one: {key: one.get(key) for key in one}, lambda one: json.loads(json.dumps(one))),
    ],
)
def test_a_copy_that_is_read_in_any_way_is_whole(read: Callable[[Any], Any]) -> None:
    metadata = {"grid": [[1], [2]], "name": "n", "sizes": {"rows": 2}}
    fresh = copies_of({"answer": "5", "metadata": metadata})()["metadata"]
    assert "grid" in fresh
    assert fresh.get("missing", 7) == 7
    assert len(fresh) == 3
    assert read(fresh) == metadata
    assert json.loads(json.dumps(copies_of({"metadata": metadata})())) == {"metadata": metadata}
    with pytest.raises(KeyError):
        fresh["missing"]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "PACKAGE", "reasoning-gym-that-is-missing")
    with pytest.raises(Unverifiable) as error:
        judge(ReasoningGym(), COINS, "0.5")
    assert error.value.reason.value == "missing_package"
    assert "reward-verifier[reasoning_gym]" in error.value.message


def test_another_version_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "PACKAGE", "pytest")
    assert not loading.can_score()


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({}, "reference.metadata is needed"),
        ({"entry": []}, "reference.entry: found a list"),
        ({"metadata": []}, "reference.metadata: found a list"),
        ({"entry": {"answer": "1"}}, "reference.entry.metadata is needed"),
        ({"answer": "1", "metadata": {}}, "reference.dataset is needed"),
        ({"dataset": 1, "metadata": {}}, "reference.dataset: found a number"),
    ],
)
def test_a_wrong_reference_is_named(reference: dict[str, Any], message: str) -> None:
    with pytest.raises(Unverifiable, match=re.escape(message)):
        judge(ReasoningGym(), reference, "text")


@needs_package
@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"answer": "1", "metadata": {"source_dataset": "coin_flop"}}, "did you mean"),
        ({"answer": "1", "metadata": {"source_dataset": "composite"}}, "no data set 'composite'"),
        ({"answer": None, "metadata": {"source_dataset": "coin_flip"}}, "found null"),
        ({"answer": "1", "metadata": {"source_dataset": "countdown"}}, "its own answer 0.01"),
        ({"answer": "1", "metadata": {"source_dataset": "word_ladder"}}, "cannot read it"),
        ({"answer": None, "metadata": {"source_dataset": "rush_hour"}}, "rush_hour"),
    ],
)
def test_an_entry_that_cannot_be_used_is_named(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(Unverifiable, match=message):
        judge(ReasoningGym(), entry, "text")


@needs_package
def test_an_answer_has_its_part_of_a_score() -> None:
    assert outcome(COINS, "<think>0.1</think><answer>0.109375</answer>") == (1, "solved")
    assert outcome(COINS, r"So \boxed{7/64}.") == (1, "solved")
    assert outcome(COINS, r"\boxed{7/64} <answer>1</answer>") == (0, "different")
    assert outcome(COINS, "0.1")[1] == "partly_solved"
    assert outcome(COINS, "0.1", scoring="solved") == (0, "partly_solved")
    assert outcome(COINS, "I guess") == (0, "different")
    assert outcome({"dataset": "coin_flip", "entry": COINS}, "7/64") == (1, "solved")


@needs_package
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_answer"),
        ("<think>0.109375", "no_answer"),
        ("<answer>1</answer><answer>0.109375</answer>", "ambiguous_answer"),
        ("0" * 20_001, "too_long"),
    ],
)
def test_a_reason_says_why_there_is_no_score(text: str, reason: str) -> None:
    assert outcome(COINS, text) == (0, reason)


@needs_package
def test_workers_judge_with_the_package(http: httpx.Client) -> None:
    verifier = {"type": "reasoning_gym"}
    found = verdicts(http, verifier, "1*(7*4 - 4)", "20+1+2+1", **FOUR)
    assert [one["score"] for one in found] == [1, 0.01]
    primes = {
        "answer": "3 × 3 × 37",  # noqa: RUF001
        "metadata": {"source_dataset": "prime_factorization"},
    }
    found = verdicts(http, verifier, "3 × 3 × 37", "no numbers", **primes)  # noqa: RUF001
    assert [one["reason"] for one in found] == ["solved", "malformed"]


@needs_package
def test_lines_of_a_grid_may_end_as_on_windows() -> None:
    entry = {
        "answer": "0 1\n1 0",
        "metadata": {"source_dataset": "binary_matrix", "matrix": [[0, 1], [1, 0]]},
    }
    assert outcome(entry, "<answer>0 1\r\n1 0</answer>")[0] == 1
    assert outcome(entry, "<answer>0 1\r\n1 1</answer>")[0] == 0
