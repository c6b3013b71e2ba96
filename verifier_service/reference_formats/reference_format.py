"""A form in which data sets ship their references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

DataRow = Mapping[str, Any]


@dataclass(frozen=True)
class RowReading:
    """The reference in a row, and the verifier that judges by it."""

    verifier: str
    """Type of a verifier, which a service need not have."""
    reference: dict[str, Any]


@dataclass(frozen=True)
class ReferenceFormat:
    """Columns, and how they are read."""

    name: str
    data_sets: str
    """Data sets that have it, for people to read."""
    columns: tuple[str, ...]
    """Columns that a row must have, and not empty."""
    verifier: str
    """Type of the verifier; of several, the usual one."""
    read: Callable[[DataRow], RowReading | None]
    """The reading of a row with these columns; None where their values are of another form."""
    without: frozenset[str] = frozenset()
    """Columns that a row of this format does not have."""

    def reading_of(self, row: DataRow) -> RowReading | None:
        """The reading of a row; None where it is not of this format."""
        if any(is_empty(row.get(column)) for column in self.columns):
            return None
        if any(not is_empty(row.get(column)) for column in self.without):
            return None
        return self.read(row)


def is_empty(value: object) -> bool:
    """Whether a column holds nothing: null, an empty text, list or object."""
    return value is None or (isinstance(value, str | list | dict) and not value)
