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

import contextlib
import ctypes
import dataclasses
import errno
import fcntl
import gc
import importlib
import io
import json
import os
import select
import signal
import site
import socket
import stat
import struct
import sys
import threading
import traceback
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from verifier_service.sandbox import layers as layers_module
from verifier_service.sandbox import namespaces, runtime
from verifier_service.sandbox.entries import (
    BROKEN,
    CONFINED,
    ENTRIES,
    NOT_STARTED,
    PAYLOAD_FD,
    Context,
    Entry,
)
from verifier_service.sandbox.execution import Layer, Profile, Tools
from verifier_service.sandbox.layers import CHILD_LIMITS, ChildLimits, Layers
from verifier_service.sandbox.scratch import empty_directory

STDIN, CHANNEL, RESULT, WORKSPACE = 1, 2, 4, 8
"""Which of the optional descriptors an order brings, in this order, after the required ones."""
ORDER = struct.Struct("=B")
ENDED = struct.Struct("=iddQ")
"""Wait status, user and system seconds, peak resident kilobytes. The places of the fetched files
that are there follow, one byte each; their descriptors come with it."""
STARTED = b"S"
MAX_MESSAGE_BYTES = 2**15
MAX_DESCRIPTORS = 8
SCRATCH_INODES = 4096
_COPY_BYTES = 2**16

_STATUS_FD, _CHANNEL_FD, _RESULT_FD, _WORKSPACE_FD = 3, 5, 6, 7
_FIRST_FREE_FD = 8
"""The zygote keeps its own descriptors at and above this, so that a child can close them."""
_CLOSE_RANGE = 436
_MADV_COLLAPSE, _HUGE_PAGE_BYTES = 25, 2**21
_OOM_SCORE = "800"

STANDARD_MODULES = (
    *("abc", "array", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses"),
    *("datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "io"),
    *("itertools", "json", "math", "numbers", "operator", "queue", "random", "re", "statistics"),
    *("string", "struct", "sys", "textwrap", "threading", "time", "traceback", "types", "typing"),
)
"""Imported ahead. Each makes every fork a little slower, so what programs rarely use is not here;
they can import it, if it is in the standard library."""
SCIENTIFIC_MODULES = (
    *("numpy", "numpy.random", "numpy.linalg", "numpy.fft", "numpy.ma", "numpy.polynomial"),
    *("mpmath", "sympy"),
)

_libc = ctypes.CDLL(None)


@dataclass(frozen=True, kw_only=True)
class Config:
    """How a zygote is started, as JSON in its arguments."""

    control: int
    """The descriptor of the control socket."""
    profile: str
    packages: dict[str, str]
    """Directories of the packages of the profile."""
    executable: list[str]
    readable: list[str]
    """`Tools` of the profile `native`."""
    entries: dict[str, str]
    """Entries besides `script`, as `module:function`."""
    directory: str
    """An empty directory of the zygote's own."""
    user: int
    """The user that the children become where that is permitted."""
    without: list[str]
    """Layers not to apply."""


@dataclass(frozen=True, kw_only=True)
class ZygoteStarted:
    """What the zygote says when it is ready, as JSON."""

    layers: list[str]
    problems: list[str]
    """What could not be had, and why."""
    resident_bytes: int


def main() -> NoReturn:
    """Become a zygote; the arguments are a `Config`."""
    config = Config(**json.loads(sys.argv[1]))
    sys.argv = [""]
    without = frozenset(Layer(name) for name in config.without)
    os.umask(0o022)
    control = _move_up(config.control)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):  # a preference only
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
    in_force = set(Layer) - without - {Layer.NAMESPACES, Layer.ROOT, Layer.USER}
    if Layer.NAMESPACES not in without and namespaces.enter():
        in_force.add(Layer.NAMESPACES)
        _fork_into_process_namespace(control)
    _Zygote(config, without, in_force, socket.socket(fileno=control)).serve()


def _fork_into_process_namespace(control: int) -> None:
    """Go on as the first process of the new namespace; all others in it end with that."""
    pid = os.fork()
    if pid == 0:
        layers_module.die_with_parent()
        return
    os.close(control)
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


class _Zygote:
    def __init__(
        self,
        config: Config,
        without: frozenset[Layer],
        in_force: set[Layer],
        control: socket.socket,
    ) -> None:
        self._control = control
        self._problems: list[str] = []
        self._directory = Path(config.directory)
        self._scratch = self._directory / "scratch"
        self._scratch_is_mounted = False
        self._scratch_bytes = -1
        self._entries = _import_entries(config.entries)
        self._profile = Profile(config.profile)
        tools = None
        if self._profile is Profile.NATIVE:
            tools = Tools(
                executable=tuple(map(Path, config.executable)),
                readable=tuple(map(Path, config.readable)),
            )
        packages = _import_modules(self._profile, config.packages)
        gc.collect()
        _use_huge_pages()
        address_space_bytes, self._resident_bytes = layers_module.memory_bytes()
        num_threads = layers_module.num_threads_of_user()
        if Layer.NAMESPACES not in in_force and Layer.NAMESPACES not in without:
            self._problems.append("no namespaces: they are not permitted here")
        if Layer.ROOT not in without and Layer.NAMESPACES in in_force:
            files = [*packages, *tools.executable, *tools.readable] if tools else packages
            self._change_root(in_force, files)
        library = Path(os.__file__)
        if Layer.USER not in without:
            if layers_module.can_become_user(config.user, library):
                in_force.add(Layer.USER)
            else:
                self._problems.append(
                    f"no user: a child cannot become user {config.user} and read {library}"
                )
        for layer, why in layers_module.unavailable().items():
            in_force.discard(layer)
            self._problems.append(f"no {layer}: {why}")
        self._make_scratch(config.user if Layer.USER in in_force else os.getuid())
        layers_module.drop_bounding_capabilities()
        counts_alone = Layer.USER in in_force or (
            Layer.NAMESPACES in in_force and os.getuid() != 0  # in a user namespace of its own
        )
        self._layers = Layers(
            in_force=frozenset(in_force),
            user=config.user,
            packages=packages,
            scratch=self._scratch,
            address_space_bytes=address_space_bytes,
            num_other_threads=0 if counts_alone else num_threads + layers_module.NUM_SPARE_THREADS,
            tools=tools,
        )
        self._in_force = frozenset(in_force)
        _prepare_standard_streams()

    def _change_root(self, in_force: set[Layer], packages: list[Path]) -> None:
        files = [*runtime.standard_library(), *runtime.system_files(), *packages]
        try:
            namespaces.change_root(files, runtime.DEVICES, self._directory)
        except OSError as error:
            self._problems.append(f"no private root: {error}")
            return
        in_force.add(Layer.ROOT)
        self._scratch = namespaces.SCRATCH
        self._scratch_is_mounted = True

    def _make_scratch(self, user: int) -> None:
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

    def serve(self) -> NoReturn:
        """Fork a child for each order."""
        _skip_repair_of_threads()
        gc.collect()
        gc.freeze()
        hello = ZygoteStarted(
            layers=sorted(self._in_force),
            problems=self._problems,
            resident_bytes=self._resident_bytes,
        )
        own = os.pidfd_open(os.getpid())
        socket.send_fds(self._control, [json.dumps(dataclasses.asdict(hello)).encode()], [own])
        os.close(own)
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

    def _run(self, message: bytes, descriptors: list[int]) -> None:
        (optional,) = ORDER.unpack_from(message)
        limits = ChildLimits.unpack(message[ORDER.size : ORDER.size + CHILD_LIMITS.size])
        entry, fetched_files = json.loads(message[ORDER.size + CHILD_LIMITS.size :])
        writes = limits.file_bytes > 0
        if writes and self._scratch_is_mounted and limits.file_bytes != self._scratch_bytes:
            namespaces.resize_tmpfs(self._scratch, num_bytes=limits.file_bytes)
            self._scratch_bytes = limits.file_bytes
        pid = os.fork()
        if pid == 0:
            self._become_child(limits, entry, optional, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        pidfd = os.pidfd_open(pid)
        with contextlib.suppress(ConnectionError):
            socket.send_fds(self._control, [STARTED], [pidfd])
        self._wait(pidfd)
        os.close(pidfd)
        _, status, usage = os.wait4(pid, 0)
        files = _open_files(self._scratch, fetched_files) if writes else {}
        if writes:
            empty_directory(self._scratch)
        ended = ENDED.pack(status, usage.ru_utime, usage.ru_stime, usage.ru_maxrss)
        with contextlib.suppress(ConnectionError):  # the next read ends this process
            socket.send_fds(self._control, [ended + bytes(files)], list(files.values()))
        for file in files.values():
            os.close(file)

    def _wait(self, pidfd: int) -> None:
        """Wait until the child has ended; end if the other side of the control socket is gone."""
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        poll.register(self._control, select.POLLHUP)
        while (events := poll.poll()) and (pidfd, select.POLLIN) not in events:
            if any(event & select.POLLHUP for _, event in events):
                os._exit(0)

    def _become_child(
        self, limits: ChildLimits, entry_name: str, optional: int, descriptors: list[int]
    ) -> NoReturn:
        status = None
        try:
            status = _arrange_descriptors(optional, descriptors)
            os.chdir(self._scratch if limits.file_bytes else "/")
            os.umask(0o077)
            entry = self._entries[entry_name]
            self._layers.apply(limits, is_tool=entry_name == "tool")
            _close_from(_FIRST_FREE_FD)
            gate = self._layers.filter_calls()
            status.send(CONFINED)
            if self._profile is Profile.SCI:
                sys.modules["numpy.random"].seed()
            payload = b"" if entry_name == "binary" else _read_all(PAYLOAD_FD)
            channel = socket.socket(fileno=_CHANNEL_FD) if optional & CHANNEL else None
            result = _RESULT_FD if optional & RESULT else None
            arguments = _unpack(_WORKSPACE_FD) if optional & WORKSPACE else ()
            context = Context(payload, channel, result, status, gate, arguments)
        except BaseException:  # noqa: BLE001  whatever it is, the child must not run the payload
            if status is not None:
                status.send(BROKEN + traceback.format_exc()[-2000:].encode())
            os._exit(1)
        try:
            entry(context)
        except BaseException:  # noqa: BLE001  only entries that are not ours to correct raise
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)


def _import_entries(names: dict[str, str]) -> dict[str, Entry]:
    entries = dict(ENTRIES)
    for name, place in names.items():
        module, _, function = place.partition(":")
        entries[name] = getattr(importlib.import_module(module), function)
    return entries


def _import_modules(profile: Profile, packages: dict[str, str]) -> list[Path]:
    """Import what the profile names, and have nothing else importable but the standard library.

    Returns:
        The directories that must be readable for what these modules import later.
    """
    library = [path for path in sys.path if Path(path) in _library_path()]
    sys.path[:] = library + sorted({str(Path(path).parent) for path in packages.values()})
    for name in STANDARD_MODULES if profile is not Profile.NATIVE else ():
        importlib.import_module(name)
    # What Python defines at its start, `exit` for example; its paths are not wanted (-S).
    for define in (site.setquit, site.setcopyright, site.sethelper):
        define()
    if profile is Profile.SCI:
        for name in SCIENTIFIC_MODULES:
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
    """Have sympy import what it imports late."""
    sympy = importlib.import_module("sympy")
    x = sympy.Symbol("x")
    for expression in (sympy.sin(x) ** 2 + x / 3, sympy.sqrt(2)):
        str(sympy.simplify(expression))
        str(sympy.latex(expression))
    str(sympy.solve(x**2 - 2, x))
    str(sympy.integrate(x**2, x))
    str(sympy.factorint(360))


def _move_up(descriptor: int) -> int:
    """Keep the numbers that children use for something else than the zygote's own descriptors."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE_FD)
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(_STATUS_FD, _FIRST_FREE_FD):
        if number != null:
            os.dup2(null, number, inheritable=False)
    return moved


def _use_huge_pages() -> None:
    """Have the kernel gather what Python has allocated in huge pages, where it can (Linux 6.1).

    A fork copies one entry for each, and not 512: numpy and sympy have 40 MiB.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, _, _, inode, *_ = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        start = (start + _HUGE_PAGE_BYTES - 1) // _HUGE_PAGE_BYTES * _HUGE_PAGE_BYTES
        end = end // _HUGE_PAGE_BYTES * _HUGE_PAGE_BYTES
        if inode == "0" and permissions == "rw-p" and start < end:
            _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_COLLAPSE)


def _skip_repair_of_threads() -> None:
    """Have `threading` do nothing after a fork, in Python's versions that have this function.

    It repairs what other threads held, and this process has none. What it would touch in each child
    is a hundred pages to copy: a tenth of the time of a short execution.
    """
    repair = getattr(threading, "_after_fork", None)
    if isinstance(repair, types.FunctionType):
        repair.__code__ = _do_nothing.__code__


def _do_nothing() -> None:
    pass


def _prepare_standard_streams() -> None:
    """Make the objects that the children use; they must be made on pipes to be as for pipes."""
    reading, writing = os.pipe()
    log = os.dup(2)
    for number in (1, 2):
        os.dup2(writing, number)
    sys.stdout = _text_stream(1, "<stdout>")
    sys.stderr = _text_stream(2, "<stderr>", errors="backslashreplace", line_buffering=True)
    vars(sys).update(__stdout__=sys.stdout, __stderr__=sys.stderr)
    # What the zygote itself has to say when it fails goes to the log.
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
    """Give the descriptors of an order their numbers. Returns the status socket."""
    status, payload, stdout, stderr, *others = descriptors
    for number, descriptor in ((1, stdout), (2, stderr), (_STATUS_FD, status)):
        os.dup2(descriptor, number)
    os.dup2(payload, PAYLOAD_FD)
    places = (
        (STDIN, 0),
        (CHANNEL, _CHANNEL_FD),
        (RESULT, _RESULT_FD),
        (WORKSPACE, _WORKSPACE_FD),
    )
    for flag, number in places:
        if optional & flag:
            os.dup2(others.pop(0), number)
        elif number != 0:
            os.close(number)
    if not optional & STDIN:
        _open_no_input()
    return socket.socket(fileno=_STATUS_FD)


def _open_no_input() -> None:
    """Open descriptor 0 anew. The zygote's is one open file for all of its children, whose flags
    (fcntl(2), F_SETFL) one could set and the next read."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def _unpack(workspace: int) -> tuple[str, ...]:
    """Write the files of a workspace, see `pack_workspace`. Returns the arguments.

    Ends the process where they cannot be written, too many or of names that exclude each other,
    which is the fault of who asked.
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
    """What a child is given besides its payload: a line of JSON, then the files."""
    header = {
        "arguments": list(arguments),
        "files": [(name, len(content)) for name, content in files.items()],
    }
    return b"".join([json.dumps(header).encode(), b"\n", *files.values()])


def _open_files(scratch: Path, names: Sequence[str]) -> dict[int, int]:
    """The descriptors of files that a program left, by their places in the names.

    Nothing but a regular file in a directory of the program's own is opened: it may have made
    links, pipes and devices of these names.
    """
    found = {}
    for place, name in enumerate(names):
        with contextlib.suppress(OSError):
            file = _open_below(scratch, name)
            if stat.S_ISREG(os.fstat(file).st_mode):
                found[place] = file
            else:
                os.close(file)
    return found


def _open_below(scratch: Path, name: str) -> int:
    """Raises OSError."""
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
