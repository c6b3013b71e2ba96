"""`code` with programs in C++."""

from __future__ import annotations

import asyncio
import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.verifier_service.test_score import verdicts
from verifier_service.code.check_tests import Row, find_misfits
from verifier_service.code.extraction import last_block
from verifier_service.code.languages.runners import language_tools
from verifier_service.code.languages.status import language_version
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reference_tests import Stdio
from verifier_service.code.toolchains import installed_programs
from verifier_service.code.toolchains.toolchain import Toolchain, ToolchainError
from verifier_service.code.verdicts import judge_completion
from verifier_service.compat import piston
from verifier_service.completion import Completion
from verifier_service.sandbox.execution import Limits, SandboxError, Tools
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Outcome
from verifier_service.verifiers.code import Code

needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None, reason="needs g++: apt install g++"
)

SUM = """
#include <bits/stdc++.h>
using namespace std;
int main() {
    long long n, sum = 0;
    cin >> n;
    vector<long long> values(n);
    for (auto &value : values) cin >> value;
    cout << accumulate(values.begin(), values.end(), sum) << endl;
}
"""
CASES = [
    {"stdin": "3\n1 2 3\n", "stdout": "6\n"},
    {"stdin": "1\n5\n", "stdout": "5\n"},
    {"stdin": "0\n", "stdout": "0\n"},
]
HEADER = "#include <cerrno>\n#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n"
MAIN = HEADER + "int main() "
TEMPLATES = "template<int N> struct S { S<N + 1> s; }; S<0> s; int main() {}"
FORK = '{ std::puts(fork() == -1 && errno == EPERM ? "6" : "forked"); }'
PROGRAMS = {
    "right": (SUM, "passed"),
    "wrong": (SUM.replace("<< accumulate", "<< 1 + accumulate"), "wrong_answer"),
    "right once": (MAIN + '{ std::puts("6"); }', "wrong_answer"),
    "judged online": ("#ifdef ONLINE_JUDGE\n" + SUM + "#endif\n", "passed"),
    "syntax": ("int main() { return 0 }", "compile_error"),
    "nothing": ("", "compile_error"),
    "Python": ("print(6)", "compile_error"),
    "not text": ("\x00", "compile_error"),
    "undefined": ("int f(); int main() { return f(); }", "compile_error"),
    "static assertion": ("static_assert(false); int main() {}", "compile_error"),
    "endless templates": (TEMPLATES, "compile_error"),
    "includes itself": ('#include "main.cpp"\nint main() {}', "compile_error"),
    "outside": ('#include "/etc/passwd"\nint main() {}', "compile_error"),
    "outside in assembly": ('asm(".incbin \\"/etc/passwd\\""); int main() {}', "compile_error"),
    "exit code": (SUM.replace("<< endl;", "<< endl; return 1;"), "runtime_error"),
    "segmentation fault": (MAIN + "{ *(volatile int *)8 = 1; }", "runtime_error"),
    "uncaught": ("int main() { throw 1; }", "runtime_error"),
    "abort": (MAIN + "{ std::abort(); }", "runtime_error"),
    "endless": (MAIN + '{ for (;;) asm volatile(""); }', "time_limit_exceeded"),
    "asleep": (MAIN + "{ for (;;) pause(); }", "time_limit_exceeded"),
    "memory": (
        MAIN + "{ for (;;) *(volatile char *)new char[4096] = 1; }",
        "memory_limit_exceeded",
    ),
    "flood": (MAIN + '{ for (;;) std::puts("6"); }', "output_limit_exceeded"),
    "another table of calls": (
        MAIN + '{ asm volatile("mov $0x40000027, %eax; syscall"); }',
        "sandbox_violation",
    ),
    "fork": (MAIN + FORK, "wrong_answer"),
}


def block(source: str, tag: str = "cpp") -> str:
    return f"So:\n```{tag}\n{source}\n```\n"


def judged(http: httpx.Client, *sources: str, **options: Any) -> list[dict[str, Any]]:
    options = {"cpu_seconds": 20.0, "memory_bytes": 2**27, "output_bytes": 2**16, **options}
    verifier = {"type": "code", "language": "cpp", **options}
    tests = {"type": "stdio", "cases": CASES}
    return verdicts(http, verifier, *map(block, sources), tests=tests)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gets_its_reason(http: httpx.Client, name: str) -> None:
    source, reason = PROGRAMS[name]
    # No program that meets another limit is to meet this one before, however slow the machine.
    limit = {"cpu_seconds": 0.5} if reason == "time_limit_exceeded" else {}
    (verdict,) = judged(http, source, **limit)
    assert (verdict["outcome"], verdict["reason"]) == ("scored", reason), verdict
    assert verdict["score"] == float(reason == "passed")


THREADS = """
#include <pthread.h>
#include <bits/stdc++.h>
int main() {{
    pthread_attr_t stack;
    pthread_attr_init(&stack);
    pthread_attr_setstacksize(&stack, {stack_bytes});
    pthread_setattr_default_np(&stack);
    std::mutex all_are_there;
    std::vector<std::thread> threads;
    all_are_there.lock();
    for (int n = 0; n < {num_threads}; n++)
        threads.emplace_back([&] {{ std::lock_guard<std::mutex> guard(all_are_there); }});
    all_are_there.unlock();
    for (auto &thread : threads) thread.join();
    long long sum = 0, value;
    for (std::cin >> value; std::cin >> value;) sum += value;
    std::cout << sum << std::endl;
}}
"""


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(
    ("num_threads", "stack_bytes", "reason"),
    [(6, 2**26, "passed"), (12, 2**26, "runtime_error"), (50, 2**20, "passed")],
)
def test_threads_have_room_for_the_stacks_that_they_ask_for(
    http: httpx.Client, num_threads: int, stack_bytes: int, reason: str
) -> None:
    source = THREADS.format(num_threads=num_threads, stack_bytes=stack_bytes)
    (verdict,) = judged(http, source, memory_bytes=2**29)
    assert verdict["reason"] == reason, verdict


@pytest.mark.slow
@needs_compiler
def test_a_thread_that_asks_for_no_stack_has_8_mib(http: httpx.Client) -> None:
    """Fifty stacks as large as the main thread's, 64 MiB, would take three gigabytes."""
    source = THREADS.format(num_threads=50, stack_bytes=2**20)
    default = source.replace("pthread_setattr_default_np(&stack);", "")
    (verdict,) = judged(http, default, memory_bytes=2**29)
    assert verdict["reason"] == "passed", verdict


@needs_compiler
def test_programs_of_a_group_are_judged_each(http: httpx.Client) -> None:
    sources = [SUM, "int main() {}", "int main(", SUM]
    reasons = [verdict["reason"] for verdict in judged(http, *sources)]
    assert reasons == ["passed", "wrong_answer", "compile_error", "passed"]


@pytest.mark.slow
@needs_compiler
def test_a_fraction_counts_the_cases(http: httpx.Client) -> None:
    source = SUM.replace("cin >> n;", "cin >> n; if (n == 3) return 1;")
    (verdict,) = judged(http, source, scoring="fraction")
    assert verdict["score"] == pytest.approx(2 / 3)
    assert verdict["details"]["passed"] == 2


@needs_compiler
def test_what_the_compiler_says_is_shown(http: httpx.Client) -> None:
    (verdict,) = judged(http, "int main() { return unknown; }")
    assert "main.cpp:1:21: error: " in verdict["details"]["output"]


@needs_compiler
@pytest.mark.parametrize(
    "tests",
    [
        {"type": "function", "entry_point": "f", "cases": [{"args": [1], "returns": 1}]},
        {"type": "asserts", "code": "assert f(1) == 1"},
    ],
)
def test_functions_cannot_be_tested(http: httpx.Client, tests: dict[str, Any]) -> None:
    source = block("int f(int n) { return n; }")
    (verdict,) = verdicts(http, {"type": "code", "language": "cpp"}, source, tests=tests)
    assert (verdict["outcome"], verdict["reason"]) == ("unverifiable", "unsupported_test")
    message = f"programs in cpp have tests of type stdio or interactive, found {tests['type']}"
    assert verdict["details"]["message"] == message


@needs_compiler
def test_a_python_block_is_no_code(http: httpx.Client) -> None:
    tests = {"type": "stdio", "cases": CASES}
    completion = block("print(6)", "python")
    (verdict,) = verdicts(http, {"type": "code", "language": "cpp"}, completion, tests=tests)
    assert verdict["reason"] == "no_code"


@pytest.mark.parametrize("tag", ["cpp", "c++", "C++", "cc", "CPP"])
def test_the_usual_tags_are_known(tag: str) -> None:
    assert last_block(block("int main() {}", tag), LANGUAGES["cpp"].tags) == "int main() {}\n"


@pytest.fixture
def no_toolchain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A machine with no programs but those of a directory."""
    monkeypatch.setattr(installed_programs, "SEARCH_PATH", str(tmp_path))
    monkeypatch.setattr(installed_programs, "SYSTEM", tmp_path)
    for name, language in LANGUAGES.items():
        if language.find is not None:
            without = dataclasses.replace(language, found=[], problems=[])
            monkeypatch.setitem(LANGUAGES, name, without)
    language_version.cache_clear()
    yield tmp_path
    language_version.cache_clear()


@pytest.mark.usefixtures("no_toolchain")
def test_a_machine_without_a_compiler_says_what_to_install() -> None:
    async def ask() -> str | None:
        async with Runner(1, tools=language_tools) as runner:
            return await LANGUAGES["cpp"].missing(runner)

    message = asyncio.run(ask())
    assert message is not None
    assert message.startswith("no g++ in ")
    assert "apt install g++" in message


@pytest.mark.usefixtures("no_toolchain")
@pytest.mark.parametrize("num_rows", [1, 3])
def test_without_a_compiler_no_row_is_a_misfit(num_rows: int) -> None:
    tests = {"type": "stdio", "cases": CASES}
    rows = [Row(number, "", SUM, tests) for number in range(1, num_rows + 1)]
    with pytest.raises(SandboxError, match="apt install g\\+\\+"):
        asyncio.run(
            find_misfits(rows, verifier=Code(language="cpp"), num_workers=2, on_judged=lambda: None)
        )


@pytest.mark.usefixtures("no_toolchain")
def test_a_missing_compiler_is_unverifiable_and_says_why() -> None:
    tests = Stdio.model_validate({"type": "stdio", "cases": CASES})

    async def ask() -> list[Any]:
        async with Runner(1, tools=language_tools) as runner:
            completions = [Completion(block(SUM)), Completion("no program")]
            return [
                await judge_completion(runner, Code(language="cpp"), tests, completion)
                for completion in completions
            ]

    for verdict in asyncio.run(ask()):
        assert verdict.outcome is Outcome.UNVERIFIABLE
        assert verdict.score is None
        assert verdict.reason == "missing_toolchain"
        assert "apt install g++" in verdict.details["message"]


def test_a_compiler_that_does_not_say_its_version_is_asked_again(no_toolchain: Path) -> None:
    def listed() -> list[tuple[str, str]]:
        found = asyncio.run(piston.runtimes())
        return [(one.language, one.version) for one in found if one.language != "python"]

    with pytest.raises(ToolchainError, match="no g\\+\\+ in"):
        language_version("cpp")
    path = driver(no_toolchain, "exit 1")
    nothing = Tools(executable=(), readable=())
    LANGUAGES["cpp"].found.append(Toolchain(tools=nothing, version=(str(path),)))
    assert listed() == []
    driver(no_toolchain, "echo 12.3.4")
    assert listed() == [("c++", "12.3.4")]
    driver(no_toolchain, "exit 1")
    assert listed() == [("c++", "12.3.4")]


@needs_compiler
def test_a_compiler_that_runs_out_of_time_is_tried_again() -> None:
    async def ask() -> str | None:
        async with Runner(1, tools=language_tools) as runner:
            limits = Limits(cpu_seconds=0.001, file_bytes=2**20)
            short = dataclasses.replace(LANGUAGES["cpp"], compile_limits=limits, problems=[])
            with pytest.raises(SandboxError, match="cpp does not work in the sandbox"):
                await short.missing(runner)
            return await dataclasses.replace(LANGUAGES["cpp"], problems=short.problems).missing(
                runner
            )

    assert asyncio.run(ask()) is None


def driver(directory: Path, script: str) -> Path:
    """Install a program as g++."""
    path = directory / "g++"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 1", "libc.a: status 1"),
        ("echo no disk >&2; exit 1", "libc.a: no disk"),
        ("echo libc.a", "no static C library: install it"),
        ("echo /nowhere/libc.a", "g\\+\\+ needs /nowhere/libc.a, which is not in"),
        ("echo $0", "would start 0 programs, not 3"),
    ],
)
def test_a_compiler_that_is_not_whole_is_missing(
    no_toolchain: Path, script: str, message: str
) -> None:
    driver(no_toolchain, script)
    with pytest.raises(ToolchainError, match=message):
        LANGUAGES["cpp"].toolchain()


def test_a_compiler_that_does_not_end_is_missing(
    no_toolchain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed_programs, "_QUERY_SECONDS", 0.2)
    driver(no_toolchain, "exec /bin/sleep 5")
    with pytest.raises(ToolchainError, match=r"g\+\+ does not end within 0.2 s"):
        LANGUAGES["cpp"].toolchain()
