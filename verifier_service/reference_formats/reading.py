"""Rows of data sets, read by the format that fits.

A format fits where its columns are there, not empty, and have values of its form. Of formats that
fit the one with more columns decides: `options` and `answer` before `answer`. Where two fit and
read different references, nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verifier_service.reason import EngineReason
from verifier_service.reference import MAX_KEY_CHARACTERS, MAX_SHOWN_KEYS, bad, kind
from verifier_service.reference_formats.answer_rows import ANSWER_FORMATS
from verifier_service.reference_formats.ground_truth_rows import GROUND_TRUTH_FORMATS
from verifier_service.reference_formats.program_rows import PROGRAM_FORMATS
from verifier_service.reference_formats.reference_format import (
    DataRow,
    ReferenceFormat,
    RowReading,
    is_empty,
)
from verifier_service.reference_formats.task_rows import TASK_FORMATS
from verifier_service.validation import did_you_mean
from verifier_service.verifier import Unverifiable

AUTO = "auto"
"""Name for the one format that fits."""
FORMATS: Mapping[str, ReferenceFormat] = {
    one.name: one
    for one in (*ANSWER_FORMATS, *GROUND_TRUTH_FORMATS, *PROGRAM_FORMATS, *TASK_FORMATS)
}
"""Every format by its name."""
NUM_NEAREST = 3


def read_row(row: DataRow, name: str = AUTO) -> RowReading:
    """The reference in a row, and the verifier that judges by it.

    >>> read_row({"problem": "1 + 1 = ?", "solution": "It is $\\\\boxed{2}$."}).reference
    {'answer': 'It is $\\\\boxed{2}$.'}
    >>> read_row({"question": "?", "options": ["x", "y"], "answer": "B"}).verifier
    'multiple_choice'

    Args:
        row: columns of a data set, as JSON has them.
        name: of a format, or `auto`.

    Raises:
        Unverifiable: the row is not of that format; or of none, or of several that differ.
    """
    return read_named(row, name)[1]


def read_named(row: DataRow, name: str = AUTO) -> tuple[str, RowReading]:
    """The name of the format of a row, and its reading; arguments and errors as of `read_row`."""
    if name != AUTO:
        reading = FORMATS[name].reading_of(row)
        if reading is None:
            raise _no_format(row, [FORMATS[name]], f"it is not of the format {name}")
        return name, reading
    found = {
        one.name: reading
        for one in FORMATS.values()
        if (reading := one.reading_of(row)) is not None
    }
    found = {one: reading for one, reading in found.items() if not _is_general(one, found)}
    readings = list(found.items())
    if not readings:
        raise _no_format(row, _nearest(row), "no format fits it")
    if any(reading != readings[0][1] for _, reading in readings):
        names = " and ".join(found)
        raise Unverifiable(
            EngineReason.BAD_REFERENCE,
            f"the row fits {names}, which differ; choose one by `reference_format`",
        )
    return readings[0]


def _is_general(name: str, found: Mapping[str, RowReading]) -> bool:
    """Whether another format that fits has the columns of this one and more."""
    columns = set(FORMATS[name].columns)
    return any(columns < set(FORMATS[other].columns) for other in found)


def _nearest(row: DataRow) -> list[ReferenceFormat]:
    """The formats of which a row has the largest share of columns."""
    keys = {key for key, value in row.items() if not is_empty(value)}

    def share(one: ReferenceFormat) -> float:
        return len(keys.intersection(one.columns)) / len(one.columns)

    return sorted(FORMATS.values(), key=share, reverse=True)[:NUM_NEAREST]


def _no_format(row: DataRow, formats: Sequence[ReferenceFormat], what: str) -> Unverifiable:
    keys = [str(key)[:MAX_KEY_CHARACTERS] for key in list(row)[:MAX_SHOWN_KEYS]]
    wanted = "; ".join(f"{one.name}: {', '.join(one.columns)}" for one in formats)
    nearest = "needed" if len(formats) == 1 else "nearest"
    message = f"the row: {what}; its columns: {', '.join(keys) or 'none'}; {nearest}: {wanted}"
    return Unverifiable(EngineReason.BAD_REFERENCE, message)


ROW, FORMAT = "reference_row", "reference_format"
"""Keys of a reference that is a row yet: the row, and the name of its format. Clients that can send
nothing but a reference send this; a group's `reference_format` becomes it."""


def with_format(row: dict[str, Any], name: str | None) -> dict[str, Any]:
    """A reference that stands for a row, for a worker to read; the row itself without a format."""
    return row if name is None else {ROW: row, FORMAT: name}


def resolved(reference: dict[str, Any]) -> dict[str, Any]:
    """The reference that a row stands for; any other reference as it is.

    Raises:
        Unverifiable: as `read_row`.
    """
    if reference.keys() != {ROW, FORMAT}:
        return reference
    row, name = reference[ROW], reference[FORMAT]
    if not isinstance(row, dict):
        raise bad(ROW, f"found {kind(row)}, expected an object")
    if name not in (AUTO, *FORMATS):
        raise bad(FORMAT, unknown_format(str(name)))
    return read_row(row, name).reference


def unknown_format(name: str) -> str:
    """The message about a format that there is not."""
    shown = name[:MAX_KEY_CHARACTERS]
    nearest = did_you_mean(shown, (AUTO, *FORMATS))
    return f"no format {shown!r}{nearest or ' of ' + ', '.join((AUTO, *FORMATS))}"
