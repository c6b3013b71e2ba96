"""The columns of a store's files and their types.

Commands load it at their start, so it needs nothing of what makes or reads the columns.
"""

from __future__ import annotations

from typing import Any

from verifier_service.verdict_store.store_error import arrow

COLUMNS = {
    "time": "time",
    "record_id": "repeated",
    "request_id": "repeated",
    "group_index": "number",
    "completion_index": "number",
    "request_hash": "text",
    "verifier": "repeated",
    "name": "repeated",
    "options": "repeated",
    "version": "repeated",
    "reference_hash": "repeated",
    "completion_hash": "repeated",
    "outcome": "repeated",
    "score": "float",
    "reason": "repeated",
    "milliseconds": "float",
    "reference": "repeated",
    "prompt": "repeated",
    "completion": "repeated",
    "num_tokens": "number",
    "truncated": "bool",
    "extracted": "text",
    "details": "text",
}
"""Columns of a file and their types; `repeated` is a text that stands in several rows.

`request_hash` is that of everything a verdict depends on, so equal ones are the same question.
`milliseconds` are a worker's time."""


def schema() -> Any:
    """The columns as `pyarrow` has them. Raises StoreError."""
    pa = arrow()
    types = {"time": pa.timestamp("us", tz="UTC"), "number": pa.int64(), "text": pa.string()}
    types |= {"float": pa.float64(), "bool": pa.bool_()}
    types["repeated"] = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
