"""An execution in the sandbox: the program, its limits, and the report on its end.

An `Execution` holds facts only; the caller decides what they mean for a verdict. Each fact comes
from a timer, a byte count, the kernel (wait status, resource use) or the status socket, which is
closed before the first line of the program runs. Nothing that the program prints is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from signal import SIGKILL


class Layer(StrEnum):
    """A mechanism of the kernel that confines an execution. The order is that of application."""

    NAMESPACES = "namespaces"
    """Processes, network, IPC objects and host name of its own, for each zygote."""
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
"""Layers that every supported deployment permits. They suffice to confine a program."""


def level(layers: frozenset[Layer]) -> str:
    """The names of layers, joined in their order.

    >>> level(frozenset({Layer.SECCOMP, Layer.RLIMITS}))
    'rlimits+seccomp'
    """
    return "+".join(layer for layer in Layer if layer in layers) or "none"


class ZygoteKind(StrEnum):
    """The modules that a zygote has imported, and whether its children may start a program."""

    STD = "std"
    """Has imported modules of the standard library. Its children can import no other package."""
    SCI = "sci"
    """Has imported numpy and sympy as well."""
    DATA = "data"
    """Has imported pandas, scipy and networkx as well, those that are installed."""
    TESTS = "tests"
    """Has imported pytest as well, if that is installed."""
    NATIVE = "native"
    """Has imported nothing. For programs that are not Python: it permits exec, once for each."""


SCIENTIFIC_KINDS = frozenset({ZygoteKind.SCI, ZygoteKind.DATA, ZygoteKind.TESTS})
"""Kinds that have imported numpy and sympy."""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """The programs that the entry `tool` may start, and what the sandbox permits to them."""

    executable: tuple[Path, ...]
    """Programs that may be started, and their loaders."""
    readable: tuple[Path, ...]
    """Files that may be read, and directories with all that is in them."""
    devices: tuple[Path, ...] = ()
    """Devices that may be read and written."""
    runtime_calls: str = ""
    """Name of more system calls, in `system_calls.CALLS_OF_RUNTIMES`; empty for none."""
    binary_readable: tuple[Path, ...] = ()
    """Those of the readable ones that the programs which the tools make may read as well."""
    binary_runtime_calls: str = ""
    """Name of those of the programs that the tools make, which the entry `binary` starts."""
    launcher: bytes = b""
    """`launcher.c`, compiled, for programs of the entry `binary`; empty where GCC is not."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Targets of links in the private root, by path: a stand-in for what /proc would have."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Resources that one execution may use."""

    cpu_seconds: float = 2.0
    """User and system time of all threads together."""
    wall_seconds: float = 6.0
    """Time from its start to its end, without the time that its main thread waited for a processor.

    In a pair, the waits of both processes are left out for both. The wait is bounded: an execution
    that takes four times the larger of its CPU and wall limits is given up with SandboxError."""
    counts_waits: bool = False
    """Whether the wall time includes those waits, for a caller who waits for the end.

    A program that had no share of its limit by then (`limit_watch.SHARE`) goes on until it has."""
    idle_seconds: float | None = 3.0
    """Time for which it may be idle in all: no thread runs or waits for a processor or a disk, and
    it does not wait for its judge. None: no limit but that of the wall time."""
    memory_bytes: int = 512 * 2**20
    """Address space beyond that of the interpreter itself."""
    reserved_bytes: int = 0
    """Address space that a runtime reserves and does not use. With it, resident memory is limited
    too: to `memory_bytes` beyond `runtime_bytes`."""
    runtime_bytes: int = 0
    """Resident memory that a runtime takes itself."""
    output_bytes: int = 2**20
    """Largest stdout, largest stderr and largest result, each by itself."""
    file_bytes: int = 0
    """Size of all files in the scratch directory together; 0 means no scratch directory."""
    num_files: int = 64
    """Files that may be open at a time."""
    num_threads: int = 64
    """Threads that may run at a time, the main thread included."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """A payload, the entry that handles it, and all that the process is given.

    Args:
        payload: Python source for the entry `script`; the result of a `script` for `compiled`; a
            program that needs no libraries for `binary`; a `tool_payload` for `tool`.
        stdin: content of standard input.
        stdin_name: name of a file in the scratch directory that has the standard input instead.
        entry: name of the function that handles the payload, see `entries`.
        zygote_kind: the zygote to fork from; None chooses by the entry, and by the packages that
            the payload names.
        arguments: arguments of the program, without its name.
        talks: whether standard input and output are the channel to the other process of a pair.
        files: files of the scratch directory when the program begins, by names that
            `file_names.check_name` accepts. Each takes whole pages of `Limits.file_bytes`.
        fetched_files: names of files to read from the scratch directory when the program has ended.
            One that ends with a slash is a directory, fetched as `pack.pack` packs its files.
        toolchain: name of the `Tools` of the entries `tool` and `binary`.
    """

    payload: bytes
    stdin: bytes = b""
    stdin_name: str | None = None
    entry: str = "script"
    zygote_kind: ZygoteKind | None = None
    arguments: tuple[str, ...] = ()
    talks: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)
    fetched_files: tuple[str, ...] = ()
    toolchain: str = ""


class ExitReason(StrEnum):
    """How an execution ended: the first that applies. `exit_reason` decides."""

    CPU_LIMIT = "cpu_limit"
    WALL_LIMIT = "wall_limit"
    IDLE_LIMIT = "idle_limit"
    """Killed because it slept, or waited for what nobody sends."""
    OUTPUT_LIMIT = "output_limit"
    STOPPED = "stopped"
    """Killed because its partner in a pair had ended."""
    COMPILE_ERROR = "compile_error"
    """The source is not Python. The message is in stderr."""
    FORBIDDEN = "forbidden"
    """Killed by the system call filter."""
    MEMORY_LIMIT = "memory_limit"
    """Failed with memory near its limit. After one huge allocation, which the kernel refuses, the
    reason is EXITED."""
    SIGNALED = "signaled"
    """Killed by another signal."""
    EXITED = "exited"
    """Ended by itself, whatever its exit code."""


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The report on a program that has ended."""

    reason: ExitReason
    exit_code: int | None
    """None if a signal ended it."""
    signal: int | None
    """None if it ended with an exit code."""
    stdout: bytes
    """The first bytes of standard output, at most `Limits.output_bytes`."""
    stdout_bytes: int
    """Number of bytes written to standard output, until the end or until the limit ended it."""
    stderr: bytes
    """The first bytes of standard error, at most `Limits.output_bytes`."""
    stderr_bytes: int
    """Number of bytes written to standard error, until the end or until the limit ended it."""
    result: bytes
    """Bytes that an entry wrote to its result pipe; empty if it had none."""
    cpu_seconds: float
    """User and system time of all threads together."""
    wall_seconds: float
    """Time from the order to fork to the end."""
    peak_memory_bytes: int
    """Peak of the resident memory, that of the interpreter included."""
    layers: frozenset[Layer]
    """Layers that were in force."""
    waited_seconds: float = 0.0
    """Part of the wall time in which the main thread waited for a processor, or was stopped because
    it was others' turn."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The `Program.fetched_files` that exist, by name, together at most `Limits.file_bytes`."""

    @property
    def succeeded(self) -> bool:
        """Whether the program ended by itself with exit code 0."""
        return self.reason is ExitReason.EXITED and self.exit_code == 0

    @property
    def is_unexplained(self) -> bool:
        """Whether a kill of unknown origin ended it: the kernel, short of memory, or a person."""
        return self.reason is ExitReason.SIGNALED and self.signal == SIGKILL


@dataclass(frozen=True)
class Pair:
    """The reports on a program and its judge, which were connected."""

    program: Execution
    judge: Execution


class SandboxError(RuntimeError):
    """The sandbox failed, and not because of the program."""
