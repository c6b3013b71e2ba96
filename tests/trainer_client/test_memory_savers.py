"""Ways to save memory change nothing but memory; bfloat16 keeps its master weights."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.optim import Optimizer
from transformers import OPTConfig, OPTForCausalLM, PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from tests.trainer_client.device import DEVICE
from tests.trainer_client.runs import plain_sampling, rollouts_of, run_config
from trainer_client.config.run_config import Config, ConfigError, make_config
from trainer_client.demo import sums_task
from trainer_client.learner import Learner, make_learner
from trainer_client.policy.memory_savers import offloaded
from trainer_client.policy.transformers_names import enable_checkpointing
from trainer_client.problem_mix import MixPosition
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroups
from trainer_client.rollout import RolloutGroup
from trainer_client.rollout.one_step_ahead import SamplingAhead, StepGroups
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.train import train
from trainer_client.update.batch import make_batch
from trainer_client.update.step import update_policy

ROLLOUTS = rollouts_of(1, 7, 3, 5)


def values(task: Path, **sections: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "output_dir": "unused",
        "model": {"path": str(task / "model"), "device": DEVICE},
        "dataset": {"path": "unused"},
        "loss": {"kl_coefficient": 0.1},
    }
    for name, section in sections.items():
        values[name] = {**values.get(name, {}), **section}
    return values


def updated(task: Path, **sections: Any) -> tuple[Learner, dict[str, float]]:
    config = make_config(values(task, **sections))
    learner = make_learner(config)
    batch = make_batch(ROLLOUTS, [1.0, -1.0, 0.5, 0.0], pad_id=0, device=learner.policy.device)
    return learner, update_policy(learner, batch, config)


def test_recomputed_layers_give_the_same_update(task: Path) -> None:
    """Each layer's attention runs once more, in the backward pass, and nothing trains but here."""
    _, expected = updated(task)
    config = make_config(values(task, train={"gradient_checkpointing": True}))
    learner = make_learner(config)
    layers = [
        module
        for module in learner.policy.model.modules()
        if isinstance(module, GradientCheckpointingLayer)
    ]
    calls: list[bool] = []
    layers[0].self_attn.register_forward_hook(lambda *_: calls.append(torch.is_grad_enabled()))
    batch = make_batch(ROLLOUTS, [1.0, -1.0, 0.5, 0.0], pad_id=0, device=learner.policy.device)
    assert update_policy(learner, batch, config) == pytest.approx(expected, abs=1e-6)
    assert len(calls) == 2
    assert not any(module.training for module in learner.policy.model.modules())


@pytest.fixture(scope="module")
def dropping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `model` whose layers call `functional.dropout` themselves, at 0.5."""
    folder = tmp_path_factory.mktemp("dropping")
    tokenizer = sums_task.make_tokenizer()
    torch.manual_seed(0)
    config = OPTConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        ffn_dim=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
        word_embed_proj_dim=16,
        dropout=0.5,
    )
    OPTForCausalLM(config).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    return folder


def test_recomputed_layers_do_not_drop(dropping: Path) -> None:
    """Neither in the forward pass nor in the backward pass."""
    _, expected = updated(dropping)
    _, metrics = updated(dropping, train={"gradient_checkpointing": True})
    assert metrics == pytest.approx(expected, abs=1e-6)


def test_layers_that_compute_something_else_in_training_are_refused(
    task: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here because nothing puts them into evaluation mode for their forward pass."""

    def enable(model: PreTrainedModel) -> None:
        enable_checkpointing(model)
        layer = model.model.layers[0]
        layer.register_forward_hook(lambda module, _, states: states * (1 + module.training))

    monkeypatch.setattr("trainer_client.policy.saver_checks.enable_recomputation", enable)
    with pytest.raises(ConfigError, match="gradient_checkpointing: not with LlamaForCausalLM"):
        make_learner(make_config(values(task, train={"gradient_checkpointing": True})))


def test_generation_keeps_its_cache_beside_recomputed_layers(task: Path) -> None:
    """Sampler and trainer still agree, token by token."""
    learner, _ = updated(task, train={"gradient_checkpointing": True})
    groups: list[RolloutGroup] = []
    problem = Problem("p", ({"role": "user", "content": "1+2=?"},), {})
    learner.engine.generate(
        [problem],
        plain_sampling(2, 6),
        lambda index, group: groups.append(group),
    )
    assert len(groups[0].rollouts) == 2


def test_autocast_computes_in_bfloat16_on_float32_weights(task: Path) -> None:
    """The update is near the float32 one, not equal to it; weights and gradients stay float32."""
    _, expected = updated(task)
    learner, metrics = updated(task, model={"autocast": "bfloat16"})
    assert metrics["policy/loss"] == pytest.approx(expected["policy/loss"], rel=0.05)
    assert metrics["policy/grad_norm"] == pytest.approx(expected["policy/grad_norm"], rel=0.05)
    assert metrics["policy/loss"] != expected["policy/loss"]
    assert {weight.dtype for weight in learner.policy.model.parameters()} == {torch.float32}


def moved_by_offloading(
    learner: Learner, config: Config, monkeypatch: pytest.MonkeyPatch
) -> list[torch.Tensor]:
    """The tensors that an update has moved to where activations wait."""
    moved: list[torch.Tensor] = []
    hooks = torch.autograd.graph.saved_tensors_hooks

    def watched(pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Any:
        def note(tensor: torch.Tensor) -> Any:
            kept = pack(tensor)
            if kept[1] is not tensor:
                assert kept[1].equal(tensor.cpu())
                moved.append(tensor)
            return kept

        return hooks(note, unpack)

    monkeypatch.setattr(torch.autograd.graph, "saved_tensors_hooks", watched)
    batch = make_batch(ROLLOUTS, [1.0, -1.0, 0.5, 0.0], pad_id=0, device=learner.policy.device)
    update_policy(learner, batch, config)
    return moved


@pytest.mark.parametrize("model", [{}, {"autocast": "bfloat16"}], ids=["float32", "autocast"])
def test_activations_wait_elsewhere_and_no_weight_is_moved(
    task: Path, monkeypatch: pytest.MonkeyPatch, model: dict[str, Any]
) -> None:
    """Tensors of a layer's inner size, 352, are moved; none has the shape of a weight.

    Under autocast layers keep copies of their weights, which stay as the weights do.
    """
    config = make_config(values(task, model=model, train={"offload_activations": True}))
    learner = make_learner(config)
    weights = [one for one in learner.policy.model.parameters() if one.dim() == 2]
    shapes = {tuple(one.shape) for one in weights} | {tuple(one.shape)[::-1] for one in weights}
    moved = {tuple(one.shape) for one in moved_by_offloading(learner, config, monkeypatch)}
    assert any(shape[-1:] == (352,) for shape in moved - shapes)
    assert not moved & shapes


def test_offloaded_state_comes_back_as_it_was(task: Path) -> None:
    """Whatever it is moved to; that it leaves the GPU is for a machine that has one."""
    learner, _ = updated(task)
    before = {
        (weight, name): value.clone()
        for weight, state in learner.optimizer.state.items()
        for name, value in state.items()
    }
    with offloaded(learner.optimizer, learner.reference):
        assert {
            value.device.type
            for state in learner.optimizer.state.values()
            for value in state.values()
        } == {"cpu"}
    assert before
    for (weight, name), value in before.items():
        assert learner.optimizer.state[weight][name].equal(value)


def test_training_and_evaluation_sample_with_the_optimizer_out_of_the_way(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New weights reach the sampler inside, too: it may have to wake up for them."""
    inside: list[bool] = []
    seen: list[tuple[str, bool]] = []

    @contextmanager
    def watched(optimizer: Optimizer, reference: PreTrainedModel | None) -> Iterator[None]:
        with offloaded(optimizer, reference):
            inside.append(True)
            yield
            inside.pop()

    def watch(name: str) -> None:
        method = getattr(TransformersEngine, name)

        def call(engine: TransformersEngine, *arguments: Any) -> None:
            seen.append((name, bool(inside)))
            method(engine, *arguments)

        monkeypatch.setattr(TransformersEngine, name, call)

    monkeypatch.setattr("trainer_client.learner.offloaded", watched)
    watch("generate")
    watch("update_weights")
    evaluation = {
        "dataset": {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None},
        "every_steps": 1,
        "num_samples": 2,
        "k": [1],
    }
    train(
        run_config(
            task,
            tmp_path / "run",
            "accuracy",
            loss={"kl_coefficient": 0.01},
            train={"steps": 1, "offload": True},
            evaluation=evaluation,
        )
    )
    assert seen == [("update_weights", True), ("generate", True)] * 3


@pytest.mark.gpu
def test_offloading_frees_the_gpu_while_completions_are_sampled(task: Path) -> None:
    """The optimizer's two moments are twice the weights."""
    learner, _ = updated(task, model={"device": "cuda"})
    weights = sum(weight.nbytes for weight in learner.policy.model.parameters())
    before = torch.cuda.memory_allocated()
    with offloaded(learner.optimizer, learner.reference):
        assert torch.cuda.memory_allocated() <= before - 2.9 * weights
    assert torch.cuda.memory_allocated() >= before - 0.1 * weights


def test_groups_sampled_ahead_are_taken_once_and_errors_come_with_them() -> None:
    """The next `take` gives the groups that were started; the one after it samples itself."""
    ahead = SamplingAhead()

    def sample(position: MixPosition) -> StepGroups:
        if position.takes == 13:
            raise RuntimeError("unlucky")
        return StepGroups(ScoredGroups([], 1.0, 0.0), MixPosition(position.takes + 1))

    assert ahead.take(sample, MixPosition(1))[1] == MixPosition(2)
    ahead.start(sample, MixPosition(2))
    assert ahead.started
    ahead.wait()
    assert ahead.take(sample, MixPosition(2))[1] == MixPosition(3)
    assert not ahead.started
    ahead.start(sample, MixPosition(13))
    with pytest.raises(RuntimeError, match="unlucky"):
        ahead.take(sample, MixPosition(13))
    ahead.close()


HANGING = """
import threading
from trainer_client.problem_mix import MixPosition
from trainer_client.rollout.one_step_ahead import SamplingAhead
ahead = SamplingAhead()
ahead.start(lambda position: threading.Event().wait(), MixPosition())
ahead.close()
print("closed")
"""


@pytest.mark.slow
def test_a_process_ends_while_its_sampler_hangs() -> None:
    """Groups that are being sampled ahead are given up, as after SIGTERM."""
    result = subprocess.run(
        [sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=600
    )
    assert (result.returncode, result.stdout) == (0, "closed\n"), result.stderr


def test_sampling_ahead_asks_for_a_server_and_the_correction(task: Path) -> None:
    """Messages name both settings."""
    with pytest.raises(
        ConfigError, match=r"max_staleness_steps 1 needs rollout\.engine vllm_server"
    ):
        make_config(values(task, train={"max_staleness_steps": 1}))
    with pytest.raises(ConfigError, match=r"max_staleness_steps 1 needs loss\.importance"):
        make_config(
            values(task, train={"max_staleness_steps": 1}, rollout={"engine": "vllm_server"})
        )
