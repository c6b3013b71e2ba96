"""The page of the commands, made from what both command lines declare."""

from __future__ import annotations

from typing import Any

import typer

from scripts.pages.markdown import code, page, prose, session, table

HEAD = """
Two commands come with the package: `verifier-service` (extra `service`) and `trainer-client`
(extra `trainer`). Each command says with `--help` what stands here. [Scoring](scoring.md) and
[Training](training.md) show them at work, [Configuration](configuration.md) has the variables of
the service and the keys of the trainer's file."""


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
    parts = [
        f"### {program} {command.name}",
        f"```\n{' '.join([program, command.name, *usage])}\n```",
        *(prose(part) for part in command.help.split("\n\n")),
        table(
            ("argument or option", "default", "meaning"),
            (_row(one) for one in command.params if one.name != "help"),
        ),
    ]
    if command.epilog:
        parts.append("Example:\n\n```\n" + command.epilog.rpartition("\n")[2].strip() + "\n```")
    return "\n\n".join(part for part in parts if part)


def _row(parameter: Any) -> tuple[str, str, str]:
    words = " ".join((parameter.help or "").split())
    meaning, _, default = words.partition("; default: ")
    if parameter.required:
        default = "required"
    elif parameter.default:
        default = code(str(parameter.default))
    return code(_shown(parameter)), prose(default), prose(meaning)


def _shown(parameter: Any) -> str:
    """A parameter as it is typed: `--num VALUE`, `--resume`, `CONFIG.yaml`."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper()).replace("|", " or ")
    (name,) = parameter.opts
    if parameter.is_flag:
        return str(name)
    return f"{name} {parameter.metavar or 'VALUE'}".replace("|", " or ")
