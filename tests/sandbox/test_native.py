"""Programs that are not Python, and the tools that make them: zygotes that permit one exec."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sandbox.conftest import LIMITS, Sandbox
from verifier_service.code.languages.language import CompileFailure
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.sandbox.entries import OUTPUT_FILE, tool_payload
from verifier_service.sandbox.execution import (
    Execution,
    ExitReason,
    Layer,
    Limits,
    Program,
    Tools,
)
from verifier_service.sandbox.runner import Runner

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++: apt install g++")

PROGRAMS = Path(__file__).parent / "programs"
SMALL = replace(LIMITS, memory_bytes=128 * 2**20, output_bytes=2**16)
TOOL = replace(LIMITS, file_bytes=2**20)
HEADER = "#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\nint main() "
COMPILE_BOMB = """
constexpr unsigned long spin(unsigned long n) { return n < 2 ? 1 : spin(n - 1) + spin(n - 2); }
static_assert(spin(500) > 0);
int main() {}
"""
PROCESS = "memfd:payload"
"""The kernel's name for a process that was started from a file in memory."""
APPEAR_SECONDS = 60
"""Longest wait for a process to start or to end, on a busy machine."""
BOMB_OPTIONS = "-fconstexpr-ops-limit=9999999999"


def built(sandbox: Sandbox, source: str) -> Program | CompileFailure:
    return sandbox.wait(LANGUAGES["cpp"].build(sandbox.runner, source.encode()))


def run(
    sandbox: Sandbox, source: str, stdin: bytes = b"", limits: Limits | None = None
) -> Execution:
    """Compile a program, which must work, and run it."""
    program = built(sandbox, source)
    assert isinstance(program, Program), program
    program = Program(payload=program.payload, entry="binary", stdin=stdin, toolchain="cpp")
    return sandbox.wait(sandbox.runner.run(program, limits or LIMITS))


def compiler_error(sandbox: Sandbox, source: str) -> str:
    failure = built(sandbox, source)
    assert isinstance(failure, CompileFailure)
    return failure.message


def descendants() -> dict[int, str]:
    """The processes below this one that are not zygotes, and their names."""
    parents, names = {}, {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (process / "stat").read_text().rpartition(")")
        except OSError:
            continue
        parents[int(process.name)] = int(rest.split()[1])
        names[int(process.name)] = name.partition("(")[2]
    found, level = set[int](), {os.getpid()}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level}
        found |= level
    return {pid: names[pid] for pid in found if not names[pid].startswith("python")}


@pytest.fixture(autouse=True)
def nothing_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    before = set(descendants())
    yield
    assert set(descendants()) <= before


def test_a_program_reads_and_prints(sandbox: Sandbox) -> None:
    source = (
        "#include <iostream>\nint main() { long a, b; std::cin >> a >> b; std::cout << a + b; }"
    )
    execution = run(sandbox, source, b"40 2\n")
    assert (execution.reason, execution.stdout) == (ExitReason.EXITED, b"42")


def test_a_program_uses_exceptions_threads_and_random_numbers(sandbox: Sandbox) -> None:
    source = """
#include <iostream>
#include <random>
#include <stdexcept>
#include <thread>
int main() {
    std::thread([] { std::cout << "thread "; }).join();
    try {
        throw std::runtime_error("error ");
    } catch (const std::exception &e) {
        std::cout << e.what();
    }
    std::cout << (std::random_device()() != std::random_device()());
}
"""
    assert run(sandbox, source).stdout == b"thread error 1"


def test_a_program_gets_no_environment_of_the_service(sandbox: Sandbox) -> None:
    source = (
        "#include <cstdio>\nint main(int, char **a, char **e) { for (; *a; a++) std::puts(*a); "
        "for (; *e; e++) std::puts(*e); }"
    )
    assert run(sandbox, source).stdout == b"main\nPATH=/bin:/usr/bin\nLC_ALL=C.UTF-8\nHOME=/\n"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("{ std::exit(3); }", ExitReason.EXITED),
        ("{ volatile int *p = nullptr; *p = 1; }", ExitReason.SIGNALED),
        ("{ std::abort(); }", ExitReason.SIGNALED),
        ("{ for (volatile int i = 0;; i = i + 1); }", ExitReason.CPU_LIMIT),
        ("{ pause(); }", ExitReason.WALL_LIMIT),
        ('{ for (;;) std::puts("flood"); }', ExitReason.OUTPUT_LIMIT),
        (
            "{ for (;;) *(volatile char *)new char[4096] = 1; }",
            ExitReason.MEMORY_LIMIT,
        ),
        ('{ asm volatile("mov $0x40000027, %eax; syscall"); }', ExitReason.FORBIDDEN),
    ],
    ids=lambda value: value if isinstance(value, ExitReason) else "",
)
def test_a_program_ends_for_its_reason(sandbox: Sandbox, body: str, reason: ExitReason) -> None:
    limits = SMALL
    if reason is ExitReason.CPU_LIMIT:
        limits = replace(limits, cpu_seconds=0.3)
    if reason is ExitReason.WALL_LIMIT:
        limits = replace(limits, wall_seconds=1.0)
    assert run(sandbox, HEADER + body, limits=limits).reason is reason


def test_endless_recursion_is_a_signal(sandbox: Sandbox) -> None:
    source = "int f(volatile int n) { volatile char a[999]; return a[0] = f(n + 1) + n; }\n"
    execution = run(sandbox, source + "int main() { return f(0); }")
    assert (execution.reason, execution.signal) == (ExitReason.SIGNALED, signal.SIGSEGV)


def test_a_program_that_is_larger_than_its_memory_does_not_start(sandbox: Sandbox) -> None:
    source = "static volatile char large[1l << 30]; int main(int n, char **) { return large[n]; }"
    execution = run(sandbox, source)
    assert not execution.succeeded
    assert execution.reason is not ExitReason.COMPILE_ERROR


def test_a_program_can_do_nothing_that_is_forbidden(sandbox: Sandbox) -> None:
    source = (PROGRAMS / "forbidden.cpp").read_text()
    execution = run(sandbox, source)
    assert execution.stdout == b"done\n", execution


def test_a_program_cannot_name_its_loader(sandbox: Sandbox) -> None:
    """A program with an interpreter in it would have the kernel start that."""
    source = 'asm(".section .interp,\\"a\\"; .asciz \\"/bin/sh\\"; .text"); int main() {}'
    assert run(sandbox, source).exit_code == 126


def test_a_payload_that_is_no_program_is_its_own_fault(sandbox: Sandbox) -> None:
    program = Program(payload=b"#!/bin/sh\necho x\n", entry="binary", toolchain="cpp")
    execution = sandbox.wait(sandbox.runner.run(program, LIMITS))
    assert execution.exit_code == 126
    assert execution.stdout == b""


STATE = """
#include <cstdio>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int main() {
    for (int kind = 0; kind < 16; kind++) {
        struct rlimit limit = {};
        syscall(SYS_getrlimit, kind, &limit);
        std::printf("limit %d %lu %lu\\n", kind, limit.rlim_cur, limit.rlim_max);
    }
    std::printf("ids %d %d %d %d\\n", getuid(), geteuid(), getgid(), getegid());
    std::printf("session %d %d\\n", getpid() == getsid(0), getpid() == getpgrp());
    std::printf("umask %o\\n", umask(0));
    for (int number = 0; number < 64; number++)
        std::printf("%d", fcntl(number, F_GETFD) >= 0);
    struct sigaction action;
    for (int number = 1; number < 32; number++)
        std::printf(" %d", sigaction(number, nullptr, &action) ? -1 : action.sa_handler != SIG_DFL);
    sigset_t mask;
    sigprocmask(SIG_BLOCK, nullptr, &mask);
    for (int number = 1; number < 32; number++)
        std::printf(" %d", sigismember(&mask, number));
    std::printf("\\nexec %d\\n", (int)syscall(SYS_execveat, 4, "", nullptr, nullptr, 0x1000, 0));
}
"""


@pytest.mark.parametrize("has_files", [False, True])
def test_a_program_begins_in_the_same_state_however_its_process_is_made(
    sandbox: Sandbox, *, has_files: bool
) -> None:
    """The launcher makes it, or where that is missing a fork of the zygote."""
    made = built(sandbox, STATE)
    assert isinstance(made, Program)
    limits = replace(LIMITS, file_bytes=2**20 if has_files else 0)

    async def run_both() -> list[Execution]:
        found = []
        whole = LANGUAGES["cpp"].toolchain().tools
        assert whole.launcher
        for given in (whole, replace(whole, launcher=b"")):
            async with Runner(1, tools=lambda _, given=given: given) as runner:  # type: ignore[misc]
                found += [await runner.run(replace(made, stdin=b"x"), limits) for _ in range(2)]
        return found

    by_launcher, again, by_fork, _ = asyncio.run(run_both())
    assert by_launcher.stdout.endswith(b"exec -1\n"), by_launcher
    assert _without_user(by_launcher) == _without_user(again) == _without_user(by_fork)


def _without_user(execution: Execution) -> list[bytes]:
    """Lines of `STATE` without what differs by zygote.

    That is the user, and the limits on threads and address space, to which those are added that the
    zygote found.
    """
    lines = execution.stdout.splitlines()
    return [line for line in lines if not line.startswith((b"ids", b"limit 6 ", b"limit 9 "))]


def test_a_tool_that_is_not_what_it_seems_can_only_write_its_file(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """The program of forbidden operations in the place of a compiler."""
    made = built(sandbox, (PROGRAMS / "forbidden.cpp").read_text())
    assert isinstance(made, Program)
    path = tmp_path / "compiler"
    path.write_bytes(made.payload)
    path.chmod(0o755)

    async def run_it() -> Execution:
        given = Tools(executable=(path,), readable=())
        async with Runner(1, tools=lambda _: given) as runner:
            payload = tool_payload([str(path)], "main.cpp", b"")
            program = Program(
                payload=payload, entry="tool", fetched_files=(OUTPUT_FILE,), toolchain="given"
            )
            return await runner.run(program, TOOL)

    execution = asyncio.run(run_it())
    done = set(execution.stdout.decode().splitlines())
    assert done - {"open own program"} == {"write a file here", "done"}, execution
    assert execution.files == {}


def compile_step(sandbox: Sandbox, source: str, limits: Limits, *options: str) -> Execution:
    """Run the compiler alone, with more options."""
    step = LANGUAGES["cpp"].toolchain().steps[0].arguments
    payload = tool_payload([*step, *options], "main.cpp", source.encode())
    program = Program(payload=payload, entry="tool", fetched_files=(OUTPUT_FILE,), toolchain="cpp")
    return sandbox.wait(sandbox.runner.run(program, limits))


@pytest.fixture
def canary() -> Iterator[Path]:
    """A file that everybody can read, and nobody in the sandbox."""
    directory = Path("/var/tmp") / f"canary-{os.getpid()}"
    directory.mkdir(mode=0o755)
    path = directory / "canary.h"
    path.write_text("CANARY_7f3a\n")
    path.chmod(0o644)
    yield path
    shutil.rmtree(directory)


INCLUSIONS = {
    "include": '#include "{path}"\nint main() {{}}',
    "include in brackets": "#include <{path}>\nint main() {{}}",
    "include upwards": '#include "../../../../../..{path}"\nint main() {{}}',
    "include from a header directory": "#include <../..{path}>\nint main() {{}}",
    "include by macro": '#define NAME "{path}"\n#include NAME\nint main() {{}}',
    "include_next": '#include_next "{path}"\nint main() {{}}',
    "include by a linemarker": '# 1 "{directory}/main.cpp"\n#include "canary.h"\nint main() {{}}',
    "import": '#import "{path}"\nint main() {{}}',
    "embed": 'const char data[] = {{\n#embed "{path}"\n}};\nint main() {{}}',
    "pragma dependency": '#pragma GCC dependency "{path}" x\n#include "{path}"\nint main() {{}}',
    "incbin": 'asm(".incbin \\"{path}\\""); int main() {{}}',
    "assembler include": 'asm(".include \\"{path}\\""); int main() {{}}',
    "through /proc/self/root": '#include "/proc/self/root{path}"\nint main() {{}}',
    "through /proc/self/cwd": '#include "/proc/self/cwd/../../../..{path}"\nint main() {{}}',
    "response file": '#include "@{path}"\nint main() {{}}',
    "module map": 'module;\nexport module x;\nimport "{path}";\nint main() {{}}',
    "option in a pragma": '#pragma GCC optimize("@{path}")\n#include "{path}"\nint main() {{}}',
    "section for the linker": (
        'asm(".section .drectve,\\"a\\"; .ascii \\"-T {path}\\"; .text"); '
        'asm(".incbin \\"{path}\\""); int main() {{}}'
    ),
}


@pytest.mark.parametrize("attack", sorted(INCLUSIONS))
def test_no_file_outside_the_toolchain_can_be_compiled_in(
    sandbox: Sandbox, canary: Path, attack: str
) -> None:
    source = INCLUSIONS[attack].format(path=canary, directory=canary.parent)
    said = compiler_error(sandbox, source)
    assert "CANARY" not in said
    assert "rror: " in said or "fatal" in said, said


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/1/environ", "/dev/zero"),
        *("/proc/self/fd/0", "/dev/stdin", "/sys/kernel/version", "/usr/share/doc", str(__file__)),
    ],
)
def test_no_file_of_the_system_can_be_compiled_in(sandbox: Sandbox, path: str) -> None:
    for source in (f'#include "{path}"\nint main() {{}}', f'asm(".incbin \\"{path}\\"");'):
        said = compiler_error(sandbox, source)
        refusals = ("No such file", "ermission denied", "file not found", "Is a directory")
        assert any(refusal in said for refusal in refusals), said


@pytest.mark.parametrize("function", ["__has_include", "__has_include_next"])
def test_whether_a_file_exists_can_be_told_only_without_a_private_root(
    sandbox: Sandbox, canary: Path, function: str
) -> None:
    source = '#if {}("{}")\n#error found\n#endif\n#error end'
    there = compiler_error(sandbox, source.format(function, canary))
    assert "error found" not in there.replace("#", "")
    if Layer.ROOT in sandbox.runner.layers:
        missing = canary.with_name("absent")
        absent = compiler_error(sandbox, source.format(function, missing))
        assert there.replace(canary.name, missing.name) == absent
        assert "ermission" not in there


def test_a_link_in_the_toolchain_leads_nowhere_else(sandbox: Sandbox, canary: Path) -> None:
    directory = canary.parent / "toolchain"
    directory.mkdir()
    (directory / "innocent.h").symlink_to(canary)
    found = LANGUAGES["cpp"].toolchain()
    given = Tools(executable=found.tools.executable, readable=(*found.tools.readable, directory))
    arguments = [*found.steps[0].arguments, f"-I{directory}"]
    payload = tool_payload(arguments, "main.cpp", b"#include <innocent.h>\nint main() {}")

    async def run_it() -> Execution:
        async with Runner(1, tools=lambda _: given) as runner:
            program = Program(payload=payload, entry="tool", toolchain="given")
            return await runner.run(program, TOOL)

    execution = asyncio.run(run_it())
    assert not execution.succeeded
    assert b"innocent.h" in execution.stderr
    assert b"CANARY" not in execution.stderr


@pytest.mark.parametrize(
    ("source", "options", "expected"),
    [
        (COMPILE_BOMB, [BOMB_OPTIONS, "-fconstexpr-depth=600"], {ExitReason.CPU_LIMIT}),
        ("template<int N> struct S { S<N + 1> s; }; S<0> s;", [], {ExitReason.EXITED}),
        (
            "template<int N> struct S { S<N + 1> s; }; S<0> s;",
            ["-ftemplate-depth=999999999"],
            {ExitReason.MEMORY_LIMIT, ExitReason.SIGNALED, ExitReason.CPU_LIMIT, ExitReason.EXITED},
        ),
        ('#include "main.cpp"', [], {ExitReason.EXITED}),
        (
            '#include "main.cpp"\n#include "main.cpp"',
            ["-fmax-include-depth=30"],
            {ExitReason.CPU_LIMIT, ExitReason.MEMORY_LIMIT, ExitReason.EXITED},
        ),
        ("char large[1l << 30] = {1};", [], {ExitReason.SIGNALED, ExitReason.EXITED}),
        (
            "#define A(x) x x x x x x x x\n#define B(x) A(A(A(x)))\n"
            'const char *s = B(B(B(B("text"))));',
            [],
            {ExitReason.CPU_LIMIT, ExitReason.MEMORY_LIMIT, ExitReason.EXITED},
        ),
    ],
    ids=["constexpr", "templates", "deep templates", "itself", "itself twice", "array", "macros"],
)
def test_a_source_that_is_endless_to_compile_ends_within_limits(
    sandbox: Sandbox, source: str, options: list[str], expected: set[ExitReason]
) -> None:
    limits = replace(LIMITS, memory_bytes=2**28, file_bytes=2**22)
    if ExitReason.CPU_LIMIT in expected:
        limits = replace(limits, cpu_seconds=1.0)
    execution = compile_step(sandbox, source, limits, *options)
    assert execution.reason in expected, execution
    assert not execution.succeeded or execution.files
    assert execution.cpu_seconds < limits.cpu_seconds + 2


def test_a_huge_object_file_is_cut_off(sandbox: Sandbox) -> None:
    failure = built(sandbox, 'asm(".data; .fill 1 << 31, 1, 7"); int main() {}')
    assert isinstance(failure, CompileFailure)


def test_compilations_leave_nothing_for_the_next(sandbox: Sandbox) -> None:
    assert isinstance(built(sandbox, "int main() {}"), Program)
    for name in ("main.s", "main.o", "../output"):
        assert "No such file" in compiler_error(sandbox, f'#include "{name}"\nint main() {{}}')


@pytest.mark.parametrize("who", ["zygote", "tool"])
def test_a_compiler_does_not_outlive_what_started_it(sandbox: Sandbox, who: str) -> None:
    """It is one process, with no processes of its own."""

    async def kill() -> None:
        step = LANGUAGES["cpp"].toolchain().steps[0].arguments
        payload = tool_payload(
            [*step, BOMB_OPTIONS, "-fconstexpr-depth=600"], "main.cpp", COMPILE_BOMB.encode()
        )
        program = Program(payload=payload, entry="tool", toolchain="cpp")
        task = asyncio.create_task(sandbox.runner.run(program, TOOL))
        tool = await _appears("cc1plus")
        pidfd = os.pidfd_open(tool)
        os.kill(tool if who == "tool" else _parent(tool), signal.SIGKILL)
        await asyncio.wait_for(asyncio.to_thread(_wait_for_end, pidfd), APPEAR_SECONDS)
        os.close(pidfd)
        await _appears("cc1plus", but=tool)  # it is run again
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    sandbox.wait(kill())
    sandbox.wait(_disappears("cc1plus"))


def test_the_memory_of_a_running_program_is_closed_to_others_of_its_user(
    sandbox: Sandbox,
) -> None:
    """The kernel then shows root as the owner of the process."""

    async def owner() -> int:
        program = await LANGUAGES["cpp"].build(sandbox.runner, (HEADER + "{ pause(); }").encode())
        assert isinstance(program, Program)
        task = asyncio.create_task(sandbox.runner.run(program, LIMITS))
        found = os.stat(f"/proc/{await _appears(PROCESS)}/maps").st_uid
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return found

    assert sandbox.wait(owner()) == 0
    sandbox.wait(_disappears(PROCESS))


async def _appears(name: str, but: int = 0) -> int:
    async with asyncio.timeout(APPEAR_SECONDS):
        while True:
            found = [pid for pid, other in descendants().items() if other == name and pid != but]
            if found:
                return found[0]
            await asyncio.sleep(0.02)


async def _disappears(name: str) -> None:
    async with asyncio.timeout(APPEAR_SECONDS):
        while True:
            if name not in descendants().values():
                return
            await asyncio.sleep(0.02)


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _wait_for_end(pidfd: int) -> None:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.poll()
