"""Runners of tests and scripts, which `/run_code` has beside the languages."""

from __future__ import annotations

import asyncio
import socket
import time
from pathlib import Path

import pytest

from tests.languages.judge import SECRET, Judge, filled
from verifier_service.code.languages import status
from verifier_service.code.languages.go_tests import with_main
from verifier_service.code.languages.language import Language
from verifier_service.code.languages.names import language_named, runnable_named
from verifier_service.code.languages.runners import RUNNERS
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.plain_run import (
    TESTS_NOT_ENDED,
    RunOptions,
    RunReport,
    run_program,
)
from verifier_service.commands import doctor

PROGRAMS = {
    "d_ut": (
        "int sum(int a, int b) { return a + b; }\n"
        "unittest { assert(sum(1, 2) == 3); }\nvoid main() {}\n",
        "1, 2) == 3",
        "1, 2) == 4",
    ),
    "go_test": (
        'package sums\nimport "testing"\nfunc main() {}\n'
        'func TestSum(t *testing.T) { if 1+2 != 3 { t.Errorf("not %d", 3) } }\n',
        "!= 3",
        "!= 4",
    ),
    "junit": (
        "import org.junit.jupiter.api.*;\nimport static org.junit.jupiter.api.Assertions.*;\n"
        "public class Sums { static int sum(int a, int b) { return a + b; } }\n"
        "class SumsTest { @Test void adds() { assertEquals(3, Sums.sum(1, 2)); } }\n",
        "(3,",
        "(4,",
    ),
    "kotlin_script": (
        "fun sum(a: Int, b: Int) = a + b\nval found = sum(1, 2)\n"
        'if (found != 3) throw Exception("found $found")\nprintln(found)\n',
        "!= 3",
        "!= 4",
    ),
    "pytest": (
        "def test_sum(tmp_path, capfd):\n    (tmp_path / 'a').write_text('b')\n    print(1 + 2)\n"
        "    assert capfd.readouterr().out == '3\\n'\n",
        "'3\\n'",
        "'4\\n'",
    ),
}
"""Programs that succeed, each with a part of it and another that makes it fail."""
ENDED_EARLY = {
    "d_ut": "import core.stdc.stdlib;\nunittest { exit(0); }\nvoid main() {}\n",
    "go_test": (
        'package sums\nimport ("syscall"; "testing")\n'
        "func TestSum(t *testing.T) { syscall.Exit(0) }\n"
    ),
    "junit": "class SumsTest { @org.junit.jupiter.api.Test void adds() { System.exit(0); } }\n",
    "pytest": "import os\ndef test_sum():\n    print('1 passed in 0.01s')\n    os._exit(0)\n",
}
"""Programs that end their process with an exit code of 0 in a test."""
NEARLY_ENDED = {
    "d_ut": "import std.stdio;\nunittest { stderr.write(1); }\nvoid main() {}\n",
    "go_test": (
        'package sums\nimport ("fmt"; "os"; "testing")\n'
        "func TestMain(m *testing.M) { code := m.Run(); fmt.Print(1); os.Exit(code) }\n"
        "func TestSum(t *testing.T) { fmt.Print(2) }\n"
    ),
    "junit": (
        "class SumsTest { @org.junit.jupiter.api.Test void adds() { System.out.print(1); } }\n"
    ),
    "pytest": (
        "import atexit, pytest\natexit.register(print, 1)\n"
        "@pytest.mark.skip\ndef test_sum():\n    pass\n"
    ),
}
"""Programs that write beside the runner's last line."""
TOLD = {
    "d_ut": "unittest failure",
    "go_test": "main.go:4: not 3",
    "junit": "expected: <4> but was: <3>",
    "kotlin_script": "java.lang.Exception: found 3",
    "pytest": "AssertionError",
}
SLOW = ("d_ut", "junit", "kotlin_script")
NAMES = [pytest.param(it, marks=pytest.mark.slow if it in SLOW else ()) for it in RUNNERS]


def run(judge: Judge, name: str, source: str) -> RunReport:
    """The report on a program, as `/run_code` has it; skips where a toolchain is missing."""
    named = runnable_named(name)
    assert named is not None
    options = RunOptions(language=named, compile_seconds=60, run_seconds=60)
    found = judge.wait(run_program(judge.runner, source, options))
    if found.problem is not None:
        assert "install" in found.problem
        pytest.skip(found.problem)
    return found


OF_TESTS = [one for one in NAMES if one.values[0] != "kotlin_script"]


def test_each_runner_has_programs() -> None:
    assert PROGRAMS.keys() == TOLD.keys() == RUNNERS.keys()


@pytest.mark.parametrize("name", NAMES)
def test_tests_that_pass_succeed_and_others_fail(judge: Judge, name: str) -> None:
    source, part, other = PROGRAMS[name]
    found = run(judge, name, source)
    assert found.run is not None, found
    assert found.run.exit_code == 0, found
    found = run(judge, name, source.replace(part, other))
    assert found.run is not None, found
    assert found.run.exit_code not in (0, None), found
    assert TOLD[name].encode() in found.run.stdout + found.run.stderr, found


@pytest.mark.parametrize("name", OF_TESTS)
def test_a_program_that_ends_its_tests_early_fails(judge: Judge, name: str) -> None:
    found = run(judge, name, ENDED_EARLY[name]).run
    assert found is not None
    assert found.exit_code == 1
    assert found.stderr.endswith(TESTS_NOT_ENDED)
    found = run(judge, name, NEARLY_ENDED[name]).run
    assert found is not None
    assert (found.exit_code, TESTS_NOT_ENDED in found.stderr) == (0, False), found


@pytest.mark.slow
def test_a_program_in_d_without_tests_runs_its_main(judge: Judge) -> None:
    source = "import std.stdio;\nint unit_test = 7;\nvoid main() { write(unit_test); }\n"
    found = run(judge, "d_ut", source).run
    assert found is not None
    assert (found.exit_code, found.stdout) == (0, b"7")


@pytest.mark.parametrize("name", NAMES)
def test_a_source_that_does_not_compile_is_told(judge: Judge, name: str) -> None:
    found = run(judge, name, "no ( program")
    last = found.run if name == "pytest" else found.compiled
    assert last is not None, found
    assert last.exit_code not in (0, None), found


def test_a_runner_is_no_language() -> None:
    assert not LANGUAGES.keys() & RUNNERS.keys()
    for name in RUNNERS:
        assert language_named(name) is None
        assert runnable_named(name.upper()) == name


def test_a_runner_shares_nothing_with_the_row_of_its_language() -> None:
    for row in RUNNERS.values():
        assert row.found is not LANGUAGES[row.name].found
        assert row.problems is not LANGUAGES[row.name].problems


def test_a_package_that_is_missing_is_named(judge: Judge) -> None:
    row = Language(name="python", tags=(), packages=("nobody_has_this",))
    missing = judge.wait(row.missing(judge.runner))
    assert missing is not None
    assert "pip install nobody_has_this" in missing


def test_doctor_names_runners_and_what_they_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {
        "pytest": Language(name="python", tags=()),
        "go_test": Language(name="python", tags=(), packages=("nobody_has_this",)),
    }
    monkeypatch.setattr(status, "LANGUAGES", {})
    monkeypatch.setattr(status, "RUNNABLE", rows)
    monkeypatch.setattr(doctor, "RUNNERS", rows)
    assert asyncio.run(doctor.language_lines())[1:] == [
        "runners of /run_code:",
        "  pytest        works",
        "  go_test       - no nobody_has_this beside the service: pip install nobody_has_this, "
        "then start the service again",
    ]


HOSTILE = """
import os, pathlib, pytest, signal, socket, subprocess

PACKAGES = pathlib.Path(pytest.__file__).parent.parent

def refused(name, attempt):
    try:
        attempt()
    except (OSError, MemoryError):
        print(name, "refused")
    else:
        print(name, "done")

def test_attacks():
    refused("read a secret", lambda: open("@CANARY@").read())
    refused("read passwd", lambda: open("/etc/passwd").read())
    refused("read environ of 1", lambda: open("/proc/1/environ").read())
    refused("list a directory", lambda: os.listdir("@DIRECTORY@"))
    refused("write outside", lambda: open("@DIRECTORY@/new", "w"))
    refused("write to tmp", lambda: open("/tmp/new", "w"))
    refused("write to pytest", lambda: open(pytest.__file__, "a"))
    refused("list the packages", lambda: os.listdir(PACKAGES))
    refused("read another package", lambda: open(PACKAGES / "pydantic" / "__init__.py"))
    refused("move", lambda: os.rename("@CANARY@", "mine"))
    refused("link", lambda: os.symlink("@CANARY@", "link"))
    refused("hard link", lambda: os.link("@CANARY@", "hard"))
    refused("change a mode", lambda: os.chmod("@CANARY@", 0o777))
    refused("connect", lambda: socket.create_connection(("127.0.0.1", @PORT@), timeout=1))
    refused("send a datagram", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    refused("kill the parent", lambda: os.kill(os.getppid(), signal.SIGKILL))
    refused("kill all", lambda: os.kill(-1, signal.SIGKILL))
    refused("priority", lambda: os.nice(-5))
    refused("start a shell", lambda: subprocess.run(["/bin/sh", "-c", "echo started"]))
    refused("exec", lambda: os.execv("/bin/sh", ["sh", "-c", "echo started"]))
    refused("fork", os.fork)
    assert False
"""


def test_what_is_forbidden_to_programs_is_forbidden_to_tests(
    judge: Judge, canary: Path, server: socket.socket
) -> None:
    found = run(judge, "pytest", filled(HOSTILE, canary, server))
    assert found.run is not None
    lines = found.run.stdout.decode().splitlines()
    tried = HOSTILE.count("    refused(")
    assert len([line for line in lines if line.endswith(" refused")]) == tried
    assert not [line for line in lines if line.endswith(" done") or line == "started"]
    assert SECRET not in found.run.stdout.decode()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("func TestA(t *testing.T) {}", '{"TestA", TestA}'),
        ("  func  Test_a ( tt *testing.T ) {}", '{"Test_a", Test_a}'),
        ("func Test(t *testing.T) {}", '{"Test", Test}'),
        (
            "func Test1(t *testing.T) {}\nfunc TestB(t *testing.T) {}",
            '{"Test1", Test1}, {"TestB", TestB}',
        ),
        ("func Testing(t *testing.T) {}", ""),
        ("func TestÜber(t *testing.T) {}", '{"TestÜber", TestÜber}'),
        ("func Testé(t *testing.T) {}", ""),
        ("func TestA(*testing.T) {}", '{"TestA", TestA}'),
        ("func TestA(t *T) {}", '{"TestA", TestA}'),
        ("func TestA(\n\tt *tt.T,\n) {}", '{"TestA", TestA}'),
        ("var a = 1; func TestA(t *testing.T) {}", '{"TestA", TestA}'),
        ("func (s suite) TestA(t *testing.T) {}", ""),
        ("func TestA(b *testing.B) {}", ""),
        ("// func TestA(t *testing.T) {}", ""),
        ("/*\nfunc TestA(t *testing.T) {}\n*/", ""),
        ("var text = `\nfunc TestA(t *testing.T) {}\n`", ""),
        ("var a = \"`\"\nfunc TestA(t *testing.T) {}\nvar b = '`'", '{"TestA", TestA}'),
    ],
)
def test_tests_of_go_are_found_by_their_signatures(source: str, found: str) -> None:
    made = with_main(f"package a\n{source}\n".encode()).decode()
    assert f"[]testingOfFile.InternalTest{{{found}}}" in made
    first, rest = made.split("\n", 1)
    assert first.startswith("package main; import (")
    assert rest.startswith(f"{source}\n")


def test_a_main_function_of_the_file_of_tests_is_not_run() -> None:
    head, body = b"/* package a */ // func main() {}\n", b'() { println("func main()") }\n'
    made = with_main(head + b"package b\nfunc main" + body)
    assert made.startswith(head + b"package main; import (")
    assert b"\nfunc mainOfFile" + body in made


def test_a_test_calls_the_main_function_of_its_file_and_no_other() -> None:
    lines = (
        "func main() {}\nfunc TestA(t *testing.T) { main(); it.main() }\nfunc (s suite) main() {}"
    )
    made = with_main(f"package b\n{lines}\n".encode()).decode().splitlines()
    assert made[1:4] == [
        "func mainOfFile() {}",
        "func TestA(t *testing.T) { mainOfFile(); it.main() }",
        "func (s suite) main() {}",
    ]


GO_FAILS = """package sums
import (tt "testing"; "os"; "path/filepath")
func main() { println("main of the file") }
func TestÜber(t *tt.T) {
	main()
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("a"), 0o644); err != nil { t.Fatal(err) }
	t.Error("told in line 8")
}
"""


def test_a_test_of_go_with_another_name_for_testing_runs(judge: Judge) -> None:
    found = run(judge, "go_test", GO_FAILS).run
    assert found is not None
    assert (found.exit_code, found.stderr) == (1, b"main of the file\n")
    assert b"main.go:8: told in line 8" in found.stdout
    found = run(judge, "go_test", GO_FAILS.replace("t.Error", "t.Log")).run
    assert found is not None
    assert (found.exit_code, found.stdout) == (0, b"PASS\n")


GO_ENDS = """package sums
import ("os"; "testing")
func TestMain(m *testing.M) { println("made ready"); m.Run() }
func TestEnds(t *testing.T) { if len(os.Args) > 9 { os.Exit(0) } }
func FuzzSum(f *testing.F) {
	f.Add(3)
	f.Fuzz(func(t *testing.T, it int) { if it != 3 { t.Fatal(it) } })
}
"""


@pytest.mark.parametrize(
    ("part", "other", "told"),
    [
        ("> 9", "< 9", b"unexpected call to os.Exit(0) during test"),
        ("!= 3", "== 3", b"FuzzSum/seed#0"),
    ],
)
def test_go_has_what_its_command_gives_to_tests(
    judge: Judge, part: str, other: str, told: bytes
) -> None:
    found = run(judge, "go_test", GO_ENDS).run
    assert found is not None
    assert (found.exit_code, found.stdout, found.stderr) == (0, b"PASS\n", b"made ready\n")
    found = run(judge, "go_test", GO_ENDS.replace(part, other)).run
    assert found is not None
    assert found.exit_code in (1, 2)
    assert told in found.stdout + found.stderr


SPEC = """import org.junit.jupiter.api.*;
import org.junit.jupiter.api.io.TempDir;
import java.nio.file.*;
class SumSpec {
    @Test void adds(@TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("a"), "a");
        Assertions.assertEquals(3, 1 + 2);
    }
}
"""


@pytest.mark.slow
def test_a_class_of_tests_may_have_any_name(judge: Judge) -> None:
    for source, code in ((SPEC, 0), (SPEC.replace("(3,", "(4,"), 1)):
        found = run(judge, "junit", source).run
        assert found is not None
        assert found.exit_code == code, found


@pytest.mark.slow
def test_a_program_of_junit_without_tests_fails(judge: Judge) -> None:
    found = run(judge, "junit", SPEC.replace("@Test ", "")).run
    assert found is not None
    assert found.exit_code == 2, found
    assert b"0 tests found" in found.stdout


@pytest.mark.slow
def test_a_script_may_be_in_a_package(judge: Judge) -> None:
    found = run(judge, "kotlin_script", "package a.b\nprintln(args.size)\nclass Main\n").run
    assert found is not None
    assert (found.exit_code, found.stdout) == (0, b"0\n"), found


@pytest.mark.parametrize(
    "part",
    [
        *("/*", "`", '"\\', "'", "/", "//\n", "package ", "func main", "func main() main("),
        *("func TestA(", "func TestA(a *", ") ", ". "),
    ],
)
def test_reading_go_takes_time_in_proportion_to_its_length(part: str) -> None:
    source = part.encode() * (400_000 // len(part))
    start = time.process_time()
    with_main(source)
    assert time.process_time() - start < 5.0
