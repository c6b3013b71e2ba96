"""The command `inspect`."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer

from verifier_service.code.languages.language import LanguageName
from verifier_service.console import BadInput, fail, progress_bar
from verifier_service.engine.scheduler import Scheduler
from verifier_service.inspection.inspection import (
    Inspection,
    InspectionOptions,
    inspect_rows,
)
from verifier_service.inspection.judging import KeptVerdicts
from verifier_service.inspection.probes import AnswerFormat, ProbeOptions
from verifier_service.inspection.report import write_report
from verifier_service.inspection.row_files import ROW_SUFFIXES, write_clean, write_findings
from verifier_service.inspection.sources import DataSource, check_outputs
from verifier_service.inspection.summary import summary_of, summary_text
from verifier_service.reference_formats.reading import AUTO, FORMATS, unknown_format
from verifier_service.sandbox.layers import hide_process
from verifier_service.settings import EngineSettings
from verifier_service.settings_options import takes_settings
from verifier_service.worker_pools import start_pools

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="a .jsonl, .json or .parquet file, a folder of `datasets`, or the name of a data "
        "set on the Hugging Face hub, which is streamed",
    ),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COLUMN",
        help="read a column under a name that docs/datasets.md knows: prompt=task or "
        "answer=gold; may be repeated",
    ),
]
FormatOption = Annotated[
    str, typer.Option(help="format of the references, of docs/datasets.md; auto: what fits")
]
AnswerFormatOption = Annotated[
    AnswerFormat, typer.Option(help="form in which completions will give answers")
]
LanguageOption = Annotated[
    LanguageName, typer.Option(help="language of programs whose rows name none")
]
SlowOption = Annotated[
    float, typer.Option(min=0.05, max=4, help="CPU time from which a test of a program is slow")
]
LimitOption = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="inspect the first rows only")
]
FindingsOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="write rows with findings: .jsonl or .parquet"),
]
WriteOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="write the usable rows for the trainer, TRL and verl: .jsonl or .parquet",
    ),
]
ReportOption = Annotated[
    Path | None, typer.Option(metavar="FILE.html", help="write a page about the findings")
]
VerdictsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.jsonl",
        help="where verdicts go; rows that it has already are not judged again",
    ),
]


@takes_settings(EngineSettings)
def inspect(
    data: DataArgument,
    *,
    split: Annotated[
        str, typer.Option(help="split to read, of a folder or of a data set on the hub")
    ] = "train",
    subset: Annotated[
        str | None, typer.Option(help="subset to read, of a data set on the hub")
    ] = None,
    column: ColumnOption = None,
    reference_format: FormatOption = AUTO,
    answer_format: AnswerFormatOption = "boxed",
    language: LanguageOption = "python",
    min_tests: Annotated[int, typer.Option(min=1, help="fewest tests of a program")] = 3,
    slow_seconds: SlowOption = 1.0,
    limit: LimitOption = None,
    findings: FindingsOption = None,
    write: WriteOption = None,
    report: ReportOption = None,
    verdicts: VerdictsOption = None,
    settings: EngineSettings,
) -> None:
    """Find what is wrong with a data set before training on it.

    Judges each row's own reference and solution, and tells what is unusable. The status is 1 if a
    row is unusable, 2 if nothing can be inspected.
    """
    hide_process()
    try:
        source = DataSource(data, split, subset, _renamed(column or []), limit)
        source.check()
        check_outputs(findings, write, report, verdicts, read=[data])
        _check_formats(findings, write)
        if reference_format not in (AUTO, *FORMATS):
            raise BadInput(f"--reference-format: {unknown_format(reference_format)}")
        probes = ProbeOptions(answer_format, language, slow_seconds, frozenset(settings.enabled))
        options = InspectionOptions(probes, reference_format, min_tests)
        inspection = asyncio.run(_inspected(source, options, verdicts, settings))
        print(summary_text(summary_of(inspection)))  # noqa: T201
        if report is not None:
            write_report(report, source, inspection)
            print(f"{report}: the page")  # noqa: T201
        _write_files(source, inspection, options, findings=findings, clean=write)
    except BrokenPipeError:
        raise  # of the output: no file is at fault
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else error)
    except BadInput as error:
        fail(error)
    raise typer.Exit(bool(inspection.num_unusable))


def _check_formats(*paths: Path | None) -> None:
    """Raise BadInput for the name of a file of rows that promises another format."""
    for path in paths:
        if path is not None and path.suffix not in ROW_SUFFIXES:
            raise BadInput(f"{path}: rows are written as {' or '.join(ROW_SUFFIXES)}")


def _renamed(columns: list[str]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for text in columns:
        name, sign, column = text.partition("=")
        if not (sign and name.strip() and column.strip()):
            raise BadInput(f"--column: found {text!r}, expected NAME=COLUMN such as answer=gold")
        pairs.append((name.strip(), column.strip()))
    return tuple(pairs)


async def _inspected(
    source: DataSource, options: InspectionOptions, verdicts: Path | None, settings: EngineSettings
) -> Inspection:
    kept = None if verdicts is None else KeptVerdicts(verdicts)
    async with AsyncExitStack() as stack:
        if kept is not None:
            stack.callback(kept.close)
        pools = await start_pools(settings, stack)
        scheduler = Scheduler(pools, max_cached_verdicts=settings.max_cached_verdicts)
        progress = stack.enter_context(progress_bar())
        bar = progress.add_task("inspecting", total=source.max_rows)
        return await inspect_rows(
            scheduler, source, options, kept=kept, on_judged=lambda: progress.advance(bar)
        )


def _write_files(
    source: DataSource,
    inspection: Inspection,
    options: InspectionOptions,
    *,
    findings: Path | None,
    clean: Path | None,
) -> None:
    total = inspection.num_rows
    if findings is not None:
        number = write_findings(findings, source, inspection)
        print(f"{findings}: {number} of {total} rows, with findings")  # noqa: T201
    if clean is not None:
        number = write_clean(clean, source, inspection, options)
        print(f"{clean}: {number} of {total} rows, usable")  # noqa: T201
