"""The types of the optimizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from tests.trainer_client.device import DEVICE
from tests.trainer_client.runs import run_config, same, weights
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.optimizer_section import OptimizerConfig
from trainer_client.config.run_config import ConfigError, make_config
from trainer_client.memory_estimate import estimate_memory
from trainer_client.policy.policy import load_policy
from trainer_client.train import train
from trainer_client.update.optimizer import make_optimizer

RATE = 1e-3


def test_muon_moves_matrices_by_orthogonal_updates_and_the_rest_as_adamw(task: Path) -> None:
    """An update of Muon has the size of one of AdamW: 0.2 in the root mean square of its rates."""
    model = load_policy(ModelConfig(path=str(task / "model"), device=DEVICE)).model
    config = OptimizerConfig(type="muon", learning_rate=RATE)
    optimizer, _ = make_optimizer(model, config, num_steps=10)
    before = {name: one.detach().clone() for name, one in model.named_parameters()}
    torch.manual_seed(0)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()
    moved = {name: one.detach() - before[name] for name, one in model.named_parameters()}
    matrix = moved["model.layers.0.self_attn.q_proj.weight"]
    values = torch.linalg.svdvals(matrix) / (RATE * 0.2 * max(matrix.shape) ** 0.5)
    # torch multiplies in bfloat16, and on a GPU the smallest values come out smaller.
    assert 0.4 < values.quantile(0.1) <= values.max() < 1.4
    assert 0.1 < matrix.square().mean().sqrt() / RATE < 0.3
    for name in ("model.embed_tokens.weight", "model.norm.weight"):
        assert torch.allclose(moved[name].abs().cpu(), torch.tensor(RATE), rtol=1e-2), name


def test_muon_leaves_embeddings_of_positions_to_adamw() -> None:
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=32, n_positions=16, n_embd=8, n_layer=1, n_head=2)
    )
    optimizer, _ = make_optimizer(model, OptimizerConfig(type="muon"), num_steps=1)
    by_muon, by_adamw = ({id(one) for one in group["params"]} for group in optimizer.param_groups)
    named = {name: id(one) for name, one in model.named_parameters()}
    assert {name for name in named if named[name] in by_muon} == {
        f"transformer.h.0.{name}.weight"
        for name in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")
    }
    assert {named["transformer.wte.weight"], named["transformer.wpe.weight"]} <= by_adamw


@pytest.mark.slow
def test_a_run_with_muon_goes_on_bit_for_bit_and_keeps_its_optimizer(
    task: Path, tmp_path: Path
) -> None:
    def config(name: str, steps: int, **optimizer: Any) -> Any:
        return run_config(
            task,
            tmp_path / name,
            optimizer={"type": "muon", "learning_rate": 1e-3, **optimizer},
            train={"steps": steps, "checkpoint_every_steps": 1},
        )

    train(config("whole", 3))
    train(config("stopped", 2))
    with pytest.raises(ConfigError, match=r"optimizer\.type: .* has the state of MuonWithAdamW"):
        train(config("stopped", 3, type="adamw"), resume=True)
    train(config("stopped", 3), resume=True)
    assert same(weights(tmp_path / "stopped" / "model"), weights(tmp_path / "whole" / "model"))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_moments_in_8_bits_without_a_gpu_are_refused_with_what_they_need(task: Path) -> None:
    model = load_policy(ModelConfig(path=str(task / "model"), device=DEVICE)).model
    with pytest.raises(ConfigError, match=r"optimizer\.type: adamw_8bit needs a CUDA device and"):
        make_optimizer(model, OptimizerConfig(type="adamw_8bit"), num_steps=1)


@pytest.mark.parametrize(("name", "width"), [("adamw", 8), ("adamw_8bit", 2), ("muon", 4)])
def test_the_estimate_of_memory_knows_each(
    task: Path, tmp_path: Path, name: str, width: int
) -> None:
    config = run_config(task, tmp_path / "run", optimizer={"type": name})
    estimate = estimate_memory(config, prompt_tokens=8)
    assert estimate.optimizer == width * estimate.weights // 4


@pytest.mark.slow
def test_offloaded_activations_change_no_weight(task: Path, tmp_path: Path) -> None:
    for name, offload in (("kept", False), ("offloaded", True)):
        settings = {"steps": 1, "offload_activations": offload}
        train(run_config(task, tmp_path / name, train=settings))
    kept, moved = (weights(tmp_path / name / "model") for name in ("kept", "offloaded"))
    assert same(kept, moved)


def test_an_unknown_type_is_named_with_those_there_are() -> None:
    minimal = {"output_dir": "r", "model": {"path": "m"}, "dataset": {"path": "unused"}}
    with pytest.raises(ConfigError, match=r"optimizer\.type: .*'adamw', 'adamw_8bit' or 'muon'"):
        make_config({**minimal, "optimizer": {"type": "lion"}})
