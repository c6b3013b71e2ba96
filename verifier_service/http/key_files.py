"""Files of API keys: hashes one in a line, or YAML with a name and limits for each key.

    training:
      hash: c068ec2539a05d552117afe04157739b03bec9f85fa9bc8fdc6e67a53efdd140
    evaluation:
      hash: 970a47b9...
      max_requests_per_minute: 600
      max_pending_completions: 4096
      verifiers: [accuracy, format]

A message about a file shows nothing that may be a key.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from verifier_service import strict_yaml
from verifier_service.engine.allowance import KeyLimits
from verifier_service.http.api_keys import PREFIX, UNNAMED, ApiKey, is_hash
from verifier_service.validation import did_you_mean

Limit = Annotated[int, Field(gt=0)]

# A name that cannot spoil a line of the log, and is a label of the metrics: `team-a.training`.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class _KeyEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    hash: str
    max_pending_completions: Limit | None = None
    max_requests_per_minute: Limit | None = None
    verifiers: Annotated[list[str], Field(min_length=1)] | None = None


_ENTRIES = TypeAdapter(dict[str, _KeyEntry])


def read_hashes(path: Path) -> tuple[str, ...]:
    """The hashes in a file, one in a line; # begins a comment. Raises ValueError."""
    stripped = [line.partition("#")[0].strip() for line in _text(path).splitlines()]
    for number, line in enumerate(stripped, 1):
        if line and not is_hash(line):
            raise ValueError(f"{path}: line {number} is not the hash that new-key prints")
    return tuple(line for line in stripped if line)


def read_keys(path: Path, known_verifiers: Collection[str]) -> tuple[ApiKey, ...]:
    """The named keys in a YAML file. Raises ValueError.

    Args:
        path: of the file.
        known_verifiers: types of the verifiers that a key may name.
    """
    found = _mapping(path)
    if not found:  # a service without a key is open to everybody
        raise ValueError(f"{path} has no key: name one, with the hash that new-key prints")
    for number, name in enumerate(found, 1):
        _check_name(path, number, name)
    try:
        entries = _ENTRIES.validate_python(found)
    except ValidationError as error:
        # A name that there is not first: what is missing then is likely what it meant.
        errors = error.errors(include_input=False)
        first = min(errors, key=lambda one: one["type"] != "extra_forbidden")
        raise ValueError(f"{path}: {'.'.join(map(str, first['loc']))}: {_told(first)}") from error
    for name, entry in entries.items():
        _check(path, name, entry, known_verifiers)
    return tuple(ApiKey(name, entry.hash, _limits(entry)) for name, entry in entries.items())


def _told(error: ErrorDetails) -> str:
    if error["type"] != "extra_forbidden":
        return error["msg"]
    near = get_close_matches(str(error["loc"][-1]), _KeyEntry.model_fields, n=1)
    return f"no such setting; did you mean {near[0]}?" if near else "no such setting"


def check_distinct(keys: Collection[ApiKey]) -> None:
    """Raise ValueError if two keys have one hash: which name and limits hold would be unsaid."""
    repeated = {one for one, number in Counter(key.hash for key in keys).items() if number > 1}
    if repeated:
        names = sorted(key.name for key in keys if key.hash in repeated)
        raise ValueError(f"one hash stands for several API keys: {', '.join(names)}")


def _check_name(path: Path, number: int, name: object) -> None:
    """Raise ValueError for a name that is none; it is not shown, as it may be a key itself."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"{path}: entry {number} has no right name: up to 64 letters, digits, dots, dashes "
            "and underscores"
        )
    if name == UNNAMED or name.startswith(PREFIX):
        raise ValueError(
            f"{path}: entry {number}: a name is not {UNNAMED!r} and does not begin with {PREFIX!r}"
        )


def _check(path: Path, name: str, entry: _KeyEntry, known_verifiers: Collection[str]) -> None:
    if not is_hash(entry.hash):
        raise ValueError(f"{path}: {name}.hash is not the hash that new-key prints")
    if unknown := sorted(set(entry.verifiers or ()) - set(known_verifiers)):
        raise ValueError(
            f"{path}: {name}.verifiers: no such verifier: {unknown}; there are "
            f"{sorted(known_verifiers)}{did_you_mean(unknown[0], known_verifiers)}"
        )


def _limits(entry: _KeyEntry) -> KeyLimits:
    return KeyLimits(
        max_pending_completions=entry.max_pending_completions,
        max_requests_per_minute=entry.max_requests_per_minute,
        verifiers=None if entry.verifiers is None else tuple(entry.verifiers),
    )


def _mapping(path: Path) -> dict[object, object]:
    try:
        found = strict_yaml.load(_text(path))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f": line {mark.line + 1}" if mark else ""
        twice = strict_yaml.TWICE  # other texts of errors may quote the file
        problem = twice if getattr(error, "problem", "") == twice else "the file is not YAML"
        raise ValueError(f"{path}{place}: {problem}") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"{path}: expected names of keys, each with a hash and limits")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} cannot be read: it is no text in UTF-8") from error
