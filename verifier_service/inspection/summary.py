"""The summary of an inspection, for a console and for the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from verifier_service.inspection.inspection import Inspection

NUM_EXAMPLES = 5
"""Most rows that are named for a kind of finding."""
_BANDS = (
    ("0", 0.0, 0.0),
    ("up to 1/4", 0.0, 0.25),
    ("up to 1/2", 0.25, 0.5),
    ("up to 3/4", 0.5, 0.75),
    ("below 1", 0.75, 1.0),
    ("1", 1.0, 1.0),
)


def summary_of(inspection: Inspection) -> dict[str, Any]:
    """The figures of an inspection; numbers of rows count from 1."""
    return {
        "rows": inspection.num_rows,
        "unusable": inspection.num_unusable,
        "kept": inspection.num_kept,
        "shapes": [
            {"format": name or "none", "verifier": verifier or "none", "rows": number}
            for (name, verifier), number in inspection.formats.most_common()
        ],
        "findings": [
            {
                "kind": kind.value,
                "meaning": kind.meaning,
                "remedy": kind.remedy,
                "unusable": kind.is_fatal,
                "rows": len(rows),
                "examples": [index + 1 for index in rows[:NUM_EXAMPLES]],
                "message": inspection.message_of(rows[0], kind),
            }
            for kind, rows in inspection.rows_by_kind().items()
        ],
        "solve_rates": solve_rate_bands(inspection.solve_rates),
        "programs": inspection.num_programs,
        "unproven_programs": inspection.num_unproven,
    }


def solve_rate_bands(rates: Sequence[float]) -> list[dict[str, Any]]:
    """The numbers of rows by solve rate; empty where no row tells one.

    >>> [band["rows"] for band in solve_rate_bands([0.0, 0.1, 0.25, 1.0])]
    [1, 2, 0, 0, 0, 1]
    """
    if not rates:
        return []
    return [
        {"band": name, "rows": sum(_is_in(rate, low, high) for rate in rates)}
        for name, low, high in _BANDS
    ]


def _is_in(rate: float, low: float, high: float) -> bool:
    if low == high:
        return rate == low
    return low < rate <= high and rate < 1


def summary_text(summary: dict[str, Any]) -> str:
    """The summary for a console."""
    return "\n".join(_lines(summary))


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    total = summary["rows"]
    yield f"{_rows(total)}: {summary['unusable']} unusable, {summary['kept']} kept"
    yield ""
    for shape in summary["shapes"]:
        share = f"{shape['rows'] / total:6.1%}"
        known = shape["verifier"] != "none"
        read = (
            f"{shape['format']}, judged by {shape['verifier']}" if known else "no known reference"
        )
        yield f"{shape['rows']:>8} {share}  {read}"
    for one in summary["findings"]:
        yield ""
        sign = "unusable" if one["unusable"] else "look at"
        yield f"{one['rows']:>8} {one['rows'] / total:6.1%}  {one['kind']} ({sign})"
        yield f"{'':17}{one['meaning']}"
        yield f"{'':17}{one['remedy']}"
        yield f"{'':17}{_examples(one)}"
    if summary["unproven_programs"]:
        yield ""
        lack = f"of {summary['programs']} rows of programs have no solution to run"
        yield f"{summary['unproven_programs']:>8} {lack}"
    if summary["solve_rates"]:
        yield ""
        known = sum(band["rows"] for band in summary["solve_rates"])
        yield f"solve rates of {_rows(known)}:"
        for band in summary["solve_rates"]:
            yield f"{band['rows']:>8} {band['rows'] / known:6.1%}  {band['band']}"


def _rows(number: int) -> str:
    return f"{number} row" if number == 1 else f"{number} rows"


def _examples(one: dict[str, Any]) -> str:
    """The first rows of a finding, and the message of the first of them."""
    first = f"row {one['examples'][0]}"
    if one["message"]:
        first += f": {_printable(one['message'])}"
    if one["rows"] == 1:
        return first
    shown = ", ".join(map(str, one["examples"]))
    more = ", ..." if one["rows"] > len(one["examples"]) else ""
    return f"rows {shown}{more}; {first}" if one["message"] else f"rows {shown}{more}"


def _printable(text: str) -> str:
    """The text on one line, without characters that a terminal would obey.

    >>> _printable("a\\x1b[2J\\nb")
    'a\\\\x1b[2J\\\\nb'
    """
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )
