"""The journal of a judge: each result is written to a pipe as soon as it is known.

What the judge has written outlives it. So a returned value that ends the judge takes away no test
that passed before. A line is a JSON list whose first element says what happened:

| line | meaning |
|---|---|
| `["reading", text]` | a `AssertsReading` for later judges; only as the first line |
| `["total", 40]` | number of tests, before the program is asked for anything |
| `["passed"]` | a test passed |
| `["failed", reason, shown, expected]` | a test failed; the texts are those of the first failure |
| `["broken", reason, shown, expected]` | something that is not a test failed |
| `["gone"]` | the program's process was gone; the way it ended is the reason |
| `["done"]` | the judge has come to the end |
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from verifier_service.code.findings import Findings, readable
from verifier_service.code.reasons import CodeReason

MAX_FRAME_BYTES = 2**14
"""Room for the lines of a journal that are not the result of a test."""
MAX_READING_BYTES = 2**17
"""Size of a line with a reading, at most. A larger reading is not kept."""
MAX_RESULT_BYTES = 12
"""Size of the line of a test, but for the first that failed."""


class Journal:
    """The judge's end of a journal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.num_results = 0
        self.has_failed = False
        self.before_result: Callable[[], None] = lambda: None
        """Called before a result is written; raises where the tests have ended."""

    def keep_reading(self, packed: str) -> None:
        """Write what has been read of the tests, unless it is too large to be kept."""
        if len(packed) < MAX_READING_BYTES - MAX_RESULT_BYTES:
            self._write("reading", packed)

    def begin(self, total: int) -> None:
        """Write the number of tests."""
        self._write("total", total)

    def add(self, reason: str, shown: str = "", expected: str = "") -> None:
        """Write the result of a test."""
        self.before_result()
        self.num_results += 1
        if reason == CodeReason.PASSED:
            self._write("passed")
        else:
            self._write_failure("failed", reason, shown, expected)

    def fail(self, reason: str, shown: str = "", expected: str = "") -> None:
        """Write a failure that is not the result of a test."""
        self._write_failure("broken", reason, shown, expected)

    def end(self, *, program_is_gone: bool = False) -> None:
        """Write that no other result follows."""
        self._write("gone" if program_is_gone else "done")

    def _write_failure(self, kind: str, reason: str, shown: str, expected: str) -> None:
        if self.has_failed:
            self._write(kind)
        else:
            self._write(kind, reason, readable(shown), readable(expected))
        self.has_failed = True

    def _write(self, *line: str | int) -> None:
        os.write(self._descriptor, json.dumps(line).encode() + b"\n")


@dataclass(frozen=True)
class JudgesRecord:
    """A journal that has been read."""

    findings: Findings | None
    """None if the judge ended before it knew the number of tests."""
    end: Literal["gone", "done"] | None
    """None if the judge ended before it had come to the end."""
    reading: str = ""
    """The packed reading of the tests; empty if there is none."""


def read_journal(written: bytes) -> JudgesRecord:
    """Read a journal up to the first line that is cut, or is none of a journal."""
    findings: Findings | None = None
    end: Literal["gone", "done"] | None = None
    reading = ""
    *lines, _ = written.split(b"\n")
    for number, line in enumerate(lines):
        try:
            kind, *rest = json.loads(line)
            if kind in ("gone", "done"):
                end = kind
                break
            if kind == "reading" and number == 0:
                reading = _ascii(*rest)
            elif kind == "total":
                findings = Findings(_number(*rest))
            else:
                findings = findings or Findings(0)
                _take(findings, kind, rest)
        except (ValueError, TypeError, RecursionError):  # code of the tests can write here too
            break
    return JudgesRecord(findings, end, reading)


def _number(found: Any) -> int:
    if type(found) is not int:
        raise ValueError(f"expected a number, found {found!a}")
    return found


def _ascii(found: Any) -> str:
    if not isinstance(found, str) or not found.isascii():
        raise ValueError(f"expected ASCII text, found {found!a}")
    return found


def _take(findings: Findings, kind: str, rest: list[Any]) -> None:
    """Add a line to the findings. Raises ValueError or TypeError: it is none of a journal."""
    if not all(isinstance(text, str) for text in rest):
        raise ValueError("expected texts")
    failure = rest or [findings.reason]
    if kind == "passed":
        findings.add(CodeReason.PASSED)
    elif kind in ("failed", "broken"):
        findings.fail(*failure)
        if kind == "failed":
            findings.count(rest[0] if rest else "failed")
    else:
        raise ValueError(f"no line of a journal: {kind!a}")
