"""The inspection of a data set: every row judged, and what was found about each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import chain

from verifier_service.console import BadInput
from verifier_service.engine.engine import Engine
from verifier_service.inspection.columns import solve_rate_of
from verifier_service.inspection.findings import FindingKind, RowFinding
from verifier_service.inspection.judging import KeptVerdicts, judge_probes, judge_rows
from verifier_service.inspection.prepared_row import PreparedRow, prepare
from verifier_service.inspection.probes import Probe, ProbeOptions
from verifier_service.inspection.repeated_rows import RepeatedProblem, RepeatedRows
from verifier_service.inspection.sources import DataSource, SourceRow
from verifier_service.inspection.verdict_findings import findings_of
from verifier_service.reference_formats.reading import AUTO
from verifier_service.reference_formats.reference_format import RowReading
from verifier_service.verifiers.accuracy import Accuracy

PAIRS_AT_ONCE = 64


@dataclass(frozen=True)
class InspectionOptions:
    """The options of an inspection."""

    probes: ProbeOptions
    reference_format: str = AUTO
    min_tests: int = 3


@dataclass
class Inspection:
    """Findings about the rows of a data set."""

    num_rows: int = 0
    formats: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Rows by format and verifier; both are empty where none fits."""
    findings: defaultdict[int, list[RowFinding]] = field(default_factory=lambda: defaultdict(list))
    """Findings by the row's position, from 0; a row without any has no entry."""
    solve_rates: list[float] = field(default_factory=list)
    """The solve rates of the rows that tell one."""
    num_programs: int = 0
    """Rows of programs."""
    num_unproven: int = 0
    """Rows of programs that have no solution of their own."""

    def is_unusable(self, index: int) -> bool:
        """Whether a row must not be trained on."""
        return any(one.kind.is_fatal for one in self.findings.get(index, ()))

    def is_left_out(self, index: int) -> bool:
        """Whether a row is unusable, or repeats an earlier one."""
        kinds = {one.kind for one in self.findings.get(index, ())}
        return FindingKind.DUPLICATE in kinds or self.is_unusable(index)

    @property
    def num_unusable(self) -> int:
        """Rows that must not be trained on."""
        return sum(map(self.is_unusable, self.findings))

    @property
    def num_kept(self) -> int:
        """Rows that `--write` writes."""
        return self.num_rows - sum(map(self.is_left_out, self.findings))

    def rows_by_kind(self) -> dict[FindingKind, list[int]]:
        """The positions of the rows with a finding of each kind, in the order of `FindingKind`."""
        found: defaultdict[FindingKind, list[int]] = defaultdict(list)
        for index in sorted(self.findings):
            for kind in {one.kind for one in self.findings[index]}:
                found[kind].append(index)
        return {kind: found[kind] for kind in FindingKind if kind in found}

    def message_of(self, index: int, kind: FindingKind) -> str:
        """The words of a finding about a row; empty where its kind says it all."""
        return next(one.message for one in self.findings[index] if one.kind is kind)

    def _add(self, row: PreparedRow, found: list[RowFinding]) -> None:
        self.num_rows += 1
        verifier = "" if row.reading is None else row.reading.verifier
        self.formats[row.format, verifier] += 1
        if verifier == "code":
            self.num_programs += 1
            names = [probe.name for probe in row.probes]
            self.num_unproven += "program_0" not in names
        rate = solve_rate_of(row.source.columns)
        if rate is not None:
            self.solve_rates.append(rate)
        if found:
            self.findings[row.index] += found


async def inspect_rows(
    engine: Engine,
    source: DataSource,
    options: InspectionOptions,
    *,
    kept: KeptVerdicts | None = None,
    on_judged: Callable[[], None] = lambda: None,
) -> Inspection:
    """Inspect every row of a source.

    Args:
        engine: judges.
        source: of the rows.
        options: of the command.
        kept: verdicts of an earlier run, and the place for new ones.
        on_judged: is called after each row.

    Raises:
        BadInput: the data cannot be read, or has no rows.
    """
    inspection, repeated = Inspection(), RepeatedRows()
    async with aclosing(judge_rows(engine, _prepared(source, options), kept)) as judged:
        async for row, verdicts in judged:
            inspection._add(row, findings_of(row, verdicts, min_tests=options.min_tests))
            # Else the one good row of a problem would be taken for the repetition of a bad one.
            if not inspection.is_unusable(row.index):
                repeated.add(row)
            on_judged()
    if not inspection.num_rows:
        raise BadInput(f"{source.data}: there are no rows")
    differing = await _differing(engine, repeated.repetitions)
    together = (repeated.repeated(differing), repeated.constant_answers(), repeated.odd_answers())
    for index, finding in chain(*together):
        inspection.findings[index].append(finding)
    return inspection


def _prepared(source: DataSource, options: InspectionOptions) -> Iterator[PreparedRow]:
    for row in source.rows():
        yield prepare(row, options.probes, options.reference_format)


async def _differing(engine: Engine, repetitions: list[RepeatedProblem]) -> set[int]:
    """The rows whose reference differs from that of the first row with their problem."""
    differing = {one.index for one in repetitions if one.differs}
    open_ones = [one for one in repetitions if one.differs is None]
    for start in range(0, len(open_ones), PAIRS_AT_ONCE):
        some = open_ones[start : start + PAIRS_AT_ONCE]
        for one, verdicts in zip(
            some, await judge_probes(engine, list(map(_question, some))), strict=True
        ):
            score = verdicts["pair"].score
            # Without a score one of the two references is bad, which is found by itself.
            if score is not None and score < 1:
                differing.add(one.index)
    return differing


def _question(one: RepeatedProblem) -> tuple[PreparedRow, list[Probe]]:
    """Whether the answer of a row is right for the first row with its problem."""
    reading = RowReading("accuracy", {"answer": list(one.first_answers)})
    source = SourceRow(one.index, {})
    row = PreparedRow(source, "", "", reading, (), (), "")
    answer = one.answers[0] if one.answers else ""
    return row, [Probe("pair", Accuracy(), f"\\boxed{{{answer}}}")]
