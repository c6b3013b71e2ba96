"""The runner's side of a zygote: its start, the order to fork, its end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from verifier_service.sandbox.execution import (
    MAX_FETCHED_FILES,
    ExitReason,
    Layer,
    Limits,
    Profile,
    Program,
    SandboxError,
    Tools,
)
from verifier_service.sandbox.execution_handle import GRACE_SECONDS, MESSAGE_BYTES, Child
from verifier_service.sandbox.scratch import empty_directory, holds_more_than
from verifier_service.sandbox.zygote import (
    ENDED,
    SCRATCH_INODES,
    STARTED,
    Config,
    ZygoteStarted,
)

START_TIMEOUT_SECONDS = 60.0
PACKAGES = {Profile.STD: (), Profile.NATIVE: (), Profile.SCI: ("mpmath", "numpy", "sympy")}
"""What a profile has besides the standard library."""

_BOOT = """
import sys
sys.path.insert(0, {root!r})
from verifier_service.sandbox.zygote import main
main()
"""
_ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "HOME": "/",
    "PYTHONHASHSEED": "0",
    "MALLOC_ARENA_MAX": "2",  # each arena of glibc takes 64 MiB of the address space
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
_IMPORT_ROOT = Path(__file__).parents[2]


class ZygoteDied(Exception):
    """The zygote ended, or does not answer."""


class ZygoteHandle:
    """The runner's side of a zygote."""

    def __init__(
        self,
        *,
        profile: Profile,
        packages: dict[str, str],
        directory: Path,
        user: int,
        without: frozenset[Layer],
        entries: dict[str, str],
        tools: Tools,
    ) -> None:
        self.alive = True
        self.layers: frozenset[Layer] = frozenset()
        self.problems: list[str] = []
        self.resident_bytes = 0
        self._directory = directory
        self._child: Child | None = None
        self._closing = asyncio.Lock()
        self._pidfd = -1
        self._loop = asyncio.get_running_loop()
        self._hello: asyncio.Future[None] = self._loop.create_future()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        config = Config(
            control=theirs.fileno(),
            profile=profile,
            packages=packages,
            executable=[str(path) for path in tools.executable],
            readable=[str(path) for path in tools.readable],
            entries=entries,
            directory=str(directory),
            user=user,
            without=sorted(without),
        )
        with theirs:
            self._process = subprocess.Popen(
                [
                    # -I without -E: the environment is ours, and sets the hash seed.
                    *(sys.executable, "-P", "-s", "-S", "-X", "utf8"),
                    *(
                        "-c",
                        _BOOT.format(root=str(_IMPORT_ROOT)),
                        json.dumps(dataclasses.asdict(config)),
                    ),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                start_new_session=True,
            )
        ours.setblocking(False)
        self._control = ours
        self._loop.add_reader(ours, self._read)

    async def ready(self) -> None:
        """Wait until it can fork. Raises ZygoteDied."""
        try:
            # Not `wait_for`, which in Python 3.11 loses a cancellation that comes with the result.
            async with asyncio.timeout(START_TIMEOUT_SECONDS):
                await asyncio.shield(self._hello)
        except TimeoutError as error:
            raise ZygoteDied(f"it did not start in {START_TIMEOUT_SECONDS:.0f} s") from error

    @contextlib.asynccontextmanager
    async def running(
        self,
        program: Program,
        limits: Limits,
        *,
        channel: socket.socket | None = None,
        result: bool = False,
    ) -> AsyncIterator[Child]:
        """A child that runs the program; if it runs at the end, it is killed with the zygote."""
        if not self.alive:
            raise ZygoteDied("between executions")
        child = Child(self, limits)
        self._child = child
        try:
            child.start(self._control, program, channel, result=result)
            yield child
        except OSError as error:
            self.die(f"no child could be started: {error}")
            raise ZygoteDied(str(error)) from error
        finally:
            if not child.ended.done():
                child.kill(ExitReason.STOPPED)
                self.die("its execution was given up")
            child.close()
            self._child = None

    def is_scratch_full(self, num_bytes: int) -> bool:
        """Whether the scratch directory holds more; with a private root, the kernel sees to it."""
        scratch = self._directory / "scratch"
        return Layer.ROOT not in self.layers and holds_more_than(
            scratch, num_bytes=num_bytes, num_files=SCRATCH_INODES
        )

    def die(self, why: str) -> None:
        """Kill the process; what waits for it fails."""
        if not self.alive:
            return
        self.alive = False
        self._loop.remove_reader(self._control)
        self._control.close()
        self._kill()
        death = ZygoteDied(why)
        for future in (self._hello, self._child.ended if self._child else None):
            if future is not None and not future.done():
                future.set_exception(death)
                future.exception()  # it may be that nobody waits any more

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            self._process.kill()

    async def close(self) -> None:
        """End the process and wait until everything it started is gone. It can be called again."""
        self.die("it was closed")
        async with self._closing:
            if self._pidfd >= 0:
                await asyncio.to_thread(select.select, [self._pidfd], [], [], GRACE_SECONDS)
                os.close(self._pidfd)
                self._pidfd = -1
            await asyncio.to_thread(self._process.wait)
            if self._directory.exists():
                await asyncio.to_thread(_remove, self._directory)

    def _read(self) -> None:
        try:
            message, descriptors, _, _ = socket.recv_fds(
                self._control, MESSAGE_BYTES, MAX_FETCHED_FILES, socket.MSG_CMSG_CLOEXEC
            )
        except BlockingIOError:
            return
        except OSError as error:
            self.die(str(error))
            return
        if not message:
            self.die(f"pid {self._process.pid} ended")
        elif not self._hello.done():
            hello = ZygoteStarted(**json.loads(message))
            self.layers = frozenset(Layer(name) for name in hello.layers)
            self.problems = hello.problems
            self.resident_bytes = hello.resident_bytes
            (self._pidfd,) = descriptors
            self._hello.set_result(None)
        elif self._child is not None and message == STARTED:
            self._child.begin(*descriptors)
        elif self._child is not None:
            places = message[ENDED.size :]
            files = dict(zip(places, descriptors, strict=True))
            self._child.end(files, *ENDED.unpack_from(message))


def packages_of(profile: Profile) -> dict[str, str]:
    """Names and directories of the packages of a profile. Raises SandboxError if one is missing."""
    found = {}
    for name in PACKAGES[profile]:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SandboxError(f"the profile {profile} needs {name}, which is not installed")
        found[name] = str(Path(spec.origin).parent)
    return found


def _remove(directory: Path) -> None:
    """Remove the directory of a zygote that is gone."""
    for scratch in directory.iterdir():
        empty_directory(scratch)
        scratch.rmdir()
    directory.rmdir()
