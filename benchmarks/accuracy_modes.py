"""The peer modes of `accuracy` beside math-verify: how many verdicts are equal.

On the files of completions with recorded verdicts against these, on all labelled pairs against
math-verify called now. What math-verify runs out of time on is left out and counted.

    .venv/bin/python benchmarks/accuracy_modes.py

Takes some minutes. Reads `shared/data` beside the repository; without it there is nothing to
measure.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Literal

from latex2sympy2_extended import NormalizationConfig
from math_verify import LatexExtractionConfig, parse, verify
from math_verify.errors import TimeoutException

from benchmarks.accuracy_labels import SETS, text_of
from tests.shared_data import Row, SharedDataMissing, read_shared_data
from tests.verifier_service.judging import judge
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

Mode = Literal["math_verify", "open_r1"]
RECORDED: dict[Mode, str] = {"math_verify": "mv090_default", "open_r1": "mv090_openr1"}
FILES = ("completions_rg_think_boxed", "completions_gsm8k_openai")


@dataclass
class Parity:
    """How the verdicts of a mode compare with math-verify's."""

    num_equal: int = 0
    differing: list[str] = field(default_factory=list)
    """Ids of rows."""
    num_timeouts: int = 0
    """Rows that math-verify ran out of time on."""


def accepts(mode: Mode, gold: str, text: str) -> bool:
    """Whether `accuracy` accepts in a mode; what is unverifiable is not accepted."""
    try:
        return judge(Accuracy(mode=mode), {"answer": gold}, text).score == 1.0
    except Unverifiable:
        return False


def math_verify_accepts(mode: Mode, gold: str, text: str) -> bool | None:
    """Whether math-verify accepts, called as its users call it; None where time runs out."""
    is_marked = "$" in gold or r"\(" in gold or r"\boxed" in gold
    marked = gold if is_marked else f"${gold}$"
    try:
        if mode == "math_verify":
            return bool(verify(parse(marked), parse(text)))
        extraction = LatexExtractionConfig(
            normalization_config=NormalizationConfig(
                nits=False, malformed_operators=False, basic_latex=True, boxed="all", units=True
            ),
            boxed_match_priority=0,
            try_extract_without_anchor=False,
        )
        answer = parse(text, extraction_config=[extraction], extraction_mode="first_match")
        return bool(verify(parse(marked, extraction_mode="first_match"), answer))
    except TimeoutException:
        return None


def parity_with_record(mode: Mode, rows: list[Row]) -> Parity:
    """Of rows of completions with recorded verdicts."""
    found = Parity()
    for row in rows:
        _add(found, row, bool(row[RECORDED[mode]]), mode, row["completion"])
    return found


def parity_with_math_verify(mode: Mode, rows: list[Row]) -> Parity:
    """Of labelled rows."""
    found = Parity()
    for row in rows:
        text = text_of(row)
        _add(found, row, math_verify_accepts(mode, row["gold"], text), mode, text)
    return found


def _add(found: Parity, row: Row, expected: bool | None, mode: Mode, text: str) -> None:
    if expected is None:
        found.num_timeouts += 1
    elif accepts(mode, row["gold"], text) == expected:
        found.num_equal += 1
    else:
        found.differing.append(row["id"])


def main() -> None:
    """Print a table, one line for each file and mode."""
    logging.disable(logging.CRITICAL)
    print(f"{'file':30}{'mode':13}{'equal':>7}{'different':>11}{'timed out':>11}")
    try:
        for mode in RECORDED:
            for name in FILES:
                rows = read_shared_data(f"math/{name}.jsonl.gz")
                show(name, mode, parity_with_record(mode, rows))
            for name in SETS:
                rows = read_shared_data(f"math/pairs_{name}.jsonl")
                show(f"pairs_{name}", mode, parity_with_math_verify(mode, rows))
    except SharedDataMissing as missing:
        print(f"nothing to measure: {missing}")


def show(name: str, mode: Mode, found: Parity) -> None:
    """Print a line, and the rows that differ."""
    print(f"{name:30}{mode:13}{found.num_equal:7}{len(found.differing):11}{found.num_timeouts:11}")
    if found.differing:
        print(f"    {', '.join(found.differing)}")


if __name__ == "__main__":
    main()
