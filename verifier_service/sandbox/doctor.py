"""The self-check of the sandbox: it tries operations that must be refused.

It believes no more than the runner does: a program that should have reported and did not is a
failure. Each check is one line; `Diagnosis.is_healthy` says whether all of them passed.
"""

from __future__ import annotations

import dataclasses
import json
import platform
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from verifier_service.sandbox.execution import (
    COMMON_LAYERS,
    Execution,
    ExitReason,
    Layer,
    Limits,
    Program,
    SandboxError,
    level,
)
from verifier_service.sandbox.probes import ALLOWED, BENIGN, DENIED, FORBIDDEN, NEEDS_ROOT
from verifier_service.sandbox.python_packages import importable_packages
from verifier_service.sandbox.runner import Runner

_PROBES = Path(__file__).with_name("probes.py")
_FAR = Limits(cpu_seconds=10.0, wall_seconds=60.0, idle_seconds=None, memory_bytes=128 * 2**20)
"""Limits that a check does not reach, on a busy machine either. Each check lowers one of them."""
_CPU = dataclasses.replace(_FAR, cpu_seconds=0.5)
_WALL = dataclasses.replace(_FAR, wall_seconds=1.5)
_IDLE = dataclasses.replace(_FAR, idle_seconds=0.5)
_OUTPUT = dataclasses.replace(_FAR, output_bytes=2**16)
_SCRATCH = dataclasses.replace(_FAR, file_bytes=2**20)


@dataclass(frozen=True)
class Check:
    """One thing that was tried, and how it ended."""

    name: str
    passed: bool
    found: str


@dataclass(frozen=True)
class Diagnosis:
    """The findings of a self-check."""

    layers: frozenset[Layer]
    problems: tuple[str, ...]
    """Layers that are not in force and why, or why the sandbox could not be started."""
    checks: tuple[Check, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether the sandbox runs and every check passed."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    def __str__(self) -> str:
        lines = [f"layers: {level(self.layers)}"]
        lines += [f"  {layer:13} {_mark(layer in self.layers)}" for layer in Layer]
        lines += [f"  note: {problem}" for problem in self.problems]
        lines += [
            f"{'ok' if check.passed else 'FAILED':6}  {check.name}: {check.found}"
            for check in self.checks
        ]
        lines += [_packages_line()]
        num_failed = sum(not check.passed for check in self.checks)
        lines.append(f"{len(self.checks)} checks, {num_failed} failed")
        return "\n".join(lines)


def _packages_line() -> str:
    """The packages that programs can import, and the command that installs the others."""
    packages = importable_packages()
    there = ", ".join(f"{name} {version}" for name, version in packages.items() if version)
    missing = ", ".join(name for name, version in packages.items() if not version)
    line = f"programs can import the standard library, {there}"
    return line + (f"; not {missing} (pip install '.[programs]')" if missing else "")


def _mark(is_in_force: bool) -> str:
    return "in force" if is_in_force else "-"


async def diagnose(
    *,
    required: frozenset[Layer] = COMMON_LAYERS,
    unsafe_without: frozenset[Layer] = frozenset(),
) -> Diagnosis:
    """Start a sandbox as the service would, and check it. The arguments are those of `Runner`."""
    runner = Runner(1, required=required, unsafe_without=unsafe_without)
    try:
        async with runner:
            checks = tuple([check async for check in examine(runner)])
    except SandboxError as error:
        return Diagnosis(runner.layers, (*runner.problems, str(error)), ())
    return Diagnosis(runner.layers, tuple(runner.problems), checks)


async def examine(runner: Runner) -> AsyncIterator[Check]:
    """Check a running sandbox. Takes seconds, most of which are spent waiting.

    Raises:
        SandboxError: a program could not be run at all.
    """
    probes = Program(payload=_PROBES.read_bytes(), stdin=b"input")
    execution = await runner.run(probes, _FAR)
    try:
        report = json.loads(execution.stdout)
    except ValueError:
        found = f"no report: {execution.reason} {execution.stderr.decode(errors='replace')}"
        yield Check("operations that must be refused", False, found)
        return
    for name in FORBIDDEN:
        if name in NEEDS_ROOT and Layer.ROOT not in runner.layers:
            continue
        found = report["forbidden"].get(name, "not tried")
        yield Check(name, found == DENIED, found)
    for name in BENIGN:
        works = report["benign"].get(name) is True
        yield Check(name, works, "works" if works else "does not work")
    async for check in _examine_network(runner):
        yield check
    for name, source, limits, passes in _PROGRAMS:
        execution = await runner.run(Program(payload=source.encode()), limits)
        found = f"{execution.reason}, {execution.cpu_seconds:.2f} s of CPU time"
        yield Check(name, passes(execution), found)


async def _examine_network(runner: Runner) -> AsyncIterator[Check]:
    """Check that a program can serve itself, or open no socket, and that it reaches nobody else."""
    execution = await runner.run(Program(payload=_SERVE), _FAR)
    if runner.has_loopback:
        works = execution.succeeded
        found = "works" if works else execution.stderr.decode(errors="replace")[-500:]
        yield Check("serve itself on loopback", works, found)
    else:
        is_refused = b"PermissionError" in execution.stderr
        yield Check("open an internet socket", is_refused, DENIED if is_refused else ALLOWED)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        _, port = server.getsockname()
        await runner.run(Program(payload=_REACH.format(port=port).encode()), _FAR)
        try:
            server.accept()[0].close()
            found = ALLOWED
        except BlockingIOError:
            found = DENIED
    yield Check("reach a server of this machine", found == DENIED, found)


def _ends_with(reason: ExitReason) -> Callable[[Execution], bool]:
    return lambda execution: execution.reason is reason


def _fails(execution: Execution) -> bool:
    return execution.reason is ExitReason.EXITED and execution.exit_code == 1


def _works(execution: Execution) -> bool:
    return execution.succeeded


_SERVE = b"""
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def serve():
    connection, _ = server.accept()
    connection.sendall(connection.recv(1))
    connection.close()
threading.Thread(target=serve).start()
with socket.create_connection(("localhost", server.getsockname()[1])) as connection:
    connection.sendall(b"x")
    assert connection.recv(1) == b"x"
"""
_REACH = """
import socket
try:
    socket.create_connection(("127.0.0.1", {port})).close()
except OSError:
    pass
"""
_WRITE = """
import os
assert os.listdir(".") == [], os.listdir(".")
with open("file", "w") as file:
    file.write("x")
os.makedirs("a/b/c")
"""
_OVERFILL = "open('file', 'w').write('x' * 2**21)"
_SLEEP = "import time; time.sleep(60)"
_FLOOD = "while True: print('x' * 999)"
_KILL_ITSELF = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGKILL)
except PermissionError:
    os._exit(0)
"""
_X32_CALL = "import ctypes; ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 + 39))"

_PROGRAMS: list[tuple[str, str, Limits, Callable[[Execution], bool]]] = [
    ("end a program that never does", "while True: pass", _CPU, _ends_with(ExitReason.CPU_LIMIT)),
    ("end a program that waits", _SLEEP, _WALL, _ends_with(ExitReason.WALL_LIMIT)),
    ("end a program that sleeps", _SLEEP, _IDLE, _ends_with(ExitReason.IDLE_LIMIT)),
    ("end a flood of output", _FLOOD, _OUTPUT, _ends_with(ExitReason.OUTPUT_LIMIT)),
    ("refuse that a program kills itself", _KILL_ITSELF, _FAR, _works),
    ("refuse memory", "bytearray(2**30)", _FAR, _fails),
    ("give a scratch directory", _WRITE, _SCRATCH, _works),
    ("give an empty scratch directory", _WRITE, _SCRATCH, _works),
    ("limit the scratch directory", _OVERFILL, _SCRATCH, _fails),
]
if platform.machine() == "x86_64":
    _KILLED = _ends_with(ExitReason.FORBIDDEN)
    _PROGRAMS.append(("kill a call of the x32 table", _X32_CALL, _FAR, _KILLED))
