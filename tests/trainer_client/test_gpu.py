"""The trainer does on a GPU what it does on the CPU; these tests are of the paths of CUDA alone.

`make test-gpu` runs them, and those of a single process again with their models on the GPU.
"""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, distributed
from torch.distributed import HashStore  # type: ignore[attr-defined]
from transformers import AutoModelForCausalLM, PreTrainedModel, Qwen2Config

from tests.trainer_client.runs import plain_sampling, rollouts_of, run_config, same, weights
from tests.trainer_client.test_compile import torch_warns
from trainer_client.check.check_run import check_run
from trainer_client.config.run_config import Config, make_config
from trainer_client.learner import Learner, make_learner
from trainer_client.policy import output_layer, packing
from trainer_client.policy.logit_passes import EagerPasses, FusedPasses, passes_for
from trainer_client.policy.logprobs import token_logprobs
from trainer_client.policy.output_layer import OutputLayer
from trainer_client.policy.packing import enable_packing
from trainer_client.policy.sharding import shard
from trainer_client.problems import Problem
from trainer_client.rollout import RolloutGroup
from trainer_client.rollout.draw import draw
from trainer_client.rollout.weight_transfer import IpcTransfer, NcclTransfer
from trainer_client.train import train
from trainer_client.update.batch import make_batch
from trainer_client.update.optimizer import make_optimizer
from trainer_client.update.step import update_policy

pytestmark = [pytest.mark.gpu, torch_warns]

ROLLOUTS = rollouts_of(1, 7, 3, 5)
ADVANTAGES = [1.0, -1.0, 0.5, 0.0]
LENGTHS = (9, 1, 64, 17, 2, 33)


def settings(task: Path, *, device: str = "cuda", **sections: Any) -> Config:
    """Settings of one update with a KL term."""
    values: dict[str, Any] = {
        "output_dir": "unused",
        "model": {"path": str(task / "model"), "device": device},
        "dataset": {"path": "unused"},
        "loss": {"kl_coefficient": 0.1},
        "optimizer": {"learning_rate": 1e-3},
    }
    for name, section in sections.items():
        values[name] = {**values.get(name, {}), **section}
    return make_config(values)


def updated(learner: Learner, config: Config, *, updates: int = 2) -> dict[str, float]:
    """The metrics of the last of some updates on the same rollouts."""
    batch = make_batch(ROLLOUTS, ADVANTAGES, pad_id=0, device=learner.policy.device)
    for _ in range(updates):
        metrics = update_policy(learner, batch, config)
    return metrics


def weights_of(learner: Learner) -> Tensor:
    """All weights in one row, on the CPU."""
    return torch.cat([one.detach().flatten().cpu() for one in learner.policy.model.parameters()])


@pytest.mark.parametrize(
    "train_settings",
    [
        {},
        {"packing": False},
        {"gradient_checkpointing": True},
        {"offload_activations": True},
        {"micro_batch_tokens": 8},
        {"compile": True},
        {"compile": True, "gradient_checkpointing": True},
        {"compile": True, "packing": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_an_update_is_that_of_the_cpu(
    task: Path, optimizer: str, train_settings: dict[str, Any]
) -> None:
    """Metrics agree to float32's rounding; so do weights, but where Adam divides it by itself."""
    found = []
    for device in ("cpu", "cuda"):
        config = settings(task, device=device, train=train_settings, optimizer={"type": optimizer})
        learner = make_learner(config)
        found.append((updated(learner, config), weights_of(learner)))
    (expected, on_cpu), (metrics, on_gpu) = found
    assert metrics == pytest.approx(expected, rel=2e-3, abs=1e-5)
    far = (on_gpu - on_cpu).abs() > 1e-4
    assert far.float().mean() < 1e-3


def test_autocast_keeps_weights_in_float32_and_is_near_them(task: Path) -> None:
    plain = settings(task)
    config = settings(task, model={"autocast": "bfloat16"})
    expected = updated(make_learner(plain), plain, updates=1)
    learner = make_learner(config)
    metrics = updated(learner, config, updates=1)
    assert {one.dtype for one in learner.policy.model.parameters()} == {torch.float32}
    assert metrics["policy/grad_norm"] == pytest.approx(expected["policy/grad_norm"], rel=0.05)
    assert metrics["policy/entropy"] == pytest.approx(expected["policy/entropy"], rel=0.01)


def half_model(device: str, dtype: torch.dtype) -> PreTrainedModel:
    """Weights of one seed, rounded to bfloat16, whatever the type."""
    torch.manual_seed(0)
    shape = Qwen2Config(
        vocab_size=500,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    model = AutoModelForCausalLM.from_config(shape).eval().to(torch.bfloat16)
    return model.to(device=device, dtype=dtype)


def logprobs_and_gradient(model: PreTrainedModel, *, packed: bool) -> tuple[Tensor, Tensor]:
    """Log-probabilities of made-up rows, and the gradient of their weighted sum."""
    generator = torch.Generator().manual_seed(1)
    attention_mask = torch.arange(max(LENGTHS))[None] < torch.tensor(LENGTHS)[:, None]
    completion = attention_mask.clone()
    completion[:, 0] = False
    ids = torch.randint(500, attention_mask.shape, generator=generator)
    factors = torch.randn(ids.shape, generator=generator)
    result = token_logprobs(
        model,
        *(one.to(model.device) for one in (ids, attention_mask, completion)),
        temperature=0.8,
        packed=packed,
    )
    (result.logprobs * factors.to(model.device)).sum().backward()  # type: ignore[no-untyped-call]
    gradient = torch.cat([one.grad.flatten().double().cpu() for one in model.parameters()])
    return result.logprobs.detach().double().cpu(), gradient


def test_packed_rows_in_half_precision_are_as_near_to_the_truth_as_padded_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fused kernel for rows of several lengths is used; the truth is float32 on the CPU."""
    expected = logprobs_and_gradient(half_model("cpu", torch.float32), packed=False)
    padded = logprobs_and_gradient(half_model("cuda", torch.bfloat16), packed=False)
    calls: list[tuple[int, ...]] = []
    fused = packing._fused

    def counted(query: Tensor, key: Tensor, value: Tensor, lengths: Any, scaling: Any) -> Tensor:
        calls.append(lengths.tokens)
        return fused(query, key, value, lengths, scaling)

    monkeypatch.setattr(packing, "_fused", counted)
    model = half_model("cuda", torch.bfloat16)
    enable_packing(model)
    packed = logprobs_and_gradient(model, packed=True)
    assert calls == [LENGTHS] * 3
    for truth, of_padded, of_packed in zip(expected, padded, packed, strict=True):
        error = (of_packed - truth).norm() / truth.norm()
        assert error < 1.5 * (of_padded - truth).norm() / truth.norm()
        assert error < 0.03


@pytest.mark.parametrize("of_entropy", [0.0, 0.3])
def test_a_compiled_output_layer_has_the_gradients_of_a_plain_one(
    of_entropy: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their differences, in bfloat16, are those of rounded derivatives."""
    torch.manual_seed(0)
    states = torch.randn(700, 64, device="cuda", dtype=torch.bfloat16)
    weight = torch.randn(5_003, 64, device="cuda", dtype=torch.bfloat16) / 8
    targets = torch.randint(5_003, (700,), device="cuda")
    found = []
    for passes in (EagerPasses, passes_for(weight.device, weight.dtype)):
        monkeypatch.setattr(output_layer, "passes_for", lambda *_, passes=passes: passes)
        leaves = [one.clone().requires_grad_() for one in (states, weight)]
        layer = OutputLayer(leaves[1], None, 1.0, None)
        logprobs, entropy = layer.logprobs(
            leaves[0], targets, temperature=0.7, entropy_gradient=bool(of_entropy)
        )
        loss = logprobs.sum() + of_entropy * entropy.sum()
        found.append([logprobs, entropy, *torch.autograd.grad(loss, leaves)])
    assert passes is FusedPasses
    for one, other in zip(*found, strict=True):
        off = (one.float() - other.float()).norm() / other.float().norm()
        assert off < 4e-3


def test_draws_are_those_of_the_cpu_for_the_same_numbers() -> None:
    """Rounding may decide otherwise now and then; a token of probability 0 is never drawn."""
    generator = torch.Generator().manual_seed(0)
    probabilities = (3 * torch.randn(2_000, 5_003, generator=generator)).softmax(-1)
    probabilities[:, ::7] = 0
    uniform = torch.rand(2_000, 1, dtype=torch.float64, generator=generator)
    on_cpu = draw(probabilities, uniform)
    on_gpu = draw(probabilities.cuda(), uniform.cuda()).cpu()
    assert (on_gpu != on_cpu).float().mean() < 2e-3
    assert bool((on_gpu % 7 != 0).all())


def test_sampled_logprobs_are_those_of_a_forward_pass_in_bfloat16_too(task: Path) -> None:
    """The mean difference is rounding's; a wrong position would be off by whole nats."""
    config = settings(task, model={"dtype": "bfloat16"}, loss={"kl_coefficient": 0.0})
    problems = [Problem(text, ({"role": "user", "content": text},), {}) for text in ("1+2=?", "7")]
    with closing(make_learner(config)) as learner:
        groups: list[RolloutGroup] = []
        learner.engine.generate(
            problems, plain_sampling(16, 12), lambda index, group: groups.append(group)
        )
        rollouts = [one for group in groups for one in group.rollouts]
        batch = make_batch(rollouts, [1.0] * len(rollouts), pad_id=0, device=learner.policy.device)
        metrics = update_policy(learner, batch, config)
    assert 0 <= metrics["policy/sampler_kl"] < 1e-3


def test_a_run_with_moments_in_8_bits_goes_on_bit_for_bit(task: Path, tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")

    def config(name: str, steps: int) -> Config:
        return run_config(
            task,
            tmp_path / name,
            model={"device": "cuda"},
            optimizer={"type": "adamw_8bit", "learning_rate": 1e-3},
            train={"steps": steps, "checkpoint_every_steps": 1},
        )

    train(config("whole", 3))
    train(config("stopped", 2))
    train(config("stopped", 3), resume=True)
    assert same(weights(tmp_path / "stopped" / "model"), weights(tmp_path / "whole" / "model"))


def test_a_sharded_step_over_nccl_is_that_of_a_whole_model(task: Path) -> None:
    """One process: FSDP2 splits the weights into one part, and NCCL gathers it."""
    config = settings(task, loss={"kl_coefficient": 0.0})
    whole = make_learner(config)
    expected = updated(whole, config)
    distributed.init_process_group("cuda:nccl,cpu:gloo", store=HashStore(), rank=0, world_size=1)
    try:
        learner = make_learner(config)
        shard(learner.policy.model, reshard_after_forward=True)
        optimizer, scheduler = make_optimizer(learner.policy.model, config.optimizer, num_steps=9)
        learner = replace(learner, optimizer=optimizer, scheduler=scheduler)
        assert updated(learner, config) == pytest.approx(expected, rel=1e-4, abs=1e-6)
    finally:
        distributed.destroy_process_group()


def test_the_communicator_to_a_server_is_made_and_used(task: Path) -> None:
    """NCCL refuses two processes on one GPU, so the server here has no worker."""
    learner = make_learner(settings(task))
    asked: list[str] = []

    async def each(method: str, path: str, **body: Any) -> list[Any]:
        asked.append(path)
        return [{"world_size": 0}]

    transfer = NcclTransfer()
    for _ in range(2):
        transfer.prepare(learner.policy.model)
        asyncio.run(transfer.send(learner.policy.model, each))
    update = ["/start_weight_update", "/update_weights", "/finish_weight_update"]
    assert asked == ["/get_world_size", "/init_weight_transfer_engine", *update, *update]


RECEIVER = """
import base64, json, pickle, sys
from torch.multiprocessing.reductions import rebuild_cuda_tensor
info = json.load(sys.stdin)
sums = {}
handles_of = pickle.loads(base64.b64decode(info["ipc_handles_pickled"]))
for name, handles in zip(info["names"], handles_of):
    (arguments,) = handles.values()
    sums[name] = rebuild_cuda_tensor(*arguments).double().sum().item()
print(json.dumps(sums))
"""
"""The part of vLLM's worker that reads the handles."""


def test_another_process_reads_the_weights_from_their_handles(task: Path) -> None:
    learner = make_learner(settings(task))
    read: dict[str, float] = {}

    async def each(method: str, path: str, **body: Any) -> list[Any]:
        if path == "/update_weights":
            info = body["json"]["update_info"]
            result = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-c", RECEIVER],
                input=json.dumps(info),
                capture_output=True,
                text=True,
                check=False,
            )
            assert result.returncode == 0, result.stderr
            read.update(json.loads(result.stdout))
            (gpu,) = pickle.loads(base64.b64decode(info["ipc_handles_pickled"]))[0]
            assert gpu == str(torch.cuda.get_device_properties(0).uuid)
        return [{}]

    transfer = IpcTransfer()
    transfer.prepare(learner.policy.model)
    asyncio.run(transfer.send(learner.policy.model, each))
    expected = {
        name: one.double().sum().item() for name, one in learner.policy.model.state_dict().items()
    }
    assert read == {name: pytest.approx(expected[name]) for name in read}
    assert len(read) > 10


def test_a_quantized_run_goes_on_and_its_adapter_is_merged(task: Path, tmp_path: Path) -> None:
    """Base in NF4, adapter in float32; what `export` merges is a whole model."""
    pytest.importorskip("bitsandbytes")

    def config(steps: int) -> Config:
        return run_config(
            task,
            tmp_path / "run",
            model={"lora": {"rank": 4, "alpha": 8}, "quantization": "4bit", "device": "cuda"},
            loss={"kl_coefficient": 0.01},
            train={"steps": steps, "checkpoint_every_steps": 1},
        )

    train(config(1))
    train(config(2), resume=True)
    merged = weights(tmp_path / "run" / "model")
    start = weights(task / "model")
    assert merged.keys() == start.keys()
    assert not same(merged, start)


def test_check_finds_nothing_wrong_with_a_run_on_the_gpu(task: Path, tmp_path: Path) -> None:
    """It names the GPU's free memory, not the machine's."""
    path = tmp_path / "run.yaml"
    values = run_config(task, tmp_path / "run", model={"device": "cuda"}).model_dump(mode="json")
    path.write_text(json.dumps(values))
    found = check_run(path)
    assert found.problems == []
    assert "GPU 0" in str(found)
