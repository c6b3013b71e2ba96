"""Reward functions and reward models in the trainer's own process."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest
import torch
from transformers import LlamaForSequenceClassification

from reward_verifier.verdict import Verdict
from tests.trainer_client.device import DEVICE
from trainer_client.config.reward_sections import (
    RewardConfig,
    RewardFunctionConfig,
    RewardModelConfig,
    VerifierConfig,
)
from trainer_client.config.run_config import ConfigError
from trainer_client.demo import sums_task
from trainer_client.policy.quantization import four_bit
from trainer_client.problems import Problem
from trainer_client.reward.functions import RewardError, RewardFunction
from trainer_client.reward.model import RewardModel
from trainer_client.rollout import Rollout, RolloutGroup


def group(name: str, *texts: str) -> RolloutGroup:
    problem = Problem(name, ({"role": "user", "content": f"{name}?"},), {}, {"level": len(name)})
    return RolloutGroup(
        problem, tuple(Rollout((1,), (2,), (0.0,), text, truncated=False) for text in texts)
    )


GROUPS = [group("a", "x", "yy"), group("bb", "zzz")]


def function(folder: Path, source: str) -> RewardFunction:
    path = folder / "rewards.py"
    path.write_text(source)
    return RewardFunction(RewardFunctionConfig(path=f"{path}:judge"))


@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_a_function_gets_prompts_completions_and_columns_as_lists(
    tmp_path: Path, keyword: str
) -> None:
    source = f"""
{keyword} judge(prompts, completions, **columns):
    return [
        None if text == "yy" else len(text) + 10 * level + (prompt == "bb?") / 2
        for prompt, text, level in zip(prompts, completions, columns["level"])
    ]
"""
    verdicts = function(tmp_path, source).score(GROUPS)
    assert [verdict.score for verdict in verdicts] == [11.0, None, 23.5]
    assert [verdict.reason for verdict in verdicts] == ["function", "not_judged", "function"]


def test_an_async_function_can_be_called_from_a_notebook(tmp_path: Path) -> None:
    judge = function(tmp_path, "async def judge(level): return level")

    async def cell() -> list[Verdict]:
        return judge.score(GROUPS)

    assert [verdict.score for verdict in asyncio.run(cell())] == [1.0, 1.0, 2.0]


def test_a_file_of_functions_may_have_dataclasses_and_import_files_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "scale_of_rewards.py").write_text("SCALE = 10")
    source = """
from __future__ import annotations
from dataclasses import dataclass
from scale_of_rewards import SCALE

@dataclass
class Judge:
    scale: int

def judge(level):
    return [one * Judge(SCALE).scale for one in level]
"""
    verdicts = function(tmp_path, source).score(GROUPS)
    assert [verdict.score for verdict in verdicts] == [10.0, 10.0, 20.0]


def test_a_function_may_name_only_what_it_needs(tmp_path: Path) -> None:
    verdicts = function(tmp_path, "def judge(level): return level").score(GROUPS)
    assert [verdict.score for verdict in verdicts] == [1.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "result",
    [
        "numpy.array([0, 0.5, 1])",
        "numpy.array([0, 0.5, 1], dtype=numpy.float16)",
        "torch.tensor([0, 0.5, 1], dtype=torch.bfloat16)",
        "[numpy.bool_(False), numpy.array(0.5), torch.tensor(1)]",
        "(0, numpy.float32(0.5), numpy.int64(1))",
    ],
)
def test_a_function_may_return_numbers_and_arrays_of_numpy_and_torch(
    tmp_path: Path, result: str
) -> None:
    source = f"import numpy\nimport torch\ndef judge(completions): return {result}"
    verdicts = function(tmp_path, source).score(GROUPS)
    assert [verdict.score for verdict in verdicts] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import numpy\ndef judge(completions): return numpy.ones((3, 2))", r"found \[1.0, 1.0\]"),
        ("import numpy\ndef judge(completions): return numpy.ones(2)", "found a list of 2"),
        ("import numpy\ndef judge(completions): return numpy.full(3, numpy.nan)", "found nan"),
        ("def judge(completions): return [1.0]", "a list of 3 numbers or None.*found a list of 1"),
        ("def judge(completions): return 1.0", "found 1.0"),
        ("def judge(completions): return [float('nan')] * 3", "finite numbers or None, found nan"),
        ("def judge(answer): return answer", r"asks for \['answer'\]; there are \['completions'"),
        ("def judge(level): raise KeyError('x')", r"raised KeyError: 'x' \(at .*\.py:1\)"),
        ("import json\ndef judge(level):\n    json.loads('{')", r"raised JSON.* \(at .*\.py:3\)"),
        ("import sys\ndef judge(level):\n    sys.exit(3)", r"raised SystemExit: 3 \(at .*\.py:3\)"),
        ("async def judge(level):\n    return 1 / 0", r"raised ZeroDiv.* \(at .*\.py:2\)"),
    ],
)
def test_a_mistake_of_the_function_stops_and_is_named(
    tmp_path: Path, source: str, message: str
) -> None:
    with pytest.raises(RewardError, match=message):
        function(tmp_path, source).score(GROUPS)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "has no function 'judge'"),
        ("\nimport nothing_of_this_name", r"cannot be imported: ModuleNotFoundError.*\.py:2"),
    ],
)
def test_a_file_that_has_no_function_is_named(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        function(tmp_path, source)


def test_a_text_is_a_type_or_a_path() -> None:
    assert VerifierConfig.model_validate("accuracy") == VerifierConfig(type="accuracy")
    short = RewardFunctionConfig.model_validate("rewards.py:brevity")
    assert (short.key, short.weight) == ("brevity", 1.0)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"no Python file 'nowhere\.py'"):
        RewardFunction(RewardFunctionConfig(path="nowhere.py:judge"))


def test_sources_of_all_kinds_need_different_names() -> None:
    with pytest.raises(ValueError, match="the same name"):
        RewardConfig(
            verifiers=(VerifierConfig(type="judge"),),
            functions=(RewardFunctionConfig(path="rewards.py:judge"),),
        )


@pytest.fixture(scope="module")
def reward_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny classifier with random weights and one output."""
    folder = tmp_path_factory.mktemp("reward_model")
    torch.manual_seed(0)
    tokenizer = sums_task.make_tokenizer()
    config = sums_task.make_model(tokenizer).config
    config.num_labels = 1
    LlamaForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_reward_models_score_does_not_depend_on_its_batch(reward_model: Path) -> None:
    together, alone = (
        RewardModel(RewardModelConfig(path=str(reward_model), device=DEVICE, batch_size=size))
        for size in (16, 1)
    )
    scores = [verdict.score for verdict in together.score(GROUPS)]
    assert scores == pytest.approx([verdict.score for verdict in alone.score(GROUPS)], abs=1e-5)
    assert len(set(scores)) == 3


def test_a_reward_model_that_is_nowhere_is_named(tmp_path: Path) -> None:
    """The message says what else its path may be."""
    said = r"reward\.models: cannot load '.*/none': .*[^.]; or set its path to a local folder$"
    with pytest.raises(ConfigError, match=re.compile(said, re.DOTALL)):
        RewardModel(RewardModelConfig(path=str(tmp_path / "none")))


def test_a_classifier_with_several_outputs_is_no_reward_model(
    reward_model: Path, tmp_path: Path
) -> None:
    model = LlamaForSequenceClassification.from_pretrained(
        reward_model, num_labels=2, ignore_mismatched_sizes=True
    )
    model.save_pretrained(tmp_path)
    sums_task.make_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match="has 2 outputs, expected 1"):
        RewardModel(RewardModelConfig(path=str(tmp_path), device=DEVICE))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_four_bit_weights_without_a_gpu_are_refused_with_what_they_need() -> None:
    with pytest.raises(ConfigError, match="needs a CUDA device and bitsandbytes"):
        four_bit("model")
