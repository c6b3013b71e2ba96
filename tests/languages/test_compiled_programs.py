"""Compiled programs that are kept: for equal sources only, bounded, and shared by processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
from dataclasses import replace

import pytest

from verifier_service.code import compiled_programs
from verifier_service.code.compiled_programs import CompiledPrograms
from verifier_service.code.languages import language
from verifier_service.code.languages.language import CompileFailure
from verifier_service.code.languages.runners import language_tools
from verifier_service.code.languages.status import language_statuses
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.sandbox.execution import Execution, ExitReason, Limits, Program
from verifier_service.sandbox.runner import Runner


@pytest.fixture
def programs() -> CompiledPrograms:
    made = CompiledPrograms()
    descriptor = CompiledPrograms.create_file()
    made.share(descriptor)
    os.close(descriptor)
    return made


def test_a_program_is_found_by_its_language_source_and_files(programs: CompiledPrograms) -> None:
    programs.keep("c", b"source", {"a.h": b"1"}, b"program")
    assert programs.get("c", b"source", {"a.h": b"1"}) == b"program"
    for asked in (("cpp", b"source", {"a.h": b"1"}), ("c", b"sourc", {"ea.h": b"1"})):
        assert programs.get(*asked) is None
    for files in ({"a.h": b"2"}, {"b.h": b"1"}, {}, {"a.h": b"1", "b.h": b""}):
        assert programs.get("c", b"source", files) is None


def test_nothing_is_kept_without_a_file() -> None:
    alone = CompiledPrograms()
    alone.keep("c", b"source", {}, b"program")
    assert alone.get("c", b"source", {}) is None


def test_the_oldest_programs_are_overwritten(
    programs: CompiledPrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_programs, "RING_BYTES", 1000)
    for number in range(30):
        programs.keep("c", b"%d" % number, {}, b"%d" % number * (300 // len(b"%d" % number)))
    kept = {n: programs.get("c", b"%d" % n, {}) for n in range(30)}
    assert [n for n, one in kept.items() if one is not None] == [27, 28, 29]
    assert kept[29] == b"29" * 150


def test_a_program_that_is_too_large_is_not_kept(programs: CompiledPrograms) -> None:
    programs.keep("c", b"", {}, bytes(compiled_programs.MAX_PROGRAM_BYTES + 1))
    assert programs.get("c", b"", {}) is None


def test_a_slot_that_is_not_whole_counts_as_none(programs: CompiledPrograms) -> None:
    programs.keep("c", b"", {}, b"program")
    start = compiled_programs._slot(compiled_programs._key("c", b"", {}))
    programs._table[start + 33] ^= 1
    assert programs.get("c", b"", {}) is None


def _keep_some(programs: CompiledPrograms, process: int) -> None:
    for number in range(200):
        programs.keep("c", b"%d %d" % (process, number), {}, b"%d " % number * 1000)


def test_processes_share_what_they_keep(programs: CompiledPrograms) -> None:
    context = multiprocessing.get_context("fork")
    others = [context.Process(target=_keep_some, args=(programs, one)) for one in range(3)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    found = [programs.get("c", b"%d %d" % (one, n), {}) for one in range(3) for n in range(200)]
    right = [b"%d " % n * 1000 for _ in range(3) for n in range(200)]
    assert all(one in (None, other) for one, other in zip(found, right, strict=True))
    assert sum(one is not None for one in found) > 400  # two may have the same slot


class _CountingRunner(Runner):
    """A runner that counts its executions."""

    num_runs = 0

    async def run(self, program: Program, limits: Limits, *, result: bool = False) -> Execution:
        self.num_runs += 1
        return await super().run(program, limits, result=result)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc: apt install gcc libc6-dev")
def test_a_source_is_compiled_once(
    programs: CompiledPrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "compiled_programs", programs)

    async def build_twice() -> list[tuple[int, bool]]:
        async with _CountingRunner(1, tools=language_tools) as runner:
            found = []
            right, wrong = b"int main(void) { return 0; }", b"x"
            for source in (right, right, wrong, wrong):
                built = await LANGUAGES["c"].build(runner, source)
                found.append((runner.num_runs, isinstance(built, CompileFailure)))
            return found

    assert asyncio.run(build_twice()) == [(3, False), (3, False), (4, True), (4, True)]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc: apt install gcc libc6-dev")
def test_a_failure_is_kept_with_its_message_and_only_if_the_compiler_decided_it(
    programs: CompiledPrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "compiled_programs", programs)
    row = LANGUAGES["c"]
    no_time = replace(row.compile_limits, cpu_seconds=0.01, wall_seconds=0.01)

    async def build_all() -> list[object]:
        async with _CountingRunner(1, tools=language_tools) as runner:
            many = b"".join(b"int f%d(int);\n" % number for number in range(100_000))
            source = many + b"int main(void) { return unknown; }"
            out_of_time = await row.build(runner, source, no_time)
            first, second = [await row.build(runner, source) for _ in range(2)]
            assert isinstance(out_of_time, CompileFailure)
            assert isinstance(first, CompileFailure)
            return [out_of_time.execution.reason, first == second, first.message, runner.num_runs]

    reason, are_equal, message, num_runs = asyncio.run(build_all())
    assert reason in (ExitReason.CPU_LIMIT, ExitReason.WALL_LIMIT)
    assert (are_equal, num_runs) == (True, 2)
    assert "unknown" in str(message)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c", "perl"])
def test_a_slot_has_few_zygotes_of_toolchains(name: str) -> None:
    """The one that was not used for longest ends, and its language works again."""

    async def run_all() -> None:
        async with Runner(1, tools=language_tools) as runner:
            present = [one.name for one in language_statuses() if one.problem is None]
            for language in [*present[1:6], name if name in present else present[0]]:
                assert await LANGUAGES[language].missing(runner) is None
            for _ in range(500):
                if len(runner._zygotes) <= 4:  # that of Python is the fourth
                    return
                await asyncio.sleep(0.02)
            pytest.fail(f"{len(runner._zygotes)} zygotes are left")

    asyncio.run(run_all())
