"""Readings of test code: made once for all programs with the same tests, and never by a program."""

from __future__ import annotations

import ast
import asyncio
import hashlib
import json
import mmap
import os
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.attacks.twins import load_forms
from tests.shared_data import shared_data
from verifier_service import frames
from verifier_service.code import run_tests as module
from verifier_service.code.findings import Findings
from verifier_service.code.journal import MAX_READING_BYTES, read_journal
from verifier_service.code.kept_readings import NUM_SLOTS, TABLE_BYTES, KeptReadings
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reference_tests import Asserts, read_tests
from verifier_service.code.repeated_program import Plan
from verifier_service.code.run_tests import ENTRIES, run_tests
from verifier_service.code.syntax_tree import children, inner_nodes, walk
from verifier_service.code.tests_reading import AssertsReading, NotApart, read_test_code
from verifier_service.completion import Completion
from verifier_service.sandbox.execution import Execution, Limits, Program
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Verdict
from verifier_service.workers.sources import CodeWorkers
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, from_worker

PLAN = Plan(Limits(cpu_seconds=100.0, wall_seconds=1000.0), 1000.0, 1000.0, run_all=True)


class Readings(KeptReadings):
    """Readings that tell what was kept."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[str] = []

    def keep(self, tests: str, reading: str) -> None:
        self.kept.append(reading)
        super().keep(tests, reading)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Readings:
    """Readings of this test alone."""
    found = Readings()
    monkeypatch.setattr(module, "readings", found)
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


@pytest.mark.parametrize(
    "line", ['["reading", 5]', '["reading"]', '["reading", "a", "b"]', r'["reading", "\ud800"]']
)
def test_a_malformed_reading_is_none(line: str) -> None:
    assert read_journal(f"{line}\n".encode()).reading == ""


@pytest.mark.slow
def test_a_large_reading_is_not_kept(readings: Readings) -> None:
    code = "\n".join(f"assert f({number}) == {number}" for number in range(3_000))
    found = judge(["def f(x): return x"], {"type": "asserts", "code": code})
    assert found[0].num_passed == 3_000
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


@pytest.fixture
def file() -> Iterator[int]:
    """The descriptor of a table that processes can share."""
    descriptor = KeptReadings.create_file()
    yield descriptor
    os.close(descriptor)


def sharing(file: int) -> KeptReadings:
    """Readings in a file, as a worker of a pool has them."""
    kept = KeptReadings()
    kept.share(file)
    return kept


def test_readings_are_shared_through_a_file(file: int) -> None:
    one, other, alone = sharing(file), sharing(file), KeptReadings()
    for kept in (one, alone):
        kept.keep("a", "A" * 40)
    assert one.get("a") == other.get("a") == alone.get("a") == "A" * 40
    assert other.get("b") == ""
    other.keep("a", "shorter")
    assert (one.get("a"), alone.get("a")) == ("shorter", "A" * 40)


def test_tests_of_one_slot_take_its_place_from_each_other(file: int) -> None:
    def slot(tests: str) -> int:
        return int.from_bytes(hashlib.sha256(tests.encode()).digest()) % NUM_SLOTS

    same = next(str(number) for number in count() if slot(str(number)) == slot("a"))
    other = next(str(number) for number in count() if slot(str(number)) != slot("a"))
    kept = sharing(file)
    for tests in ("a", other, same):
        kept.keep(tests, f"of {tests}")
    assert [kept.get(tests) for tests in ("a", other, same)] == ["", f"of {other}", f"of {same}"]


def test_a_record_with_any_bit_changed_is_none(file: int) -> None:
    """Two processes that write at once leave a part of each record."""
    kept = sharing(file)
    kept.keep("a", "A" * 40)
    with mmap.mmap(file, TABLE_BYTES) as table:
        start = table.find(hashlib.sha256(b"a").digest())
        end = table.find(b"A" * 40) + 40
        for place in range(start, end):
            table[place] ^= 128
            assert kept.get("a") == "", place - start
            table[place] ^= 128
            assert kept.get("a") == "A" * 40


def test_a_mix_of_two_readings_of_the_same_tests_is_none(file: int) -> None:
    """Their judges may have packed them differently."""
    kept = sharing(file)
    kept.keep("a", "B" * 40)
    with mmap.mmap(file, TABLE_BYTES) as table:
        start = table.find(hashlib.sha256(b"a").digest())
        end = table.find(b"B" * 40) + 40
        before = table[start:end]
        kept.keep("a", "A" * 40)
        after = table[start:end]
        for cut in range(len(after) + 1):
            table[start:end] = after[:cut] + before[cut:]
            whole = {before: "B" * 40, after: "A" * 40}
            assert kept.get("a") == whole.get(table[start:end], "")


def test_a_reading_larger_than_a_slot_is_not_kept(file: int) -> None:
    kept = sharing(file)
    kept.keep("a", "A" * MAX_READING_BYTES)
    assert kept.get("a") == "A" * MAX_READING_BYTES
    kept.keep("b", "B" * (MAX_READING_BYTES + 1))
    assert kept.get("b") == ""


def test_a_table_takes_memory_for_what_is_kept_only(file: int) -> None:
    sharing(file).keep("a", "A" * 40)
    assert 0 < os.fstat(file).st_blocks * 512 <= 2 * mmap.PAGESIZE < TABLE_BYTES


# Sees what the table's file would be known by, in whatever descriptor it had.
SHOW_DESCRIPTORS = """
import os
for descriptor in range(1024):
    try:
        status = os.fstat(descriptor)
    except OSError:
        continue
    print(status.st_dev, status.st_ino)
"""


def test_no_program_has_the_table(file: int) -> None:
    """A worker that let every process it starts inherit the descriptor would change nothing."""
    os.set_inheritable(file, True)

    async def run() -> Execution:
        async with Runner(1, entries=ENTRIES) as runner:
            return await runner.run(Program(payload=SHOW_DESCRIPTORS.encode()), PLAN.limits)

    ran = asyncio.run(run())
    assert ran.succeeded
    status = os.fstat(file)
    found = ran.stdout.decode().splitlines()
    assert len(found) >= 3
    assert f"{status.st_dev} {status.st_ino}" not in found


def verdict_of_new_worker(source: CodeWorkers, task: Task) -> tuple[float | None, str]:
    """Score and reason of the task's only completion."""
    worker = source.start_worker()
    with worker.connection:
        worker.connection.sendall(frames.pack(EncodedTask.of(task, "code").body))
        (verdict,) = from_worker.decode(frames.receive_frame(worker.connection)).verdicts
    worker.position.close()
    os.close(worker.pidfd)
    os.close(worker.stat)
    assert isinstance(verdict, Verdict)
    return verdict.score, verdict.reason


def test_workers_of_a_pool_read_tests_once() -> None:
    """The second uses what the first has kept: a reading that was changed on the way is seen."""
    tests = {"type": "asserts", "code": "assert f(1) == 1"}
    asked = read_tests({"tests": tests})
    part = TaskPart.of({"tests": tests}, [Completion("```python\ndef f(x): return x\n```")])
    task = Task.of({"type": "code"}, [part])
    source = CodeWorkers()
    kept = sharing(source._readings)
    key = json.dumps({**asked.model_dump(exclude={"files"}), "run_all": False})
    try:
        assert verdict_of_new_worker(source, task) == (1.0, "passed")
        reading = kept.get(key)
        assert reading
        unlike = read_test_code({"code": "assert f(1) == 2", "entry_point": None, "module": None})
        kept.keep(key, unlike.pack())
        assert verdict_of_new_worker(source, task) == (0.0, "wrong_answer")
    finally:
        source.close()


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
