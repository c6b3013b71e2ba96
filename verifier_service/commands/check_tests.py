"""The command `check-tests`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from verifier_service.code.check_tests import (
    BadRows,
    Misfit,
    Row,
    find_misfits,
    misfit_summary,
    read_rows,
)
from verifier_service.code.languages.language import LanguageName
from verifier_service.console import fail, input_file, input_name, progress_bar
from verifier_service.sandbox.execution import SandboxError
from verifier_service.sandbox.layers import hide_process
from verifier_service.usable_resources import usable_cores
from verifier_service.verifiers.code import Code


def check_tests(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.jsonl",
            help="each row has a solution, bare or in a fenced block, and tests as in "
            "reference.tests: an object of type stdio (with cases), function (entry_point, cases) "
            "or asserts (code, entry_point, module), or with inputs and outputs; see docs/code.md; "
            "- is standard input",
        ),
    ],
    solution_column: Annotated[str, typer.Option(help="column of the solutions")] = "solution",
    tests_column: Annotated[str, typer.Option(help="column of the tests")] = "tests",
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="programs at the same time; default: the usable CPU cores"
        ),
    ] = None,
    language: Annotated[LanguageName, typer.Option(help="language of the solutions")] = "python",
) -> None:
    """Judge reference solutions by their own tests.

    Lists those that fail. The status is 1 if one fails, 2 if nothing can be checked.
    """
    hide_process()
    try:
        rows = read_rows(
            input_file(file), solution_column=solution_column, tests_column=tests_column
        )
        misfits = asyncio.run(_find_misfits(rows, language, workers or usable_cores()))
    except (BadRows, OSError, UnicodeDecodeError, SandboxError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        fail(f"{input_name(file)}: {why or error}")
    for misfit in misfits:
        print(misfit)  # noqa: T201
    print(misfit_summary(len(rows), misfits))  # noqa: T201
    raise typer.Exit(bool(misfits))


async def _find_misfits(rows: list[Row], language: LanguageName, num_workers: int) -> list[Misfit]:
    with progress_bar() as progress:
        bar = progress.add_task("judging", total=len(rows))
        return await find_misfits(
            rows,
            verifier=Code(language=language, reveal_expected=True),
            num_workers=num_workers,
            on_judged=lambda: progress.advance(bar),
        )
