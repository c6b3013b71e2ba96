"""Toolchains of this machine: the programs that compile and run a language, found once.

A sandboxed process may start no other, so a compiler's driver (g++, go, rustc with its linker) is
not run on programs. It is asked once for the commands that it would start, and each of them is one
`Step`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from verifier_service.code.implicit_usings import with_usings
from verifier_service.sandbox import launcher, runtime
from verifier_service.sandbox.entries import OUTPUT_FILE
from verifier_service.sandbox.execution import Tools

SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM = Path("/usr")
"""Directory below which toolchains lie that no program leads to."""
_QUERY_SECONDS = 60.0
_LATER = "then start the service again"


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


# C, C++, D and Fortran

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
        archive = _static_library(driver, driver_name)
        linker = _part(ask(driver, "-print-prog-name=ld"), driver_name)
        commands = _commands(driver, *options, source, *_LINKED_PART, "-o", OUTPUT_FILE)
        if len(commands) != 3:
            raise ToolchainError(f"{driver_name} would start {len(commands)} programs, not 3")
        compiler, assembler, collector = commands
        compiler[0] = _part(compiler[0], driver_name)
        assembler[0] = _part(assembler[0], driver_name)
        link, directories = _link(driver, linker, archive, collector)
        assembly, binary = _output_of(compiler), _output_of(assembler)
        steps = (
            Step(
                arguments=_renamed(compiler, {assembly: OUTPUT_FILE}),
                input_name=source,
                environment={"LC_ALL": "C"},  # quotes in its messages are those of ASCII
            ),
            Step(
                arguments=_renamed(assembler, {assembly: "main.s", binary: OUTPUT_FILE}),
                input_name="main.s",
            ),
            Step(
                arguments=_renamed(link, {binary: "main.o"}),
                input_name="main.o",
                files={_LINKED_NAME: _object_of(linked, driver)},
            ),
        )
        programs = [Path(step.arguments[0]) for step in steps]
        included = [*_include_directories(driver, options), *_existing(*readable)]
        locale = tuple(_locale())
        tools = dataclasses.replace(
            _tools(programs, [*directories, *included, *locale], starter=compiled_launcher()),
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
D_RUNTIME = (
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


def _static_library(driver: str, name: str) -> Path:
    archive = Path(ask(driver, "-print-file-name=libc.a"))
    if not archive.is_absolute():
        raise ToolchainError(
            f"{name} has no static C library: install it (Debian and Ubuntu: apt install "
            f"libc6-dev; Fedora: dnf install glibc-static libstdc++-static), {_LATER}"
        )
    return archive


def _link(
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


def _renamed(command: list[str], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(names.get(argument, argument) for argument in command)


def _output_of(command: list[str]) -> str:
    return command[command.index("-o") + 1]


def _commands(driver: str, *arguments: str) -> list[list[str]]:
    """The commands that a driver of GCC would start."""
    result = run_tool(driver, "-###", *arguments)
    return [shlex.split(line) for line in result.stderr.splitlines() if line.startswith(" ")]


def _include_directories(driver: str, options: Sequence[str]) -> list[Path]:
    result = run_tool(driver, "-E", "-v", *options, "/dev/null")
    lines = result.stderr.partition("> search starts here:")[2].partition("End of search")[0]
    return [Path(line.strip()).resolve() for line in lines.splitlines() if line.strip()]


# Rust

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
    archive = _static_library(driver, "gcc")
    sysroot = ask(rustc, "--print", "sysroot")
    link, shim = _rust_link(rustc, driver)
    linker = _part(ask(driver, "-print-prog-name=ld"), "gcc")
    linking, directories = _link(driver, linker, archive, link)
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
        _tools([Path(rustc), Path(linking[0])], libraries, calls="rustc"),
        binary_calls="rust",
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
        (collector,) = _commands(driver, *_renamed(kept, names))
    # The directory is gone, and with it the libraries that rustc may have put there.
    return [one for one in collector if directory not in one], shim


# Go

_GO_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def go() -> Toolchain:
    """The toolchain of Go: `compile` and `link`, which the command `go` starts.

    Raises:
        ToolchainError: it is missing, or has no compiled standard library, as from Go 1.20 on.
    """
    name = f"linux_{_GO_ARCHITECTURES.get(platform.machine(), platform.machine())}"
    for root in [*sorted(_SYSTEM.glob("lib/go*")), *sorted(_SYSTEM.glob("local/go*"))]:
        packages, tool = root / "pkg" / name, root / "pkg/tool" / name
        if (packages / "fmt.a").exists() and (tool / "link").exists():
            break
    else:
        raise ToolchainError(
            "no Go with a compiled standard library in /usr/lib, /usr/local: install it (Debian "
            f"and Ubuntu: apt install golang-1.19-go), {_LATER}"
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
    zones = tuple(_existing("/usr/share/zoneinfo"))
    tools = Tools(
        executable=(tool / "compile", tool / "link"),
        readable=(packages.resolve(), *zones),
        binary_readable=zones,
        calls="go",
        binary_calls="go",
        launcher=compiled_launcher(),
    )
    return Toolchain(steps=steps, tools=tools, version=(str(tool / "compile"), "-V"))


# Java

# The archive of classes that a JDK comes with holds objects that only G1 can use: with another
# collector the machine makes them at each start, a sixth of its time.
_JAVA_OPTIONS = (
    *("-XX:+UseG1GC", "-XX:ParallelGCThreads=2", "-XX:ConcGCThreads=1", "-XX:-UsePerfData"),
    *("-XX:-UseContainerSupport", "-Xshare:auto"),
    *("-XX:CompressedClassSpaceSize=64m", "-XX:ReservedCodeCacheSize=64m"),
    *("-XX:+DisableAttachMechanism", "-XX:-CreateCoredumpOnCrash", "-XX:+ReduceSignalUsage"),
    "-XX:ErrorFile=/dev/null",
)
CLASSES = "classes"
"""Directory of the compiled classes."""


_COMPILING = ("-Xmx512m", "-XX:TieredStopAtLevel=1")
_TRUSTING = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""Options with which a machine runs a compiler's own classes without checking them again."""
_ASKING = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *_TRUSTING)
"""Options with which a compiler tells its version in half the CPU time."""
_RUNNING = ("-Xmx{memory_mib}m", "-Xss16m", "-ea", "-Djava.io.tmpdir=.", "-cp")


_JAVA_PACKAGES = ("/usr/share/java/javatuples.jar",)
"""Archives of Debian's packages that a program may use, where they exist."""


def java(libraries: Sequence[Path] = (), program: Sequence[str] = ("{main}",)) -> Toolchain:
    """The toolchain of Java.

    Args:
        libraries: archives of classes that programs use.
        program: name and arguments of the program that runs.

    Raises:
        ToolchainError: it is missing.
    """
    compiler = Path(located("javac", "openjdk-17-jdk-headless"))
    libraries = [*libraries, *(path.resolve() for path in _existing(*_JAVA_PACKAGES))]
    step = Step(
        arguments=(
            *(str(compiler), *(f"-J{option}" for option in (*_JAVA_OPTIONS, *_COMPILING))),
            *("-proc:none", "-nowarn", "-encoding", "UTF-8"),
            *("-implicit:none", "-cp", _class_path([Path("."), *libraries])),
            *("-d", CLASSES, "{source}"),
        ),
        input_name="{source}",
        output_name=f"{CLASSES}/",
        environment=_java_environment(compiler.parent.parent),
    )
    machine = compiler.parent / "java"
    return _on_java(
        machine,
        step,
        programs=[compiler],
        libraries=libraries,
        version=(str(machine), "-version"),
        program=program,
    )


_JUNIT = "org.junit.platform.console.ConsoleLauncher"


def junit() -> Toolchain:
    """The toolchain of Java with JUnit 5, whose console runs all tests of a program.

    Raises:
        ToolchainError: it is missing.
    """
    console = _jar("junit-platform-console-standalone", "junit5")
    # Without the pattern it leaves out a class that is not named like a test, and succeeds.
    options = (
        *("--disable-banner", "--disable-ansi-colors", "--details=tree"),
        *("--class-path=.", "--scan-class-path", "--include-classname=.*", "--fail-if-no-tests"),
    )
    return java([console], (_JUNIT, *options))


_KOTLIN = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"


def kotlin() -> Toolchain:
    """The toolchain of Kotlin: its compiler for the JVM. Raises ToolchainError."""
    jars = _kotlin_jars()
    library = jars[1]
    options = ("-Xdisable-default-scripting-plugin", "-cp", str(library))
    return _kotlin_toolchain(jars, [library], (*options, "-d", CLASSES, "main.kt"))


_SCRIPT_START = b"""@file:JvmName("Start")
fun main(arguments: Array<String>) {
    val file = java.io.File(".").walk().first { it.name == "Main.class" }
    val name = file.path.removePrefix("./").removeSuffix(".class").replace('/', '.')
    try { Class.forName(name).getConstructor(Array<String>::class.java).newInstance(arguments) }
    catch (failure: java.lang.reflect.InvocationTargetException) { throw failure.cause!! }
}
"""
"""Program that starts a script: a class, in any package, whose constructor runs its lines."""


def kotlin_script() -> Toolchain:
    """The toolchain of scripts in Kotlin. Raises ToolchainError."""
    jars = _kotlin_jars()
    plugins = [
        _jar(f"kotlin-scripting-{part}", "kotlin") for part in ("compiler", "common", "jvm", "impl")
    ]
    libraries = [jars[1], jars[3]]
    options = [*(f"-Xplugin={plugin}" for plugin in plugins), "-cp", _class_path(libraries)]
    found = _kotlin_toolchain(
        [*jars, *plugins],
        libraries,
        (*options, "-d", CLASSES, "main.kts", "start.kt"),
        source="main.kts",
        program=("Start",),
    )
    (step,) = found.steps
    return dataclasses.replace(
        found, steps=(dataclasses.replace(step, files={"start.kt": _SCRIPT_START}),)
    )


def _kotlin_jars() -> list[Path]:
    """The archives of Kotlin's compiler. Raises ToolchainError."""
    parts = ("kotlin-compiler", "kotlin-stdlib", "kotlin-reflect", "kotlin-script-runtime")
    others = ("libtrove-intellij", "org.jetbrains.annotations-common")
    return [_jar(name, "kotlin") for name in (*parts, *others)]


def _kotlin_toolchain(
    jars: Sequence[Path],
    libraries: Sequence[Path],
    arguments: Sequence[str],
    *,
    source: str = "main.kt",
    program: Sequence[str] = ("{main}",),
) -> Toolchain:
    machine = Path(located("java", "openjdk-17-jdk-headless"))
    arguments = ("-nowarn", "-no-stdlib", "-no-reflect", "-jvm-target", "1.8", *arguments)
    step = _java_step(machine, jars, _KOTLIN, arguments, source)
    version = (str(machine), *_ASKING, "-cp", _class_path(jars), _KOTLIN, "-version")
    return _on_java(
        machine, step, libraries=libraries, readable=jars, version=version, program=program
    )


def scala() -> Toolchain:
    """The toolchain of Scala. Raises ToolchainError."""
    parts = ("compiler", "library", "reflect")
    jars = [_jar(f"scala-{part}", "scala") for part in parts]
    jars += [_jar(f"scala-{part}_2.11", "scala") for part in ("xml", "parser-combinators")]
    library = jars[1]
    machine = Path(located("java", "openjdk-17-jdk-headless"))
    arguments = (
        *("-nowarn", "-encoding", "UTF-8", "-target:jvm-1.8", "-cp", str(library)),
        *("-Xmax-classfile-name", "150", "-d", CLASSES, "main.scala"),
    )
    main = "scala.tools.nsc.Main"
    step = dataclasses.replace(
        _java_step(machine, jars, main, arguments, "main.scala"),
        files={f"{CLASSES}/.keep": b""},  # the compiler makes no directory
    )
    version = (str(machine), *_ASKING, "-cp", _class_path(jars), main, "-version")
    return _on_java(machine, step, libraries=[library], readable=jars, version=version)


def _jar(name: str, package: str) -> Path:
    """An archive of classes from Debian's packages. Raises ToolchainError."""
    path = _SYSTEM / "share/java" / f"{name}.jar"
    if not path.exists():
        raise ToolchainError(
            f"no {path}: install it (Debian and Ubuntu: apt install {package}), {_LATER}"
        )
    return path.resolve()


def _class_path(jars: Iterable[Path]) -> str:
    return ":".join(map(str, jars))


def _java_environment(home: Path) -> dict[str, str]:
    # The loader would look for libraries beside the program, whose path it reads in /proc.
    return {"MALLOC_ARENA_MAX": "1", "LD_LIBRARY_PATH": str(home / "lib")}


def _java_step(
    machine: Path, jars: Sequence[Path], name: str, arguments: Sequence[str], source: str
) -> Step:
    """A compiler that is a program of Java: the class of this name in these archives."""
    options = (*_JAVA_OPTIONS, *_COMPILING, "-Xss16m", *_TRUSTING)
    return Step(
        arguments=(str(machine), *options, "-cp", _class_path(jars), name, *arguments),
        input_name=source,
        output_name=f"{CLASSES}/",
        environment=_java_environment(machine.parent.parent),
    )


def _on_java(
    machine: Path,
    step: Step,
    *,
    version: tuple[str, ...],
    programs: Sequence[Path] = (),
    libraries: Sequence[Path] = (),
    readable: Sequence[Path] = (),
    program: Sequence[str] = ("{main}",),
) -> Toolchain:
    """A toolchain whose compiler makes classes for a Java machine.

    Args:
        machine: the program `java`.
        step: the compiler.
        version: command that prints a text with the version.
        programs: programs besides the machine that are started.
        libraries: archives of classes that programs use.
        readable: archives of classes that the compiler reads.
        program: name of the class that is started, and its arguments.
    """
    home = machine.parent.parent
    # Debian has its configuration in /etc, with links to it.
    links = [*(home / "conf").rglob("*"), *(home / "lib/security").rglob("*")]
    outside = sorted({path.resolve() for path in links if path.is_symlink() and path.exists()})
    running = Step(
        arguments=(
            *(str(machine), *_JAVA_OPTIONS, *_RUNNING, _class_path([Path("."), *libraries])),
            *program,
        ),
        input_name="",
        environment=_java_environment(home),
    )
    files = [home, *outside, *libraries, *readable, *_system_files()]
    tools = _tools([*programs, machine], files, runtime.DEVICES, calls="java")
    return Toolchain(steps=(step,), runtime=running, tools=tools, version=version)


# C#

MONO_THREADS = Path(__file__).with_name("mono_threads.c")
_MONO_DEBUG = Path(__file__).with_name("mono_debug.cs")
_CSHARP_OPTIONS = (
    *("-nologo", "-optimize+", "-warn:0", "-langversion:latest", "-codepage:utf8"),
    *("-define:ONLINE_JUDGE", "-reference:System.Numerics", "-reference:Microsoft.CSharp"),
)


def csharp() -> Toolchain:
    """The toolchain of C#: Mono's compiler and its machine. Raises ToolchainError."""
    mono = located("mono", "mono-runtime")
    home = _SYSTEM / "lib/mono"
    compiler = home / "4.5/mcs.exe"
    if not compiler.exists():
        raise ToolchainError(
            f"no {compiler}: install it (Debian and Ubuntu: apt install mono-mcs), {_LATER}"
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
    native = sorted((_SYSTEM / "lib").glob("libmono-native.so*"))
    libraries = [*native, *shared_libraries(native[0])] if native else []
    readable = [*_existing(str(home), "/etc/mono"), *libraries, threads, *_system_files()]
    tools = dataclasses.replace(
        _tools([Path(mono)], readable, runtime.DEVICES, calls="mono"),
        links={"/proc/self/maps": "/dev/null"},  # it does not start where that is missing
    )
    return Toolchain(steps=(step,), runtime=running, tools=tools, version=(mono, "--version"))


# Haskell

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
    archive = _static_library(driver, "gcc")
    home = Path(ask(ghc, "--print-libdir"))
    compiler = home / "bin/ghc"
    linking, libraries, shims = _haskell_link(ghc, driver)
    linker = _part(ask(driver, "-print-prog-name=ld"), "gcc")
    link, directories = _link(driver, linker, archive, linking)
    (assembler,) = _commands(driver, "-x", "assembler", "-c", "main.s", "-o", OUTPUT_FILE)
    assembler[0] = _part(assembler[0], "gcc")
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
    readable = [home, *_existing("/var/lib/ghc/package.conf.d"), *directories, *_system_files()]
    programs = [Path(step.arguments[0]) for step in steps]
    tools = dataclasses.replace(
        _tools(programs, readable, calls="ghc"),
        binary_calls="haskell",
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
        renamed = _renamed(arguments, {**names, "main": OUTPUT_FILE})
        (collector,) = _commands(driver, "utf8.o", *renamed)
    return collector, [one for one in arguments if one.startswith("-L")], shims


# Verilog

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
    places = [*_SYSTEM.glob("lib/*/ivl"), *_SYSTEM.glob("lib/ivl"), *_SYSTEM.glob("local/lib/ivl")]
    homes = [place for place in places if (place / "vvp.tgt").exists()]
    if not homes:
        raise ToolchainError(
            f"no vvp.tgt below /usr/lib: install it (Debian and Ubuntu: apt install iverilog), "
            f"{_LATER}"
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
    tools = _tools(programs, [home, *libraries, *_system_files()], runtime.DEVICES)
    return Toolchain(steps=steps, runtime=running, tools=tools, version=(machine, "-V"))


# JavaScript and TypeScript

_NODE_OPTIONS = ("--max-old-space-size={memory_mib}", "--stack-size=60000")
_NODE_PACKAGES = "/usr/share/nodejs"
"""Directory of Debian's packages for Node.js, which a program may `require`."""
# It does not start where its configuration of OpenSSL is there and may not be read.
_NODE_ENVIRONMENT = {"OPENSSL_CONF": "/dev/null", "NODE_PATH": _NODE_PACKAGES}
_TYPESCRIPT_PLACES = ("share/nodejs", "lib/node_modules", "local/lib/node_modules")
# Types are left out and not checked, as by those who run TypeScript (tsx, ts-node): what Node.js
# itself declares is in a package of its own, without which no program that reads would be right.
_TRANSPILE = """
const ts = require(process.argv[1]), fs = require("fs");
const made = ts.transpileModule(fs.readFileSync("main.ts", "utf8"), {
  fileName: "main.ts", reportDiagnostics: true,
  compilerOptions: {target: "es2022", module: "commonjs", esModuleInterop: true},
});
for (const one of made.diagnostics) {
  const at = one.file && one.file.getLineAndCharacterOfPosition(one.start);
  const text = ts.flattenDiagnosticMessageText(one.messageText, "\\n");
  console.error(`main.ts${at ? `:${at.line + 1}:${at.character + 1}` : ""}: error: ${text}`);
}
if (made.diagnostics.length) process.exit(1);
fs.writeFileSync("output", made.outputText);
"""


def javascript() -> Toolchain:
    """The toolchain of JavaScript, which is Node.js. Raises ToolchainError."""
    node = located("node", "nodejs")
    arguments = (node, *_NODE_OPTIONS, "{source}")
    running = Step(arguments=arguments, input_name="{source}", environment=_NODE_ENVIRONMENT)
    return Toolchain(runtime=running, tools=_node_tools(node), version=(node, "--version"))


def typescript() -> Toolchain:
    """The toolchain of TypeScript: its compiler, run by Node.js. Raises ToolchainError."""
    node = located("node", "nodejs")
    places = [_SYSTEM / place / "typescript" for place in _TYPESCRIPT_PLACES]
    places = [place for place in places if place.exists()]
    if not places:
        raise ToolchainError(
            f"no typescript in {', '.join(f'/usr/{one}' for one in _TYPESCRIPT_PLACES)}: install "
            "it (Debian and Ubuntu: apt install node-typescript; or npm install --global "
            f"typescript), {_LATER}"
        )
    module = str(places[0].resolve() / "lib/typescript.js")
    compiling = Step(
        arguments=(node, "-e", _TRANSPILE, module),
        input_name="main.ts",
        environment=_NODE_ENVIRONMENT,
    )
    running = Step(
        arguments=(node, *_NODE_OPTIONS, "main.js"),
        input_name="main.js",
        environment=_NODE_ENVIRONMENT,
    )
    tools = _node_tools(node, places[0].resolve())
    version = (node, "-p", "require(process.argv[1]).version", module)
    return Toolchain(steps=(compiling,), runtime=running, tools=tools, version=version)


def _node_tools(node: str, *more: Path) -> Tools:
    return _tools(
        [Path(node)],
        [*more, *_existing(_NODE_PACKAGES), *_system_files()],
        runtime.DEVICES,
        calls="node",
    )


# Interpreters


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
    calls: str = "",
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
        calls: name of the system calls that it needs, see `system_calls.CALLS_OF_RUNTIMES`.
        version: arguments with which it prints its version, or a command for that with its path.
    """

    def find() -> Toolchain:
        program = located(name, package)
        lines = ask(program, *libraries).splitlines() if libraries else []
        found = [path for path in _existing(*lines) if path.is_absolute() and path != Path("/")]
        others = [path for pattern in readable for path in sorted(Path("/").glob(pattern[1:]))]
        running = Step(
            arguments=(program, *arguments),
            input_name=input_name,
            files=files or {},
            environment=environment or {},
        )
        read = [*found, *others, *_system_files()]
        tools = _tools([Path(program)], read, runtime.DEVICES, calls=calls)
        command = tuple(version) if version[0].startswith("/") else (program, *version)
        return Toolchain(runtime=running, tools=tools, version=command)

    return find


RACKET_SELF = Path(__file__).with_name("racket_self.c")


def racket() -> Toolchain:
    """The toolchain of Racket. Raises ToolchainError."""
    found = interpreter(
        *("racket", "racket"),
        arguments=("main.rkt",),
        input_name="main.rkt",
        readable=("/usr/lib/racket", "/usr/share/racket", "/etc/racket"),
    )()
    assert found.runtime is not None
    library = preloaded(RACKET_SELF)
    environment = {
        "LD_PRELOAD": str(library),
        "RACKET_SELF": found.runtime.arguments[0],
        "TMPDIR": ".",
    }
    return dataclasses.replace(
        found,
        runtime=dataclasses.replace(found.runtime, environment=environment),
        tools=dataclasses.replace(found.tools, readable=(*found.tools.readable, library)),
    )


# Programs of the machine


@functools.cache
def compiled_launcher() -> bytes:
    """The library of `launcher.c`; empty where it does not compile: programs start slower then."""
    with tempfile.TemporaryDirectory() as directory:
        library = Path(directory, "launcher.so")
        try:
            driver = located("gcc", "gcc libc6-dev")
            run_tool(driver, *launcher.OPTIONS, "-o", str(library), str(launcher.SOURCE))
        except ToolchainError:
            return b""
        return library.read_bytes()


def preloaded(source: Path) -> Path:
    """A library that LD_PRELOAD can name, compiled from a source. Raises ToolchainError.

    The sandbox has to map it, so it is a file. An image has it beside its source. Elsewhere it is
    in a directory of this user's, by the hash of its source, and stays for the next service.
    """
    if (beside := source.with_suffix(".so")).exists():
        return beside
    directory = Path(tempfile.gettempdir(), f"verifier-service-{os.geteuid()}")
    try:
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o755)
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise ToolchainError(f"{directory} is not this user's alone: remove it, {_LATER}")
        if os.statvfs(directory).f_flag & os.ST_NOEXEC:
            raise ToolchainError(
                f"no library can be mapped from {directory}, which is mounted with noexec: set "
                f"TMPDIR to another directory, {_LATER}"
            )
        name = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
        library = directory / f"{source.stem}-{name}.so"
        if not library.exists():
            with tempfile.TemporaryDirectory(dir=directory) as made:
                driver = located("gcc", "gcc libc6-dev")
                run_tool(driver, *launcher.OPTIONS, "-o", f"{made}/library", str(source))
                Path(made, "library").rename(library)
    except OSError as error:
        raise ToolchainError(f"{source.name} cannot be compiled: {error}") from error
    return library


def located(name: str, package: str) -> str:
    """The path of a program, without links. Raises ToolchainError."""
    found = shutil.which(name, path=SEARCH_PATH)
    if found is None:
        raise ToolchainError(
            f"no {name} in {SEARCH_PATH}: install it (Debian and Ubuntu: apt install {package}), "
            f"{_LATER}"
        )
    # A link named gcc or g++ leads to the driver of one version, which does the same.
    return str(Path(found).resolve())


def _part(program: str, of: str) -> str:
    """The path of a program that a driver of GCC starts. Raises ToolchainError."""
    found = shutil.which(program, path=SEARCH_PATH)
    if found is None:
        raise ToolchainError(
            f"{of} needs {program}, which is not in {SEARCH_PATH}: install it (Debian and Ubuntu: "
            f"apt install binutils), {_LATER}"
        )
    return str(Path(found).resolve())


def _tools(
    programs: Iterable[Path],
    readable: Iterable[Path],
    devices: tuple[Path, ...] = (),
    *,
    calls: str = "",
    starter: bytes = b"",
) -> Tools:
    """Programs with the libraries that they are linked with, and the files that they read."""
    programs = list(dict.fromkeys(programs))
    libraries = sorted({path for program in programs for path in shared_libraries(program)})
    loaders = [path for path in libraries if path.name.startswith(("ld-linux", "ld-musl"))]
    files = [*readable, *libraries, *_existing("/etc/ld.so.cache")]
    return Tools(
        executable=(*programs, *loaders),
        readable=tuple(dict.fromkeys(files)),
        devices=devices,
        calls=calls,
        launcher=starter,
    )


def _system_files() -> list[Path]:
    """Files that every runtime reads: shared libraries, time zones, and the locale C.UTF-8."""
    return [*runtime.system_libraries(), *_locale()]


def _locale() -> Iterator[Path]:
    """The locale that every program has by its environment."""
    return _existing("/usr/lib/locale/C.utf8")


def _existing(*paths: str) -> Iterator[Path]:
    return (Path(path) for path in paths if path and Path(path).exists())


def shared_libraries(program: Path) -> list[Path]:
    """Files that the dynamic loader maps for a program, the loader included.

    Debian's alternatives are left out. They are links through /etc, which the sandbox does not
    have, so a row names their directories (`LD_LIBRARY_PATH`).
    """
    lines = run_tool("ldd", str(program)).stdout
    paths = [Path(path) for path in re.findall(r"(/\S+) \(0x", lines)]
    return [path for path in paths if not (path.is_symlink() and _is_alternative(path))]


def _is_alternative(link: Path) -> bool:
    return link.readlink().is_relative_to("/etc/alternatives")


def ask(driver: str, *question: str) -> str:
    """The standard output of a program. Raises ToolchainError."""
    return run_tool(driver, *question).stdout.strip()


def run_tool(*command: str, directory: str = "/") -> subprocess.CompletedProcess[str]:
    """Run a program of the machine, on nothing that a user gave. Raises ToolchainError."""
    # A user without a name, as in a container, has no home: Racket would not even tell its version.
    environment = {"PATH": SEARCH_PATH, "LC_ALL": "C", "HOME": "/nonexistent"}
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            timeout=_QUERY_SECONDS,
            check=True,
        )
    except OSError as error:
        raise ToolchainError(f"{command[0]} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ToolchainError(f"{command[0]} does not end within {error.timeout:g} s") from error
    except subprocess.CalledProcessError as error:
        first_line = error.stderr.strip().partition("\n")[0]
        said = first_line or f"status {error.returncode}"
        raise ToolchainError(f"{shlex.join(command)}: {said}") from error
