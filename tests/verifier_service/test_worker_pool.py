"""Worker processes die for all kinds of reasons; verdicts do not."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

import pytest

from tests.processes import children, fork_servers, until, until_async, without_descriptors
from tests.verifier_service.poison import POISON
from verifier_service.completion import Completion
from verifier_service.verdict import Verdict
from verifier_service.workers import server_process, sources
from verifier_service.workers.limits import ItemLimits
from verifier_service.workers.pool import WorkerPool
from verifier_service.workers.server_process import WorkerStartError
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, TaskResult

T = TypeVar("T")

LIMITS = ItemLimits(cpu_seconds=2.0, memory_bytes=2**30)


def task(*texts: str) -> EncodedTask:
    part = TaskPart.of({"answer": "2"}, [Completion(text) for text in texts])
    return EncodedTask.of(Task.of({"type": "accuracy", "mode": "math_verify"}, [part]), "text")


def in_pool(
    work: Callable[[WorkerPool], Awaitable[T]], *, size: int = 1, limits: ItemLimits = LIMITS
) -> T:
    async def run() -> T:
        async with WorkerPool(size, limits) as pool:
            return await work(pool)

    return asyncio.run(run())


async def judge(pool: WorkerPool, work: EncodedTask) -> list[Verdict]:
    verdicts: list[TaskResult] = []
    await pool.judge(work, verdicts)
    return [verdict for verdict in verdicts if isinstance(verdict, Verdict)]


def reasons(verdicts: list[Verdict]) -> list[str]:
    return [f"{verdict.outcome.value} {verdict.reason}" for verdict in verdicts]


def servers() -> list[int]:
    """Fork servers of this process's pools."""
    return fork_servers(os.getpid(), "verifier_service.workers.text_worker")


def workers() -> list[int]:
    """Worker processes: the children of our fork server."""
    return [worker for server in servers() for worker in children(server)]


def is_at_poison(pid: int) -> bool:
    """Whether a worker has used more CPU time than anything but poison takes it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return int(fields[11]) / os.sysconf("SC_CLK_TCK") > 0.3


def kill_at_poison(pid: int, how: int = signal.SIGKILL) -> bool:
    if not is_at_poison(pid):
        return False
    os.kill(pid, how)
    return True


async def judge_poison(pool: WorkerPool, how: int) -> tuple[list[str], dict[str, int]]:
    """Whatever worker is at it gets a signal; the reasons, and why workers were replaced."""
    signalled: set[int] = set()
    judging = asyncio.create_task(judge(pool, task(POISON)))

    def is_done_after_more() -> bool:
        signalled.update(pid for pid in set(workers()) - signalled if kill_at_poison(pid, how))
        return judging.done()

    await until_async(is_done_after_more)
    return reasons(await judging), dict(pool.restarts)


def resting_bytes() -> int:
    """Resident memory of a worker that has judged something easy."""

    async def work(pool: WorkerPool) -> int:
        await judge(pool, task("$2$"))
        (worker,) = workers()
        return resident_pages(worker) * os.sysconf("SC_PAGE_SIZE")

    return in_pool(work)


def resident_pages(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1])


@pytest.mark.slow
def test_a_worker_that_is_killed_once_costs_no_verdict() -> None:
    async def work(pool: WorkerPool) -> list[Verdict]:
        judging = asyncio.create_task(judge(pool, task(POISON, "$2$", "$3$")))
        await until_async(lambda: any(map(kill_at_poison, workers())))
        return await judging

    assert reasons(in_pool(work)) == ["scored too_slow", "scored equal", "scored different"]


@pytest.mark.slow
def test_a_sound_worker_that_makes_way_for_a_fresh_one_has_not_died() -> None:
    async def work(pool: WorkerPool) -> dict[str, int]:
        await asyncio.gather(*(judge(pool, task("$2$")) for _ in range(2)))
        judging = asyncio.create_task(judge(pool, task(POISON)))
        await until_async(lambda: any(map(kill_at_poison, workers())))
        await judging
        return dict(pool.restarts)

    assert in_pool(work, size=2) == {"died": 1, "not_fresh": 1, "too_slow": 1}


@pytest.mark.slow
def test_a_worker_that_is_killed_each_time_makes_its_item_failed_and_no_other() -> None:
    async def work(pool: WorkerPool) -> list[Verdict]:
        killed: set[int] = set()
        judging = asyncio.create_task(judge(pool, task("$2$", POISON, "$3$")))

        def kill_another() -> bool:
            killed.update(pid for pid in set(workers()) - killed if kill_at_poison(pid))
            return len(killed) == 4  # in the first run, and in three more of the item alone

        await until_async(kill_another)
        return await judging

    assert reasons(in_pool(work)) == ["scored equal", "failed worker_died", "scored different"]


@pytest.mark.slow
def test_a_worker_that_does_not_use_the_cpu_is_stuck_and_not_the_items_fault() -> None:
    limits = replace(LIMITS, stuck_seconds=0.3)
    found = in_pool(lambda pool: judge_poison(pool, signal.SIGSTOP), limits=limits)
    assert found == (["failed worker_died"], {"died": 4})


@pytest.mark.slow
def test_an_item_whose_every_run_dies_near_the_memory_limit_is_too_large() -> None:
    """The runs die as by the kernel's hand; the watch has not seen the limit passed."""
    limits = replace(LIMITS, memory_bytes=int(1.2 * resting_bytes()))
    found = in_pool(lambda pool: judge_poison(pool, signal.SIGKILL), limits=limits)
    assert found == (["scored too_large"], {"died": 4})


@pytest.mark.slow
@pytest.mark.parametrize(("share", "restarts"), [(1.5, {"worn": 1}), (2.5, {})])
def test_a_worker_with_half_of_the_memory_of_an_item_is_replaced_after_its_task(
    share: float, restarts: dict[str, int]
) -> None:
    limits = replace(LIMITS, memory_bytes=int(share * resting_bytes()))

    async def work(pool: WorkerPool) -> tuple[list[str], dict[str, int]]:
        return reasons(await judge(pool, task("$2$"))), dict(pool.restarts)

    assert in_pool(work, limits=limits) == (["scored equal"], restarts)


@pytest.mark.slow
def test_cancelled_work_is_ended_and_the_pool_goes_on() -> None:
    async def work(pool: WorkerPool) -> list[Verdict]:
        judging = asyncio.create_task(judge(pool, task(POISON)))
        await until_async(lambda: any(map(is_at_poison, workers())))
        (before,) = workers()
        judging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await judging
        verdicts = await judge(pool, task("$2$"))
        assert workers() != [before]
        return verdicts

    assert reasons(in_pool(work)) == ["scored equal"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 8])
def test_the_pool_recovers_from_the_death_of_its_fork_server(size: int) -> None:
    async def work(pool: WorkerPool) -> list[Verdict]:
        (server,) = servers()
        os.kill(server, signal.SIGKILL)
        return await judge(pool, task("$2$"))

    assert reasons(in_pool(work, size=size)) == ["scored equal"]


def test_a_fork_server_that_does_not_answer_in_time_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its late answer would be taken for that to the next question."""
    monkeypatch.setattr(sources, "START_TIMEOUT_SECONDS", 0.001)
    source = sources.ForkServer("verifier_service.workers.text_worker", LIMITS.memory_bytes)
    try:
        with pytest.raises(WorkerStartError, match="does not answer: timed out"):
            source.start_worker()
        assert not source.alive
    finally:
        source.close()


@pytest.mark.slow
def test_dead_idle_workers_are_no_tries_of_an_item() -> None:
    async def work(pool: WorkerPool) -> list[Verdict]:
        for pid in workers():
            os.kill(pid, signal.SIGKILL)
        await until_async(lambda: not workers())
        return await judge(pool, task("$2$"))

    assert reasons(in_pool(work, size=8)) == ["scored equal"]


class KilledAtFirst(sources.ForkServer):
    """A source whose first workers are stopped before they have a task, and then killed."""

    num_to_kill = 6  # an item has four tries

    def start_worker(self) -> sources.StartedWorker:
        worker = super().start_worker()
        if self.num_to_kill:
            self.num_to_kill -= 1
            os.kill(worker.pid, signal.SIGSTOP)
            threading.Timer(0.1, os.kill, (worker.pid, signal.SIGKILL)).start()
        return worker


@pytest.mark.slow
def test_workers_that_die_before_they_read_a_task_are_no_tries_of_it() -> None:
    source = KilledAtFirst("verifier_service.workers.text_worker", 2 * LIMITS.memory_bytes)

    async def work() -> list[Verdict]:
        async with WorkerPool(1, LIMITS, lambda: source) as pool:
            return await judge(pool, task("$2$", "$3$"))

    assert reasons(asyncio.run(work())) == ["scored equal", "scored different"]
    assert source.num_to_kill == 0


@pytest.mark.slow
def test_workers_share_the_work() -> None:
    async def work(pool: WorkerPool) -> list[list[Verdict]]:
        judging = asyncio.gather(*(judge(pool, task(POISON)) for _ in range(2)))
        await until_async(lambda: sum(map(is_at_poison, workers())) == 2)
        return await judging

    assert [reasons(found) for found in in_pool(work, size=2)] == [["scored too_slow"]] * 2


@pytest.mark.slow
def test_a_worker_knows_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")

    def environment(pid: int) -> bytes:
        return Path(f"/proc/{pid}/environ").read_bytes()

    async def work(pool: WorkerPool) -> list[bytes]:
        return list(map(environment, workers()))

    environments = in_pool(work, size=2)
    assert len(environments) == 2
    assert all(b"s3cret" not in environment for environment in environments)


def test_a_worker_loads_the_packages_that_this_process_would(tmp_path: Path) -> None:
    """Those of PYTHONPATH, and of a user, before those of the system."""
    (tmp_path / "re2.py").write_text("")
    (tmp_path / "told.py").write_text("import re2; print(re2.__file__)")
    script = (
        "import socket; from verifier_service.workers.server_process import _start;"
        "_start('told', socket.socket().fileno()).wait()"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert shown.stdout.strip() == str(tmp_path / "re2.py"), shown.stderr


@pytest.mark.slow
def test_nothing_is_left_when_the_pool_closes() -> None:
    async def work(pool: WorkerPool) -> list[int]:
        await judge(pool, task("$2$"))
        return [*servers(), *workers()]

    before = len(os.listdir("/proc/self/fd"))
    started = in_pool(work, size=2)
    assert len(started) == 3
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started))
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.slow
def test_a_moment_without_descriptors_costs_neither_limits_nor_workers() -> None:
    """While a worker is at work, and while one is to be replaced."""

    async def work(pool: WorkerPool) -> list[Verdict]:
        judging = asyncio.create_task(judge(pool, task(POISON, "$2$")))
        await until_async(lambda: any(map(is_at_poison, workers())))
        (before,) = workers()
        with without_descriptors():
            await until_async(lambda: pool.restarts["too_slow"] == 1)
        found = await judging
        assert workers() != [before]
        return [*found, *await judge(pool, task("$3$"))]

    assert reasons(in_pool(work)) == ["scored too_slow", "scored equal", "scored different"]


def close(*workers: sources.StartedWorker) -> None:
    for worker in workers:
        os.close(worker.pidfd)
        os.close(worker.stat)
        worker.connection.close()
        worker.position.close()


@pytest.mark.slow
def test_without_descriptors_a_fork_server_gives_no_worker_and_loses_none() -> None:
    source = sources.ForkServer("verifier_service.workers.text_worker", LIMITS.memory_bytes)
    try:
        close(source.start_worker())
        for num_left in range(4):
            before = len(os.listdir("/proc/self/fd"))
            with (
                without_descriptors(num_left),
                pytest.raises((WorkerStartError, OSError)),
            ):
                source.start_worker()
            assert len(os.listdir("/proc/self/fd")) == before
            close(source.start_worker())
    finally:
        source.close()


def run_as_fork_server(monkeypatch: pytest.MonkeyPatch, script: str, *arguments: str) -> None:
    """Have a script run in place of each fork server, with the descriptor of its control socket."""

    class Template:
        def fork(self, _module: str, control: socket.socket) -> None:
            command = [sys.executable, "-c", script, str(control.fileno()), *arguments]
            self.process = subprocess.Popen(command, pass_fds=[control.fileno()])

        def release(self) -> None:
            self.process.wait()

    monkeypatch.setattr(server_process, "_template", Template())


FORKS_UNLESS = """
import errno, os, socket, sys
from verifier_service.workers.fork_server import fork_server
from verifier_service.workers.fork_template import say_hello

control = socket.socket(fileno=int(sys.argv[1]))
say_hello(control)

def fork(fork=os.fork):
    if os.path.exists(sys.argv[2]):
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return fork()

os.fork = fork
serve = lambda connection, _: connection.sendall(connection.recv(1))
fork_server(control, serve)
"""


def test_a_fork_that_fails_ends_neither_the_fork_server_nor_its_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run_as_fork_server(monkeypatch, FORKS_UNLESS, str(tmp_path / "full"))
    source = sources.ForkServer("", LIMITS.memory_bytes)
    try:
        first = source.start_worker()
        (tmp_path / "full").touch()
        for _ in range(2):
            with pytest.raises(WorkerStartError, match="Resource temporarily unavailable"):
                source.start_worker()
        (tmp_path / "full").unlink()
        second = source.start_worker()
        for worker in (first, second):
            worker.connection.sendall(b"?")
            assert worker.connection.recv(1) == b"?"
        close(first, second)
    finally:
        source.close()


ENDS_AT_ONCE = """
import os, socket, sys
from verifier_service.workers.fork_server import fork_server
from verifier_service.workers.fork_template import say_hello

control = socket.socket(fileno=int(sys.argv[1]))
say_hello(control)

def fork(fork=os.fork):
    pid = fork()
    if pid == 0:
        os._exit(0)
    return pid

os.fork = fork
fork_server(control, None)
"""
WITHOUT_PROC = """
import os, socket, sys
from verifier_service.workers.fork_server import fork_server
from verifier_service.workers.fork_template import say_hello

control = socket.socket(fileno=int(sys.argv[1]))
say_hello(control)

def missing(path, flags, open_file=os.open):
    if str(path).startswith("/proc/self/"):
        raise FileNotFoundError(2, os.strerror(2), path)
    return open_file(path, flags)

os.open = missing
fork_server(control, None)
"""


@pytest.mark.parametrize(
    ("script", "message"),
    [(ENDS_AT_ONCE, "ended at once"), (WITHOUT_PROC, "/proc/PID/stat: No such file")],
    ids=["ended", "without /proc"],
)
def test_a_worker_that_cannot_be_watched_does_not_start(
    script: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_as_fork_server(monkeypatch, script)
    source = sources.ForkServer("", LIMITS.memory_bytes)
    open_files = []
    try:
        for _ in range(2):
            with pytest.raises(WorkerStartError, match=message):
                source.start_worker()
            open_files.append(len(os.listdir("/proc/self/fd")))
        assert open_files[0] == open_files[1]
    finally:
        source.close()


WATCH_HIDDEN = """
import os
from verifier_service.workers.sources import CodeWorkers, ForkServer
from verifier_service.workers.worker import _usage

if __name__ == "__main__":
    text = ForkServer("verifier_service.workers.text_worker", 2**30)
    for source in (text, CodeWorkers(num_workers=1)):
        started = source.start_worker()
        while os.path.exists(f"/proc/{started.pid}"):
            pass  # a worker hides itself soon
        seconds, num_bytes = _usage(started.stat)
        print(num_bytes > 0)
        source.close()
"""
HIDING = "mount -t proc -o hidepid=ptraceable proc /proc"
"""The command for which a process without capabilities sees only those that it may trace."""


@pytest.mark.slow
def test_workers_are_watched_where_proc_hides_them() -> None:
    unshare = ["unshare", "--mount", "sh", "-c"]
    if subprocess.run([*unshare, HIDING], capture_output=True).returncode:
        pytest.skip("needs root, who may mount /proc, and Linux 5.8")
    powerless = 'setpriv --bounding-set=-all --inh-caps=-all "$0" -c "$1"'
    command = [*unshare, f"{HIDING} && exec {powerless}", sys.executable, WATCH_HIDDEN]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.stdout, result.returncode) == ("True\nTrue\n", 0), result.stderr


def test_a_process_that_ended_before_it_was_told_its_terms_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is started before the terms are known, and may have ended by then."""
    ended = SimpleNamespace(fork=lambda _module, _control: None, release=lambda: None)
    monkeypatch.setattr(server_process, "_template", ended)
    source = sources.CodeWorkers(num_workers=1)
    try:
        with pytest.raises(WorkerStartError, match=r"takes no terms: .* Broken pipe"):
            source.start_worker()
        assert not source.alive
    finally:
        source.close()


@pytest.mark.slow
def test_a_pool_whose_own_work_ends_in_an_error_says_so() -> None:
    """It would wait for the worker for ever."""

    class Broken(sources.ForkServer):
        num_forks = 0

        def start_worker(self) -> sources.StartedWorker:
            self.num_forks += 1
            if self.num_forks > 1:
                raise ValueError("a bug")
            return super().start_worker()

    async def run() -> None:
        source = Broken("verifier_service.workers.text_worker", LIMITS.memory_bytes)
        async with WorkerPool(1, LIMITS, lambda: source) as pool:
            assert pool.problem is None
            assert reasons(await judge(pool, task(POISON))) == ["scored too_slow"]
            await until_async(lambda: pool.problem is not None)
            assert pool.problem == "the pool of workers has a bug: ValueError"

    asyncio.run(run())
