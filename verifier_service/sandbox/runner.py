"""Runs programs in sandboxed processes, from asyncio.

    runner -- slot --+-- zygote (std)     one child at a time
                     +-- zygote (sci)
                     +-- zygote (native)
                     '-- zygote (judge)   for the second process of a pair

A slot runs one execution, or one pair, at a time. Its first zygote is started with it, the others
when they are first needed; a zygote that dies is replaced, and so is one after much use, by another
that is started while it goes on. The runner keeps the limits: it reads
and counts the output of a child, watches its time, and kills it. The kernel's own limits are the
second line of defence.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import logging
import socket
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from verifier_service.sandbox import entries
from verifier_service.sandbox.conversation import Conversation
from verifier_service.sandbox.execution import (
    COMMON_LAYERS,
    Execution,
    ExitReason,
    Layer,
    Limits,
    Pair,
    Program,
    SandboxError,
    Tools,
    ZygoteKind,
    level,
)
from verifier_service.sandbox.execution_handle import ExecutionHandle
from verifier_service.sandbox.file_names import MAX_FETCHED_FILES, check_name
from verifier_service.sandbox.memory_files import ExecutableFiles
from verifier_service.sandbox.python_packages import (
    OPTIONAL_PACKAGES,
    PACKAGES,
    is_installed,
    packages_of,
)
from verifier_service.sandbox.relay import pass_on
from verifier_service.sandbox.turns import Turn, TurnTaking
from verifier_service.sandbox.users import Users
from verifier_service.sandbox.zygote_handle import ZygoteDied, ZygoteHandle
from verifier_service.sandbox.zygote_messages import ZygoteConfig

log = logging.getLogger(__name__)

STOP_SECONDS = 0.05
"""Time that a program has to end by itself after its judge has ended. A program that waits for its
judge ends at once; any other one keeps the slot from the next execution, and is killed."""
MAX_KILLS = 4
"""Runs after which a program that is killed each time, and not by the runner, is taken to have
killed itself."""
MAX_ZYGOTE_DEATHS = 20
"""Runs after which an execution whose zygote dies each time is given up with SandboxError."""
RESTART_SECONDS = 0.05
"""Pause before another run, times the number of zygotes that died before."""

_SCIENTIFIC = (*PACKAGES[ZygoteKind.SCI], *OPTIONAL_PACKAGES[ZygoteKind.SCI])
_OF_DATA = tuple(set(OPTIONAL_PACKAGES[ZygoteKind.DATA]) - set(_SCIENTIFIC))
_NO_TOOLS = Tools(executable=(), readable=())
_PROGRAMS_OF_SLOT = 2
"""Most programs of a slot: one and its interactor."""
MAX_TOOLCHAINS = 3
"""Most zygotes of the kind `native` in a slot, each for one toolchain. Another one ends the one
that was not used for longest."""


class Runner:
    """Runs programs.

    | call | result |
    |---|---|
    | `async with Runner(4) as runner` | starts and ends the processes |
    | `await runner.run(program, limits)` | an `Execution` |
    | `await runner.run_pair(program, judge, limits, judge_limits)` | a `Pair` |
    | `await runner.run_conversation(program, interactor, limits, limits)` | also its text |
    | `runner.layers` | the layers in force |
    | `runner.problems` | layers that are not in force, and why |
    | `runner.has_loopback` | whether executions may open sockets, in networks of their own |

    Cancelling a call kills the processes that it runs.

    Args:
        num_slots: executions, or pairs, at the same time.
        required: layers without which no program is run.
        entries: functions that `Program.entry` can name besides `entries.ENTRIES`, as
            `module:function`.
        expects_pairs: start each slot with the zygotes of a pair, so that the first pair does not
            wait for them.
        tools: called with a `Program.toolchain` when a program first needs it; returns the tools
            that the entry `tool` may start.
        unsafe_without: layers to leave out. For tests that show what each layer does.
        turn: the place of the one slot among those of other runners, with which its executions take
            turns; None: they always run.
    """

    def __init__(
        self,
        num_slots: int,
        *,
        required: frozenset[Layer] = COMMON_LAYERS,
        entries: Mapping[str, str] | None = None,
        expects_pairs: bool = False,
        tools: Callable[[str], Tools] = lambda _: _NO_TOOLS,
        unsafe_without: frozenset[Layer] = frozenset(),
        turn: Turn | None = None,
    ) -> None:
        assert turn is None or num_slots == 1
        self._turn = turn
        self._tools = tools
        self._required = required - unsafe_without
        self._entries = dict(entries or {})
        self._first_zygotes = (False, True) if expects_pairs else (False,)
        self._unsafe_without = unsafe_without
        self._slots = [_Slot(self) for _ in range(num_slots)]
        self._idle: asyncio.LifoQueue[_Slot] = asyncio.LifoQueue()
        self._directory: Path | None = None
        self._executables = ExecutableFiles(num_kept=_PROGRAMS_OF_SLOT * num_slots)
        self._users = contextlib.ExitStack()
        self._zygotes: set[ZygoteHandle] = set()
        self._num_zygotes = 0
        self.layers: frozenset[Layer] = frozenset()
        self.problems: list[str] = []
        self.has_loopback = False

    async def __aenter__(self) -> Self:
        self._directory = Path(tempfile.mkdtemp(prefix="verifier-sandbox-"))
        self._directory.chmod(0o711)
        try:
            for slot in self._slots:
                slot.users = self._users.enter_context(contextlib.closing(Users()))
            async with asyncio.TaskGroup() as group:
                for slot in self._slots:
                    for judge in self._first_zygotes:
                        group.create_task(slot.zygote(ZygoteKind.STD, judge=judge))
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
        for slot in self._slots:
            await slot.close()
        await asyncio.gather(*(zygote.close() for zygote in self._zygotes))
        if directory is not None:
            directory.rmdir()
        self._executables.close()
        self._users.close()

    async def run(self, program: Program, limits: Limits, *, result: bool = False) -> Execution:
        """Run a program.

        Args:
            program: the program.
            limits: limits of its process.
            result: whether its entry is given a result pipe.

        Raises:
            SandboxError: the program could not be run, or the machine is overloaded. Neither is
                the program's fault.
            ValueError: the program names an unknown entry or a file that it may not.
        """
        self._check(program)

        async def attempt(slot: _Slot) -> list[Execution]:
            kind = zygote_kind_of(program)
            zygote = await slot.zygote(kind, judge=False, toolchain=program.toolchain)
            async with zygote.running(program, limits, result=result) as running:
                with TurnTaking(self._turn, running):
                    return [await running.wait()]

        (execution,) = await self._try(attempt)
        return execution

    async def run_pair(
        self, program: Program, judge: Program, limits: Limits, judge_limits: Limits
    ) -> Pair:
        """Run a program and its judge, connected by a stream socket: `EntryContext.channel`.

        Neither trusts the other: they share nothing but the socket. Only the judge can write a
        result. When one ends, the other reads the end of the stream. The judge then goes on; a
        program that does not end soon is stopped. The judge's wall time should exceed the
        program's. No descriptors can be sent: the filter refuses sendmsg and recvmsg.

        Args:
            program: the program that is judged.
            judge: the program that judges it.
            limits: limits of the program.
            judge_limits: limits of the judge.

        Raises:
            SandboxError: the pair could not be run, or the machine is overloaded. Neither is the
                program's fault.
            ValueError: a program names an unknown entry or a file that it may not.
        """
        self._check(program, judge)

        async def attempt(slot: _Slot) -> list[Execution]:
            programs_zygote, judges_zygote = [
                await slot.zygote(zygote_kind_of(one), judge=one is judge, toolchain=one.toolchain)
                for one in (program, judge)
            ]
            one, other = socket.socketpair()
            with one, other:
                for end in (one, other):
                    # To the kernel's choice of a name. One end without a name could be given one
                    # by its program, in the network of this process.
                    end.bind("")
                async with (
                    programs_zygote.running(program, limits, channel=one) as judged,
                    judges_zygote.running(
                        judge, judge_limits, channel=other, result=True
                    ) as judging,
                ):
                    judged.watch.partner, judging.watch.partner = judging.watch, judged.watch
                    # While they are open here too, no process reads the end of the stream.
                    one.close()
                    other.close()
                    with TurnTaking(self._turn, judged, judging):
                        judgement = await judging.wait()
                    # The program may have ended first. Killed at once, it would be reported as
                    # stopped, and not by the reason of its own end.
                    await asyncio.wait([judged.ended], timeout=STOP_SECONDS)
                    judged.kill(ExitReason.STOPPED)
                    return [await judged.wait(), judgement]

        execution, judgement = await self._try(attempt)
        return Pair(execution, judgement)

    async def run_conversation(
        self, program: Program, interactor: Program, limits: Limits, interactor_limits: Limits
    ) -> tuple[Pair, Conversation]:
        """Run a program and an interactor, each with the other at its standard input and output.

        What they say passes through this process, which bounds it by `Limits.output_bytes`. When
        one ends, the other reads the end of its input. The pair is as in `run_pair`.

        Raises:
            SandboxError: they could not be run, or the machine is overloaded. Neither is the
                program's fault.
            ValueError: one of them names an unknown entry or a file that it may not.
        """
        self._check(program, interactor)
        program = dataclasses.replace(program, talks=True)
        interactor = dataclasses.replace(interactor, talks=True)
        conversation = Conversation()

        async def attempt(slot: _Slot) -> list[Execution]:
            nonlocal conversation
            conversation = Conversation()
            programs_zygote, other_zygote = [
                await slot.zygote(
                    zygote_kind_of(one), judge=one is interactor, toolchain=one.toolchain
                )
                for one in (program, interactor)
            ]
            with contextlib.ExitStack() as stack:
                ours, theirs, others, interactors = _two_lines(stack)
                async with (
                    programs_zygote.running(program, limits, channel=theirs) as judged,
                    other_zygote.running(
                        interactor, interactor_limits, channel=interactors
                    ) as judging,
                ):
                    judged.watch.partner, judging.watch.partner = judging.watch, judged.watch
                    judged.watch.talks = True
                    theirs.close()
                    interactors.close()
                    passing = _passing(conversation, ours, others, judged, judging)
                    try:
                        with TurnTaking(self._turn, judged, judging):
                            judgement = await judging.wait()
                            # It may have ended by itself, and is reported by that end then.
                            await asyncio.wait([judged.ended], timeout=STOP_SECONDS)
                            judged.kill(ExitReason.STOPPED)
                            return [await judged.wait(), judgement]
                    finally:
                        passing.cancel()
                        await asyncio.gather(passing, return_exceptions=True)

        execution, judgement = await self._try(attempt)
        return Pair(execution, judgement), conversation

    def _check(self, *programs: Program) -> None:
        known = {*entries.ENTRIES, *self._entries}
        for program in programs:
            if program.entry not in known:
                raise ValueError(f"no entry {program.entry!r}; there are {sorted(known)}")
            fetched = (name.removesuffix("/") for name in program.fetched_files)
            for name in (*program.files, *fetched):
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
            if num_kills == MAX_KILLS or not any(one.is_unexplained for one in executions):
                return executions

    async def start_zygote(self, kind: ZygoteKind, user: int, toolchain: str = "") -> ZygoteHandle:
        """Start a zygote, whose children become this user where that is permitted.

        Args:
            kind: the modules that it imports.
            user: user of its children.
            toolchain: name of the tools of the kind `native`.

        Raises:
            SandboxError: a required layer is not available, or the runner is closed.
            ZygoteDied: it did not start.
        """
        if self._directory is None:
            raise SandboxError("the runner is closed")
        packages = packages_of(kind)
        tools = self._tools(toolchain) if toolchain else _NO_TOOLS
        self._num_zygotes += 1
        directory = self._directory / str(self._num_zygotes)
        directory.mkdir(mode=0o711)
        config = ZygoteConfig(
            kind=kind,
            packages=packages,
            executable=[str(path) for path in tools.executable],
            readable=[str(path) for path in tools.readable],
            binary_readable=[str(path) for path in tools.binary_readable],
            devices=[str(path) for path in tools.devices],
            runtime_calls=tools.runtime_calls,
            binary_runtime_calls=tools.binary_runtime_calls,
            links=dict(tools.links),
            launcher=base64.b64encode(tools.launcher).decode(),
            entries=self._entries,
            directory=str(directory),
            user=user,
            without=sorted(self._unsafe_without),
        )
        zygote = ZygoteHandle.start(config, self._executables)
        self._zygotes.add(zygote)
        try:
            await zygote.ready()
            self.layers, self.problems = zygote.layers, zygote.problems
            self.has_loopback = zygote.has_loopback or self.has_loopback
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
        """End a zygote, and wait until every process that it started has ended."""
        await zygote.close()
        self._zygotes.discard(zygote)


def _two_lines(
    stack: contextlib.ExitStack,
) -> tuple[socket.socket, socket.socket, socket.socket, socket.socket]:
    """Two connections, each as this process's end and the end of an execution."""
    found = [end for _ in range(2) for end in socket.socketpair()]
    for end in found:
        stack.enter_context(end)
        end.bind("")  # see `run_pair`
    for end in (found[0], found[2]):
        end.setblocking(False)
    return found[0], found[1], found[2], found[3]


def _passing(
    conversation: Conversation,
    programs: socket.socket,
    interactors: socket.socket,
    judged: ExecutionHandle,
    judging: ExecutionHandle,
) -> asyncio.Future[tuple[None, None]]:
    """The two directions of a conversation, under way."""
    flood = ExitReason.OUTPUT_LIMIT
    return asyncio.gather(
        pass_on(
            programs,
            interactors,
            conversation,
            "program",
            max_bytes=judged.limits.output_bytes,
            on_flood=lambda: judged.kill(flood),
        ),
        pass_on(
            interactors,
            programs,
            conversation,
            "interactor",
            max_bytes=judging.limits.output_bytes,
            on_flood=lambda: judging.kill(flood),
        ),
    )


_Key = tuple[ZygoteKind, bool, str]
"""Kind of a zygote, whether it is a judge's, and its toolchain."""


class _Slot:
    """Zygotes of which at most one child, or one pair of children, runs at a time."""

    users: Users

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._zygotes: dict[_Key, ZygoteHandle] = {}
        """Zygotes, in the order of their last use."""
        self._successors: dict[_Key, asyncio.Task[ZygoteHandle]] = {}
        """Zygotes that are being started in the place of worn ones."""
        self._retired: set[asyncio.Task[None]] = set()
        """Ends of worn zygotes, which nobody waits for."""

    async def zygote(self, kind: ZygoteKind, *, judge: bool, toolchain: str = "") -> ZygoteHandle:
        """The living zygote of a kind; started if necessary. Raises as `Runner.start_zygote`."""
        key = kind, judge, toolchain
        found = await self._living(key)
        self._zygotes[key] = self._zygotes.pop(key)  # the last in the order
        native = [one for one in self._zygotes if one[0] is ZygoteKind.NATIVE]
        replaced = [one for one in native if one not in self._successors and one != key]
        if len(native) > MAX_TOOLCHAINS and replaced:
            self._retire(self._zygotes.pop(replaced[0]))
        return found

    async def _living(self, key: _Key) -> ZygoteHandle:
        kind, judge, toolchain = key
        user = self.users.judge if judge else self.users.program
        if key in self._successors and self._successors[key].done():
            self._succeed(key)
        found = self._zygotes.get(key)
        if found is not None and found.alive:
            if found.is_worn and key not in self._successors:
                successor = self._runner.start_zygote(kind, user, toolchain)
                self._successors[key] = asyncio.create_task(successor)
            return found
        if found is not None:
            await self._runner.end_zygote(found)
            del self._zygotes[key]
        if (pending := self._successors.pop(key, None)) is not None:
            self._zygotes[key] = await pending
        else:
            self._zygotes[key] = await self._runner.start_zygote(kind, user, toolchain)
        return self._zygotes[key]

    def _succeed(self, key: _Key) -> None:
        """Put the successor of a worn zygote in its place, if it could be started."""
        successor = self._successors.pop(key)
        worn = self._zygotes.get(key)
        if (error := successor.exception()) is not None:
            log.warning("a worn zygote was not replaced: %s", error)
            if worn is not None:
                worn.used_seconds = 0.0  # the next attempt is as far away as the first was
            return
        self._zygotes[key] = successor.result()
        if worn is not None:
            self._retire(worn)

    def _retire(self, zygote: ZygoteHandle) -> None:
        """End a zygote that runs nothing, without waiting for its end."""
        end = asyncio.create_task(self._runner.end_zygote(zygote))
        self._retired.add(end)
        end.add_done_callback(self._retired.discard)

    async def close(self) -> None:
        """Give up the zygotes that are being started, and wait for the ends of worn ones."""
        for successor in self._successors.values():
            successor.cancel()
        await asyncio.gather(*self._successors.values(), *self._retired, return_exceptions=True)
        self._successors.clear()


def zygote_kind_of(program: Program) -> ZygoteKind:
    """The kind of zygote that a program asks for, or one that has the packages that it names."""
    if program.zygote_kind is not None:
        return program.zygote_kind
    if program.entry in entries.NATIVE:
        return ZygoteKind.NATIVE
    if any(name.encode() in program.payload and is_installed(name) for name in _OF_DATA):
        return ZygoteKind.DATA
    names_package = any(name.encode() in program.payload for name in _SCIENTIFIC)
    return ZygoteKind.SCI if names_package else ZygoteKind.STD
