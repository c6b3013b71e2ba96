"""The peer modes of `accuracy` give math-verify's verdicts, recorded and computed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor

import pytest

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

SHARES = [
    pytest.param(25, id="sample", marks=pytest.mark.quick),
    pytest.param(1, id="all", marks=pytest.mark.slow),
]
"""One row in so many is judged."""


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
