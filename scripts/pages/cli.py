"""The page of the commands, made from what both command lines declare."""

from __future__ import annotations

import inspect
from typing import Any

import typer
from pydantic_settings import BaseSettings

from scripts.pages.markdown import code, page, prose, session, table
from verifier_service.fleet.settings import FleetSettings
from verifier_service.settings import EngineSettings, Settings
from verifier_service.settings_options import metavar

HEAD = """
Two commands come with the package: `verifier-service` (extra `service`) and `trainer-client`
(extra `trainer`). Each command says with `--help` what stands here. [Scoring](scoring.md) and
[Training](training.md) show them at work, [Settings of the service](service-settings.md) and
[Settings of the trainer](training-settings.md) have what both are told by variables and files."""

SETTINGS = "service-settings.md"
ALL_SETTINGS: tuple[tuple[type[BaseSettings], str], ...] = (
    (FleetSettings, f"[setting of the service]({SETTINGS})"),
    (Settings, f"[setting of the service]({SETTINGS}) but those of [a fleet]({SETTINGS}#a-fleet)"),
    (
        EngineSettings,
        f"setting of [judging]({SETTINGS}#judging), of [models that judge]"
        f"({SETTINGS}#models-that-judge) and of [proofs in Lean]({SETTINGS}#proofs-in-lean)",
    ),
)
"""Settings that commands take as options, the most first, and what they are called."""


def cli_page(apps: dict[str, typer.Typer], *, shown: tuple[str, str]) -> str:
    """Every command with its arguments and options.

    Args:
        apps: the command lines by name.
        shown: a command and its output, with which the page begins.
    """
    sections = (program_section(*one) for one in apps.items())
    return page("# Commands", session(*shown), HEAD, *sections)


def program_section(name: str, app: typer.Typer) -> str:
    """The commands of one command line."""
    group: Any = typer.main.get_command(app)
    commands = [_command(name, one) for one in group.commands.values()]
    return "\n\n".join([f"## {name}", prose(group.help), *commands])


def _command(program: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    usage = [_shown(one) if one.required else f"[{_shown(one)}]" for one in arguments]
    names = {one.name for one in command.params}
    settings = [(model, told) for model, told in ALL_SETTINGS if model.model_fields.keys() <= names]
    of_settings = settings[0][0].model_fields.keys() if settings else ()
    parts = [
        f"### {program} {command.name}",
        f"```\n{' '.join([program, command.name, *usage])}\n```",
        *(prose(part) for part in command.help.split("\n\n")),
        table(
            ("argument or option", "default", "meaning"),
            (
                option_row(one, _annotation(command, one.name))
                for one in command.params
                if one.name != "help" and one.name not in of_settings
            ),
        ),
    ]
    if settings:
        parts.append(f"Each {settings[0][1]} is an option, too.")
    if command.epilog:
        parts.append("Example:\n\n```\n" + command.epilog.rpartition("\n")[2].strip() + "\n```")
    return "\n\n".join(part for part in parts if part)


def _annotation(command: Any, name: str) -> Any:
    """The type of a parameter, as the command's function declares it."""
    return inspect.signature(command.callback, eval_str=True).parameters[name].annotation


def option_row(parameter: Any, annotation: Any = str) -> tuple[str, str, str]:
    """An argument or option as it is typed, its default and its meaning.

    Args:
        parameter: as Typer has it.
        annotation: its type, for one without a placeholder of its own.
    """
    words = " ".join((parameter.help or "").split())
    meaning, _, default = words.partition("; default: ")
    if parameter.required:
        default = "required"
    elif parameter.default:
        default = code(str(parameter.default))
    return code(_shown(parameter, annotation)), prose(default), prose(meaning)


def _shown(parameter: Any, annotation: Any = str) -> str:
    """A parameter as it is typed: `--num N`, `--format csv|jsonl`, `--resume`, `CONFIG.yaml`."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper()).replace("|", " or ")
    (name,) = parameter.opts
    return str(name) if parameter.is_flag else f"{name} {parameter.metavar or metavar(annotation)}"
