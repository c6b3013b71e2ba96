"""A toolchain: the tools that compile and run the programs of a language.

A sandboxed process may start no other, so a compiler's driver (g++, go, rustc with its linker) is
not run on programs. It is asked once for the commands that it would start, and each of them is one
`Step`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from verifier_service.sandbox.entries import OUTPUT_FILE
from verifier_service.sandbox.execution import Tools


@dataclass(frozen=True, kw_only=True)
class Step:
    """One tool: a compiler, or the interpreter that runs a program.

    In its arguments `{source}` stands for the name of the source's file, `{main}` for the name of
    the program's main class, and `{memory_mib}` for the limit on memory.
    """

    arguments: tuple[str, ...]
    """Arguments of the tool, of which the first is its path."""
    input_name: str
    """Name of the file that the tool reads."""
    output_name: str = OUTPUT_FILE
    """Name of the file, or of the directory, that a compiler writes."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """More files that the tool reads, by name."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of the tool besides those of every program."""
    second_input: Callable[[bytes, bytes], bytes | None] | None = None
    """Another input for a tool that has refused one, made of that and of its messages, if any."""


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """The tools that make a program of a source and run it."""

    tools: Tools
    steps: tuple[Step, ...] = ()
    """Compilers, in order; none where the runtime reads the source."""
    runtime: Step | None = None
    """The interpreter; None where the last step writes a program of this machine."""
    version: tuple[str, ...]
    """Command that prints a text with its version."""


class ToolchainError(Exception):
    """The toolchain is missing or incomplete; the message says what to install."""


Finder = Callable[[], Toolchain]
