"""The filter's decisions on both architectures: its code is run here, one instruction at a time."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier_service.sandbox.seccomp import (
    ARCHITECTURES,
    EXEC_NUMBERS,
    LOOPBACK_NUMBERS,
    NUMBERS,
    REFUSALS,
    RULES,
    assemble,
)

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
MACHINES = sorted(ARCHITECTURES)
CLONE_VM, CLONE_THREAD, CLONE_NEWUSER, SIGCHLD = 0x100, 0x10000, 0x10000000, 17
THREAD_FLAGS = 0x3D0F00  # what glibc passes for pthread_create
OWN_PID = 4242
GATE = 0x1234_89AB_CDEF


def code_for(machine: str, **permits: bool) -> bytes:
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
    architecture = ARCHITECTURES[machine][1] if architecture is None else architecture
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
    number = NUMBERS[name][ARCHITECTURES[machine][0]]
    assert number is not None
    return number


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_without_rules_are_allowed_and_unknown_ones_refused(machine: str) -> None:
    column = ARCHITECTURES[machine][0]
    names = {numbers[column]: name for name, numbers in NUMBERS.items()}
    for number in range(1000):
        name = names.get(number)
        if name is None:
            assert decide(machine, number) == REFUSE | errno.EPERM
        elif name not in RULES:
            assert decide(machine, number) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architecture_kills(machine: str) -> None:
    others = {number for _, number in ARCHITECTURES.values()} | {0x40000003, 0x40000028}
    for architecture in others - {ARCHITECTURES[machine][1]}:
        assert decide(machine, 0, architecture=architecture) == KILL


@given(st.integers(2**30, 2**32 - 1))
def test_every_x32_number_kills(number: int) -> None:
    assert decide("x86_64", number) == KILL


@given(st.sampled_from(MACHINES), st.integers(0, 2**64 - 1))
def test_only_threads_can_be_cloned(machine: str, flags: int) -> None:
    refused = 0x7E02F0FF | 0x80000000
    allowed = bool(flags & CLONE_THREAD) and not flags & refused
    decision = decide(machine, number_of(machine, "clone"), flags)
    assert decision == (ALLOW if allowed else REFUSE | errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        ("clone", [(THREAD_FLAGS,)], [(SIGCHLD,), (THREAD_FLAGS | CLONE_NEWUSER,), (CLONE_VM,)]),
        ("kill", [(OWN_PID, 9)], [(1, 9), (-1, 9), (0, 9), (-OWN_PID, 9)]),
        ("tgkill", [(OWN_PID, 3, 9)], [(1, 1, 9)]),
        (
            "prlimit64",
            [(0, 7, 0, 1), (OWN_PID, 7, 0, 1)],
            [(0, 7, 1, 0), (0, 7, 2**32, 0), (1, 7, 0, 1)],
        ),
        ("socketpair", [(1, 1, 0), (1, 1 | 0o2000000, 0)], [(1, 2, 0), (2, 1, 0), (1, 5, 0)]),
        ("sendto", [(3, 1, 1, 0, 0)], [(3, 1, 1, 0, 1), (3, 1, 1, 0, 2**32)]),
        ("fcntl", [(0, 3), (0, 1030)], [(0, 8), (0, 10), (0, 1033), (0, 1024)]),
        ("ioctl", [(0, 0x5401)], [(0, 0x5412), (0, 0x541C)]),
        ("prctl", [(15,)], [(1,), (4,), (22,), (38,)]),
        ("clock_gettime", [(0,), (11,)], [(12,), (-6,)]),
        ("clock_getres", [(0,), (11,)], [(12,), (-6,)]),
        ("clock_nanosleep", [(0, 0), (1, 1)], [(12, 1), (-6, 1)]),
        ("sched_getaffinity", [(0,)], [(1,)]),
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


@pytest.mark.parametrize("machine", MACHINES)
def test_clone3_seems_not_to_exist(machine: str) -> None:
    assert decide(machine, number_of(machine, "clone3")) == REFUSE | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_no_path_seems_to_be_a_link(machine: str) -> None:
    column = ARCHITECTURES[machine][0]
    numbers = [NUMBERS[name][column] for name in ("readlink", "readlinkat")]
    for number in filter(None, numbers):
        assert decide(machine, number) == REFUSE | errno.EINVAL


@pytest.mark.parametrize("machine", MACHINES)
def test_an_exec_needs_the_filter_that_permits_it_and_a_path_in_the_right_place(
    machine: str,
) -> None:
    number = EXEC_NUMBERS["execveat"][ARCHITECTURES[machine][0]]
    assert number is not None
    refused = REFUSE | errno.EPERM
    assert decide(machine, number, -100, GATE) == refused
    assert decide(machine, number, -100, GATE, permits="executes") == ALLOW
    for address in (GATE + 1, GATE - 2**32, GATE & 0xFFFFFFFF, GATE | 2**63, 0):
        assert decide(machine, number, -100, address, permits="executes") == refused


def test_a_filter_that_permits_an_exec_permits_nothing_else_besides() -> None:
    column = ARCHITECTURES["x86_64"][0]
    added = {numbers[column] for numbers in EXEC_NUMBERS.values()}
    for number in set(range(1000)) - added:
        arguments = (OWN_PID,) * 6
        assert decide("x86_64", number, *arguments, permits="executes") == decide(
            "x86_64", number, *arguments
        )


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
    number = {**NUMBERS, **LOOPBACK_NUMBERS}[name][ARCHITECTURES[machine][0]]
    assert number is not None
    for arguments in allowed:
        assert decide(machine, number, *arguments, permits="connects") == ALLOW, arguments
    for arguments in refused:
        found = decide(machine, number, *arguments, permits="connects")
        assert found == REFUSE | errno.EPERM, arguments
    if name in LOOPBACK_NUMBERS:
        assert all(decide(machine, number, *it) == REFUSE | errno.EPERM for it in allowed)


def test_rules_and_refusals_are_about_known_calls() -> None:
    assert RULES.keys() | REFUSALS.keys() <= NUMBERS.keys()


def test_an_unknown_machine_has_no_filter() -> None:
    with pytest.raises(OSError, match="no system call table for mips"):
        assemble("mips")
