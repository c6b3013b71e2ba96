"""What can be run in the sandbox, within which limits, and what is reported of it.

An `Execution` holds facts only. What they mean for a verdict is for the caller to decide. Each
comes from a timer, a byte count, the kernel (wait status, resource use) or the status socket,
which is closed before the first line of the program runs: nothing the program prints is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath


class Layer(StrEnum):
    """One of the things that confine an execution, in the order in which they are applied."""

    NAMESPACES = "namespaces"
    """Own processes, network, IPC objects and host name, for each zygote."""
    ROOT = "root"
    """A root directory that holds the Python runtime and nothing else, for each zygote."""
    USER = "user"
    """A user of its own for each slot."""
    RLIMITS = "rlimits"
    CAPABILITIES = "capabilities"
    NO_NEW_PRIVS = "no_new_privs"
    LANDLOCK = "landlock"
    SECCOMP = "seccomp"


COMMON_LAYERS = frozenset(
    {Layer.RLIMITS, Layer.CAPABILITIES, Layer.NO_NEW_PRIVS, Layer.LANDLOCK, Layer.SECCOMP}
)
"""The layers that every supported deployment permits. They are enough by themselves."""


def level(layers: frozenset[Layer]) -> str:
    """A name of a set of layers.

    >>> level(frozenset({Layer.SECCOMP, Layer.RLIMITS}))
    'rlimits+seccomp'
    """
    return "+".join(layer for layer in Layer if layer in layers) or "none"


class Profile(StrEnum):
    """Which modules are imported before the program starts. Others of them cannot be imported."""

    STD = "std"
    """The standard library."""
    SCI = "sci"
    """The standard library, numpy and sympy."""
    NATIVE = "native"
    """None: for programs that are not Python. The one profile that permits exec, and once only."""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """The programs that the entry `tool` may start, and what they may read."""

    executable: tuple[Path, ...]
    """The programs, and what loads them."""
    readable: tuple[Path, ...]
    """Files, and directories with all that is in them."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one execution may use."""

    cpu_seconds: float = 2.0
    """User and system time of all threads."""
    wall_seconds: float = 6.0
    """What the kernel had the main thread wait for a processor is not counted, up to four times as
    much; then the execution is given up, which is our failure. In a pair, both waits count for
    both."""
    memory_bytes: int = 512 * 2**20
    """Address space beyond what the interpreter itself has."""
    output_bytes: int = 2**20
    """For each of stdout, stderr and the result."""
    file_bytes: int = 0
    """For all files in the scratch directory together. There is none if this is 0."""
    num_files: int = 64
    """Open files."""
    num_threads: int = 64


@dataclass(frozen=True, kw_only=True)
class Program:
    """Something to run.

    Args:
        payload: what the entry reads; for the entry `script`, Python source, for `compiled`, the
            result of a `script`, for `binary`, a program that needs no libraries, for `tool`, what
            `tool_payload` makes.
        stdin: what the program can read from standard input.
        entry: the name of the function that is given the payload; see `entries`.
        profile: None chooses by the entry, and by the modules that the payload names.
        arguments: of the program, after its name.
        files: are in the scratch directory when the program begins. See `check_name` for the names.
            Together they must fit into `Limits.file_bytes` with some room: each takes whole pages.
        fetched_files: names of files that are wanted from the scratch directory when it has ended.
    """

    payload: bytes
    stdin: bytes = b""
    entry: str = "script"
    profile: Profile | None = None
    arguments: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    fetched_files: tuple[str, ...] = ()


class ExitReason(StrEnum):
    """How an execution ended. The first that applies."""

    CPU_LIMIT = "cpu_limit"
    WALL_LIMIT = "wall_limit"
    OUTPUT_LIMIT = "output_limit"
    STOPPED = "stopped"
    """Ended because the process that it was paired with had ended."""
    COMPILE_ERROR = "compile_error"
    """The source is not Python. The text is in stderr."""
    FORBIDDEN = "forbidden"
    """Killed by the system call filter."""
    MEMORY_LIMIT = "memory_limit"
    """Failed with memory near its limit. One huge allocation is refused, and is not seen here."""
    SIGNALED = "signaled"
    EXITED = "exited"


@dataclass(frozen=True, kw_only=True)
class Execution:
    """What happened."""

    reason: ExitReason
    exit_code: int | None
    """None if a signal ended it."""
    signal: int | None
    stdout: bytes
    """At most `Limits.output_bytes` of what was written."""
    stdout_bytes: int
    """How much was written until the end, or until the limit ended it."""
    stderr: bytes
    stderr_bytes: int
    result: bytes
    """What an entry wrote to its result pipe before it was closed; empty if it had none."""
    cpu_seconds: float
    wall_seconds: float
    peak_memory_bytes: int
    """Resident memory; the interpreter's own is part of it."""
    layers: frozenset[Layer]
    """The layers that were in force."""
    waited_seconds: float = 0.0
    """The part of the wall time in which the main thread waited for a processor."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Those of `Program.fetched_files` that are there, together at most `Limits.file_bytes`."""

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.reason is ExitReason.EXITED and self.exit_code == 0


@dataclass(frozen=True)
class Pair:
    """What happened to two processes that were connected."""

    program: Execution
    judge: Execution


MAX_FETCHED_FILES = 16
MAX_NAME_BYTES = 200


def check_name(name: str) -> None:
    """Raise ValueError unless this can be the name of a file in the scratch directory.

    >>> check_name("data/a.txt")
    >>> check_name("../a.txt")
    Traceback (most recent call last):
    ...
    ValueError: '../a.txt' is no name of a file below the working directory
    """
    path = PurePosixPath(name)
    is_below = bool(path.parts) and not path.is_absolute() and ".." not in path.parts
    is_plain = "\0" not in name and not name.endswith("/")
    try:
        is_short = len(name.encode()) <= MAX_NAME_BYTES
    except UnicodeEncodeError:
        is_short = False
    if not (is_below and is_plain and is_short):
        raise ValueError(f"{name[:100]!a} is no name of a file below the working directory")


class SandboxError(RuntimeError):
    """The sandbox failed, for a reason that is not the program's."""
