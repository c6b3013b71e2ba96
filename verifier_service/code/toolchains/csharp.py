"""The toolchain of C#, which is Mono."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from verifier_service.code.toolchains import installed_programs
from verifier_service.code.toolchains.compiled_libraries import preloaded
from verifier_service.code.toolchains.implicit_usings import with_usings
from verifier_service.code.toolchains.installed_programs import (
    RESTART,
    existing,
    located,
    shared_libraries,
    system_files,
    tools_of,
)
from verifier_service.code.toolchains.toolchain import Step, Toolchain, ToolchainError
from verifier_service.sandbox import runtime
from verifier_service.sandbox.entries import OUTPUT_FILE

MONO_THREADS = Path(__file__).with_name("mono_threads.c")
_MONO_DEBUG = Path(__file__).with_name("mono_debug.cs")
_CSHARP_OPTIONS = (
    *("-nologo", "-optimize+", "-warn:0", "-langversion:latest", "-codepage:utf8"),
    *("-define:ONLINE_JUDGE", "-reference:System.Numerics", "-reference:Microsoft.CSharp"),
)


def csharp() -> Toolchain:
    """The toolchain of C#: Mono's compiler and its machine. Raises ToolchainError."""
    mono = located("mono", "mono-runtime")
    home = installed_programs.SYSTEM / "lib/mono"
    compiler = home / "4.5/mcs.exe"
    if not compiler.exists():
        raise ToolchainError(
            f"no {compiler}: install it (Debian and Ubuntu: apt install mono-mcs), {RESTART}"
        )
    threads = preloaded(MONO_THREADS)
    environment = {"LD_PRELOAD": str(threads)}
    step = Step(
        arguments=(
            *(mono, str(compiler), *_CSHARP_OPTIONS, f"-out:{OUTPUT_FILE}"),
            *("main.cs", _MONO_DEBUG.name),
        ),
        input_name="main.cs",
        files={_MONO_DEBUG.name: _MONO_DEBUG.read_bytes()},
        environment=environment,
        second_input=with_usings,
    )
    running = Step(
        arguments=(mono, "main.exe"),
        input_name="main.exe",
        environment={**environment, "MONO_GC_PARAMS": "max-heap-size={memory_mib}m"},
    )
    native = sorted((installed_programs.SYSTEM / "lib").glob("libmono-native.so*"))
    libraries = [*native, *shared_libraries(native[0])] if native else []
    readable = [*existing(str(home), "/etc/mono"), *libraries, threads, *system_files()]
    tools = dataclasses.replace(
        tools_of([Path(mono)], readable, runtime.DEVICES, runtime_calls="mono"),
        links={"/proc/self/maps": "/dev/null"},  # it does not start where that is missing
    )
    return Toolchain(steps=(step,), runtime=running, tools=tools, version=(mono, "--version"))
