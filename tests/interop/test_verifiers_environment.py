"""The environment `verifiers`: one of its tool environments, conducted by its own rollout."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from tests.interop.peer import peer

pytestmark = pytest.mark.interop

LOADS = '''
import verifiers as vf
from datasets import Dataset

def double(x: int) -> int:
    """Twice a number.

    Args:
        x: the number.
    """
    return 2 * x

def right(completion, answer, **kwargs):
    return float(answer in completion[-1].content)

def load_environment(max_turns=3):
    data = Dataset.from_list([{"question": "double 21", "answer": "42"}])
    rubric = vf.Rubric(funcs=[right])
    return vf.ToolEnv(tools=[double], dataset=data, rubric=rubric, max_turns=max_turns)
'''


@pytest.fixture
def environment(tmp_path: Path) -> Any:
    peer("verifiers.legacy.envs.tool_env")
    file = tmp_path / "my_env.py"
    file.write_text(LOADS)
    made = importlib.import_module("trainer_client.episodes.verifiers_environment")
    return made.VerifiersEnvironment(f"{file}:load_environment")


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def test_its_tools_answer_and_its_rubric_pays(environment: Any) -> None:
    problem = importlib.import_module("trainer_client.problems").Problem
    asked = {"role": "user", "content": "double 21"}
    assert environment.tools[0]["function"]["name"] == "double"
    assert environment.reset(problem("1", (asked,), {"answer": "42"})) == [asked]
    call = '<tool_call>{"name": "double", "arguments": {"x": 21}}</tool_call>'
    observation, done, extra = environment.step(said(call))
    assert (observation, done, extra) == ([{"role": "tool", "content": "42"}], False, {})
    observation, done, extra = environment.step(said("It is 42."))
    assert (observation, done, extra["reward"]) == (None, True, 1.0)
    environment.close()


def test_a_wrong_answer_is_paid_nothing(environment: Any) -> None:
    problem = importlib.import_module("trainer_client.problems").Problem
    environment.reset(problem("1", ({"role": "user", "content": "?"},), {"answer": "42"}))
    _, done, extra = environment.step(said("41"))
    assert (done, extra["reward"]) == (True, 0.0)
