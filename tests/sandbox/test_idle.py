"""Programs that sleep end early; those that wait for a processor, a reader or a judge do not."""

from __future__ import annotations

import dataclasses
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tests.sandbox.conftest import LIMITS, Sandbox
from verifier_service.sandbox import limit_watch, thread_states
from verifier_service.sandbox.execution import ExitReason, Limits, Program
from verifier_service.sandbox.limit_watch import LimitWatch

SHORT_IDLE = dataclasses.replace(LIMITS, idle_seconds=0.3)
"""One limit that an idle program meets; the others are out of its reach."""
NO_SUCH_PID = 2**22 + 1


@pytest.mark.parametrize(
    "source",
    [
        "import time; time.sleep(3600)",
        "import time\nwhile True: time.sleep(0.01)",
        "import signal; signal.pause()",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        "import os\nreading, writing = os.pipe()\nos.read(reading, 1)",
        "import threading; threading.Thread(target=threading.Event().wait).start()",
        "import ctypes, time; ctypes.CDLL(None).prctl(15, b') R 1 (R) '); time.sleep(3600)",
        "import socket; one, other = socket.socketpair(); one.recv(1)",
    ],
    ids=["sleep", "naps", "pause", "stop", "pipe", "thread", "name", "socket"],
)
def test_a_program_that_sleeps_meets_the_limit_on_idle_time(sandbox: Sandbox, source: str) -> None:
    assert sandbox.run(source, limits=SHORT_IDLE).reason is ExitReason.IDLE_LIMIT


COMPUTE = """
import threading, time

def compute():
    end = time.process_time() + 0.7
    while time.process_time() < end:
        pass

{}
print("done")
"""


@pytest.mark.parametrize(
    "work",
    [
        "compute()",
        "thread = threading.Thread(target=compute); thread.start(); thread.join()",
        "for _ in range(20):\n"
        "    thread = threading.Thread(target=lambda: sum(range(3_000_000)))\n"
        "    thread.start(); thread.join()",
        "mine, others = threading.Semaphore(), threading.Semaphore(0)\n"
        "def take_turns(one, other):\n"
        "    for _ in range(15_000): one.acquire(); other.release()\n"
        "thread = threading.Thread(target=take_turns, args=(others, mine)); thread.start()\n"
        "take_turns(mine, others)",
    ],
    ids=["alone", "in a thread", "in one thread after the other", "in short turns"],
)
def test_a_program_that_computes_is_not_idle(sandbox: Sandbox, work: str) -> None:
    execution = sandbox.run(COMPUTE.format(work), limits=SHORT_IDLE)
    assert (execution.reason, execution.stdout) == (ExitReason.EXITED, b"done\n")


def test_a_program_may_sleep_within_its_limit(sandbox: Sandbox) -> None:
    limits = dataclasses.replace(LIMITS, idle_seconds=100.0)
    execution = sandbox.run("import time; time.sleep(0.5); print(1)", limits=limits)
    assert (execution.reason, execution.stdout) == (ExitReason.EXITED, b"1\n")


def test_a_program_whose_judge_takes_its_time_is_not_idle(sandbox: Sandbox) -> None:
    program = Program(payload=b"def solve(n): return n * n", entry="answer")
    judge = Program(payload=b"1.5", entry="ask_late")
    pair = sandbox.wait(sandbox.runner.run_pair(program, judge, SHORT_IDLE, LIMITS))
    assert pair.judge.result == b"9\n"
    assert pair.program.reason in (ExitReason.EXITED, ExitReason.STOPPED)


def test_a_program_and_its_judge_that_take_short_turns_are_not_idle(sandbox: Sandbox) -> None:
    num_turns = 5000
    program = Program(payload=b"def solve(n): return n * n", entry="answer")
    judge = Program(payload=b"3\n" * num_turns, entry="ask")
    pair = sandbox.wait(sandbox.runner.run_pair(program, judge, SHORT_IDLE, LIMITS))
    assert pair.judge.result == b"9\n" * num_turns
    assert pair.program.reason in (ExitReason.EXITED, ExitReason.STOPPED)


@pytest.mark.parametrize(
    "source",
    ["import time\ndef solve(n): time.sleep(3600)", "import time; time.sleep(3600)"],
    ids=["called", "at the start"],
)
def test_a_program_that_lets_its_judge_wait_is_idle(sandbox: Sandbox, source: str) -> None:
    program = Program(payload=source.encode(), entry="answer")
    judge = Program(payload=b"3\n", entry="ask")
    pair = sandbox.wait(sandbox.runner.run_pair(program, judge, SHORT_IDLE, LIMITS))
    assert pair.program.reason is ExitReason.IDLE_LIMIT


# The watch, with a clock and states of threads that the test decides


class Watched:
    """A watch on a process that is asleep or not as the test says, and looked at when it says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.is_asleep = True
        self.cpu_seconds: Iterator[float] = itertools.repeat(1.0)
        clock = SimpleNamespace(
            monotonic=lambda: self.now, clock_gettime=lambda clock: next(self.cpu_seconds)
        )
        monkeypatch.setattr(limit_watch, "time", clock)
        monkeypatch.setattr(limit_watch, "waited_seconds", lambda pid: 0.0)
        monkeypatch.setattr(thread_states, "is_asleep", lambda pid: self.is_asleep)
        self.watch = LimitWatch(Limits(cpu_seconds=1e9, wall_seconds=1e9, idle_seconds=0.3))
        self.watch.pid = NO_SUCH_PID

    def look(self, num_times: int, seconds: float, *, has_written: bool = False) -> set[object]:
        found: set[object] = set()
        for _ in range(num_times):
            self.now += seconds
            found.add(self.watch.exceeded(has_written=has_written))
        return found


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


def test_idle_time_is_added_up(watched: Watched) -> None:
    assert watched.look(4, 0.05) == {None}
    watched.is_asleep = False
    assert watched.look(100, 0.05) == {None}
    watched.is_asleep = True
    assert watched.look(1, 0.05) == {None}
    assert watched.look(2, 0.05) == {None, ExitReason.IDLE_LIMIT}


def test_a_program_that_has_just_written_may_be_waiting_for_its_reader(watched: Watched) -> None:
    assert watched.look(100, 0.05, has_written=True) == {None}


def test_a_program_whose_threads_ran_while_it_was_looked_at_is_not_idle(watched: Watched) -> None:
    """They may wake each other in turns, so that each sleeps when its state is read."""
    watched.cpu_seconds = itertools.count(1.0, 1e-6)
    assert watched.look(100, 0.05) == {None}


def test_a_look_that_comes_late_says_little_about_the_time_before(watched: Watched) -> None:
    assert watched.look(1, 60.0) == {None}
    assert watched.watch.idle_seconds == limit_watch.MOST_IDLE_SECONDS


def test_a_program_is_not_idle_before_its_judge_runs(watched: Watched) -> None:
    watched.watch.partner = LimitWatch(LIMITS)
    assert watched.look(100, 0.05) == {None}


# States of threads, as the kernel says


def test_a_process_that_runs_is_not_asleep() -> None:
    assert not thread_states.is_asleep(os.getpid())
    assert not thread_states.is_asleep(NO_SUCH_PID)
    assert not thread_states.awaits_partner(NO_SUCH_PID)


def test_a_process_that_is_stopped_is_asleep() -> None:
    command = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(command) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        assert thread_states.is_asleep(process.pid)
        process.kill()


def test_waiting_for_a_processor_is_not_sleep() -> None:
    """Two programs share one processor, so that one of them waits whenever it is looked at."""
    spin = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); print(flush=True)"
    command = [sys.executable, "-c", f"{spin}\nwhile True: pass"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as one,
        subprocess.Popen(command, stdout=subprocess.PIPE) as other,
    ):
        for process in (one, other):
            assert process.stdout is not None
            process.stdout.readline()
        found = set()
        end = time.process_time() + 0.1
        while time.process_time() < end:
            found |= {thread_states.is_asleep(process.pid) for process in (one, other)}
        for process in (one, other):
            process.kill()
    assert found == {False}
