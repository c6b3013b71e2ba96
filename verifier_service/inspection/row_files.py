"""Files of rows that an inspection writes: rows with findings, and clean rows.

A clean row has the shape of verl's rows. Its `reward_model.ground_truth` and its `reference_json`
are the reference in JSON text, which the adapters and `reference_format: reference_json` read. Its
`verifiers` are those that the row named itself, else the one of its format; in Parquet they are
JSON text, since their options differ by row.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from verifier_service.console import BadInput
from verifier_service.inspection.columns import messages_of
from verifier_service.inspection.inspection import Inspection, InspectionOptions
from verifier_service.inspection.sources import DataSource, SourceRow
from verifier_service.reference_formats.json_values import json_value
from verifier_service.reference_formats.reading import read_named
from verifier_service.reference_formats.reference_format import RowReading

ROWS_AT_ONCE = 1000
ROW_SUFFIXES = (".jsonl", ".json", ".parquet")
"""Ends of the names of the files that are written; JSON has one row in a line."""
_IDS = ("id", "task_id", "problem_id", "question_id", "unique_id", "uuid")
_ABILITIES = {"accuracy": "math", "code": "code", "sql": "code", "tool_calls": "tools"}


def write_findings(path: Path, source: DataSource, inspection: Inspection) -> int:
    """Write each row with a finding; the number of these.

    Raises:
        BadInput: Parquet is asked for and cannot be written.
        OSError: the file cannot be written.
    """
    rows = (
        {
            "row": row.index + 1,
            "findings": [one.as_json() for one in inspection.findings[row.index]],
            "columns": json.dumps(row.columns),
        }
        for row in source.rows()
        if row.index in inspection.findings
    )
    return _write(path, rows)


def write_clean(
    path: Path, source: DataSource, inspection: Inspection, options: InspectionOptions
) -> int:
    """Write the rows that are usable, converted; the number of these. Errors as above."""
    rows = (
        clean_row(row, options.reference_format, source)
        for row in source.rows()
        if not inspection.is_left_out(row.index)
    )
    return _write(path, rows)


def clean_row(row: SourceRow, reference_format: str, source: DataSource) -> dict[str, Any]:
    """A usable row as trainers take it."""
    _, reading = read_named(row.columns, reference_format)
    reference = json.dumps(reading.reference)
    verifiers = _own_verifiers(row) or [{"type": reading.verifier}]
    name = next((row.columns[one] for one in _IDS if row.columns.get(one) is not None), row.index)
    return {
        "id": str(name),
        "data_source": Path(source.data).name,
        "prompt": _posed(row, reading),
        "ability": _ABILITIES.get(reading.verifier, reading.verifier),
        "reference_json": reference,
        "verifier": reading.verifier,
        "verifiers": verifiers,
        "reward_model": {"style": "rule", "ground_truth": reference},
        "extra_info": {"index": row.index, "split": source.split, "verifiers": verifiers},
    }


def _own_verifiers(row: SourceRow) -> list[Any]:
    """The verifiers that a row names in the column `verifiers`; none where it means another thing.

    A misspelt type is kept, for the service to refuse it by name.
    """
    own = json_value(row.columns.get("verifiers"))
    if not isinstance(own, list):
        return []
    return own if all(isinstance(one, dict) and "type" in one for one in own) else []


def _posed(row: SourceRow, reading: RowReading) -> list[dict[str, str]]:
    """The problem; options that it does not show are put behind it."""
    messages = messages_of(row.columns)
    choices = reading.reference.get("choices")
    if not isinstance(choices, dict) or not messages:
        return messages
    text = messages[-1]["content"]
    if all(one in text for one in choices.values()):
        return messages
    shown = "\n".join(f"{letter}. {one}" for letter, one in choices.items())
    return [*messages[:-1], {**messages[-1], "content": f"{text.rstrip()}\n{shown}"}]


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write rows to a file of the kind that its name tells, in one step."""
    part = path.with_name(path.name + ".part")
    try:
        number = _write_parquet(part, rows) if path.suffix == ".parquet" else _lines(part, rows)
        part.replace(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    return number


def _lines(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    number = 0
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
            number += 1
    return number


def _write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise BadInput(f"{path.stem}: Parquet needs `pip install pyarrow`") from error
    number, writer = 0, None
    try:
        for some in _batches(rows):
            table = arrow.Table.from_pylist([_with_packed_verifiers(row) for row in some])
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table.cast(writer.schema))
            number += len(some)
        if writer is None:
            parquet.write_table(arrow.table({"id": arrow.array([], arrow.string())}), path)
    finally:
        if writer is not None:
            writer.close()
    return number


def _with_packed_verifiers(row: dict[str, Any]) -> dict[str, Any]:
    """A clean row with its verifiers as JSON text; any other row as it is."""
    if "verifiers" not in row:
        return row
    packed = {"verifiers": json.dumps(row["verifiers"])}
    return {**row, **packed, "extra_info": {**row["extra_info"], **packed}}


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    left = iter(rows)
    while some := list(islice(left, ROWS_AT_ONCE)):
        yield some
