"""Runs programs in sandboxed processes, from asyncio.

    runner -- slot --+-- zygote (std)     one child at a time
                     +-- zygote (sci)
                     +-- zygote (native)
                     '-- zygote (judge)   for the second process of a pair

A slot runs one execution, or one pair, at a time. Its first zygote is started with it, the others
when they are first needed; they are replaced when they die. The runner keeps the limits: it reads
what the child writes, counts it, watches its CPU time, and kills it. The kernel's own limits are
the second line.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from verifier_service.sandbox import entries
from verifier_service.sandbox.execution import (
    COMMON_LAYERS,
    MAX_FETCHED_FILES,
    Execution,
    ExitReason,
    Layer,
    Limits,
    Pair,
    Profile,
    Program,
    SandboxError,
    Tools,
    check_name,
    level,
)
from verifier_service.sandbox.users import Users
from verifier_service.sandbox.zygote_handle import (
    PACKAGES,
    ZygoteDied,
    ZygoteHandle,
    packages_of,
)

log = logging.getLogger(__name__)

STOP_SECONDS = 0.05
"""How long a program may go on after its judge has ended, so that it can end by itself. One that
waits for its judge does so at once; one that does anything else is in the way of the next."""
MAX_KILLS = 4
"""Runs after which an execution that was killed, nobody knows why, is said to have done it."""
MAX_ZYGOTE_DEATHS = 20
"""Runs after which an execution whose zygote dies each time is given up."""
RESTART_SECONDS = 0.05
"""Pause before a run, for each zygote that has died before."""

_PACKAGE_NAMES = tuple(name.encode() for name in PACKAGES[Profile.SCI])
_NO_TOOLS = Tools(executable=(), readable=())


class Runner:
    """Runs programs.

    | call | result |
    |---|---|
    | `async with Runner(4) as runner` | starts and ends the processes |
    | `await runner.run(program, limits)` | an `Execution` |
    | `await runner.run_pair(program, judge, limits, judge_limits)` | a `Pair` |
    | `runner.layers` | what confines the executions |
    | `runner.problems` | why there is not more |

    Cancelling a call kills what it runs.

    Args:
        num_slots: executions, or pairs, at the same time.
        required: layers without which nothing is run.
        entries: functions, as `module:function`, which `Program.entry` can name besides `script`.
            See `verifier_service.sandbox.entries`.
        expects_pairs: start each slot with what pairs need, so that the first one does not wait.
        tools: gives what the entry `tool` may start, when it is first needed.
        unsafe_without: layers to leave out. For tests that show what each layer does.
    """

    def __init__(
        self,
        num_slots: int,
        *,
        required: frozenset[Layer] = COMMON_LAYERS,
        entries: Mapping[str, str] | None = None,
        expects_pairs: bool = False,
        tools: Callable[[], Tools] = lambda: _NO_TOOLS,
        unsafe_without: frozenset[Layer] = frozenset(),
    ) -> None:
        self._tools = tools
        self._required = required - unsafe_without
        self._entries = dict(entries or {})
        self._first_zygotes = (False, True) if expects_pairs else (False,)
        self._unsafe_without = unsafe_without
        self._slots = [_Slot(self) for _ in range(num_slots)]
        self._idle: asyncio.LifoQueue[_Slot] = asyncio.LifoQueue()
        self._directory: Path | None = None
        self._users = contextlib.ExitStack()
        self._zygotes: set[ZygoteHandle] = set()
        self._num_zygotes = 0
        self.layers: frozenset[Layer] = frozenset()
        self.problems: list[str] = []

    async def __aenter__(self) -> Self:
        self._directory = Path(tempfile.mkdtemp(prefix="verifier-sandbox-"))
        self._directory.chmod(0o711)
        try:
            for slot in self._slots:
                slot.users = self._users.enter_context(contextlib.closing(Users()))
            async with asyncio.TaskGroup() as group:
                for slot in self._slots:
                    for judge in self._first_zygotes:
                        group.create_task(slot.zygote(Profile.STD, judge=judge))
        except BaseException as error:
            await self._close()
            if isinstance(error, ExceptionGroup):
                first = error.exceptions[0]
                if isinstance(first, ZygoteDied):
                    raise SandboxError(f"a zygote did not start: {first}") from first
                raise first from None
            raise
        for slot in reversed(self._slots):
            self._idle.put_nowait(slot)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        directory, self._directory = self._directory, None
        await asyncio.gather(*(zygote.close() for zygote in self._zygotes))
        if directory is not None:
            directory.rmdir()
        self._users.close()

    async def run(self, program: Program, limits: Limits, *, result: bool = False) -> Execution:
        """Run a program.

        Args:
            program: to run.
            limits: of the process.
            result: whether the entry is given a result pipe.

        Raises:
            SandboxError: it could not be run, or not in time because the machine is overloaded,
                which is not its fault.
        """
        self._check(program)

        async def attempt(slot: _Slot) -> list[Execution]:
            zygote = await slot.zygote(profile_of(program), judge=False)
            async with zygote.running(program, limits, result=result) as child:
                return [await child.end_of_run()]

        (execution,) = await self._try(attempt)
        return execution

    async def run_pair(
        self, program: Program, judge: Program, limits: Limits, judge_limits: Limits
    ) -> Pair:
        """Run two processes that are connected by a stream socket, `Context.channel` in both.

        Neither trusts the other: they share nothing but the socket. Only the judge can write a
        result. When one ends, the other reads the end of the stream. The judge then goes on; a
        program that does not end soon is stopped. The judge's wall time should exceed the
        program's. No descriptors can be sent: the filter refuses sendmsg and recvmsg.

        Args:
            program: what is judged.
            judge: what judges it.
            limits: of the program.
            judge_limits: of the judge.

        Raises:
            SandboxError: the pair could not be run, which is not the program's fault.
        """
        self._check(program, judge)

        async def attempt(slot: _Slot) -> list[Execution]:
            theirs = await slot.zygote(profile_of(program), judge=False)
            judges = await slot.zygote(profile_of(judge), judge=True)
            ours, other = socket.socketpair()
            with ours, other:
                async with (
                    theirs.running(program, limits, channel=ours) as child,
                    judges.running(judge, judge_limits, channel=other, result=True) as judging,
                ):
                    child.partner, judging.partner = judging, child
                    ours.close()
                    other.close()
                    judgement = await judging.end_of_run()
                    # It may have ended first, and its end must not be taken for our doing.
                    await asyncio.wait([child.ended], timeout=STOP_SECONDS)
                    child.kill(ExitReason.STOPPED)
                    return [await child.end_of_run(), judgement]

        execution, judgement = await self._try(attempt)
        return Pair(execution, judgement)

    def _check(self, *programs: Program) -> None:
        known = {*entries.ENTRIES, *self._entries}
        for program in programs:
            if program.entry not in known:
                raise ValueError(f"no entry {program.entry!r}; there are {sorted(known)}")
            for name in (*program.files, *program.fetched_files):
                check_name(name)
            if len(program.fetched_files) > MAX_FETCHED_FILES:
                raise ValueError(f"at most {MAX_FETCHED_FILES} files can be fetched")

    async def _try(self, attempt: Callable[[_Slot], Awaitable[list[Execution]]]) -> list[Execution]:
        num_deaths = num_kills = 0
        while True:
            slot = await self._idle.get()
            try:
                executions = await attempt(slot)
            except ZygoteDied as death:
                num_deaths += 1
                log.warning("a zygote died: %s", death)
                if num_deaths == MAX_ZYGOTE_DEATHS:
                    raise SandboxError(f"tried {num_deaths} times; the last: {death}") from death
                await asyncio.sleep(RESTART_SECONDS * (num_deaths - 1))
                continue
            finally:
                self._idle.put_nowait(slot)
            num_kills += 1
            if num_kills == MAX_KILLS or not any(map(_is_unexplained, executions)):
                return executions

    async def start_zygote(self, profile: Profile, user: int) -> ZygoteHandle:
        """Start a zygote.

        Raises:
            SandboxError: a required layer is not available, or the runner is closed.
            ZygoteDied: it did not start.
        """
        if self._directory is None:
            raise SandboxError("the runner is closed")
        packages = packages_of(profile)
        tools = self._tools() if profile is Profile.NATIVE else _NO_TOOLS
        self._num_zygotes += 1
        directory = self._directory / str(self._num_zygotes)
        directory.mkdir(mode=0o711)
        zygote = ZygoteHandle(
            profile=profile,
            packages=packages,
            directory=directory,
            user=user,
            without=self._unsafe_without,
            entries=self._entries,
            tools=tools,
        )
        self._zygotes.add(zygote)
        try:
            await zygote.ready()
            self.layers, self.problems = zygote.layers, zygote.problems
            missing = self._required - zygote.layers
            if missing:
                raise SandboxError(
                    f"required and not available: {level(missing)}; "
                    f"in force: {level(zygote.layers)}"
                )
        except BaseException:
            await self.end_zygote(zygote)
            raise
        return zygote

    async def end_zygote(self, zygote: ZygoteHandle) -> None:
        """End a zygote, and wait until everything it started is gone."""
        await zygote.close()
        self._zygotes.discard(zygote)


class _Slot:
    """The zygotes of which at most one child, or one pair of children, runs at a time."""

    users: Users

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._zygotes: dict[tuple[Profile, bool], ZygoteHandle] = {}

    async def zygote(self, profile: Profile, *, judge: bool) -> ZygoteHandle:
        """The zygote of a profile, started if there is none. Raises as `Runner.start_zygote`."""
        key = profile, judge
        found = self._zygotes.get(key)
        if found is not None and found.alive:
            return found
        if found is not None:
            await self._runner.end_zygote(found)
            del self._zygotes[key]
        user = self.users.judge if judge else self.users.program
        self._zygotes[key] = await self._runner.start_zygote(profile, user)
        return self._zygotes[key]


def profile_of(program: Program) -> Profile:
    """The profile of a program: the one that it asks for, or one that has what it names."""
    if program.profile is not None:
        return program.profile
    if program.entry in entries.NATIVE:
        return Profile.NATIVE
    names_package = any(name in program.payload for name in _PACKAGE_NAMES)
    return Profile.SCI if names_package else Profile.STD


def _is_unexplained(execution: Execution) -> bool:
    """Whether it was killed, and not by the runner: by the kernel, short of memory, or by hand."""
    return execution.reason is ExitReason.SIGNALED and execution.signal == signal.SIGKILL
