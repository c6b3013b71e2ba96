"""Types of JSON Schema in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scripts.pages.markdown import value

Schema = dict[str, Any]
"""A schema, as `json.loads` reads it."""

BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "maxLength": "at most {} characters",
    "maxItems": "at most {} items",
}


def plain_name(reference: str) -> str:
    """The last part of a `$ref`."""
    return reference.rsplit("/", 1)[-1]


def type_in(schema: Schema, link: Callable[[str], str] = plain_name) -> str:
    """A type with its bounds, such as `integer, at least 1` or `"any" or "all"`.

    Args:
        schema: of a value.
        link: turns a `$ref` into Markdown.
    """
    if "$ref" in schema:
        return link(schema["$ref"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(type_in(one, link) for one in schema[key]))
    if "enum" in schema:
        return " or ".join(map(value, schema["enum"]))
    if "const" in schema:
        return value(schema["const"])
    if "items" in schema:
        item = type_in(schema["items"], link)
        several = f"({item})" if " or " in item else item
        return ", ".join([f"array of {several}", *_bounds(schema)])
    return ", ".join([schema.get("type", "any value"), *_bounds(schema)])


def _bounds(schema: Schema) -> list[str]:
    return [words.format(f"{schema[key]:.15g}") for key, words in BOUNDS.items() if key in schema]
