"""Scoring a file without a server, as `verifier-service score` does.

A row of the file is a JSON object with `completions` (a list) or `completion`, as in a request. Its
reference is its `reference`; without that, its other columns: `answer`, `tests`, ... Where it has
`verifiers` (a list) or `profile` (a name), these judge it instead of the command's.
A line of the result is a group of the response to `POST /v1/score`, with the row's `index` from 0.
"""

from __future__ import annotations

import gzip
import math
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import pydantic_core
from pydantic import ValidationError

from verifier_service import strict_json
from verifier_service.engine.engine import Engine
from verifier_service.engine.in_flight import in_flight
from verifier_service.engine.mixed_scoring import scoring_of
from verifier_service.engine.response_json import VerdictCounts, group_pieces
from verifier_service.errors import UnknownProfile
from verifier_service.profiles import Verifiers, profile_named, verifiers_from_arguments
from verifier_service.reference import MAX_KEY_CHARACTERS, MAX_SHOWN_KEYS
from verifier_service.schemas import Group, ScoreRequest
from verifier_service.validation import first_problem

ROWS_PER_REQUEST = 64
MAX_MESSAGE_CHARACTERS = 1000
"""Longest message about a row; one about an unknown verifier lists all that there are."""
ANOTHER = "choose another --out or delete it"
OWN_COLUMNS = (
    "id",
    "prompt",
    "completion",
    "completions",
    "reference",
    "reference_format",
    "verifiers",
    "profile",
)

FirstMessages = dict[tuple[str, str, str], str]
"""The message of the first verdict by verifier, outcome and reason, with its row from 1."""


class BadFile(ValueError):
    """The file has a row that cannot be scored, or the result belongs to other rows."""


def read_groups(path: Path, reference_format: str | None = None) -> list[Group]:
    """The rows of a JSONL file, perhaps with `.gz`.

    Args:
        path: of the file.
        reference_format: format of rows that name none; None: references are what verifiers need.

    Raises:
        BadFile: a row is not as described above; the message names the first one, from 1.
        OSError: the file cannot be read.
    """
    groups = []
    with _opened(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    groups.append(_group(line.strip(), reference_format))
                except ValueError as error:
                    raise BadFile(f"line {number}: {_first_line(error)}") from error
    if not groups:
        raise BadFile("there are no rows")
    return groups


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """The text of a file; a byte order mark, as Windows writes it, is no part of it.

    Raises:
        BadFile: the file is not compressed as its name says.
    """
    open_file = gzip.open if path.suffix == ".gz" else open
    try:
        with open_file(path, "rt", encoding="utf-8-sig") as text:
            yield cast(TextIO, text)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadFile(f"the file is not gzip as its name says: {error}") from error


def _group(line: str, reference_format: str | None) -> Group:
    try:
        row = pydantic_core.from_json(line)
    except ValueError as error:
        raise ValueError(f"expected a row in JSON: {error}") from error
    strict_json.check(line)
    if not isinstance(row, dict):
        raise ValueError(f"found {type(row).__name__}, expected an object")
    if "completion" in row and "completions" in row:
        raise ValueError("expected either `completion` or `completions`, found both")
    if "completion" not in row and "completions" not in row:
        names = ", ".join(str(name)[:MAX_KEY_CHARACTERS] for name in list(row)[:MAX_SHOWN_KEYS])
        raise ValueError(
            f"expected `completion` or `completions`; there are: {names or 'no keys'}. `inspect` "
            "reads rows that have problems alone"
        )
    reference = row.get("reference")
    if reference is None:
        reference = {key: value for key, value in row.items() if key not in OWN_COLUMNS}
        if "entry_point" in row and "prompt" in row:
            reference["prompt"] = row["prompt"]  # it may define functions that the tests call
    profile, own = row.get("profile"), row.get("verifiers")
    if profile is not None and own is not None:
        raise ValueError("expected either `verifiers` or `profile`")
    if own is not None and not isinstance(own, list):
        raise ValueError("verifiers: expected a list")
    return Group(
        id=str(row["id"]) if row.get("id") is not None else None,
        profile=profile,
        verifiers=None if own is None else verifiers_from_arguments(own),
        reference=reference,
        reference_format=row.get("reference_format") or reference_format,
        completions=row["completions"] if "completions" in row else [row["completion"]],
    )


def _first_line(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        return first_problem(error)
    message = str(error).partition("\n")[0]
    return re.sub(r" at line 1 (?=column \d+$)", " at ", message)[:MAX_MESSAGE_CHARACTERS]


def with_profiles(
    groups: list[Group], verifiers: Verifiers, profiles: Mapping[str, Verifiers]
) -> list[Group]:
    """The rows with the verifiers of the profiles that they name.

    Raises:
        BadFile: a row names a profile that there is not, or none where the command names none.
    """
    found = []
    for number, group in enumerate(groups, 1):
        if group.profile is not None:
            try:
                own = profile_named(group.profile, profiles)
            except UnknownProfile as error:
                raise BadFile(f"row {number}: {error}") from error
            group = group.model_copy(update={"verifiers": own})
        if group.verifiers is None and not verifiers:
            raise BadFile(
                f"row {number} names no `verifiers` or `profile`: give --verifier or --profile"
            )
        found.append(group)
    return found


def resume(out: Path, verifiers: Verifiers, groups: Sequence[Group]) -> set[int]:
    """The indices of the rows that a result has; removes lines that are cut off or have `failed`.

    Args:
        out: the result.
        verifiers: of rows that have none of their own.
        groups: all rows.

    Raises:
        BadFile: the file is no result of these verifiers and rows.
        OSError: the file cannot be written; a user wants to know before anything is scored.
    """
    out.open("ab").close()
    with out.open(encoding="utf-8", newline="\n") as file:
        kept = _kept(file, out, [_names(group.verifiers or verifiers) for group in groups])
    part = out.with_name(out.name + ".part")
    part.write_text("".join(kept.values()), encoding="utf-8")
    os.replace(part, out)
    return set(kept)


def _names(verifiers: Verifiers) -> list[str]:
    return [verifier.key for verifier in verifiers]


def _kept(lines: Iterable[str], out: Path, names: Sequence[list[str]]) -> dict[int, str]:
    kept: dict[int, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.endswith("\n"):
            continue  # the run ended while it was being written
        try:
            index, completions = _scored(line)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadFile(f"{out}: line {number} is not of an earlier run; {ANOTHER}") from error
        if index >= len(names) or any(list(one["verdicts"]) != names[index] for one in completions):
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
        verifiers: of rows that have none of their own.
        out: the result, to which lines are appended.
        done: indices of rows to leave out.
        on_scored: is called with the number of rows that were just written.
    """
    left = [(index, group) for index, group in enumerate(groups) if index not in done]

    async def score(rows: list[tuple[int, Group]]) -> bytes:
        # Validated before; a row has its profile's verifiers beside the profile's name.
        request = ScoreRequest.model_construct(
            verifiers=verifiers, groups=[group for _, group in rows]
        )
        scored = await scoring_of(request, engine).run(math.inf)
        lines = []
        for (index, group), completions in zip(rows, scored.groups, strict=True):
            chosen = request.chosen_for(group)
            lines += [*group_pieces(group.id, completions, chosen, index=index), b"\n"]
        return b"".join(lines)

    with out.open("ab") as file:
        async with in_flight(score(rows) for rows in _batches(left)) as scored:
            async for lines in scored:
                _write(file, lines, on_scored)


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
