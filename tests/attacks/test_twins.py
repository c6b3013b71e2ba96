"""No program is paid for answers that it does not have, whatever the form of the tests.

The programs are judged by `twins` in processes of their own, as in a deployment. The quick test
judges the programs that were written for a form, and a few of the others for each.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attacks import twins
from tests.attacks.twins import Form, Judgement, Trial, asked_for, breaches, load_forms
from tests.sandbox.deployments import OWN, run_python, skip_unless_possible
from verifier_service.code.reference_tests import read_tests

FORMS = load_forms()
forms = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
MISSING = () if shutil.which("g++") else ("cpp",)
"""Languages without a compiler on this machine."""
FEW = 16
"""Parts into which the programs for every form are cut where a few are enough."""
QUICK = 64
"""Parts into which they are cut for the quick test: about three of them for each form."""
PARTS = [
    pytest.param(OWN, 0, QUICK, id="some", marks=pytest.mark.quick),
    pytest.param("root", 0, 2, id="root", marks=pytest.mark.slow),
    pytest.param("unprivileged", 1, FEW, id="unprivileged", marks=pytest.mark.slow),
    pytest.param("unprivileged in Docker", 2, FEW, id="in Docker", marks=pytest.mark.slow),
]
"""Deployment, part, and number of parts. Two parts judge each program once by each form."""


@pytest.mark.parametrize(("deployment", "part", "num_parts"), PARTS)
def test_no_program_is_paid_for_answers_that_it_lacks(
    deployment: str, part: int, num_parts: int
) -> None:
    skip_unless_possible(deployment)
    ended = run_python(deployment, "-m", twins.__name__, str(part), str(num_parts))
    assert ended.returncode == 0, ended.stderr[-3000:]
    judgements = [Judgement(**json.loads(line)) for line in ended.stdout.splitlines()]
    asked = asked_for(FORMS, part=part, num_parts=num_parts)
    assert breaches(asked, judgements, missing=MISSING) == []


# The forms are complete


def test_there_are_enough_forms_and_programs() -> None:
    own = [trial.source for form in FORMS for trial in form.trials if not trial.is_general]
    general = {trial.name for form in FORMS for trial in form.trials if trial.is_general}
    assert len(FORMS) >= 35
    assert len(set(own)) - len(FORMS) >= 200
    assert len(general) >= 100


@forms
def test_programs_of_a_form_have_names_and_sources_of_their_own(form: Form) -> None:
    names = Counter(trial.name for trial in form.trials)
    sources = Counter(trial.source for trial in form.trials)
    assert [name for name, number in names.items() if number > 1] == []
    assert [source for source, number in sources.items() if number > 1] == []


@forms
def test_only_the_twin_has_every_answer(form: Form) -> None:
    rights = [trial.right for trial in form.trials]
    assert rights[0] == form.num_tests
    if form.unverifiable is None:
        assert 0 <= max(rights[1:]) < form.num_tests or form.num_tests == 1 > max(rights[1:])


@forms
def test_programs_in_python_compile(form: Form) -> None:
    if form.language == "python":
        for trial in form.trials:
            compile(trial.source, trial.name, "exec")


@pytest.mark.parametrize("num_parts", [2, FEW, QUICK])
def test_the_parts_together_hold_every_program_with_every_scoring(num_parts: int) -> None:
    asked = Counter(
        (form.name, trial.name, scoring)
        for part in range(num_parts)
        for form, trial, scoring in asked_for(FORMS, part=part, num_parts=num_parts)
    )
    every = [(form, trial) for form in FORMS for trial in form.trials]
    assert len(asked) == 2 * len(every)
    assert {asked[form.name, trial.name, "all"] for form, trial in every} == {1, num_parts // 2}


def test_one_part_of_two_holds_every_program() -> None:
    asked = {(form.name, trial.name) for form, trial, _ in asked_for(FORMS, part=0, num_parts=2)}
    assert asked == {(form.name, trial.name) for form in FORMS for trial in form.trials}


# Breaches are seen

FORM = Form(
    name="form",
    summary="",
    language="python",
    tests=read_tests({"tests": {"type": "asserts", "code": "assert f(1) == 2\nassert f(2) == 3"}}),
    num_tests=2,
    unverifiable=None,
    trials=(),
)
TWIN = Trial(name=twins.TWIN, tries="", source="", right=2)
HALF = Trial(name="half", tries="", source="", right=1)
PASSED = Judgement(
    form="form",
    trial=twins.TWIN,
    scoring="fraction",
    outcome="scored",
    reason="passed",
    score=1.0,
    passed=2,
    total=2,
    shown="",
)
HALF_PASSED = dataclasses.replace(PASSED, trial="half", reason="wrong_answer", score=0.5, passed=1)
CPP = dataclasses.replace(FORM, language="cpp")
UNVERIFIABLE = dataclasses.replace(FORM, unverifiable="unsupported_test")
REFUSED = dataclasses.replace(PASSED, outcome="unverifiable", reason="unsupported_test", score=None)


@pytest.mark.parametrize(
    ("form", "trial", "judgement"),
    [
        (FORM, TWIN, PASSED),
        (FORM, HALF, HALF_PASSED),
        (FORM, HALF, dataclasses.replace(HALF_PASSED, scoring="all", score=0.0)),
        (UNVERIFIABLE, TWIN, REFUSED),
        (CPP, TWIN, dataclasses.replace(REFUSED, reason="missing_toolchain")),
    ],
)
def test_a_judgement_that_keeps_the_rules_is_no_breach(
    form: Form, trial: Trial, judgement: Judgement
) -> None:
    assert breaches([(form, trial, judgement.scoring)], [judgement], missing=("cpp",)) == []


@pytest.mark.parametrize(
    ("form", "trial", "judgement", "why"),
    [
        (FORM, TWIN, dataclasses.replace(PASSED, total=3), "does not score 1 in 2 tests"),
        (FORM, TWIN, dataclasses.replace(PASSED, score=0.5), "does not score 1 in 2 tests"),
        (FORM, TWIN, REFUSED, "is unverifiable, where the twin is scored"),
        (FORM, HALF, dataclasses.replace(HALF_PASSED, score=0.6), "more than its share of 0.500"),
        (
            FORM,
            HALF,
            dataclasses.replace(HALF_PASSED, scoring="all", score=1.0),
            "more than its share of 0.000",
        ),
        (
            FORM,
            HALF,
            dataclasses.replace(HALF_PASSED, outcome="failed", reason="sandbox_error", score=None),
            "is failed, where the twin is scored",
        ),
        (
            FORM,
            TWIN,
            dataclasses.replace(REFUSED, reason="missing_toolchain"),
            "is unverifiable, where the twin is scored",
        ),
        (
            CPP,
            TWIN,
            dataclasses.replace(REFUSED, reason="missing_toolchain"),
            "is unverifiable, where the twin is scored",
        ),
        (UNVERIFIABLE, TWIN, PASSED, "is not unverifiable as unsupported_test"),
        (UNVERIFIABLE, HALF, HALF_PASSED, "is not unverifiable as unsupported_test"),
        (FORM, TWIN, HALF_PASSED, "was answered for form: half"),
    ],
)
def test_a_breach_is_told(form: Form, trial: Trial, judgement: Judgement, why: str) -> None:
    (first, *_) = breaches([(form, trial, judgement.scoring)], [judgement])
    assert why in first


def test_a_verdict_that_is_missing_is_no_silence() -> None:
    with pytest.raises(ValueError, match="shorter"):
        breaches([(FORM, TWIN, "all")], [])


# Forms are read

TOML = """
summary = "Sums."
num_tests = 1
first_call = 1
twin = "def f(x): return x + 1"
[tests]
type = "asserts"
code = "assert f(1) == 2"
[shares]
knows = 1
[[programs]]
name = "nothing"
tries = "Returns nothing."
source = "def f(x): pass"
"""
EVERYWHERE = """
[[calls]]
name = "knows"
tries = "Knows all."
source = "{TWIN}"
"""


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Form]:
    def read(text: str = TOML) -> Form:
        (tmp_path / "everywhere.toml").write_text(EVERYWHERE)
        (tmp_path / "forms").mkdir()
        (tmp_path / "forms" / "sums.toml").write_text(text)
        (form,) = load_forms(tmp_path / "forms", tmp_path / "everywhere.toml")
        return form

    return read


def test_a_form_is_read(read: Callable[..., Form]) -> None:
    form = read()
    assert (form.name, form.language, form.unverifiable) == ("sums", "python", None)
    source = "def f(x): return x + 1"
    assert form.trials == (
        Trial(name="twin", tries="", source=source, right=1),
        Trial(name="nothing", tries="Returns nothing.", source="def f(x): pass", right=0),
        Trial(name="knows", tries="Knows all.", source=source, right=1, is_general=True),
    )


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("num_tests = 1\n", "", KeyError),
        ("[tests]", "[test]", KeyError),
        ("summary", "sumary", TypeError),
        ("tries =", "trys =", TypeError),
        ("knows = 1", "known = 1", ValueError),
        ("summary = ", "summary: ", ValueError),
    ],
)
def test_a_form_that_is_not_well_formed_is_not_read(
    read: Callable[..., Form], old: str, new: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        read(TOML.replace(old, new, 1))
