"""The zygote's side of `launcher.c`: starts a static program without a copy of the zygote.

A fork copies the page tables of the interpreter, and every page that the child's Python touches,
which takes several times as long as a short program. The launcher's child shares the memory until
its exec, and runs no Python. It is compiled where GCC is (`code/toolchains/compiled_libraries`);
where it is not, the zygote forks.
"""

from __future__ import annotations

import ctypes
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from verifier_service.sandbox.gate import SECRET_BITS, strings
from verifier_service.sandbox.layers import ChildLimits, Layers
from verifier_service.sandbox.seccomp import GATE_HIGH, GATE_LOW

SOURCE = Path(__file__).with_suffix(".c")
OPTIONS = ("-O2", "-shared", "-fPIC", "-s")
"""Options of GCC that make a library of the source."""


class _Descriptor(ctypes.Structure):
    _fields_ = (("from_", ctypes.c_int32), ("to", ctypes.c_int32))


class _Limit(ctypes.Structure):
    _fields_ = (
        ("resource", ctypes.c_int32),
        ("unused", ctypes.c_uint32),
        ("soft", ctypes.c_uint64),
        ("hard", ctypes.c_uint64),
    )


class _Blank(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint32), ("low", ctypes.c_uint32), ("high", ctypes.c_uint32))


class _Launch(ctypes.Structure):
    """`struct launch` of launcher.c."""

    _fields_ = (
        ("directory", ctypes.c_char_p),
        ("descriptors", ctypes.c_void_p),
        ("limits", ctypes.c_void_p),
        ("filter", ctypes.c_void_p),
        ("filter_image", ctypes.c_void_p),
        ("blanks", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("environment", ctypes.c_void_p),
        ("secret", ctypes.c_uint64),
        ("num_descriptors", ctypes.c_int32),
        ("num_limits", ctypes.c_int32),
        ("num_blanks", ctypes.c_int32),
        ("parent", ctypes.c_int32),
        ("user", ctypes.c_int32),
        ("ruleset", ctypes.c_int32),
        ("drops_capabilities", ctypes.c_int32),
        ("sets_no_new_privs", ctypes.c_int32),
        ("opens_no_input", ctypes.c_int32),
        ("first_closed", ctypes.c_int32),
    )


class Launcher:
    """A loaded launcher.

    Args:
        library: `launcher.c`, compiled.

    Raises:
        OSError: this process cannot load it.
    """

    def __init__(self, library: bytes) -> None:
        file = os.memfd_create("launcher", os.MFD_CLOEXEC)
        try:
            with open(file, "wb", closefd=False) as copy:
                copy.write(library)
            loaded = ctypes.CDLL(f"/proc/self/fd/{file}")
        finally:
            os.close(file)
        self._launch = loaded.launch
        self._prepared: dict[ChildLimits, tuple[_Launch, list[object]]] = {}

    def start(
        self,
        layers: Layers,
        limits: ChildLimits,
        descriptors: Sequence[tuple[int, int]],
        directory: Path,
        arguments: Sequence[str],
        environment: Mapping[str, str],
    ) -> int:
        """Start the program in the descriptor that becomes `entries.PAYLOAD_FD`; returns its pid.

        Args:
            layers: layers of its zygote, which is this process.
            limits: limits of this execution.
            descriptors: descriptors of this process, each with its number in the program. Numbers
                of programs are below all of this process's.
            directory: working directory of the program.
            arguments: arguments of the program, its name included.
            environment: the whole environment of the program.

        Raises:
            OSError: the kernel refuses a process.
        """
        launch, _ = self._prepare(layers, limits)
        moved = (_Descriptor * len(descriptors))(*(_Descriptor(*pair) for pair in descriptors))
        words = strings(arguments)
        variables = strings([f"{name}={value}" for name, value in environment.items()])
        launch.directory = os.fsencode(directory)
        launch.descriptors, launch.num_descriptors = ctypes.addressof(moved), len(moved)
        launch.opens_no_input = all(number != 0 for _, number in descriptors)
        launch.first_closed = max(number for _, number in descriptors) + 1
        launch.arguments, launch.environment = ctypes.addressof(words), ctypes.addressof(variables)
        launch.secret = secrets.randbits(SECRET_BITS)
        pid = int(self._launch(ctypes.byref(launch)))
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return pid

    def _prepare(self, layers: Layers, limits: ChildLimits) -> tuple[_Launch, list[object]]:
        """The order as far as executions with the same limits share it, and what it points to."""
        if limits in self._prepared:
            return self._prepared[limits]
        parts = layers.parts(limits)
        table = [_Limit(kind, 0, soft, hard) for kind, (soft, hard) in parts.resource_limits]
        numbers = (_Limit * len(table))(*table)
        launch = _Launch(
            limits=ctypes.addressof(numbers),
            num_limits=len(table),
            parent=os.getpid(),
            user=-1 if parts.user is None else parts.user,
            ruleset=-1 if parts.ruleset is None else parts.ruleset.descriptor,
            drops_capabilities=parts.drops_capabilities,
            sets_no_new_privs=parts.sets_no_new_privs,
        )
        kept: list[object] = [numbers, parts]
        if parts.filter is not None:
            blanks = [
                _Blank(at, kind == GATE_LOW, kind == GATE_HIGH) for at, kind in parts.filter.blanks
            ]
            places = (_Blank * len(blanks))(*blanks)
            launch.filter = ctypes.addressof(parts.filter.program)
            launch.filter_image = ctypes.addressof(parts.filter.image)
            launch.blanks, launch.num_blanks = ctypes.addressof(places), len(blanks)
            kept.append(places)
        if len(self._prepared) >= _MAX_PREPARED:
            self._prepared.clear()
        self._prepared[limits] = launch, kept
        return launch, kept


_MAX_PREPARED = 64
"""Most limits that are kept prepared; programs of a service have few different ones."""
