"""Interpreters that read the source of a program, such as those of Bash, Ruby and R."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from verifier_service.code.toolchains.installed_programs import (
    ask,
    existing,
    located,
    system_files,
    tools_of,
)
from verifier_service.code.toolchains.toolchain import Finder, Step, Toolchain
from verifier_service.sandbox import runtime


def interpreter(
    name: str,
    package: str,
    *,
    arguments: Sequence[str],
    input_name: str,
    libraries: Sequence[str] = (),
    readable: Sequence[str] = (),
    files: Mapping[str, bytes] | None = None,
    environment: Mapping[str, str] | None = None,
    runtime_calls: str = "",
    version: Sequence[str] = ("--version",),
) -> Finder:
    """The finder of an interpreter that reads the source.

    Args:
        name: name of its program.
        package: its Debian package.
        arguments: its arguments.
        input_name: name of the source's file.
        libraries: arguments with which it prints the directories of its library, a line for each.
        readable: more files and directories that it reads, where they exist; patterns of `glob`.
        files: more files that it is given, by name.
        environment: its variables besides those of every program.
        runtime_calls: name of the system calls that it needs, see `system_calls.CALLS_OF_RUNTIMES`.
        version: arguments with which it prints its version, or a command for that with its path.
    """

    def find() -> Toolchain:
        program = located(name, package)
        lines = ask(program, *libraries).splitlines() if libraries else []
        found = [path for path in existing(*lines) if path.is_absolute() and path != Path("/")]
        others = [path for pattern in readable for path in sorted(Path("/").glob(pattern[1:]))]
        running = Step(
            arguments=(program, *arguments),
            input_name=input_name,
            files=files or {},
            environment=environment or {},
        )
        read = [*found, *others, *system_files()]
        tools = tools_of([Path(program)], read, runtime.DEVICES, runtime_calls=runtime_calls)
        command = tuple(version) if version[0].startswith("/") else (program, *version)
        return Toolchain(runtime=running, tools=tools, version=command)

    return find
