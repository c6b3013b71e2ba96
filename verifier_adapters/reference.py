"""References from columns that other frameworks call label, gold, solution or ground truth.

An adapter's argument `column` (`key` in rllm) says which column it is. Values of numpy and pandas
become plain ones, and a row may name its own verifiers. What a framework posts by itself is read by
`verifier_service.compat.label`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any

from reward_verifier.errors import VerifierRejected

OTHER_MEANING = "Where this column means something else, set own_verifiers to False"
"""Advice about a column that is named as a choice of verifiers and holds something else."""


def reference_of(label: Any) -> dict[str, Any]:
    """The `reference` for a label, by the same rules as the service's own endpoints.

    | label | reference |
    |---|---|
    | text, number, list of texts | `{"answer": label}` |
    | object of tests: with `inputs` and `outputs`, or `type` and `cases` or `code` | \
`{"tests": label}` |
    | any other object | the object itself |
    | JSON text of an object with keys (`{}` is an answer, the empty set) | the object's |
    | None, or NaN as pandas has it for a missing value | `{}` |
    | JSON text of an object with a key twice, or with `NaN` or `1e999`, which readers take for \
different ones | `{}`, which is unverifiable |

    Arrays and scalars of numpy count as the lists and numbers that they hold.

    >>> reference_of("1/2")
    {'answer': '1/2'}
    >>> reference_of('{"inputs": ["3"], "outputs": ["9"]}')
    {'tests': {'inputs': ['3'], 'outputs': ['9']}}
    """
    if isinstance(label, str):
        try:
            label = _object_in(label) or label
        except _FlawedObject:
            return {}
    label = without_arrays(label)
    if is_missing(label):
        return {}
    if not isinstance(label, Mapping):
        return {"answer": label}
    is_tests = label.keys() >= {"inputs", "outputs"} or (
        "type" in label and bool(label.keys() & {"cases", "code"})
    )
    return {"tests": dict(label)} if is_tests else dict(label)


def without_arrays(value: Any) -> Any:
    """The value with dictionaries, lists and numbers of Python for those of numpy and OmegaConf."""
    if isinstance(value, Mapping):
        return {name: without_arrays(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [without_arrays(inner) for inner in value]
    found = getattr(value, "tolist", lambda: value)()
    return value if type(found) is type(value) else without_arrays(found)


def is_missing(value: Any) -> bool:
    """Whether a cell of a table has no value: None, NaN as numpy has it, or NA as pandas has it."""
    if isinstance(value, Real):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def selection_of(columns: Mapping[str, Any]) -> dict[str, Any] | None:
    """The verifiers that a row of a data set names for itself; None where it names none.

    The column `profile` has a name; the column `verifiers` a list as in `POST /v1/score`, or its
    JSON text, because columns of a table fill the options that a verifier has not with null.

    Raises:
        ValueError: the column `verifiers` has no list.

    >>> selection_of({"answer": "4", "profile": "math"})
    {'profile': 'math'}
    >>> selection_of({"verifiers": '[{"type": "code"}]'})
    {'verifiers': [{'type': 'code'}]}
    """
    profile, verifiers = (
        None if is_missing(value) else value
        for value in (columns.get("profile"), columns.get("verifiers"))
    )
    if isinstance(verifiers, str):
        try:
            verifiers = json.loads(verifiers)
        except ValueError as error:
            message = f"the column `verifiers` has the text {verifiers[:100]!r}, expected JSON"
            raise ValueError(message) from error
    if verifiers is not None:
        if isinstance(verifiers, str | bytes | Mapping) or not isinstance(verifiers, Iterable):
            found = type(verifiers).__name__
            raise ValueError(f"the column `verifiers` has a {found}, expected a list of verifiers")
        kept = [_without_null(one) if isinstance(one, Mapping) else one for one in verifiers]
        return {"verifiers": kept}
    return None if profile is None else {"profile": profile}


def own_selection(columns: Any, *, own_verifiers: bool) -> list[dict[str, Any] | None]:
    """The selection of the only row of a call, for `Verifier.judge`.

    Args:
        columns: the row's columns; anything else than a mapping names no verifiers.
        own_verifiers: whether a row's `profile` and `verifiers` choose its verifiers.

    Raises:
        ValueError: the column `verifiers` has no list.
    """
    if not own_verifiers or not isinstance(columns, Mapping):
        return [None]
    try:
        return [selection_of(columns)]
    except ValueError as error:
        raise ValueError(f"{error}. {OTHER_MEANING}") from error


def label_in(columns: Mapping[str, Any], name: str, setting: str) -> Any:
    """The labels in a column.

    Args:
        columns: by their names.
        name: of the column.
        setting: how another column is named, with braces for its name: `column={!r}`.

    Raises:
        KeyError: there is no such column; the message has the others.
    """
    if name in columns:
        return columns[name]
    names = sorted(map(str, columns))
    message = f"the data set has no column {name!r} with the references; its columns are {names}"
    usual = next((other for other in _USUAL_COLUMNS if other in names), None)
    raise KeyError(message if usual is None else f"{message}; set {setting.format(usual)}")


_USUAL_COLUMNS = ("solution", "answer", "label", "ground_truth")
"""Names that columns with references usually have, as an error proposes them."""


def _without_null(verifier: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in verifier.items() if value is not None}


def selections_in(columns: Mapping[str, Any], num_rows: int) -> list[dict[str, Any] | None]:
    """The selection of each row, from columns with one value a row; raises ValueError."""
    named = {name: columns[name] for name in ("profile", "verifiers") if columns.get(name)}
    selections = []
    for index in range(num_rows):
        try:
            row = {name: column[index] for name, column in named.items()}
            selections.append(selection_of(row))
        except ValueError as error:
            raise ValueError(f"row {index}: {error}. {OTHER_MEANING}") from error
    return selections


@contextmanager
def naming_columns(selections: Sequence[Mapping[str, Any] | None]) -> Iterator[None]:
    """Add to a refusal that columns of the data set have chosen the verifiers, if they have."""
    try:
        yield
    except VerifierRejected as error:
        names = sorted({f"`{name}`" for one in selections if one for name in one})
        if not names or type(error) is not VerifierRejected:
            raise
        raise VerifierRejected(
            f"{error}. The verifiers were chosen by the data set's column {' and '.join(names)}. "
            f"{OTHER_MEANING}"
        ) from error


class _FlawedObject(Exception):
    """A JSON text holds an object that readers may take for different ones."""


def _object_in(text: str) -> dict[str, Any] | None:
    """The object that a JSON text holds; None for another text. Raises _FlawedObject."""
    if not text.lstrip().startswith("{"):
        return None
    flaws: list[str] = []

    def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            flaws.append("a key twice")
        return found

    def read_number(digits: str) -> float:
        number = float(digits)
        if math.isinf(number):
            flaws.append(digits)
        return number

    try:
        found = json.loads(
            text,
            object_pairs_hook=read_object,
            parse_constant=flaws.append,
            parse_float=read_number,
        )
    except (ValueError, RecursionError):
        return None
    if flaws:
        raise _FlawedObject
    return found if isinstance(found, dict) else None
