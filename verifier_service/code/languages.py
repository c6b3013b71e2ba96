"""Languages of programs: the table of how each is compiled, run and confined.

| language | compiled by | run as |
|---|---|---|
| `python` | the process that runs it | source |
| those in `BINARIES`, such as `c` | a compiler and a linker, once per program | a static binary |
| `java`, `csharp` and the like | a compiler, once per program | its output, by a runtime |
| the others | the interpreter that runs it | source |

A row says all that is special to a language. `installed_toolchains` finds its programs on the
machine, and `system_calls.CALLS_OF_RUNTIMES` has the calls that its runtime needs and Python does
not.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import platform
import re
import struct
import sysconfig
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeGuard

import msgspec

from verifier_service.code import installed_toolchains
from verifier_service.code.compiled_programs import CompiledPrograms
from verifier_service.code.device_stdin import (
    by_descriptor,
    by_duplicate,
    by_file,
    files_beside,
)
from verifier_service.code.go_tests import with_main
from verifier_service.code.installed_toolchains import (
    Step,
    Toolchain,
    ToolchainError,
    gcc,
    interpreter,
)
from verifier_service.code.reasons import CodeReason
from verifier_service.sandbox import pack
from verifier_service.sandbox.entries import OUTPUT_FILE, tool_payload
from verifier_service.sandbox.execution import (
    Execution,
    ExitReason,
    Limits,
    Program,
    SandboxError,
    Tools,
    ZygoteKind,
)
from verifier_service.sandbox.file_names import is_name
from verifier_service.sandbox.python_packages import is_installed
from verifier_service.validation import did_you_mean

if TYPE_CHECKING:
    from verifier_service.sandbox.runner import Runner

LanguageName = Literal[
    "python",
    "cpp",
    "c",
    "javascript",
    "typescript",
    "java",
    "kotlin",
    "scala",
    "csharp",
    "go",
    "rust",
    "haskell",
    "d",
    "fortran",
    "verilog",
    "racket",
    "bash",
    "ruby",
    "php",
    "perl",
    "lua",
    "r",
    "sql",
]

RunnerName = Literal["d_ut", "go_test", "junit", "kotlin_script", "pytest"]

_MIB = 2**20
COMPILE_LIMITS = Limits(
    cpu_seconds=15,
    wall_seconds=60,
    memory_bytes=2**30,
    output_bytes=2**16,
    file_bytes=64 * _MIB,
    num_threads=1,
)
"""Limits on all steps of a compilation together."""
MIN_SECONDS = 0.01
"""Least time limit. A step whose time is used up before it starts gets this and is ended by it."""
SOURCE_BYTES = 32 * _MIB
"""Room in the scratch directory of a program that a runtime reads, and for files of its own."""

TESTS_FILE = "test_main.py"
"""Name of the source in the scratch directory of a driver."""
NO_FILES: Mapping[str, bytes] = {}
compiled_programs = CompiledPrograms()
"""Compiled programs that are kept. A worker of a pool shares those of the others."""


@dataclass(frozen=True)
class CompileFailure:
    """A program could not be compiled."""

    message: str
    execution: Execution
    """The step that failed."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language of programs: a row of the table."""

    name: LanguageName
    tags: tuple[str, ...]
    """Tags of fenced blocks, in lower case."""
    runner: RunnerName | None = None
    """Name of another way to run the language, of which this is the row; None for its usual one."""
    aliases: tuple[str, ...] = ()
    """Names that other protocols have for it, besides its own; in lower case."""
    find: installed_toolchains.Finder | None = None
    """Finds its toolchain; None for Python, which is that of the service."""
    hello: bytes = b""
    """Smallest program, which prints 1: one that does not run says that the toolchain is broken."""
    hello_says: re.Pattern[bytes] = re.compile(rb"\s*1\s*")
    """Output of that program, as a whole."""
    source_name: Callable[[bytes], str] | None = None
    """Name of the source's file, where a `{source}` of the toolchain asks for it."""
    rewrite: Callable[[bytes], bytes] | None = None
    """Replaces what the sandbox lacks in a program's source, before `by_file` does."""
    has_folder: bool = False
    """Whether `/run_code` gives a program a scratch directory even if it has no files."""
    reserved_bytes: int = 0
    """Address space that its runtime reserves and does not use; see `Limits.reserved_bytes`."""
    runtime_bytes: int = 0
    """Resident memory that its runtime takes itself."""
    num_files: int = Limits().num_files
    """Files that may be open at a time."""
    compile_limits: Limits = COMPILE_LIMITS
    stdin_name: str | None = None
    """Name of the file with the standard input, for a runtime that does not read that."""
    syntax_error: re.Pattern[bytes] | None = None
    """Text on standard error by which a runtime says that the source is no program."""
    memory_error: re.Pattern[bytes] | None = None
    """Text on standard error by which a runtime says that the memory is used up."""
    not_static: bytes = b""
    """Message about a program that was linked with shared libraries; empty where none is."""
    missing_module: re.Pattern[bytes] | None = None
    """Text on standard error by which a runtime says that a module is not installed."""
    packages: tuple[str, ...] = ()
    """Packages of Python that programs in it need beside the service."""
    driver: bytes = b""
    """Program in Python that runs the file `TESTS_FILE`, the source; empty where none is needed."""
    zygote_kind: ZygoteKind | None = None
    """Kind of the zygote that runs the driver."""
    problems: list[str | None] = field(default_factory=list)
    """Advice on what to install, or None, once the toolchain has been tried."""
    found: list[Toolchain] = field(default_factory=list)
    """Its toolchain, once it was found."""

    @property
    def key(self) -> str:
        """Name of its toolchain and of its compiled programs."""
        return self.runner or self.name

    @property
    def has_calls(self) -> bool:
        """Whether tests can call functions of a program."""
        return self.find is None

    @property
    def is_compiled(self) -> bool:
        """Whether a compiler runs before the program."""
        return self.find is not None and self.name in COMPILED

    def toolchain(self) -> Toolchain:
        """Its programs on this machine. Raises ToolchainError."""
        assert self.find is not None
        if not self.found:
            self.found.append(self.find())
        return self.found[0]

    async def missing(self, runner: Runner) -> str | None:
        """Advice on what to install on this machine, or None. Raises SandboxError.

        The first call runs a smallest program.
        """
        if self.find is None:
            lacks = [name for name in self.packages if not is_installed(name)]
            return _missing_packages(lacks) if lacks else None
        if not self.problems:
            self.problems.append(await self._problem(runner))
        return self.problems[0]

    async def _problem(self, runner: Runner) -> str | None:
        try:
            await asyncio.to_thread(self.toolchain)
        except ToolchainError as error:
            return str(error)
        built = await self.build(runner, self.hello, self.compile_limits)
        if isinstance(built, CompileFailure):
            run = built.execution
        else:
            patient = dataclasses.replace(COMPILE_LIMITS, num_threads=Limits().num_threads)
            run = await runner.run(built, self.run_limits(patient))
            if run.succeeded and self.hello_says.fullmatch(run.stdout):
                return None
        problem = f"{self.key} does not work in the sandbox: {_why(run)}"
        if run.exit_code is None:  # a limit or a signal ended it, which may not happen next time
            raise SandboxError(problem)
        return problem

    async def build(
        self,
        runner: Runner,
        source: bytes,
        limits: Limits | None = None,
        files: Mapping[str, bytes] = NO_FILES,
        *,
        memory_bytes: int = Limits().memory_bytes,
    ) -> Program | CompileFailure:
        """Make a program that can be run any number of times, within `run_limits`.

        Args:
            runner: has the tools of this module.
            source: source of the program.
            limits: limits on the compiler, if the language has one.
            files: files that the source may include.
            memory_bytes: limit on the memory of the program, of which some runtimes are told.

        Raises:
            SandboxError: the program could not be compiled, which is our failure.
        """
        source = by_file(self.rewrite(source) if self.rewrite else source)
        built = await self._built(runner, source, limits, files, memory_bytes)
        if isinstance(built, CompileFailure):
            return built
        return dataclasses.replace(built, files={**built.files, **files_beside(source)})

    async def _built(
        self,
        runner: Runner,
        source: bytes,
        limits: Limits | None,
        files: Mapping[str, bytes],
        memory_bytes: int,
    ) -> Program | CompileFailure:
        """`build`, for a source that was rewritten."""
        if self.find is None:
            files = {TESTS_FILE: source} if self.driver else NO_FILES
            return Program(payload=self.driver or source, files=files, zygote_kind=self.zygote_kind)
        found = self.toolchain()
        texts = {"{source}": self._source_name(source), "{memory_mib}": str(memory_bytes // _MIB)}
        if not found.steps:
            assert found.runtime is not None
            return self._started(found.runtime, source, texts)
        kept = compiled_programs.get(self.key, source, files)
        if kept is None:
            failed = f"{self.key} that does not compile"
            if (said := compiled_programs.get(failed, source, files)) is not None:
                made: bytes | Execution = msgspec.msgpack.decode(said, type=Execution)
            else:
                made = await self._compile(runner, found, source, limits, files, texts)
            if isinstance(made, Execution):
                # Only what the compiler itself decided: a limit may be met once and not again.
                if said is None and _is_lasting(made):
                    compiled_programs.keep(failed, source, files, msgspec.msgpack.encode(made))
                return CompileFailure(_why(made), made)
            compiled_programs.keep(self.key, source, files, made)
            kept = made
        if found.runtime is None:
            return Program(payload=kept, entry="binary", toolchain=self.key)
        if found.steps[-1].output_name == OUTPUT_FILE:
            return self._started(found.runtime, kept, texts)
        # A program chooses the names of its classes, and a name may be too long for a file here.
        classes = {name: one for name, one in pack.unpack(kept).items() if is_name(name)}
        texts["{main}"] = _main_class(self._source_name(source), classes)
        return dataclasses.replace(self._started(found.runtime, b"", texts), files=classes)

    def interpreted(self, source: bytes) -> Program:
        """A program of a language whose runtime reads the source. Raises ToolchainError."""
        found = self.toolchain()
        assert found.runtime is not None
        return self._started(found.runtime, source, {})

    async def _compile(
        self,
        runner: Runner,
        found: Toolchain,
        source: bytes,
        limits: Limits | None,
        files: Mapping[str, bytes],
        texts: Mapping[str, str],
    ) -> bytes | Execution:
        """Bytes that the last step wrote, or the execution of the step that failed.

        The limits hold for all steps together.
        """
        content, limits = source, limits or self.compile_limits
        for step in found.steps:
            files = {**files, **step.files}
            run = await runner.run(self._compiler(step, content, files, texts), limits)
            limits = _left(limits, run)
            if not run.succeeded and (other := _second_input(step, content, run)) is not None:
                run = await runner.run(self._compiler(step, other, files, texts), limits)
                limits = _left(limits, run)
            if not run.succeeded or step.output_name not in run.files:
                return run
            content, files = run.files[step.output_name], NO_FILES
        if self.not_static and _needs_loader(content):
            return dataclasses.replace(run, exit_code=1, stderr=self.not_static, files={})
        return content

    def _compiler(
        self, step: Step, content: bytes, files: Mapping[str, bytes], texts: Mapping[str, str]
    ) -> Program:
        """A compiler that reads files and writes one."""
        started = self._started(step, content, texts)
        return dataclasses.replace(started, files=files, fetched_files=(step.output_name,))

    def _started(self, step: Step, content: bytes, texts: Mapping[str, str]) -> Program:
        """A tool that reads a file."""
        arguments = [_filled(argument, texts) for argument in step.arguments]
        environment = {name: _filled(value, texts) for name, value in step.environment.items()}
        name = _filled(step.input_name, texts) or _NO_INPUT
        return Program(
            payload=tool_payload(arguments, name, content, environment),
            entry="tool",
            files=step.files,
            toolchain=self.key,
            stdin_name=self.stdin_name,
        )

    def _source_name(self, source: bytes) -> str:
        return self.source_name(source) if self.source_name is not None else "main"

    def run_limits(self, limits: Limits) -> Limits:
        """The limits of a run of a program, with the room that the runtime needs."""
        if self.find is None or self.name in BINARIES:
            return dataclasses.replace(
                limits, reserved_bytes=self.reserved_bytes, runtime_bytes=self.runtime_bytes
            )
        return dataclasses.replace(
            limits,
            reserved_bytes=self.reserved_bytes,
            runtime_bytes=self.runtime_bytes,
            num_files=self.num_files,
            file_bytes=max(limits.file_bytes, SOURCE_BYTES),
        )

    def reason_told(self, run: Execution) -> CodeReason | None:
        """The reason that the runtime gives on standard error for the end of a program, if one.

        A program can write the same, and has failed as well.
        """
        if run.succeeded or run.reason not in (ExitReason.EXITED, ExitReason.SIGNALED):
            return None
        if self.memory_error is not None and self.memory_error.search(run.stderr):
            return CodeReason.MEMORY_LIMIT_EXCEEDED
        if self.syntax_error is not None and self.syntax_error.search(run.stderr):
            return CodeReason.COMPILE_ERROR
        if self.missing_module is not None and self.missing_module.search(run.stderr):
            return CodeReason.MODULE_NOT_FOUND
        return None


BINARIES = frozenset({"cpp", "c", "rust", "go", "haskell", "d", "fortran"})
"""Languages whose programs are run without a runtime."""
COMPILED = BINARIES | {"java", "kotlin", "scala", "csharp", "typescript", "verilog"}
"""Languages with a compiler that runs before the program."""
_NO_INPUT = ".input"
_PT_INTERP = 3

# A declaration of a public type: "public final class Main".
_PUBLIC_TYPE = re.compile(
    rb"^\s*public\s+(?:(?:final|abstract|strictfp|sealed)\s+)*(?:class|enum|record|interface)\s+"
    rb"([A-Za-z_]\w*)",
    re.MULTILINE,
)
# A line of a module: "import fs from 'fs'", "export const a = 1".
_MODULE_LINE = re.compile(
    rb"^\s*(?:import\s+(?:[\w*{][^;'\"(]*\sfrom\s*)?['\"]|export\s+(?:default|const|function|\{))",
    re.MULTILINE,
)


def _java_file(source: bytes) -> str:
    """The name that javac asks of a file: that of its public type."""
    found = _PUBLIC_TYPE.search(source)
    return f"{found[1].decode()}.java" if found else "Main.java"


def _javascript_file(source: bytes) -> str:
    """The name by which Node.js tells a module from a script."""
    return "main.mjs" if _MODULE_LINE.search(source) else "main.js"


def _main_class(source_name: str, classes: Mapping[str, bytes]) -> str:
    """The class to start: that of the file, or `Main`, or the first with a main method."""
    names = sorted(name.removesuffix(".class") for name in classes if name.endswith(".class"))
    preferred = (source_name.removesuffix(".java"), "MainKt", "Main")
    starts = [name for name in names if _has_main(classes[f"{name}.class"])]
    for simple in preferred:
        for name in starts:
            if name.rpartition("/")[2] == simple:
                return name.replace("/", ".")
    return (starts or list(preferred))[0].replace("/", ".")


def _has_main(compiled: bytes) -> bool:
    return b"\x00\x04main" in compiled and b"([Ljava/lang/String;)V" in compiled


def _needs_loader(binary: bytes) -> bool:
    """Whether a program of this machine asks for shared libraries: it has a PT_INTERP."""
    try:
        (start,) = struct.unpack_from("<Q", binary, 32)
        size, number = struct.unpack_from("<HH", binary, 54)
        kinds = {struct.unpack_from("<I", binary, start + n * size)[0] for n in range(number)}
    except struct.error:  # cut off; the kernel will say so
        return False
    return _PT_INTERP in kinds


def _missing_packages(names: list[str]) -> str:
    listed = " ".join(names)
    return f"no {listed} beside the service: pip install {listed}, then start the service again"


def _left(limits: Limits, run: Execution) -> Limits:
    """The limits on further steps after one of a compilation."""
    wall_seconds = run.wall_seconds - run.waited_seconds
    return dataclasses.replace(
        limits,
        cpu_seconds=max(limits.cpu_seconds - run.cpu_seconds, MIN_SECONDS),
        wall_seconds=max(limits.wall_seconds - wall_seconds, MIN_SECONDS),
    )


def _second_input(step: Step, content: bytes, refused: Execution) -> bytes | None:
    """Another input for a compiler that has refused one, or has said too much about it."""
    ends = (ExitReason.EXITED, ExitReason.OUTPUT_LIMIT)
    if step.second_input is None or refused.reason not in ends:
        return None
    return step.second_input(content, refused.stderr)


def _filled(text: str, texts: Mapping[str, str]) -> str:
    for name, value in texts.items():
        text = text.replace(name, value)
    return text


_QUIET = ("-w", "-static", "-s", "-fmax-errors=20", "-fdiagnostics-color=never")
_GNU = ("-DONLINE_JUDGE", *_QUIET)
_D_OPTIONS = ("-O2", "-fversion=ONLINE_JUDGE", "-Wl,--wrap=pthread_getattr_np", *_QUIET)
_PLENTY = dataclasses.replace(
    COMPILE_LIMITS,
    num_threads=64,
    reserved_bytes=2**30,
    runtime_bytes=64 * _MIB,
    idle_seconds=None,
)
"""Limits on a compiler with threads, and with a runtime of its own."""
# Its package `utils` starts a shell to look for the program `uname`, and does not load without.
_R_PROFILE = b"""
unlockBinding("Sys.which", baseenv())
assign("Sys.which", function(names) structure(rep("", length(names)), names = names), baseenv())
"""
_PYTEST = b"""
import sys, pytest
options = ["-p", "no:cacheprovider", "--no-header", "--basetemp=.pytest"]
sys.exit(pytest.main([*options, "test_main.py"]))
"""
_HEAVY = 128 * _MIB
_LIBRARIES = f"/usr/lib/{sysconfig.get_config_var('MULTIARCH') or ''}"

_ON_JAVA: dict[str, Any] = {
    "memory_error": re.compile(rb"java\.lang\.OutOfMemoryError"),
    "reserved_bytes": 2048 * _MIB,
    "runtime_bytes": 64 * _MIB,
    "compile_limits": _PLENTY,
}
"""Parts of the rows of languages that run on a Java machine."""
_NODE_MEMORY = re.compile(rb"JavaScript heap out of memory|Array buffer allocation failed")
# Of a package: a file of the program's own that is missing has a path.
_NODE_MODULE = re.compile(
    rb"^Error(?: \[ERR_MODULE_NOT_FOUND\])?: Cannot find (?:module|package) '[^./]", re.M
)
ROWS = (
    Language(name="python", tags=("python", "py", "python3"), aliases=("py", "python3")),
    Language(
        name="cpp",
        tags=("cpp", "c++", "cc", "cxx"),
        aliases=("c++", "g++"),
        find=gcc("g++", "g++", "main.cpp", ("-x", "c++", "-std=gnu++20", "-O2", *_GNU)),
        hello=b"#include <iostream>\nint main() { std::cout << 1; }\n",
    ),
    Language(
        name="c",
        tags=("c", "h"),
        aliases=("gcc",),
        find=gcc("gcc", "gcc libc6-dev", "main.c", ("-x", "c", "-std=gnu17", "-O2", *_GNU)),
        hello=b'#include <stdio.h>\nint main(void) { puts("1"); }\n',
    ),
    Language(
        name="javascript",
        tags=("javascript", "js", "node", "nodejs", "mjs"),
        aliases=("js", "node", "nodejs", "node-js", "node-javascript"),
        find=installed_toolchains.javascript,
        hello=b"console.log(1)\n",
        source_name=_javascript_file,
        rewrite=by_descriptor,
        reserved_bytes=2048 * _MIB,
        runtime_bytes=64 * _MIB,
        memory_error=_NODE_MEMORY,
        missing_module=_NODE_MODULE,
        # The place that found it: the loader, and not an `eval` or a `JSON.parse` of the program.
        syntax_error=re.compile(
            rb"^SyntaxError: .*\n    at (?:new Script|internalCompileFunction|wrapSafe|"
            rb"compileSourceTextModule|ModuleLoader)",
            re.MULTILINE,
        ),
    ),
    Language(
        name="typescript",
        tags=("typescript", "ts"),
        aliases=("ts", "node-ts", "tsc"),
        find=installed_toolchains.typescript,
        hello=b"const one: number = 1;\nconsole.log(one);\n",
        rewrite=by_descriptor,
        memory_error=_NODE_MEMORY,
        missing_module=_NODE_MODULE,
        reserved_bytes=2048 * _MIB,
        runtime_bytes=64 * _MIB,
        compile_limits=dataclasses.replace(_PLENTY, reserved_bytes=2048 * _MIB),
    ),
    Language(
        name="java",
        tags=("java",),
        aliases=("openjdk",),
        find=installed_toolchains.java,
        hello=b"class Main { public static void main(String[] a) { System.out.println(1); } }\n",
        source_name=_java_file,
        **_ON_JAVA,
    ),
    Language(
        name="kotlin",
        tags=("kotlin", "kt"),
        aliases=("kt",),
        find=installed_toolchains.kotlin,
        hello=b"fun main() = println(1)\n",
        **_ON_JAVA,
    ),
    Language(
        name="scala",
        tags=("scala", "sc"),
        aliases=("sc",),
        find=installed_toolchains.scala,
        hello=b"object Main { def main(a: Array[String]): Unit = println(1) }\n",
        **_ON_JAVA,
    ),
    Language(
        name="csharp",
        tags=("csharp", "c#", "cs"),
        aliases=("c#", "cs", "mono", "mono-csharp", "csharp.net"),
        find=installed_toolchains.csharp,
        hello=b"class Program { static void Main() { System.Console.WriteLine(1); } }\n",
        memory_error=re.compile(rb"OutOfMemoryException|could not allocate"),
        reserved_bytes=_HEAVY,
        runtime_bytes=32 * _MIB,
        compile_limits=_PLENTY,
    ),
    Language(
        name="go",
        tags=("go", "golang"),
        aliases=("golang",),
        find=installed_toolchains.go,
        hello=b'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(1) }\n',
        memory_error=re.compile(rb"runtime: out of memory|cannot allocate memory"),
        not_static=b"net or os/user is imported, which needs shared libraries that are not here\n",
        reserved_bytes=800 * _MIB,
        runtime_bytes=8 * _MIB,
        compile_limits=_PLENTY,
    ),
    Language(
        name="rust",
        tags=("rust", "rs"),
        aliases=("rs",),
        find=installed_toolchains.rust,
        hello=b'fn main() { println!("1"); }\n',
        memory_error=re.compile(rb"^memory allocation of \d+ bytes failed", re.MULTILINE),
        compile_limits=_PLENTY,
    ),
    Language(
        name="haskell",
        tags=("haskell", "hs"),
        aliases=("hs", "ghc"),
        find=installed_toolchains.haskell,
        hello=b"main = print 1\n",
        memory_error=re.compile(rb"[Hh]eap exhausted|out of memory"),
        reserved_bytes=1024 * _MIB,
        runtime_bytes=8 * _MIB,
        compile_limits=_PLENTY,
    ),
    Language(
        name="d",
        tags=("d", "dlang"),
        aliases=("dlang", "gdc", "dmd"),
        find=gcc(
            *("gdc", "gdc", "main.d", _D_OPTIONS),
            linked=installed_toolchains.D_RUNTIME,
        ),
        hello=b"import std.stdio;\nvoid main() { writeln(1); }\n",
        memory_error=re.compile(rb"OutOfMemoryError"),
        # A program that imports std.regex takes 14 s.
        compile_limits=dataclasses.replace(COMPILE_LIMITS, cpu_seconds=30),
    ),
    Language(
        name="fortran",
        tags=("fortran", "f90", "f95"),
        aliases=("f90", "f95", "gfortran"),
        find=gcc(
            *("gfortran", "gfortran", "main.f90"),
            ("-O2", "-ffree-line-length-none", *_QUIET),
            readable=("/usr/include/finclude",),
        ),
        hello=b"print *, 1\nend\n",
        memory_error=re.compile(
            rb"Allocation would exceed memory limit|Error allocating \d+ bytes"
        ),
    ),
    Language(
        name="verilog",
        tags=("verilog", "systemverilog", "sv", "v"),
        aliases=("systemverilog", "iverilog", "sv", "v"),
        find=installed_toolchains.verilog,
        hello=b"module main; initial $display(1); endmodule\n",
        memory_error=re.compile(rb"std::bad_alloc"),
        reserved_bytes=16 * _MIB,
        runtime_bytes=8 * _MIB,
    ),
    Language(
        name="racket",
        tags=("racket", "rkt"),
        aliases=("rkt",),
        find=installed_toolchains.racket,
        hello=b"#lang racket/base\n(display 1)\n",
        reserved_bytes=_HEAVY,
        runtime_bytes=96 * _MIB,
        memory_error=re.compile(rb"out of memory"),
        missing_module=re.compile(
            rb"^(?:main\.rkt:\d+:\d+|standard-module-name-resolver): collection not found",
            re.MULTILINE,
        ),
        syntax_error=re.compile(
            rb"^main\.rkt:\d+:\d+: (?!collection not found)|^default-load-handler: expected a `mod",
            re.MULTILINE,
        ),
    ),
    Language(
        name="bash",
        tags=("bash", "sh", "shell"),
        aliases=("sh", "shell"),
        find=interpreter("bash", "bash", arguments=("main.sh",), input_name="main.sh"),
        hello=b"echo 1\n",
        rewrite=by_duplicate,
        syntax_error=re.compile(rb"^main\.sh: line \d+: syntax error", re.MULTILINE),
    ),
    Language(
        name="ruby",
        tags=("ruby", "rb"),
        aliases=("rb",),
        find=interpreter(
            "ruby",
            "ruby",
            arguments=("main.rb",),
            input_name="main.rb",
            libraries=("-e", "puts $LOAD_PATH, Gem.path, Gem.default_dir"),
            readable=("/usr/lib/ruby", "/usr/share/rubygems-integration", "/var/lib/gems"),
            environment={"RUBY_THREAD_VM_STACK_SIZE": str(64 * _MIB)},
            calls="ruby",
        ),
        hello=b"puts 1\n",
        memory_error=re.compile(rb"\(NoMemoryError\)"),
        missing_module=re.compile(rb"cannot load such file -- [\w/-]+ \(LoadError\)"),
        reserved_bytes=_HEAVY,
        runtime_bytes=24 * _MIB,
        syntax_error=re.compile(
            rb"^main\.rb:\d+: (?:syntax error|.*\(SyntaxError\))|^main\.rb: --> ", re.MULTILINE
        ),
    ),
    Language(
        name="php",
        tags=("php",),
        find=interpreter(
            "php",
            "php-cli",
            arguments=(
                *("-d", "memory_limit={memory_mib}M", "-d", "display_errors=stderr"),
                *("-d", "log_errors=0", "-d", "opcache.enable_cli=0", "main.php"),
            ),
            input_name="main.php",
            readable=("/etc/php", "/usr/lib/php", "/usr/share/php"),
        ),
        hello=b"<?php echo 1;\n",
        memory_error=re.compile(rb"Allowed memory size of \d+ bytes exhausted|Out of memory"),
        reserved_bytes=_HEAVY,
        runtime_bytes=32 * _MIB,
        syntax_error=re.compile(rb"^(?:PHP )?Parse error: ", re.MULTILINE),
    ),
    Language(
        name="perl",
        tags=("perl", "pl"),
        aliases=("pl",),
        find=interpreter(
            "perl",
            "perl",
            arguments=("main.pl",),
            input_name="main.pl",
            libraries=("-e", 'print join "\\n", @INC'),
        ),
        hello=b"print 1;\n",
        memory_error=re.compile(rb"^Out of memory", re.MULTILINE),
        missing_module=re.compile(rb"^Can't locate \S+\.pm in @INC", re.MULTILINE),
        reserved_bytes=16 * _MIB,
        runtime_bytes=8 * _MIB,
        syntax_error=re.compile(
            rb"^Execution of main\.pl aborted due to compilation errors|had compilation errors",
            re.MULTILINE,
        ),
    ),
    Language(
        name="lua",
        tags=("lua",),
        find=interpreter(
            "lua5.4",
            "lua5.4",
            arguments=("main.lua",),
            input_name="main.lua",
            readable=("/usr/share/lua",),
            version=("-v",),
        ),
        hello=b"print(1)\n",
        memory_error=re.compile(rb"not enough memory"),
        missing_module=re.compile(rb": main\.lua:\d+: module '[^']+' not found:"),
        reserved_bytes=16 * _MIB,
        runtime_bytes=4 * _MIB,
        syntax_error=re.compile(rb": main\.lua:\d+: .* near "),
    ),
    Language(
        name="r",
        tags=("r", "rscript"),
        aliases=("rscript",),
        find=interpreter(
            "/usr/lib/R/bin/exec/R",
            "r-base-core",
            arguments=("--no-echo", "--no-restore", "--no-save", "--file=main.R"),
            input_name="main.R",
            files={"profile.R": _R_PROFILE},
            readable=("/usr/lib/R", "/usr/share/R", "/etc/R", "/etc/fonts"),
            version=("/usr/lib/R/bin/R", "--version"),
            environment={
                "R_HOME": "/usr/lib/R",
                "R_SHARE_DIR": "/usr/share/R/share",
                "R_INCLUDE_DIR": "/usr/share/R/include",
                "R_DOC_DIR": "/usr/share/R/doc",
                "LD_LIBRARY_PATH": f"/usr/lib/R/lib:{_LIBRARIES}/blas:{_LIBRARIES}/lapack",
                "R_ARCH": "",
                "R_PROFILE": "profile.R",
                "TMPDIR": ".",
                "R_DEFAULT_PACKAGES": "datasets,utils,grDevices,graphics,stats,methods",
            },
            calls="r",
        ),
        hello=b"cat(1)\n",
        memory_error=re.compile(rb"cannot allocate vector of size"),
        missing_module=re.compile(rb"there is no package called \S"),
        reserved_bytes=_HEAVY,
        runtime_bytes=64 * _MIB,
        num_files=1024,  # it does not start with less
        syntax_error=re.compile(rb"^Error: unexpected ", re.MULTILINE),
    ),
    Language(
        name="sql",
        tags=("sql", "sqlite", "sqlite3"),
        aliases=("sqlite", "sqlite3"),
        find=interpreter(
            "sqlite3",
            "sqlite3",
            arguments=("-batch", "-bail", ":memory:", ".read stdin.sql", ".read main.sql"),
            input_name="main.sql",
        ),
        hello=b"SELECT 1;\n",
        reserved_bytes=16 * _MIB,
        runtime_bytes=8 * _MIB,
        stdin_name="stdin.sql",
        syntax_error=re.compile(rb"^Parse error near line \d+: .*syntax error", re.MULTILINE),
        memory_error=re.compile(rb"out of memory"),
    ),
)

LANGUAGES: dict[str, Language] = {row.name: row for row in ROWS}
_NAMES = {alias: row.name for row in ROWS for alias in (row.name, *row.aliases)}


def _like(language: LanguageName, runner: RunnerName, **changes: Any) -> Language:
    """The row of a runner, which is that of a language but for these changes."""
    own: dict[str, Any] = {"runner": runner, "tags": (), "aliases": (), "problems": [], "found": []}
    return dataclasses.replace(LANGUAGES[language], **own, **changes)


RUNNERS: dict[RunnerName, Language] = {
    "d_ut": _like(
        *("d", "d_ut"),
        find=gcc(
            *("gdc", "gdc", "main.d", ("-funittest", *_D_OPTIONS)),
            linked=installed_toolchains.D_RUNTIME,
        ),
    ),
    "go_test": _like(
        *("go", "go_test"),
        rewrite=with_main,
        has_folder=True,
        hello=b'package main\nimport "testing"\nfunc TestOne(t *testing.T) {}\n',
        hello_says=re.compile(rb"PASS\n"),
    ),
    "junit": _like(
        *("java", "junit"),
        find=installed_toolchains.junit,
        hello=b"import org.junit.jupiter.api.*; class OneTest { @Test void one() {} }\n",
        hello_says=re.compile(rb".*\[ +1 tests successful +\].*", re.DOTALL),
    ),
    "kotlin_script": _like(
        *("kotlin", "kotlin_script"),
        find=installed_toolchains.kotlin_script,
        hello=b"println(1)\n",
    ),
    "pytest": _like(
        *("python", "pytest"), packages=("pytest",), driver=_PYTEST, zygote_kind=ZygoteKind.TESTS
    ),
}
"""Other ways to run a language, such as its tests, by the names that only `/run_code` offers."""
RUNNABLE: Mapping[str, Language] = ChainMap(LANGUAGES, {row.key: row for row in RUNNERS.values()})
"""All that can be run, by name."""


def is_language(name: str) -> TypeGuard[LanguageName]:
    """Whether a name is that of a language."""
    return name in LANGUAGES


def language_named(name: str) -> LanguageName | None:
    """The language that other protocols call so; None if there is none.

    >>> language_named("nodejs"), language_named("C++"), language_named("cobol")
    ('javascript', 'cpp', None)
    """
    return _NAMES.get(name.lower())


def runnable_named(name: str) -> LanguageName | RunnerName | None:
    """The language or runner that SandboxFusion calls so; None if there is none.

    >>> runnable_named("D_ut"), runnable_named("nodejs"), runnable_named("cuda")
    ('d_ut', 'javascript', None)
    """
    found = next((runner for runner in RUNNERS if runner == name.lower()), None)
    return found or language_named(name)


def refuse_unknown(name: object) -> object:
    """The value as it is, for a validator; a text that names no language tells the nearest one.

    Raises:
        ValueError: no language has that name.
    """
    if not isinstance(name, str) or is_language(name):
        return name
    nearest = did_you_mean(language_named(name) or name, LANGUAGES)
    names = ", ".join(LANGUAGES)
    message = f"no language {name[:40]!r}"
    raise ValueError(
        f"{message}{nearest} There are {names}" if nearest else f"{message} of {names}"
    )


class LanguageStatus(NamedTuple):
    """A language, and whether this machine has its toolchain."""

    name: LanguageName
    version: str
    """Version of its toolchain; empty where there is none."""
    problem: str | None
    """Advice on what is missing and how to install it; None where nothing is."""


def language_statuses() -> list[LanguageStatus]:
    """The languages with their toolchains. The first call starts them all: some seconds."""
    return [_status(name) for name in LANGUAGES.values()]


def _status(language: Language) -> LanguageStatus:
    try:
        return LanguageStatus(language.name, language_version(language.name), None)
    except ToolchainError as error:
        return LanguageStatus(language.name, "", str(error))


async def problems_found(runner: Runner) -> dict[str, str]:
    """The languages and runners whose smallest program does not run, and why."""
    found = {}
    for name, row in RUNNABLE.items():
        try:
            problem = await row.missing(runner)
        except SandboxError as error:
            problem = str(error)
        if problem is not None:
            found[name] = problem
    return found


def tools(name: str) -> Tools:
    """Tools of a language or runner, for the `Runner`. Raises ToolchainError."""
    return RUNNABLE[name].toolchain().tools


@functools.cache
def language_version(name: str) -> str:
    """Version of a language's toolchain, such as 12.2.0.

    Raises:
        ToolchainError: it is missing or does not tell. The cache does not keep this.
    """
    language = RUNNABLE[name]
    if language.find is None:
        return platform.python_version()
    command = language.toolchain().version
    result = installed_toolchains.run_tool(*command)
    # The first number with a dot: "go version go1.19.8 linux/amd64".
    found = re.search(r"\d+(?:\.\d+)+", result.stdout + result.stderr)
    if found is None:
        raise ToolchainError(f"{command[0]} does not tell its version")
    return found[0]


def _is_lasting(failure: Execution) -> bool:
    """Whether a compiler refuses the source, and would do so again."""
    return failure.reason is ExitReason.EXITED and not _MAY_PASS.search(_why(failure))


# What compilers say where the machine refuses memory or a thread: "failed to spawn thread".
_MAY_PASS = re.compile(
    r"memory|cannot allocate|spawn|create \S*\s*thread|pthread|temporarily unavailable|space left",
    re.IGNORECASE,
)


def _why(execution: Execution) -> str:
    """How an execution ended, with what it said."""
    said = execution.stderr.decode(errors="replace") or execution.stdout.decode(errors="replace")
    if execution.exit_code is not None:
        return said or f"exit code {execution.exit_code}"
    return f"{execution.reason}: {said}" if said else str(execution.reason)
