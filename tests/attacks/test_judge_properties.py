"""Properties of verdicts on programs, for tests and programs that nobody wrote by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.attacks.twins import (
    SCORINGS,
    Asked,
    Form,
    Judgement,
    Scoring,
    Trial,
    judge_beside,
    load_forms,
    new_runner,
)
from verifier_service.code.reference_tests import read_tests

FORMS = [form for form in load_forms() if form.language == "python"]
BY_NAME = {form.name: form for form in FORMS}
NUM_BESIDE = 16
SHORT_SECONDS = 1.0
"""CPU time of programs that may be endless, because they were written for other tests."""
ONCE = (Phase.explicit, Phase.reuse, Phase.generate)
"""No shrinking: it would judge the programs hundreds of times, and one of them is to blame."""
Judge = Callable[..., list[Judgement]]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """Judges programs beside one another."""
    with asyncio.Runner() as loop:
        runner = new_runner()
        loop.run(runner.__aenter__())
        try:
            yield lambda asked, **limits: loop.run(judge_beside(runner, asked, **limits))
        finally:
            loop.run(runner.__aexit__(None, None, None))


# The number of tests is that of their text

RIGHT, WRONG, RAISES, SKIPS, INTERRUPTS, ENDS, KILLS = (
    "right",
    "wrong",
    *(("raises", "skips", "interrupts", "ends", "kills")),
)
DOES = {
    RIGHT: "return n * n",
    WRONG: "return n * n + 1",
    RAISES: "raise AssertionError('passed')",
    SKIPS: "raise unittest.SkipTest('passed')",
    INTERRUPTS: "raise KeyboardInterrupt",
    ENDS: "os._exit(0)",
    KILLS: "os.abort()",
}
FATAL = {ENDS, KILLS}


@dataclass(frozen=True)
class Written:
    """Tests of `square`, as text; each calls it once with a number of its own."""

    tests: dict[str, Any]
    order: tuple[int, ...]
    """The numbers, in the order in which the tests are run."""


def written(form: str, num_tests: int) -> Written:
    numbers = tuple(range(num_tests))
    code = "\n".join(map(FORMS_OF_A_TEST[form], numbers))
    if form == "method":
        code = f"import unittest\nclass TestSquare(unittest.TestCase):\n{code}\n"
    return Written({"type": "asserts", "code": code}, numbers)


FORMS_OF_A_TEST: dict[str, Callable[[int], str]] = {
    "assert": lambda n: f"assert square({n}) == {n * n}",
    "loop": lambda n: f"for n in [{n}]:\n    assert square(n) == {n * n}",
    "function": lambda n: f"def test_{n:03}():\n    assert square({n}) == {n * n}",
    "method": lambda n: f"    def test_{n:03}(self): self.assertEqual(square({n}), {n * n})",
}


def cases(num_tests: int) -> Written:
    listed = [{"args": [n], "returns": n * n} for n in range(num_tests)]
    tests = {"type": "function", "entry_point": "square", "cases": listed}
    return Written(tests, tuple(range(num_tests)))


@st.composite
def written_and_acts(draw: st.DrawFn) -> tuple[Written, list[str]]:
    """Tests, and how a program acts in the call of each."""
    num_tests = draw(st.integers(1, 6))
    form = draw(st.sampled_from(["cases", *FORMS_OF_A_TEST]))
    tests = cases(num_tests) if form == "cases" else written(form, num_tests)
    acts = st.lists(st.sampled_from(list(DOES)), min_size=num_tests, max_size=num_tests)
    return tests, draw(acts)


def program(acts: list[str]) -> str:
    lines = [f"    if n == {n}: {DOES[act]}" for n, act in enumerate(acts)]
    return "\n".join(["import os, unittest", "def square(n):", *lines])


@pytest.mark.slow
@settings(max_examples=40)
@given(drawn=written_and_acts())
def test_passed_and_failed_are_the_tests_of_the_text(
    judge: Judge, drawn: tuple[Written, list[str]]
) -> None:
    tests, acts = drawn
    num_tests = len(acts)
    trial = Trial(name="acts", tries="", source=program(acts), right=0)
    form = Form(
        name="written",
        summary="",
        language="python",
        tests=read_tests({"tests": tests.tests}),
        num_tests=num_tests,
        unverifiable=None,
        trials=(trial,),
    )
    (found,) = judge([(form, trial, "fraction")])
    reached = [acts[n] for n in tests.order]
    fatal = next((i for i, act in enumerate(reached) if act in FATAL), num_tests)
    right = reached[:fatal].count(RIGHT)
    assert (found.outcome, found.passed, found.total) == ("scored", right, num_tests)
    assert found.score == right / num_tests
    assert (found.reason == "passed") == (right == num_tests)


# Whether there is a verdict depends on the tests alone

Names = tuple[str, str, str, Scoring]
"""Names of a form, of the form and name of a program, and the scoring."""
TRIALS = {(form.name, trial.name): trial for form in FORMS for trial in form.trials}
scorings = st.sampled_from(SCORINGS)


def by_names(names: list[Names]) -> list[Asked]:
    return [(BY_NAME[form], TRIALS[owner, trial], how) for form, owner, trial, how in names]


asked_across = st.tuples(st.sampled_from(sorted(BY_NAME)), st.sampled_from(sorted(TRIALS))).flatmap(
    lambda pair: st.tuples(st.just(pair[0]), *map(st.just, pair[1]), scorings)
)
"""A program, often that of another form, the form by which it is judged, and a scoring."""


@pytest.mark.slow
@settings(max_examples=8, phases=ONCE)
@given(names=st.lists(asked_across, min_size=8, max_size=8))
def test_whether_there_is_a_verdict_depends_on_the_tests_alone(
    judge: Judge, names: list[Names]
) -> None:
    asked = by_names(names)
    found = judge(asked, cpu_seconds=SHORT_SECONDS)
    expected = {
        name: ("unverifiable", form.unverifiable) if form.unverifiable else ("scored", None)
        for name, (form, _, _) in zip(names, asked, strict=True)
    }
    outcomes = {
        name: (one.outcome, None if one.outcome == "scored" else one.reason)
        for name, one in zip(names, found, strict=True)
    }
    assert outcomes == expected


# A verdict does not depend on what runs beside

asked_within = st.sampled_from(sorted(TRIALS)).flatmap(
    lambda pair: st.tuples(st.just(pair[0]), *map(st.just, pair), scorings)
)
"""A program of a form, the form, and a scoring."""


@pytest.mark.slow
@settings(max_examples=3, phases=ONCE)
@given(names=st.lists(asked_within, min_size=NUM_BESIDE + 1, max_size=NUM_BESIDE + 1))
def test_a_program_gets_the_same_verdict_alone_and_beside_others(
    judge: Judge, names: list[Names]
) -> None:
    asked = by_names(names)
    beside = judge(asked)
    alone = [judge([one])[0] for one in asked]
    assert [told(one) for one in beside] == [told(one) for one in alone]


def told(judgement: Judgement) -> tuple[object, ...]:
    """The judgement without the text that is shown, which may hold addresses in memory."""
    found = judgement
    return (
        *(found.form, found.trial, found.scoring, found.outcome, found.reason, found.score),
        *(found.passed, found.total),
    )
