"""How often `accuracy` is right on labelled pairs, beside math-verify 0.9.

Both judge the same text: an answer stands in a box, a whole response as it is. math-verify is
called with its defaults, `verify(parse("$gold$"), parse(text))`; what it takes too long for counts
as refused, and so does what is `unverifiable` here. Rows that docs/accuracy.md lists as wrongly
labelled are left out for both.

    .venv/bin/python benchmarks/accuracy_labels.py

Reads `shared/data` beside the repository; without it there is nothing to measure.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from math_verify import parse, verify
from math_verify.errors import TimeoutException

from benchmarks._readme_row import readme_row
from tests.shared_data import Row, SharedDataMissing, read_shared_data
from tests.verifier_service.judging import judge
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.accuracy import Accuracy

FREE_TEXT = "evouna_text"
"""The set of free texts, which neither can judge."""
SETS = ("human_labelled", "expert_tests", "rg_computed", "real_answers", FREE_TEXT)
DOCUMENT = Path(__file__).parents[1] / "docs" / "accuracy.md"
_WRONG_LABEL = re.compile(r"\| `pairs_(\w+)` \| ([\w-]+) \|")

Judge = Callable[[str, str], bool]


@dataclass(frozen=True)
class Rates:
    """Counts of verdicts against labels."""

    right_accepted: int
    right_refused: int
    wrong_accepted: int
    wrong_refused: int

    @property
    def num_wrong(self) -> int:
        """Verdicts that differ from the label."""
        return self.right_refused + self.wrong_accepted

    @property
    def precision(self) -> float:
        """Share of right answers among those accepted; 1 if none was."""
        accepted = self.right_accepted + self.wrong_accepted
        return self.right_accepted / accepted if accepted else 1.0

    @property
    def recall(self) -> float:
        """Share of right answers that were accepted; 1 if there was none."""
        right = self.right_accepted + self.right_refused
        return self.right_accepted / right if right else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def ours(gold: str, text: str) -> bool:
    """Whether `accuracy` accepts."""
    try:
        return judge(Accuracy(), {"answer": gold}, text).score == 1.0
    except Unverifiable:
        return False


def math_verify(gold: str, text: str) -> bool:
    """Whether math-verify accepts."""
    is_marked = "$" in gold or r"\(" in gold or r"\boxed" in gold
    try:
        return bool(verify(parse(gold if is_marked else f"${gold}$"), parse(text)))
    except TimeoutException:
        return False


def rates(rows: list[Row], accepts: Judge) -> Rates:
    """Judge every row."""
    counts = {(label, verdict): 0 for label in (True, False) for verdict in (True, False)}
    for row in rows:
        counts[bool(row["label"]), accepts(row["gold"], text_of(row))] += 1
    return Rates(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def text_of(row: Row) -> str:
    """The judged text: the response, or the answer in a box."""
    return rf"\boxed{{{row['answer']}}}" if row.get("answer") is not None else row["response"]


def rows_of(name: str) -> tuple[list[Row], int]:
    """The rows of a set, and how many are left out for their label. Raises SharedDataMissing."""
    wrong = {row for set_name, row in wrong_labels() if set_name == name}
    rows = read_shared_data(f"math/pairs_{name}.jsonl")
    kept = [row for row in rows if row["id"] not in wrong]
    return kept, len(rows) - len(kept)


def wrong_labels() -> Iterator[tuple[str, str]]:
    """Set and id of each row that docs/accuracy.md lists as wrongly labelled."""
    for match in _WRONG_LABEL.finditer(DOCUMENT.read_text()):
        yield match[1], match[2]


def main() -> None:
    """Print a table, one line for each set and judge."""
    logging.disable(logging.CRITICAL)
    print(
        f"{'set':16}{'judge':13}{'rows':>5}{'FN':>5}{'FP':>5}{'precision':>11}{'recall':>8}{'F1':>7}"
    )
    totals = {"math-verify": 0, "accuracy": 0}
    num_pairs = 0
    for name in SETS:
        try:
            rows, num_left_out = rows_of(name)
        except SharedDataMissing as missing:
            raise SystemExit(f"nothing to measure: {missing}") from missing
        num_pairs += len(rows) * (name != FREE_TEXT)
        for title, accepts in (("math-verify", math_verify), ("accuracy", ours)):
            found = rates(rows, accepts)
            if name != FREE_TEXT:
                totals[title] += found.num_wrong
            print(
                f"{name:16}{title:13}{len(rows):5}{found.right_refused:5}{found.wrong_accepted:5}"
                f"{found.precision:11.3f}{found.recall:8.3f}{found.f1:7.3f}"
            )
        if num_left_out:
            print(f"{'':16}({num_left_out} rows left out: wrong labels, see docs/accuracy.md)")
    ratio = totals["accuracy"] / totals["math-verify"]
    print(
        f"wrong verdicts without {FREE_TEXT}: math-verify {totals['math-verify']}, accuracy "
        f"{totals['accuracy']} (x {ratio:.2f})"
    )
    readme_row(
        f"{num_pairs:,} labelled pairs, wrong verdicts",
        f"math-verify {totals['math-verify']}",
        str(totals["accuracy"]),
    )


if __name__ == "__main__":
    main()
