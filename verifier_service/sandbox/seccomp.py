"""The system call filter: which calls an execution may make, and the BPF program that says so.

Isolation is data here: `NUMBERS` lists every known call, `RULES` the conditions on some of them. A
call in `NUMBERS` without rules is allowed. Every other call is refused with EPERM, and a call
through another architecture's table kills. See seccomp(2) and the kernel's
Documentation/userspace-api/seccomp_filter.rst.

The BPF program is assembled once. Two values that rules compare with are filled in for each child:
its pid, and the address at which the path of the one exec must lie.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct
from dataclasses import dataclass

NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "futex": (202, 98),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "openat": (257, 56),
    "open": (2, None),
    "stat": (4, None),
    "lstat": (6, None),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "getdents64": (217, 61),
    "getdents": (78, None),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "preadv": (295, 69),
    "pwritev": (296, 70),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "close_range": (436, 436),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "epoll_create": (213, None),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "eventfd2": (290, 19),
    "sendfile": (40, 71),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "ftruncate": (77, 46),
    "fadvise64": (221, 223),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "umask": (95, 166),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getppid": (110, 173),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getgroups": (115, 158),
    "getpgrp": (111, None),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "times": (100, 153),
    "time": (201, None),
    "gettimeofday": (96, 169),
    "clock_getres": (229, 114),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "alarm": (37, None),
    "pause": (34, None),
    "setitimer": (38, 103),
    "getitimer": (36, 102),
    "sigaltstack": (131, 132),
    "rt_sigpending": (127, 136),
    "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137),
    "sched_yield": (24, 124),
    "getcpu": (309, 168),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "rseq": (334, 293),
    "restart_syscall": (219, 128),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "recvfrom": (45, 207),
    "getsockname": (51, 204),
    "getpeername": (52, 205),
    "getsockopt": (55, 209),
    "shutdown": (48, 210),
    "getrlimit": (97, 163),
    "msync": (26, 227),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "fstatfs": (138, 44),
    "clone": (56, 220),
    "clone3": (435, 435),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "prctl": (157, 167),
    "ioctl": (16, 29),
    "fcntl": (72, 25),
    "socketpair": (53, 199),
    "sendto": (44, 206),
    "prlimit64": (302, 261),
    "sched_getaffinity": (204, 123),
    "clock_gettime": (228, 113),
    "getpgid": (121, 155),
    "getsid": (124, 156),
}
"""Numbers on x86-64 and aarch64; None where the architecture has no such call."""


@dataclass(frozen=True)
class Is:
    """The low 32 bits of an argument have this value. Enough for types of 32 bits."""

    argument: int
    value: int


@dataclass(frozen=True)
class Masked:
    """The low 32 bits of an argument have this value under a mask."""

    argument: int
    mask: int
    value: int


@dataclass(frozen=True)
class AtMost:
    """The low 32 bits of an argument, as an unsigned number, are not above a value."""

    argument: int
    value: int


@dataclass(frozen=True)
class IsNull:
    """All 64 bits of an argument are 0."""

    argument: int


@dataclass(frozen=True)
class IsOwnPid:
    """The argument is the pid of the process itself."""

    argument: int


@dataclass(frozen=True)
class IsGate:
    """All 64 bits of an argument are the address that the child has chosen, see `gate.Gate`."""

    argument: int


Condition = Is | Masked | AtMost | IsNull | IsOwnPid | IsGate

_CLONE_THREAD = 0x10000
_CLONE_REFUSED = 0x7E02F0FF | 0x80000000
"""Flags of clone(2) that are refused: exit signals, pidfd, ptrace, vfork, parent, namespaces."""
_THREAD_FLAGS = Masked(0, _CLONE_THREAD | _CLONE_REFUSED, _CLONE_THREAD)
_PRCTL = (15, 16)  # PR_SET_NAME, PR_GET_NAME
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
_FCNTL = (0, 1, 2, 3, 4, 1030, 1032)
# DUPFD, GETFD, SETFD, GETFL, SETFL, DUPFD_CLOEXEC, GETPIPE_SZ. No locks: one on a file of the
# standard library, which every execution can open, is a signal to the others.
_LAST_STATIC_CLOCK = 11
_SOCK_STREAM = 1
_TYPE_MASK = 0xF
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_TCP = 6
_SOCKET_OPTIONS = (*((1, option) for option in (2, 3, 4, 7, 8, 9, 13, 15, 20, 21, 30, 38, 39)),)
# Level SOL_SOCKET: REUSEADDR, TYPE, ERROR, SNDBUF, RCVBUF, KEEPALIVE, LINGER, REUSEPORT, RCVTIMEO,
# SNDTIMEO, ACCEPTCONN, PROTOCOL, DOMAIN. None of those that name the process at the other end.
_ADDRESS_SIZES = (16, 28)
# Of IPv4 and IPv6. A filter cannot read an address, and the end of a Unix pair has names too.
_SET_SOCKET_OPTIONS = (
    *((1, option) for option in (2, 9, 13, 15, 20, 21)),
    *((_TCP, option) for option in (1, 4, 5, 6)),
    (41, 26),
)
# REUSEADDR, KEEPALIVE, LINGER, REUSEPORT, RCVTIMEO, SNDTIMEO; TCP_NODELAY, KEEPIDLE, KEEPINTVL,
# KEEPCNT; IPV6_V6ONLY. Not the sizes of buffers, which `loopback` bounds.
_ARCH_SET_FS = 0x1002

RULES: dict[str, tuple[tuple[Condition, ...], ...]] = {
    "clone": ((_THREAD_FLAGS,),),
    "clone3": (),
    "kill": ((IsOwnPid(0),),),
    "tgkill": ((IsOwnPid(0),),),
    "getpgid": ((Is(0, 0),), (IsOwnPid(0),)),
    "getsid": ((Is(0, 0),), (IsOwnPid(0),)),
    "sched_getaffinity": ((Is(0, 0),), (IsOwnPid(0),)),
    "prlimit64": (
        (Is(0, 0), IsNull(2)),
        (IsOwnPid(0), IsNull(2)),
        (Is(0, 0), Is(1, resource.RLIMIT_STACK)),
    ),
    "prctl": tuple((Is(0, option),) for option in _PRCTL),
    "ioctl": tuple((Is(1, command),) for command in _IOCTL),
    "fcntl": tuple((Is(1, command),) for command in _FCNTL),
    # Clocks of other processes have negative numbers. Any use of one tells whether its process
    # exists.
    "clock_gettime": ((AtMost(0, _LAST_STATIC_CLOCK),),),
    "clock_getres": ((AtMost(0, _LAST_STATIC_CLOCK),),),
    "clock_nanosleep": ((AtMost(0, _LAST_STATIC_CLOCK),),),
    "getsockopt": tuple((Is(1, level), Is(2, option)) for level, option in _SOCKET_OPTIONS),
    # Targets of links in /proc tell of files and processes outside.
    "readlink": (),
    "readlinkat": (),
    "socketpair": ((Is(0, _AF_UNIX), Masked(1, _TYPE_MASK, _SOCK_STREAM)),),
    "sendto": ((IsNull(4),),),
}
"""Alternatives for each call. A call is allowed if all conditions of one alternative hold."""

EXEC_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "execveat": (322, 281),
    "arch_prctl": (158, None),
}
EXEC_RULES: dict[str, tuple[tuple[Condition, ...], ...]] = {
    "execveat": ((IsGate(1),),),
    "arch_prctl": ((Is(0, _ARCH_SET_FS),),),
}
"""Additional rules in a zygote of the kind `native`: starting a program, and the call that the C
library makes when that program starts."""

LOOPBACK_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "bind": (49, 200),
    "listen": (50, 201),
    "connect": (42, 203),
    "accept": (43, 202),
    "accept4": (288, 242),
    "setsockopt": (54, 208),
}
LOOPBACK_RULES: dict[str, tuple[tuple[Condition, ...], ...]] = {
    "socket": tuple(
        (Is(0, family), Masked(1, _TYPE_MASK, _SOCK_STREAM), Is(2, protocol))
        for family in (_AF_INET, _AF_INET6)
        for protocol in (0, _TCP)
    ),
    "bind": tuple((Is(2, size),) for size in _ADDRESS_SIZES),
    "connect": tuple((Is(2, size),) for size in _ADDRESS_SIZES),
    "setsockopt": tuple((Is(1, level), Is(2, option)) for level, option in _SET_SOCKET_OPTIONS),
    "getsockopt": tuple(
        (Is(1, level), Is(2, option))
        for level, option in sorted({*_SOCKET_OPTIONS, *_SET_SOCKET_OPTIONS})
    ),
}
"""Additional rules where executions have networks of their own, see `loopback`."""

REFUSALS = {"clone3": errno.ENOSYS, "readlink": errno.EINVAL, "readlinkat": errno.EINVAL}
"""Errors other than EPERM. The C library tries clone3 first; with ENOSYS it falls back to clone,
with EPERM it would start no thread. EINVAL says that a path is no link: the C library's realpath
asks so about every part of a path, and goes on."""

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of `NUMBERS` and the kernel's number of the architecture, for each machine."""
_X32_BIT = 0x40000000

_LOAD, _AND, _RETURN, _JUMP = 0x20, 0x54, 0x06, 0x05
_IF_EQUAL, _IF_ABOVE, _IF_AT_LEAST = 0x15, 0x25, 0x35
_KILL_PROCESS, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_NR_OFFSET, _ARCH_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_INSTRUCTION = struct.Struct("=HBBI")
_VALUE_OFFSET = 4
_OWN_PID, _GATE_LOW, _GATE_HIGH = range(0xFFFFFFFD, 0x100000000)
"""Values in the code that are replaced in each child."""

_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2

Instruction = tuple[int, int, int, int]
Segment = tuple[int, list[Instruction], list[int]]
"""First number of a range, the code for the range, and the positions in it to fill in."""

_REFUSE: list[Instruction] = [(_RETURN, 0, 0, _ERRNO | errno.EPERM)]


class _SockFprog(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


class Filter:
    """An assembled filter, ready to be installed in a child.

    Args:
        executes: whether it permits one exec, of a path at the address of a gate.
        connects: whether it permits TCP, which another filter has to confine.
    """

    def __init__(self, *, executes: bool = False, connects: bool = False) -> None:
        code, positions = assemble(platform.machine(), executes=executes, connects=connects)
        self._image = ctypes.create_string_buffer(code, len(code))
        offsets = [position * _INSTRUCTION.size + _VALUE_OFFSET for position in positions]
        self._blanks = [(offset, *struct.unpack_from("=I", code, offset)) for offset in offsets]
        num_instructions = len(code) // _INSTRUCTION.size
        self._program = _SockFprog(num_instructions, ctypes.addressof(self._image))
        self._prctl = ctypes.CDLL(None, use_errno=True).prctl
        self._arguments = (
            ctypes.c_int(_PR_SET_SECCOMP),
            ctypes.c_ulong(_SECCOMP_MODE_FILTER),
            ctypes.byref(self._program),
        )

    def install(self, gate: int = 0) -> None:
        """Confine this process, which must have no_new_privs. Raises OSError.

        Args:
            gate: the address at which the path of the one exec must lie.
        """
        values = {
            _OWN_PID: os.getpid(),
            _GATE_LOW: gate & 0xFFFFFFFF,
            _GATE_HIGH: gate >> 32,
        }
        for offset, blank in self._blanks:
            struct.pack_into("=I", self._image, offset, values[blank])
        if self._prctl(*self._arguments) != 0:
            error = ctypes.get_errno()
            raise OSError(error, f"seccomp: {os.strerror(error)}")


def assemble(
    machine: str, *, executes: bool = False, connects: bool = False
) -> tuple[bytes, list[int]]:
    """The BPF program for a machine, and the positions of instructions with values to fill in.

    Args:
        machine: as `platform.machine` names it.
        executes: whether it permits one exec, of a path at the address of a gate.
        connects: whether it permits TCP.

    Raises:
        OSError: there is no table for this machine.
    """
    if machine not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise OSError(errno.ENOSYS, f"no system call table for {machine}; there are {known}")
    numbers_of, rules = NUMBERS, RULES
    if executes:
        numbers_of, rules = {**NUMBERS, **EXEC_NUMBERS}, {**RULES, **EXEC_RULES}
    if connects:
        numbers_of, rules = {**numbers_of, **LOOPBACK_NUMBERS}, {**rules, **LOOPBACK_RULES}
    column, architecture = ARCHITECTURES[machine]
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH_OFFSET),
        (_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NR_OFFSET),
    ]
    if machine == "x86_64":
        code += [(_IF_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL_PROCESS)]
    segments: list[Segment] = [(0, _REFUSE, [])]
    numbers = {name: both[column] for name, both in numbers_of.items()}
    present = [(number, name) for name, number in numbers.items() if number is not None]
    for number, name in sorted(present):
        block, positions = _block(name, rules.get(name))
        segments += [(number, block, positions), (number + 1, _REFUSE, [])]
    tree, positions = _tree(_merged(segments))
    image = b"".join(_INSTRUCTION.pack(*instruction) for instruction in code + tree)
    return image, [len(code) + position for position in positions]


def _merged(segments: list[Segment]) -> list[Segment]:
    """The segments without those of no number; neighbours with the same code become one."""
    merged: list[Segment] = []
    for segment, following in zip(segments, [*segments[1:], None], strict=True):
        is_empty = following is not None and following[0] == segment[0]
        if not is_empty and not (merged and merged[-1][1] == segment[1]):
            merged.append(segment)
    return merged


def _tree(segments: list[Segment]) -> tuple[list[Instruction], list[int]]:
    """Code that finds the segment of a number by bisection.

    Bisection, because depth counts: the kernel runs the code once for every call number when it
    installs the filter, so a chain of comparisons would make every start slower.
    """
    if len(segments) == 1:
        return segments[0][1], segments[0][2]
    middle = len(segments) // 2
    low, low_positions = _tree(segments[:middle])
    high, high_positions = _tree(segments[middle:])
    # A comparison jumps over at most 255 instructions, _JUMP over any number.
    head = [(_IF_AT_LEAST, 0, 1, segments[middle][0]), (_JUMP, 0, 0, len(low))]
    return head + low + high, [
        *(len(head) + position for position in low_positions),
        *(len(head) + len(low) + position for position in high_positions),
    ]


def _block(
    name: str, rules: tuple[tuple[Condition, ...], ...] | None
) -> tuple[list[Instruction], list[int]]:
    """The code for one call, and the positions in it to fill in."""
    if rules is None:
        return [(_RETURN, 0, 0, _ALLOW)], []
    block: list[Instruction] = []
    positions: list[int] = []
    for alternative in rules:
        checks = [check for condition in alternative for check in _checks(condition)]
        end = len(checks)
        for index, (operation, if_true, value) in enumerate(checks):
            if operation in (_LOAD, _AND):
                block.append((operation, 0, 0, value))
            else:
                if value in (_OWN_PID, _GATE_LOW, _GATE_HIGH):
                    positions.append(len(block))
                failed = end - index  # over the RETURN, to the next alternative
                jumps = (0, failed) if if_true else (failed, 0)
                block.append((operation, *jumps, value))
        block.append((_RETURN, 0, 0, _ALLOW))
    block.append((_RETURN, 0, 0, _ERRNO | REFUSALS.get(name, errno.EPERM)))
    return block, positions


def _checks(condition: Condition) -> list[tuple[int, bool, int]]:
    """Operations of a condition: code, whether a comparison must hold, and value."""
    low = _ARGUMENTS_OFFSET + 8 * condition.argument
    match condition:
        case Is(_, value):
            return [(_LOAD, True, low), (_IF_EQUAL, True, value)]
        case IsOwnPid():
            return [(_LOAD, True, low), (_IF_EQUAL, True, _OWN_PID)]
        case IsGate():
            return [
                *((_LOAD, True, low), (_IF_EQUAL, True, _GATE_LOW)),
                *((_LOAD, True, low + 4), (_IF_EQUAL, True, _GATE_HIGH)),
            ]
        case Masked(_, mask, value):
            return [(_LOAD, True, low), (_AND, True, mask), (_IF_EQUAL, True, value)]
        case AtMost(_, value):
            return [(_LOAD, True, low), (_IF_ABOVE, False, value)]
        case IsNull():
            return [
                *((_LOAD, True, low), (_IF_EQUAL, True, 0)),
                *((_LOAD, True, low + 4), (_IF_EQUAL, True, 0)),
            ]
