"""Toolchains of this machine: the programs that compile and run a language, found once.

A sandboxed process may start no other, so a compiler's driver (g++, go, rustc with its linker) is
not run on programs. It is asked once for the commands that it would start, and each of them is one
`Step`.
"""

from __future__ import annotations

import dataclasses
import functools
import platform
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

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


# C and C++


def gcc(driver_name: str, package: str, source: str, options: Sequence[str]) -> Finder:
    """The finder of a compiler of GCC, which links statically: a program needs no file but its own.

    Args:
        driver_name: name of the compiler's driver.
        package: its Debian package.
        source: name of the source's file.
        options: options of a compilation.
    """

    def find() -> Toolchain:
        driver = located(driver_name, package)
        archive = _static_library(driver, driver_name)
        linker = _part(ask(driver, "-print-prog-name=ld"), driver_name)
        commands = _commands(driver, *options, source, "-lm", "-o", OUTPUT_FILE)
        if len(commands) != 3:
            raise ToolchainError(f"{driver_name} would start {len(commands)} programs, not 3")
        compiler, assembler, collector = commands
        compiler[0] = _part(compiler[0], driver_name)
        assembler[0] = _part(assembler[0], driver_name)
        link, directories = _link(driver, linker, archive, collector)
        assembly, binary = _output_of(compiler), _output_of(assembler)
        steps = (
            Step(arguments=_renamed(compiler, {assembly: OUTPUT_FILE}), input_name=source),
            Step(
                arguments=_renamed(assembler, {assembly: "main.s", binary: OUTPUT_FILE}),
                input_name="main.s",
            ),
            Step(arguments=_renamed(link, {binary: "main.o"}), input_name="main.o"),
        )
        programs = [Path(step.arguments[0]) for step in steps]
        included = _include_directories(driver, options)
        tools = _tools(programs, [*directories, *included], starter=compiled_launcher())
        return Toolchain(steps=steps, tools=tools, version=(driver, "-dumpfullversion"))

    return find


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
    tools = Tools(
        executable=(tool / "compile", tool / "link"),
        readable=(packages.resolve(), *_existing("/usr/share/zoneinfo")),
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


def java() -> Toolchain:
    """The toolchain of Java. Raises ToolchainError."""
    compiler = Path(located("javac", "openjdk-17-jdk-headless"))
    home = compiler.parent.parent
    # Debian has its configuration in /etc, with links to it.
    links = [*(home / "conf").rglob("*"), *(home / "lib/security").rglob("*")]
    outside = sorted({path.resolve() for path in links if path.is_symlink() and path.exists()})
    # The loader would look for libraries beside the program, whose path it reads in /proc.
    environment = {"MALLOC_ARENA_MAX": "1", "LD_LIBRARY_PATH": str(home / "lib")}
    compiling = [
        f"-J{option}" for option in (*_JAVA_OPTIONS, "-Xmx512m", "-XX:TieredStopAtLevel=1")
    ]
    step = Step(
        arguments=(
            *(str(compiler), *compiling, "-proc:none", "-nowarn", "-encoding", "UTF-8"),
            *("-implicit:none", "-cp", ".", "-d", CLASSES, "{source}"),
        ),
        input_name="{source}",
        output_name=f"{CLASSES}/",
        environment=environment,
    )
    machine = home / "bin/java"
    running = Step(
        arguments=(
            *(str(machine), *_JAVA_OPTIONS, "-Xmx{memory_mib}m", "-Xss16m", "-ea", "-cp", "."),
            "{main}",
        ),
        input_name="",
        environment=environment,
    )
    readable = [home, *outside, *_system_files()]
    tools = _tools([compiler, machine], readable, runtime.DEVICES, calls="java")
    version = (str(machine), "-version")
    return Toolchain(steps=(step,), runtime=running, tools=tools, version=version)


# JavaScript and TypeScript

_NODE_OPTIONS = ("--max-old-space-size={memory_mib}", "--stack-size=60000")
# It does not start where its configuration of OpenSSL is there and may not be read.
_NODE_ENVIRONMENT = {"OPENSSL_CONF": "/dev/null"}
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
        [*more, *_existing("/usr/share/nodejs"), *_system_files()],
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
    return [*runtime.system_libraries(), *_existing("/usr/lib/locale/C.utf8")]


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
    environment = {"PATH": SEARCH_PATH, "LC_ALL": "C"}
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
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolchainError(f"{shlex.join(command)}: {error}") from error
