"""The commands `replay` and `query`."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from verifier_service.console import fail, progress_bar
from verifier_service.engine.scheduler import Scheduler
from verifier_service.history.query import TableFormat, answer
from verifier_service.history.replay import (
    HASHES_ONLY,
    Change,
    ReplayFilter,
    ReplayResult,
    explained,
    replay,
    summary_text,
)
from verifier_service.model_judge.start import start_models
from verifier_service.proofs.lean_start import start_lean
from verifier_service.sandbox.layers import hide_process
from verifier_service.settings import EngineSettings
from verifier_service.settings_options import takes_settings
from verifier_service.validation import did_you_mean
from verifier_service.verdict_store.store_error import StoreError
from verifier_service.verdict_store.stored_files import stored_files
from verifier_service.verifiers import VERIFIERS
from verifier_service.worker_pools import start_pools

MAX_EXPLAINED = 200
"""Most changes for which the judge is asked how it came to its verdict."""
MAX_SHOWN = 10
QUERY_MEMORY_BYTES = 2**31

StoreArgument = Annotated[
    Path,
    typer.Argument(
        metavar="STORE",
        help="folder of VERIFIER_STORE, with the texts that VERIFIER_STORE_TEXTS=text keeps",
    ),
]
TypesOption = Annotated[
    list[str] | None,
    typer.Option(metavar="TYPE", help="only verdicts of this verifier; may be repeated"),
]
SinceOption = Annotated[
    datetime | None, typer.Option(help="only verdicts from this time on, in UTC")
]
ChangesOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE.jsonl", help="write each change, with both verdicts and why"),
]


@takes_settings(EngineSettings)
def replay_store(
    store: StoreArgument,
    *,
    verifier: TypesOption = None,
    since: SinceOption = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="judge about so many verdicts only")
    ] = None,
    out: ChangesOption = None,
    settings: EngineSettings,
) -> None:
    """Judge stored verdicts again, and list what has changed.

    This version judges; equal questions are judged once. The status is 1 if a score or an outcome
    has changed or a verdict failed, 2 if nothing can be judged again.
    """
    hide_process()
    try:
        chosen = ReplayFilter(_types(verifier or []), _in_utc(since), limit)
        if not stored_files(store):
            raise StoreError(f"{store}: no verdicts; VERIFIER_STORE={store} keeps those of `serve`")
        found = asyncio.run(_replayed(store, chosen, settings, out))
    except StoreError as error:
        fail(error)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else error)
    print(summary_text(found))  # noqa: T201
    for change in islice((one for one in found.changes if one.changes_score), MAX_SHOWN):
        print(_shown(change))  # noqa: T201
    if out is not None:
        print(f"changes written to {out}: {len(found.changes)}")  # noqa: T201
    if not found.judged:
        fail(_nothing(store, found))
    raise typer.Exit(found.has_changes or bool(found.num_failed))


def _nothing(store: Path, found: ReplayResult) -> str:
    if not found.left_out:
        return f"{store}: no verdicts to judge again"
    why = HASHES_ONLY if HASHES_ONLY in found.left_out else found.left_out.most_common(1)[0][0]
    return f"{store}: nothing can be judged again: {why}"


def _types(given: list[str]) -> frozenset[str]:
    for one in given:
        if one not in VERIFIERS:
            raise StoreError(f"--verifier: no verifier {one!r}{did_you_mean(one, VERIFIERS)}")
    return frozenset(given)


def _in_utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)


def _shown(change: Change) -> str:
    row = change.row
    answers = f"{row['extracted']!r}, now {change.verdict.extracted!r}"
    return f"{row['verifier']}: {change.kind}: found {answers} for {row['reference'][:100]}"


async def _replayed(
    store: Path, chosen: ReplayFilter, settings: EngineSettings, out: Path | None
) -> ReplayResult:
    async with AsyncExitStack() as stack:
        file = None if out is None else stack.enter_context(out.open("w", encoding="utf-8"))
        pools = await start_pools(settings, stack)
        models = await start_models(settings, stack)
        lean = await start_lean(settings, stack)
        scheduler = Scheduler(pools, max_cached_verdicts=0, model=models, lean=lean)
        progress = stack.enter_context(progress_bar())
        bar = progress.add_task("judging again", total=None)
        found = await replay(scheduler, store, chosen, lambda number: progress.advance(bar, number))
        if file is not None:
            async for change in explained(scheduler, found.changes[:MAX_EXPLAINED]):
                file.write(json.dumps(change.as_json()) + "\n")
            for change in found.changes[MAX_EXPLAINED:]:
                file.write(json.dumps(change.as_json()) + "\n")
        return found


def query(
    sql: Annotated[
        str,
        typer.Argument(
            metavar="SQL",
            help="a statement about the table `verdicts`; DESCRIBE verdicts lists its columns",
        ),
    ],
    store: Annotated[
        Path,
        typer.Option(envvar="VERIFIER_STORE", metavar="STORE", help="folder of the verdicts"),
    ],
    form: Annotated[TableFormat, typer.Option("--format", help="form of the rows")] = "table",
) -> None:
    """Ask the stored verdicts a question in SQL, by DuckDB."""
    try:
        answer(sql, store, form=form, memory_bytes=QUERY_MEMORY_BYTES, output=sys.stdout)
    except BrokenPipeError:
        raise  # of the output
    except StoreError as error:
        fail(error)
