"""The service's side of a nursery: its start, and the zygotes that it forks."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from verifier_service.sandbox.execution import ZygoteKind
from verifier_service.sandbox.execution_handle import GRACE_SECONDS
from verifier_service.sandbox.nursery import READY, NurseryConfig
from verifier_service.sandbox.python_packages import packages_of
from verifier_service.sandbox.zygote_handle import (
    START_TIMEOUT_SECONDS,
    ZygoteDied,
    ZygoteHandle,
    start_process,
)
from verifier_service.sandbox.zygote_messages import ZygoteConfig

_BOOT = """
import os, sys
sys.path.append(os.getcwd())  # behind the standard library, which others may shadow there
from verifier_service.sandbox.nursery import main
main()
"""


class NurseryHandle:
    """The service's side of a nursery.

    Args:
        process: the nursery, which has been started.
        control: this side of its control socket.
    """

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self._process = process
        self._control = control
        self._is_ready = False
        self._starting = asyncio.Lock()
        control.setblocking(False)

    @classmethod
    def start(cls, kind: ZygoteKind, entries: Mapping[str, str]) -> Self:
        """Start a nursery. Raises OSError, and SandboxError if a package is not installed."""
        config = NurseryConfig(kind=kind, packages=packages_of(kind), entries=dict(entries))
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            ours.send(json.dumps(dataclasses.asdict(config)).encode())
            process = start_process(theirs.fileno(), _BOOT)
        return cls(process, ours)

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    async def zygote(self, config: ZygoteConfig) -> ZygoteHandle:
        """A zygote that can fork. Raises ZygoteDied."""
        await self._ready()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        message = json.dumps(dataclasses.asdict(config)).encode()
        try:
            with theirs:
                socket.send_fds(self._control, [message], [theirs.fileno()])
        except OSError as error:
            ours.close()
            raise ZygoteDied(f"the nursery takes no order: {error}") from error
        zygote = ZygoteHandle(None, ours, Path(config.directory))
        try:
            await zygote.ready()
        except BaseException as error:
            await zygote.close()
            if isinstance(error, ZygoteDied) and isinstance(error.__cause__, TimeoutError):
                await self._kill()
            raise
        return zygote

    async def _ready(self) -> None:
        """Wait until it has imported its modules. Raises ZygoteDied."""
        async with self._starting:
            if self._is_ready:
                return
            loop = asyncio.get_running_loop()
            try:
                async with asyncio.timeout(START_TIMEOUT_SECONDS):
                    found = await loop.sock_recv(self._control, len(READY))
            except (TimeoutError, OSError) as error:
                await self._kill()
                raise ZygoteDied(f"the nursery does not start: {error!r}") from error
            if found != READY:
                raise ZygoteDied("the nursery ended while it started")
            self._is_ready = True

    async def _kill(self) -> None:
        """End a nursery that hangs, so that it is not `alive` and another one is started."""
        self._process.kill()
        await asyncio.to_thread(self._process.wait)

    async def close(self) -> None:
        """End the process. Its zygotes live on until they are closed."""
        self._control.close()
        await asyncio.to_thread(self._wait)

    def _wait(self) -> None:
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
