"""The toolchain of Verilog, which is Icarus Verilog."""

from __future__ import annotations

from pathlib import Path

from verifier_service.code.toolchains import installed_programs
from verifier_service.code.toolchains.installed_programs import (
    RESTART,
    located,
    shared_libraries,
    system_files,
    tools_of,
)
from verifier_service.code.toolchains.toolchain import Step, Toolchain, ToolchainError
from verifier_service.sandbox import runtime
from verifier_service.sandbox.entries import OUTPUT_FILE

_VERILOG_MODULES = ("system", "vhdl_sys", "vhdl_textio", "v2005_math", "va_math", "v2009")
"""Modules of system tasks that a simulation may call, where they exist."""
_VERILOG_SETTINGS = """
generation:2012
generation:no-specify
generation:assertions
generation:xtypes
generation:io-range-error
generation:no-strict-ca-eval
generation:no-strict-expr-width
generation:shared-loop-index
generation:no-verilog-ams
generation:icarus-misc
ignore_missing_modules:false
iwidth:32
widthcap:65536
"""
"""Settings of the compiler, which are those of `iverilog -g2012`."""


def verilog() -> Toolchain:
    """The toolchain of Verilog: the preprocessor and the compiler that `iverilog` starts, and vvp.

    Raises:
        ToolchainError: it is missing or not whole.
    """
    machine = located("vvp", "iverilog")
    places = [
        *installed_programs.SYSTEM.glob("lib/*/ivl"),
        *installed_programs.SYSTEM.glob("lib/ivl"),
        *installed_programs.SYSTEM.glob("local/lib/ivl"),
    ]
    homes = [place for place in places if (place / "vvp.tgt").exists()]
    if not homes:
        raise ToolchainError(
            f"no vvp.tgt below /usr/lib: install it (Debian and Ubuntu: apt install iverilog), "
            f"{RESTART}"
        )
    home = homes[0].resolve()
    modules = [home / f"{name}.vpi" for name in _VERILOG_MODULES]
    modules = [module for module in modules if module.exists()]
    lines = [f"basedir:{home}", *(f"module:{module}" for module in modules), f"out:{OUTPUT_FILE}"]
    steps = (
        Step(
            arguments=(str(home / "ivlpp"), "-L", "-Fdefined", "-o", OUTPUT_FILE, "main.sv"),
            input_name="main.sv",
            files={"defined": f"D:__ICARUS__=1\nI:{home}/include\n".encode()},
        ),
        Step(
            arguments=(str(home / "ivl"), "-Csettings", f"-C{home}/vvp.conf", "--", "main.v"),
            input_name="main.v",
            files={"settings": ("\n".join(lines) + _VERILOG_SETTINGS).encode()},
        ),
    )
    running = Step(arguments=(machine, "-n", "main.vvp"), input_name="main.vvp")
    programs = [Path(machine), *(Path(step.arguments[0]) for step in steps)]
    libraries = [path for module in modules for path in shared_libraries(module)]
    tools = tools_of(programs, [home, *libraries, *system_files()], runtime.DEVICES)
    return Toolchain(steps=steps, runtime=running, tools=tools, version=(machine, "-V"))
