"""The command line of the service. Flags of `serve` and `score` are made from `settings`.

The module of a command is loaded when the command is run, or its help is shown: others need not
wait for it.
"""

from __future__ import annotations

import importlib
import select
import sys
from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple, NoReturn, TextIO

import typer
from typer.core import TyperGroup

import verifier_service
from verifier_service.console import example


class CommandSource(NamedTuple):
    """A command: where it is, and how it is used."""

    location: str
    """Its function, as `module:function`."""
    example: str


COMMANDS = {
    "serve": CommandSource(
        "verifier_service.commands.serve:serve",
        "verifier-service serve --port 9000 --enabled accuracy,format",
    ),
    "fleet": CommandSource(
        "verifier_service.commands.fleet:fleet",
        "verifier-service fleet --judges 2 --max-judges 4",
    ),
    "doctor": CommandSource(
        "verifier_service.commands.doctor:doctor",
        "verifier-service doctor --require landlock,seccomp,user",
    ),
    "check-tests": CommandSource(
        "verifier_service.commands.check_tests:check_tests",
        "verifier-service check-tests problems.jsonl --language cpp",
    ),
    "score": CommandSource(
        "verifier_service.commands.score:score",
        "verifier-service score rows.jsonl --verifier accuracy --out scored.jsonl",
    ),
    "inspect": CommandSource(
        "verifier_service.inspection.command:inspect",
        "verifier-service inspect problems.jsonl --report report.html --write clean.jsonl",
    ),
    "audit": CommandSource(
        "verifier_service.audit.command:audit",
        "verifier-service audit runs/first --report audit.html",
    ),
    "replay": CommandSource(
        "verifier_service.history.command:replay_store",
        "verifier-service replay verdicts --out changes.jsonl",
    ),
    "query": CommandSource(
        "verifier_service.history.command:query",
        "verifier-service query --store verdicts "
        '"SELECT verifier, reason, count(*) FROM verdicts GROUP BY ALL"',
    ),
    "verifiers": CommandSource(
        "verifier_service.commands.verifiers:verifiers",
        "verifier-service verifiers accuracy",
    ),
    "openapi": CommandSource(
        "verifier_service.commands.openapi:openapi",
        "verifier-service openapi > openapi.json",
    ),
    "new-key": CommandSource(
        "verifier_service.commands.new_key:make_key",
        "verifier-service new-key",
    ),
}


class Commands(TyperGroup):
    """Commands that end quietly, with status 1, when nobody reads their output, as under `head`.

    Typer takes every broken pipe for that of the output; one of another process is a bug.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command and flush what it printed, while Typer still catches the error."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            if not _is_broken(sys.stdout):
                raise RuntimeError("a pipe to another process broke") from error
            raise
        return result


def _is_broken(output: TextIO) -> bool:
    poll = select.poll()
    poll.register(output.fileno(), 0)  # a broken pipe is reported unasked
    return bool(poll.poll(0))


def run(arguments: list[str], app: typer.Typer | None = None) -> NoReturn:
    """Run the command line and end the process; without arguments the help is shown.

    Args:
        arguments: those behind the name of the program.
        app: the command line with the command that they name; None: it is made here.
    """
    app = app or app_for(arguments)
    app(args=arguments or ["--help"], prog_name="verifier-service")
    raise AssertionError("typer ends the process")


def app_for(arguments: list[str]) -> typer.Typer:
    """The command line with the one command that arguments name, or with all. Loads modules."""
    asked = [name for name in arguments[:1] if name in COMMANDS]
    return make_app(asked or COMMANDS)


def make_app(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands, whose modules are loaded."""
    app = typer.Typer(
        cls=Commands,
        help="A reward verifier: judges model completions, in batches, over HTTP.",
        rich_markup_mode=None,  # plain text, in which commands can be copied from lines
        pretty_exceptions_enable=False,
        epilog=example("verifier-service serve --port 8080"),
    )
    app.callback()(_options)
    for name in names:
        module, _, function = COMMANDS[name].location.partition(":")
        command = getattr(importlib.import_module(module), function)
        app.command(name=name, epilog=example(COMMANDS[name].example))(command)
    return app


def _show_version(asked: bool) -> None:
    if asked:
        print(f"verifier-service {verifier_service.__version__}")  # noqa: T201
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="show the version"),
    ] = False,
) -> None:
    pass
