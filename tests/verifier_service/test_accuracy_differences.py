"""Every row of docs/accuracy.md holds: what math-verify says, and what we say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from math_verify import parse, verify

from tests.verifier_service.judging import judge
from verifier_service.verifiers.accuracy import Accuracy

DOCUMENT = Path(__file__).parents[2] / "docs" / "accuracy.md"
CELL = re.compile(r"(?<!\\)\|")


class Row(NamedTuple):
    reference: str
    completion: str
    math_verify: str
    ours: str


def rows() -> Iterator[Row]:
    boxed = False
    for line in DOCUMENT.read_text().splitlines():
        cells = [cell.strip() for cell in CELL.split(line)[1:-1]]
        if len(cells) != 5 or cells[2] not in ("math-verify", "equal", "different"):
            continue
        if cells[0] == "reference":
            boxed = cells[1] == "answer"
            continue
        reference, text = (
            cell.strip("`").replace(r"\|", "|").replace(r"\\n", "\n") for cell in cells[:2]
        )
        yield Row(reference, rf"\boxed{{{text}}}" if boxed else text, cells[2], cells[3])


ROWS = list(rows())


def test_the_tables_are_found() -> None:
    assert len(ROWS) > 50


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.reference} ~ {row.completion}")
def test_our_verdict_is_the_one_in_the_table(row: Row) -> None:
    found = judge(Accuracy(), {"answer": row.reference}, row.completion)
    assert found.reason == row.ours


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.reference} ~ {row.completion}")
def test_math_verifys_verdict_is_the_one_in_the_table(row: Row) -> None:
    gold = parse(f"${row.reference}$", parsing_timeout=None)
    answer = parse(row.completion, parsing_timeout=None)
    found = "equal" if verify(gold, answer, timeout_seconds=None) else "different"
    assert found == row.math_verify
    assert found != row.ours, "no difference: the row belongs elsewhere"
