"""Findings that several rows make together: repeated problems, and one answer in most rows."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from verifier_service.inspection.columns import companions_of
from verifier_service.inspection.duplicates import Earlier, SeenProblems
from verifier_service.inspection.findings import FindingKind, RowFinding
from verifier_service.inspection.prepared_row import PreparedRow
from verifier_service.inspection.probes import answers_in
from verifier_service.inspection.trivial_programs import expected_outputs, given_inputs

MAX_CASES = 100
"""Most tests of a problem that are compared with those of its repetitions."""
MIN_ROWS = 20
"""Fewest rows of one verifier in which an answer can be too frequent."""
MIN_CONSTANT_SHARE = 0.5
MIN_EXCESS = 1.2
"""An answer of few possible ones must be so many times as frequent as if all were equally so."""
MAX_ODD_SHARE = 0.15
"""Answers in words are odd where fewer rows have one."""
_WORDS = re.compile(r"(?<![\\a-zA-Z])[^\W\d_]{2,}|^\W*$")  # a command such as \frac is no word
_MEASURED = re.compile(r"\W*+\d[\d.,/ ]*+[^\W\d_]++[\d^²³]*+\W*+")  # `150 km`, `12 apples`


@dataclass(frozen=True)
class RepeatedProblem:
    """A row that poses the problem of an earlier one."""

    index: int
    earlier: Earlier
    answers: tuple[str, ...]
    first_answers: tuple[str, ...]
    differs: bool | None
    """Whether the references differ; None: the verifier `accuracy` has to say."""


@dataclass(frozen=True)
class _Reference:
    """The parts of a reference that are kept, to compare it with another."""

    answers: tuple[str, ...] = ()
    cases: tuple[tuple[bytes, bytes], ...] = ()
    digest: bytes = b""
    is_mathematics: bool = False

    @classmethod
    def of(cls, row: PreparedRow) -> _Reference:
        reading = row.reading
        if reading is None:
            return cls()
        if reading.verifier == "accuracy":
            answers = tuple(answers_in(reading.reference))
            return cls(answers=answers, digest=_digest(answers), is_mathematics=True)
        tests = reading.reference.get("tests")
        if isinstance(tests, dict):
            pairs = zip(given_inputs(tests), expected_outputs(tests), strict=False)
            cases = tuple((_digest(one), _digest(other)) for one, other in list(pairs)[:MAX_CASES])
            return cls(cases=cases)
        return cls(digest=_digest(reading.reference))

    def differs_from(self, other: _Reference) -> bool | None:
        if self.is_mathematics and other.is_mathematics:
            return False if self.digest == other.digest else None
        wanted = dict(other.cases)
        if self.cases or other.cases:
            return any(given in wanted and wanted[given] != out for given, out in self.cases)
        return self.digest != other.digest


def _digest(value: Any) -> bytes:
    encoded = msgspec.json.encode(value, order="sorted")
    return hashlib.blake2b(encoded, digest_size=8).digest()


@dataclass
class RepeatedRows:
    """The rows so far, as far as they tell about each other."""

    repetitions: list[RepeatedProblem] = field(default_factory=list)
    _seen: SeenProblems = field(default_factory=SeenProblems)
    _references: dict[int, _Reference] = field(default_factory=dict)
    _rows_by_answer: defaultdict[str, defaultdict[bytes, list[int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    _answers: dict[bytes, str] = field(default_factory=dict)
    _worded: dict[int, str] = field(default_factory=dict)
    """Answers of `accuracy` in words, by row."""

    def add(self, row: PreparedRow) -> None:
        """Note a row that has a problem and a reference."""
        if row.reading is None or not row.prompt.strip():
            return
        self._note_answer(row)
        reference = _Reference.of(row)
        earlier = self._seen.add(row.index, row.prompt, companions_of(row.source.columns))
        if earlier is None:
            self._references[row.index] = reference
            return
        first = self._references[earlier.index]
        differs = reference.differs_from(first)
        found = RepeatedProblem(row.index, earlier, reference.answers, first.answers, differs)
        self.repetitions.append(found)

    def _note_answer(self, row: PreparedRow) -> None:
        reading = row.reading
        assert reading is not None
        answer = reading.reference.get("answer")
        if answer is None:
            return
        text = msgspec.json.encode(answer).decode().casefold()
        key = _digest(text)
        self._answers.setdefault(key, str(answer)[:80])
        self._rows_by_answer[reading.verifier][key].append(row.index)
        is_worded = _WORDS.search(str(answer)) and not _MEASURED.fullmatch(str(answer))
        if reading.verifier == "accuracy" and is_worded:
            self._worded[row.index] = str(answer)

    def constant_answers(self) -> Iterator[tuple[int, RowFinding]]:
        """A finding for each row whose answer is that of most rows."""
        for rows in self._rows_by_answer.values():
            total = sum(map(len, rows.values()))
            key, found = max(rows.items(), key=lambda pair: len(pair[1]))
            share = len(found) / total
            limit = max(MIN_CONSTANT_SHARE, MIN_EXCESS / len(rows) if len(rows) > 1 else 0.0)
            if total >= MIN_ROWS and share > limit:
                told = f"{self._answers[key]} is the answer of {share:.0%} of {total} rows"
                for index in found:
                    yield index, RowFinding(FindingKind.CONSTANT_ANSWER, told)

    def odd_answers(self) -> Iterator[tuple[int, RowFinding]]:
        """A finding for each answer in words, where nearly all other rows have numbers."""
        total = sum(map(len, self._rows_by_answer["accuracy"].values()))
        if total >= MIN_ROWS and len(self._worded) < MAX_ODD_SHARE * total:
            for index, answer in self._worded.items():
                yield index, RowFinding(FindingKind.ODD_ANSWER, answer)

    def repeated(self, differing: set[int]) -> Iterator[tuple[int, RowFinding]]:
        """The findings about repeated problems.

        Args:
            differing: rows whose reference differs from that of the first with their problem.
        """
        firsts = {one.earlier.index for one in self.repetitions if one.index in differing}
        numbers = Counter(one.earlier.index for one in self.repetitions)
        for first in sorted(firsts):
            told = f"rows with this problem: {numbers[first] + 1}"
            yield first, RowFinding(FindingKind.CONFLICTING_REFERENCES, told)
        for one in self.repetitions:
            how = "the problem" if one.earlier.is_exact else "in other words, the problem"
            told = f"{how} of row {one.earlier.index + 1}"
            is_conflict = one.earlier.index in firsts
            kind = FindingKind.CONFLICTING_REFERENCES if is_conflict else FindingKind.DUPLICATE
            yield one.index, RowFinding(kind, told)
