"""A token at a time in memory that stays in its place: what `generate` samples, and faster.

On the CPU the same passes run without a graph; `make test-gpu` captures them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    GenerationConfig,
    Lfm2Config,
    LlamaConfig,
    MistralConfig,
    NemotronConfig,
    PretrainedConfig,
    Qwen2Config,
    Qwen3Config,
)

from tests.trainer_client.device import DEVICE
from tests.trainer_client.test_packing import SHAPE
from tests.trainer_client.test_rollout import PROBLEMS
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.rollout_section import RolloutConfig
from trainer_client.policy.packing import enable_packing
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.rollout import RolloutGroup, Sampling, token_decoder
from trainer_client.rollout.engines import transformers_engine
from trainer_client.rollout.transformers import TransformersEngine, decoder_error, sampling_policy

FULL_ATTENTION: dict[str, Callable[..., PretrainedConfig]] = {
    "llama": LlamaConfig,
    "norms of queries": partial(Qwen3Config, head_dim=8),
    "one head of keys a query": partial(NemotronConfig, num_key_value_heads=4),
    "a window that is not used": partial(Qwen2Config, use_sliding_window=False, sliding_window=4),
}
OTHER_ATTENTION: dict[str, Callable[..., PretrainedConfig]] = {
    "window": partial(MistralConfig, sliding_window=4),
    "states instead of tokens": partial(Lfm2Config, layer_types=["conv", "full_attention"]),
    "attention of its own": partial(LlamaConfig, attn_implementation="eager"),
}
FOUR_BITS = {"dtype": "bfloat16", "lora": {"rank": 4, "alpha": 8}, "quantization": "4bit"}


@pytest.fixture
def policy(task: Path) -> Policy:
    return load_policy(ModelConfig(path=str(task / "model"), device=DEVICE))


def policy_of(
    make_config: Callable[..., PretrainedConfig], policy: Policy, *, end_factor: float = 12
) -> Policy:
    """A policy with random float64 weights, whose completions end at about every fifth token.

    In float64 the order of a sum does not decide about a token. The logit of the token that ends is
    multiplied by `end_factor`.
    """
    config = make_config(**{**SHAPE, "vocab_size": len(policy.tokenizer)})
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).eval().double().to(policy.device)
    model.generation_config = GenerationConfig(
        eos_token_id=list(policy.eos_ids), pad_token_id=policy.pad_id
    )
    with torch.no_grad():
        model.get_output_embeddings().weight[policy.eos_ids[0]] *= end_factor
    return replace(policy, model=model)


def sampled(policy: Policy, sampling: Sampling, *, own_decoder: bool) -> list[RolloutGroup]:
    torch.manual_seed(0)
    groups: dict[int, RolloutGroup] = {}
    engine = TransformersEngine(policy, batch_size=64, own_decoder=own_decoder)
    engine.generate(PROBLEMS, sampling, groups.__setitem__)
    return [groups[index] for index in range(len(PROBLEMS))]


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(8, 24, 1.0, 1.0),
        Sampling(1, 24, 1.0, 1.0),
        Sampling(4, 12, 0.0, 1.0),
        Sampling(8, 24, 0.7, 0.9, top_k=20, repetition_penalty=1.3, stop=("+",)),
    ],
    ids=["groups", "no prompt comes twice", "greedy", "every setting"],
)
@pytest.mark.parametrize("name", FULL_ATTENTION)
def test_completions_are_those_of_generate(
    policy: Policy, name: str, sampling: Sampling, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room is used up several times and rows end in between."""
    monkeypatch.setattr(token_decoder, "ROOM_TOKENS", 5)
    monkeypatch.setattr(token_decoder, "ROOM_MULTIPLE", 2)
    one = policy_of(FULL_ATTENTION[name], policy, end_factor=12 if sampling.temperature else 1)
    assert decoder_error(one) is None
    expected = sampled(one, sampling, own_decoder=False)
    found = sampled(one, sampling, own_decoder=True)
    lengths = []
    for group, other in zip(found, expected, strict=True):
        for rollout, wanted in zip(group.rollouts, other.rollouts, strict=True):
            assert rollout.completion_ids == wanted.completion_ids
            assert rollout.truncated == wanted.truncated
            assert rollout.sampler_logprobs == pytest.approx(wanted.sampler_logprobs, abs=1e-6)
            lengths.append(len(rollout.completion_ids))
    assert max(lengths) > 5
    assert len(set(lengths)) > 1 or len(lengths) == len(PROBLEMS) or not sampling.temperature


@pytest.mark.parametrize("name", OTHER_ATTENTION)
def test_a_model_with_other_attention_is_refused_by_name(policy: Policy, name: str) -> None:
    one = policy_of(OTHER_ATTENTION[name], policy)
    assert "not every layer has full attention" in (decoder_error(one) or "")


def test_a_decoder_that_computes_something_else_is_refused(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys and values of new tokens are not written."""

    def unchanged(layer: Any, *_: object, **__: object) -> tuple[torch.Tensor, torch.Tensor]:
        return layer.keys, layer.values

    monkeypatch.setattr(token_decoder._RoomyLayer, "update", unchanged)
    found = decoder_error(policy_of(partial(LlamaConfig, initializer_range=0.5), policy))
    assert found is not None
    assert found.startswith("log-probabilities are off by ")


def test_a_model_whose_pass_fails_is_refused_with_the_error(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(token_decoder._RoomyLayer, "update", fails)
    found = decoder_error(policy_of(LlamaConfig, policy))
    assert found == (
        "a pass over one token fails: operation not permitted when stream is capturing"
    )


def test_the_attention_of_packed_rows_is_there_again_afterwards(policy: Policy) -> None:
    one = policy_of(LlamaConfig, policy)
    enable_packing(one.model)
    assert decoder_error(one) is None
    sampled(one, Sampling(2, 4, 1.0, 1.0), own_decoder=True)
    assert one.model.config._attn_implementation == "packed"


def test_the_decoder_is_used_where_the_model_permits_and_on_a_gpu_the_setting(
    policy: Policy, capsys: pytest.CaptureFixture[str]
) -> None:
    on_gpu = DEVICE == "cuda"
    assert transformers_engine(policy, RolloutConfig())._own_decoder
    without = transformers_engine(policy, RolloutConfig(cuda_graphs=False))
    assert without._own_decoder != on_gpu
    assert capsys.readouterr().out == ""
    other = policy_of(OTHER_ATTENTION["window"], policy)
    assert transformers_engine(other, RolloutConfig())._own_decoder is False
    assert ("rollout.cuda_graphs: not with MistralForCausalLM" in capsys.readouterr().out) == on_gpu


@pytest.mark.parametrize(
    "settings",
    [
        {"dtype": "bfloat16"},
        {"autocast": "bfloat16"},
        {"dtype": "bfloat16", "lora": {"rank": 4, "alpha": 8}},
        pytest.param(FOUR_BITS, marks=pytest.mark.gpu),
    ],
    ids=str,
)
def test_each_precision_can_be_decoded(task: Path, settings: dict[str, Any]) -> None:
    """The log-probabilities are those that `generate` would have noted for the same tokens."""
    model = ModelConfig.model_validate({"path": str(task / "model"), "device": DEVICE, **settings})
    policy = load_policy(model)
    assert decoder_error(policy) is None
    sampling = Sampling(16, 16, 0.0, 1.0)
    found, expected = (sampled(policy, sampling, own_decoder=own) for own in (True, False))
    for group, other in zip(found, expected, strict=True):
        first, wanted = group.rollouts[0], other.rollouts[0]
        assert first.sampler_logprobs[0] == pytest.approx(wanted.sampler_logprobs[0], abs=0.1)


@pytest.mark.gpu
def test_a_model_that_waits_for_the_gpu_is_refused_before_it_is_captured(policy: Policy) -> None:
    """Dynamic frequencies depend on the longest position so far, which Python asks the GPU for."""
    scaling = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10_000.0}
    dynamic = partial(LlamaConfig, rope_parameters=scaling)
    assert "a pass over one token fails" in (decoder_error(policy_of(dynamic, policy)) or "")
    assert torch.rand(1, device="cuda") < 1
    assert decoder_error(policy_of(LlamaConfig, policy)) is None


@pytest.mark.gpu
def test_memory_of_graphs_is_used_again(task: Path) -> None:
    policy = load_policy(ModelConfig(path=str(task / "model"), device="cuda"))
    engine = TransformersEngine(policy, batch_size=64, own_decoder=True)
    reserved = []
    for _ in range(40):
        engine.generate(PROBLEMS, Sampling(8, 12, 1.0, 1.0), lambda index, group: None)
        reserved.append(torch.cuda.memory_reserved())
    assert reserved[-1] == reserved[4]


@pytest.mark.gpu
def test_python_computes_two_passes_and_graphs_the_others(task: Path) -> None:
    policy = load_policy(ModelConfig(path=str(task / "model"), device="cuda"))
    calls: list[int] = []
    forward = policy.model.forward

    def counted(*args: object, **kwargs: object) -> object:
        calls.append(1)
        return forward(*args, **kwargs)

    policy.model.forward = counted
    with torch.no_grad():
        policy.model.get_output_embeddings().weight[policy.eos_ids[0]] = 0
    groups = sampled(policy, Sampling(2, 40, 1.0, 1.0), own_decoder=True)
    lengths = [len(one.completion_ids) for group in groups for one in group.rollouts]
    assert max(lengths) > 20
    assert len(calls) <= 3 * (1 + len(groups) * 2)
    with sampling_policy(policy):
        assert token_decoder.decoder_error(policy.model) is None
