"""Defects planted in synthetic data sets: how many an inspection finds, and what else it names."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.planted_defects import DATA_SETS, PlantedRow, data_set, mostly_yes
from verifier_service.engine.scheduler import Scheduler
from verifier_service.inspection.inspection import Inspection, InspectionOptions, inspect_rows
from verifier_service.inspection.probes import ProbeOptions
from verifier_service.inspection.sources import DataSource
from verifier_service.settings import EngineSettings
from verifier_service.worker_pools import start_pools

SEED = 24
MIN_FOUND = 0.95
MAX_NAMED = 0.02
OPTIONS = InspectionOptions(ProbeOptions("boxed", "python", slow_seconds=0.2))


def data_sets() -> dict[str, list[PlantedRow]]:
    return {name: data_set(name, SEED) for name in DATA_SETS} | {"yes": mostly_yes(SEED)}


async def inspect_all(folder: Path) -> dict[str, Inspection]:
    async with AsyncExitStack() as stack:
        pools = await start_pools(EngineSettings(workers=1, code_workers=2), stack)
        scheduler = Scheduler(pools, max_cached_verdicts=0)
        found = {}
        for name, rows in data_sets().items():
            path = folder / f"{name}.jsonl"
            path.write_text("".join(f"{one.line}\n" for one in rows))
            found[name] = await inspect_rows(scheduler, DataSource(str(path)), OPTIONS)
        return found


@pytest.mark.slow
def test_planted_defects_are_found_and_sound_rows_are_not_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inspections = asyncio.run(inspect_all(tmp_path))
    lines, missed, named = [], [], []
    num_planted = num_sound = 0
    for name, rows in data_sets().items():
        inspection = inspections[name]
        assert inspection.num_rows == len(rows)
        for index, one in enumerate(rows):
            kinds = {finding.kind.value for finding in inspection.findings.get(index, ())}
            num_planted += bool(one.kinds)
            num_sound += not one.kinds
            if one.kinds and not one.kinds & kinds:
                missed.append((name, index + 1, sorted(one.kinds), sorted(kinds), one.line[:300]))
            if not one.kinds and kinds:
                named.append((name, index + 1, sorted(kinds), one.line[:300]))
        lines.append(f"{name}: {len(rows)} rows, {inspection.num_unusable} unusable")
    found = num_planted - len(missed)
    lines.append(f"planted defects: {found} of {num_planted} found")
    lines.append(f"sound rows: {len(named)} of {num_sound} named")
    with capsys.disabled():
        print("", *lines, *missed, *named, sep="\n")  # noqa: T201
    assert num_planted >= 300
    assert found >= MIN_FOUND * num_planted
    assert len(named) <= MAX_NAMED * num_sound
