"""Verdicts on the probes of rows, judged by the worker pools and kept in a file.

A line of the file is a row: its index, the hash of what was judged, and the verdict on each probe.
A run that ended early goes on behind the last whole line.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from verifier_service.console import BadInput
from verifier_service.engine.engine import Engine
from verifier_service.engine.in_flight import in_flight
from verifier_service.engine.mixed_scoring import scoring_of
from verifier_service.inspection.prepared_row import PreparedRow
from verifier_service.inspection.probes import Probe
from verifier_service.schemas import Group, ScoreRequest
from verifier_service.verdict import Outcome, Verdict

ROWS_PER_REQUEST = 32
MAX_OUTPUT_CHARACTERS = 200
_KEPT_DETAILS = ("message", "output", "expected", "first_failed", "passed", "total")


class ProbeVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The verdict on a probe."""

    outcome: Outcome
    reason: str
    score: float | None = None
    extracted: str | None = None
    details: dict[str, Any] = {}


ProbeVerdicts = dict[str, ProbeVerdict]
"""Verdicts by the names of the probes."""


class JudgedRow(msgspec.Struct, frozen=True):
    """A line of the file."""

    row: int
    digest: str
    verdicts: ProbeVerdicts


_decoder = msgspec.json.Decoder(JudgedRow)
_BEGIN = b'{"row":'
"""The begin of each line; a last line without it is of another file, which must not be cut."""


class KeptVerdicts:
    """The verdicts of an earlier run, in the order of the rows, and the file for those to come.

    Args:
        path: of the file; what is broken or has failed, and all behind it, is cut off.

    Raises:
        BadInput: the file is of something else.
        OSError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        path.open("ab").close()
        self._path = path
        self.num_rows, end = _usable_part(path)
        with path.open("r+b") as file:
            file.truncate(end)
        self._earlier = path.open("rb")
        self._left = self.num_rows
        self._file: BinaryIO = path.open("ab")

    def of(self, row: PreparedRow) -> ProbeVerdicts | None:
        """The verdicts of the next row; None where it has not been judged.

        Raises:
            BadInput: the file has another row there.
        """
        if not self._left:
            return None
        self._left -= 1
        found = _decoder.decode(self._earlier.readline())
        if (found.row, found.digest) != (row.index, row.digest):
            raise BadInput(
                f"{self._path}: line {row.index + 1} is of other rows or options; choose another "
                "--verdicts or delete it"
            )
        return found.verdicts

    def keep(self, row: PreparedRow, verdicts: ProbeVerdicts) -> None:
        """Append the verdicts of a row."""
        self._file.write(msgspec.json.encode(JudgedRow(row.index, row.digest, verdicts)) + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._earlier.close()
        self._file.close()


def _usable_part(path: Path) -> tuple[int, int]:
    """Number and bytes of the lines before the first that is cut off or has failed verdicts."""
    num_rows = end = 0
    with path.open("rb") as file:
        for line in file:
            if line.startswith(_BEGIN) and not line.endswith(b"\n"):
                break
            try:
                found = _decoder.decode(line)
            except msgspec.DecodeError as error:
                raise BadInput(
                    f"{path}: line {num_rows + 1} is not of an earlier run; choose another "
                    "--verdicts or delete it"
                ) from error
            if any(one.outcome is Outcome.FAILED for one in found.verdicts.values()):
                break
            num_rows, end = num_rows + 1, end + len(line)
    return num_rows, end


async def judge_rows(
    engine: Engine, rows: Iterable[PreparedRow], kept: KeptVerdicts | None
) -> AsyncGenerator[tuple[PreparedRow, ProbeVerdicts], None]:
    """The rows with the verdicts on their probes, in order.

    Args:
        engine: judges.
        rows: are read as they are needed.
        kept: verdicts of an earlier run; None: none are kept.
    """
    batches = iter(partial(_next, iter(rows), kept), [])
    async with in_flight(_judged(engine, batch) for batch in batches) as judged:
        async for batch in judged:
            for row, verdicts, is_new in batch:
                if kept is not None and is_new:
                    kept.keep(row, verdicts)
                yield row, verdicts


_Batch = list[tuple[PreparedRow, ProbeVerdicts | None]]


def _next(rows: Iterator[PreparedRow], kept: KeptVerdicts | None) -> _Batch:
    """The next rows, with the verdicts that an earlier run has on them."""
    return [(row, None if kept is None else kept.of(row)) for row in islice(rows, ROWS_PER_REQUEST)]


async def _judged(engine: Engine, batch: _Batch) -> list[tuple[PreparedRow, ProbeVerdicts, bool]]:
    """Each row with its verdicts, and whether they are new."""
    new = [row for row, verdicts in batch if verdicts is None]
    found = await judge_probes(engine, [(row, list(row.probes)) for row in new])
    verdicts_of = {row.index: verdicts for row, verdicts in zip(new, found, strict=True)}
    return [
        (row, verdicts_of[row.index] if verdicts is None else verdicts, verdicts is None)
        for row, verdicts in batch
    ]


async def judge_probes(
    engine: Engine, work: list[tuple[PreparedRow, list[Probe]]]
) -> list[ProbeVerdicts]:
    """The verdicts on the probes of each row."""
    places: list[tuple[int, list[Probe]]] = []
    groups = []
    for number, (row, probes) in enumerate(work):
        for some in _by_verifier(probes):
            assert row.reading is not None, "a row without a reference has no probes"
            places.append((number, some))
            groups.append(_group(row.reading.reference, some))
    found: list[ProbeVerdicts] = [{} for _ in work]
    if groups:
        request = ScoreRequest.model_construct(verifiers=[], groups=groups)
        scored = await scoring_of(request, engine).run(math.inf)
        for (number, some), verdicts in zip(places, scored.groups, strict=True):
            for probe, one in zip(some, verdicts, strict=True):
                found[number][probe.name] = _kept(one[probe.verifier.key])
    return found


def _by_verifier(probes: Iterable[Probe]) -> Iterable[list[Probe]]:
    """The probes in lists of one verifier, so that a large reference is sent once for each."""
    found: dict[str, list[Probe]] = {}
    for probe in probes:
        found.setdefault(probe.verifier.model_dump_json(), []).append(probe)
    return found.values()


def _group(reference: dict[str, Any], probes: list[Probe]) -> Group:
    return Group.model_construct(
        reference=reference,
        completions=[probe.completion for probe in probes],
        verifiers=[probes[0].verifier],
    )


def _kept(verdict: Verdict) -> ProbeVerdict:
    details = {key: value for key, value in (verdict.details or {}).items() if key in _KEPT_DETAILS}
    shown = {
        key: value[:MAX_OUTPUT_CHARACTERS] if isinstance(value, str) else value
        for key, value in details.items()
    }
    extracted = verdict.extracted and verdict.extracted[:MAX_OUTPUT_CHARACTERS]
    return ProbeVerdict(verdict.outcome, verdict.reason, verdict.score, extracted, shown)
