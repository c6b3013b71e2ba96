"""Scoring a file without a server, as `verifier-service score` does.

A row of the file is a JSON object with `completions` (a list) or `completion`, as in a request. Its
reference is its `reference`; without that, its other columns: `answer`, `tests`, ...
A line of the result is a group of the response to `POST /v1/score`, with the row's `index` from 0.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pydantic_core
from pydantic import ValidationError

from verifier_service import strict_json
from verifier_service.engine.engine import Engine
from verifier_service.engine.request_scoring import Scoring
from verifier_service.engine.response_json import VerdictCounts, group_pieces
from verifier_service.profiles import Verifiers
from verifier_service.schemas import Group, ScoreRequest
from verifier_service.validation import first_problem

ROWS_PER_REQUEST = 64
REQUESTS_IN_FLIGHT = 4
ANOTHER = "choose another --out or delete it"
OWN_COLUMNS = ("id", "prompt", "completion", "completions", "reference")

FirstMessages = dict[tuple[str, str, str], str]
"""The message of the first verdict by verifier, outcome and reason, with its row from 1."""


class BadFile(ValueError):
    """The file has a row that cannot be scored, or the result belongs to other rows."""


def read_groups(path: Path) -> list[Group]:
    """The rows of a JSONL file.

    Raises:
        BadFile: a row is not as described above; the message names the first one, from 1.
        OSError: the file cannot be read.
    """
    groups = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    groups.append(_group(line.strip()))
                except ValueError as error:
                    raise BadFile(f"line {number}: {_first_line(error)}") from error
    if not groups:
        raise BadFile("there are no rows")
    return groups


def _group(line: str) -> Group:
    row = pydantic_core.from_json(line)
    strict_json.check(line)
    if not isinstance(row, dict):
        raise ValueError(f"found {type(row).__name__}, expected an object")
    if ("completion" in row) == ("completions" in row):
        raise ValueError("expected either `completion` or `completions`")
    reference = row.get("reference")
    if reference is None:
        reference = {key: value for key, value in row.items() if key not in OWN_COLUMNS}
    return Group(
        id=str(row["id"]) if row.get("id") is not None else None,
        reference=reference,
        completions=row["completions"] if "completions" in row else [row["completion"]],
    )


def _first_line(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        return first_problem(error)
    message = str(error).partition("\n")[0]
    return re.sub(r" at line 1 (?=column \d+$)", " at ", message)[:200]


def resume(out: Path, verifiers: Verifiers, num_rows: int) -> set[int]:
    """The indices of the rows that a result has; removes lines that are cut off or have `failed`.

    Raises:
        BadFile: the file is no result of these verifiers and rows.
        OSError: the file cannot be written; a user wants to know before anything is scored.
    """
    out.open("ab").close()
    with out.open(encoding="utf-8", newline="\n") as file:
        kept = _kept(file, out, [verifier.key for verifier in verifiers], num_rows)
    part = out.with_name(out.name + ".part")
    part.write_text("".join(kept.values()), encoding="utf-8")
    os.replace(part, out)
    return set(kept)


def _kept(lines: Iterable[str], out: Path, names: list[str], num_rows: int) -> dict[int, str]:
    kept: dict[int, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.endswith("\n"):
            continue  # the run ended while it was being written
        try:
            index, completions = _scored(line)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadFile(f"{out}: line {number} is not of an earlier run; {ANOTHER}") from error
        if index >= num_rows or any(list(one["verdicts"]) != names for one in completions):
            raise BadFile(f"{out}: line {number} is of other rows or other verifiers; {ANOTHER}")
        found = [verdict["outcome"] for one in completions for verdict in one["verdicts"].values()]
        if "failed" not in found:
            kept[index] = line
    return kept


def _scored(line: str) -> tuple[int, list[dict[str, Any]]]:
    group = pydantic_core.from_json(line)
    return group["index"], group["completions"]


async def score_rows(
    engine: Engine,
    groups: list[Group],
    *,
    verifiers: Verifiers,
    out: Path,
    done: set[int],
    on_scored: Callable[[int], None],
) -> None:
    """Score the rows that are not done and append them to the result, in order.

    Args:
        engine: judges.
        groups: all rows.
        verifiers: of every row.
        out: the result, to which lines are appended.
        done: indices of rows to leave out.
        on_scored: is called with the number of rows that were just written.
    """
    left = [(index, group) for index, group in enumerate(groups) if index not in done]
    waiting: deque[asyncio.Task[bytes]] = deque()

    async def score(rows: list[tuple[int, Group]]) -> bytes:
        request = ScoreRequest(verifiers=verifiers, groups=[group for _, group in rows])
        scored = await Scoring(request, engine).run(math.inf)
        lines = []
        for (index, group), completions in zip(rows, scored.groups, strict=True):
            lines += [*group_pieces(group.id, completions, verifiers, index=index), b"\n"]
        return b"".join(lines)

    with out.open("ab") as file:
        for rows in _batches(left):
            waiting.append(asyncio.create_task(score(rows)))
            if len(waiting) >= REQUESTS_IN_FLIGHT:
                _write(file, await waiting.popleft(), on_scored)
        while waiting:
            _write(file, await waiting.popleft(), on_scored)


def _write(file: BinaryIO, lines: bytes, on_scored: Callable[[int], None]) -> None:
    file.write(lines)
    file.flush()
    on_scored(lines.count(b"\n"))


def _batches(
    rows: list[tuple[int, Group]],
) -> Iterator[list[tuple[int, Group]]]:
    for start in range(0, len(rows), ROWS_PER_REQUEST):
        yield rows[start : start + ROWS_PER_REQUEST]


def count_verdicts(out: Path) -> tuple[VerdictCounts, FirstMessages]:
    """The verdicts of a result by verifier, outcome and reason, and the first message of each.

    Only `unverifiable` verdicts have messages.
    """
    counts = VerdictCounts()
    first: dict[tuple[str, str, str], tuple[int, str]] = {}
    with out.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            group = pydantic_core.from_json(line)
            verdicts = (one for item in group["completions"] for one in item["verdicts"].items())
            for name, verdict in verdicts:
                kind = (name, verdict["outcome"], verdict["reason"])
                counts[kind] += 1
                message = (verdict.get("details") or {}).get("message")
                if verdict["outcome"] == "unverifiable" and message is not None:
                    found = (group["index"] + 1, message)
                    first[kind] = min(first.get(kind, found), found)
    return counts, {kind: f"row {number}: {message}" for kind, (number, message) in first.items()}


def score_summary(counts: VerdictCounts, messages: FirstMessages) -> str:
    """A line for each verifier, and under it the messages of its unverifiable verdicts.

    >>> print(score_summary(VerdictCounts({("accuracy", "scored", "equal"): 3}), {}))
    accuracy: 3 scored/equal
    """
    lines = []
    for verifier in dict.fromkeys(name for name, _, _ in counts):
        found = [kind for kind, _ in counts.most_common() if kind[0] == verifier]
        shown = [f"{counts[kind]} {kind[1]}/{kind[2]}" for kind in found]
        lines.append(f"{verifier}: {', '.join(shown)}")
        said = [kind for kind in found if kind in messages]
        lines += [f"  {kind[1]}/{kind[2]}: {messages[kind]}" for kind in said]
    return "\n".join(lines)
