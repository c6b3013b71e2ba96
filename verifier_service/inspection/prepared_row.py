"""A row before it is judged: its problem, its reference, and the probes that it calls for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from verifier_service.inspection.columns import language_of, prompt_of
from verifier_service.inspection.findings import FindingKind, RowFinding
from verifier_service.inspection.probes import Probe, ProbeOptions, has_language, probes_of
from verifier_service.inspection.sources import SourceRow
from verifier_service.reference_formats.reading import AUTO, read_named
from verifier_service.reference_formats.reference_format import RowReading, is_empty
from verifier_service.verifier import Unverifiable


@dataclass(frozen=True)
class PreparedRow:
    """A row that has been read."""

    source: SourceRow
    prompt: str
    format: str
    """Name of the format of the reference; empty where none fits."""
    reading: RowReading | None
    """The reference; None where none can be read."""
    findings: tuple[RowFinding, ...]
    probes: tuple[Probe, ...]
    digest: str
    """Hash of all that is judged."""

    @property
    def index(self) -> int:
        """Position in the data, from 0."""
        return self.source.index


def prepare(row: SourceRow, options: ProbeOptions, reference_format: str = AUTO) -> PreparedRow:
    """The row with its reference and its probes.

    Args:
        row: of a source.
        options: of the probes.
        reference_format: name of a format, or `auto`.
    """
    if row.problem:
        return _unusable(row, "", RowFinding(FindingKind.UNREADABLE_ROW, row.problem))
    prompt = prompt_of(row.columns)
    try:
        name, reading = read_named(row.columns, reference_format)
    except Unverifiable as error:
        empty = [key for key, value in row.columns.items() if is_empty(value)]
        lacking = f"empty: {', '.join(empty)}"
        if _fits_when_filled(row.columns, empty, reference_format):
            return _unusable(row, prompt, RowFinding(FindingKind.EMPTY_REFERENCE, lacking))
        message = f"{lacking}; {error.message}" if empty else error.message
        return _unusable(row, prompt, RowFinding(FindingKind.UNKNOWN_SHAPE, message))
    findings = [] if prompt.strip() else [RowFinding(FindingKind.NO_PROMPT)]
    probes: list[Probe] = []
    if reading.verifier not in options.enabled:
        findings.append(RowFinding(FindingKind.NO_VERIFIER, f"it would be {reading.verifier}"))
    elif reading.verifier == "code" and not has_language(row.columns, options):
        named = language_of(row.columns, options.language)
        findings.append(RowFinding(FindingKind.LANGUAGE_MISSING, f"{named} is not known here"))
    else:
        probes = probes_of(row.columns, reading, options)
    digest = _digest(reading, probes)
    return PreparedRow(row, prompt, name, reading, tuple(findings), tuple(probes), digest)


def _fits_when_filled(columns: Mapping[str, Any], empty: list[str], reference_format: str) -> bool:
    """Whether the row has a known shape once an empty column holds a value."""
    for key in empty:
        try:
            read_named({**columns, key: "1"}, reference_format)
        except Unverifiable:
            continue
        return True
    return False


def _unusable(row: SourceRow, prompt: str, finding: RowFinding) -> PreparedRow:
    return PreparedRow(row, prompt, "", None, (finding,), (), _digest(None, []))


def _digest(reading: RowReading | None, probes: list[Probe]) -> str:
    judged = [
        [probe.name, probe.verifier.model_dump(mode="json"), probe.completion] for probe in probes
    ]
    encoded = msgspec.json.encode([reading and reading.reference, judged], order="sorted")
    return hashlib.blake2b(encoded, digest_size=12).hexdigest()
