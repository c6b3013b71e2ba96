"""Details of a verdict `different`: the first argument, field or row that decided."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import verdicts
from verifier_service.difference import difference
from verifier_service.structures.comparison import first_difference, is_same
from verifier_service.verifier import TextVerifier, Unverifiable
from verifier_service.verifiers.puzzle import Puzzle
from verifier_service.verifiers.sql import Sql
from verifier_service.verifiers.structured_output import StructuredOutput
from verifier_service.verifiers.tool_calls import ToolCalls

MISSING_CALL = {"name": "f", "arguments": {"city": ["Paris"], "days": [3, 4]}}
LEAF = st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-2, 2) | st.sampled_from("ab1")
VALUE = st.recursive(LEAF, lambda one: st.lists(one) | st.dictionaries(st.sampled_from("xy"), one))


def shown(verifier: TextVerifier, reference: dict[str, Any], text: str) -> Any:
    """The path, the wanted and the given side of a difference; "-" for a side that has none."""
    found = judge(verifier, reference, text)
    assert found.reason.value == "different"
    sides = (found.details or {}).get("difference")
    return sides and (sides["path"], sides.get("wanted", "-"), sides.get("given", "-"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(city='Rome', days=3)", ("f.city", "Paris", "Rome")),
        ("f(city='Paris')", ("f.days", [3, 4], "-")),
        ("f(city='Paris', days=3, unit='C')", ("f.unit", "-", "C")),
        ("f('Paris', 3)", ("f", {"city": ["Paris"], "days": [3, 4]}, ["Paris", 3])),
        ("g(city='Paris', days=3)", ("0", MISSING_CALL, "-")),
        ("[f(city='Paris', days=3), g(a=1)]", ("g", "-", {"a": 1})),
        ("[f(city='Paris', days=3), f(city='Paris', days=3)]", None),
        ("f(city='\\ud800', days=3)", ("f.city", "Paris", "?")),
        (f"f(city={10**30}, days=3)", ("f.city", "Paris", "an integer of 100 bits")),
        (f"f(city='{'x' * 5000}', days=3)", ("f.city", "Paris", "x" * 59 + "…")),
    ],
)
def test_tool_calls_show_the_first_wrong_argument(text: str, expected: Any) -> None:
    wanted = {"name": "f", "accepted": {"city": ["Paris"], "days": [3, 4]}}
    assert shown(ToolCalls(reveal_expected=True), {"tool_calls": [wanted]}, text) == expected


def test_optional_names_keys_of_accepted() -> None:
    call = {"name": "f", "accepted": {"city": ["Paris"]}, "optional": ["days"]}
    with pytest.raises(Unverifiable, match=r"`optional` names keys of `accepted`.*'days'"):
        ToolCalls().prepare({"tool_calls": [call]})
    call["optional"] = ["city"]
    assert judge(ToolCalls(), {"tool_calls": [call]}, "f()").score == 1


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ('{"a": [1, {"b": 3}], "c": 1}', {}, ("a.1.b", 2, 3)),
        ('{"a": [1, {"b": 2}], "c": 1, "d": 1}', {}, ("d", "-", 1)),
        ('{"a": [1], "c": 1}', {}, ("a.1", {"b": 2}, "-")),
        ("[1]", {}, ("", {"a": [1, {"b": 2}], "c": 1}, [1])),
        ('{"a": [1, {"b": 2}]}', {"scoring": "fields"}, ("c", 1, "-")),
        ('{"a": [1, {"b": 2}], "c": 2}', {"paths": ["a.0", "c"]}, ("c", 1, 2)),
        ('{"a": [1]}', {"paths": ["a.0", "a.1.b"]}, ("a.1.b", 2, "-")),
        ('{"a": [2]}', {"paths": ["a"]}, ("a.0", 1, 2)),
    ],
)
def test_structured_output_shows_the_first_field(
    text: str, options: dict[str, Any], expected: Any
) -> None:
    reference = {"value": {"a": [1, {"b": 2}], "c": 1}}
    assert shown(StructuredOutput(**options, reveal_expected=True), reference, text) == expected


def test_structured_output_shows_a_row_without_order() -> None:
    verifier = StructuredOutput(format="csv", row_order=False, reveal_expected=True)
    reference = {"value": [{"a": 1}, {"a": 2}]}
    assert shown(verifier, reference, "a\n2\n3") == ("0", {"a": 1}, "-")
    assert shown(verifier, reference, "a\n2") == ("", "2 rows", "1 rows")


@pytest.mark.slow
@given(VALUE, VALUE, st.booleans())
def test_a_difference_is_found_where_values_differ(found: Any, wanted: Any, texts: bool) -> None:
    details = first_difference(found, wanted, 0.0, texts=texts)
    assert (not details) == is_same(found, wanted, 0.0, texts=texts)


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        ("SELECT a FROM t WHERE a <> 2", {}, ("rows.1", [2], "-")),
        ("SELECT a FROM t UNION ALL SELECT 9", {}, ("rows.3", "-", [9])),
        ("SELECT a FROM t ORDER BY a DESC", {"rows": "list"}, ("rows.0", [1], [3])),
        ("SELECT a FROM t WHERE a < 3", {"rows": "list"}, ("rows.2", [3], "-")),
        ("SELECT a FROM t UNION ALL SELECT 1", {"rows": "multiset"}, ("rows.3", "-", [1])),
        ("SELECT a FROM t WHERE a < 3", {"rows": "set"}, ("rows.2", [3], "-")),
        ("SELECT a AS b FROM t", {"column_names": True}, ("columns", ["a"], ["b"])),
        ("SELECT 9e999 UNION SELECT a FROM t", {"rows": "set"}, ("rows.3", "-", ["inf"])),
        ("SELECT x'00ff'", {"rows": "list"}, ("rows.0", [1], ["x'00ff'"])),
    ],
)
def test_sql_shows_the_first_row(query: str, options: dict[str, Any], expected: Any) -> None:
    database = "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)"
    reference = {"database": database, "query": "SELECT a FROM t"}
    assert shown(Sql(**options, reveal_expected=True), reference, query) == expected


SECRET = "secret-value"
SECRET_CALL = {"name": "f", "arguments": {"a": SECRET}}


@pytest.mark.parametrize(
    ("verifier", "reference", "text"),
    [
        (ToolCalls(), {"tool_calls": [SECRET_CALL]}, "f(a=1)"),
        (ToolCalls(), {"tool_calls": [SECRET_CALL]}, "f(1, 2)"),
        (ToolCalls(), {"tool_calls": [{"name": SECRET, "arguments": {}}]}, "f(a=1)"),
        (ToolCalls(scoring="f1"), {"tool_calls": [SECRET_CALL, SECRET_CALL]}, "f(a=1)"),
        (StructuredOutput(), {"value": {"a": SECRET}}, '{"a": 1}'),
        (StructuredOutput(), {"value": {"a": SECRET}}, "[1]"),
        (StructuredOutput(), {"value": {"a": SECRET}}, "{}"),
        (StructuredOutput(scoring="fields"), {"value": [SECRET, 1]}, "[2, 1]"),
        (StructuredOutput(paths=["a"]), {"value": {"a": SECRET}}, '{"b": 1}'),
        (StructuredOutput(row_order=False), {"value": [{"a": SECRET}]}, '[{"a": 1}]'),
        (Sql(), {"database": "CREATE TABLE t (a)", "rows": [[SECRET]]}, "SELECT 1"),
        (Sql(rows="list"), {"database": "CREATE TABLE t (a)", "rows": [[SECRET]]}, "SELECT 1"),
        (
            Sql(column_names=True),
            {"database": "CREATE TABLE t (a)", "rows": [[1]], "columns": [SECRET]},
            "SELECT 1",
        ),
        (Puzzle(), {"puzzle": "set", "items": [SECRET, "b"]}, "[c]"),
        (Puzzle(scoring="parts"), {"puzzle": "grid", "grid": [[SECRET, 1]]}, "2 1"),
        (Puzzle(), {"puzzle": "order", "order": [SECRET, "b"]}, "c, d"),
        (Puzzle(), {"puzzle": "cells", "cells": {"a": {"b": SECRET}}}, '{"a": {"b": "c"}}'),
        (Puzzle(), {"puzzle": "edges", "edges": [[SECRET, "b"]]}, "(c, d)"),
    ],
)
def test_details_hold_nothing_of_the_reference(
    verifier: TextVerifier, reference: dict[str, Any], text: str
) -> None:
    found = judge(verifier, reference, text)
    assert found.score < 1
    assert SECRET not in json.dumps(found.details)
    assert SECRET in json.dumps(reference)


def test_a_difference_is_small_whatever_the_values_hold() -> None:
    deep: Any = "x" * 1000
    for _ in range(60):
        deep = {"k" * 1000: deep, "b": [deep] * 50}
    for value in (deep, [deep] * 50, ["\ud800\0" * 500] * 50, 10**5000, float("nan"), b"\0" * 5000):
        details = difference(["p" * 1000] * 1000, value, value)
        assert len(json.dumps(details).encode()) < 40_000


@pytest.mark.slow
def test_a_difference_takes_time_in_proportion_to_the_values() -> None:
    def compare(text: str) -> None:
        value = [{"a": [one]} for one in text]
        assert first_difference([*value, 1], [*value, 2], 0.0, texts=False)

    assert_linear(compare, "ab", num_characters=50_000)


def test_the_service_answers_with_the_difference(http: httpx.Client) -> None:
    reference = {"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}
    (found,) = verdicts(http, {"type": "tool_calls"}, "f(a='\\ud800')", **reference)
    expected = {"met": 0, "wanted": 1, "given": 1}
    sides = {"path": "f.a", "given": "?"}
    assert found["details"] == {**expected, "difference": sides}
