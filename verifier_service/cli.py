"""The command line of the service. Flags and environment are one thing: `Settings`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import CliApp, CliPositionalArg, CliSubCommand, SettingsConfigDict
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from verifier_service.code.reference_check import (
    BadRows,
    Misfit,
    Row,
    find_misfits,
    read_rows,
    summary,
)
from verifier_service.sandbox.doctor import diagnose
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer, SandboxError
from verifier_service.sandbox.layers import hide_process
from verifier_service.server import serve
from verifier_service.settings import Settings, usable_cores
from verifier_service.verifiers.code import Code


class Serve(Settings):
    """Serve the scoring API. Each flag is also an environment variable, such as VERIFIER_PORT."""

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    def cli_cmd(self) -> None:
        """Serve until SIGINT or SIGTERM."""
        hide_process()
        serve(self)


class Doctor(BaseModel):
    """Check the sandbox: print its layers, and try what must not be possible in it."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    require: tuple[Layer, ...] = tuple(sorted(COMMON_LAYERS))
    """layers that must be in force, separated by commas"""

    def cli_cmd(self) -> None:
        """Print what is found; end with status 1 if a layer is missing or a check fails."""
        diagnosis = asyncio.run(diagnose(required=frozenset(self.require)))
        print(diagnosis)  # noqa: T201
        sys.exit(not diagnosis.is_healthy)


class CheckTests(BaseModel):
    """Judge the reference solutions of a data set by its own tests, and list those that fail."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    file: CliPositionalArg[Path]
    """JSONL: each row has a solution, bare or in a fenced block, and tests as in reference.tests"""
    solution_column: str = "solution"
    """column of the reference solutions"""
    tests_column: str = "tests"
    """column of the tests"""
    workers: Annotated[int, Field(gt=0, default_factory=usable_cores)]
    """programs at the same time; default: the usable CPU cores"""
    language: Literal["python", "cpp"] = "python"
    """language of the solutions"""

    def cli_cmd(self) -> None:
        """Print the misfits; end with status 1 if there are any, 2 if nothing can be checked."""
        hide_process()
        try:
            rows = read_rows(
                self.file, solution_column=self.solution_column, tests_column=self.tests_column
            )
            misfits = asyncio.run(self._find_misfits(rows))
        except (BadRows, OSError, UnicodeDecodeError, SandboxError) as error:
            print(f"{self.file}: {error}", file=sys.stderr)  # noqa: T201
            sys.exit(2)
        for misfit in misfits:
            print(misfit)  # noqa: T201
        print(summary(len(rows), misfits))  # noqa: T201
        sys.exit(bool(misfits))

    async def _find_misfits(self, rows: list[Row]) -> list[Misfit]:
        verifier = Code(language=self.language, reveal_expected=True)
        columns = (*Progress.get_default_columns(), MofNCompleteColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task("judging", total=len(rows))
            return await find_misfits(
                rows,
                verifier=verifier,
                num_workers=self.workers,
                on_judged=lambda: progress.advance(bar),
            )


class VerifierService(BaseModel):
    """A reward verifier: judges model completions, in batches, over HTTP."""

    serve: CliSubCommand[Serve]
    doctor: CliSubCommand[Doctor]
    check_tests: CliSubCommand[CheckTests]

    def cli_cmd(self) -> None:
        """Run the subcommand."""
        CliApp.run_subcommand(self)


def run(arguments: list[str] | None = None) -> None:
    """Run the command line; ends the process with a message when a setting is wrong."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        CliApp.run(VerifierService, cli_args=arguments or ["--help"])
    except ValidationError as error:
        for problem in error.errors():
            name = str(problem["loc"][-1]) if problem["loc"] else "settings"
            flag, variable = f"--{name.replace('_', '-')}", f"VERIFIER_{name.upper()}"
            found = f" (found {problem['input']!r})"[:200]
            print(f"{flag} / {variable}: {problem['msg']}{found}", file=sys.stderr)  # noqa: T201
        sys.exit(2)
