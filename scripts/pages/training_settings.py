"""The page of the trainer's settings, made from the schema of its configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scripts.pages.json_schema import Schema, plain_name, type_in
from scripts.pages.markdown import code, page, prose, table, value

INTRODUCTION = """\
# Settings of the trainer

Every setting of a YAML file for `trainer-client`, by section. On the command line a setting has its
place as its name: `trainer-client train CONFIG.yaml optimizer.learning_rate=1e-5`.
[configuration.md](configuration.md#the-trainer) shows whole files, and [tuning.md](tuning.md) which
values to choose."""


def training_settings_page(schema: Schema) -> str:
    """The page. `schema` is that of the configuration as a whole."""
    places: dict[str, str] = {}
    _find_places(schema, "", schema["$defs"], places)
    sections = (_section(place, schema["$defs"][name], places) for name, place in places.items())
    return page(INTRODUCTION, _rows(schema, places), *sections)


def _find_places(
    section: Schema, prefix: str, definitions: dict[str, Schema], places: dict[str, str]
) -> None:
    """Add each section below this one with the keys that lead to it first."""
    for key, field in section.get("properties", {}).items():
        for name in _references(field):
            if name not in places:
                places[name] = f"{prefix}{key}"
                _find_places(definitions[name], f"{prefix}{key}.", definitions, places)


def _references(field: Schema) -> Iterator[str]:
    if "$ref" in field:
        yield plain_name(field["$ref"])
    for one in (*field.get("anyOf", ()), *field.get("oneOf", ()), field.get("items", {})):
        if one:
            yield from _references(one)


def _section(place: str, section: Schema, places: dict[str, str]) -> str:
    about = (section.get("description") or "").split("\n\n")[0]
    return "\n\n".join([f"## {place}", prose(about), _rows(section, places)])


def _rows(section: Schema, places: dict[str, str]) -> str:
    def link(reference: str) -> str:
        place = places[plain_name(reference)]
        return f"[{place}](#{re.sub('[.]', '', place)})"

    required = section.get("required", [])
    return table(
        ("setting", "type", "default", "meaning"),
        (
            (
                code(key),
                type_in(field, link),
                _default(field, is_required=key in required),
                prose(field.get("description", "")),
            )
            for key, field in section.get("properties", {}).items()
        ),
    )


def _default(field: Schema, *, is_required: bool) -> str:
    """The default in JSON; a section's own are in its table."""
    if is_required:
        return "required"
    default = field.get("default")
    return (
        "" if "default" not in field or (default and isinstance(default, dict)) else value(default)
    )
