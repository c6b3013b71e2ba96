"""Records as the columns of a table, a row for each verdict.

The writer shares its processor with the judging, so no verdict costs a loop of its own: what is
said once about a request, a group, a completion or a verifier is repeated by numbers of places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from verifier_service import __version__
from verifier_service.verdict_store.record_schema import COLUMNS, schema
from verifier_service.verdict_store.records import (
    RequestRecord,
    StoredGroup,
    StoredVerdict,
    StoredVerifier,
)
from verifier_service.verdict_store.store_error import arrow


def table_of(records: Sequence[RequestRecord]) -> Any:
    """The verdicts of records as a `pyarrow.Table`. Raises StoreError."""
    pa, layout = arrow(), schema()
    found = _Places()
    for record in records:
        found.add(record)
    columns = found.columns()
    arrays = [_array(pa, columns[name], layout.field(name).type) for name in COLUMNS]
    return pa.Table.from_arrays(arrays, schema=layout)


@dataclass
class _Column:
    """Values, and for each row the place of its value; None: there is a value for each row."""

    values: Sequence[Any]
    places: Any = None


def _array(pa: Any, column: _Column, kind: Any) -> Any:
    if not pa.types.is_dictionary(kind):
        values = pa.array(column.values, kind)
        return values if column.places is None else values.take(pa.array(column.places))
    encoded = pa.array(column.values, pa.string()).dictionary_encode()
    if column.places is None:
        return encoded
    places = encoded.indices.take(pa.array(column.places))
    return pa.DictionaryArray.from_arrays(places, encoded.dictionary)


@dataclass
class _Places:
    """The parts of records in lists, and the places of each verdict in these."""

    records: list[RequestRecord] = field(default_factory=list)
    groups: list[StoredGroup] = field(default_factory=list)
    completions: list[Any] = field(default_factory=list)
    verifiers: list[StoredVerifier] = field(default_factory=list)
    verdicts: list[StoredVerdict] = field(default_factory=list)
    abouts: list[str] = field(default_factory=list)
    """A hash of the options and the reference, for each verifier of each group."""
    positions: list[int] = field(default_factory=list)
    """Place of each completion in its group."""
    group_of: list[int] = field(default_factory=list)
    """Group of each completion."""
    parts: list[tuple[Any, ...]] = field(default_factory=list)
    """Places of the record, completion, verifier and about of each verdict, by record."""

    def add(self, record: RequestRecord) -> None:
        """Append a record."""
        num_verifiers = len(record.verifiers)
        first, first_verifier = len(self.completions), len(self.verifiers)
        about_of: list[int] = []
        for group in record.groups:
            about_of += [len(self.abouts)] * len(group.completions)
            self.abouts += [_about(one, group) for one in record.verifiers]
            self.group_of += [len(self.groups)] * len(group.completions)
            self.groups.append(group)
            self.completions += group.completions
            self.positions += range(len(group.completions))
            for one in group.completions:
                self.verdicts += one.verdicts
        number = len(self.completions) - first
        verifier = np.tile(np.arange(num_verifiers), number)
        self.parts.append(
            (
                np.full(number * num_verifiers, len(self.records)),
                np.repeat(np.arange(first, first + number), num_verifiers),
                verifier + first_verifier,
                np.repeat(np.array(about_of, np.int64), num_verifiers) + verifier,
            )
        )
        self.records.append(record)
        self.verifiers += record.verifiers

    def columns(self) -> dict[str, _Column]:
        """The columns, by name."""
        record, completion, verifier, about = (
            np.concatenate(some) for some in zip(*self.parts, strict=True)
        )
        group = np.array(self.group_of, np.int64)[completion]
        completion_hashes = [one.digest.hex() for one in self.completions]
        question = _joined(self.abouts, about, completion_hashes, completion)
        return {
            "time": _Column([int(one.time * 1e6) for one in self.records], record),
            "record_id": _Column([one.record_id for one in self.records], record),
            "request_id": _Column([one.request_id for one in self.records], record),
            "group_index": _Column([one.index for one in self.groups], group),
            "completion_index": _Column(self.positions, completion),
            "request_hash": _Column(question),
            "verifier": _Column([one.type for one in self.verifiers], verifier),
            "name": _Column([one.name for one in self.verifiers], verifier),
            "options": _Column([one.options for one in self.verifiers], verifier),
            "version": _Column([__version__], np.zeros(len(record), np.int64)),
            "reference_hash": _Column([one.reference_digest.hex() for one in self.groups], group),
            "completion_hash": _Column(completion_hashes, completion),
            "reference": _Column([one.reference for one in self.groups], group),
            "prompt": _Column([one.prompt for one in self.groups], group),
            "completion": _Column([one.text for one in self.completions], completion),
            "num_tokens": _Column([one.num_tokens for one in self.completions], completion),
            "truncated": _Column([one.truncated for one in self.completions], completion),
            **self._of_verdicts(record),
        }

    def _of_verdicts(self, record: Any) -> dict[str, _Column]:
        found = {
            "outcome": _Column([one.outcome for one in self.verdicts]),
            "score": _Column([one.score for one in self.verdicts]),
            "reason": _Column([one.reason for one in self.verdicts]),
            "milliseconds": _Column([1000 * one.seconds for one in self.verdicts]),
        }
        nothing = _Column([None], np.zeros(len(self.verdicts), np.int64))
        if all(one.texts == "hashes" for one in self.records):
            return found | {"extracted": nothing, "details": nothing}
        keeps = [one.texts == "text" for one in self.records]
        kept = [keeps[place] for place in record.tolist()]
        extracted = [
            one.extracted if yes else None for one, yes in zip(self.verdicts, kept, strict=True)
        ]
        details = [
            _text(one) if yes else None for one, yes in zip(self.verdicts, kept, strict=True)
        ]
        return found | {"extracted": _Column(extracted), "details": _Column(details)}


def _text(verdict: StoredVerdict) -> str | None:
    return bytes(verdict.details).decode() or None


def _joined(heads: list[str], head: Any, tails: list[str], tail: Any) -> list[str]:
    """The text of a head and a tail for each row."""
    return [
        heads[one] + tails[other] for one, other in zip(head.tolist(), tail.tolist(), strict=True)
    ]


def _about(verifier: StoredVerifier, group: StoredGroup) -> str:
    """A hash of the verifier's options and of the reference, and of the group where it counts."""
    found = blake2b(verifier.options.encode(), digest_size=8)
    found.update(group.reference_digest)
    if verifier.judges_groups:
        for one in group.completions:
            found.update(one.digest)
    return found.hexdigest()
