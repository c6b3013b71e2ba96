"""The toolchain of Rust."""

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
from verifier_service.code.toolchains.installed_programs import ask, located, run_tool, tools_of
from verifier_service.code.toolchains.toolchain import Step, Toolchain, ToolchainError
from verifier_service.sandbox import runtime
from verifier_service.sandbox.entries import OUTPUT_FILE

_RUST_OPTIONS = (
    *("--edition=2021", "-C", "opt-level=2", "-C", "codegen-units=1", "-C", "debuginfo=0"),
    *("-C", "target-feature=+crt-static", "--cap-lints=allow", "--color=never"),
)


def rust() -> Toolchain:
    """The toolchain of Rust: rustc makes an object file, and ld a static program.

    Raises:
        ToolchainError: it is missing or not whole.
    """
    rustc = located("rustc", "rustc")
    driver = located("gcc", "gcc libc6-dev")
    archive = static_library(driver, "gcc")
    sysroot = ask(rustc, "--print", "sysroot")
    link, shim = _rust_link(rustc, driver)
    linker = part_of("gcc", ask(driver, "-print-prog-name=ld"))
    linking, directories = ld_command(driver, linker, archive, link)
    compiling = (
        *(rustc, "--sysroot", sysroot, *_RUST_OPTIONS, "--crate-name=main", "--emit=obj"),
        *("-o", OUTPUT_FILE, "main.rs"),
    )
    steps = (
        Step(arguments=compiling, input_name="main.rs"),
        Step(arguments=(*linking, "-s"), input_name="main.o", files={"shim.o": shim}),
    )
    libraries = [Path(sysroot, "lib/rustlib"), *directories, *runtime.system_libraries()]
    tools = dataclasses.replace(
        tools_of([Path(rustc), Path(linking[0])], libraries, runtime_calls="rustc"),
        binary_runtime_calls="rust",
        launcher=compiled_launcher(),
        links={"/proc/self/exe": rustc},  # it looks for its library there, whatever the sysroot
    )
    return Toolchain(steps=steps, tools=tools, version=(rustc, "--version"))


def _rust_link(rustc: str, driver: str) -> tuple[list[str], bytes]:
    """The command that links a program, and the object file that rustc adds to each.

    That one joins the program to its allocator.
    """
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "main.rs").write_text("fn main() {}\n")
        options = ("-C", f"linker={driver}", "-C", "save-temps", "--print", "link-args")
        command = (rustc, *_RUST_OPTIONS, *options, "--crate-name=main", "main.rs", "-o", "main")
        said = shlex.split(run_tool(*command, directory=directory).stdout)
        arguments = said[said.index(driver) + 1 :]
        objects = [one for one in arguments if one.endswith(".rcgu.o")]
        shims = [one for one in objects if "cgu.0" not in one]
        if len(objects) != 2 or len(shims) != 1:
            raise ToolchainError(f"rustc would link {objects}, not the program and its allocator")
        shim = Path(directory, shims[0]).read_bytes()
        names = {one: "shim.o" if one in shims else "main.o" for one in objects}
        names["main"] = OUTPUT_FILE
        kept = [one for one in arguments if not one.endswith("symbols.o")]
        (collector,) = commands_of(driver, *renamed(kept, names))
    # The directory is gone, and with it the libraries that rustc may have put there.
    return [one for one in collector if directory not in one], shim
