"""The scorers of reasoning-gym as they are, beside the verifier `reasoning_gym`.

Entries of every data set pass through JSON, as a service gets them.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from verifier_service.completion import Completion
from verifier_service.gym_scorers import loading
from verifier_service.gym_scorers.closed import OWN
from verifier_service.verifier import Judgement
from verifier_service.verifiers.reasoning_gym import ReasoningGym

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    reasoning_gym = pytest.importorskip("reasoning_gym")

pytestmark = pytest.mark.interop
RUNS_ANSWERS = frozenset({"eval", "exec", "compile", "parse_expr", "sympify"})
SCORERS_THAT_RUN = frozenset(
    {
        *("binary_matrix", "bitwise_arithmetic", "countdown", "intermediate_integration"),
        *("n_queens", "number_sorting", "polynomial_multiplication", "puzzle24"),
        *("simple_integration", "spiral_matrix", "string_insertion"),
    }
)
NOT_IN_SCORERS = frozenset({"basic_arithmetic", "codeio", "generators_00_49", "generators_50_99"})
"""Files that run the data of the package itself while they make entries."""
NO_ANSWER = ("boxnet", "rush_hour")
WRONG = ("", "0", "1", "no", "True", "[]", "{}", "[[1, 2], [3, 4]]", "A, B", "1 2 3\n4 5 6", "x")


@cache
def data_set(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return reasoning_gym.create_dataset(name, size=2, seed=7)


@cache
def made(name: str) -> list[dict[str, Any]]:
    """Two entries as the package makes them, which for some takes seconds."""
    return [data_set(name)[index] for index in range(2)]


@cache
def entries(name: str) -> list[dict[str, Any]]:
    return [json.loads(json.dumps(one)) for one in made(name)]


def own_score(name: str, answer: str, index: int) -> float | None:
    """The score of the package's own scorer; None where it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(data_set(name).score_answer(answer, deepcopy(made(name)[index])))
        except Exception:  # noqa: BLE001  scorers raise anything
            return None


def judged(entry: dict[str, Any]) -> Callable[[str], Judgement]:
    judge = ReasoningGym().prepare(entry)

    def found(text: str) -> Judgement:
        judgement = judge(Completion(text))
        assert isinstance(judgement, Judgement)
        return judgement

    return found


def wanted_answer(name: str, entry: dict[str, Any]) -> str:
    probe = loading.PROBES.get(name)
    return str(entry["answer"]) if probe is None else probe(entry["metadata"])


@pytest.mark.parametrize("name", loading.data_set_names())
def test_a_score_is_that_of_the_package(name: str) -> None:
    for index, entry in enumerate(entries(name)):
        judge = judged(entry)
        right = wanted_answer(name, entry)
        for answer in {right, right[:-1], right + " 1", right[1:] + "2", *WRONG}:
            stripped = answer.strip()
            if not stripped:
                continue
            expected = own_score(name, right if stripped == right.strip() else stripped, index)
            found = judge(answer)
            if expected is None:
                assert (found.score, found.reason.value) == (0, "malformed")
            elif name == "countdown" and answer == "True":
                assert (expected, found.score) == (0.05, 0.01), "no arithmetic, and not the value 1"
            elif name not in OWN:
                assert found.score == pytest.approx(expected), answer
        if name not in NO_ANSWER:
            assert judge(right).score == 1


HOSTILE = (
    *("nan", "inf", "-inf", "None", "nan, nan", "nan+nanj", "0/0", "\x00", "\ud800", "\u200b"),
    *("9" * 4000, "1e999999", "x" * 19_000, "(" * 5000, "[" * 5000, "-" * 5000 + "1", "1," * 5000),
    *("~" * 3000 + "A", "U" * 3000, '{"a": 1}', "null", "[[]]", "P " * 2000, "\n" * 50 + "zq"),
    "__import__('os').abort()",
    "[__import__('os').abort()]",
    "exec('raise SystemExit')",
)


@pytest.mark.parametrize("name", loading.data_set_names())
def test_a_hostile_answer_is_not_right(name: str) -> None:
    entry = entries(name)[0]
    judge = judged(entry)
    for text in HOSTILE:
        if text != entry["answer"]:
            assert judge(text).score <= 0.5, text
    if name not in NO_ANSWER:
        assert judge(wanted_answer(name, entry)).score == 1


def test_no_other_scorer_runs_an_answer() -> None:
    """A file that runs text is one whose scorer is changed, or whose scorer has none of it."""
    root = Path(reasoning_gym.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        if "contrib" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                owner = getattr(getattr(node.func, "value", None), "id", "")
                if name in RUNS_ANSWERS and owner != "re":
                    found.add(path.stem)
    assert found - {"propositional_logic", "bf"} == SCORERS_THAT_RUN | NOT_IN_SCORERS


def test_the_changed_scorers_are_those_that_run_answers() -> None:
    replaced = {*loading._REPLACED, *OWN}
    assert replaced >= SCORERS_THAT_RUN


AUDITED = r"""
import json, sys
from tests.interop.test_reasoning_gym import HOSTILE, entries, judged
from verifier_service.gym_scorers.loading import data_set_names

judges = [judged(entries(name)[0]) for name in data_set_names() if name in set(sys.argv[1:])]
for judge in judges:
    judge("1 + x")  # what sympy compiles of its own, once
found = []


def hook(event, arguments):
    if event == "exec" and arguments[0].co_filename == "<string>":
        found.append(event)
    elif event in ("open", "os.system", "subprocess.Popen", "os.exec", "os.posix_spawn"):
        found.append(f"{event} {arguments[0]}")


sys.addaudithook(hook)
for judge in judges:
    for text in HOSTILE:
        judge(text)
print(json.dumps(found))
"""


def test_nothing_of_an_answer_runs() -> None:
    """Python reports what it runs and opens to an audit hook (PEP 578)."""
    command = [sys.executable, "-W", "ignore", "-c", AUDITED, *sorted(SCORERS_THAT_RUN)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(result.stdout) == []
