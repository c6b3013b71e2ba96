"""Rows of data sets: their columns, checked as they are read."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from verifier_service import strict_json
from verifier_service.compat.data_sets.messages import DataSetConfig, DataSetRow
from verifier_service.compat.rule_fields import rule_fields
from verifier_service.http.error_statuses import ApiError


class UnusableRow(ApiError):
    """A row cannot be used; the message names the column."""

    def __init__(self, message: str) -> None:
        super().__init__(HTTPStatus.UNPROCESSABLE_ENTITY, "unusable_row", message)


_READ_COLUMNS = frozenset({"test_cases", "public_test_cases", "private_test_cases"})
"""Columns whose name is that of a rule, and which the data sets' own readers read."""


def refuse_other_rules(row: DataSetRow, config: DataSetConfig) -> None:
    """Raise UnusableRow if a column, or a key of `extra`, names a rule that nothing here reads."""
    for place, fields in (("provided_data", row), ("extra", config.extra)):
        names = rule_fields(fields, _READ_COLUMNS)
        if names:
            raise UnusableRow(f"config.{place}: {names[:5]} name a rule that is not read here")


def column(row: DataSetRow, name: str, kind: type | tuple[type, ...] = str) -> Any:
    """A column's value. Raises UnusableRow."""
    if name not in row:
        columns = ", ".join(map(repr, sorted(row)[:20])) or "none"
        raise UnusableRow(f"config.provided_data has no column {name!r}; there are {columns}")
    if not isinstance(row[name], kind) or isinstance(row[name], bool):
        wanted = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
        found = type(row[name]).__name__
        raise UnusableRow(f"config.provided_data.{name}: found {found}, expected {wanted}")
    return row[name]


def json_column(row: DataSetRow, name: str, kind: type) -> Any:
    """A column's value, or the value of the JSON text that it is. Raises UnusableRow."""
    value = column(row, name, (kind, str))
    if isinstance(value, kind):
        return value
    try:
        return column({name: strict_json.loads(value)}, name, kind)
    except (ValueError, RecursionError) as error:
        raise UnusableRow(f"config.provided_data.{name} is a text that is not JSON") from error


def refuse_examples(config: DataSetConfig) -> None:
    """Raise UnusableRow if the prompt should begin with examples."""
    if config.is_fewshot:
        raise UnusableRow(
            "config.is_fewshot: the examples are not held here; put yours before the prompt"
        )
