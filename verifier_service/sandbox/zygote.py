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
import ctypes
import dataclasses
import errno
import fcntl
import gc
import importlib
import io
import json
import math
import os
import select
import shutil
import signal
import site
import socket
import stat
import struct
import sys
import threading
import time
import traceback
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from verifier_service.sandbox import layers as layers_module
from verifier_service.sandbox import namespaces, pack, runtime
from verifier_service.sandbox.entries import (
    BROKEN,
    CONFINED,
    ENTRIES,
    ENVIRONMENT,
    NOT_STARTED,
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
from verifier_service.sandbox.scratch import empty_directory

STDIN, CHANNEL, RESULT, WORKSPACE, TALKS = 1, 2, 4, 8, 16
"""Flags of the optional descriptors. An order sends them in this order, after the required ones."""
ORDER = struct.Struct("=B")
ENDED = struct.Struct("=iddQ")
"""Wait status, user and system seconds, peak resident kilobytes.

The message goes on with one byte for each fetched file that exists: its index in the order. The
descriptors of these files come with the message."""
STARTED = b"S"
"""Message with the pidfd of a child that did not end within `SHORT_MILLISECONDS`."""
SHORT_MILLISECONDS = 3
"""Time in which many programs end. Nobody is told that they have started, which would wake the
runner twice. Less than any limit on time, and less than the time between two looks at turns."""
MAX_MESSAGE_BYTES = 2**15
MAX_CONFIG_BYTES = 2**17
MAX_DESCRIPTORS = 8
SCRATCH_INODES = 4096
_COPY_BYTES = 2**16

_STATUS_FD, _CHANNEL_FD, _RESULT_FD, _WORKSPACE_FD = 3, 5, 6, 7
_FIRST_FREE_FD = 8
"""Lowest number of the zygote's own descriptors, so that a child can close them all."""
_CLOSE_RANGE = 436
_MADV_COLLAPSE, _HUGE_PAGE_BYTES = 25, 2**21
_OOM_SCORE = "800"
"""Makes the kernel prefer the zygote and its children to the service when memory runs out."""

STANDARD_MODULES = (
    *("abc", "array", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses"),
    *("datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "io"),
    *("itertools", "json", "math", "numbers", "operator", "queue", "random", "re", "statistics"),
    *("string", "struct", "sys", "textwrap", "threading", "time", "traceback", "types", "typing"),
)
"""Modules imported before the first fork. Each makes every fork a little slower, so modules that
programs rarely use are left out: a program imports them itself."""
SCIENTIFIC_MODULES = (
    *("numpy", "numpy.random", "numpy.linalg", "numpy.fft", "numpy.ma", "numpy.polynomial"),
    *("mpmath", "sympy"),
)

_libc = ctypes.CDLL(None)


@dataclass(frozen=True, kw_only=True)
class ZygoteConfig:
    """How a zygote is started, as JSON in the first message that it is sent.

    It is not in the arguments of its process, which every program can read."""

    kind: str
    packages: dict[str, str]
    """Directories of the packages that its kind has, by name."""
    executable: list[str]
    """`Tools.executable`; used by the kind `native` only."""
    readable: list[str]
    """`Tools.readable`; used by the kind `native` only."""
    binary_readable: list[str]
    """`Tools.binary_readable`; used by the kind `native` only."""
    devices: list[str]
    """`Tools.devices`; used by the kind `native` only."""
    calls: str
    """`Tools.calls`; used by the kind `native` only."""
    binary_calls: str
    """`Tools.binary_calls`; used by the kind `native` only."""
    links: dict[str, str]
    """`Tools.links`; used by the kind `native` only."""
    launcher: str = ""
    """`Tools.launcher` in base64; used by the kind `native` only."""
    entries: dict[str, str]
    """Entries besides those of `ENTRIES`, as `module:function`."""
    directory: str
    """An empty directory of the zygote's own."""
    user: int
    """The user that the children become where that is permitted."""
    without: list[str]
    """Layers not to apply."""


@dataclass(frozen=True, kw_only=True)
class ZygoteStarted:
    """First message of a zygote, as JSON: it can fork."""

    layers: list[str]
    problems: list[str]
    """Layers that it could not have, and why."""
    resident_bytes: int
    has_loopback: bool
    """Whether each execution has a network of its own, with loopback; otherwise no socket."""
    cpu_seconds: float
    """CPU time that its start took."""


def main() -> NoReturn:
    """Become a zygote; the argument is the control socket's descriptor."""
    become_zygote(*begin())  # no name of this frame, which the children inherit, has the config


def begin() -> tuple[int, bytes]:
    """Set up a process that forks others; the control socket and its first message."""
    control = _move_up(int(sys.argv[1]))
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


@dataclass(frozen=True)
class Inherited:
    """The work of a nursery that its zygotes need not repeat."""

    entries: dict[str, Entry]
    packages: list[Path]
    """Directories that must stay readable for modules that are imported later."""
    num_threads: int
    """Threads of this user's processes when the nursery started."""

    @classmethod
    def made(cls, kind: ZygoteKind, entries: dict[str, str], packages: dict[str, str]) -> Inherited:
        """Import the modules of a kind, and gather the memory that forks share."""
        found = _import_entries(entries)
        readable = _import_modules(kind, packages)
        gc.collect()
        _use_huge_pages()
        return cls(found, readable, layers_module.num_threads_of_user())


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
        _prepare_standard_streams()

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
            calls=self._config.calls,
            binary_calls=self._config.binary_calls,
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
        files = _open_files(self._scratch, fetched_files) if writes else {}
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
                _numbered(optional, descriptors),
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
            status = _arrange_descriptors(optional, descriptors)
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
        _close_from(_FIRST_FREE_FD)
        gate = self._layers.filter_calls(is_tool=entry_name == "tool")
        status.send(CONFINED)
        if self._kind in SCIENTIFIC_KINDS:
            sys.modules["numpy.random"].seed()
        payload = b"" if entry_name == "binary" else _read_all(PAYLOAD_FD)
        has_channel = optional & CHANNEL and not optional & TALKS
        channel = socket.socket(fileno=_CHANNEL_FD) if has_channel else None
        result = _RESULT_FD if optional & RESULT else None
        arguments = _unpack_workspace(_WORKSPACE_FD) if optional & WORKSPACE else ()
        return EntryContext(payload, channel, result, status, gate, arguments)


def _import_entries(names: dict[str, str]) -> dict[str, Entry]:
    entries = dict(ENTRIES)
    for name, location in names.items():
        module, _, function = location.partition(":")
        entries[name] = getattr(importlib.import_module(module), function)
    return entries


def _import_modules(kind: ZygoteKind, packages: dict[str, str]) -> list[Path]:
    """Import the modules of a kind, then leave only the standard library importable.

    Returns:
        The directories that must stay readable for modules that are imported later.
    """
    library = [path for path in sys.path if Path(path) in _library_path()]
    sys.path[:] = library + sorted({str(Path(path).parent) for path in packages.values()})
    for name in STANDARD_MODULES if kind is not ZygoteKind.NATIVE else ():
        importlib.import_module(name)
    # Started with -S, which keeps installed packages off the path, Python lacks `exit`, `quit`,
    # `copyright` and `help`: programs that use them would fail here and nowhere else.
    for define in (site.setquit, site.setcopyright, site.sethelper):
        define()
    if kind in SCIENTIFIC_KINDS:
        # pandas imports it where it is installed, and it starts threads, which no fork keeps.
        sys.modules["pyarrow"] = None  # type: ignore[assignment]
        for name in (*SCIENTIFIC_MODULES, *packages):
            importlib.import_module(name)
        _warm_up_sympy()
    sys.path[:] = library
    for path in set(sys.path_importer_cache) - set(library):
        del sys.path_importer_cache[path]
    return [part for path in packages.values() for part in runtime.libraries_beside(Path(path))]


def _library_path() -> set[Path]:
    libraries = runtime.standard_library()
    return {*libraries, *(path / "lib-dynload" for path in libraries)}


def _warm_up_sympy() -> None:
    """Use sympy, so that it imports here the modules that each child would import at first use."""
    sympy = importlib.import_module("sympy")
    x = sympy.Symbol("x")
    for expression in (sympy.sin(x) ** 2 + x / 3, sympy.sqrt(2)):
        str(sympy.simplify(expression))
        str(sympy.latex(expression))
    str(sympy.solve(x**2 - 2, x))
    str(sympy.integrate(x**2, x))
    str(sympy.factorint(360))


def _move_up(descriptor: int) -> int:
    """Move a descriptor out of the numbers that children use, and reserve those numbers.

    Without the reservation the zygote could open a descriptor of its own at such a number, and
    `_arrange_descriptors` would overwrite it in a child.
    """
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_FD)
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(_STATUS_FD, _FIRST_FREE_FD):
        if number != null:
            os.dup2(null, number, inheritable=False)
    return moved


def _use_huge_pages() -> None:
    """Ask the kernel to gather Python's memory in huge pages, where it can (Linux 6.1).

    A fork copies one table entry for each page. Without huge pages that is 512 times as many
    entries, in every fork: numpy and sympy take 40 MiB.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, _, _, inode, *_ = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        start = (start + _HUGE_PAGE_BYTES - 1) // _HUGE_PAGE_BYTES * _HUGE_PAGE_BYTES
        end = end // _HUGE_PAGE_BYTES * _HUGE_PAGE_BYTES
        if inode == "0" and permissions == "rw-p" and start < end:
            _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_COLLAPSE)


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


def _prepare_standard_streams() -> None:
    """Make the stream objects that the children use, once for all of them.

    They are made while descriptors 1 and 2 are pipes. On a terminal or a file, Python would choose
    other buffering than for the pipes of a child.
    """
    reading, writing = os.pipe()
    log = os.dup(2)
    for number in (1, 2):
        os.dup2(writing, number)
    sys.stdout = _text_stream(1, "<stdout>")
    sys.stderr = _text_stream(2, "<stderr>", errors="backslashreplace", line_buffering=True)
    vars(sys).update(__stdout__=sys.stdout, __stderr__=sys.stderr)
    # Tracebacks of the zygote itself go to the log of the service again.
    os.dup2(log, 2)
    for descriptor in (reading, writing, log):
        os.close(descriptor)


def _text_stream(descriptor: int, name: str, **options: Any) -> io.TextIOWrapper:
    """A stream as the interpreter makes it, with the attributes that it sets."""
    raw = io.FileIO(descriptor, "wb", closefd=False)
    vars(raw)["name"] = name
    stream = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", **options)
    vars(stream)["mode"] = "w"
    return stream


def _arrange_descriptors(optional: int, descriptors: list[int]) -> socket.socket:
    """Give the descriptors of an order the numbers that a child expects.

    Returns:
        The status socket.
    """
    status, payload, stdout, stderr, *others = descriptors
    for number, descriptor in ((1, stdout), (2, stderr), (_STATUS_FD, status)):
        os.dup2(descriptor, number)
    os.dup2(payload, PAYLOAD_FD)
    numbers = {
        STDIN: 0,
        CHANNEL: _CHANNEL_FD,
        RESULT: _RESULT_FD,
        WORKSPACE: _WORKSPACE_FD,
    }
    for flag, number in numbers.items():
        if optional & flag:
            os.dup2(others.pop(0), number)
        elif number != 0:
            os.close(number)
    if optional & TALKS:
        os.dup2(_CHANNEL_FD, 0)
        os.dup2(_CHANNEL_FD, 1)
        os.close(_CHANNEL_FD)
    elif not optional & STDIN:
        _open_no_input()
    return socket.socket(fileno=_STATUS_FD)


def _numbered(optional: int, descriptors: list[int]) -> list[tuple[int, int]]:
    """The descriptors of an order for a program that has only standard streams."""
    status, payload, stdout, stderr, *others = descriptors
    found = [(stdout, 1), (stderr, 2), (status, _STATUS_FD), (payload, PAYLOAD_FD)]
    return [*found, (others[0], 0)] if optional & STDIN else found


def _open_no_input() -> None:
    """Open /dev/null as descriptor 0.

    The zygote's own descriptor 0 is one open file, shared by all of its children. One child could
    leave a message in its flags (fcntl(2), F_SETFL) for the next.
    """
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def _unpack_workspace(workspace: int) -> tuple[str, ...]:
    """Write the files of a workspace, see `pack_workspace`.

    Ends the process if a file cannot be written: the files are too many, or their names exclude
    each other. That is the fault of the caller who gave them.

    Returns:
        The arguments of the program.
    """
    with open(workspace, "rb") as packed:
        header = json.loads(packed.readline())
        for name, size in header["files"]:
            try:
                if "/" in name:
                    os.makedirs(os.path.dirname(name), exist_ok=True)
                with open(name, "wb") as file:
                    while size > 0 and (part := packed.read(min(size, _COPY_BYTES))):
                        size -= file.write(part)
            except OSError as error:
                os.write(2, f"cannot write {name!r}: {error.strerror}\n".encode())
                os._exit(NOT_STARTED)
    return tuple(header["arguments"])


def pack_workspace(arguments: Sequence[str], files: Mapping[str, bytes]) -> bytes:
    """Arguments and files of a program as bytes."""
    return pack.pack(files, arguments=list(arguments))


def _open_files(scratch: Path, names: Sequence[str]) -> dict[int, int]:
    """The descriptors of files that a program left, by their index in the names.

    Only a regular file in a directory of the program's own is returned. The program may have made
    links, pipes and devices with these names. A name that ends with a slash is that of a directory,
    whose regular files are packed.
    """
    found = {}
    for index, name in enumerate(names):
        with contextlib.suppress(OSError):
            if name.endswith("/"):
                found[index] = _packed_directory(scratch, name.removesuffix("/"))
                continue
            file = _open_below(scratch, name)
            if stat.S_ISREG(os.fstat(file).st_mode):
                found[index] = file
            else:
                os.close(file)
    return found


def _packed_directory(scratch: Path, directory: str) -> int:
    """A file in memory with the regular files below a directory, packed. Raises OSError."""
    sizes, names = [], []
    pending = [directory]
    while pending:
        for item in os.scandir(scratch / (parent := pending.pop())):
            if item.is_dir(follow_symlinks=False):
                pending.append(f"{parent}/{item.name}")
            elif item.is_file(follow_symlinks=False) and item.name.isprintable():
                names.append(f"{parent}/{item.name}")
                sizes.append((names[-1].removeprefix(f"{directory}/"), item.stat().st_size))
    with open(os.memfd_create("packed"), "wb", closefd=False) as packed:
        packed.write(pack.header(sizes))
        for name in names:
            with open(_open_below(scratch, name), "rb") as file:
                shutil.copyfileobj(file, packed)
        descriptor = packed.fileno()
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _open_below(scratch: Path, name: str) -> int:
    """Open a file, one directory after the other and without following links. Raises OSError."""
    *directories, last = PurePosixPath(name).parts
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    parent = os.open(scratch, flags | os.O_DIRECTORY)
    try:
        for directory in directories:
            child = os.open(directory, flags | os.O_DIRECTORY, dir_fd=parent)
            os.close(parent)
            parent = child
        return os.open(last, flags, dir_fd=parent)
    finally:
        os.close(parent)


def _close_from(first: int) -> None:
    if _libc.syscall(_CLOSE_RANGE, first, ctypes.c_uint(0xFFFFFFFF), 0) != 0:
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def _read_all(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    chunks: list[bytes] = []
    while size > 0:
        chunk = os.pread(descriptor, size, sum(map(len, chunks)))
        if not chunk:
            raise OSError(errno.EIO, "the payload is shorter than its size")
        chunks.append(chunk)
        size -= len(chunk)
    os.close(descriptor)
    return b"".join(chunks)
