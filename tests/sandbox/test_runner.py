"""The reports on programs, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import dataclasses
import marshal
import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sandbox.conftest import LIMITS, Sandbox
from verifier_service.code.usual_names import INSTALLED
from verifier_service.sandbox import entries, limit_watch, zygote_handle
from verifier_service.sandbox import runner as runner_module
from verifier_service.sandbox.execution import (
    COMMON_LAYERS,
    ExitReason,
    Layer,
    Limits,
    Program,
    SandboxError,
    ZygoteKind,
)
from verifier_service.sandbox.python_packages import PACKAGES
from verifier_service.sandbox.runner import Runner

SHORT_CPU = dataclasses.replace(LIMITS, cpu_seconds=0.3)
SHORT_WALL = dataclasses.replace(LIMITS, wall_seconds=1.0)
"""One limit that a program meets; the others are out of its reach, however busy the machine is."""
SCRATCH = dataclasses.replace(LIMITS, file_bytes=2**20)
SPIN_IN_THREADS = """
import threading

def spin():
    while True:
        pass

for _ in range(4):
    threading.Thread(target=spin).start()
"""
IGNORE_SIGNALS = """
import signal

for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
while True:
    pass
"""


def zygotes() -> list[int]:
    """The pids of the zygotes that this process started."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if int(parent) == os.getpid() and b"sandbox.zygote" in command:
            found.append(int(process.name))
    return found


def test_a_program_reads_its_input_and_its_output_is_kept(sandbox: Sandbox) -> None:
    execution = sandbox.run("print(int(input()) ** 2)", b"12\n")
    assert execution.succeeded
    assert (execution.stdout, execution.stdout_bytes) == (b"144\n", 4)
    assert (execution.stderr, execution.stderr_bytes) == (b"", 0)
    assert 0 < execution.cpu_seconds < execution.wall_seconds + 0.1
    assert 2**20 < execution.peak_memory_bytes < 2**28


def test_every_common_layer_is_in_force(sandbox: Sandbox) -> None:
    assert sandbox.run("").layers >= COMMON_LAYERS


@pytest.mark.parametrize(
    ("source", "exit_code"),
    [
        ("import sys; sys.exit()", 0),
        ("import sys; sys.exit(3)", 3),
        ("import sys; sys.exit('no')", 1),
        ("raise SystemExit(256 + 7)", 7),
        ("import os; os._exit(9)", 9),
        ("1 / 0", 1),
        ("import atexit, os; atexit.register(os._exit, 5)", 5),
    ],
)
def test_the_exit_code_is_that_of_the_interpreter(
    sandbox: Sandbox, source: str, exit_code: int
) -> None:
    execution = sandbox.run(source)
    assert (execution.reason, execution.exit_code) == (ExitReason.EXITED, exit_code)


def test_a_traceback_shows_the_program_and_nothing_of_ours(sandbox: Sandbox) -> None:
    execution = sandbox.run("def f():\n    return 1 / 0\n\nf()")
    lines = execution.stderr.decode().splitlines()
    assert lines == [
        "Traceback (most recent call last):",
        '  File "main.py", line 4, in <module>',
        '  File "main.py", line 2, in f',
        "ZeroDivisionError: division by zero",
    ]


@pytest.mark.parametrize(
    "source",
    ["x = (", "\0", "(" * 5000, b"\xff", "# coding: no-such\n", "-" * 200_000 + "1", "return 1"],
)
def test_what_is_not_python_is_a_compile_error(sandbox: Sandbox, source: str | bytes) -> None:
    execution = sandbox.run(source)
    assert (execution.reason, execution.exit_code) == (ExitReason.COMPILE_ERROR, 1)
    assert b"Error" in execution.stderr


def test_a_program_finds_what_the_interpreter_sets_up(sandbox: Sandbox) -> None:
    source = """
import builtins, sys
streams = sys.stdin, sys.stdout, sys.stderr
print([(s.name, s.mode, s.encoding, s.line_buffering, s.fileno()) for s in streams])
print(sys.stdout.buffer.name, __builtins__ is builtins, sys.argv)
exit()
"""
    execution = sandbox.run(source)
    assert execution.stdout.decode().splitlines() == [
        "[('<stdin>', 'r', 'utf-8', False, 0), ('<stdout>', 'w', 'utf-8', False, 1), "
        "('<stderr>', 'w', 'utf-8', True, 2)]",
        "<stdout> True ['main.py']",
    ]
    assert (execution.exit_code, execution.stderr) == (0, b"")


def test_a_program_may_set_its_stack_limit_and_no_other(sandbox: Sandbox) -> None:
    source = """
import resource
resource.setrlimit(resource.RLIMIT_STACK, (2**27, resource.getrlimit(resource.RLIMIT_STACK)[1]))
for kind in resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU:
    try:
        resource.setrlimit(kind, (1, 1))
    except ValueError:
        print("refused")
"""
    assert sandbox.run(source).stdout == b"refused\n" * 3


def test_a_program_that_runs_out_of_its_name_still_compiles_only_once(sandbox: Sandbox) -> None:
    assert sandbox.run("compile('x = (', '', 'exec')").reason is ExitReason.EXITED


def test_a_program_can_be_run_again_as_it_was_compiled(sandbox: Sandbox) -> None:
    source = b"import sys\nprint(__name__, sys.argv, input())\nsys.exit(int(input()))"
    first = Program(payload=source, stdin=b"in\n7\n")
    compiling = sandbox.wait(sandbox.runner.run(first, LIMITS, result=True))
    again = Program(payload=compiling.result, entry="compiled", stdin=first.stdin)
    for execution in (compiling, sandbox.wait(sandbox.runner.run(again, LIMITS))):
        assert (execution.stdout, execution.exit_code) == (b"__main__ ['main.py'] in\n", 7)


def test_what_a_program_was_compiled_to_is_out_of_its_reach(sandbox: Sandbox) -> None:
    source = (
        b"import os\nopen_ones = []\nfor number in range(3, 100):\n"
        b"    try: os.write(number, b'forged'); open_ones.append(number)\n"
        b"    except OSError: pass\nprint(open_ones)"
    )
    run = sandbox.runner.run(Program(payload=source), LIMITS, result=True)
    execution = sandbox.wait(run)
    assert execution.stdout == b"[]\n"
    assert marshal.loads(execution.result) == compile(source, "main.py", "exec", dont_inherit=True)


def test_a_large_program_is_not_handed_on(sandbox: Sandbox) -> None:
    source = b"'" + b"x" * entries.MAX_COMPILED_BYTES + b"' in {}\nprint('ran')"
    limits = dataclasses.replace(LIMITS, output_bytes=10)
    execution = sandbox.wait(sandbox.runner.run(Program(payload=source), limits, result=True))
    assert (execution.reason, execution.stdout) == (ExitReason.EXITED, b"ran\n")
    assert execution.result == b""


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGTERM"])
def test_a_program_that_kills_itself_is_signaled(sandbox: Sandbox, name: str) -> None:
    execution = sandbox.run(f"import os, signal; os.kill(os.getpid(), signal.{name})")
    assert (execution.reason, execution.exit_code) == (ExitReason.SIGNALED, None)
    assert execution.signal == signal.Signals[name]


def test_a_program_cannot_end_as_if_the_machine_had_killed_it(sandbox: Sandbox) -> None:
    """It would be run again, MAX_KILLS times in all."""
    source = """
import ctypes, os, platform, signal, threading
own, kill = os.getpid(), signal.SIGKILL
libc = ctypes.CDLL(None, use_errno=True)
tkill, rt_sigqueueinfo = {"x86_64": (200, 129), "aarch64": (130, 138)}[platform.machine()]

def call(number, *arguments):
    if libc.syscall(number, *arguments):
        raise OSError(ctypes.get_errno(), "refused")

for attempt in (
    lambda: os.kill(own, kill),
    lambda: os.kill(0, kill),
    lambda: os.kill(-own, kill),
    lambda: signal.raise_signal(kill),
    lambda: signal.pthread_kill(threading.get_ident(), kill),
    lambda: call(tkill, own, kill),
    lambda: call(rt_sigqueueinfo, own, kill, (ctypes.c_int * 32)(kill, 0, -1)),
    lambda: signal.pidfd_send_signal(os.pidfd_open(own), kill),
):
    try:
        attempt()
    except PermissionError:
        print("refused")
"""
    execution = sandbox.run(source)
    assert (execution.reason, execution.stdout) == (ExitReason.EXITED, b"refused\n" * 8)


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        SPIN_IN_THREADS,
        IGNORE_SIGNALS,
        "import atexit\n@atexit.register\ndef spin():\n  while True: pass",
        "10 ** 10 ** 10",
    ],
)
def test_the_cpu_limit_ends_a_program(sandbox: Sandbox, source: str) -> None:
    execution = sandbox.run(source, limits=SHORT_CPU)
    assert execution.reason is ExitReason.CPU_LIMIT
    assert 0.3 <= execution.cpu_seconds < 5.0


def test_cpu_time_over_the_limit_is_over_it_even_if_the_program_ended(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends before the watch looks at it again."""
    monkeypatch.setattr(limit_watch, "WATCH_SECONDS", 60.0)
    source = "import time\nwhile time.process_time() < 0.03: pass"
    execution = sandbox.run(source, limits=dataclasses.replace(LIMITS, cpu_seconds=0.02))
    assert (execution.reason, execution.exit_code) == (ExitReason.CPU_LIMIT, 0)


@pytest.mark.parametrize(
    "source",
    [
        "import time; time.sleep(60)",
        "import signal; signal.pause()",
        "import os\nr, w = os.pipe()\nos.read(r, 1)",
        "import os, time; os.closerange(0, 64); time.sleep(60)",
        "import threading; threading.Thread(target=threading.Event().wait).start()",
    ],
)
def test_the_wall_limit_ends_a_program_that_waits(sandbox: Sandbox, source: str) -> None:
    execution = sandbox.run(source, limits=SHORT_WALL)
    assert execution.reason is ExitReason.WALL_LIMIT
    assert 1.0 <= execution.wall_seconds < 30.0


@pytest.mark.parametrize("descriptor", [1, 2])
def test_a_flood_of_output_ends_the_program(sandbox: Sandbox, descriptor: int) -> None:
    source = f"import os\nwhile True: os.write({descriptor}, b'x' * 10_000)"
    limits = dataclasses.replace(LIMITS, output_bytes=100_000)
    execution = sandbox.run(source, limits=limits)
    assert execution.reason is ExitReason.OUTPUT_LIMIT
    kept, total = (
        (execution.stdout, execution.stdout_bytes)
        if descriptor == 1
        else (execution.stderr, execution.stderr_bytes)
    )
    assert kept == b"x" * 100_000
    assert total > 100_000


Overload = Callable[[Callable[[int], float]], None]
SLEEP = "import time; time.sleep({}); print(1)"


@pytest.fixture
def overload(monkeypatch: pytest.MonkeyPatch) -> Overload:
    """Makes the kernel say how long a process has waited, as on a busy machine."""
    return lambda waited: monkeypatch.setattr(limit_watch, "waited_seconds", waited)


@pytest.mark.slow
def test_time_that_the_kernel_had_a_program_wait_is_not_its_own(
    sandbox: Sandbox, overload: Overload
) -> None:
    assert sandbox.run(SLEEP.format(60), limits=SHORT_WALL).reason is ExitReason.WALL_LIMIT
    overload(lambda pid: 60.0)
    execution = sandbox.run(SLEEP.format(2), limits=SHORT_WALL)
    assert (execution.reason, execution.stdout) == (ExitReason.EXITED, b"1\n")
    assert (execution.waited_seconds, execution.wall_seconds > 2) == (60.0, True)
    overload(lambda pid: 1.0)
    execution = sandbox.run(SLEEP.format(60), limits=SHORT_WALL)
    assert (execution.reason, execution.wall_seconds >= 2.0) == (ExitReason.WALL_LIMIT, True)


@pytest.mark.slow
def test_a_program_that_does_nothing_but_wait_is_our_failure(
    sandbox: Sandbox, overload: Overload
) -> None:
    overload(lambda pid: time.monotonic())
    limits = Limits(cpu_seconds=1.0, wall_seconds=1.0, idle_seconds=None)
    with pytest.raises(SandboxError, match="the machine is overloaded"):
        sandbox.run(SLEEP.format(60), limits=limits)
    assert sandbox.run("print(1)").stdout == b"1\n"


def test_cpu_time_over_the_limit_is_no_overload(sandbox: Sandbox, overload: Overload) -> None:
    overload(lambda pid: time.monotonic())
    assert sandbox.run("while True: pass", limits=SHORT_CPU).reason is ExitReason.CPU_LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_what_one_of_a_pair_waits_both_do(
    sandbox: Sandbox, overload: Overload, number: int
) -> None:
    pids: list[int] = []

    def waited(pid: int) -> float:
        pids.extend([pid] if pid not in pids else [])
        return 60.0 if pids.index(pid) == number else 0.0

    overload(waited)
    slow = Program(payload=b"import time\ntime.sleep(3)\ndef solve(n): return n", entry="answer")
    judge = Program(payload=b"3\n", entry="ask")
    pair = sandbox.wait(sandbox.runner.run_pair(slow, judge, SHORT_WALL, SHORT_WALL))
    assert (pair.judge.result, pair.judge.reason) == (b"3\n", ExitReason.EXITED)


def test_a_program_cannot_wait_for_itself_until_it_is_our_failure(sandbox: Sandbox) -> None:
    """Its main thread does next to nothing but wait for its 59 others."""
    source = """
import hashlib, threading

def spin():
    while True:
        hashlib.pbkdf2_hmac("sha256", b"x" * 64, b"y" * 64, 10_000)

threading.stack_size(2**16)
for _ in range(59):
    try:
        threading.Thread(target=spin).start()
    except RuntimeError:
        break
spin()
"""
    for limits in (
        Limits(cpu_seconds=1, wall_seconds=2),
        Limits(cpu_seconds=1, wall_seconds=0.01),
    ):
        execution = sandbox.run(source, limits=limits)
        assert execution.reason in (ExitReason.CPU_LIMIT, ExitReason.WALL_LIMIT)


def test_the_kernel_says_how_long_a_process_has_waited() -> None:
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this kernel does not say it")
    before = limit_watch.waited_seconds(os.getpid())
    for _ in range(1000):
        os.sched_yield()
    assert 0 <= before <= limit_watch.waited_seconds(os.getpid()) < time.monotonic()
    assert limit_watch.waited_seconds(2**22 + 1) == 0.0


@pytest.mark.parametrize(("num_bytes", "reason"), [(150_000, "exited"), (150_001, "output_limit")])
def test_output_may_be_as_long_as_its_limit(sandbox: Sandbox, num_bytes: int, reason: str) -> None:
    limits = dataclasses.replace(LIMITS, output_bytes=150_000)
    execution = sandbox.run(f"print('x' * {num_bytes}, end='')", limits=limits)
    assert (execution.reason, execution.stdout_bytes) == (reason, num_bytes)


def test_output_is_bytes_whatever_they_are(sandbox: Sandbox) -> None:
    execution = sandbox.run("import os; os.write(1, bytes(range(256)))")
    assert execution.stdout == bytes(range(256))


def test_a_large_input_arrives_whole(sandbox: Sandbox) -> None:
    execution = sandbox.run("import sys; print(len(sys.stdin.read()))", b"x" * 5_000_000)
    assert execution.stdout == b"5000000\n"


def test_without_input_there_is_none(sandbox: Sandbox) -> None:
    assert sandbox.run("import sys; print(repr(sys.stdin.read()))").stdout == b"''\n"


def test_memory_is_limited(sandbox: Sandbox) -> None:
    limits = dataclasses.replace(LIMITS, memory_bytes=64 * 2**20)
    in_steps = sandbox.run("x = []\nwhile True: x.append(bytearray(2**20))", limits=limits)
    at_once = sandbox.run("bytearray(2**30)", limits=limits)
    assert in_steps.reason is ExitReason.MEMORY_LIMIT
    assert (at_once.reason, at_once.exit_code) == (ExitReason.EXITED, 1)
    assert b"MemoryError" in at_once.stderr


def test_threads_can_be_used_and_are_limited(sandbox: Sandbox) -> None:
    if os.getuid() == 0 and Layer.USER not in sandbox.runner.layers:
        pytest.skip("the kernel does not limit the threads of root")
    source = """
import threading
threading.stack_size(2**16)
threads, release = [], threading.Event()
try:
    for _ in range(1000):
        threads.append(threading.Thread(target=release.wait))
        threads[-1].start()
except RuntimeError:
    pass
print(threading.active_count())
release.set()
"""
    execution = sandbox.run(source, limits=dataclasses.replace(LIMITS, num_threads=40))
    assert 10 < int(execution.stdout) < 600


def test_open_files_are_limited(sandbox: Sandbox) -> None:
    source = "files = [open('/dev/null') for _ in range(100)]"
    execution = sandbox.run(source, limits=dataclasses.replace(LIMITS, num_files=30))
    assert b"Too many open files" in execution.stderr


def test_numpy_and_sympy_are_ready_for_programs_that_name_them(sandbox: Sandbox) -> None:
    source = "import sys\nready = sys.modules.keys() & {'numpy', 'sympy'}\nimport numpy, sympy\n"
    execution = sandbox.run(source + "print(len(ready), numpy.arange(4).sum(), sympy.sqrt(8))")
    assert execution.stdout == b"2 6 2*sqrt(2)\n"


USES = {
    "sortedcontainers": "sortedcontainers.SortedList([3, 1])[0]",
    "networkx": "networkx.shortest_path_length(networkx.path_graph(4), 0, 3)",
    "pandas": "pandas.DataFrame({'a': [1, 2]}).groupby('a').size().sum()",
    "scipy": "__import__('scipy.optimize').optimize.brentq(lambda x: x - 2, 0, 5)",
}


def test_tests_may_import_what_programs_may() -> None:
    assert frozenset(PACKAGES[ZygoteKind.SCI]) == INSTALLED


@pytest.mark.parametrize("name", USES)
def test_packages_of_the_extra_programs_can_be_imported_where_they_are_installed(
    sandbox: Sandbox, name: str
) -> None:
    pytest.importorskip(name)
    limits = dataclasses.replace(LIMITS, cpu_seconds=5.0, wall_seconds=30.0)
    execution = sandbox.run(f"import {name}\nprint({USES[name]})", limits=limits)
    assert (execution.stdout[:1], execution.stderr) in [(b"1", b""), (b"2", b""), (b"3", b"")]


def test_no_other_package_can_be_imported(sandbox: Sandbox) -> None:
    for kind in ZygoteKind:
        execution = sandbox.run("import pydantic", zygote_kind=kind)
        assert b"No module named 'pydantic'" in execution.stderr


def test_executions_draw_different_random_numbers(sandbox: Sandbox) -> None:
    for source in (
        "import random; print(random.random())",
        "import numpy; print(numpy.random.random())",
    ):
        assert len({sandbox.run(source).stdout for _ in range(3)}) == 3


def test_what_a_program_changes_in_its_interpreter_ends_with_it(sandbox: Sandbox) -> None:
    for _ in range(3):
        source = "import builtins, json; print(len('ab')); builtins.len = json.dumps = None"
        assert sandbox.run(source).stdout == b"2\n"


def test_flags_that_a_program_sets_on_its_descriptors_end_with_it(sandbox: Sandbox) -> None:
    source = """
import fcntl, os
found = []
for descriptor in range(64):
    try:
        found.append((descriptor, fcntl.fcntl(descriptor, fcntl.F_GETFL)))
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK)
    except OSError:
        pass
print(found)
"""
    for stdin in (b"", b"input"):
        assert len({sandbox.run(source, stdin).stdout for _ in range(3)}) == 1


def test_there_is_no_scratch_directory_unless_asked_for(sandbox: Sandbox) -> None:
    execution = sandbox.run("open('file', 'w')")
    assert execution.exit_code == 1
    assert b"main.py" in execution.stderr


def test_a_scratch_directory_is_empty_and_private(sandbox: Sandbox) -> None:
    source = """
import os
print(os.listdir("."))
os.makedirs("a/" * 200)
os.mkdir("closed", 0)
os.makedirs("b/c")
for n in range(100):
    open(f"b/c/{n}", "w").write("x" * n)
os.mkdir("b/closed", 0)
os.rename("b/c/99", "moved")
print(open("moved").read() == "x" * 99)
"""
    limits = dataclasses.replace(SCRATCH, file_bytes=2**23)  # a directory can take a block
    for _ in range(3):
        assert sandbox.run(source, limits=limits).stdout == b"[]\nTrue\n"


def test_a_file_is_limited(sandbox: Sandbox) -> None:
    execution = sandbox.run("open('file', 'w').write('x' * 2**21)", limits=SCRATCH)
    assert execution.exit_code == 1
    assert b"File too large" in execution.stderr or b"No space left" in execution.stderr


@pytest.mark.parametrize(
    "source",
    [
        "for n in range(10**6): open(str(n), 'w').write('x' * 2**19)",
        "import os\nfor n in range(10**6): os.mkdir('d'); os.chdir('d')",
        "for n in range(10**6): open(str(n), 'w')",
    ],
)
def test_the_scratch_directory_is_limited_as_a_whole(sandbox: Sandbox, source: str) -> None:
    assert not sandbox.run(source, limits=SCRATCH).succeeded
    assert sandbox.run("import os; print(os.listdir())", limits=SCRATCH).stdout == b"[]\n"


def test_temporary_files_work_in_the_scratch_directory(sandbox: Sandbox) -> None:
    source = """
import tempfile
with tempfile.TemporaryFile("w+") as file:
    file.write("text")
    file.seek(0)
    print(file.read())
"""
    assert sandbox.run(source, limits=SCRATCH).stdout == b"text\n"


def test_executions_wait_for_a_slot(sandbox: Sandbox) -> None:
    async def many() -> list[bytes]:
        programs = [Program(payload=b"print(input())", stdin=b"%d\n" % n) for n in range(20)]
        executions = await asyncio.gather(*(sandbox.runner.run(p, LIMITS) for p in programs))
        return [execution.stdout for execution in executions]

    assert sandbox.wait(many()) == [b"%d\n" % n for n in range(20)]


def test_cancelling_ends_the_program(sandbox: Sandbox) -> None:
    async def cancelled() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(
                sandbox.runner.run(Program(payload=b"while True: pass"), LIMITS), 0.1
            )

    for _ in range(3):
        sandbox.wait(cancelled())
    start = time.monotonic()
    assert sandbox.run("print(1)").stdout == b"1\n"
    # It did not wait for the others, which would have gone on until their limit.
    assert time.monotonic() - start < LIMITS.cpu_seconds


def test_a_zygote_that_is_killed_loses_no_execution(sandbox: Sandbox) -> None:
    async def killed() -> bytes:
        program = Program(payload=b"import time; time.sleep(0.3); print(1)")
        running = asyncio.create_task(sandbox.runner.run(program, LIMITS))
        await asyncio.sleep(0.1)
        for pid in zygotes():
            os.kill(pid, signal.SIGKILL)
        return (await running).stdout

    assert sandbox.wait(killed()) == b"1\n"
    assert sandbox.run("print(2)").stdout == b"2\n"


def test_nothing_is_left_open(sandbox: Sandbox) -> None:
    def num_descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    sources = ["print(1)", "import os; os.abort()", "while True: print('x' * 999)", "("]
    for source in sources:
        sandbox.run(source)
    before = num_descriptors(), sorted(zygotes())
    for _ in range(20):
        for source in sources:
            sandbox.run(source)
    assert (num_descriptors(), sorted(zygotes())) == before


def test_an_entry_must_exist(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="no entry 'no-such'; there are"):
        sandbox.run("", entry="no-such")


def test_a_runner_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use() -> list[int]:
        async with Runner(2) as runner:
            source = b"open('file', 'w').write('x'); import time; time.sleep(0.1)"
            await runner.run(Program(payload=source), SCRATCH)
            assert os.listdir(tmp_path)
            running = asyncio.create_task(runner.run(Program(payload=source), SCRATCH))
            await asyncio.sleep(0.05)
            running.cancel()
            return zygotes()

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tmp_path.chmod(0o755)
    before = set(zygotes())
    started = set(asyncio.run(use())) - before
    assert len(started) in (1, 2)
    assert set(zygotes()) == before
    assert os.listdir(tmp_path) == []


def test_a_pair_talks_and_the_judge_reports(sandbox: Sandbox) -> None:
    program = Program(payload=b"def solve(n): return n * n", entry="answer")
    judge = Program(payload=b"3\n4\n", entry="ask")
    pair = sandbox.wait(sandbox.runner.run_pair(program, judge, LIMITS, LIMITS))
    assert pair.judge.result == b"9\n16\n"
    assert pair.judge.succeeded
    assert pair.program.reason in (ExitReason.EXITED, ExitReason.STOPPED)


@pytest.mark.parametrize(
    ("source", "limits", "reason", "result"),
    [
        ("import os; os._exit(0)", LIMITS, ExitReason.EXITED, b"nothing\nnothing\n"),
        ("while True: pass", SHORT_CPU, ExitReason.CPU_LIMIT, b"nothing\nnothing\n"),
        (SLEEP.format(60), SHORT_WALL, ExitReason.WALL_LIMIT, b"nothing\nnothing\n"),
        ("import os; os.write(6, b'16\\n')", LIMITS, ExitReason.EXITED, b"nothing\nnothing\n"),
        ("import os; os.write(5, b'forged\\n')", LIMITS, ExitReason.EXITED, b"forged\nnothing\n"),
    ],
    ids=["exit", "spin", "sleep", "result", "forged"],
)
def test_a_program_can_say_what_it_likes_but_only_on_the_channel(
    sandbox: Sandbox, source: str, limits: Limits, reason: ExitReason, result: bytes
) -> None:
    program = Program(payload=f"{source}\n".encode(), entry="answer")
    judge = Program(payload=b"3\n4\n", entry="ask")
    try:
        pair = sandbox.wait(sandbox.runner.run_pair(program, judge, limits, LIMITS))
    except BrokenPipeError:
        pytest.fail("the judge's failure reached the runner")
    assert pair.program.reason is reason
    assert pair.judge.result in (result, b"", result.partition(b"\n")[0] + b"\n")


def test_a_slot_that_expects_pairs_starts_with_what_they_need() -> None:
    async def count(*, expects_pairs: bool) -> int:
        before = set(zygotes())
        async with Runner(1, expects_pairs=expects_pairs):
            return len(set(zygotes()) - before)

    assert asyncio.run(count(expects_pairs=False)) == 1
    assert asyncio.run(count(expects_pairs=True)) == 2


def test_a_program_that_waits_for_its_judge_ends_with_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "STOP_SECONDS", 60.0)
    program = Program(payload=b"def solve(n): return n * n", entry="answer")
    judge = Program(payload=b"3\n", entry="ask")
    pair = sandbox.wait(sandbox.runner.run_pair(program, judge, LIMITS, LIMITS))
    assert pair.program.reason is ExitReason.EXITED


def test_random_numbers_differ_between_executions(sandbox: Sandbox) -> None:
    found = {sandbox.run("import random; print(random.random())").stdout for _ in range(5)}
    assert len(found) == 5


def test_an_execution_does_not_see_how_its_zygote_was_started(sandbox: Sandbox) -> None:
    """Neither arguments of its process nor the variables that its memory began with show it."""
    source = """
import ctypes, sys
print(sys.orig_argv[1:])
count, values = ctypes.c_int(), ctypes.POINTER(ctypes.c_wchar_p)()
ctypes.pythonapi.Py_GetArgcArgv(ctypes.byref(count), ctypes.byref(values))
found = [values[index] for index in range(count.value)]
frame = sys._getframe()
while frame is not None:
    for value in list(frame.f_locals.values()):
        found += [str(value), *map(str, getattr(value, "__dict__", {}).values())]
    frame = frame.f_back
print([text for text in found if "pair_" + "entries:" in text])
"""
    execution = sandbox.run(source, arguments=("an", "argument"))
    assert execution.stdout.decode().splitlines() == ["['main.py', 'an', 'argument']", "[]"]


def test_paths_and_sockets_can_be_asked_for_what_programs_need_of_them(sandbox: Sandbox) -> None:
    source = """
import asyncio, os, pathlib, socket
print(pathlib.Path("a/../b").resolve() == pathlib.Path.cwd() / "b", os.path.realpath("x") != "x")
print(pathlib.Path(os.__file__).resolve(strict=True).name)
one, other = socket.socketpair()
print(one.type is socket.SOCK_STREAM, socket.socket(fileno=one.detach()).family.name)
print(other.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
print(asyncio.run(asyncio.sleep(0, "done")))
"""
    expected = ["True True", "os.py", "True AF_UNIX", "0", "done"]
    assert sandbox.run(source).stdout.decode().splitlines() == expected


def test_threads_work_after_the_fork(sandbox: Sandbox) -> None:
    source = """
import threading
thread = threading.Thread(target=lambda: print(threading.current_thread() is thread))
thread.start()
thread.join()
print(threading.main_thread() is threading.current_thread(), threading.active_count())
"""
    assert sandbox.run(source).stdout == b"True\nTrue 1\n"


def test_a_judge_that_never_ends_is_ended_and_so_is_its_program(sandbox: Sandbox) -> None:
    program = Program(payload=b"import time; time.sleep(60)")
    judge = Program(payload=b"while True: pass")
    pair = sandbox.wait(sandbox.runner.run_pair(program, judge, LIMITS, SHORT_CPU))
    assert pair.judge.reason is ExitReason.CPU_LIMIT
    assert pair.program.reason is ExitReason.STOPPED


def test_an_entry_that_raises_ends_with_exit_code_1(sandbox: Sandbox) -> None:
    execution = sandbox.run("", entry="fail")
    assert (execution.reason, execution.exit_code) == (ExitReason.EXITED, 1)
    assert b"a bug in an entry" in execution.stderr


def test_a_kind_without_its_packages_is_our_failure_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setitem(PACKAGES, ZygoteKind.SCI, ("numpy_that_nobody_installed",))

    async def run_both() -> None:
        async with Runner(1) as runner:
            with pytest.raises(SandboxError, match="numpy_that_nobody_installed"):
                await runner.run(Program(payload=b"", zygote_kind=ZygoteKind.SCI), LIMITS)
            assert (await runner.run(Program(payload=b"print(1)"), SCRATCH)).stdout == b"1\n"

    asyncio.run(run_both())
    assert list(tmp_path.iterdir()) == []


def test_modules_beside_the_service_do_not_take_the_place_of_the_standard_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An old backport may lie where packages are installed; the service itself imports `json`."""
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    (tmp_path / "verifier_service").symlink_to(Path(runner_module.__file__).parents[1])
    monkeypatch.setattr(zygote_handle, "_IMPORT_ROOT", tmp_path)

    async def run_once() -> bytes:
        async with Runner(1) as runner:
            program = Program(payload=b"import json; print(json.dumps([2]))")
            return (await runner.run(program, LIMITS)).stdout

    assert asyncio.run(run_once()) == b"[2]\n"
