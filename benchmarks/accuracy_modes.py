"""The peer modes of `accuracy` beside math-verify: how many verdicts are equal.

On the files of completions with recorded verdicts against these, on all labelled pairs against
math-verify called now. What math-verify runs out of time on is left out and counted.

Rows are judged in processes of their own: math-verify's limit is an exception that a signal raises
in whatever runs just then, and in a process with callbacks of others it would be lost there.

    .venv/bin/python benchmarks/accuracy_modes.py

Takes some minutes. Reads `shared/data` beside the repository; without it there is nothing to
measure.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
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


@contextmanager
def judging_processes() -> Iterator[Executor]:
    """One fresh process for each core."""
    with ProcessPoolExecutor(
        max_workers=len(os.sched_getaffinity(0)),
        mp_context=get_context("spawn"),
        initializer=logging.disable,
    ) as processes:
        yield processes


def parity_with_record(mode: Mode, rows: list[Row], processes: Executor) -> Parity:
    """Parity on completions whose verdicts were recorded."""
    return _parity(rows, partial(_equals_record, mode), processes)


def parity_with_math_verify(mode: Mode, rows: list[Row], processes: Executor) -> Parity:
    """Parity on labelled rows, with math-verify asked now."""
    return _parity(rows, partial(_equals_math_verify, mode), processes)


def _parity(rows: list[Row], equals: Callable[[Row], bool | None], processes: Executor) -> Parity:
    found = Parity()
    for row, is_equal in zip(rows, processes.map(equals, rows, chunksize=8), strict=True):
        if is_equal is None:
            found.num_timeouts += 1
        elif is_equal:
            found.num_equal += 1
        else:
            found.differing.append(row["id"])
    return found


def _equals_record(mode: Mode, row: Row) -> bool:
    return accepts(mode, row["gold"], row["completion"]) == bool(row[RECORDED[mode]])


def _equals_math_verify(mode: Mode, row: Row) -> bool | None:
    text = text_of(row)
    expected = math_verify_accepts(mode, row["gold"], text)
    return None if expected is None else accepts(mode, row["gold"], text) == expected


def main() -> None:
    """Print a table, one line for each file and mode."""
    print(f"{'file':30}{'mode':13}{'equal':>7}{'different':>11}{'timed out':>11}")
    try:
        with judging_processes() as processes:
            for mode in RECORDED:
                for name in FILES:
                    rows = read_shared_data(f"math/{name}.jsonl.gz")
                    show(name, mode, parity_with_record(mode, rows, processes))
                for name in SETS:
                    rows = read_shared_data(f"math/pairs_{name}.jsonl")
                    show(f"pairs_{name}", mode, parity_with_math_verify(mode, rows, processes))
    except SharedDataMissing as missing:
        raise SystemExit(f"nothing to measure: {missing}") from missing


def show(name: str, mode: Mode, found: Parity) -> None:
    """Print a line, and the rows that differ."""
    print(f"{name:30}{mode:13}{found.num_equal:7}{len(found.differing):11}{found.num_timeouts:11}")
    if found.differing:
        print(f"    {', '.join(found.differing)}")


if __name__ == "__main__":
    main()
