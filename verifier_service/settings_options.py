"""Command-line options made from settings, whose names, defaults and meanings they take."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings

SettingsType = TypeVar("SettingsType", bound=BaseSettings)

METAVARS = {int: "N", float: "N", tuple: "LIST"}
"""Placeholder of an option's value in the help, by the type of the setting; others are texts."""


def takes_settings(
    model: type[SettingsType],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter `settings` of a command by an option for each setting of a model.

    The command gets the settings: an option wins over the environment, which wins over the
    default. Wrong values end the process with status 2 and a line for each on standard error.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**arguments: Any) -> None:
            values = {name: arguments.pop(name) for name in model.model_fields}
            given = {name: value for name, value in values.items() if value is not None}
            try:
                settings = model(**given)
            except ValidationError as error:
                for problem in error.errors():
                    print(_complaint(problem), file=sys.stderr)  # noqa: T201
                raise typer.Exit(2) from error
            command(settings=settings, **arguments)

        parameters = [
            parameter
            for name, parameter in inspect.signature(command, eval_str=True).parameters.items()
            if name != "settings"
        ] + [_parameter(name, model.model_fields[name]) for name in _own_first(model)]
        # Typer reads both, and `wraps` has copied those of the command.
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def _own_first(model: type[SettingsType]) -> list[str]:
    """The names of a model's settings: its own, then those of the classes that it extends."""
    declared = (name for one in model.__mro__ for name in vars(one).get("__annotations__", ()))
    return [name for name in dict.fromkeys(declared) if name in model.model_fields]


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    meaning = " ".join((field.description or "").split())
    if "default: " not in meaning and field.default not in (None, False):
        meaning += f"; default: {field.default}"
    if field.annotation is bool:
        flag = typer.Option(f"--{name.replace('_', '-')}", help=meaning, show_default=False)
        annotation: Any = Annotated[bool | None, flag]
    else:
        option = typer.Option(help=meaning, metavar=metavar(field.annotation), show_default=False)
        annotation = Annotated[str | None, option]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def metavar(annotation: Any) -> str:
    """The placeholder of an option's value in the help, by the type of the value.

    >>> metavar(int), metavar(Literal["csv", "jsonl"]), metavar(Annotated[str | None, "a note"])
    ('N', 'csv|jsonl', 'TEXT')
    """
    if get_origin(annotation) is Annotated:
        return metavar(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return "|".join(map(str, get_args(annotation)))
    if "Path" in str(annotation):
        return "PATH"
    kinds = [one for one in get_args(annotation) if one is not type(None)]
    # A setting that may be absent.
    if get_origin(annotation) in (Union, UnionType) and len(kinds) == 1:
        return metavar(kinds[0])
    return METAVARS.get(get_origin(annotation) or annotation, "TEXT")


def _complaint(problem: ErrorDetails) -> str:
    """One line with the option and the variable that the value may have come from."""
    message = problem["msg"].removeprefix("Value error, ")
    if not problem["loc"]:  # of several settings, which it names
        return message
    name = str(problem["loc"][0])
    # Where a hash is expected, the value may be the key itself; a URL may have a password.
    is_secret = name.startswith(
        ("api_key", "judge_key", "judge_url", "reward_model_key", "reward_model_url")
    )
    is_named = message.startswith(str(problem["input"]))  # the path of a file of profiles
    found = "" if is_secret or is_named else f" (found {problem['input']!r})"[:200]
    return f"--{name.replace('_', '-')} / VERIFIER_{name.upper()}: {message}{found}"
