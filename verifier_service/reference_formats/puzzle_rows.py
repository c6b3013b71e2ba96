"""Ground truths of puzzles, as GURU and TinyZero ship them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from verifier_service.reference_formats.json_values import json_value
from verifier_service.reference_formats.reference_format import RowReading


def countdown_reading(value: Any) -> RowReading | None:
    """The reading of TinyZero's countdown: numbers, each to be used once, and a target."""
    found = json_value(value)
    if not isinstance(found, dict) or not found.keys() >= {"target", "numbers"}:
        return None
    if not isinstance(found["numbers"], list):
        return None
    return _puzzle("countdown", target=found["target"], numbers=found["numbers"])


def table_reading(value: Any) -> RowReading | None:
    """The reading of GURU's zebra puzzles: a table with a header and rows."""
    found = json_value(value)
    if not isinstance(found, dict) or found.keys() != {"header", "rows"}:
        return None
    return _puzzle("cells", cells=found)


def guru_reading(data_source: Any, value: Any) -> RowReading | None:
    """The reading of a ground truth whose rule GURU's `data_source` names.

    >>> guru_reading("logic__ordering_puzzle_dataset", ["owl", "jay"]).reference
    {'puzzle': 'order', 'order': ['owl', 'jay']}
    """
    if not isinstance(data_source, str):
        return None
    found = json_value(value)
    for name, reading in _GURU.items():
        if data_source.removeprefix("logic__").startswith(name):
            return reading(found)
    return None


def _grid(value: Any) -> RowReading | None:
    is_grid = isinstance(value, list) and all(isinstance(row, list) for row in value)
    return _puzzle("grid", grid=value) if is_grid else None


def _order(value: Any) -> RowReading | None:
    return _puzzle("order", order=value) if isinstance(value, list) else None


def _node(value: Any) -> RowReading | None:
    return _puzzle("set", items=[value]) if isinstance(value, str | int) else None


_GURU: Mapping[str, Callable[[Any], RowReading | None]] = {
    "ordering_puzzle": _order,
    "zebra_puzzle": table_reading,
    "graph_logical": _node,
    "simulation__arcagi": _grid,
    "simulation__barc": _grid,
    "arcagi": _grid,
    "barc": _grid,
}
"""The readings by the beginning of a data source."""


def _puzzle(name: str, **reference: Any) -> RowReading:
    return RowReading("puzzle", {"puzzle": name, **reference})
