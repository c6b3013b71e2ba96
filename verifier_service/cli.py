"""The command line of the service. Flags and environment are one thing: `Settings`."""

from __future__ import annotations

import asyncio
import sys

import uvicorn
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_settings import CliApp, CliSubCommand, SettingsConfigDict

from verifier_service.app import create_app
from verifier_service.sandbox.doctor import diagnose
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer
from verifier_service.sandbox.layers import hide_process
from verifier_service.settings import Settings

KEEP_ALIVE_SECONDS = 75
"""Longer than a trainer's pause between requests, so that it can use its connections again."""


class Serve(Settings):
    """Serve the scoring API. Each flag is also an environment variable, such as VERIFIER_PORT."""

    model_config = SettingsConfigDict(use_attribute_docstrings=True)

    def cli_cmd(self) -> None:
        """Serve until SIGINT or SIGTERM."""
        hide_process()
        uvicorn.run(
            create_app(self),
            host=self.host,
            port=self.port,
            log_level=self.log_level,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )


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


class VerifierService(BaseModel):
    """A reward verifier: judges model completions, in batches, over HTTP."""

    serve: CliSubCommand[Serve]
    doctor: CliSubCommand[Doctor]

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
