"""Coq on this machine: its compiler and its checker, found once, and one run of either."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from verifier_service.code.toolchains.installed_programs import ask, located, shared_libraries
from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.sandbox import runtime
from verifier_service.sandbox.entries import tool_payload
from verifier_service.sandbox.execution import Execution, Limits, Program, Tools
from verifier_service.sandbox.runner import Runner

COQ = "coq"
"""Name of the tools of Coq, for a `Runner`."""
PACKAGE = "coq"
_EMPTY = b"Theorem one : 1 = 1. Proof. reflexivity. Qed.\n"


@dataclass(frozen=True)
class CoqToolchain:
    """The programs of Coq and what they read."""

    compiler: str
    checker: str
    version: str
    tools: Tools


@functools.cache
def coq_toolchain() -> CoqToolchain:
    """Coq on this machine.

    Raises:
        ToolchainError: it is missing. The cache does not keep this.
    """
    compiler, checker = located("coqc", PACKAGE), located("coqchk", PACKAGE)
    version = re.search(r"\d+(?:\.\d+)+", ask(compiler, "--version"))
    if version is None:
        raise ToolchainError("coqc does not tell its version")
    library = Path(ask(compiler, "-where")).resolve()
    return CoqToolchain(compiler, checker, version[0], _tools(library, compiler, checker))


def _tools(library: Path, *programs: str) -> Tools:
    """The programs, the standard library and the plugins beside it."""
    paths = [Path(program) for program in programs]
    linked = sorted({one for program in paths for one in shared_libraries(program)})
    loaders = [one for one in linked if one.name.startswith(("ld-linux", "ld-musl"))]
    beside = [library.parent / name for name in ("coq-core", "coq-stdlib")]
    others = [*beside, Path("/etc/ocamlfind.conf"), Path("/etc/ld.so.cache")]
    found = [one for one in others if one.exists()]
    readable = (library, *found, *linked, *runtime.system_libraries())
    return Tools(executable=(*paths, *loaders), readable=readable, devices=runtime.DEVICES)


def coq_tools(name: str) -> Tools:
    """The tools of the name `COQ`, for a `Runner`. Raises ToolchainError."""
    assert name == COQ
    return coq_toolchain().tools


async def run_coqc(
    runner: Runner, module: str, text: str, limits: Limits, *, libraries: Mapping[str, bytes]
) -> Execution:
    """Compile the file of a module, whose result is the file `MODULE.vo` of the execution.

    Args:
        runner: has the tools of Coq.
        module: name of the module.
        text: content of its file.
        limits: of the compiler.
        libraries: compiled modules that it may require, by name.
    """
    command = (coq_toolchain().compiler, "-q", "-noglob", "-w", "none", f"{module}.v")
    content = text.encode("utf-8", "surrogatepass")
    return await runner.run(
        Program(
            payload=tool_payload(command, f"{module}.v", content),
            entry="tool",
            files=_compiled(libraries),
            fetched_files=(f"{module}.vo",),
            toolchain=COQ,
        ),
        limits,
    )


async def run_coqchk(
    runner: Runner, modules: tuple[str, ...], limits: Limits, *, libraries: Mapping[str, bytes]
) -> Execution:
    """Check modules again, but not those that they require, and print a summary.

    The arguments are those of `run_coqc`.
    """
    asked = [argument for module in modules for argument in ("-norec", module)]
    options = ("-silent", "-o", "-bytecode-compiler", "yes")
    command = (coq_toolchain().checker, *options, *asked)
    return await runner.run(
        Program(
            payload=tool_payload(command, "unused", b""),
            entry="tool",
            files=_compiled(libraries),
            toolchain=COQ,
        ),
        limits,
    )


def _compiled(libraries: Mapping[str, bytes]) -> dict[str, bytes]:
    return {f"{name}.vo": content for name, content in libraries.items()}


async def try_coq(runner: Runner, limits: Limits) -> str | None:
    """Advice where Coq cannot be run, or None. Raises SandboxError."""
    try:
        coq_toolchain()
    except ToolchainError as error:
        return str(error)
    found = await run_coqc(runner, "Trial", _EMPTY.decode(), limits, libraries={})
    if found.succeeded:
        return None
    return f"coq does not work in the sandbox: {found.stderr.decode(errors='replace')[-200:]}"
