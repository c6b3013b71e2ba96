"""The constraints of a reference, in the forms in which data sets ship them."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any

MAX_INSTRUCTIONS = 64

InstructionRow = tuple[str, dict[str, Any]]
"""The id of a constraint, and its arguments."""


class BadRow(ValueError):
    """The fields of a reference are no constraints; the message names the field."""


def instructions_in(reference: Mapping[str, Any]) -> list[InstructionRow] | None:
    """The constraints of a reference; None where it has no field with any.

    | fields | shipped by |
    |---|---|
    | `instructions`: list of `{id, kwargs}` | this service |
    | `instruction_id_list` and `kwargs` (lists, or their JSON texts) | IFEval, IFBench, NeMo Gym |
    | `ground_truth`: the text of a list with one object of `instruction_id` and `kwargs` | \
IF-RLVR, IFBench's training data |

    Raises:
        BadRow: the fields have another form.
    """
    if reference.get("instructions") is not None:
        return _listed(reference["instructions"])
    for names in ("instruction_id_list", "instruction_id"):
        if reference.get(names) is not None:
            return _paired(names, reference[names], reference.get("kwargs"))
    for field in ("ground_truth", "answer"):
        if reference.get(field) is not None:
            return _of_ground_truth(field, reference[field])
    return None


def _listed(given: Any) -> list[InstructionRow]:
    found = []
    for index, one in enumerate(_list("instructions", given)):
        name = one.get("id") if isinstance(one, Mapping) else None
        if not isinstance(name, str):
            raise BadRow(f"instructions.{index}: expected an object with `id` and `kwargs`")
        found.append((name, _arguments(f"instructions.{index}.kwargs", one.get("kwargs"))))
    return found


def _paired(field: str, names: Any, arguments: Any) -> list[InstructionRow]:
    ids = _list(field, names)
    if any(not isinstance(one, str) for one in ids):
        raise BadRow(f"{field}: expected a list of ids")
    every = [None] * len(ids) if arguments is None else _list("kwargs", arguments)
    if len(every) != len(ids):
        raise BadRow(f"kwargs: {len(every)} objects for {len(ids)} constraints")
    pairs = zip(ids, every, strict=True)
    return [(one, _arguments(f"kwargs.{n}", given)) for n, (one, given) in enumerate(pairs)]


def _of_ground_truth(field: str, given: Any) -> list[InstructionRow]:
    found = _parsed(field, given)
    if isinstance(found, list) and len(found) == 1:
        found = _parsed(field, found[0])
    if not isinstance(found, Mapping):
        raise BadRow(f"{field}: expected a list with one object of `instruction_id` and `kwargs`")
    names = found.get("instruction_id", found.get("instruction_id_list"))
    if names is None:
        raise BadRow(f"{field}: it has no `instruction_id`")
    return _paired(f"{field}.instruction_id", names, found.get("kwargs"))


def _list(field: str, given: Any) -> list[Any]:
    found = _parsed(field, given)
    if not isinstance(found, list) or not 1 <= len(found) <= MAX_INSTRUCTIONS:
        raise BadRow(f"{field}: expected a list of 1 to {MAX_INSTRUCTIONS} constraints")
    return found


def _arguments(field: str, given: Any) -> dict[str, Any]:
    found = {} if given is None else _parsed(field, given)
    if not isinstance(found, Mapping):
        raise BadRow(f"{field}: expected an object")
    return dict(found)


def _parsed(field: str, given: Any) -> Any:
    """A value, or the one whose JSON or Python literal a text holds. Raises BadRow."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(given)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise BadRow(f"{field}: a text that is no JSON") from error
