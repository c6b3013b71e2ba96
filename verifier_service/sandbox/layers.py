"""The layers that a child puts on itself before it reads its payload.

The zygote makes them ready once. A child applies them in this order: user, resource limits,
capabilities, no_new_privs, Landlock, the system call filter. A layer that cannot be applied raises,
and the child ends without having read its payload.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import platform
import resource
import signal
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from verifier_service.sandbox import landlock, runtime, seccomp
from verifier_service.sandbox.execution import Layer, Limits, Tools
from verifier_service.sandbox.gate import Gate

STACK_BYTES = 64 * 2**20
NUM_SPARE_THREADS = 256
"""Room in the limit on threads for those that other processes of the same user start later."""

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_LAST_POSSIBLE_CAPABILITY = 63
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, argument: int = 0) -> int:
    zero = ctypes.c_ulong(0)
    return int(_libc.prctl(option, ctypes.c_ulong(argument), zero, zero, zero))


def unavailable() -> dict[Layer, str]:
    """Layers that every platform should have and this one lacks, with the reason."""
    missing = {}
    if landlock.version() == 0:
        missing[Layer.LANDLOCK] = "the kernel has none, or it is not enabled"
    if platform.machine() not in seccomp.ARCHITECTURES:
        missing[Layer.SECCOMP] = f"no table of system calls for {platform.machine()}"
    return missing


def hide_process() -> None:
    """Make the memory and environment of this process unreadable to others of the same user."""
    _prctl(_PR_SET_DUMPABLE, 0)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends. A change of user undoes it."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def drop_bounding_capabilities() -> None:
    """Give up every capability that an exec could bring back. Those in force stay in force."""
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(_LAST_POSSIBLE_CAPABILITY + 1):
        _prctl(_PR_CAPBSET_DROP, capability)  # fails where this process has none to drop


def become_user(user: int) -> None:
    """Change to a user and its group, and leave all other groups. Raises OSError."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def can_become_user(user: int, needed: Path) -> bool:
    """Whether a child may become a user, and that user may read a file that it needs.

    SIGTERM, by which the runner gives up a zygote that starts, waits until the child is collected.
    Otherwise the child would be left as a zombie to the process that adopts orphans.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(OSError):
            become_user(user)
            os.close(os.open(needed, os.O_RDONLY))
            os._exit(0)
        os._exit(1)
    _, status = os.waitpid(pid, 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return status == 0


CHILD_LIMITS = struct.Struct("=5Q")
"""Layout of `ChildLimits` as bytes."""


class ChildLimits(NamedTuple):
    """`Limits` as the numbers of setrlimit(2)."""

    cpu_seconds: int
    address_space_bytes: int
    """Address space beyond that of the zygote."""
    file_bytes: int
    num_files: int
    num_threads: int

    @classmethod
    def of(cls, limits: Limits) -> ChildLimits:
        """The numbers for some limits.

        CPU time has a second more than the limit, which the runner enforces: the kernel acts only
        if the runner does not.
        """
        return cls(
            cpu_seconds=math.ceil(limits.cpu_seconds) + 1,
            address_space_bytes=limits.memory_bytes + limits.reserved_bytes,
            file_bytes=limits.file_bytes,
            num_files=limits.num_files,
            num_threads=limits.num_threads,
        )

    def pack(self) -> bytes:
        """The numbers as bytes."""
        return CHILD_LIMITS.pack(*self)

    @classmethod
    def unpack(cls, data: bytes) -> ChildLimits:
        """The inverse of `pack`."""
        return cls._make(CHILD_LIMITS.unpack(data))


ResourceLimit = tuple[int, tuple[int, int]]
"""A limit of setrlimit(2): its kind, then its soft and its hard value."""


class LayerParts(NamedTuple):
    """The layers of one child, as data."""

    user: int | None
    """User to become; None to stay."""
    resource_limits: tuple[ResourceLimit, ...]
    drops_capabilities: bool
    sets_no_new_privs: bool
    ruleset: landlock.Ruleset | None
    filter: seccomp.Filter | None


class Layers:
    """The layers of the children of one zygote.

    Args:
        in_force: layers to apply.
        user: user of the children, if `Layer.USER` is in force.
        packages: directories that may be read besides the standard library.
        scratch: scratch directory of an execution that may write.
        address_space_bytes: address space of the zygote, which every child begins with.
        num_other_threads: threads of other processes that count against the children's limit.
        tools: None unless each child may start one program: a tool, or a file in memory.
        connects: whether TCP is permitted, see `loopback`.

    Raises:
        OSError: Landlock or the filter is to be applied, and this platform lacks it.
    """

    def __init__(
        self,
        *,
        in_force: frozenset[Layer],
        user: int,
        packages: list[Path],
        scratch: Path | None,
        address_space_bytes: int,
        num_other_threads: int,
        tools: Tools | None = None,
        connects: bool = False,
    ) -> None:
        self._in_force = in_force
        self._user = user
        self._address_space_bytes = address_space_bytes
        self._num_other_threads = num_other_threads
        self._zygote_pid = os.getpid()
        self._executes = tools is not None
        self._connects = connects
        self._filters: dict[bool, seccomp.Filter] = {}
        """Filters, by whether they are of a tool."""
        if Layer.SECCOMP in in_force:
            self._filters[False] = seccomp.Filter(
                executes=self._executes,
                connects=connects,
                runtime_calls=tools.binary_runtime_calls if tools else "",
            )
            if tools is not None:
                self._filters[True] = seccomp.Filter(
                    executes=True, runtime_calls=tools.runtime_calls
                )
        self._rulesets: dict[bool, landlock.Ruleset] = {}
        """Rules for programs, by whether the execution has a scratch directory."""
        self._tool_ruleset: landlock.Ruleset | None = None
        if Layer.LANDLOCK in in_force:
            self._make_rulesets(packages, scratch, tools)
        self._no_capabilities = (
            ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)),
            ctypes.create_string_buffer(24),
        )

    def _make_rulesets(
        self, packages: list[Path], scratch: Path | None, tools: Tools | None
    ) -> None:
        readable = tools.binary_readable if tools else ()
        for writes in (False, True):
            self._rulesets[writes] = landlock.Ruleset(
                readable=readable if self._executes else runtime.readable_paths(packages),
                listable=() if self._executes else runtime.standard_library(),
                writable=runtime.DEVICES,
                scratch=scratch if writes else None,
                connects=self._connects,
            )
        if tools is not None:
            self._tool_ruleset = landlock.Ruleset(
                readable=tools.readable,
                listable=(),
                writable=tools.devices,
                scratch=scratch,
                executable=tools.executable,
            )

    def parts(self, limits: ChildLimits, *, is_tool: bool = False) -> LayerParts:
        """The layers that `apply` and `filter_calls` put on a child, as data.

        Args:
            limits: limits of this execution.
            is_tool: whether the child is to become one of the tools, which may read more.
        """
        in_force = self._in_force
        ruleset = None
        if Layer.LANDLOCK in in_force:
            ruleset = self._tool_ruleset if is_tool else self._rulesets[limits.file_bytes > 0]
        return LayerParts(
            user=self._user if Layer.USER in in_force else None,
            resource_limits=self._resource_limits(limits) if Layer.RLIMITS in in_force else (),
            drops_capabilities=Layer.CAPABILITIES in in_force,
            sets_no_new_privs=bool(in_force & {Layer.NO_NEW_PRIVS, Layer.LANDLOCK, Layer.SECCOMP}),
            ruleset=ruleset,
            filter=self._filters.get(is_tool),
        )

    def apply(self, limits: ChildLimits, *, is_tool: bool = False) -> None:
        """Confine this process. Raises OSError if a layer in force cannot be applied.

        Args:
            limits: limits of this execution.
            is_tool: whether this process is to become one of the tools, which may read more.
        """
        parts = self.parts(limits, is_tool=is_tool)
        os.setsid()
        if parts.user is not None:
            become_user(parts.user)
        for kind, values in parts.resource_limits:
            resource.setrlimit(kind, values)
        die_with_parent()
        # If the zygote died before that call, the kernel will not kill this process.
        if os.getppid() != self._zygote_pid:
            os._exit(1)
        hide_process()
        if parts.drops_capabilities:
            _check("capset", _libc.capset(*self._no_capabilities))
        if parts.sets_no_new_privs:
            _check("no_new_privs", _prctl(_PR_SET_NO_NEW_PRIVS, 1))
        if parts.ruleset is not None:
            parts.ruleset.restrict()

    def filter_calls(self, *, is_tool: bool = False) -> Gate | None:
        """Apply the last layer, the system call filter. Raises OSError.

        Args:
            is_tool: whether this process is to become one of the tools.

        Returns:
            The gate of the one exec; None if this process may not start a program.
        """
        gate = Gate() if self._executes else None
        if self._filters:
            self._filters[is_tool].install(gate.secret if gate else 0)
        return gate

    def _resource_limits(self, limits: ChildLimits) -> tuple[ResourceLimit, ...]:
        num_threads = self._num_other_threads + limits.num_threads
        found = []
        for kind, value in (
            (resource.RLIMIT_AS, self._address_space_bytes + limits.address_space_bytes),
            (resource.RLIMIT_CPU, limits.cpu_seconds),
            (resource.RLIMIT_FSIZE, limits.file_bytes),
            (resource.RLIMIT_NOFILE, limits.num_files),
            (resource.RLIMIT_NPROC, num_threads),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
            (resource.RLIMIT_SIGPENDING, limits.num_threads),
        ):
            _, hard = resource.getrlimit(kind)
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            # With a lower soft limit the kernel would send a signal, which the program can catch.
            found.append((kind, (value, value)))
        # Programs may raise this one limit: the stack counts as address space, which is limited.
        _, hard = resource.getrlimit(resource.RLIMIT_STACK)
        is_enough = hard == resource.RLIM_INFINITY or hard >= STACK_BYTES
        found.append((resource.RLIMIT_STACK, (STACK_BYTES if is_enough else hard, hard)))
        return tuple(found)


def num_threads_of_user() -> int:
    """Number of threads of all visible processes of this user."""
    return sum(
        int(fields[b"Threads"])
        for fields in _process_fields()
        if int(fields[b"Uid"].split()[0]) == os.getuid()
    )


def _process_fields() -> Iterator[dict[bytes, bytes]]:
    # Not with Path.glob, which raises if a process ends meanwhile.
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{name}/status").read_bytes().splitlines()
            yield {name: value for name, _, value in (line.partition(b":") for line in lines)}


def memory_bytes() -> tuple[int, int]:
    """Address space of this process, and the resident memory that a child would begin with."""
    mapped, resident, shared = Path("/proc/self/statm").read_text().split()[:3]
    page = resource.getpagesize()
    return int(mapped) * page, (int(resident) - int(shared)) * page


def _check(what: str, result: int) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
