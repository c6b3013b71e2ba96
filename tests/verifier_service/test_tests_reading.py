"""Readings of test code: made once for all programs with the same tests, and never by a program."""

from __future__ import annotations

import ast
import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.attacks.twins import load_forms
from tests.shared_data import shared_data
from verifier_service.code import run_tests as module
from verifier_service.code.findings import Findings
from verifier_service.code.journal import MAX_READING_BYTES, read_journal
from verifier_service.code.kept_readings import KeptReadings
from verifier_service.code.languages import LANGUAGES
from verifier_service.code.reference_tests import Asserts, read_tests
from verifier_service.code.run_tests import ENTRIES, Plan, run_tests
from verifier_service.code.syntax_tree import children, inner_nodes, walk
from verifier_service.code.tests_reading import AssertsReading, NotApart, read_test_code
from verifier_service.sandbox.execution import Limits
from verifier_service.sandbox.runner import Runner

PLAN = Plan(Limits(cpu_seconds=100.0, wall_seconds=1000.0), 1000.0, 1000.0, run_all=True)


class Readings(KeptReadings):
    """Readings that tell what was kept."""

    def __init__(self) -> None:
        super().__init__(max_bytes=2**20)
        self.kept: list[str] = []

    def keep(self, tests: str, reading: str) -> None:
        self.kept.append(reading)
        super().keep(tests, reading)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Readings:
    """Readings of this test alone."""
    found = Readings()
    monkeypatch.setattr(module, "_readings", found)
    return found


def judge(programs: list[str], tests: dict[str, Any]) -> list[Findings]:
    """The findings of programs that are judged one after the other."""

    async def run() -> list[Findings]:
        async with Runner(1, entries=ENTRIES, expects_pairs=True) as runner:
            asked = read_tests({"tests": tests})
            python = LANGUAGES["python"]
            return [await run_tests(runner, python, one, asked, PLAN) for one in programs]

    return asyncio.run(run())


CHECK = """
import unittest
CASES = [(1, 2), (2, 4), (3, 6)]
def check(candidate):
    for given, expected in CASES:
        assert candidate(given) == expected
    assert math.isclose(candidate(0.5), 1.0)
class Test(unittest.TestCase):
    @unittest.skipIf(1 > 2, "never")
    def test_a(self): self.assertEqual(double(4), 8)
"""


def test_a_reading_is_made_once_and_judges_the_same(readings: Readings) -> None:
    right, wrong = "def double(x): return 2 * x", "def double(x): return 2 if x == 1 else 3 * x"
    asked = {"type": "asserts", "code": CHECK, "entry_point": "double"}
    first, *others = judge([wrong, right, wrong, "1 / 0"], asked)
    assert len(readings.kept) == 1
    assert (first.num_passed, first.total) == (1, 5)
    assert [(one.num_passed, one.total) for one in others] == [(5, 5), (1, 5), (0, 5)]
    again = judge([wrong], asked | {"code": CHECK + "\n"})  # other tests, so read again
    assert len(readings.kept) == 2
    assert again == [first]
    assert others[1] == first


def test_a_method_of_a_solution_is_found_with_a_kept_reading(readings: Readings) -> None:
    method = "class Solution:\n    def double(self, x): return 2 * x"
    function = "def double(x): return 2 * x"
    tests = {"type": "asserts", "code": CHECK.partition("class")[0], "entry_point": "double"}
    assert [one.num_passed for one in judge([function, method, function, method], tests)] == [4] * 4
    assert len(readings.kept) == 1


def test_tests_that_cannot_be_judged_leave_no_reading(readings: Readings) -> None:
    tests = {"type": "asserts", "code": "from unittest import mock\nassert f(1) == 1"}
    reasons = [found.reason for found in judge(["def f(x): return 1"] * 2, tests)]
    assert reasons == ["unsupported_test"] * 2
    assert readings.kept == []


def test_a_program_cannot_make_a_reading() -> None:
    """Its results come after the first line, which the judge writes before it asks for any."""
    lines = [["total", 2], ["reading", "of a program"], ["passed"], ["passed"], ["done"]]
    record = read_journal(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert record.reading == ""
    assert record.findings is not None
    assert record.findings.num_passed == 0  # nothing is believed from there on
    lines[0], lines[1] = lines[1], lines[0]
    assert read_journal(b"".join(json.dumps(line).encode() + b"\n" for line in lines)).reading


@pytest.mark.parametrize("line", ['["reading", 5]', '["reading"]', '["reading", "a", "b"]'])
def test_a_malformed_reading_is_none(line: str) -> None:
    assert read_journal(f"{line}\n".encode()).reading == ""


def test_a_large_reading_is_not_kept(readings: Readings) -> None:
    code = "\n".join(f"assert f({number}) == {number}" for number in range(12_000))
    found = judge(["def f(x): return x"], {"type": "asserts", "code": code})
    assert found[0].num_passed == 12_000
    assert readings.kept == []
    packed = read_test_code({"code": code, "entry_point": None, "module": None}).pack()
    assert len(packed) > MAX_READING_BYTES


def codes() -> Iterator[tuple[str, str | None]]:
    """Test code of all forms, with its entry point."""
    for form in load_forms():
        if isinstance(form.tests, Asserts):
            yield form.tests.code, form.tests.entry_point
    for row in shared_data("code/humaneval.jsonl.gz"):
        yield row["test"], row["entry_point"]


def test_a_packed_reading_is_whole() -> None:
    num_read = 0
    for code, entry_point in codes():
        try:
            reading = read_test_code({"code": code, "entry_point": entry_point, "module": None})
        except NotApart:
            continue
        assert AssertsReading.unpack(reading.pack()) == reading
        num_read += 1
    assert num_read > 164


def test_the_least_recently_used_reading_goes() -> None:
    kept = KeptReadings(max_bytes=100)
    kept.keep("a", "A" * 40)
    kept.keep("b", "B" * 40)
    assert kept.get("a") == "A" * 40
    kept.keep("c", "C" * 40)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == ("A" * 40, "", "C" * 40)
    kept.keep("c", "C" * 60)
    assert (kept.get("a"), kept.get("c")) == ("A" * 40, "C" * 60)
    kept.keep("d", "D" * 101)
    assert [kept.get(name) for name in "abcd"] == [""] * 4


def test_every_node_but_contexts_and_operators_is_walked() -> None:
    leaves = ast.expr_context | ast.operator | ast.unaryop | ast.cmpop | ast.boolop
    for code, _ in codes():
        tree = ast.parse(code)
        expected = {node for node in ast.walk(tree) if not isinstance(node, leaves)}
        found = walk(tree)
        assert len(found) == len(expected)
        assert set(found) == expected
        named = {node for node in expected if isinstance(node, ast.Name | ast.Constant)}
        assert set(inner_nodes(found)) == expected - named
        assert all(children(node) == [] for node in named)
