"""The audit of scored completions: doubted verdicts, findings about the run, rows by chance."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verifier_service.audit.run_findings import RunFinding, reasons_over_time, run_findings
from verifier_service.audit.scored_rows import ScoredRow
from verifier_service.audit.second_opinions import Opinions, opinions_on
from verifier_service.audit.suspicions import DoubtedRow, doubted_rows
from verifier_service.engine.engine import Engine
from verifier_service.profiles import stored_verifier
from verifier_service.verifiers.accuracy import Accuracy

SEED = 24


@dataclass(frozen=True)
class Audit:
    """The findings of an audit."""

    source: str
    """The source of the verdicts."""
    num_rows: int
    num_accepted: int
    num_refused: int
    doubted: list[DoubtedRow]
    """All doubted verdicts, the most doubtful first."""
    chance: list[DoubtedRow]
    """Verdicts drawn by chance, as many accepted as refused ones where there are."""
    findings: list[RunFinding]
    reasons: list[tuple[str, list[float]]]
    """The share of each reason in each quarter of the steps."""

    @property
    def num_refusals_doubted(self) -> int:
        """Refusals among the doubted verdicts."""
        return sum(not one.accepted for one in self.doubted)


async def audit_rows(
    engine: Engine,
    rows: Sequence[ScoredRow],
    source: str,
    *,
    num_chance: int,
    rules: Accuracy | None = None,
    on_judged: Callable[[int], None] = lambda number: None,
) -> Audit:
    """Audit the verdicts of a source.

    Args:
        engine: gives second opinions.
        rows: scored completions.
        source: a key of their verdicts.
        num_chance: rows to draw by chance.
        rules: has the options of the rules that give an opinion; default: those by which the
            source judged, where it tells them and is of this type.
        on_judged: is called with a number of rows that got second opinions.
    """
    scored = [row for row in rows if row.is_accepted(source) is not None]
    rules = rules or _own_rules(scored, source)
    opinions = await opinions_on(engine, scored, on_judged, rules=rules)
    accepted = [row for row in scored if row.is_accepted(source)]
    refused = [row for row in scored if not row.is_accepted(source)]
    return Audit(
        source,
        len(rows),
        len(accepted),
        len(refused),
        doubted_rows(scored, source, opinions),
        _by_chance(accepted, refused, opinions, source, num_chance),
        run_findings(rows, source, opinions),
        reasons_over_time(rows, source),
    )


def _own_rules(rows: Sequence[ScoredRow], source: str) -> Accuracy | None:
    """The verifier of a source, if it is of the type `accuracy` and the same for all rows."""
    told = {row.verdicts[source].options for row in rows}
    verifier = stored_verifier(told.pop()) if len(told) == 1 else None
    return verifier if isinstance(verifier, Accuracy) else None


def _by_chance(
    accepted: Sequence[ScoredRow],
    refused: Sequence[ScoredRow],
    opinions: dict[int, Opinions],
    source: str,
    number: int,
) -> list[DoubtedRow]:
    chosen = random.Random(SEED)
    of_each = number // 2
    rows = [
        row
        for some in (accepted, refused)
        for row in chosen.sample(list(some), min(of_each, len(some)))
    ]
    chosen.shuffle(rows)
    return [
        DoubtedRow(
            row, bool(row.is_accepted(source)), opinions.get(row.index, Opinions()).answer, ()
        )
        for row in rows
    ]
