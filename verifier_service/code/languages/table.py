"""The table of languages: how each is compiled, run and confined.

| language | compiled by | run as |
|---|---|---|
| `python` | the process that runs it | source |
| those in `BINARIES`, such as `c` | a compiler and a linker, once per program | a static binary |
| `java`, `csharp` and the like | a compiler, once per program | its output, by a runtime |
| the others | the interpreter that runs it | source |

A row says all that is special to a language. `code/toolchains` finds its programs on the machine,
and `system_calls.CALLS_OF_RUNTIMES` has the calls that its runtime needs and Python does not.
"""

from __future__ import annotations

import dataclasses
import re
import sysconfig
from typing import Any

from verifier_service.code.device_stdin import by_descriptor, by_duplicate
from verifier_service.code.languages.language import COMPILE_LIMITS, Language
from verifier_service.code.languages.source_names import java_file, javascript_file
from verifier_service.code.toolchains.csharp import csharp
from verifier_service.code.toolchains.gcc import COMMON_OPTIONS, gcc, gdc
from verifier_service.code.toolchains.go import go
from verifier_service.code.toolchains.haskell import haskell
from verifier_service.code.toolchains.interpreters import interpreter
from verifier_service.code.toolchains.jvm import java, kotlin, scala
from verifier_service.code.toolchains.node import javascript, typescript
from verifier_service.code.toolchains.racket import racket
from verifier_service.code.toolchains.rust import rust
from verifier_service.code.toolchains.verilog import verilog

_MIB = 2**20
_GNU = ("-DONLINE_JUDGE", *COMMON_OPTIONS)
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
_ROWS = (
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
        find=javascript,
        hello=b"console.log(1)\n",
        source_name=javascript_file,
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
        find=typescript,
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
        find=java,
        hello=b"class Main { public static void main(String[] a) { System.out.println(1); } }\n",
        source_name=java_file,
        **_ON_JAVA,
    ),
    Language(
        name="kotlin",
        tags=("kotlin", "kt"),
        aliases=("kt",),
        find=kotlin,
        hello=b"fun main() = println(1)\n",
        **_ON_JAVA,
    ),
    Language(
        name="scala",
        tags=("scala", "sc"),
        aliases=("sc",),
        find=scala,
        hello=b"object Main { def main(a: Array[String]): Unit = println(1) }\n",
        **_ON_JAVA,
    ),
    Language(
        name="csharp",
        tags=("csharp", "c#", "cs"),
        aliases=("c#", "cs", "mono", "mono-csharp", "csharp.net"),
        find=csharp,
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
        find=go,
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
        find=rust,
        hello=b'fn main() { println!("1"); }\n',
        memory_error=re.compile(rb"^memory allocation of \d+ bytes failed", re.MULTILINE),
        compile_limits=_PLENTY,
    ),
    Language(
        name="haskell",
        tags=("haskell", "hs"),
        aliases=("hs", "ghc"),
        find=haskell,
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
        find=gdc(),
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
            ("-O2", "-ffree-line-length-none", *COMMON_OPTIONS),
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
        find=verilog,
        hello=b"module main; initial $display(1); endmodule\n",
        memory_error=re.compile(rb"std::bad_alloc"),
        reserved_bytes=16 * _MIB,
        runtime_bytes=8 * _MIB,
    ),
    Language(
        name="racket",
        tags=("racket", "rkt"),
        aliases=("rkt",),
        find=racket,
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
            runtime_calls="ruby",
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
            runtime_calls="r",
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

LANGUAGES: dict[str, Language] = {row.name: row for row in _ROWS}
"""The rows of the table, by name."""
