"""The estimate of memory, against numbers worked by hand and against the model itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.runs import run_config
from trainer_client.config.run_config import ConfigError
from trainer_client.demo import sums_task
from trainer_client.learner import make_learner
from trainer_client.memory_estimate import estimate_memory

PARAMETERS = 1_015_424
LAYER = 14 * 128 + 4 * 352
"""Numbers kept of a token by a layer that is 128 wide, 352 within."""
ROLLOUT = {"prompts_per_step": 4, "group_size": 4, "max_completion_tokens": 8}


def test_weights_gradients_optimizer_and_cache_are_counted(task: Path, tmp_path: Path) -> None:
    config = run_config(task, tmp_path / "run", rollout=ROLLOUT, train={"micro_batch_tokens": 160})
    estimate = estimate_memory(config, prompt_tokens=8)
    assert estimate.weights == 4 * PARAMETERS
    assert estimate.gradients == 4 * PARAMETERS
    assert estimate.optimizer == 8 * PARAMETERS
    assert estimate.reference == 0
    # keys and values, 5 layers, 128 wide, 4 bytes, 16 completions of 8 + 8 tokens
    assert estimate.kv_cache == 2 * 5 * 128 * 4 * 16 * 16
    # a row of 4 copies of the logits for each of 16 completions, a layer of their 8 prompt tokens
    vocabulary = len(sums_task.make_tokenizer())
    assert estimate.sampling == 16 * (4 * 4 * vocabulary + 8 * 4 * LAYER)
    # 4 bytes, 4 copies, 10 rows of 8 completion tokens
    assert estimate.logits == 4 * 4 * vocabulary * 80
    assert estimate.peak == max(estimate.generating, estimate.updating)
    assert estimate.peak == sum(estimate.peak_parts.values())


def test_a_huge_group_is_sampled_at_once_whatever_the_batch_size(
    task: Path, tmp_path: Path
) -> None:
    rollout = {**ROLLOUT, "group_size": 4096, "batch_size": 64}
    config = run_config(task, tmp_path, rollout=rollout, train={"micro_batch_tokens": 160})
    estimate = estimate_memory(config, prompt_tokens=8)
    assert estimate.kv_cache == 2 * 5 * 128 * 4 * 4096 * 16
    assert estimate.generating > estimate.updating
    assert estimate.peak == sum(estimate.peak_parts.values())


def test_completions_of_a_server_take_no_memory_here(task: Path, tmp_path: Path) -> None:
    rollout = {**ROLLOUT, "engine": "vllm_server"}
    estimate = estimate_memory(run_config(task, tmp_path, rollout=rollout), prompt_tokens=8)
    assert (estimate.kv_cache, estimate.sampling) == (0, 0)


@pytest.mark.parametrize(
    ("sections", "bytes_per_token"),
    [
        ({}, 4 * 5 * LAYER),
        ({"model": {"autocast": "bfloat16"}}, 2 * 5 * LAYER),
        ({"train": {"gradient_checkpointing": True}}, 4 * 5 * 128 + 2 * 4 * LAYER),
    ],
)
def test_activations_depend_on_the_settings_that_save_them(
    task: Path, tmp_path: Path, sections: dict[str, Any], bytes_per_token: int
) -> None:
    """5 layers, 10 rows of 8 + 8 tokens."""
    train = {"micro_batch_tokens": 160, **sections.get("train", {})}
    config = run_config(task, tmp_path / "run", **{**sections, "rollout": ROLLOUT, "train": train})
    assert estimate_memory(config, prompt_tokens=8).activations == 160 * bytes_per_token


def test_what_is_offloaded_takes_no_memory_beside_generation(task: Path, tmp_path: Path) -> None:
    """On a GPU; a CPU has no other place for it."""
    for device, state in (("auto", 0), ("cpu", (8 + 4) * PARAMETERS)):
        config = run_config(
            task,
            tmp_path / device,
            model={"device": device},
            loss={"kl_coefficient": 0.1},
            train={"offload": True},
        )
        estimate = estimate_memory(config, prompt_tokens=256)
        sampled = estimate.kv_cache + estimate.sampling
        assert estimate.generating == 4 * PARAMETERS + state + sampled
        assert "offloads" not in estimate.parts


def test_a_kl_term_adds_a_copy_of_the_weights(task: Path, tmp_path: Path) -> None:
    config = run_config(task, tmp_path / "run", loss={"kl_coefficient": 0.1})
    assert estimate_memory(config, prompt_tokens=256).reference == 4 * PARAMETERS


def test_lora_counts_exactly_the_parameters_that_are_trained(task: Path, tmp_path: Path) -> None:
    config = run_config(
        task, tmp_path / "run", model={"lora": {"rank": 4}}, loss={"kl_coefficient": 0.1}
    )
    model = make_learner(config).policy.model
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    estimate = estimate_memory(config, prompt_tokens=256)
    assert estimate.gradients == 4 * trained
    assert estimate.reference == 0


def test_a_model_that_is_not_there_is_named(task: Path, tmp_path: Path) -> None:
    config = run_config(task, tmp_path / "run", model={"path": str(tmp_path / "none")})
    with pytest.raises(ConfigError, match=r"model\.path: there is no folder"):
        estimate_memory(config, prompt_tokens=256)
