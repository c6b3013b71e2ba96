"""The estimate of memory, against numbers worked by hand and against the model itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.runs import run_config
from trainer_client.config.run_config import Config, ConfigError, dump_config, load_config
from trainer_client.demo import sums_task
from trainer_client.learner import make_learner
from trainer_client.memory_estimate import estimate_memory
from trainer_client.memory_fit import OVERHEAD_BYTES, fit_lines, fits_of, gpu_bytes

PARAMETERS = 412_544
LAYERS = 2
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
    # keys and values of each layer, 128 wide, 4 bytes, 16 completions of 8 + 8 tokens
    assert estimate.kv_cache == 2 * LAYERS * 128 * 4 * 16 * 16
    # a row of 4 copies of the logits for each of 16 completions, a layer of the 8 tokens of each
    # of the 4 prompts
    vocabulary = len(sums_task.make_tokenizer())
    assert estimate.sampling == 16 * 4 * 4 * vocabulary + 4 * 8 * 4 * LAYER
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
    assert estimate.kv_cache == 2 * LAYERS * 128 * 4 * 4096 * 16
    assert estimate.generating > estimate.updating
    assert estimate.peak == sum(estimate.peak_parts.values())


def test_completions_of_a_server_take_no_memory_here(task: Path, tmp_path: Path) -> None:
    rollout = {**ROLLOUT, "engine": "vllm_server"}
    estimate = estimate_memory(run_config(task, tmp_path, rollout=rollout), prompt_tokens=8)
    assert (estimate.kv_cache, estimate.sampling) == (0, 0)


@pytest.mark.parametrize(
    ("sections", "bytes_per_token"),
    [
        ({}, 4 * LAYERS * LAYER),
        # Four numbers of the hidden size stay in float32.
        ({"model": {"autocast": "bfloat16"}}, LAYERS * (2 * LAYER + 2 * 4 * 128)),
        ({"train": {"gradient_checkpointing": True}}, 4 * LAYERS * 128 + 2 * 4 * LAYER),
        ({"model": {"device": "auto"}, "train": {"offload_activations": True}}, 2 * 4 * LAYER),
        ({"model": {"device": "cpu"}, "train": {"offload_activations": True}}, 4 * LAYERS * LAYER),
    ],
)
def test_activations_depend_on_the_settings_that_save_them(
    task: Path, tmp_path: Path, sections: dict[str, Any], bytes_per_token: int
) -> None:
    """10 rows of 8 + 8 tokens."""
    train = {"micro_batch_tokens": 160, **sections.get("train", {})}
    config = run_config(task, tmp_path / "run", **{**sections, "rollout": ROLLOUT, "train": train})
    assert estimate_memory(config, prompt_tokens=8).activations == 160 * bytes_per_token


def test_autocast_keeps_a_second_copy_of_what_is_trained_in_float32(
    task: Path, tmp_path: Path
) -> None:
    def copies(**model: Any) -> tuple[int, int]:
        estimate = estimate_memory(run_config(task, tmp_path / "run", model=model), prompt_tokens=8)
        return estimate.autocast_weights, estimate.gradients

    assert copies() == (0, 4 * PARAMETERS)
    assert copies(autocast="bfloat16") == (2 * PARAMETERS, 4 * PARAMETERS)
    assert copies(dtype="bfloat16") == (0, 2 * PARAMETERS)
    of_adapter, gradients = copies(dtype="bfloat16", lora={"rank": 4, "alpha": 8})
    assert of_adapter == gradients // 2 > 0


def test_what_is_offloaded_takes_no_memory_beside_generation(task: Path, tmp_path: Path) -> None:
    """A GPU is needed: a CPU has no other place for it."""
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


@pytest.mark.parametrize(
    ("text", "num_bytes"),
    [("24GiB", 24 * 2**30), ("80", 80 * 2**30), ("24 GB", 24 * 10**9), ("0.5g", 2**29)],
)
def test_sizes_of_gpus(text: str, num_bytes: int) -> None:
    assert gpu_bytes(text) == num_bytes


@pytest.mark.parametrize("text", ["", "0", "big", "24MiB", "-1"])
def test_a_size_that_is_none_is_named(text: str) -> None:
    with pytest.raises(ConfigError, match=r"--gpu: found .* such as 24GiB"):
        gpu_bytes(text)


def written(config: Config, folder: Path) -> Path:
    path = folder / "run.yaml"
    path.write_text(dump_config(config))
    return path


@pytest.mark.parametrize("share", [1.0, 0.7, 0.3, 0.01])
def test_a_run_fits_with_the_changes_that_are_named(
    task: Path, tmp_path: Path, share: float
) -> None:
    """Each change takes less memory than the one before, and the last one fits, or none does."""
    rollout = {"prompts_per_step": 16, "group_size": 8, "max_completion_tokens": 128}
    path = written(run_config(task, tmp_path / "run", rollout=rollout), tmp_path)
    peak = estimate_memory(load_config(path), prompt_tokens=64).peak
    found = fits_of(path, [], OVERHEAD_BYTES + int(share * peak), prompt_tokens=64)
    peaks = [fit.estimate.peak for fit in found]
    assert peaks == sorted(set(peaks), reverse=True)
    assert [fit.fits for fit in found] == [False] * (len(found) - 1) + [share >= 0.3]
    again = load_config(path, [*found[-1].changes, "model.device=auto"])
    assert estimate_memory(again, prompt_tokens=64).peak == peaks[-1]
    lines = list(fit_lines(found))
    assert lines[-1].startswith("it fits" if share >= 0.3 else "it does not fit")


def test_offloaded_activations_are_among_the_changes_that_make_a_run_fit(
    task: Path, tmp_path: Path
) -> None:
    """One long completion cannot be split into micro-batches."""
    rollout = {"prompts_per_step": 1, "group_size": 2, "max_completion_tokens": 8000}
    settings = {"micro_batch_tokens": 8008, "gradient_checkpointing": True}
    config = run_config(task, tmp_path / "run", rollout=rollout, train=settings)
    path = written(config, tmp_path)
    room = estimate_memory(config, prompt_tokens=8).peak * 95 // 100
    found = fits_of(path, [], OVERHEAD_BYTES + room, prompt_tokens=8)
    assert found[-1].fits
    assert "train.offload_activations=true" in found[-1].changes


def test_vllm_in_the_same_process_takes_its_share_while_it_samples(
    task: Path, tmp_path: Path
) -> None:
    """It sleeps while the policy is trained, and samples in its own memory."""
    rollout = {**ROLLOUT, "engine": "vllm"}
    config = run_config(task, tmp_path / "run", rollout=rollout)
    estimate = estimate_memory(config, prompt_tokens=8, gpu_bytes=10 * 2**30)
    assert estimate.vllm == 3 * 2**30
    assert estimate.generating == 4 * PARAMETERS + 8 * PARAMETERS + 3 * 2**30
    assert estimate.updating < 2**30
    (only,) = fits_of(written(config, tmp_path), [], 10 * 2**30, prompt_tokens=8)
    assert only.room == 10 * 2**30 - OVERHEAD_BYTES
    assert only.estimate == estimate


@pytest.mark.parametrize(("settings", "counted"), [({}, True), ({"device": "cpu"}, False)])
def test_reward_models_stay_beside_the_policy(
    task: Path, tmp_path: Path, settings: dict[str, str], counted: bool
) -> None:
    models = [{"path": str(task / "model"), "name": name, **settings} for name in ("one", "two")]
    alone = estimate_memory(run_config(task, tmp_path / "alone"), prompt_tokens=8)
    config = run_config(task, tmp_path / "run", reward={"models": models, "functions": []})
    estimate = estimate_memory(config, prompt_tokens=8)
    assert estimate.reward_models == (2 * 4 * PARAMETERS if counted else 0)
    for name in ("generating", "updating", "state"):
        assert getattr(estimate, name) - getattr(alone, name) == estimate.reward_models
    assert sum(estimate.peak_parts.values()) == estimate.peak


def test_in_four_bits_embeddings_and_output_layer_keep_their_type(
    task: Path, tmp_path: Path
) -> None:
    """Linear weights of the layers in 0.516 bytes; the rest, and the adapter, in float32."""
    model = {"lora": {"rank": 4}, "quantization": "4bit"}
    estimate = estimate_memory(run_config(task, tmp_path / "run", model=model), prompt_tokens=8)
    linear = LAYERS * (4 * 128 * 128 + 3 * 128 * 352)
    assert estimate.weights - estimate.gradients == int(0.516 * linear) + 4 * (PARAMETERS - linear)
