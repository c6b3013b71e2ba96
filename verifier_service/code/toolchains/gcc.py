"""Compilers of GCC, for C, C++, D and Fortran, and its linker, which Rust and Haskell use too."""

from __future__ import annotations

import dataclasses
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from verifier_service.code.toolchains import installed_programs
from verifier_service.code.toolchains.compiled_libraries import compiled_launcher
from verifier_service.code.toolchains.installed_programs import (
    RESTART,
    ask,
    existing,
    locale_files,
    located,
    run_tool,
    tools_of,
)
from verifier_service.code.toolchains.toolchain import Finder, Step, Toolchain, ToolchainError
from verifier_service.sandbox.entries import OUTPUT_FILE

COMMON_OPTIONS = ("-w", "-static", "-s", "-fmax-errors=20", "-fdiagnostics-color=never")
"""Options of every compilation: a static program, and no more than 20 errors for messages."""

# The C library gives each thread a stack as large as the main thread's may become, which is 64 MiB
# here: ten threads would take all address space. This is what they have on other machines.
_STACKS = """
#define _GNU_SOURCE
#include <pthread.h>
__attribute__((constructor(101))) static void bound_stacks_of_threads(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 8 << 20);
    pthread_setattr_default_np(&attributes);
}
"""


def gcc(
    driver_name: str,
    package: str,
    source: str,
    options: Sequence[str],
    *,
    linked: str = _STACKS,
    readable: Sequence[str] = (),
) -> Finder:
    """The finder of a compiler of GCC, which links statically: a program needs no file but its own.

    Args:
        driver_name: name of the compiler's driver.
        package: its Debian package.
        source: name of the source's file.
        options: options of a compilation.
        linked: source in C of an object file that each program is linked with.
        readable: more directories that the compiler reads, where they exist.
    """

    def find() -> Toolchain:
        driver = located(driver_name, package)
        archive = static_library(driver, driver_name)
        linker = part_of(driver_name, ask(driver, "-print-prog-name=ld"))
        commands = commands_of(driver, *options, source, *_LINKED_PART, "-o", OUTPUT_FILE)
        if len(commands) != 3:
            raise ToolchainError(f"{driver_name} would start {len(commands)} programs, not 3")
        compiler, assembler, collector = commands
        compiler[0] = part_of(driver_name, compiler[0])
        assembler[0] = part_of(driver_name, assembler[0])
        link, directories = ld_command(driver, linker, archive, collector)
        assembly, binary = _output_of(compiler), _output_of(assembler)
        steps = (
            Step(
                arguments=renamed(compiler, {assembly: OUTPUT_FILE}),
                input_name=source,
                environment={"LC_ALL": "C"},  # quotes in its messages are those of ASCII
            ),
            Step(
                arguments=renamed(assembler, {assembly: "main.s", binary: OUTPUT_FILE}),
                input_name="main.s",
            ),
            Step(
                arguments=renamed(link, {binary: "main.o"}),
                input_name="main.o",
                files={_LINKED_NAME: _object_of(linked, driver)},
            ),
        )
        programs = [Path(step.arguments[0]) for step in steps]
        included = [*_include_directories(driver, options), *existing(*readable)]
        locale = tuple(locale_files())
        tools = dataclasses.replace(
            tools_of(programs, [*directories, *included, *locale], starter=compiled_launcher()),
            binary_readable=locale,
        )
        return Toolchain(steps=steps, tools=tools, version=(driver, "-dumpfullversion"))

    return find


_LINKED_NAME = "linked.o"
_LINKED_PART = ("-x", "none", _LINKED_NAME, "-lm")


def _object_of(source: str, driver: str) -> bytes:
    """The object file of a source in C. Raises ToolchainError."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "linked.c").write_text(source)
        options = ("-x", "c", "-O2", "-c", "linked.c", "-o", _LINKED_NAME)
        run_tool(driver, *options, directory=directory)
        return Path(directory, _LINKED_NAME).read_bytes()


# The C library's own fails for the main thread, whose stack it reads in /proc/self/maps, and the
# runtime of D does not start. In a static program the C library has no function that finds a
# variable of a thread, which that runtime asks for the first one.
_D_RUNTIME = (
    _STACKS
    + """
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

extern void *__libc_stack_end;
int __real_pthread_getattr_np(pthread_t, pthread_attr_t *);

int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
    const uintptr_t room = 1 << 20; /* for arguments, which lie above the stack */
    struct rlimit limit;
    int error = __real_pthread_getattr_np(thread, attributes);
    if (error == 0 || getpid() != gettid()) return error;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur <= 2 * room) return error;
    uintptr_t page = sysconf(_SC_PAGESIZE), size = (limit.rlim_cur - room) & -page;
    uintptr_t end = ((uintptr_t)__libc_stack_end & -page) + page;
    pthread_attr_init(attributes);
    return pthread_attr_setstack(attributes, (void *)(end - size), size);
}

struct place { size_t module, offset; };
union block { size_t generation; struct { char *first, *to_free; } variables; };

void *__tls_get_addr(struct place *place) {
    union block **thread = __builtin_thread_pointer();
#ifdef __x86_64__
    union block *blocks = thread[1];
#else
    union block *blocks = thread[0];
#endif
    return blocks[place->module].variables.first + place->offset;
}
"""
)
"""Source in C of what each program in D is linked with, besides `--wrap=pthread_getattr_np`."""
_D_OPTIONS = ("-O2", "-fversion=ONLINE_JUDGE", "-Wl,--wrap=pthread_getattr_np", *COMMON_OPTIONS)


def gdc(*options: str) -> Finder:
    """The finder of the compiler of D.

    Args:
        options: options of a compilation, besides those of every one.
    """
    return gcc("gdc", "gdc", "main.d", (*options, *_D_OPTIONS), linked=_D_RUNTIME)


def static_library(driver: str, name: str) -> Path:
    """The static C library.

    Args:
        driver: path of a driver of GCC.
        name: name of that driver.

    Raises:
        ToolchainError: it is missing.
    """
    archive = Path(ask(driver, "-print-file-name=libc.a"))
    if not archive.is_absolute():
        raise ToolchainError(
            f"{name} has no static C library: install it (Debian and Ubuntu: apt install "
            f"libc6-dev; Fedora: dnf install glibc-static libstdc++-static), {RESTART}"
        )
    return archive


def part_of(name: str, program: str) -> str:
    """The path of a program that a driver of GCC starts.

    Args:
        name: name of the driver.
        program: name or path of the program.

    Raises:
        ToolchainError: it is missing.
    """
    places = installed_programs.SEARCH_PATH
    found = shutil.which(program, path=places)
    if found is None:
        raise ToolchainError(
            f"{name} needs {program}, which is not in {places}: install it (Debian and Ubuntu: "
            f"apt install binutils), {RESTART}"
        )
    return str(Path(found).resolve())


def ld_command(
    driver: str, linker: str, archive: Path, collector: list[str]
) -> tuple[list[str], list[Path]]:
    """The command of ld instead of its wrapper collect2, and the directories of its libraries."""
    install = Path(ask(driver, "-print-file-name=libgcc.a")).resolve().parent
    directories = [install, archive.resolve().parent]
    found = [f"-L{path}" for path in directories]
    return [linker, *found, *_without_plugin(collector[1:])], directories


def _without_plugin(arguments: list[str]) -> Iterator[str]:
    """Arguments of the linker without its plugin and without its directories of libraries."""
    for previous, argument in pairwise(["", *arguments]):
        if not argument.startswith(("-plugin", "-L")) and previous != "-plugin":
            yield argument


def renamed(command: list[str], names: dict[str, str]) -> tuple[str, ...]:
    """The arguments of a command, with other names for some of its files."""
    return tuple(names.get(argument, argument) for argument in command)


def _output_of(command: list[str]) -> str:
    return command[command.index("-o") + 1]


def commands_of(driver: str, *arguments: str) -> list[list[str]]:
    """The commands that a driver of GCC would start."""
    result = run_tool(driver, "-###", *arguments)
    return [shlex.split(line) for line in result.stderr.splitlines() if line.startswith(" ")]


def _include_directories(driver: str, options: Sequence[str]) -> list[Path]:
    result = run_tool(driver, "-E", "-v", *options, "/dev/null")
    lines = result.stderr.partition("> search starts here:")[2].partition("End of search")[0]
    return [Path(line.strip()).resolve() for line in lines.splitlines() if line.strip()]
