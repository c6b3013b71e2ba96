"""The command `verifiers`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from verifier_service.console import fail
from verifier_service.validation import did_you_mean
from verifier_service.verifier import Verifier
from verifier_service.verifiers import VERIFIERS


def verifiers(
    name: Annotated[
        str | None,
        typer.Argument(help="show the options of this verifier, with type, default and meaning"),
    ] = None,
) -> None:
    """List the verifiers, or the options of one."""
    if name is None:
        for one, verifier in VERIFIERS.items():
            print("\n".join(_described(one, verifier)), end="\n\n")  # noqa: T201
    elif name in VERIFIERS:
        print("\n".join(_options_of(VERIFIERS[name])))  # noqa: T201
    else:
        nearest = did_you_mean(name, VERIFIERS)
        fail(f"no verifier {name!r}; there are {', '.join(VERIFIERS)}{nearest}")


def _described(name: str, verifier: type[Verifier]) -> Iterable[str]:
    low, high = verifier.score_range
    yield f"{name}  [{low:g} to {high:g}]"
    yield f"  {verifier.purpose}"
    if verifier.needs:
        yield f"  needs: {', '.join(f'reference.{key}' for key in verifier.needs)}"
    options = [key for key in verifier.field_names() if key not in Verifier.field_names()]
    if options:
        yield f"  options: {', '.join(options)}"
    yield f"  reasons: {', '.join(reason.value for reason in verifier.reasons)}"


def _options_of(verifier: type[Verifier]) -> Iterable[str]:
    for option, schema in verifier.model_json_schema()["properties"].items():
        if option != "type":
            yield f"{option}: {_type_in(schema)}, default {json.dumps(schema.get('default'))}"
            yield f"  {schema.get('description', '')}".rstrip()


def _type_in(schema: dict[str, Any]) -> str:
    """The type of an option in JSON, or its values."""
    if "anyOf" in schema:
        return " or ".join(map(_type_in, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if "items" in schema:
        return f"array of {_type_in(schema['items'])}"
    return str(schema.get("type", "any"))
