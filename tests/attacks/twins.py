"""Forms of tests, each with an honest twin and with programs that lack the answers.

    python -m tests.attacks.twins PART NUM_PARTS

A form is a file in `forms`: tests, a twin that solves them, and programs whose author knows the
source of the judge and not the answers. The programs of `everywhere.toml` are tried on every form
of their kind. Run as a command, this module judges them and prints a line of JSON per verdict.

Two rules hold for every program that is not the twin. It scores no more than the share of the tests
to which it has the right answer. It gets a verdict wherever its twin gets one, and none elsewhere.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from verifier_service.code.languages.language import LanguageName
from verifier_service.code.languages.runners import language_tools
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.reasons import CodeReason
from verifier_service.code.reference_tests import Tests, read_tests
from verifier_service.code.run_tests import ENTRIES
from verifier_service.code.verdicts import judge_program
from verifier_service.sandbox.execution import SandboxError
from verifier_service.sandbox.layers import hide_process
from verifier_service.sandbox.runner import Runner
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifiers.code import Code

FORMS = Path(__file__).parent / "forms"
EVERYWHERE = Path(__file__).parent / "everywhere.toml"
TWIN = "twin"
"""The name of the twin among the programs of a form."""
TWIN_SOURCE = "{TWIN}"
"""Placeholder of the twin's source in programs of `everywhere.toml`."""
SLOTS = max(2, min(4, len(os.sched_getaffinity(0))))
"""Programs that are judged at a time: each slot starts by importing numpy and pandas twice."""
PATIENT_SECONDS = 60.0
"""CPU time of a program: the longest that the verifier has, so that no busy machine meets it."""
MEMORY_BYTES = 2**28
"""Memory of a program where its form names none: no program needs half of it."""
MAX_OVERLOADS = 3
"""Runs after which a program that the sandbox gives up as overload each time has caused it."""

Scoring = Literal["all", "fraction"]
SCORINGS: tuple[Scoring, ...] = ("fraction", "all")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A program that is judged by the tests of a form."""

    name: str
    tries: str
    """How it tries to be paid; for the twin, nothing."""
    source: str
    right: int
    """Number of the form's tests to which it has the right answer."""
    is_general: bool = False
    """Whether it is one of `everywhere.toml`."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """Tests of one form, and the programs that are judged by them."""

    name: str
    summary: str
    language: LanguageName
    tests: Tests
    num_tests: int
    """Number of tests, counted by the author from their text."""
    unverifiable: str | None
    """Reason why no program can be judged by the tests; None where the twin is scored."""
    trials: tuple[Trial, ...]
    """The twin first."""
    memory_bytes: int = MEMORY_BYTES
    """Memory of a program, and of the judge beside it."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A verdict on a program, as a line of JSON."""

    form: str
    trial: str
    scoring: Scoring
    outcome: str
    reason: str
    score: float | None
    passed: int | None
    total: int | None
    shown: str


# Reading


def load_forms(folder: Path = FORMS, everywhere: Path = EVERYWHERE) -> list[Form]:
    """All forms, in the order of their names.

    Raises:
        KeyError, TypeError, ValueError: a file lacks a field, has an unknown one, or is not TOML.
    """
    shared = tomllib.loads(everywhere.read_text())
    return [_form(path, shared) for path in sorted(folder.glob("*.toml"))]


def _form(path: Path, shared: Mapping[str, list[dict[str, Any]]]) -> Form:
    found = tomllib.loads(path.read_text())
    twin, num_tests = found.pop("twin"), found["num_tests"]
    language = found.pop("language", "python")
    tests = read_tests({"tests": found.pop("tests")})
    calls = {"without calls": found.pop("without_calls", 0), "first call": found.pop("first_call")}
    shares = found.pop("shares", {})
    own = [Trial(**{"right": 0, **program}) for program in found.pop("programs", [])]
    kind = language if language != "python" else "stdio" if tests.type == "stdio" else "calls"
    known = {**calls, **shares}
    general = [_general(program, twin, known) for program in shared[kind]]
    unknown = shares.keys() - {trial.name for trial in general}
    if unknown:
        raise ValueError(f"{path}: shares of unknown programs: {sorted(unknown)}")
    return Form(
        name=path.stem,
        language=language,
        tests=tests,
        unverifiable=found.pop("unverifiable", None),
        trials=(Trial(name=TWIN, tries="", source=twin, right=num_tests), *own, *general),
        **found,
    )


def _general(program: Mapping[str, Any], twin: str, known: Mapping[str, int]) -> Trial:
    """A program of `everywhere.toml`, for one form.

    `right` is a number; or "without calls" or "first call" where it has the answers until its
    first or its second call, and the form says how many tests these decide.
    """
    right = known.get(program["name"], program.get("right", 0))
    return Trial(
        name=program["name"],
        tries=program["tries"],
        source=program["source"].replace(TWIN_SOURCE, twin),
        right=right if isinstance(right, int) else known[right],
        is_general=True,
    )


# Judging


Asked = tuple[Form, Trial, Scoring]
"""A program, the form by whose tests it is judged, and how it is scored."""


def asked_for(forms: Sequence[Form], *, part: int, num_parts: int) -> list[Asked]:
    """The verdicts that a part of the suite asks for.

    Every part has the programs that were written for a form, each with one scoring, which is
    another in the next part. One in `num_parts` of the others is in a part: programs of
    `everywhere.toml`, and those that must be compiled.
    """
    return [
        (form, trial, scoring)
        for row, form in enumerate(forms)
        for column, trial in enumerate(form.trials)
        for turn, scoring in enumerate(SCORINGS)
        if (row + column + turn - part) % _num_turns(form, trial, num_parts) == 0
    ]


def _num_turns(form: Form, trial: Trial, num_parts: int) -> int:
    """Parts of which one asks for a verdict on a program."""
    is_compiled = LANGUAGES[form.language].is_compiled
    return num_parts if trial.is_general or is_compiled else len(SCORINGS)


async def judge_all(asked: Sequence[Asked]) -> list[Judgement]:
    """The verdicts on programs, in their order."""
    async with new_runner() as runner:
        return await judge_beside(runner, asked)


def new_runner() -> Runner:
    """A runner as a worker has it, with several slots."""
    return Runner(SLOTS, entries=ENTRIES, expects_pairs=True, tools=language_tools)


async def judge_beside(
    runner: Runner, asked: Sequence[Asked], cpu_seconds: float = PATIENT_SECONDS
) -> list[Judgement]:
    """The verdicts on programs that are judged beside one another, in their order."""
    free = asyncio.Semaphore(SLOTS)

    async def one(form: Form, trial: Trial, scoring: Scoring) -> Judgement:
        async with free:
            return await _judge(runner, form, trial, scoring, cpu_seconds)

    return list(await asyncio.gather(*(one(*parts) for parts in asked)))


async def _judge(
    runner: Runner, form: Form, trial: Trial, scoring: Scoring, cpu_seconds: float
) -> Judgement:
    verifier = Code(
        language=form.language,
        part="completion",
        scoring=scoring,
        cpu_seconds=cpu_seconds,
        total_cpu_seconds=10 * cpu_seconds,
        memory_bytes=form.memory_bytes,
    )
    verdict = await _verdict(runner, verifier, form.tests, trial.source)
    details = verdict.details or {}
    return Judgement(
        form=form.name,
        trial=trial.name,
        scoring=scoring,
        outcome=str(verdict.outcome),
        reason=str(verdict.reason),
        score=verdict.score,
        passed=details.get("passed"),
        total=details.get("total"),
        shown=str(details.get("message", details.get("output", "")))[-120:],
    )


async def _verdict(runner: Runner, verifier: Code, tests: Tests, source: str) -> Verdict:
    """The verdict; `failed` if the sandbox could not run the program."""
    for _ in range(MAX_OVERLOADS):
        try:
            return await judge_program(runner, verifier, tests, source)
        except SandboxError as error:
            why = str(error)
            # A busy machine can bring this about, and no program may: one that does will again.
            if "overloaded" not in why:
                break
    return Verdict(Outcome.FAILED, None, CodeReason.SANDBOX_ERROR, 0.0, None, {"message": why})


# The rules


def breaches(
    asked: Sequence[Asked], judgements: Sequence[Judgement], *, missing: Collection[str] = ()
) -> list[str]:
    """A sentence for each judgement that breaks a rule.

    Programs in the languages that are `missing` may be unverifiable for want of a compiler.
    """
    return [
        f"{form.name}: {trial.name} ({scoring}) {what}: {found.reason}, score {found.score}, "
        f"{found.passed}/{found.total}: {found.shown!r}"
        for (form, trial, scoring), found in zip(asked, judgements, strict=True)
        if not (found.reason == CodeReason.MISSING_TOOLCHAIN and form.language in missing)
        for what in _breaches_of(form, trial, found)
    ]


def _breaches_of(form: Form, trial: Trial, judgement: Judgement) -> Iterator[str]:
    asked = form.name, trial.name
    if (judgement.form, judgement.trial) != asked:
        yield f"was answered for {judgement.form}: {judgement.trial}"
    if form.unverifiable is not None:
        if judgement.outcome != Outcome.UNVERIFIABLE or judgement.reason != form.unverifiable:
            yield f"is not unverifiable as {form.unverifiable}"
        return
    if judgement.outcome != Outcome.SCORED or judgement.score is None:
        yield f"is {judgement.outcome}, where the twin is scored"
        return
    share = trial.right / form.num_tests
    most = share if judgement.scoring == "fraction" else float(share == 1)
    if judgement.score > most:
        yield f"scores more than its share of {most:.3f}"
    if trial.name == TWIN and (judgement.score, judgement.total) != (1.0, form.num_tests):
        yield f"is right and does not score 1 in {form.num_tests} tests"


def main() -> None:
    """Judge the part of the suite that the arguments name."""
    part, num_parts = map(int, sys.argv[1:])
    hide_process()
    asked = asked_for(load_forms(), part=part, num_parts=num_parts)
    for judgement in asyncio.run(judge_all(asked)):
        print(json.dumps(dataclasses.asdict(judgement)))  # noqa: T201


if __name__ == "__main__":
    main()
