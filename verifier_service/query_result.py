"""The rows of a query, and why a query has none: words of every database engine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

MAX_VALUE_BYTES = 2**20
MAX_HEAP_BYTES = 2**28
"""Memory of an engine in the process."""
MAX_DATABASE_BYTES = 2**23
MAX_QUERY_CHARACTERS = 20_000

ResultRow = tuple[Any, ...]


class QueryFailed(Exception):
    """A query has no result; `kind` is why."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(message or kind)
        self.kind = kind


class BadDatabase(ValueError):
    """A reference makes no database."""


@dataclass
class QueryResult:
    """The columns and rows that a query gives."""

    columns: tuple[str, ...]
    rows: list[ResultRow]
    reads_table: bool | None = None
    """Whether the query reads a table of the database; None where the engine does not tell."""

    @cached_property
    def plain_rows(self) -> list[ResultRow]:
        """The rows, in which equal numbers are equal."""
        if float not in set(map(type, chain.from_iterable(self.rows))):
            return self.rows
        return [_plain_row(row) for row in self.rows]


class QueryableDatabase(Protocol):
    """A database that queries can read."""

    def run(self, query: str, *, max_steps: int, max_rows: int) -> QueryResult:
        """The result of one query.

        Raises:
            QueryFailed: of the kind `not_allowed`, `invalid`, `too_many_steps`, `too_many_rows` or
                `too_large`.
        """


def _plain_row(row: ResultRow) -> ResultRow:
    """A row whose equal numbers are equal: 1 and 1.0, and floats that differ in the last places."""
    return tuple([_plain_float(one) if isinstance(one, float) else one for one in row])


def _plain_float(value: float) -> Any:
    """The integer or the twelve digits for which a float stands; no text is equal to them."""
    written = f"{value:.12g}"
    number = float(written)
    if number.is_integer() and abs(number) < 10**12:
        return int(number)
    return ("number", written)
