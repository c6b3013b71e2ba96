"""Runs the corpus in the sandbox and observes from outside whether an attack succeeded.

    python -m tests.attacks.harness '{"attacks": ["eq_object"], ...}'

The process of this module stands in for the service: the canaries lie in its environment, beside
it and in its tests. It must be started with `ENVIRONMENT_CANARY` in its environment, as a service
has secrets in its own. It prints one line of JSON for each run.

After every run it looks for each possible success, not only for the one in the attack's header: a
canary in the output, a packet, a file, a process, a changed inode, a neighbour that died, an honest
program that fails afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import dataclasses
import glob
import importlib.util
import json
import logging
import os
import random
import resource
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.attacks.corpus import FUNCTION_TESTS, Attack, Control, load, load_controls
from verifier_service.code.findings import Findings
from verifier_service.code.languages.runners import language_tools
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reasons import CodeReason
from verifier_service.code.reference_tests import (
    Asserts,
    Function,
    FunctionCase,
    Stdio,
    StdioCase,
)
from verifier_service.code.repeated_program import Plan
from verifier_service.code.run_tests import ENTRIES, run_tests
from verifier_service.code.verdicts import plan_of
from verifier_service.sandbox.execution import (
    COMMON_LAYERS,
    Execution,
    Layer,
    Limits,
    Pair,
    Program,
    SandboxError,
    level,
)
from verifier_service.sandbox.layers import hide_process
from verifier_service.sandbox.limit_watch import waited_seconds
from verifier_service.sandbox.runner import Runner
from verifier_service.verifiers.code import Code

ENVIRONMENT_CANARY = "ATTACK_CANARY"
PYTHON = LANGUAGES["python"]
SHORT_CPU_SECONDS = 0.5
"""CPU time of a run, five times the need of any program that is not meant to meet a limit."""
STDIN = "3 1 2\n"
ARGUMENT = [3, 1, 2]
SCRATCH_BYTES = 8 * 2**20
WALL_SLACK_SECONDS = 2.0
"""Longest time from the wall limit of an execution to its end, without waits for a processor."""
MAX_GROWTH_BYTES = 48 * 2**20
"""Largest growth of this process in one run: it may keep three streams, parsed and copied."""
SETTLE_SECONDS = 20.0
"""Longest time from the kill of a process to its end, on a busy machine too."""
ANSWER_SECONDS = 60.0
"""Longest time for a living process to answer, or a program to begin, on a busy machine too."""
MAX_OVERLOADS = 3
"""Runs after which an attack that the sandbox gives up as overload each time has caused it."""
HARMLESS = frozenset(
    {
        "chmod_service_file",
        "evict_library_pages",
        "fd_exhaustion",
        "fork_and_outlive",
        "list_service_dir",
        "lock_shared_file",
        "out_of_band_data",
        "packets_on_stdout",
        "personality_aslr",
        "prlimit_raise_own",
        "read_secret_c_library",
        "read_service_secret_file",
        "sysv_shm_leak",
        "udp_dns_exfil",
        "unix_datagram",
        "utime_service_file",
        "write_outside_scratch",
    }
)
"""The only attacks that may be run with a layer off. They read canaries of this module, send
packets to its sockets and their own, touch its files, evict pages of the library from memory, make
one small object or process, which is removed afterwards, or print that an operation is possible."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """The attacks to run and how, as JSON in the arguments."""

    attacks: list[str]
    """Names of the attacks; no others are run."""
    cpu_seconds: float
    """The setting of the verifier; a run with a scratch directory has `SHORT_CPU_SECONDS`."""
    scratch: list[str]
    """Categories whose stdio programs are run with a scratch directory as well."""
    short: list[str] = dataclasses.field(default_factory=list)
    """Names of attacks whose every run has `SHORT_CPU_SECONDS`."""
    without: list[str] = dataclasses.field(default_factory=list)
    """Layers to leave out. Only the `HARMLESS` are run then."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The observations of one run of one attack, as a line of JSON."""

    attack: str
    way: str
    """`stdio`, `scratch` (with a scratch directory), `asserts`, `function` or `control`."""
    reason: str
    """Reason of the verdict; `infra` if there was no verdict."""
    seen: list[str]
    """Every success that was observed, in the words of the corpus."""
    detail: str
    seconds: float
    level: str
    """Layers that were in force."""


async def run(order: Order) -> None:
    """Run attacks one after another and print the observations."""
    without = frozenset(Layer(name) for name in order.without)
    attacks = [attack for attack in load() if attack.name in order.attacks]
    if without & COMMON_LAYERS and not {attack.name for attack in attacks} <= HARMLESS:
        raise ValueError("with a required layer off, only the harmless attacks may be run")
    async with _Harness(order, without) as harness:
        for control in harness.controls:
            await harness.expect_control(control)
        for attack in attacks:
            for observation in await harness.attempt(attack):
                print(json.dumps(dataclasses.asdict(observation)), flush=True)  # noqa: T201


class _RecordingRunner(Runner):
    """Keeps the executions, because a grade says little about them."""

    def __init__(self, without: frozenset[Layer]) -> None:
        super().__init__(
            1,
            entries=ENTRIES,
            expects_pairs=True,
            tools=language_tools,
            unsafe_without=without,
        )
        self.executions: list[tuple[Execution, Limits]] = []
        self.judges: list[tuple[Execution, Limits]] = []

    async def run(self, program: Program, limits: Limits, *, result: bool = False) -> Execution:
        execution = await super().run(program, limits, result=result)
        self.executions.append((execution, limits))
        return execution

    async def run_pair(
        self, program: Program, judge: Program, limits: Limits, judge_limits: Limits
    ) -> Pair:
        pair = await super().run_pair(program, judge, limits, judge_limits)
        self.executions.append((pair.program, limits))
        self.judges.append((pair.judge, judge_limits))
        return pair


class _Deaths(logging.Handler):
    """Collects the runner's messages: each says that a zygote died and was replaced."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


class _Harness:
    """The canaries, a runner for attacks, and a runner for a victim, as if of another worker."""

    def __init__(self, order: Order, without: frozenset[Layer]) -> None:
        self.controls = [control for control in load_controls() if _has(control.requires)]
        self._scratch = frozenset(order.scratch)
        self._plan = plan_of(Code(cpu_seconds=order.cpu_seconds))
        self._short = frozenset(order.short)
        self._short_plan = plan_of(Code(cpu_seconds=SHORT_CPU_SECONDS))
        self._scratch_plan = _with_scratch(self._short_plan)
        self._runner = _RecordingRunner(without)
        self._victims_runner = Runner(1, unsafe_without=without)
        self._stack = contextlib.AsyncExitStack()
        self._deaths = _Deaths()
        self._num_runs = 0
        self._peak = 0
        self._waited_before = 0.0
        self._zygotes: set[int] = set()
        self._victim: asyncio.Task[Execution] | None = None

    async def __aenter__(self) -> _Harness:
        stack = self._stack
        logging.getLogger("verifier_service.sandbox.runner").addHandler(self._deaths)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="canaries-")))
        os.chmod(folder, 0o755)
        self._world = stack.enter_context(World(folder))
        await stack.enter_async_context(self._runner)
        await stack.enter_async_context(self._victims_runner)
        await self._ensure_victim()
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._victim is not None:
            self._victim.cancel()
            await asyncio.gather(self._victim, return_exceptions=True)
        await self._stack.aclose()

    async def attempt(self, attack: Attack) -> list[Observation]:
        """Run an attack in every way that its header asks for."""
        if attack.kind == "function":
            ways = ["asserts", "function"] if attack.test == "equal" else ["asserts"]
        else:
            ways = ["stdio", "scratch"] if attack.category in self._scratch else ["stdio"]
        return [await self._attempt(attack, way) for way in ways]

    async def expect_control(self, control: Control) -> None:
        """Run a benign program. Raises RuntimeError if it does not pass."""
        found = await self._run_control(control)
        if found.reason != CodeReason.PASSED:
            raise RuntimeError(f"the control {control.name} does not pass: {found}")

    async def _run_control(self, control: Control) -> Findings:
        case = StdioCase(stdin=control.stdin, stdout=control.expected_stdout)
        plan = plan_of(Code())
        if control.scratch:
            plan = _with_scratch(plan)
        return await run_tests(
            self._runner, PYTHON, control.source, Stdio(type="stdio", cases=(case,)), plan
        )

    async def _attempt(self, attack: Attack, way: str) -> Observation:
        await self._ensure_victim()
        token = f"CANARY-EXPECT-{secrets.token_hex(8)}"
        number = random.SystemRandom().uniform(1e3, 1e6)
        plan = self._plan_of(attack, way)
        tests = _problem(attack, way, token, number)
        source = self._world.fill_in(attack.source)
        self._forget()
        self._world.remember()
        neighbours, others = self._processes()
        self._waited_before = self._own_wait()
        start = time.monotonic()
        seen: list[str] = []
        reason, detail = await self._grade(source, tests, plan, seen)
        if attack.success == "benign_sees":
            first = len(self._runner.executions)
            await self._grade(source, tests, plan, seen)
            if any(_lines(run, b"PERSISTED") for run, _ in self._runner.executions[first:]):
                seen.append("benign_sees")
        seconds = time.monotonic() - start
        seen += self._look_at_output(attack, token, detail)
        seen += self._world.changes(attack.success)
        seen += await self._look_at_processes(others, neighbours)
        if reason == CodeReason.PASSED:
            seen.append("verdict_passed")
        for failure in await self._failed_controls(attack):
            seen.append("benign_tainted")
            detail += failure
        self._num_runs += 1
        return Observation(
            attack=attack.name,
            way=way,
            reason=reason,
            seen=sorted(set(seen)),
            detail=" ".join([detail[:500], *self._deaths.messages]),
            seconds=round(seconds, 3),
            level=level(self._runner.layers),
        )

    def _plan_of(self, attack: Attack, way: str) -> Plan:
        if way == "scratch":
            return self._scratch_plan
        return self._short_plan if attack.name in self._short else self._plan

    async def _failed_controls(self, attack: Attack) -> list[str]:
        """Run the benign program whose turn it is, or all; a description of each that fails."""
        if attack.success == "benign_tainted":
            controls = self.controls
        else:
            controls = [self.controls[self._num_runs % len(self.controls)]]
        found = [(control.name, await self._run_control(control)) for control in controls]
        return [f" {name}: {it}" for name, it in found if it.reason != CodeReason.PASSED]

    async def _grade(
        self, source: str, tests: Stdio | Function | Asserts, plan: Plan, seen: list[str]
    ) -> tuple[str, str]:
        """Reason and detail of the verdict."""
        deadline = 4 * (plan.limits.wall_seconds + 3) + 10
        for _ in range(MAX_OVERLOADS):
            try:
                found = await asyncio.wait_for(
                    run_tests(self._runner, PYTHON, source, tests, plan), deadline
                )
            except TimeoutError:
                seen.append("hang")
                return "infra", "no verdict in time"
            except SandboxError as error:
                why = str(error)
                # A busy machine can bring this about, and no attack may: one that does will again.
                if "overloaded" not in why:
                    break
            else:
                return str(found.reason), found.shown
        seen.append("infra")
        return "infra", why

    def _forget(self) -> None:
        self._runner.executions.clear()
        self._runner.judges.clear()
        self._deaths.messages.clear()
        self._peak = _peak_bytes()

    def _own_wait(self) -> float:
        """Seconds that this process and the zygotes have waited for a processor so far."""
        return sum(waited_seconds(pid) for pid in {os.getpid(), *self._zygotes})

    def _look_at_output(self, attack: Attack, token: str, shown: str) -> Iterator[str]:
        for execution, limits in self._runner.executions:
            printed = execution.stdout + b"\n" + execution.stderr
            if _lines(execution, b"PWNED"):
                yield "marker"
            canaries = self._world.canaries
            if attack.test != "shared_expected":  # there the test gives it to the program
                canaries = {**canaries, "EXPECT": token}
            for name, canary in canaries.items():
                if canary.encode() in printed or canary in shown:
                    yield f"canary:{name}"
            if max(len(execution.stdout), len(execution.stderr)) > limits.output_bytes:
                yield "outsize"
        both = [*self._runner.executions, *self._runner.judges]
        # No part of the limit: waits for a processor, of the programs or of those who end them.
        waited = sum(execution.waited_seconds for execution, _ in both)
        waited += max(0.0, self._own_wait() - self._waited_before)
        for execution, limits in both:
            if execution.wall_seconds - waited > limits.wall_seconds + WALL_SLACK_SECONDS:
                yield "hang"
        if _peak_bytes() > self._peak + MAX_GROWTH_BYTES:
            yield "outsize"
        if self._deaths.messages:
            yield "infra"

    # Processes

    async def _look_at_processes(self, others: set[Process], neighbours: set[Process]) -> list[str]:
        seen = []
        end = time.monotonic() + SETTLE_SECONDS
        while True:
            now, left = self._processes()
            left -= others
            zombies = {process for process in left if process.state == "Z"}
            if not left or time.monotonic() > end:
                break
            await asyncio.sleep(0.01)
        if left - zombies:
            seen.append("proc_alive")
            _end(left)
        if zombies:
            seen.append("zombies")
        if now != neighbours or self._victim is None or self._victim.done() or _stopped(now):
            seen.append("victim_dead")
        return seen

    def _processes(self) -> tuple[set[Process], set[Process]]:
        """The processes of the victim and its zygote, and all others below this one but zygotes."""
        every = processes()
        victims = {
            process
            for zygote in self._victims_runner._zygotes
            if zygote._process is not None
            for process in descendants(zygote._process.pid, every)
        }
        started = [zygote._process for zygote in self._runner._zygotes]
        zygotes = {process.pid for process in started if process is not None}
        if Layer.NAMESPACES in self._runner.layers:
            # The first process in a namespace is a zygote too. Processes that it adopts are its
            # children, and no zygotes.
            zygotes |= {process.pid for process in every if process.parent in zygotes}
        self._zygotes = zygotes
        below = descendants(os.getpid(), every) - victims
        return victims, {process for process in below if process.pid not in zygotes}

    async def _ensure_victim(self) -> None:
        if self._victim is not None and not self._victim.done():
            return
        secret = self._world.victims_secret
        source = (
            f"import sys, time\nsecret = {secret!r}\n"
            "with open('victim.txt', 'w') as file:\n    file.write(sys.stdin.read())\n"
            "kept = open('victim.txt')\nprint('ready', flush=True)\ntime.sleep(3600)\n"
        )
        limits = Limits(wall_seconds=3600, idle_seconds=None, file_bytes=2**20)
        program = Program(payload=source.encode(), stdin=secret.encode())
        self._victim = asyncio.create_task(self._victims_runner.run(program, limits))
        async with asyncio.timeout(ANSWER_SECONDS):
            # Its runner tells nobody that output has arrived.
            while not self._victim.done() and not self._victim_has_printed():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        if self._victim.done():
            raise RuntimeError(f"the victim does not run: {self._victim.result()}")

    def _victim_has_printed(self) -> bool:
        running = [zygote._execution for zygote in self._victims_runner._zygotes]
        return any(stream.num_bytes for it in running if it is not None for stream in it._streams)


def _with_scratch(plan: Plan) -> Plan:
    limits = dataclasses.replace(plan.limits, file_bytes=SCRATCH_BYTES)
    return dataclasses.replace(plan, limits=limits)


def _problem(attack: Attack, way: str, token: str, number: float) -> Stdio | Function | Asserts:
    """A problem that no program can solve unless it sees the expected answer."""
    if way == "function":
        case = FunctionCase(args=(ARGUMENT,), returns=token)
        return Function(type="function", entry_point="solve", cases=(case,))
    if way == "asserts":
        code = FUNCTION_TESTS[attack.test]
        code = code.replace("{EXPECT}", repr(token)).replace("{NUMBER}", repr(number))
        return Asserts(type="asserts", code=code, entry_point="solve")
    expected = repr(number) if attack.test == "float" else token
    cases = (StdioCase(stdin=STDIN, stdout=expected),)
    return Stdio.model_validate({"type": "stdio", "cases": cases, "checker": attack.test})


def _lines(execution: Execution, line: bytes) -> bool:
    """Whether an execution printed a line that is exactly this one."""
    return any(line in stream.splitlines() for stream in (execution.stdout, execution.stderr))


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# The surroundings of the sandbox


class World:
    """Canaries and other things that an attack could reach, and the changes of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        mark = f"VICTIM-{secrets.token_hex(4)}-"
        self.canaries = {
            "ENV": os.environ[ENVIRONMENT_CANARY],
            "FILE": f"CANARY-FILE-{secrets.token_hex(16)}",
            "VICTIM": secrets.token_hex(16),
        }
        self.victims_secret = mark + self.canaries["VICTIM"]
        self._outside = folder / "outside"
        self._outside.mkdir()
        self._watched = self._outside / "watched.txt"
        self._secret = folder / "secret.txt"
        self._secret.write_text(self.canaries["FILE"])
        self._watched.write_text("watched")
        # Open to every user: otherwise an attack could fail by permissions, and not by a layer.
        self._outside.chmod(0o777)
        self._watched.chmod(0o666)
        self._secret.chmod(0o644)
        self._mark = mark
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> World:
        self._sockets = {name: self._stack.enter_context(it) for name, it in self._listen().items()}
        self._parent = _StandIn()
        self._placeholders = {
            "{SECRET_FILE}": str(self._secret),
            "{TCP_PORT}": str(self._sockets["net:tcp"].getsockname()[1]),
            "{UDP_PORT}": str(self._sockets["net:udp"].getsockname()[1]),
            "{UNIX_SOCKET}": str(self._folder / "socket"),
            "{VICTIM_MARK}": self._mark,
            "{OUTSIDE_DIR}": str(self._outside),
        }
        return self

    def __exit__(self, *error: object) -> None:
        self._parent.end()
        self._stack.close()

    def _listen(self) -> dict[str, socket.socket]:
        path = str(self._folder / "socket")
        sockets: dict[str, tuple[int, int, tuple[str, int] | str]] = {
            "net:tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "net:udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "net:unix": (socket.AF_UNIX, socket.SOCK_STREAM, path),
            "net:unix abstract": (socket.AF_UNIX, socket.SOCK_STREAM, "\0" + path),
            "net:unix datagram": (socket.AF_UNIX, socket.SOCK_DGRAM, f"{path}.dgram"),
        }
        opened = {}
        for name, (family, kind, address) in sockets.items():
            opened[name] = socket.socket(family, kind)
            opened[name].setblocking(False)
            opened[name].bind(address)
            if kind == socket.SOCK_STREAM:
                opened[name].listen()
        for file in (path, f"{path}.dgram"):
            os.chmod(file, 0o777)
        return opened

    def fill_in(self, text: str) -> str:
        """The text with its placeholders replaced."""
        values = {**self._placeholders, "{PARENT_PID}": str(self._parent.pid)}
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)
        return text

    def remember(self) -> None:
        """Take note of the state before a run."""
        self._received()
        if not self._parent.answers():
            self._parent.end()
            self._parent = _StandIn()
        self._state = self._inode()
        self._objects = _sysv_objects()
        self._files = self._outside_files()

    def changes(self, success: str) -> Iterator[str]:
        """The changes since `remember`, in the words of the corpus."""
        yield from (name.split()[0] for name in self._received())
        if self._inode() != self._state:
            yield "modechanged"
        if objects := _sysv_objects() - self._objects:
            yield "sysv"
            _remove_shared_memory(objects)
        if not self._parent.answers():
            yield "service_dead"
        new = self._outside_files() - self._files
        if success.startswith("file:"):
            pattern = self.fill_in(success.removeprefix("file:"))
            new |= {Path(path) for path in glob.glob(pattern)}
        if new:
            yield "file"
        for path in new:
            with contextlib.suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()

    def _received(self) -> list[str]:
        """The sockets at which something arrived since the last call."""
        arrived = []
        for name, it in self._sockets.items():
            with contextlib.suppress(BlockingIOError):
                while True:
                    if it.type == socket.SOCK_STREAM:
                        it.accept()[0].close()
                    else:
                        it.recv(4096)
                    arrived.append(name)
        return arrived

    def _inode(self) -> tuple[object, ...]:
        """Numbers that differ after any change of the watched file, its metadata or attributes."""
        with contextlib.suppress(OSError):
            found = os.stat(self._watched, follow_symlinks=False)
            return (found.st_ino, found.st_mtime_ns, found.st_ctime_ns)  # ctime is for the rest
        return ()

    def _outside_files(self) -> set[Path]:
        return {Path(entry) for entry in os.scandir(self._outside)}


class _StandIn:
    """A process like the service's, with the secrets in its environment, that may be killed."""

    _ECHO = "import os\nwhile byte := os.read(0, 1): os.write(1, byte)"

    def __init__(self) -> None:
        command = [sys.executable, "-I", "-S", "-c", self._ECHO]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.pid = self._process.pid
        if not self.answers():
            raise RuntimeError("the stand-in for the service does not start")

    def answers(self) -> bool:
        """Whether it has neither ended nor been stopped.

        It has to echo a byte: a process acts on the signals that it was sent before it goes on.
        Its state alone would tell nothing about a signal that it has not yet acted on.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(b"x")
        except BrokenPipeError:
            return False
        end = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < end:
            if select.select([self._process.stdout], [], [], 0.01)[0]:
                return self._process.stdout.read(1) == b"x"
            found = _process(self.pid)
            if found is None or found.state in "ZTt":
                return False
        return False

    def end(self) -> None:
        """Kill it and wait for its end."""
        self._process.kill()
        with self._process:
            pass


def _sysv_objects() -> set[tuple[str, int]]:
    """Kinds and numbers of all System V objects."""
    files = (Path("/proc/sysvipc") / kind for kind in ("shm", "sem", "msg"))
    return {
        (file.name, int(line.split()[1]))
        for file in files
        for line in file.read_text().splitlines()[1:]
    }


def _remove_shared_memory(objects: set[tuple[str, int]]) -> None:
    ipc_rmid = 0
    for kind, number in objects:
        if kind == "shm":
            ctypes.CDLL(None).shmctl(number, ipc_rmid, None)


@dataclass(frozen=True)
class Process:
    """A process of the machine, told from a later one with the same pid by its start."""

    pid: int
    parent: int
    start: str
    state: str = dataclasses.field(compare=False)


def descendants(root: int, every: list[Process] | None = None) -> set[Process]:
    """The children of a process, their children and so on; with itself unless it is this one."""
    every = processes() if every is None else every
    found = {process for process in every if process.pid == root and root != os.getpid()}
    parents = {root}
    while parents:
        children = {process for process in every if process.parent in parents} - found
        found |= children
        parents = {process.pid for process in children}
    return found


def processes() -> list[Process]:
    """All processes of the machine."""
    found = (_process(int(name)) for name in filter(str.isdigit, os.listdir("/proc")))
    return [process for process in found if process is not None]


def _process(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].decode().split()
    except OSError:
        return None
    return Process(pid, int(fields[1]), fields[19], fields[0])


def _end(processes: set[Process]) -> None:
    """Kill processes that an attack left behind, which this process has adopted."""
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process.pid, signal.SIGKILL)
            os.waitpid(process.pid, 0)


def _has(modules: tuple[str, ...]) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in modules)


def _stopped(processes: set[Process]) -> bool:
    return any(process.state in "Tt" for process in processes)


def main() -> None:
    """Run what the argument asks for."""
    _adopt_orphans()
    hide_process()
    asyncio.run(run(Order(**json.loads(sys.argv[1]))))


def _adopt_orphans() -> None:
    """Become the parent of orphans, so that processes which an attack leaves behind are found."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


if __name__ == "__main__":
    main()
