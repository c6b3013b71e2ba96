"""The process that children are forked from. It never sees a payload.

    service --control socket--> zygote ----fork----> child: layers, then reads its payload, runs it
       ^                          |  pidfd, wait status, resource use
       '--------------------------'
       ^------- status socket, stdout, stderr, channel: descriptors, passed through to the child

It is started with a clean environment and has one thread. It has one child at a time. It ends when
the other side of the control socket is closed, and its child ends with it.

Where that is permitted, it lives in namespaces of its own and under a root directory of its own.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import gc
import json
import math
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
import types
from pathlib import Path
from typing import NoReturn

from verifier_service.sandbox import layers as layers_module
from verifier_service.sandbox import namespaces, runtime
from verifier_service.sandbox.child_descriptors import (
    CHANNEL_FD,
    FIRST_FREE_FD,
    RESULT_FD,
    WORKSPACE_FD,
    arrange_descriptors,
    close_from,
    move_up,
    numbered,
    prepare_standard_streams,
    read_all,
)
from verifier_service.sandbox.entries import (
    BROKEN,
    CONFINED,
    ENVIRONMENT,
    PAYLOAD_FD,
    PROGRAM_NAME,
    Entry,
    EntryContext,
)
from verifier_service.sandbox.execution import SCIENTIFIC_KINDS, Layer, Tools, ZygoteKind
from verifier_service.sandbox.launcher import Launcher
from verifier_service.sandbox.layers import (
    CHILD_LIMITS,
    NUM_SPARE_THREADS,
    ChildLimits,
    Layers,
)
from verifier_service.sandbox.loopback import HOST_FILES, Loopback
from verifier_service.sandbox.process_numbers import ProcessNumbers
from verifier_service.sandbox.scratch import SCRATCH_INODES, empty_directory
from verifier_service.sandbox.workspace import open_files, unpack_workspace
from verifier_service.sandbox.zygote_messages import (
    CHANNEL,
    ENDED,
    MAX_CONFIG_BYTES,
    MAX_DESCRIPTORS,
    MAX_MESSAGE_BYTES,
    ORDER,
    RESULT,
    SHORT_MILLISECONDS,
    STARTED,
    STDIN,
    TALKS,
    WORKSPACE,
    ZygoteConfig,
    ZygoteStarted,
)
from verifier_service.sandbox.zygote_modules import Inherited

_OOM_SCORE = "800"
"""Makes the kernel prefer the zygote and its children to the service when memory runs out."""


def main() -> NoReturn:
    """Become a zygote; the argument is the control socket's descriptor."""
    become_zygote(*begin())  # no name of this frame, which the children inherit, has the config


def begin() -> tuple[int, bytes]:
    """Set up a process that forks others; the control socket and its first message."""
    control = move_up(int(sys.argv[1]))
    sys.argv = [""]
    message = os.read(control, MAX_CONFIG_BYTES)
    if not message:  # the runner was closed meanwhile
        os._exit(0)
    os.umask(0o022)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):  # a preference only
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
    return control, message


def become_zygote(control: int, message: bytes, inherited: Inherited | None = None) -> NoReturn:
    """Prepare and serve as a zygote.

    Args:
        control: the control socket's descriptor.
        message: a `ZygoteConfig` in JSON.
        inherited: what a nursery has imported; None where this process has to do that.
    """
    config = ZygoteConfig(**json.loads(message))
    without = frozenset(Layer(name) for name in config.without)
    cpu_seconds = 0.0
    in_force = set(Layer) - without - {Layer.NAMESPACES, Layer.ROOT, Layer.USER}
    if Layer.NAMESPACES not in without and namespaces.enter():
        in_force.add(Layer.NAMESPACES)
        cpu_seconds = time.process_time()  # that of the new process begins at 0
        if inherited is None:
            _fork_into_process_namespace(control)
        elif os.fork() != 0:  # the nursery collects the new process: it adopts orphans
            os._exit(0)
    zygote = _Zygote(config, without, in_force, socket.socket(fileno=control), inherited)
    del config, message  # the children inherit the memory
    zygote.prepare()
    zygote.serve(cpu_seconds)


def _fork_into_process_namespace(control: int) -> None:
    """Go on as the first process of the new namespace; all others in it end with that one.

    The old process collects the new one, whatever ends it. Were it killed, the new one would be
    left as a zombie to the process that adopts orphans. So SIGTERM has it kill the new one.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    pid = os.fork()
    if pid == 0:
        layers_module.die_with_parent()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return
    os.close(control)
    pidfd = os.pidfd_open(pid)

    def kill(*_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    signal.signal(signal.SIGTERM, kill)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


class _Zygote:
    """Forks children, once `prepare` has made ready what they share.

    Args:
        config: how it was started.
        without: layers not to apply.
        in_force: layers in force so far; `prepare` adds and removes some.
        control: its side of the control socket.
        inherited: the work of its nursery; None if it has none.
    """

    _layers: Layers

    def __init__(
        self,
        config: ZygoteConfig,
        without: frozenset[Layer],
        in_force: set[Layer],
        control: socket.socket,
        inherited: Inherited | None,
    ) -> None:
        self._inherited = inherited
        self._config = config
        self._without = without
        self._in_force = in_force
        self._control = control
        self._kind = ZygoteKind(config.kind)
        self._entries: dict[str, Entry] = {}
        self._problems: list[str] = []
        self._directory = Path(config.directory)
        self._scratch = self._directory / "scratch"
        self._scratch_is_mounted = False
        self._scratch_bytes = -1
        self._resident_bytes = 0
        self._process_numbers: ProcessNumbers | None = None
        self._loopback: Loopback | None = None
        self._launcher: Launcher | None = None

    def prepare(self) -> None:
        """Make ready what the children share: modules, root, scratch directory, layers, streams.

        The order matters. Modules are imported before the root changes, while their files can
        still be read. Memory is measured after the imports, because limits are set on top of it.
        Threads are counted before the root changes, while /proc is still there, and the counter of
        process numbers is opened.
        """
        config = self._config
        found = self._inherited or Inherited.made(self._kind, config.entries, config.packages)
        self._entries, packages, num_threads = found.entries, found.packages, found.num_threads
        address_space_bytes, self._resident_bytes = layers_module.memory_bytes()
        self._try_loopback()
        tools = self._tools()
        self._open_process_numbers()
        self._load_launcher()
        self._change_root([*packages, *tools.executable, *tools.readable] if tools else packages)
        self._try_user()
        self._drop_unavailable_layers()
        self._make_scratch()
        layers_module.drop_bounding_capabilities()
        num_others = 0 if self._counts_threads_alone() else num_threads + NUM_SPARE_THREADS
        self._layers = Layers(
            in_force=frozenset(self._in_force),
            user=self._config.user,
            packages=packages + self._host_files(),
            scratch=self._scratch,
            address_space_bytes=address_space_bytes,
            num_other_threads=num_others,
            tools=tools,
            connects=self._loopback is not None,
        )
        del (
            self._config,
            self._directory,
            self._inherited,
            config,
            found,
        )  # the children inherit the memory
        prepare_standard_streams()

    def _try_loopback(self) -> None:
        """Find out whether each execution can have a network of its own.

        The filter in the children that permits sockets is that of the layer `seccomp`.
        """
        if self._kind is ZygoteKind.NATIVE or Layer.SECCOMP not in self._in_force:
            return
        if Layer.NAMESPACES not in self._in_force:
            self._problems.append("no sockets: executions can have no networks of their own")
            return
        try:
            self._loopback = Loopback()
        except OSError as error:
            self._problems.append(f"no sockets: {error}")

    def _tools(self) -> Tools | None:
        if self._kind is not ZygoteKind.NATIVE:
            return None
        return Tools(
            executable=tuple(map(Path, self._config.executable)),
            readable=tuple(map(Path, self._config.readable)),
            binary_readable=tuple(map(Path, self._config.binary_readable)),
            devices=tuple(map(Path, self._config.devices)),
            runtime_calls=self._config.runtime_calls,
            binary_runtime_calls=self._config.binary_runtime_calls,
        )

    def _open_process_numbers(self) -> None:
        if Layer.NAMESPACES not in self._in_force:
            return
        try:
            self._process_numbers = ProcessNumbers()
        except OSError as error:
            self._problems.append(f"process numbers tell of earlier executions: {error}")

    def _load_launcher(self) -> None:
        """Load the launcher, if there is one; without it the zygote forks."""
        if self._config.launcher:
            with contextlib.suppress(OSError):
                self._launcher = Launcher(base64.b64decode(self._config.launcher))

    def _change_root(self, packages: list[Path]) -> None:
        """Move under a private root where namespaces permit that."""
        if Layer.NAMESPACES not in self._in_force:
            if Layer.NAMESPACES not in self._without:
                self._problems.append("no namespaces: they are not permitted here")
            return
        if Layer.ROOT in self._without:
            return
        files = [*runtime.standard_library(), *runtime.system_files(), *packages]
        try:
            texts = HOST_FILES if self._loopback is not None else {}
            links = self._config.links
            namespaces.change_root(files, runtime.DEVICES, self._directory, texts, links)
        except OSError as error:
            self._problems.append(f"no private root: {error}")
            return
        self._in_force.add(Layer.ROOT)
        self._scratch = namespaces.SCRATCH
        self._scratch_is_mounted = True

    def _host_files(self) -> list[Path]:
        """Files of the private root that programs with sockets may read."""
        has_them = self._loopback is not None and Layer.ROOT in self._in_force
        return [Path("/", name) for name in HOST_FILES] if has_them else []

    def _try_user(self) -> None:
        """Find out whether the children may become a user of their own."""
        if Layer.USER in self._without:
            return
        user, library = self._config.user, Path(os.__file__)
        if layers_module.can_become_user(user, library):
            self._in_force.add(Layer.USER)
        else:
            self._problems.append(f"no user: a child cannot become user {user} and read {library}")

    def _drop_unavailable_layers(self) -> None:
        for layer, why in layers_module.unavailable().items():
            self._in_force.discard(layer)
            self._problems.append(f"no {layer}: {why}")

    def _make_scratch(self) -> None:
        """Make the scratch directory, which belongs to the user of the children."""
        user = self._config.user if Layer.USER in self._in_force else os.getuid()
        if self._scratch_is_mounted:
            namespaces.mount_tmpfs(
                self._scratch,
                num_bytes=2**20,
                num_inodes=SCRATCH_INODES,
                options=f"mode=700,uid={user},gid={user if os.getuid() == 0 else os.getgid()}",
            )
            namespaces.seal_root()
        else:
            self._scratch.mkdir(mode=0o700)
            if user != os.getuid():
                os.chown(self._scratch, user, user)

    def _counts_threads_alone(self) -> bool:
        """Whether the kernel counts threads of the children's user for this zygote alone."""
        has_user_namespace = Layer.NAMESPACES in self._in_force and os.getuid() != 0
        return Layer.USER in self._in_force or has_user_namespace

    def serve(self, cpu_seconds: float) -> NoReturn:
        """Say that it can fork, then fork a child for each order.

        Args:
            cpu_seconds: CPU time that the start took in other processes.
        """
        skip_repair_of_threads()
        gc.collect()
        gc.freeze()
        self._say_started(cpu_seconds + time.process_time())
        while True:
            try:
                message, descriptors, _, _ = socket.recv_fds(
                    self._control, MAX_MESSAGE_BYTES, MAX_DESCRIPTORS
                )
            except ConnectionResetError:
                os._exit(0)
            if not message:
                os._exit(0)
            self._run(message, descriptors)

    def _say_started(self, cpu_seconds: float) -> None:
        started = ZygoteStarted(
            layers=sorted(self._in_force),
            problems=self._problems,
            resident_bytes=self._resident_bytes,
            has_loopback=self._loopback is not None,
            cpu_seconds=cpu_seconds,
        )
        own = os.pidfd_open(os.getpid())
        socket.send_fds(self._control, [json.dumps(dataclasses.asdict(started)).encode()], [own])
        os.close(own)

    def _run(self, message: bytes, descriptors: list[int]) -> None:
        (optional,) = ORDER.unpack_from(message)
        limits = ChildLimits.unpack(message[ORDER.size : ORDER.size + CHILD_LIMITS.size])
        entry, fetched_files = json.loads(message[ORDER.size + CHILD_LIMITS.size :])
        writes = limits.file_bytes > 0
        if writes and self._scratch_is_mounted and limits.file_bytes != self._scratch_bytes:
            namespaces.resize_tmpfs(self._scratch, num_bytes=limits.file_bytes)
            self._scratch_bytes = limits.file_bytes
        if self._process_numbers is not None:
            self._process_numbers.start_again()
        pid = self._start_child(limits, entry, optional, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        pidfd = os.pidfd_open(pid)
        if not self._wait(pidfd):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            os.wait4(pid, 0)  # or it would be left to the process that adopts orphans
            os._exit(0)
        os.close(pidfd)
        _, status, usage = os.wait4(pid, 0)
        if self._loopback is not None:
            self._loopback.leave()
        files = open_files(self._scratch, fetched_files) if writes else {}
        if writes:
            empty_directory(self._scratch)
        ended = ENDED.pack(status, usage.ru_utime, usage.ru_stime, usage.ru_maxrss)
        with contextlib.suppress(ConnectionError):  # the next read ends this process
            socket.send_fds(self._control, [ended + bytes(files)], list(files.values()))
        for file in files.values():
            os.close(file)

    def _wait(self, pidfd: int) -> bool:
        """Wait until the child has ended; False if the runner's side of the control socket has."""
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        poll.register(self._control, select.POLLHUP)
        loopback = self._loopback
        if loopback is not None:
            poll.register(loopback.descriptor, select.POLLIN)
        # Fixed once: a program that causes events must not put off that its runner knows of it.
        announce_at = time.monotonic() + SHORT_MILLISECONDS / 1000
        wait: float | None = SHORT_MILLISECONDS
        while (pidfd, select.POLLIN) not in (events := poll.poll(wait)):
            if wait is not None and (left := announce_at - time.monotonic()) > 0:
                wait = math.ceil(left * 1000)
            elif wait is not None:
                wait = None
                with contextlib.suppress(ConnectionError):
                    socket.send_fds(self._control, [STARTED], [pidfd])
            if any(event & select.POLLHUP for _, event in events):
                return False
            if loopback is not None and (loopback.descriptor, select.POLLIN) in events:
                loopback.answer()
        return True

    def _start_child(
        self, limits: ChildLimits, entry: str, optional: int, descriptors: list[int]
    ) -> int:
        """The pid of a new child, which handles its payload."""
        if self._launcher is not None and entry == "binary" and not optional & ~STDIN:
            return self._launcher.start(
                self._layers,
                limits,
                numbered(optional, descriptors),
                self._scratch if limits.file_bytes else Path("/"),
                [PROGRAM_NAME],
                ENVIRONMENT,
            )
        pid = os.fork()
        if pid == 0:
            self._become_child(limits, entry, optional, descriptors)
        return pid

    def _become_child(
        self, limits: ChildLimits, entry_name: str, optional: int, descriptors: list[int]
    ) -> NoReturn:
        status = None
        try:
            status = arrange_descriptors(optional, descriptors)
            entry = self._entries[entry_name]
            context = self._confine(limits, entry_name, optional, status)
        except BaseException:  # noqa: BLE001  whatever it is, the child must not run the payload
            if status is not None:
                status.send(BROKEN + traceback.format_exc()[-2000:].encode())
            os._exit(1)
        try:
            entry(context)
        except BaseException:  # noqa: BLE001  only entries of other packages raise
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)

    def _confine(
        self, limits: ChildLimits, entry_name: str, optional: int, status: socket.socket
    ) -> EntryContext:
        """Apply every layer to this process, a child, then read its payload."""
        os.chdir(self._scratch if limits.file_bytes else "/")
        os.umask(0o077)
        self._layers.apply(limits, is_tool=entry_name == "tool")
        close_from(FIRST_FREE_FD)
        gate = self._layers.filter_calls(is_tool=entry_name == "tool")
        status.send(CONFINED)
        if self._kind in SCIENTIFIC_KINDS:
            sys.modules["numpy.random"].seed()
        payload = b"" if entry_name == "binary" else read_all(PAYLOAD_FD)
        has_channel = optional & CHANNEL and not optional & TALKS
        channel = socket.socket(fileno=CHANNEL_FD) if has_channel else None
        result = RESULT_FD if optional & RESULT else None
        arguments = unpack_workspace(WORKSPACE_FD) if optional & WORKSPACE else ()
        return EntryContext(payload, channel, result, status, gate, arguments)


def skip_repair_of_threads() -> None:
    """Make `threading` do nothing after a fork.

    `threading._after_fork` repairs locks that other threads held, and this process has no other
    threads. Unless it is skipped, it writes to a hundred pages, which the kernel then copies in
    each child: a tenth of the time of a short execution. Its code is swapped because the
    interpreter has registered the function itself, so that another one under its name would not
    be called. Python versions without this function need nothing.
    """
    repair = getattr(threading, "_after_fork", None)
    if isinstance(repair, types.FunctionType):
        repair.__code__ = _do_nothing.__code__


def _do_nothing() -> None:
    pass
