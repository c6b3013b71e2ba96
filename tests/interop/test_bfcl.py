"""BFCL's own checker beside `tool_calls`, on its questions with right calls and spoilt ones."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.interop.peer import peer
from verifier_service.completion import Completion
from verifier_service.verifier import Judgement, Unverifiable
from verifier_service.verifiers.tool_calls import ToolCalls

pytestmark = pytest.mark.interop
FILES = ("simple_python", "multiple", "parallel", "live_simple", "live_multiple")
SPOILT = ("none", "value", "kind", "missing", "extra", "name", "none_called", "twice")
MODEL = "any"


@pytest.fixture(scope="module")
def checker() -> Any:
    """BFCL's checker, without the clients of the models that it can ask."""
    models = ModuleType("bfcl_eval.constants.model_config")
    models.__dict__["MODEL_CONFIG_MAPPING"] = {MODEL: SimpleNamespace(underscore_to_dot=False)}
    sys.modules[models.__name__] = models
    ast_checker = peer("bfcl_eval.eval_checker.ast_eval.ast_checker")
    return ast_checker.ast_checker


def rows(name: str) -> Iterator[tuple[Any, Any]]:
    """The tools and the acceptable calls of each question of a file."""
    data = Path(str(sys.modules["bfcl_eval"].__path__[0])) / "data"
    questions = (data / f"BFCL_v4_{name}.json").read_text().splitlines()
    answers = (data / "possible_answer" / f"BFCL_v4_{name}.json").read_text().splitlines()
    for question, answer in zip(questions, answers, strict=True):
        yield json.loads(question)["function"], json.loads(answer)["ground_truth"]


def right_calls(wanted: Any) -> list[dict[str, Any]]:
    """The first acceptable value of each argument that is not left out."""
    return [
        {
            name: {
                key: first_object(values[0]) for key, values in accepted.items() if values[0] != ""
            }
        }
        for one in wanted
        for name, accepted in one.items()
    ]


def first_object(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: one[0] for key, one in value.items() if one and one[0] != ""}
    if isinstance(value, list):
        return [first_object(one) for one in value]
    return value


def spoil(calls: list[dict[str, Any]], how: str, chance: random.Random) -> list[dict[str, Any]]:
    """The calls with one fault."""
    calls = json.loads(json.dumps(calls))
    ((name, arguments),) = calls[0].items()
    key = chance.choice(sorted(arguments)) if arguments else None
    if how == "value" and key is not None:
        value = arguments[key]
        arguments[key] = f"{value} 7" if isinstance(value, str) else 987654
    elif how == "kind" and key is not None:
        arguments[key] = [arguments[key]]
    elif how == "missing" and key is not None:
        del arguments[key]
    elif how == "extra":
        arguments["not_an_argument"] = 1
    elif how == "name":
        calls[0] = {f"{name}_2": arguments}
    elif how == "none_called":
        return calls[1:]
    elif how == "twice":
        calls.append(calls[0])
    return list(calls)


def written(calls: list[dict[str, Any]]) -> str:
    """The calls in Python's syntax, as BFCL asks models for them."""
    texts = []
    for one in calls:
        ((name, arguments),) = one.items()
        inside = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        texts.append(f"{name}({inside})")
    return f"[{', '.join(texts)}]"


def test_verdicts_are_those_of_bfcl(checker: Any) -> None:
    """Differences are BFCL's own looseness, counted by kind."""
    from bfcl_eval.constants.enums import Language  # noqa: PLC0415  after the fixture

    chance = random.Random(5)
    number, unusable, differ = 0, 0, Counter[tuple[str, str]]()
    for name in FILES:
        for tools, wanted in rows(name):
            try:
                judge = ToolCalls(form="python", strings="bfcl").prepare(
                    {"tool_calls": wanted, "tools": tools}
                )
            except Unverifiable:
                unusable += 1
                continue
            for how in SPOILT:
                given = spoil(right_calls(wanted), how, chance)
                checked = checker(tools, given, wanted, Language.PYTHON, name, MODEL)
                valid = bool(checked["valid"])
                found = judge(Completion(written(given)))
                assert isinstance(found, Judgement)
                number += 1
                if (found.score == 1) != valid:
                    differ[how, str(checked.get("error_type", "valid"))] += 1
    equal = number - differ.total()
    sys.stdout.write(f"{number} verdicts, {equal} equal; {unusable} rows unusable; {differ}\n")
    assert unusable < 20
    assert number > 10_000
    assert differ.total() <= 30
