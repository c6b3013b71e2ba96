"""Programs take turns: those that have used least run, the others are stopped meanwhile."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.processes import state_of, until, until_async
from tests.sandbox.conftest import LIMITS
from verifier_service.sandbox import limit_watch, turns
from verifier_service.sandbox.execution import Execution, ExitReason, Limits, Program
from verifier_service.sandbox.limit_watch import LimitWatch
from verifier_service.sandbox.runner import Runner
from verifier_service.sandbox.turns import Turn

LONG = 1000.0
"""Seconds that no test takes."""
PATIENT = dataclasses.replace(LIMITS, cpu_seconds=1.0, wall_seconds=LONG)


@pytest.fixture
def table() -> Iterator[int]:
    descriptor = Turn.create_file(4)
    yield descriptor
    os.close(descriptor)


@pytest.fixture
def no_least_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "GRACE_SECONDS", LONG)


@pytest.mark.usefixtures("no_least_share")
def test_a_long_program_waits_for_as_many_short_ones_as_there_are_processors(table: int) -> None:
    one, two, three = (Turn(table, index, 2) for index in range(3))
    one.enter(LONG)
    assert three.may_run(0.5)
    two.enter(LONG)
    assert not three.may_run(0.5)
    two.rest()
    assert three.may_run(0.5)


def test_a_stopped_program_looks_less_often_while_short_ones_run(table: int) -> None:
    one, two, three = (Turn(table, index, 2) for index in range(3))
    one.enter(LONG)
    assert not three.is_behind_short_ones()
    two.enter(LONG)
    assert three.is_behind_short_ones()
    two.may_run(0.5)  # one of the two is a long program by now: its turn may end soon
    assert not three.is_behind_short_ones()


@pytest.mark.usefixtures("no_least_share")
def test_long_programs_take_turns_by_what_they_have_used(table: int) -> None:
    one, two = (Turn(table, index, 1) for index in range(2))
    assert one.may_run(0.01 + turns.QUANTUM_SECONDS)
    assert not two.may_run(0.02 + turns.QUANTUM_SECONDS)  # of equals the first place
    assert one.may_run(0.05 + turns.QUANTUM_SECONDS)
    one.may_run(0.01 + 2 * turns.QUANTUM_SECONDS)
    assert two.may_run(0.02 + turns.QUANTUM_SECONDS)
    assert not one.may_run(0.01 + 2 * turns.QUANTUM_SECONDS)


@pytest.mark.usefixtures("no_least_share")
def test_cpu_time_counts_for_all_executions_of_a_program(table: int) -> None:
    one, two = (Turn(table, index, 1) for index in range(2))
    two.begin_program()
    two.enter()
    two.leave(0.5)
    one.enter(LONG)
    assert not two.may_run(0.0)
    assert two.is_long(0.0)
    two.begin_program()
    assert not two.is_long(0.0)


@pytest.mark.usefixtures("no_least_share")
def test_the_place_of_a_killed_runner_ends_by_itself(table: int) -> None:
    one, two = (Turn(table, index, 1) for index in range(2))
    one.enter(0.0)
    assert two.may_run(0.5)


@pytest.mark.usefixtures("no_least_share")
def test_the_place_of_a_runner_whose_look_is_late_still_counts(
    table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that other work keeps busy wakes a runner late, again and again."""
    now = 100.0
    monkeypatch.setattr(turns, "time", SimpleNamespace(monotonic=lambda: now))
    one, two = (Turn(table, index, 1) for index in range(2))
    one.may_run(0.0)
    now += 20 * turns.LOOK_SECONDS
    assert not two.may_run(0.5)
    now += 1.0
    assert two.may_run(0.5)


def test_every_program_gets_a_share_however_many_short_ones_there_are(
    table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (Turn(table, index, 1) for index in range(2))
    one.enter(LONG)
    assert not two.may_run(0.5)
    monkeypatch.setattr(turns, "GRACE_SECONDS", -LONG)
    assert two.may_run(0.5)


def test_a_program_gets_all_of_its_time_before_it_would_be_given_up() -> None:
    """However many short ones there are: kept from the processor by turns, it has no verdict."""
    for cpu, wall in ((1.0, 6.0), (4.0, 12.0), (3.0, 3.0), (30.0, 10.0), (300.0, 300.0)):
        limits = Limits(cpu_seconds=cpu, wall_seconds=wall)
        given_up = limit_watch.OVERLOAD_SHARE * max(cpu, wall)
        assert turns.due_seconds(given_up * 0.8, 0.0, limits) >= cpu
        # Over `/run_code`, the share that ends a program at its limit by the clock.
        assert turns.due_seconds(2 * max(cpu, wall), 0.0, limits) >= limit_watch.SHARE * cpu
        assert turns.due_seconds(0.3 * wall, 0.0, limits) < 0.05 * cpu


def test_the_share_is_of_the_time_that_programs_got_and_not_of_the_clocks(
    table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Limits(cpu_seconds=1.0, wall_seconds=LONG)  # the clock alone gives it nothing
    one, two = (Turn(table, index, 1) for index in range(2))
    two.begin_program()
    monkeypatch.setattr(two, "_began", time.monotonic() - 1.0)
    monkeypatch.setattr(turns, "GRACE_SECONDS", 0.5)
    one.enter(LONG)
    assert not two.may_run(0.05, slow)  # others wait as well: nobody had a processor in this second
    one.leave(0.01)
    for _ in range(130):
        one.begin_program()
        one.enter(LONG)
        one.leave(0.01)
    one.enter(LONG)
    assert two.may_run(0.05, slow)  # a sixteenth of 1.3 s, after half a second
    assert not two.may_run(0.06, slow)
    again = Turn(table, 0, 1)  # the next owner of a place goes on counting
    again.begin_program()
    again.enter(LONG)
    assert two.may_run(0.05, slow)


LOOPS = {
    "spin": "while True: pass",
    "threads": "import threading\n"
    "for _ in range(4): threading.Thread(target=lambda: exec('while True: pass')).start()",
    "timer": "import signal\n"
    "signal.signal(signal.SIGCONT, lambda *_: None)\n"
    "signal.signal(signal.SIGALRM, lambda *_: None)\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n"
    "while True: pass",
    "naps": "import time\n"
    "while True:\n"
    "    end = time.monotonic() + 0.009\n"
    "    while time.monotonic() < end: pass\n"
    "    time.sleep(0.0005)",
}


@pytest.mark.slow
@pytest.mark.usefixtures("no_least_share")
@pytest.mark.parametrize("source", LOOPS.values(), ids=LOOPS)
def test_a_long_program_is_stopped_and_cannot_go_on_by_itself(table: int, source: str) -> None:
    async def run() -> Execution:
        short = Turn(table, 0, 1)
        short.enter(LONG)
        async with Runner(1, turn=Turn(table, 1, 1)) as runner:
            running = asyncio.create_task(runner.run(Program(payload=source.encode()), PATIENT))
            (zygote,) = runner._zygotes
            await until_async(lambda: bool(zygote._execution and zygote._execution.watch.pid))
            assert zygote._execution is not None
            watch = zygote._execution.watch
            assert watch.pid is not None
            pid = watch.pid
            await until_async(lambda: state_of(pid) == "T")
            used = watch.cpu_seconds()
            for _ in range(20):
                await asyncio.sleep(turns.LOOK_SECONDS)
                assert state_of(pid) == "T"
            # A thread may have been on the other processor until the first look.
            assert watch.cpu_seconds() < used + turns.LOOK_SECONDS
            short.rest()
            return await running

    execution = asyncio.run(run())
    assert execution.reason is ExitReason.CPU_LIMIT
    assert execution.waited_seconds >= 20 * turns.LOOK_SECONDS


@pytest.mark.slow
@pytest.mark.usefixtures("no_least_share")
def test_a_program_that_sleeps_is_not_stopped_and_holds_up_no_other(table: int) -> None:
    is_long = []
    other = Turn(table, 0, 1)
    other.enter(LONG)

    async def run() -> Execution:
        turn = Turn(table, 1, 1, on_long=lambda: is_long.append(True))
        async with Runner(1, turn=turn) as runner:
            limits = dataclasses.replace(PATIENT, idle_seconds=3.0)
            return await runner.run(Program(payload=b"import time; time.sleep(3600)"), limits)

    assert asyncio.run(run()).reason is ExitReason.IDLE_LIMIT
    assert is_long
    other.rest()
    until(lambda: other.may_run(0.5))  # its place counts for a moment more


@pytest.mark.usefixtures("no_least_share")
def test_a_stopped_program_is_killed_with_its_call(table: int) -> None:
    async def run() -> int:
        Turn(table, 0, 1).enter(LONG)
        async with Runner(1, turn=Turn(table, 1, 1)) as runner:
            running = asyncio.create_task(runner.run(Program(payload=b"while True: pass"), PATIENT))
            (zygote,) = runner._zygotes
            await until_async(lambda: bool(zygote._execution and zygote._execution.watch.pid))
            assert zygote._execution is not None
            pid = zygote._execution.watch.pid
            assert pid is not None
            await until_async(lambda: state_of(pid) == "T")
            running.cancel()
        return pid

    assert not Path(f"/proc/{asyncio.run(run())}").exists()


WAITS = Limits(cpu_seconds=3.0, wall_seconds=3.0, counts_waits=True, idle_seconds=None)


def test_a_program_that_had_its_share_meets_the_wall_limit_as_the_caller_sees_it() -> None:
    watch = LimitWatch(WAITS)
    watch._slept_seconds = limit_watch.SHARE * 3.0
    watch.waited_seconds = 2.0
    watch._start = time.monotonic() - 2.0
    assert watch.exceeded() is None
    watch._start = time.monotonic() - 3.0
    assert watch.exceeded() is ExitReason.WALL_LIMIT
    assert not watch.is_overloaded


def test_a_program_that_got_no_processor_has_exceeded_nothing() -> None:
    watch = LimitWatch(WAITS)
    watch._start = time.monotonic() - 4.0
    assert watch.exceeded() is None
    watch._start = time.monotonic() - 3.0 * limit_watch.OVERLOAD_SHARE
    assert watch.exceeded() is ExitReason.WALL_LIMIT
    assert watch.is_overloaded
