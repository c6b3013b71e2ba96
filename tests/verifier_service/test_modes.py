"""The peer modes of `accuracy` give math-verify's verdicts, recorded and computed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor

import pytest
from math_verify import parse, verify
from pydantic import ValidationError

from benchmarks.accuracy_labels import SETS
from benchmarks.accuracy_modes import (
    FILES,
    RECORDED,
    Mode,
    judging_processes,
    parity_with_math_verify,
    parity_with_record,
)
from tests.shared_data import shared_data
from tests.verifier_service.judging import judge
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

SHARES = [
    pytest.param(48, id="sample", marks=pytest.mark.quick),
    pytest.param(8, id="more", marks=pytest.mark.slow),
]
"""One row in so many is judged; `benchmarks/accuracy_modes.py` judges every row. The rows of the
sample are among the others."""


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with judging_processes() as started:
        yield started


@pytest.mark.parametrize("one_in", SHARES)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("mode", RECORDED)
def test_verdicts_equal_those_recorded(
    mode: Mode, name: str, one_in: int, processes: Executor
) -> None:
    rows = shared_data(f"math/{name}.jsonl.gz")[::one_in]
    assert parity_with_record(mode, rows, processes).differing == []


@pytest.mark.parametrize("one_in", SHARES)
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("mode", RECORDED)
def test_verdicts_equal_math_verifys(
    mode: Mode, name: str, one_in: int, processes: Executor
) -> None:
    rows = shared_data(f"math/pairs_{name}.jsonl")[::one_in]
    assert parity_with_math_verify(mode, rows, processes).differing == []


PLAIN = (
    *((r"\frac{63}{400}", r"\boxed{\frac{63}{400}}"), ("6", r"\boxed{3}"), ("3", r"\boxed{3}")),
    *(("x>y", r"\boxed{y<x}"), ("ab+ac", r"\boxed{a(b+c)}"), ("yes", r"\boxed{yes}")),
    *(("s^{2}+\\omega^{2}", r"\boxed{s^2+\omega^2}"), (r"$\sqrt2$", r"$2^{0.5}$"), ("50%", "0.5")),
    *((r"So \boxed{4}", r"\boxed{4}"), (r"\(x=3\)", r"\boxed{3}"), ("1,234", "1234")),
)


@pytest.mark.parametrize(("reference", "completion"), PLAIN)
def test_a_plain_reference_is_what_the_description_says(reference: str, completion: str) -> None:
    """Verdicts equal `verify(parse(reference), parse(completion))`, with nothing put round it."""
    gold = parse(reference, parsing_timeout=None)
    answer = parse(completion, parsing_timeout=None)
    verifier = Accuracy(mode="math_verify", reference_text="plain")
    if not gold:
        with pytest.raises(Unverifiable):
            judge(verifier, {"answer": reference}, completion)
        return
    expected = float(verify(gold, answer, timeout_seconds=None))
    assert judge(verifier, {"answer": reference}, completion).score == expected


def test_plain_and_latex_references_differ() -> None:
    completion = r"\boxed{a(b+c)}"
    for mode, expected in (("plain", None), ("latex", 1.0)):
        verifier = Accuracy.model_validate({"mode": "open_r1", "reference_text": mode})
        if expected is None:
            with pytest.raises(Unverifiable):
                judge(verifier, {"answer": "ab+ac"}, completion)
        else:
            assert judge(verifier, {"answer": "ab+ac"}, completion).score == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"reference_text": "plain"},
        {"mode": "open_r1", "tags": ["answer"]},
        {"mode": "math_verify", "decimal_comma": True},
        {"mode": "open_r1", "reference_list": "all"},
    ],
)
def test_an_option_without_effect_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="no effect in mode"):
        Accuracy.model_validate(options)
