"""The items of a rubric, in the shapes in which data sets ship them.

| item | shipped by |
|---|---|
| `{text, points, required, rule}`, or a text alone | this service |
| `{criterion, points, tags}` under `rubrics` | HealthBench |
| `{question, pass_criteria, weight}` | NeMo Gym |
| `{title, description, weight}` | Rubrics as Rewards |
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from verifier_service.model_judge.open_answer import MAX_GIVEN_CHARACTERS, cleaned
from verifier_service.model_judge.rubric import RubricItem
from verifier_service.reference import bad, check_names, kind, missing

MAX_ITEMS = 64
MAX_POINTS = 1e6
KEYS = ("rubric", "rubrics")
_TEXT_KEYS = ("text", "criterion", "question", "description", "criteria")
_POINT_KEYS = ("points", "weight")
_ANSWERS = {"YES": True, "NO": False}


class RubricRow(NamedTuple):
    """An item, and the rule that decides it, if any."""

    item: RubricItem
    rule: Mapping[str, Any] | None
    field: str
    """Place of the item in the reference, for messages."""


def rubric_rows(reference: Mapping[str, Any]) -> list[RubricRow]:
    """The items of a reference. Raises Unverifiable where no response could be scored by them."""
    key = next((one for one in KEYS if reference.get(one) not in (None, "", [])), None)
    if key is None:
        raise missing(KEYS[0], reference, instead=KEYS[1])
    rows = list(_rows(key, _listed(key, reference[key])))
    if sum(row.item.points for row in rows if row.item.points > 0) <= 0:
        raise bad(key, "expected positive points for at least one item")
    if sum(len(row.item.text) for row in rows) > MAX_GIVEN_CHARACTERS:
        raise bad(key, f"expected at most {MAX_GIVEN_CHARACTERS} characters in all items")
    return rows


def _listed(key: str, given: Any) -> list[Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise bad(key, "a text that is no JSON, expected a list of items") from error
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_ITEMS:
        raise bad(key, f"found {kind(given)}, expected a list of 1 to {MAX_ITEMS} items")
    return given


def _rows(key: str, given: list[Any]) -> Iterator[RubricRow]:
    for index, one in enumerate(given):
        field = f"{key}.{index}"
        if isinstance(one, str):
            one = {"text": one}
        if not isinstance(one, Mapping):
            raise bad(field, f"found {kind(one)}, expected a text or an object with `text`")
        check_names(field, one, _names_for(one))
        required, rule = one.get("required", False), one.get("rule")
        if not isinstance(required, bool):
            raise bad(f"{field}.required", f"found {kind(required)}, expected true or false")
        if rule is not None and not isinstance(rule, Mapping):
            raise bad(f"{field}.rule", f"found {kind(rule)}, expected an object with `type`")
        item = RubricItem(_text(field, one), _points(field, one), required, _expected(field, one))
        yield RubricRow(item, rule, field)


def _names_for(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The names that an item has or may be meant to have: one key of points is enough."""
    points = _POINT_KEYS if _POINT_KEYS[0] not in item and _POINT_KEYS[1] not in item else ()
    present = [key for key in (*_TEXT_KEYS, *_POINT_KEYS) if key in item]
    return (*present, *points, "required", "rule", "pass_criteria")


def _text(field: str, item: Mapping[str, Any]) -> str:
    for key in _TEXT_KEYS:
        text = item.get(key)
        if isinstance(text, str) and cleaned(text):
            return cleaned(text)
    raise bad(field, f"expected a text under `{_TEXT_KEYS[0]}`, `criterion` or `question`")


def _points(field: str, item: Mapping[str, Any]) -> float:
    for key in _POINT_KEYS:
        points = item.get(key)
        if points is None:
            continue
        is_number = isinstance(points, int | float) and not isinstance(points, bool)
        if not is_number or math.isnan(points) or abs(points) > MAX_POINTS:
            raise bad(f"{field}.{key}", f"expected a number of at most {MAX_POINTS:,.0f}")
        return float(points)
    return 1.0


def _expected(field: str, item: Mapping[str, Any]) -> bool:
    given = item.get("pass_criteria", "YES")
    expected = _ANSWERS.get(given.strip().upper()) if isinstance(given, str) else None
    if expected is None:
        raise bad(f"{field}.pass_criteria", "expected YES or NO")
    return expected
