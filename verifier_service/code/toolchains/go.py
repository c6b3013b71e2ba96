"""The toolchain of Go."""

from __future__ import annotations

import platform

from verifier_service.code.toolchains import installed_programs
from verifier_service.code.toolchains.compiled_libraries import compiled_launcher
from verifier_service.code.toolchains.installed_programs import RESTART, existing
from verifier_service.code.toolchains.toolchain import Step, Toolchain, ToolchainError
from verifier_service.sandbox.entries import OUTPUT_FILE
from verifier_service.sandbox.execution import Tools

_GO_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def go() -> Toolchain:
    """The toolchain of Go: `compile` and `link`, which the command `go` starts.

    Raises:
        ToolchainError: it is missing, or has no compiled standard library, as from Go 1.20 on.
    """
    name = f"linux_{_GO_ARCHITECTURES.get(platform.machine(), platform.machine())}"
    for root in [
        *sorted(installed_programs.SYSTEM.glob("lib/go*")),
        *sorted(installed_programs.SYSTEM.glob("local/go*")),
    ]:
        packages, tool = root / "pkg" / name, root / "pkg/tool" / name
        if (packages / "fmt.a").exists() and (tool / "link").exists():
            break
    else:
        raise ToolchainError(
            "no Go with a compiled standard library in /usr/lib, /usr/local: install it (Debian "
            f"and Ubuntu: apt install golang-1.19-go), {RESTART}"
        )
    shared = {"GOROOT": str(root), "GOMAXPROCS": "2", "GOGC": "200"}
    where = (f"-I={packages}", f"-L={packages}")
    steps = (
        Step(
            arguments=(
                *(str(tool / "compile"), "-o", OUTPUT_FILE, "-p", "main", "-complete", "-pack"),
                *(where[0], "main.go"),
            ),
            input_name="main.go",
            environment=shared,
        ),
        Step(
            arguments=(
                *(str(tool / "link"), "-o", OUTPUT_FILE, "-s", "-w", "-buildmode=exe"),
                *(where[1], "main.a"),
            ),
            input_name="main.a",
            environment=shared,
        ),
    )
    zones = tuple(existing("/usr/share/zoneinfo"))
    tools = Tools(
        executable=(tool / "compile", tool / "link"),
        readable=(packages.resolve(), *zones),
        binary_readable=zones,
        runtime_calls="go",
        binary_runtime_calls="go",
        launcher=compiled_launcher(),
    )
    return Toolchain(steps=steps, tools=tools, version=(str(tool / "compile"), "-V"))
