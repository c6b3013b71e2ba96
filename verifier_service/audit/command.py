"""The command `audit`."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer

from verifier_service import strict_json
from verifier_service.audit.audit import Audit, audit_rows
from verifier_service.audit.labels import quality_of, quality_text, read_labels
from verifier_service.audit.page import write_page
from verifier_service.audit.scored_rows import ScoredRow, main_source, read_scored
from verifier_service.audit.suspicions import DoubtedRow
from verifier_service.console import BadInput, fail, progress_bar
from verifier_service.engine.scheduler import Scheduler
from verifier_service.inspection.sources import check_outputs
from verifier_service.profiles import verifiers_from_arguments
from verifier_service.sandbox.layers import hide_process
from verifier_service.settings import EngineSettings
from verifier_service.settings_options import takes_settings
from verifier_service.verdict_store.store_error import StoreError
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.worker_pools import start_pools

MAX_SHOWN = 10
MAX_TEXT_CHARACTERS = 60
ScoredArgument = Annotated[
    Path,
    typer.Argument(
        metavar="SCORED",
        help="a file or folder of scored completions: a run of trainer-client, logged "
        "completions of TRL or verl, a store of verdicts with texts, any JSONL or Parquet",
    ),
]
RulesOption = Annotated[
    str | None,
    typer.Option(
        metavar="JSON",
        help='the verifier, of type accuracy, that judged, such as \'{"type": "accuracy", '
        '"tolerance": 0.01}\': its options are those of the second opinion; default: those that a '
        "store has, or none",
    ),
]
ChanceOption = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="rows to draw at random; precision and recall are measured on them",
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.jsonl", help="measure the verifier by the labels that the page saved"
    ),
]


@takes_settings(EngineSettings)
def audit(
    scored: ScoredArgument,
    *,
    source: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="verifier or column whose verdicts are audited"),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="the scored rows, of a result of verifier-service score"),
    ] = None,
    verifier: RulesOption = None,
    num: Annotated[int, typer.Option("--num", min=1, metavar="N", help="most doubted rows")] = 50,
    chance: ChanceOption = 50,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.jsonl", help="write the doubted rows")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="write a page for labelling them")
    ] = None,
    labels: LabelsOption = None,
    settings: EngineSettings,
) -> None:
    """List the verdicts of a run that are likely wrong, and why.

    Nothing is changed. With --labels nothing is judged: what a person found is measured.
    """
    hide_process()
    try:
        if labels is not None:
            print(quality_text(quality_of(*read_labels(labels))))  # noqa: T201
            return
        check_outputs(out, report, read=[scored, rows])
        found = read_scored(scored, rows)
        name = main_source(found, source)
        rules = None if verifier is None else _rules(verifier)
        result = asyncio.run(_audited(found, name, chance, rules, settings))
        print(summary_text(result, num))  # noqa: T201
        if out is not None:
            _write_rows(out, result.doubted[:num])
            print(f"{out}: {len(result.doubted[:num])} rows")  # noqa: T201
        if report is not None:
            write_page(report, scored.name, result, num)
            print(f"{report}: the page; y and n label its rows")  # noqa: T201
    except BrokenPipeError:
        raise  # of the output: no file is at fault
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else error)
    except (BadInput, StoreError) as error:
        fail(error)


def _rules(text: str) -> Accuracy:
    """The verifier in JSON. Raises BadInput."""
    try:
        [found] = verifiers_from_arguments([strict_json.loads(text)])
    except ValueError as error:
        raise BadInput(f"--verifier: {text!r}: {error}") from error
    if not isinstance(found, Accuracy):
        raise BadInput(f"--verifier: expected the type accuracy, found {found.type}")
    return found


async def _audited(
    rows: list[ScoredRow],
    source: str,
    chance: int,
    rules: Accuracy | None,
    settings: EngineSettings,
) -> Audit:
    async with AsyncExitStack() as stack:
        only = settings.model_copy(update={"enabled": ("accuracy",)})
        pools = await start_pools(only, stack)
        scheduler = Scheduler(pools, max_cached_verdicts=settings.max_cached_verdicts)
        progress = stack.enter_context(progress_bar())
        bar = progress.add_task("asking others", total=len(rows))
        return await audit_rows(
            scheduler,
            rows,
            source,
            num_chance=chance,
            rules=rules,
            on_judged=lambda number: progress.advance(bar, number),
        )


def summary_text(result: Audit, num: int) -> str:
    """The result in lines."""
    total = result.num_accepted + result.num_refused
    doubted = len(result.doubted)
    lines = [
        f"{result.num_rows} completions, {total} with a score of {result.source}: "
        f"{result.num_accepted} accepted, {result.num_refused} refused",
        f"doubted: {result.num_refusals_doubted} refusals, "
        f"{doubted - result.num_refusals_doubted} acceptances",
        *(f"{one.kind}: {one.message}" for one in result.findings),
    ]
    shown = min(num, MAX_SHOWN)
    lines += [_line(one) for one in result.doubted[:shown]]
    if doubted > shown:
        where = f"--report and --out have the first {num}" if num > shown else "raise --num"
        lines.append(f"... and {doubted - shown} more: {where}")
    return "\n".join(lines)


def _line(one: DoubtedRow) -> str:
    verdict = "accepted" if one.accepted else "refused"
    why = "; ".join(suspicion.message for suspicion in one.suspicions)
    answers = " | ".join(one.row.answers)
    pair = f"{_shown(one.answer)} for {_shown(answers)}"
    return f"  {one.weight:.2f} row {one.row.index + 1} {verdict}: {pair}: {_shown(why, 160)}"


def _shown(text: str, length: int = MAX_TEXT_CHARACTERS) -> str:
    plain = "".join(one if one.isprintable() else " " for one in text)
    return plain if len(plain) <= length else f"{plain[: length - 3]}..."


def _write_rows(path: Path, doubted: list[DoubtedRow]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for one in doubted:
            file.write(json.dumps(row_json(one)) + "\n")


def row_json(one: DoubtedRow) -> dict[str, object]:
    """A doubted row as a line of a file."""
    return {
        "row": one.row.index + 1,
        "step": one.row.step,
        "accepted": one.accepted,
        "weight": round(one.weight, 3),
        "why": [{"kind": each.kind, "message": each.message} for each in one.suspicions],
        "answer": one.answer,
        "reference": list(one.row.answers),
        "prompt": one.row.prompt,
        "completion": one.row.completion,
    }
