"""The page of the service's settings, made from the options of its commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from pydantic_settings import BaseSettings

from scripts.pages.cli import option_row
from scripts.pages.markdown import code, page, table
from verifier_service.fleet.settings import FleetSettings
from verifier_service.model_judge.settings import JudgeSettings
from verifier_service.proofs.lean_settings import LeanSettings
from verifier_service.settings import EngineSettings, Settings

INTRODUCTION = """\
# Settings of the service

```
VERIFIER_PORT=9000 verifier-service serve --enabled accuracy,format
```

Every setting is an environment variable and an option of the commands that take it: see
[Commands](cli.md). The option wins over the variable, which wins over the default.
[configuration.md](configuration.md#the-service) says what is made of misspelt variables, and how
profiles are written."""

PLUGINS = """\
A variable alone, without an option, is `VERIFIER_PLUGINS`: packages whose verifiers may be loaded,
separated by commas; empty for none; default: all."""

SECTIONS: tuple[tuple[str, str, type[BaseSettings]], ...] = (
    ("The server", "serve", Settings),
    ("Judging", "serve", EngineSettings),
    ("Models that judge", "serve", JudgeSettings),
    ("Proofs in Lean", "serve", LeanSettings),
    ("A fleet", "fleet", FleetSettings),
)
"""Each section's title, the command whose options it shows, and the class that declares them."""


def service_settings_page(app: typer.Typer) -> str:
    """The page. `app` is the command line of the service."""
    group: Any = typer.main.get_command(app)
    rows = {
        name: {one.name: option_row(one) for one in group.commands[name].params}
        for name in ("serve", "fleet")
    }
    parts = []
    for title, command, model in SECTIONS:
        found = {name: rows[command][name] for name in _declared(model)}
        parts.append(f"## {title}")
        parts.append(_table(found))
        if model is EngineSettings:
            parts.append(PLUGINS)
    return page(INTRODUCTION, *parts)


def _declared(model: type[BaseSettings]) -> Iterator[str]:
    """The names of the settings that a class declares, those of its bases among them it changes."""
    return (name for name in vars(model)["__annotations__"] if name in model.model_fields)


def _table(rows: dict[str, tuple[str, str, str]]) -> str:
    return table(
        ("variable", "option", "default", "meaning"),
        (
            (code(f"VERIFIER_{name.upper()}"), option, _default(default, name), _linked(meaning))
            for name, (option, default, meaning) in rows.items()
        ),
    )


def _default(text: str, name: str) -> str:
    if name.endswith("_bytes") and text.isdecimal():
        return f"{text} ({int(text) // 2**20:,} MiB)"
    return _linked(text)


def _linked(text: str) -> str:
    return re.sub(r"docs/(\w+\.md)", r"[\1](\1)", text)
