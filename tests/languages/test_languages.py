"""Every language of the table: programs for each verdict, and hostile ones.

A file NAME.toml has the programs of a language. `@CANARY@` stands in them for the path of a file
that everybody can read, `@DIRECTORY@` for its directory, which everybody can write to, and `@PORT@`
for a port of this machine that listens. `compiler_seconds` is the CPU time of a compiler that needs
more than one second to begin. Where a compiler is that slow, one program `ends` in all ways: its
standard input says in which.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from tests.languages.judge import SECRET, Judge, filled
from tests.languages.programs import NAMES, PROGRAMS, SLOW
from tests.sandbox.deployments import run_python, skip_unless_possible
from verifier_service.code.languages import status
from verifier_service.code.languages.language import CompileFailure
from verifier_service.code.languages.status import language_statuses
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reference_tests import Asserts, Stdio
from verifier_service.code.verdicts import judge_program
from verifier_service.completion import Completion
from verifier_service.sandbox.execution import ExitReason, Program
from verifier_service.verdict import Outcome
from verifier_service.verifier import Judgement
from verifier_service.verifiers.code import Code
from verifier_service.verifiers.code_format import CodeFormat

NUMBERS = [{"stdin": "3\n1 2 3\n", "stdout": "6\n"}, {"stdin": "1\n5\n", "stdout": "5\n"}]
OPTIONS: dict[str, dict[str, Any]] = {
    "right": {},
    "crash": {},
    "broken": {},
    "endless": {"cpu_seconds": 0.5},
    "memory": {"memory_bytes": 2**26},
    "flood": {"output_bytes": 2**14},
}
"""Settings with which a program is judged, so that it meets the one limit that it is about."""
REASONS = {
    "right": "passed",
    "crash": "runtime_error",
    "broken": "compile_error",
    "endless": "time_limit_exceeded",
    "memory": "memory_limit_exceeded",
    "flood": "output_limit_exceeded",
}


def reference_of(name: str, **changes: Any) -> Stdio:
    cases = PROGRAMS[name].get("cases", NUMBERS)
    return Stdio.model_validate({"type": "stdio", "cases": cases, **changes})


def program(name: str, kind: str) -> tuple[str, str]:
    """The program of a language that ends in one way, and its standard input."""
    if kind in PROGRAMS[name]:
        return PROGRAMS[name][kind], ""
    return PROGRAMS[name]["ends"], f"{kind}\n"


def test_every_language_but_python_has_programs() -> None:
    assert {*PROGRAMS, "python"} == LANGUAGES.keys()


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_program_gets_its_reason(judge: Judge, name: str, kind: str) -> None:
    source, stdin = program(name, kind)
    tests = reference_of(name, **({"cases": [{"stdin": stdin, "stdout": "6"}]} if stdin else {}))
    verdict = judge.verdict(name, source, tests, **OPTIONS[kind])
    assert verdict.reason == REASONS[kind], verdict
    assert verdict.score == float(kind == "right")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_answer_is_wrong_and_a_special_judge_decides(judge: Judge, name: str) -> None:
    right, cases = PROGRAMS[name]["right"], reference_of(name).model_dump()["cases"]
    others = [{**case, "stdout": f"1{case['stdout']}"} for case in cases]
    assert judge.verdict(name, right, reference_of(name, cases=others)).reason == "wrong_answer"
    asked = (
        "import json, sys\nasked = json.load(sys.stdin)\n"
        "sys.exit(asked['expected'].strip() != '1' + asked['stdout'].strip())"
    )
    special = reference_of(name, cases=others, program=asked)
    assert judge.verdict(name, right, special).reason == "passed"


@pytest.mark.parametrize("name", NAMES)
def test_a_program_that_sleeps_is_ended(judge: Judge, name: str) -> None:
    source, stdin = program(name, "asleep")
    run = judge.run(name, source, stdin=stdin, idle_seconds=0.3, cpu_seconds=0.6)
    assert run.reason in (ExitReason.IDLE_LIMIT, ExitReason.CPU_LIMIT), run


@pytest.mark.parametrize("name", NAMES)
def test_what_is_forbidden_is_refused(
    judge: Judge, canary: Path, server: socket.socket, name: str
) -> None:
    run = judge.run(name, filled(PROGRAMS[name]["attempts"], canary, server))
    lines = set(run.stdout.decode(errors="replace").splitlines())
    assert {f"{one} refused" for one in PROGRAMS[name]["names"]} <= lines, run
    assert not [line for line in lines if line.endswith(" done")], run
    assert b"started" not in run.stdout
    assert SECRET.encode() not in run.stdout + run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_bomb_of_threads_or_processes_ends(judge: Judge, name: str) -> None:
    limits = {"cpu_seconds": 1.0, "wall_seconds": 20.0, "idle_seconds": 0.3}
    source, stdin = program(name, "threads")
    run = judge.run(name, source, stdin=stdin, memory_bytes=2**27, **limits)
    assert b"started" not in run.stdout
    assert judge.run(name, LANGUAGES[name].hello.decode()).stdout.split() == [b"1"]


SOURCES = [
    pytest.param(name, number, marks=pytest.mark.slow if name in SLOW else ())
    for name in PROGRAMS
    for number in range(len(PROGRAMS[name]["uncompilable"]))
]


@pytest.mark.parametrize(("name", "number"), SOURCES)
def test_a_source_that_attacks_its_compiler_is_no_program(
    judge: Judge, canary: Path, server: socket.socket, name: str, number: int
) -> None:
    source = filled(PROGRAMS[name]["uncompilable"][number], canary, server)
    seconds = PROGRAMS[name].get("compiler_seconds", 1.0)
    failure = judge.built(name, source, cpu_seconds=seconds)
    assert isinstance(failure, CompileFailure), failure
    assert SECRET not in failure.message
    assert SECRET.encode() not in failure.execution.stdout + failure.execution.stderr


def test_the_image_can_have_every_language() -> None:
    script = Path(__file__).parents[2] / "docker" / "install-languages"
    (named,) = [line for line in script.read_text().splitlines() if line.startswith("ALL=")]
    assert {"python", *named.removeprefix("ALL=").split(",")} == LANGUAGES.keys()


@pytest.mark.slow
def test_every_language_tells_its_version_to_a_user_without_a_name() -> None:
    """The user of a container has no line in /etc/passwd, and so no home."""
    deployment = "unprivileged in Docker"
    skip_unless_possible(deployment)
    imported = f"from {status.__name__} import language_statuses"
    code = f"{imported}; print([one.name for one in language_statuses() if one.problem])"
    told = run_python(deployment, "-c", code)
    missing = [one.name for one in language_statuses() if one.problem]
    assert told.stdout == f"{missing}\n", told.stderr


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_tested_in_python_only(judge: Judge, name: str) -> None:
    judge.language(name)
    code = Code.model_validate({"language": name})
    asked = Asserts.model_validate({"type": "asserts", "code": "assert f(1) == 1"})
    verdict = judge.wait(judge_program(judge.runner, code, asked, "x"))
    assert (verdict.outcome, verdict.reason) == (Outcome.UNVERIFIABLE, "unsupported_test")


def test_no_two_languages_share_a_name_or_a_tag() -> None:
    for names in (
        [name for one in LANGUAGES.values() for name in (one.name, *one.aliases)],
        [tag for one in LANGUAGES.values() for tag in one.tags],
    ):
        assert sorted(names) == sorted(set(names))
        assert names == [name.lower() for name in names]


@pytest.mark.parametrize(
    ("name", "tag"), [(one.name, tag) for one in LANGUAGES.values() for tag in one.tags]
)
def test_every_tag_opens_a_block_of_its_language(name: str, tag: str) -> None:
    text = f"<think>\n1\n</think>\n<answer>\n```{tag.upper()}\nprogram\n```\n</answer>"
    assert Code.model_validate({"language": name}).program_in(text) == "program\n"
    judged = CodeFormat.model_validate({"language": name}).prepare({})(Completion(text))
    assert isinstance(judged, Judgement)
    assert judged.score == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("used", "reason"), [("", "passed"), ("new {name}();", "runtime_error")])
def test_a_class_whose_name_is_too_long_for_a_file_is_missing(
    judge: Judge, used: str, reason: str
) -> None:
    name = "A" * 230
    body = used.format(name=name) + "System.out.println(1);"
    source = f"class {name} {{}} class Main {{ public static void main(String[] a) {{ {body} }} }}"
    tests = Stdio.model_validate({"type": "stdio", "cases": [{"stdin": "", "stdout": "1"}]})
    assert judge.verdict("java", source, tests).reason == reason


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "package a.b\nobject Zzz { def main(a: Array[String]): Unit = println(1) }",
        "trait T\nclass Solution extends T\nobject Solution extends App { println(1) }",
    ],
)
def test_an_object_with_any_name_is_started(judge: Judge, source: str) -> None:
    run = judge.run("scala", source)
    assert run.stdout.split() == [b"1"], run


@pytest.mark.slow
def test_texts_of_haskell_are_utf_8(judge: Judge) -> None:
    run = judge.run("haskell", 'main = interact id >> putStrLn "\\233"', stdin="\u00e9")
    assert run.stdout.decode() == "\u00e9\u00e9\n", run


def test_threads_of_haskell_take_turns(judge: Judge) -> None:
    source = (
        "import Control.Concurrent; import Control.Exception; import System.Exit\n"
        'main = do { me <- myThreadId; _ <- forkIO (putStrLn "1" >> throwTo me ExitSuccess)\n'
        "          ; mapM_ (evaluate . length . show) [1 :: Integer ..] }\n"
    )
    run = judge.run("haskell", source)
    assert (run.reason, run.stdout) == (ExitReason.EXITED, b"1\n"), run


@pytest.mark.slow
def test_the_collector_of_d_sees_the_variables_and_stacks_of_all_threads(judge: Judge) -> None:
    source = """
import core.memory, core.thread, std.stdio;
class Node { int[] data; }
Node kept;
void work(int number)
{
    kept = new Node;
    kept.data = [number];
    auto local = [number, number];
    foreach (n; 0 .. 100_000) { auto other = new int[100]; other[] = 7; }
    GC.collect();
    assert(kept.data == [number] && local == [number, number]);
}
void main()
{
    auto threads = [new Thread({ work(1); }), new Thread({ work(2); })];
    foreach (thread; threads) thread.start();
    work(3);
    foreach (thread; threads) thread.join();
    writeln(kept.data);
}
"""
    run = judge.run("d", source)
    assert (run.exit_code, run.stdout) == (0, b"[3]\n"), run


def test_a_class_with_any_name_in_any_package_is_started(judge: Judge) -> None:
    source = "package a.b; interface Aaa { } class Zzz { public static void main(String[] a) {"
    run = judge.run("java", f"{source} System.out.println(1); }} }}")
    assert run.stdout.split() == [b"1"], run


@pytest.mark.parametrize(
    "source",
    [
        'import { readFileSync } from "fs";\nconsole.log(readFileSync(0, "utf8").length);',
        'import fs from "fs"\nconsole.log(fs.readFileSync(0, "utf8").length)',
        'const fs = require("fs");\nconsole.log(fs.readFileSync(0, "utf8").length);',
        'const text = "import x from \'y\'";\nconsole.log(require("fs").readFileSync(0).length);',
    ],
)
def test_modules_and_scripts_are_told_apart(judge: Judge, source: str) -> None:
    run = judge.run("javascript", source)
    assert run.stdout == b"0\n", run


DEVICE_READERS = {
    "c": """#include <stdio.h>
int main(void) { FILE *in = fopen("/dev/stdin", "r"); int a, b; fscanf(in, "%d%d", &a, &b);
printf("%d", a + b); }""",
    "go": """package main
import ("fmt"; "os")
func main() { in, _ := os.Open("/dev/stdin"); var a, b int; fmt.Fscan(in, &a, &b)
fmt.Println(a + b) }""",
    "java": """import java.nio.file.*;
class Main { public static void main(String[] none) throws Exception {
System.out.println(Files.readAllLines(Path.of("/dev/stdin")).stream()
.mapToInt(Integer::parseInt).sum()); } }""",
    "javascript": """import { readFile } from "fs/promises";
console.log(eval((await readFile("/dev/stdin", "utf8")).trim().replace("\\n", "+")));""",
    "perl": """open(my $in, "<", "/dev/stdin"); my $t = 0; $t += $_ while <$in>; print $t;""",
    "php": """<?php echo array_sum(file("/dev/stdin"));""",
    "lua": """local n = 0 for line in io.lines("/dev/stdin") do n = n + line end print(n)""",
    "r": """cat(sum(as.integer(readLines(file("/dev/stdin")))))""",
    "ruby": """puts File.readlines("/dev/stdin").sum(&:to_i)""",
    "racket": """#lang racket/base
(define in (open-input-file "/dev/stdin"))
(display (+ (read in) (read in)))""",
    "d": """import std.stdio; void main() { int a, b; File("/dev/stdin").readf(" %d %d", a, b);
writeln(a + b); }""",
    "fortran": """integer :: a, b
open (7, file="/dev/stdin")
read (7, *) a
read (7, *) b
print '(I0)', a + b
end""",
    "verilog": """module main; integer a, b, got, in; initial begin in = $fopen("/dev/stdin", "r");
got = $fscanf(in, "%d%d", a, b); $display("%0d", a + b); end endmodule""",
    "rust": """fn main() { println!("{}", std::fs::read_to_string("/dev/stdin").unwrap().lines()
.map(|it| it.parse::<i32>().unwrap()).sum::<i32>()); }""",
    "bash": """mapfile -t all < "${1:-/dev/stdin}"; echo $((all[0] + all[1])) > /dev/stdout""",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(it, marks=pytest.mark.slow if it in SLOW else ()) for it in DEVICE_READERS],
)
def test_standard_input_can_be_read_by_the_name_of_its_device(judge: Judge, name: str) -> None:
    cases = [{"stdin": "3\n4\n", "stdout": "7"}, {"stdin": "1\n1\n", "stdout": "2"}]
    tests = Stdio.model_validate({"type": "stdio", "cases": cases})
    verdict = judge.verdict(name, DEVICE_READERS[name], tests)
    assert verdict.reason == "passed", verdict


def test_an_input_of_many_megabytes_fits_into_the_file_of_the_device(judge: Judge) -> None:
    case = {"stdin": "a" * 40 * 2**20, "stdout": str(40 * 2**20)}
    tests = Stdio.model_validate({"type": "stdio", "cases": [case]})
    source = """local all = io.open("/dev/stdin"):read("a") print(#all)"""
    verdict = judge.verdict("lua", source, tests)
    assert verdict.reason == "passed", verdict


def test_ruby_says_nothing_of_its_own_and_wakes_its_threads(judge: Judge) -> None:
    source = """
require "timeout"
blocked = Thread.new { STDIN.read; sleep }
spinning = Thread.new { nil while true }
begin
  Timeout.timeout(0.1) { sleep }
rescue Timeout::Error
  [blocked, spinning].each(&:kill).each(&:join)
  puts "woken"
end
"""
    run = judge.run("ruby", source)
    assert (run.stdout, run.stderr) == (b"woken\n", b""), run


@pytest.mark.parametrize("package", ["net/http", "os/user"])
def test_a_package_of_go_that_needs_shared_libraries_does_not_compile(
    judge: Judge, package: str
) -> None:
    source = f'package main\nimport _ "{package}"\nfunc main() {{}}\n'
    for _ in ("compiled", "kept"):
        failure = judge.built("go", source)
        assert isinstance(failure, CompileFailure)
        assert "net or os/user" in failure.message
    assert isinstance(judge.built("go", source.replace(package, "net/url")), Program)


@pytest.mark.parametrize(
    ("name", "missing", "reason"),
    [
        ("javascript", "require('left-pad')", "module_not_found"),
        ("javascript", "import a from 'left-pad'", "module_not_found"),
        ("javascript", "require('./a')", "runtime_error"),
        ("ruby", "require 'nokogiri'", "module_not_found"),
        ("perl", "use Moose;", "module_not_found"),
        ("lua", "require 'socket'", "module_not_found"),
        ("r", "library(dplyr)", "module_not_found"),
        ("racket", "#lang racket/base\n(require foo/bar)", "module_not_found"),
        ("racket", "#lang foo/bar\n1", "module_not_found"),
    ],
)
def test_a_module_that_is_not_installed_is_told_by_its_reason(
    judge: Judge, name: str, missing: str, reason: str
) -> None:
    tests = Stdio.model_validate({"type": "stdio", "cases": NUMBERS})
    assert judge.verdict(name, missing, tests).reason == reason


LIBRARIES = {
    "java": (
        "/usr/share/java/javatuples.jar",
        """import org.javatuples.Pair;
class Main {
    public static void main(String[] none) { System.out.println(Pair.with(1, 2).getValue0()); }
}""",
    ),
    "javascript": (
        "/usr/share/nodejs/lodash",
        """const _ = require("lodash"); console.log(_.isEqual([1], [1]) ? 1 : 0);""",
    ),
    "lua": (
        "/usr/share/lua/5.4/luaunit.lua",
        """local unit = require("luaunit"); unit.assertEquals({1}, {1}); print(1)""",
    ),
    "perl": (
        "/usr/share/perl5/Test/Deep.pm",
        """use Test::Deep; print eq_deeply([1], [1]);""",
    ),
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_of_the_distribution_can_be_used(judge: Judge, name: str) -> None:
    place, source = LIBRARIES[name]
    if not Path(place).exists():
        pytest.skip(f"no {place}: docker/install-languages {name}-libraries installs it")
    assert judge.run(name, source).stdout.split() == [b"1"]


WIDE = """#include <locale.h>
#include <stdio.h>
#include <wchar.h>
int main(void) { wchar_t text[9]; setlocale(LC_ALL, ""); fgetws(text, 9, stdin);
wprintf(L"%d %ls", (int)wcslen(text), text); }"""
ZONES = """package main
import ("fmt"; "time")
func main() { zone, _ := time.LoadLocation("Asia/Tokyo"); fmt.Print(time.Unix(0, 0).In(zone)) }"""
OTHER_FILES = """#include <stdio.h>
int main(void) {
const char *names[] = {"/usr/lib/locale/C.utf8/LC_CTYPE", "/usr/share/zoneinfo/Asia/Tokyo",
"/etc/passwd", "/usr/lib/locale", "/proc/self/maps", "/etc/hostname", "/usr/include/stdio.h"};
for (int n = 0; n < 7; n++) putchar(fopen(names[n], "r") ? '1' : '0');
putchar(fopen(names[0], "r+") ? '1' : '0'); }"""


def test_static_programs_have_the_locale_and_the_time_zones(judge: Judge) -> None:
    run = judge.run("c", WIDE, stdin="h\u00e9\u65e5")
    assert run.stdout.decode() == "3 h\u00e9\u65e5"
    run = judge.run("cpp", WIDE, stdin="h\u00e9\u65e5")
    assert run.stdout.decode() == "3 h\u00e9\u65e5"
    assert judge.run("go", ZONES).stdout == b"1970-01-01 09:00:00 +0900 JST"


def test_static_programs_read_no_other_file(judge: Judge) -> None:
    assert judge.run("c", OTHER_FILES).stdout == b"10000000"
