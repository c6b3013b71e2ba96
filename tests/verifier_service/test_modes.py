"""The peer modes of `accuracy` give math-verify's verdicts, recorded and computed."""

from __future__ import annotations

from typing import Literal, NamedTuple

import pytest
from latex2sympy2_extended import NormalizationConfig
from math_verify import LatexExtractionConfig, parse, verify
from math_verify.errors import TimeoutException

from tests.shared_data import Row, shared_data
from tests.verifier_service.judging import judge
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

Mode = Literal["math_verify", "open_r1"]
RECORDED = {"math_verify": "mv090_default", "open_r1": "mv090_openr1"}
FILES = ("completions_rg_think_boxed", "completions_gsm8k_openai")
SETS = ("human_labelled", "expert_tests", "rg_computed", "real_answers", "evouna_text")
QUICK = 25
"""One row in so many is judged in the quick suite, every one in the slow suite."""


class Pair(NamedTuple):
    gold: str
    text: str


def accepts(mode: Mode, pair: Pair) -> bool:
    try:
        return judge(Accuracy(mode=mode), {"answer": pair.gold}, pair.text).score == 1.0
    except Unverifiable:
        return False


def math_verify_accepts(mode: Mode, pair: Pair) -> bool | None:
    """None where it runs out of time."""
    is_marked = "$" in pair.gold or r"\(" in pair.gold or r"\boxed" in pair.gold
    gold_text = pair.gold if is_marked else f"${pair.gold}$"
    try:
        if mode == "math_verify":
            return bool(verify(parse(gold_text), parse(pair.text)))
        extraction = LatexExtractionConfig(
            normalization_config=NormalizationConfig(
                nits=False, malformed_operators=False, basic_latex=True, boxed="all", units=True
            ),
            boxed_match_priority=0,
            try_extract_without_anchor=False,
        )
        gold = parse(gold_text, extraction_mode="first_match")
        answer = parse(pair.text, extraction_config=[extraction], extraction_mode="first_match")
        return bool(verify(gold, answer))
    except TimeoutException:
        return None


def differing_from_record(mode: Mode, rows: list[Row]) -> list[str]:
    return [
        row["id"]
        for row in rows
        if accepts(mode, Pair(row["gold"], row["completion"])) != bool(row[RECORDED[mode]])
    ]


def differing_from_math_verify(mode: Mode, rows: list[Row]) -> list[str]:
    found = []
    for row in rows:
        answer = row.get("answer")
        pair = Pair(row["gold"], rf"\boxed{{{answer}}}" if answer is not None else row["response"])
        expected = math_verify_accepts(mode, pair)
        if expected is not None and accepts(mode, pair) != expected:
            found.append(row["id"])
    return found


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("mode", RECORDED)
def test_a_sample_of_verdicts_equals_those_recorded(mode: Mode, name: str) -> None:
    rows = shared_data(f"math/{name}.jsonl.gz")
    assert differing_from_record(mode, rows[::QUICK]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("mode", RECORDED)
def test_every_verdict_equals_the_one_recorded(mode: Mode, name: str) -> None:
    assert differing_from_record(mode, shared_data(f"math/{name}.jsonl.gz")) == []


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("mode", RECORDED)
def test_a_sample_of_verdicts_equals_math_verifys(mode: Mode, name: str) -> None:
    rows = shared_data(f"math/pairs_{name}.jsonl")
    assert differing_from_math_verify(mode, rows[::QUICK]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("mode", RECORDED)
def test_every_verdict_equals_math_verifys(mode: Mode, name: str) -> None:
    assert differing_from_math_verify(mode, shared_data(f"math/pairs_{name}.jsonl")) == []
