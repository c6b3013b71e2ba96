"""The program that `doctor` runs in the sandbox: operations that must be refused.

It is run as a script, in a child, and prints one line of JSON: the outcome of each operation.
Every operation is harmless where it is allowed: signal 0 is sent, files have no name, pointers are
null. Its outcome is "denied" if the kernel refuses, and "allowed" if the kernel got as far as
looking at its arguments.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import resource
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

DENIED, ALLOWED = "denied", "allowed"
REFUSALS = (
    *(errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS),
    *(errno.ENOENT, errno.EAFNOSUPPORT),  # it does not exist here
)
X86_64 = platform.machine() == "x86_64"
NO_SUCH_PID = 2**22 + 1
SO_PEERPIDFD = 77

libc = ctypes.CDLL(None, use_errno=True)

NUMBERS = {
    # name: (x86-64, aarch64)
    "clone": (56, 220),
    "clone3": (435, 435),
    "execve": (59, 221),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "mq_open": (240, 180),
    "pidfd_open": (434, 434),
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "inotify_init1": (294, 26),
    "unshare": (272, 97),
    "mount": (165, 40),
    "setxattr": (188, 5),
    "personality": (135, 92),
    "fchmodat": (268, 53),
    "utimensat": (280, 88),
    "kcmp": (312, 272),
    "clock_nanosleep": (230, 115),
    "fadvise64": (221, 223),
    "madvise": (28, 233),
    "sendto": (44, 206),
    "recvfrom": (45, 207),
    "futex": (202, 98),
    "close_range": (436, 436),
}
_MADV_MERGEABLE, _MADV_COLD, _MADV_PAGEOUT = 12, 20, 21
_MSG_OOB = 1
_FUTEX_LOCK_PI, _FUTEX_WAIT_REQUEUE_PI = 6, 11
_CLONE_FILES, _CLONE_SIGHAND, _CLONE_OF_A_THREAD = 0x400, 0x800, 0x3D0F00
_CLOSE_RANGE_UNSHARE = 2
_NO_DESCRIPTOR = 0xFFFFFFFF


def call(name: str, *arguments: int | bytes | None) -> None:
    """Make a system call; raises OSError if it fails."""
    number = NUMBERS[name][0 if X86_64 else 1]
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if libc.syscall(ctypes.c_long(number), *converted) == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def fork() -> None:
    """Make a child that ends at once."""
    if os.fork() == 0:
        os._exit(0)
    os.wait()


def outside_clone() -> None:
    """Make a child by the system call itself."""
    # Without CLONE_VM and CLONE_THREAD this is fork(); the exit signal of the child is 0.
    pid = libc.syscall(ctypes.c_long(NUMBERS["clone"][0 if X86_64 else 1]), 0, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "clone")


def open_socket(family: int, kind: int) -> Callable[[], None]:
    """An operation that opens and closes a socket."""
    return lambda: socket.socket(family, kind).close()


def read_file(path: str) -> Callable[[], None]:
    """An operation that opens a file for reading."""
    return lambda: os.close(os.open(path, os.O_RDONLY))


def write_nameless_file(directory: str) -> Callable[[], None]:
    """An operation that creates a file which has no name and ends with its descriptor."""
    return lambda: os.close(os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600))


def raise_own_limit() -> None:
    """Set a limit to the value that it has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def direct_signals_at_parent() -> None:
    """Ask the kernel to signal the parent when a pipe becomes readable, which it never does."""
    reading, writing = os.pipe()
    try:
        fcntl.fcntl(reading, fcntl.F_SETOWN, os.getppid())
    finally:
        os.close(reading)
        os.close(writing)


def change_death_signal() -> None:
    """Set the signal at the end of the parent to the one that it is."""
    if libc.prctl(1, 9, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def make_a_pipe_of_packets() -> None:
    """Make a pipe that keeps each write apart, then close it."""
    for descriptor in os.pipe2(os.O_DIRECT):
        os.close(descriptor)


def turn_a_pipe_into_packets() -> None:
    """Have an own pipe keep each write apart."""
    reading, writing = os.pipe()
    try:
        fcntl.fcntl(writing, fcntl.F_SETFL, os.O_DIRECT)
    finally:
        os.close(reading)
        os.close(writing)


def clone_without_shared_descriptors() -> None:
    """Ask for a thread with descriptors of its own, which the kernel could not make.

    A thread must share the handlers of signals.
    """
    flags = _CLONE_OF_A_THREAD & ~_CLONE_FILES & ~_CLONE_SIGHAND
    call("clone", flags, None, None, None, None)


def clock_of_parent() -> int:
    """The number of the clock that counts the parent's CPU time, see clock_getcpuclockid(3)."""
    return ~os.getppid() << 3 | 2


def use_inherited_descriptor() -> None:
    """Use a descriptor that the zygote or the service left open."""
    for descriptor in range(3, 64):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        return
    raise OSError(errno.EPERM, "none")


def read_arguments_of_zygote() -> None:
    """Look for the zygote's configuration in the arguments that its process was started with."""
    count, values = ctypes.c_int(), ctypes.POINTER(ctypes.c_wchar_p)()
    ctypes.pythonapi.Py_GetArgcArgv(ctypes.byref(count), ctypes.byref(values))
    arguments = [*sys.orig_argv, *(values[index] or "" for index in range(count.value))]
    if not any("{" in argument or "verifier-sandbox" in argument for argument in arguments):
        raise OSError(errno.EPERM, "it is not there")


def name_other_end(option: int) -> Callable[[], None]:
    """An operation that asks which process made a socket: the credentials, or a pidfd."""

    def ask() -> None:
        one, other = socket.socketpair()
        with one, other:
            one.getsockopt(socket.SOL_SOCKET, option, 12)

    return ask


def read_link() -> None:
    """Read the target of a link that the kernel makes for this process."""
    try:
        os.readlink("/proc/self/exe")
    except OSError as error:
        # The filter says that nothing is a link.
        raise PermissionError(errno.EPERM, str(error)) from error


FORBIDDEN: dict[str, Callable[[], object]] = {
    "read /etc/passwd": read_file("/etc/passwd"),
    "list the root directory": lambda: os.listdir("/"),
    "read the environment of pid 1": read_file("/proc/1/environ"),
    "read the environment of the parent": lambda: read_file(f"/proc/{os.getppid()}/environ")(),
    "list processes": lambda: os.listdir("/proc"),
    "create a file in /tmp": write_nameless_file("/tmp"),
    "create a file in /dev/shm": write_nameless_file("/dev/shm"),
    "create a file in the working directory": write_nameless_file("."),
    "fork": fork,
    "clone": outside_clone,
    "clone3": lambda: call("clone3", None, 0),
    "execve": lambda: call("execve", None, None, None),
    "open a datagram socket": open_socket(socket.AF_INET, socket.SOCK_DGRAM),
    "open a unix socket": open_socket(socket.AF_UNIX, socket.SOCK_DGRAM),
    "open a netlink socket": open_socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "read the zygote's configuration": read_arguments_of_zygote,
    "ask for the credentials of a socket's maker": name_other_end(socket.SO_PEERCRED),
    "ask for the pidfd of a socket's maker": name_other_end(SO_PEERPIDFD),
    "read the target of a link": read_link,
    "see which processes exist": lambda: os.stat("/proc/1"),
    "signal the parent": lambda: os.kill(os.getppid(), 0),
    "signal every process": lambda: os.kill(-1, 0),
    "open a pidfd": lambda: call("pidfd_open", os.getpid(), 0),
    "direct signals at the parent": direct_signals_at_parent,
    "ptrace": lambda: call("ptrace", -1, NO_SUCH_PID, None, None),
    "read another process": lambda: call("process_vm_readv", NO_SUCH_PID, None, 0, None, 0, 0),
    "compare processes": lambda: call("kcmp", NO_SUCH_PID, NO_SUCH_PID, 0, 0, 0),
    "raise its own limits": raise_own_limit,
    "see the limits of others": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU),
    "see the resolution of another's clock": lambda: time.clock_getres(clock_of_parent()),
    "wait for another's clock": lambda: call("clock_nanosleep", clock_of_parent(), 1, None, None),
    "become root": lambda: os.setresuid(0, 0, 0),
    "outlive its parent": change_death_signal,
    "make a user namespace": lambda: call("unshare", 0x10000000),
    "mount": lambda: call("mount", None, None, None, 0, None),
    "create a memory file": lambda: call("memfd_create", None, 0),
    "create shared memory": lambda: call("shmget", 0, -1, 0),
    "open a message queue": lambda: call("mq_open", None, 0, 0, None),
    "io_uring": lambda: call("io_uring_setup", 0, None),
    "bpf": lambda: call("bpf", -1, None, 0),
    "perf_event_open": lambda: call("perf_event_open", None, 0, -1, -1, 0),
    "userfaultfd": lambda: call("userfaultfd", -1),
    "keyctl": lambda: call("keyctl", -1, 0, 0, 0, 0),
    "inotify": lambda: call("inotify_init1", -1),
    "change the personality": lambda: call("personality", 0xFFFFFFFF),
    "change a file's mode": lambda: call("fchmodat", -1, None, 0),
    "change a file's times": lambda: call("utimensat", -1, None, None, 0),
    "set an extended attribute": lambda: call("setxattr", None, None, None, 0, 0),
    "use an inherited descriptor": use_inherited_descriptor,
    "evict a file from the page cache": lambda: call("fadvise64", -1, 0, 0, 4),
    "page out memory": lambda: call("madvise", None, 0, _MADV_PAGEOUT),
    "make memory cold": lambda: call("madvise", None, 0, _MADV_COLD),
    "merge memory with others": lambda: call("madvise", None, 0, _MADV_MERGEABLE),
    "send out-of-band data": lambda: call("sendto", -1, None, 0, _MSG_OOB, None, 0),
    "receive out-of-band data": lambda: call("recvfrom", -1, None, 0, _MSG_OOB, None, None),
    "lock a futex with priority inheritance": lambda: call("futex", None, _FUTEX_LOCK_PI),
    "wait for a lock with priority inheritance": lambda: call(
        "futex", None, _FUTEX_WAIT_REQUEUE_PI
    ),
    "start a thread with its own descriptors": clone_without_shared_descriptors,
    "stop sharing descriptors": lambda: call(
        "close_range", _NO_DESCRIPTOR, _NO_DESCRIPTOR, _CLOSE_RANGE_UNSHARE
    ),
    "make a pipe of packets": make_a_pipe_of_packets,
    "turn a pipe into packets": turn_a_pipe_into_packets,
}


NEEDS_ROOT = frozenset({"see which processes exist"})
"""Operations that only a private root refuses."""


def import_standard_module() -> bool:
    """Import a module that the zygote has not imported."""
    import colorsys  # noqa: PLC0415  importing it now is the test

    return colorsys.rgb_to_hsv(1, 1, 1) == (0, 0, 1)


def run_thread() -> bool:
    """Start a thread and wait for it."""
    done: list[int] = []
    thread = threading.Thread(target=done.append, args=[1])
    thread.start()
    thread.join()
    return done == [1]


def allocate() -> bool:
    """Use memory within the limit."""
    return len(bytearray(2**25)) == 2**25


def give_memory_back() -> bool:
    """Free memory as the C library does, and find it empty."""
    with mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory[0] = 1
        memory.madvise(mmap.MADV_DONTNEED)
        return memory[0] == 0


def signal_itself() -> bool:
    """Send itself the signal that does nothing."""
    os.kill(os.getpid(), 0)
    return True


def connect_to_itself() -> bool:
    """Send bytes through a pair of sockets, as asyncio does."""
    one, other = socket.socketpair()
    with one, other:
        one.send(b"x")
        return other.recv(1) == b"x"


BENIGN: dict[str, Callable[[], bool]] = {
    "read standard input": lambda: sys.stdin.read() == "input",
    "import a standard module": import_standard_module,
    "run a thread": run_thread,
    "use 32 MiB of memory": allocate,
    "give memory back": give_memory_back,
    "read random bytes": lambda: len(os.urandom(8)) == 8,
    "signal itself": signal_itself,
    "use a pair of sockets": connect_to_itself,
}


def attempt(operation: Callable[[], Any]) -> str:
    """The outcome of a forbidden operation."""
    try:
        operation()
    except OSError as error:
        return DENIED if error.errno in REFUSALS else f"{ALLOWED}: {error}"
    except ValueError as error:  # how setrlimit(2) and prlimit(2) are refused in Python
        return DENIED if "not allowed" in str(error) else f"{ALLOWED}: {error}"
    return ALLOWED


def main() -> None:
    """Print the outcome of each operation."""
    report = {
        "forbidden": {name: attempt(operation) for name, operation in FORBIDDEN.items()},
        "benign": {name: operation() for name, operation in BENIGN.items()},
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
