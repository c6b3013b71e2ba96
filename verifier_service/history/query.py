"""Questions to a store in SQL, which DuckDB answers; its one table is `verdicts`."""

from __future__ import annotations

import csv
import importlib
import json
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TextIO

from verifier_service.verdict_store.record_schema import schema
from verifier_service.verdict_store.store_error import NEEDS_STORE, StoreError
from verifier_service.verdict_store.stored_files import stored_files

TableFormat = Literal["table", "csv", "jsonl"]
ROWS_AT_ONCE = 1000
MAX_TABLE_ROWS = 200
"""Most rows of a table on the console; the other forms have all."""
MAX_CELL_CHARACTERS = 60


def answer(sql: str, folder: Path, *, form: TableFormat, memory_bytes: int, output: TextIO) -> None:
    """Write the rows of a query.

    Args:
        sql: one statement.
        folder: of the store.
        form: of the rows.
        memory_bytes: that DuckDB may take.
        output: is written to.

    Raises:
        StoreError: the query or the store is at fault.
    """
    duckdb = _duckdb()
    try:
        with duckdb.connect(config={"memory_limit": f"{memory_bytes}B"}) as connection:
            _make_table(connection, stored_files(folder))
            if not connection.extract_statements(sql):
                raise StoreError(
                    'there is no query: expected SQL, such as "SELECT * FROM verdicts"'
                )
            result = connection.execute(sql)
            names = [column[0] for column in result.description or ()]
            _WRITERS[form](output, names, _rows(result))
    except duckdb.Error as error:
        raise StoreError(str(error)) from error


def _duckdb() -> Any:
    try:
        return importlib.import_module("duckdb")
    except ModuleNotFoundError as error:
        raise StoreError(f"a query {NEEDS_STORE}") from error


def _make_table(connection: Any, files: list[Path]) -> None:
    """Let `verdicts` be the rows of all files; files of other versions may lack a column."""
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET TimeZone = 'UTC'")
    if not files:
        connection.register("verdicts", schema().empty_table())
        return
    names = ", ".join("'" + str(path).replace("'", "''") + "'" for path in files)
    source = f"SELECT * FROM read_parquet([{names}], union_by_name = true)"
    connection.execute(f"CREATE VIEW verdicts AS {source}")


def _rows(result: Any) -> Iterator[tuple[Any, ...]]:
    while rows := result.fetchmany(ROWS_AT_ONCE):
        yield from rows


def _write_table(output: TextIO, names: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> None:
    shown = [list(names)]
    num_left = 0
    for row in rows:
        if len(shown) > MAX_TABLE_ROWS:
            num_left += 1
        else:
            shown.append([_cell(value) for value in row])
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    shown.insert(1, ["-" * width for width in widths])
    for line in shown:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        output.write("  ".join(cells).rstrip() + "\n")
    if num_left:
        output.write(f"... and {num_left} more rows: --format csv or jsonl has all\n")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    text = "".join(one if one.isprintable() else " " for one in str(value))
    return text if len(text) <= MAX_CELL_CHARACTERS else f"{text[: MAX_CELL_CHARACTERS - 3]}..."


def _write_csv(output: TextIO, names: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> None:
    writer = csv.writer(output)
    writer.writerow(names)
    writer.writerows(rows)


def _write_jsonl(output: TextIO, names: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> None:
    for row in rows:
        told = {name: _plain(value) for name, value in zip(names, row, strict=True)}
        output.write(json.dumps(told, default=str, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    """A value as JSON has it: a decimal is a number, and NaN or an infinity is null."""
    match value:
        case Decimal():
            return _plain(float(value))
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
    return value


_WRITERS = {"table": _write_table, "csv": _write_csv, "jsonl": _write_jsonl}
