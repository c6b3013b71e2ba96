"""The filter's decisions on both architectures: its code is run here, one instruction at a time."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier_service.sandbox.probes import NUMBERS
from verifier_service.sandbox.seccomp import ARCHITECTURES, assemble
from verifier_service.sandbox.system_calls import (
    CALLS,
    CALLS_OF_LOOPBACK,
    CALLS_OF_NATIVE,
    CALLS_OF_RUNTIMES,
    SystemCall,
)

HEADERS = {
    "x86_64": "x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "asm-generic/unistd.h",  # one for all newer architectures
}
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
MACHINES = sorted(ARCHITECTURES)
SIGCHLD, SIGKILL = 17, 9
GLIBC_THREAD, MUSL_THREAD = 0x3D0F00, 0x7D0F00  # flags of clone in pthread_create
CLONE_FLAGS = {
    # name: value; those that a thread of the C library has
    "CLONE_VM": 0x100,
    "CLONE_FS": 0x200,
    "CLONE_FILES": 0x400,
    "CLONE_SIGHAND": 0x800,
    "CLONE_THREAD": 0x10000,
    "CLONE_SYSVSEM": 0x40000,
    "CLONE_SETTLS": 0x80000,
    "CLONE_PARENT_SETTID": 0x100000,
    "CLONE_CHILD_CLEARTID": 0x200000,
}
MMAP = (0, 4096, 3)
OWN_PID = 4242
GATE = 0x1234_89AB_CDEF


def code_for(machine: str, **permits: Any) -> bytes:
    """The filter with the pid and the gate filled in."""
    code, positions = assemble(machine, **permits)
    values = {0xFFFFFFFD: OWN_PID, 0xFFFFFFFE: GATE & 0xFFFFFFFF, 0xFFFFFFFF: GATE >> 32}
    image = bytearray(code)
    for position in positions:
        (blank,) = struct.unpack_from("<I", code, position * 8 + 4)
        struct.pack_into("<I", image, position * 8 + 4, values[blank])
    return bytes(image)


CODE = {
    **{(machine, ""): code_for(machine) for machine in MACHINES},
    **{(machine, "executes"): code_for(machine, executes=True) for machine in MACHINES},
    **{(machine, "connects"): code_for(machine, connects=True) for machine in MACHINES},
}


def decide(
    machine: str,
    number: int,
    *arguments: int,
    architecture: int | None = None,
    permits: str = "",
) -> int:
    """The value that the filter returns for a call."""
    architecture = ARCHITECTURES[machine] if architecture is None else architecture
    values = [argument & 2**64 - 1 for argument in arguments] + [0] * (6 - len(arguments))
    data = struct.pack("<IIQ6Q", number, architecture, 0, *values)
    position = accumulator = 0
    while True:
        code, if_true, if_false, k = struct.unpack_from(
            "<HBBI", CODE[machine, permits], position * 8
        )
        position += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, k)
            case 0x54:
                accumulator &= k
            case 0x05:
                position += k
            case 0x15:
                position += if_true if accumulator == k else if_false
            case 0x25:
                position += if_true if accumulator > k else if_false
            case 0x35:
                position += if_true if accumulator >= k else if_false
            case 0x06:
                return int(k)
            case _:
                pytest.fail(f"unknown instruction {code:#x}")


def number_of(machine: str, name: str) -> int:
    number = numbers(machine)[name]
    assert number is not None
    return number


def numbers(machine: str, calls: dict[str, SystemCall] = CALLS) -> dict[str, int | None]:
    return {name: getattr(call, machine) for name, call in calls.items()}


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_without_conditions_are_allowed_and_unknown_ones_refused(machine: str) -> None:
    names = {number: name for name, number in numbers(machine).items() if number is not None}
    assert len(names) == len([number for number in numbers(machine).values() if number is not None])
    for number in range(1000):
        name = names.get(number)
        if name is None:
            assert decide(machine, number) == REFUSE | errno.EPERM
        elif CALLS[name].permitted == ((),):
            assert decide(machine, number) == ALLOW
            assert decide(machine, number, *[2**64 - 1] * 6) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architecture_kills(machine: str) -> None:
    others = {*ARCHITECTURES.values(), 0x40000003, 0x40000028}
    for architecture in others - {ARCHITECTURES[machine]}:
        assert decide(machine, 0, architecture=architecture) == KILL


@given(st.integers(2**30, 2**32 - 1))
def test_every_x32_number_kills(number: int) -> None:
    assert decide("x86_64", number) == KILL


@given(st.sampled_from(MACHINES), st.integers(0, 2**64 - 1))
def test_nothing_but_a_thread_of_the_c_library_can_be_cloned(machine: str, flags: int) -> None:
    decision = decide(machine, number_of(machine, "clone"), flags)
    allowed = flags & 2**32 - 1 in (GLIBC_THREAD, MUSL_THREAD)
    assert decision == (ALLOW if allowed else REFUSE | errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("flags", [GLIBC_THREAD, MUSL_THREAD])
def test_a_thread_shares_everything_with_the_others(machine: str, flags: int) -> None:
    """A thread without CLONE_FILES, for one, has descriptors and a limit on them of its own."""
    number = number_of(machine, "clone")
    assert decide(machine, number, flags) == ALLOW
    for missing in CLONE_FLAGS.values():
        assert flags & missing
        assert decide(machine, number, flags & ~missing) == REFUSE | errno.EPERM
    for bit in range(32):
        more = flags | 1 << bit
        expected = ALLOW if more in (GLIBC_THREAD, MUSL_THREAD) else REFUSE | errno.EPERM
        assert decide(machine, number, more) == expected


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        ("clone", [(GLIBC_THREAD,)], [(SIGCHLD,), (0,), (0x100,)]),
        (
            "kill",
            [(OWN_PID, number) for number in range(65) if number != SIGKILL],
            [(OWN_PID, SIGKILL), *((pid, 15) for pid in (1, -1, 0, -OWN_PID))],
        ),
        ("tgkill", [(OWN_PID, 3, 6), (OWN_PID, 3, 0)], [(OWN_PID, 3, SIGKILL), (1, 1, 6)]),
        (
            "prlimit64",
            [(0, 7, 0, 1), (OWN_PID, 7, 0, 1)],
            [(0, 7, 1, 0), (0, 7, 2**32, 0), (1, 7, 0, 1)],
        ),
        (
            "socketpair",
            [(1, 1, 0), (1, 1 | 0o2000000, 0)],
            [(1, 2, 0), (2, 1, 0), (1, 5, 0), (1, 1, 1)],
        ),
        ("sendto", [(3, 1, 1, 0, 0)], [(3, 1, 1, 0, 1), (3, 1, 1, 0, 2**32)]),
        ("getsockopt", [(3, 1, 3)], [(3, 1, 17), (3, 1, 57), (3, 6, 3)]),  # PEERCRED, COOKIE
        ("setitimer", [(0,)], [(1,), (2,)]),
        ("close_range", [(3, 2**32 - 1, 0)], [(3, 2**32 - 1, 2), (3, 2**32 - 1, 4)]),
        ("ioctl", [(0, 0x5401)], [(0, 0x5412), (0, 0x541C)]),
        ("prctl", [(15,)], [(1,), (4,), (22,), (38,)]),
        ("clock_gettime", [(0,), (11,)], [(12,), (-6,)]),
        ("clock_getres", [(0,), (11,)], [(12,), (-6,)]),
        ("clock_nanosleep", [(0, 0), (1, 1)], [(12, 1), (-6, 1), (2, 0), (1, 2)]),
        ("sched_getaffinity", [(0,), (OWN_PID,)], [(1,)]),
        ("getpgid", [(0,), (OWN_PID,)], [(1,)]),
        ("getsid", [(0,), (OWN_PID,)], [(1,)]),
        # SO_TYPE and SO_ERROR; SO_PEERCRED, SO_PEERPIDFD, SO_COOKIE, and TCP_INFO.
        ("getsockopt", [(5, 1, 3), (5, 1, 4)], [(5, 1, 17), (5, 1, 77), (5, 1, 57), (5, 6, 11)]),
    ],
)
def test_the_rules_on_arguments(
    machine: str, name: str, allowed: list[tuple[int, ...]], refused: list[tuple[int, ...]]
) -> None:
    number = number_of(machine, name)
    for arguments in allowed:
        assert decide(machine, number, *arguments) == ALLOW, arguments
    for arguments in refused:
        assert decide(machine, number, *arguments) == REFUSE | errno.EPERM, arguments


OPERATIONS: dict[str, tuple[tuple[int, ...], set[int]]] = {
    # call: arguments before the operation, operations that are permitted
    "futex": ((0,), {op | option for op in (0, 1, 3, 9) for option in (0, 128, 256, 384)}),
    "madvise": ((0, 4096), {0, 1, 2, 3, 4, 8, 14, 15}),
    "fcntl": ((0,), {0, 1, 2, 3, 4, 1030, 1032}),
    "ioctl": ((0,), {0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451}),
    "prctl": ((), {15, 16}),
    "epoll_ctl": ((3,), {1, 2, 3}),
    "shutdown": ((3,), {0, 1, 2}),
    "setitimer": ((), {0}),
    "getitimer": ((), {0}),
    "getsockopt": ((3, 1), {3, 4, 38, 39}),
}
FLAGS: dict[str, tuple[tuple[int, ...], int]] = {
    # call: arguments before the flags, bits that are permitted on both architectures
    "mmap": (MMAP, 0x2D873),
    "mprotect": ((0, 4096), 0x01000017),
    "mremap": ((0, 4096, 8192), 0x1),
    "msync": ((0, 4096), 0x7),
    "recvfrom": ((3, 0, 1), 0x4162),
    "sendto": ((3, 0, 1), 0x4040),
    "pipe2": ((0,), 0o2004000),
    "dup3": ((0, 1), 0o2000000),
    "epoll_create1": ((), 0o2000000),
    "newfstatat": ((0, 0, 0), 0x1900),
    "statx": ((0, 0), 0x1900),
    "faccessat2": ((0, 0, 0), 0x1300),
    "unlinkat": ((0, 0), 0x200),
    "rseq": ((0, 32), 0x1),
    "getrandom": ((0, 8), 0x3),
}
OPEN_FLAGS = {
    # flag: value on x86-64, on aarch64, whether it is permitted
    "O_RDWR": (0o2, 0o2, True),
    "O_CREAT": (0o100, 0o100, True),
    "O_EXCL": (0o200, 0o200, True),
    "O_TRUNC": (0o1000, 0o1000, True),
    "O_APPEND": (0o2000, 0o2000, True),
    "O_NONBLOCK": (0o4000, 0o4000, True),
    "O_ASYNC": (0o20000, 0o20000, False),
    "O_DIRECT": (0o40000, 0o200000, False),
    "O_LARGEFILE": (0o100000, 0o400000, True),
    "O_DIRECTORY": (0o200000, 0o40000, True),
    "O_NOFOLLOW": (0o400000, 0o100000, True),
    "O_NOATIME": (0o1000000, 0o1000000, False),
    "O_CLOEXEC": (0o2000000, 0o2000000, True),
    "O_SYNC": (0o4010000, 0o4010000, True),
    "O_PATH": (0o10000000, 0o10000000, False),
    "O_TMPFILE": (0o20200000, 0o20040000, True),
}


def permits(machine: str, name: str, *arguments: int) -> bool:
    decision = decide(machine, number_of(machine, name), *arguments)
    assert decision in (ALLOW, REFUSE | errno.EPERM)
    return decision == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_only_the_operations_that_programs_need_are_permitted(machine: str, name: str) -> None:
    before, operations = OPERATIONS[name]
    candidates = {*range(1200), *range(0x5400, 0x5500), 0x8905, 2**31, 2**32 - 1, *operations}
    assert {it for it in candidates if permits(machine, name, *before, it)} == operations


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", FLAGS)
def test_only_the_flags_that_programs_need_are_permitted(machine: str, name: str) -> None:
    before, flags = FLAGS[name]
    assert permits(machine, name, *before, flags)
    for bit in range(32):
        expected = bool(flags >> bit & 1)
        assert permits(machine, name, *before, 1 << bit) is expected, hex(1 << bit)
        assert permits(machine, name, *before, flags | 1 << bit) is expected, hex(1 << bit)


@pytest.mark.parametrize("machine", MACHINES)
def test_pages_are_mapped_with_permitted_protections_only(machine: str) -> None:
    for bit in range(32):
        allowed = bool(0x01000017 >> bit & 1)
        assert permits(machine, "mmap", 0, 4096, 1 << bit, 0x22) is allowed


@pytest.mark.parametrize(
    ("name", "before"), [("open", (0,)), ("openat", (0, 0)), ("fcntl", (0, 4))]
)
@pytest.mark.parametrize("flag", OPEN_FLAGS)
def test_files_are_opened_without_direct_and_asynchronous_access(
    name: str, before: tuple[int, ...], flag: str
) -> None:
    """Packets in a pipe, which O_DIRECT makes, cost its reader a call for each."""
    *values, permitted = OPEN_FLAGS[flag]
    for machine, value in zip(("x86_64", "aarch64"), values, strict=True):
        if numbers(machine)[name] is not None:
            assert permits(machine, name, *before, value) is permitted
            assert permits(machine, name, *before, value | 0o4002) is permitted


def test_every_call_with_conditions_is_in_a_test_of_its_arguments() -> None:
    """A condition that nobody tries would not be missed."""
    marks = test_the_rules_on_arguments.pytestmark  # type: ignore[attr-defined]
    (tried,) = [mark.args[1] for mark in marks if mark.args[0] == ("name", "allowed", "refused")]
    tested = {name for name, _, _ in tried} | OPERATIONS.keys() | FLAGS.keys()
    tested |= {"open", "openat", "clone3", "readlink", "readlinkat"}
    assert {name for name, call in CALLS.items() if call.permitted != ((),)} == tested


def test_every_call_names_a_program_that_needs_it() -> None:
    rows = CALLS | CALLS_OF_NATIVE | CALLS_OF_LOOPBACK
    for calls in CALLS_OF_RUNTIMES.values():
        rows |= calls
    assert [name for name, call in rows.items() if len(call.needed_by) < 3] == []


@pytest.mark.parametrize(
    "name",
    [
        *("fadvise64", "sendfile", "splice", "vmsplice", "tee", "process_madvise", "mincore"),
        *("preadv2", "cachestat", "readahead", "sync_file_range", "remap_file_pages", "mlock"),
        *("recvmsg", "sendmsg", "sendmmsg", "setsockopt", "openat2", "tkill", "rt_sigqueueinfo"),
        *("rt_tgsigqueueinfo", "timer_create", "futex_waitv", "futex_requeue", "unshare"),
    ],
)
def test_calls_that_could_do_the_same_are_unknown(name: str) -> None:
    assert name not in CALLS | CALLS_OF_NATIVE


@pytest.mark.parametrize("machine", MACHINES)
def test_clone3_seems_not_to_exist(machine: str) -> None:
    assert decide(machine, number_of(machine, "clone3")) == REFUSE | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_no_path_seems_to_be_a_link(machine: str) -> None:
    found = [numbers(machine)[name] for name in ("readlink", "readlinkat")]
    assert any(found)
    for number in filter(None, found):
        assert decide(machine, number) == REFUSE | errno.EINVAL


@pytest.mark.parametrize("machine", MACHINES)
def test_an_exec_needs_the_filter_that_permits_it_and_the_secret(
    machine: str,
) -> None:
    number = numbers(machine, CALLS_OF_NATIVE)["execveat"]
    assert number is not None
    refused = REFUSE | errno.EPERM
    arguments = (-100, 1, 2, 3, 0)
    assert decide(machine, number, *arguments, GATE) == refused
    assert decide(machine, number, *arguments, GATE, permits="executes") == ALLOW
    for other in (GATE + 1, GATE - 2**32, GATE & 0xFFFFFFFF, GATE | 2**63, 0):
        assert decide(machine, number, *arguments, other, permits="executes") == refused
    assert decide(machine, number, *(GATE,) * 5, 0, permits="executes") == refused


def test_a_filter_that_permits_an_exec_permits_nothing_else_besides() -> None:
    for number in set(range(1000)) - set(numbers("x86_64", CALLS_OF_NATIVE).values()):
        arguments = (OWN_PID,) * 6
        assert decide("x86_64", number, *arguments, permits="executes") == decide(
            "x86_64", number, *arguments
        )


Arguments = list[tuple[int, ...]]
RULES_OF_RUNTIMES: dict[tuple[str, str], tuple[Arguments, Arguments, int]] = {
    # runtime, call: arguments that are permitted, others, and the error of those
    ("node", "eventfd2"): ([(0, 0o2004000)], [(0, 1)], errno.EPERM),
    ("ruby", "eventfd2"): ([(0, 0o2004000)], [(0, 1)], errno.EPERM),
    ("ruby", "timer_create"): ([], [(0,), (1,), (2**32 - 6,)], 0),
    ("ruby", "timer_settime"): ([], [(0, 0), (0, 1)], 0),
    ("ruby", "timer_delete"): ([], [(0,)], 0),
    ("go", "clone"): (
        [(0x50F00,), (0xD0F00,), (GLIBC_THREAD,)],
        [(SIGCHLD,), (0x50B00,), (0x50F00 | 0x10000000,), (0x40F00,)],
        errno.EPERM,
    ),
    ("rust", "getrandom"): ([(0, 1, 4)], [(0, 1, 8)], errno.EPERM),
    ("rustc", "getrandom"): ([(0, 1, 4)], [(0, 1, 8)], errno.EPERM),
    ("rustc", "fchmod"): ([], [(3, 0o777)], 0),
    ("rustc", "readlink"): ([(0,)], [], 0),
    ("rustc", "readlinkat"): ([(0,)], [], 0),
    ("rustc", "sched_getaffinity"): ([(0,), (OWN_PID,)], [(1,), (OWN_PID + 1,)], errno.ENOSYS),
    ("java", "sched_getaffinity"): ([(0,), (OWN_PID,)], [(1,), (OWN_PID + 1,)], errno.ENOSYS),
    ("mono", "sched_getaffinity"): ([(0,), (OWN_PID,)], [(1,), (OWN_PID + 1,)], errno.ENOSYS),
    ("ghc", "eventfd2"): ([(0, 0), (0, 0o2004000)], [(0, 1)], errno.EPERM),
    ("ghc", "epoll_create"): ([(256,)], [], 0),
    ("ghc", "clock_getres"): ([(1,), (3,)], [(2**32 - 6,), (2**32 - 14,)], 0),
    ("haskell", "timer_create"): ([(1,)], [(0,), (2,), (3,), (2**32 - 6,)], errno.EPERM),
    ("haskell", "timer_settime"): ([(0, 0)], [(0, 1)], errno.EPERM),
    ("haskell", "timer_delete"): ([(0,)], [], 0),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("runtime", sorted(CALLS_OF_RUNTIMES))
def test_a_runtime_has_its_own_calls_and_no_others(machine: str, runtime: str) -> None:
    calls = CALLS_OF_RUNTIMES[runtime]
    assert {name for one, name in RULES_OF_RUNTIMES if one == runtime} == calls.keys()
    key = (machine, runtime)
    CODE[key] = code_for(machine, executes=True, runtime_calls=runtime)
    for name, number in numbers(machine, calls).items():
        if number is None:
            continue
        allowed, refused, error = RULES_OF_RUNTIMES[runtime, name]
        for arguments in allowed:
            assert decide(machine, number, *arguments, permits=runtime) == ALLOW
        for arguments in refused:
            assert decide(machine, number, *arguments, permits=runtime) == REFUSE | error
    for number in set(range(1000)) - set(numbers(machine, calls).values()):
        arguments = (OWN_PID,) * 6
        found = decide(machine, number, *arguments, permits=runtime)
        assert found == decide(machine, number, *arguments, permits="executes")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        # TCP over IPv4 and IPv6; no datagrams, Unix, netlink, raw sockets, MPTCP or SCTP.
        (
            "socket",
            [(2, 1, 0), (10, 1 | 0o2004000, 6)],
            [(2, 2, 0), (1, 1, 0), (16, 3, 0), (2, 3, 6), (2, 1, 262), (10, 1, 132)],
        ),
        # SO_REUSEADDR and TCP_NODELAY; no buffer sizes, TCP_ULP, TCP_REPAIR or SO_PASSCRED.
        (
            "setsockopt",
            [(3, 1, 2), (3, 6, 1)],
            [(3, 1, 7), (3, 1, 8), (3, 6, 31), (3, 6, 19), (3, 1, 16)],
        ),
        ("getsockopt", [(3, 1, 4), (3, 6, 1)], [(3, 1, 17), (3, 1, 77), (3, 6, 11)]),
        ("bind", [(3, 0, 16), (3, 0, 28)], [(3, 0, 2), (3, 0, 110)]),
        ("connect", [(3, 0, 16), (3, 0, 28)], [(3, 0, 2), (3, 0, 110)]),
        ("sendto", [(3, 1, 1, 0, 0)], [(3, 1, 1, 0, 1)]),
    ],
)
def test_a_filter_that_permits_tcp_permits_nothing_else(
    machine: str, name: str, allowed: list[tuple[int, ...]], refused: list[tuple[int, ...]]
) -> None:
    number = numbers(machine, {**CALLS, **CALLS_OF_LOOPBACK})[name]
    assert number is not None
    for arguments in allowed:
        assert decide(machine, number, *arguments, permits="connects") == ALLOW, arguments
    for arguments in refused:
        found = decide(machine, number, *arguments, permits="connects")
        assert found == REFUSE | errno.EPERM, arguments
    if name not in CALLS:
        assert all(decide(machine, number, *it) == REFUSE | errno.EPERM for it in allowed)


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    """No test here runs on another architecture, where a wrong number permits another call."""
    header = Path("/usr/include", HEADERS[machine])
    if not header.exists():
        pytest.skip(f"{header} is missing: on Debian and Ubuntu, apt install linux-libc-dev")
    text = header.read_text()
    known = {
        name: int(number) for name, number in re.findall(r"#define __NR_(\w+)[ \t]+(\d+)", text)
    }
    # #define __NR3264_fstatat 79    #define __NR_newfstatat __NR3264_fstatat
    shared = dict(re.findall(r"#define __NR3264_(\w+)[ \t]+(\d+)", text))
    for name, other in re.findall(r"#define __NR_(\w+)[ \t]+__NR3264_(\w+)", text):
        if other in shared:
            known.setdefault(name, int(shared[other]))
    tables = [CALLS, CALLS_OF_NATIVE, CALLS_OF_LOOPBACK, *CALLS_OF_RUNTIMES.values()]
    for calls in tables:
        for name, number in numbers(machine, calls).items():
            assert number == known.get(name), name
    for name, both in NUMBERS.items():
        assert both[("x86_64", "aarch64").index(machine)] == known[name], name


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises(OSError, match="no system call table for mips"):
        assemble("mips")
