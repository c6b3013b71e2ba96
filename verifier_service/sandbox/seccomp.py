"""The system call filter: the BPF program that refuses all calls but those of `system_calls`.

Every other call, and every use of a call that its row does not permit, is refused with EPERM. A
call through another architecture's table kills. See seccomp(2) and the kernel's
Documentation/userspace-api/seccomp_filter.rst.

The BPF program is assembled once. Two values that rules compare with are filled in for each child:
its pid, and the number that the one exec must name.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from typing import NamedTuple

from verifier_service.sandbox.system_calls import (
    CALLS,
    CALLS_OF_LOOPBACK,
    CALLS_OF_NATIVE,
    CALLS_OF_RUNTIMES,
    OPEN_FLAGS,
    Alternative,
    AtMost,
    Condition,
    HasOnly,
    HasOnlyOpenFlags,
    Is,
    IsGate,
    IsNot,
    IsNull,
    IsOneOf,
    IsOwnPid,
)

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The kernel's numbers of the architectures that `system_calls` knows, by machine."""
_X32_BIT = 0x40000000

_LOAD, _AND, _RETURN, _JUMP = 0x20, 0x54, 0x06, 0x05
_IF_EQUAL, _IF_ABOVE, _IF_AT_LEAST = 0x15, 0x25, 0x35
_MAX_CONDITIONAL_JUMP = 255
_KILL_PROCESS, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_NR_OFFSET, _ARCH_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_INSTRUCTION = struct.Struct("=HBBI")
_VALUE_OFFSET = 4
_LOW = 0xFFFFFFFF
OWN_PID, GATE_LOW, GATE_HIGH = range(0xFFFFFFFD, 0x100000000)
"""Values in comparisons that are replaced in each child."""

_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2

Instruction = tuple[int, int, int, int]
Rule = tuple[tuple[Alternative, ...], int]
"""Alternatives of which one must hold, and the error where none does."""
Segment = tuple[int, Rule]
"""First number of a range, and the rule for the range."""

_REFUSED: Rule = ((), errno.EPERM)


class _SockFprog(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


class Filter:
    """An assembled filter, ready to be installed in a child.

    Args:
        executes: whether it permits one exec, which names the number of a gate.
        connects: whether it permits TCP, which another filter has to confine.
        runtime_calls: name of more calls, in `CALLS_OF_RUNTIMES`; empty for none.
    """

    def __init__(
        self, *, executes: bool = False, connects: bool = False, runtime_calls: str = ""
    ) -> None:
        code, positions = assemble(
            platform.machine(), executes=executes, connects=connects, runtime_calls=runtime_calls
        )
        self.image = ctypes.create_string_buffer(code, len(code))
        """The program, with blanks."""
        offsets = [position * _INSTRUCTION.size + _VALUE_OFFSET for position in positions]
        self.blanks = [(offset, *struct.unpack_from("=I", code, offset)) for offset in offsets]
        """Places in it to fill in, each with what belongs there: `OWN_PID` and the like."""
        num_instructions = len(code) // _INSTRUCTION.size
        self.program = _SockFprog(num_instructions, ctypes.addressof(self.image))
        """The argument of prctl(2)."""
        self._prctl = ctypes.CDLL(None, use_errno=True).prctl
        self._arguments = (
            ctypes.c_int(_PR_SET_SECCOMP),
            ctypes.c_ulong(_SECCOMP_MODE_FILTER),
            ctypes.byref(self.program),
        )

    def install(self, gate: int = 0) -> None:
        """Confine this process, which must have no_new_privs. Raises OSError.

        Args:
            gate: the number that the one exec must name.
        """
        values = {
            OWN_PID: os.getpid(),
            GATE_LOW: gate & 0xFFFFFFFF,
            GATE_HIGH: gate >> 32,
        }
        for offset, blank in self.blanks:
            struct.pack_into("=I", self.image, offset, values[blank])
        if self._prctl(*self._arguments) != 0:
            error = ctypes.get_errno()
            raise OSError(error, f"seccomp: {os.strerror(error)}")


def assemble(
    machine: str, *, executes: bool = False, connects: bool = False, runtime_calls: str = ""
) -> tuple[bytes, list[int]]:
    """The BPF program for a machine, and the positions of instructions with values to fill in.

    Args:
        machine: as `platform.machine` names it.
        executes: whether it permits one exec, which names the number of a gate.
        connects: whether it permits TCP.
        runtime_calls: name of more calls, in `CALLS_OF_RUNTIMES`; empty for none.

    Raises:
        OSError: there is no table for this machine.
    """
    if machine not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise OSError(errno.ENOSYS, f"no system call table for {machine}; there are {known}")
    calls = {
        **CALLS,
        **(CALLS_OF_NATIVE if executes else {}),
        **(CALLS_OF_LOOPBACK if connects else {}),
        **(CALLS_OF_RUNTIMES[runtime_calls] if runtime_calls else {}),
    }
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH_OFFSET),
        (_IF_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NR_OFFSET),
    ]
    if machine == "x86_64":
        code += [(_IF_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL_PROCESS)]
    segments: list[Segment] = [(0, _REFUSED)]
    numbered = ((getattr(call, machine), call) for call in calls.values())
    present = {number: call for number, call in numbered if number is not None}
    for number, call in sorted(present.items()):
        segments += [(number, (call.permitted, call.error)), (number + 1, _REFUSED)]
    tree = _Tree(machine)
    tree.add_segments(_merged(segments))
    code += reversed(tree.code)
    image = b"".join(_INSTRUCTION.pack(*instruction) for instruction in code)
    return image, [len(code) - 1 - position for position in reversed(tree.to_fill_in)]


def _merged(segments: list[Segment]) -> list[Segment]:
    """The segments without those of no number; neighbours with the same rule become one."""
    merged: list[Segment] = []
    for segment, following in zip(segments, [*segments[1:], None], strict=True):
        is_empty = following is not None and following[0] == segment[0]
        if not is_empty and not (merged and merged[-1][1] == segment[1]):
            merged.append(segment)
    return merged


class _Tree:
    """Code that finds the rule of a number by bisection, and applies it.

    The kernel runs the code for every call number when it installs the filter, and translates
    each instruction: what is deep or long makes every start slower. So the numbers are bisected,
    and the same end is one instruction for all that can jump to it.

    Jumps lead forward, so the code is made from its end. A position is the number of instructions
    after one.
    """

    def __init__(self, machine: str) -> None:
        self._machine = machine
        self.code: list[Instruction] = []
        """The instructions, the last one first."""
        self.to_fill_in: list[int] = []
        """Positions of instructions with values to fill in."""
        self._ends: dict[int, int] = {}
        """Positions of returns, by the value returned."""
        self._rules: dict[Rule, int] = {}

    def add_segments(self, segments: list[Segment]) -> int:
        """Add code for a range of numbers; returns its position."""
        if len(segments) == 1:
            return self._add_rule(segments[0][1])
        middle = len(segments) // 2
        high = self.add_segments(segments[middle:])
        low = self.add_segments(segments[:middle])
        if not self._can_reach(high, 1):
            high = self._add(_JUMP, 0, 0, len(self.code) - high - 1)
        if not self._can_reach(low, 1):
            low = self._add(_JUMP, 0, 0, len(self.code) - low - 1)
        return self._branch(_IF_AT_LEAST, segments[middle][0], high, low)

    def _add_rule(self, rule: Rule) -> int:
        permitted, error = rule
        checks = [
            [check for condition in alternative for check in _checks(condition, self._machine)]
            for alternative in permitted
        ]
        num_checks = sum(map(len, checks))
        if rule in self._rules and self._can_reach(self._rules[rule], 2):
            return self._rules[rule]
        found = self._end(_ERRNO | error, num_checks)
        for alternative in reversed(checks):
            found = self._add_alternative(alternative, self._end(_ALLOW, num_checks), found)
        self._rules[rule] = found
        return found

    def _add_alternative(self, checks: list[_Check], allowed: int, failed: int) -> int:
        """Add the checks of an alternative; returns the position of the first."""
        following = [allowed]
        """Positions of the later checks, the next one last."""
        for check in reversed(checks):
            holds, fails = following[-1 - check.skips], failed if not check.skips else following[-1]
            if check.operation in (_LOAD, _AND):
                following.append(self._add(check.operation, 0, 0, check.value))
                continue
            if check.value in (OWN_PID, GATE_LOW, GATE_HIGH):
                self.to_fill_in.append(len(self.code))
            if not check.holds:
                holds, fails = fails, holds
            following.append(self._branch(check.operation, check.value, holds, fails))
        return following[-1]

    def _end(self, value: int, num_between: int) -> int:
        """The position of a return that so many instructions from here can still reach."""
        if value not in self._ends or not self._can_reach(self._ends[value], num_between + 2):
            self._ends[value] = self._add(_RETURN, 0, 0, value)
        return self._ends[value]

    def _branch(self, operation: int, value: int, holds: int, fails: int) -> int:
        at = len(self.code)
        return self._add(operation, at - holds - 1, at - fails - 1, value)

    def _can_reach(self, position: int, num_between: int) -> bool:
        return len(self.code) + num_between - position - 1 <= _MAX_CONDITIONAL_JUMP

    def _add(self, *instruction: *Instruction) -> int:
        self.code.append(instruction)
        return len(self.code) - 1


class _Check(NamedTuple):
    """One instruction of a condition."""

    operation: int
    value: int
    holds: bool = True
    """Whether a comparison must hold; if it is not as it must be, the alternative has failed."""
    skips: int = 0
    """Checks that a comparison which holds jumps over. If it does not hold, the next one counts."""


def _checks(condition: Condition, machine: str) -> list[_Check]:
    """The instructions of a condition."""
    low = _ARGUMENTS_OFFSET + 8 * condition.argument
    load = _Check(_LOAD, low)
    match condition:
        case Is(_, value):
            return [load, _Check(_IF_EQUAL, value)]
        case IsNot(_, value):
            return [load, _Check(_IF_EQUAL, value, holds=False)]
        case IsOneOf(_, values, ignored):
            masked = [_Check(_AND, _LOW & ~ignored)] if ignored else []
            last = len(values) - 1
            found = [_Check(_IF_EQUAL, it, skips=last - at) for at, it in enumerate(values)]
            return [load, *masked, *found]
        case HasOnly(_, flags):
            return [load, _Check(_AND, _LOW & ~flags), _Check(_IF_EQUAL, 0)]
        case HasOnlyOpenFlags():
            return [load, _Check(_AND, _LOW & ~OPEN_FLAGS[machine]), _Check(_IF_EQUAL, 0)]
        case AtMost(_, value):
            return [load, _Check(_IF_ABOVE, value, holds=False)]
        case IsOwnPid():
            return [load, _Check(_IF_EQUAL, OWN_PID)]
        case IsGate():
            high = _Check(_LOAD, low + 4)
            return [load, _Check(_IF_EQUAL, GATE_LOW), high, _Check(_IF_EQUAL, GATE_HIGH)]
        case IsNull():
            return [load, _Check(_IF_EQUAL, 0), _Check(_LOAD, low + 4), _Check(_IF_EQUAL, 0)]
