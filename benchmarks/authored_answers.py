"""Wrong verdicts of `accuracy` on right and wrong answers written by hand, beside math-verify 0.9.

An author who had not read the comparison wrote each answer with its label, its class and a reason:
`tests/data/authored_answers.jsonl`. A hash of a row puts it into one of two halves. Whoever mends
a class may read the failures of the half that is shown; the half kept aside is only counted, so
that it measures answers that nobody mended one by one.

    .venv/bin/python benchmarks/authored_answers.py [--failures FILE]

`--failures` writes the wrong verdicts on the half that is shown to a file. math-verify is called
as `verify(parse("$reference$"), parse(completion))`, and with the settings of TRL's
`accuracy_reward`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks._readme_row import readme_row
from benchmarks.accuracy_modes import judging_processes, math_verify_accepts
from tests.verifier_service.judging import judge
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

DATA = Path(__file__).parents[1] / "tests" / "data" / "authored_answers.jsonl"
CPU_SECONDS = 5.0
"""The CPU time of one verdict; without a verdict by then there is none."""

Half = Literal["shown", "kept aside"]
HALVES: tuple[Half, ...] = ("shown", "kept aside")


class Answer(NamedTuple):
    """One row of the data."""

    reference: str
    completion: str
    right: bool
    kind: str
    """The class of answers that the row belongs to."""
    why: str

    @property
    def half(self) -> Half:
        """The half that a hash of reference and completion chooses."""
        digest = hashlib.sha256(f"{self.reference}\0{self.completion}".encode()).digest()
        return HALVES[digest[0] & 1]


class Wrong(NamedTuple):
    """Counts of wrong verdicts."""

    right_refused: int
    wrong_accepted: int
    no_verdict: int
    """Right answers that got no verdict; they are refused too."""

    @property
    def total(self) -> int:
        """The number of wrong verdicts."""
        return self.right_refused + self.wrong_accepted


class OutOfTime(BaseException):
    """A verdict took longer than CPU_SECONDS; no handler of a library catches it."""


Judge = Callable[[Answer], bool | None]


def read_answers() -> list[Answer]:
    """The rows of the data in their order."""
    rows = map(json.loads, DATA.read_text().splitlines())
    return [
        Answer(row["reference"], row["completion"], row["right"], row["class"], row["why"])
        for row in rows
    ]


def ours(answer: Answer) -> bool | None:
    """Whether `accuracy` accepts; None for an answer without a verdict."""
    try:
        return judge(Accuracy(), {"answer": answer.reference}, answer.completion).score == 1.0
    except Unverifiable:
        return None


def math_verify(answer: Answer) -> bool | None:
    """Whether math-verify accepts with its defaults."""
    return math_verify_accepts("math_verify", answer.reference, answer.completion)


def trl(answer: Answer) -> bool | None:
    """Whether math-verify accepts with the settings of TRL's `accuracy_reward`."""
    return math_verify_accepts("open_r1", answer.reference, answer.completion)


JUDGES: Mapping[str, Judge] = {"accuracy": ours, "math-verify": math_verify, "TRL": trl}


def verdict_of(name: str, answer: Answer) -> bool | None:
    """The verdict of a judge, or None where it has none within CPU_SECONDS."""
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        return JUDGES[name](answer)
    except OutOfTime:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _out_of_time(*_: Any) -> None:
    raise OutOfTime


def judged(
    name: str, answers: list[Answer], processes: Executor
) -> list[tuple[Answer, bool | None]]:
    """Every answer with a judge's verdict."""
    verdicts = processes.map(partial(verdict_of, name), answers, chunksize=16)
    return list(zip(answers, verdicts, strict=True))


def wrong_verdicts(found: Iterable[tuple[Answer, bool | None]]) -> Wrong:
    """Count the verdicts that differ from the labels."""
    counts = Counter((answer.right, verdict) for answer, verdict in found)
    no_verdict = counts[True, None]
    return Wrong(counts[True, False] + no_verdict, counts[False, True], no_verdict)


def main() -> None:
    """Print a table of both halves, and one of the classes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failures", type=Path)
    failures: Path | None = parser.parse_args().failures
    answers = read_answers()
    with judging_processes() as processes:
        found = {name: judged(name, answers, processes) for name in JUDGES}
    show_halves(found)
    show_classes(found["accuracy"], found["math-verify"])
    show_half_kept_aside(found["accuracy"], found["math-verify"])
    if failures is not None:
        failures.write_text("".join(failure_lines(found["accuracy"])))


def show_halves(found: Mapping[str, list[tuple[Answer, bool | None]]]) -> None:
    """Print one line for each half and judge."""
    print(
        f"{'half':12}{'judge':13}{'right':>6}{'wrong':>6}{'right refused':>15}"
        f"{'of them no verdict':>20}{'wrong accepted':>16}{'wrong verdicts':>16}"
    )
    for half in HALVES:
        for name, verdicts in found.items():
            rows = [row for row in verdicts if row[0].half == half]
            num_right = sum(answer.right for answer, _ in rows)
            wrong = wrong_verdicts(rows)
            print(
                f"{half:12}{name:13}{num_right:6}{len(rows) - num_right:6}{wrong.right_refused:15}"
                f"{wrong.no_verdict:20}{wrong.wrong_accepted:16}{wrong.total / len(rows):16.1%}"
            )


def show_classes(
    ours: list[tuple[Answer, bool | None]], theirs: list[tuple[Answer, bool | None]]
) -> None:
    """Print right answers refused and wrong ones accepted, by class and half."""
    print(f"\n{'':26}{'accuracy':>24}{'math-verify':>24}")
    print(f"{'class (refused/accepted)':26}" + f"{'shown':>12}{'kept aside':>12}" * 2)
    for kind in dict.fromkeys(answer.kind for answer, _ in ours):
        cells = []
        for verdicts in (ours, theirs):
            for half in HALVES:
                of_kind = [row for row in verdicts if (row[0].kind, row[0].half) == (kind, half)]
                wrong = wrong_verdicts(of_kind)
                cells.append(f"{wrong.right_refused}/{wrong.wrong_accepted} of {len(of_kind)}")
        print(f"{kind:26}" + "".join(f"{cell:>12}" for cell in cells))


def show_half_kept_aside(
    ours: list[tuple[Answer, bool | None]], theirs: list[tuple[Answer, bool | None]]
) -> None:
    """Print the README's row: wrong verdicts on the half that nobody mended one by one."""
    our_rows, their_rows = (
        [row for row in verdicts if row[0].half == "kept aside"] for verdicts in (ours, theirs)
    )
    readme_row(
        f"{len(our_rows)} answers by another author, wrong verdicts",
        f"math-verify {wrong_verdicts(their_rows).total / len(their_rows):.1%}",
        f"{wrong_verdicts(our_rows).total / len(our_rows):.1%}",
    )


def failure_lines(verdicts: Iterable[tuple[Answer, bool | None]]) -> Iterable[str]:
    """The wrong verdicts on the half that is shown, one a line."""
    for answer, verdict in verdicts:
        if answer.half != "shown" or verdict is answer.right or not (answer.right or verdict):
            continue
        title = "right refused" if answer.right else "wrong accepted"
        row = {**answer._asdict(), "verdict": verdict}
        yield f"{title}: {json.dumps(row, ensure_ascii=False)}\n"


if __name__ == "__main__":
    main()
