"""Documents in JSON, YAML, TOML, XML, CSV and Markdown tables, as values of JSON.

A document of a model may be small and stand for much: aliases of aliases in YAML, entities in XML,
brackets without end. Size, depth and the number of values are bounded before any value is made.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any, Literal
from xml.parsers import expat

import yaml

from verifier_service import strict_json, strict_yaml
from verifier_service.reference_formats.json_values import MAX_NUMBER_BITS

DocumentFormat = Literal["json", "yaml", "toml", "xml", "csv", "markdown_table"]

MAX_CHARACTERS = 200_000
"""Longest document."""
MAX_DEPTH = 64
MAX_VALUES = 50_000
"""Most values of a document, those for which aliases stand included."""


class BadDocument(ValueError):
    """A text is no document of its format, or is over the bounds."""


def read_document(text: str, document_format: DocumentFormat) -> Any:
    """The value of a document.

    Raises:
        BadDocument: the text is none, says two things, or is over the bounds.

    >>> read_document("a: [1, 2]", "yaml"), read_document("x,y\\n1,2", "csv")
    ({'a': [1, 2]}, [{'x': '1', 'y': '2'}])
    """
    if len(text) > MAX_CHARACTERS:
        raise BadDocument(f"more than {MAX_CHARACTERS} characters")
    try:
        found = _READERS[document_format](text)
    except (RecursionError, MemoryError) as error:
        raise BadDocument("nested too deeply") from error
    _check_bounds(found)
    return found


def _check_bounds(value: Any) -> None:
    left = [(value, 1)]
    num_values = 0
    while left:
        inside, depth = left.pop()
        num_values += 1
        if depth > MAX_DEPTH or num_values > MAX_VALUES:
            raise BadDocument("too many values, or nested too deeply")
        if isinstance(inside, int) and inside.bit_length() > MAX_NUMBER_BITS:
            raise BadDocument("a number is too long")
        if isinstance(inside, dict):
            left += [(one, depth + 1) for one in inside.values()]
        elif isinstance(inside, list):
            left += [(one, depth + 1) for one in inside]


def _json(text: str) -> Any:
    try:
        return strict_json.loads(text)
    except ValueError as error:
        raise BadDocument("no JSON, or JSON that readers take for different values") from error


# What PyYAML raises at a text that is none: `!!bool x` is a KeyError, `!!timestamp x` an
# AttributeError, `1:1:1.5` of many parts an OverflowError.
_NO_YAML = (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError)


def _yaml(text: str) -> Any:
    try:
        found = strict_yaml.load(text, _check_aliases)
    except _NO_YAML as error:
        raise BadDocument("no YAML of plain values") from error
    return _plain(found)


def _check_aliases(node: yaml.Node | None) -> None:
    """Raise BadDocument where aliases stand for too many values, or for themselves."""
    sizes: dict[int, int] = {}

    def size(one: yaml.Node | None, depth: int) -> int:
        if one is None or isinstance(one, yaml.ScalarNode):
            return 1
        if id(one) in sizes:
            if sizes[id(one)] == 0:
                raise BadDocument("an alias within itself")
            return sizes[id(one)]
        if depth > MAX_DEPTH:
            raise BadDocument("nested too deeply")
        sizes[id(one)] = 0
        inside = (
            one.value
            if isinstance(one, yaml.SequenceNode)
            else [part for pair in one.value for part in pair]
        )
        number = 1 + sum(size(part, depth + 1) for part in inside)
        if number > MAX_VALUES:
            raise BadDocument("too many values")
        sizes[id(one)] = number
        return number

    size(node, 1)


# A key of more parts than a document has levels, which takes quadratic time: `a.a.a.a...`.
_DEEP_KEY = re.compile(
    r"(?<![\w-])(?:(?:[\w-]++|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"
    rf"{{{MAX_DEPTH}}}"
)


def _toml(text: str) -> Any:
    if _DEEP_KEY.search(text):
        raise BadDocument("nested too deeply")
    try:
        return _plain(tomllib.loads(text))
    except ValueError as error:
        raise BadDocument("no TOML") from error


def _plain(value: Any) -> Any:
    """A value of YAML or TOML as one of JSON; dates become their texts."""
    if isinstance(value, dict):
        if not all(isinstance(key, str | int | float | bool) for key in value):
            raise BadDocument("a key that is no text")
        found = {str(key): _plain(one) for key, one in value.items()}
        if len(found) < len(value):
            raise BadDocument("a number and a text that are one key")
        return found
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise BadDocument(f"a value of the kind {type(value).__name__}")


def _xml(text: str) -> Any:
    """The value of XML: elements by name, in a list where a name repeats; attributes as `@name`."""
    root: dict[str, Any] = {}
    elements: list[tuple[dict[str, Any], list[str]]] = [(root, [])]

    def refuse(*_: Any) -> None:
        raise BadDocument("a document type; entities are not read")

    def begin(_name: str, attributes: dict[str, str]) -> None:
        if len(elements) > MAX_DEPTH:
            raise BadDocument("nested too deeply")
        elements.append(({f"@{key}": value for key, value in attributes.items()}, []))

    def end(name: str) -> None:
        inside, texts = elements.pop()
        text = "".join(texts).strip()
        if inside and text:
            inside["#text"] = text
        value: Any = inside or (text or None)
        outer = elements[-1][0]
        if name not in outer:
            outer[name] = value
        elif isinstance(outer[name], list):
            outer[name].append(value)
        else:
            outer[name] = [outer[name], value]

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda data: elements[-1][1].append(data)
    try:
        parser.Parse(text.strip(), True)
    except (expat.ExpatError, ValueError) as error:
        raise BadDocument(str(error) if isinstance(error, BadDocument) else "no XML") from error
    return root


def _csv(text: str) -> Any:
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text.strip(), newline=""), strict=True) if row
        ]
    except csv.Error as error:
        raise BadDocument("no CSV") from error
    return _table(rows)


def _table(rows: list[list[str]]) -> list[dict[str, str]]:
    """Rows below a header as objects. Raises BadDocument where a row has more or fewer cells."""
    if not rows:
        raise BadDocument("no rows")
    header = [cell.strip() for cell in rows[0]]
    if len(set(header)) < len(header):
        raise BadDocument("a column twice")
    if any(len(row) != len(header) for row in rows[1:]):
        raise BadDocument("a row with more or fewer cells than the header")
    return [dict(zip(header, map(str.strip, row), strict=True)) for row in rows[1:]]


# A cell of the line below the header of a Markdown table: the `:-:` of `| --- | :-: |`.
_RULE_CELL = re.compile(r":?-+:?")


def _is_rule(line: str) -> bool:
    return all(_RULE_CELL.fullmatch(cell.strip()) for cell in _cells(line))


def _markdown_table(text: str) -> Any:
    """The first table of a Markdown text; a second one makes it say two things."""
    lines = text.splitlines()
    rules = [
        place
        for place, line in enumerate(lines)
        if place and "|" in lines[place - 1] and _is_rule(line)
    ]
    if len(rules) != 1:
        raise BadDocument(f"{len(rules)} tables, expected one")
    (rule,) = rules
    body = []
    for line in lines[rule + 1 :]:
        if "|" not in line:
            break
        body.append(line)
    return _table([_cells(line) for line in (lines[rule - 1], *body)])


def _cells(line: str) -> list[str]:
    inside = line.strip().removeprefix("|")
    inside = inside[:-1] if inside.endswith("|") and not inside.endswith("\\|") else inside
    return [cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inside)]


_READERS: dict[DocumentFormat, Callable[[str], Any]] = {
    "json": _json,
    "yaml": _yaml,
    "toml": _toml,
    "xml": _xml,
    "csv": _csv,
    "markdown_table": _markdown_table,
}
TEXT_FORMATS: frozenset[DocumentFormat] = frozenset({"xml", "csv", "markdown_table"})
"""Formats that have texts only, so that numbers and true or false are read from them."""
