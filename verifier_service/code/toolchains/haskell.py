"""The toolchain of Haskell, which is GHC."""

from __future__ import annotations

import dataclasses
import shlex
import tempfile
from pathlib import Path

from verifier_service.code.toolchains.compiled_libraries import compiled_launcher
from verifier_service.code.toolchains.gcc import (
    commands_of,
    ld_command,
    part_of,
    renamed,
    static_library,
)
from verifier_service.code.toolchains.installed_programs import (
    ask,
    existing,
    located,
    run_tool,
    shared_libraries,
    system_files,
    tools_of,
)
from verifier_service.code.toolchains.toolchain import Step, Toolchain, ToolchainError
from verifier_service.sandbox.entries import OUTPUT_FILE

_HASKELL_PACKAGES = (
    *("array", "binary", "bytestring", "containers", "deepseq", "directory", "exceptions"),
    *("filepath", "mtl", "parsec", "pretty", "process", "stm", "text", "time", "transformers"),
    "unix",
)
"""Packages that come with GHC and that programs may import, besides `base`."""
# A static program finds no locale, and would refuse to print what is not ASCII.
_UTF8 = 'char *nl_langinfo(int item) { return item == 14 ? "UTF-8" : ""; }\n'


def haskell() -> Toolchain:
    """The toolchain of Haskell: GHC makes an assembly text, and ld a static program.

    Raises:
        ToolchainError: it is missing or not whole.
    """
    ghc = located("ghc", "ghc")
    driver = located("gcc", "gcc libc6-dev")
    archive = static_library(driver, "gcc")
    home = Path(ask(ghc, "--print-libdir"))
    compiler = home / "bin/ghc"
    linking, libraries, shims = _haskell_link(ghc, driver)
    linker = part_of("gcc", ask(driver, "-print-prog-name=ld"))
    link, directories = ld_command(driver, linker, archive, linking)
    (assembler,) = commands_of(driver, "-x", "assembler", "-c", "main.s", "-o", OUTPUT_FILE)
    assembler[0] = part_of("gcc", assembler[0])
    # The loader would look for libraries beside the program, whose path it reads in /proc.
    places = sorted({str(path.parent) for path in shared_libraries(compiler)})
    steps = (
        Step(
            arguments=(
                *(str(compiler), f"-B{home}", "+RTS", "-V0", "-RTS", *_HASKELL_OPTIONS),
                *("-tmpdir", ".", "-S", "main.hs", "-o", OUTPUT_FILE),
            ),
            input_name="main.hs",
            environment={"LD_LIBRARY_PATH": ":".join(places)},
        ),
        Step(arguments=tuple(assembler), input_name="main.s"),
        Step(arguments=(*link, *libraries, "-s"), input_name="main.o", files=shims),
    )
    readable = [home, *existing("/var/lib/ghc/package.conf.d"), *directories, *system_files()]
    programs = [Path(step.arguments[0]) for step in steps]
    tools = dataclasses.replace(
        tools_of(programs, readable, runtime_calls="ghc"),
        binary_runtime_calls="haskell",
        launcher=compiled_launcher(),
    )
    return Toolchain(steps=steps, tools=tools, version=(ghc, "--numeric-version"))


_HASKELL_OPTIONS = (
    *("-O2", "-w", "-no-user-package-db", "-package-env=-", "-static"),
    "-XNoForeignFunctionInterface",  # for foreign functions GHC starts a compiler of C
)


def _haskell_link(ghc: str, driver: str) -> tuple[list[str], list[str], dict[str, bytes]]:
    """The command that links a program, the directories of its packages, and its object files.

    The files, by name, go into each program: GHC makes two, which start its runtime, and the third
    says that texts are UTF-8.
    """
    packages = [f"-package={name}" for name in _HASKELL_PACKAGES]
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "main.hs").write_text("main = print 1\n")
        Path(directory, "utf8.c").write_text(_UTF8)
        run_tool(driver, "-O2", "-c", "utf8.c", "-o", "utf8.o", directory=directory)
        kept = ("-v", "-optl-static", "-keep-tmp-files", "-tmpdir", directory)
        command = (ghc, *_HASKELL_OPTIONS, *packages, *kept, "main.hs", "-o", "main")
        said = run_tool(*command, directory=directory).stderr.splitlines()
        links = [words for line in said if "-o main " in line and (words := shlex.split(line))]
        if len(links) != 1:
            raise ToolchainError(f"ghc would link with {len(links)} commands, not one")
        arguments = [one for one in links[0][1:] if not one.startswith("-fuse-ld=")]
        objects = [one for one in arguments if one.endswith(".o") and one != "main.o"]
        names = {one: f"start{number}.o" for number, one in enumerate(objects)}
        shims = {names[one]: Path(directory, one).read_bytes() for one in objects}
        shims["utf8.o"] = Path(directory, "utf8.o").read_bytes()
        command = renamed(arguments, {**names, "main": OUTPUT_FILE})
        (collector,) = commands_of(driver, "utf8.o", *command)
    return collector, [one for one in arguments if one.startswith("-L")], shims
