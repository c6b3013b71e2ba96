"""Packed micro-batches give what padded ones give."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    JetMoeConfig,
    LlamaConfig,
    MistralConfig,
    NemotronConfig,
    PretrainedConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen3Config,
)

from tests.trainer_client.runs import rollouts_of, run_config
from trainer_client.demo import sums_task
from trainer_client.learner import make_learner
from trainer_client.policy.logprobs import token_logprobs
from trainer_client.policy.packing import enable_packing, packed_states, supports_packing
from trainer_client.policy.saver_checks import packing_error
from trainer_client.update.batch import make_batch
from trainer_client.update.step import update_policy

LENGTHS = (9, 1, 4, 17, 2)
SHAPE = {
    "vocab_size": 60,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
JETMOE = JetMoeConfig(
    vocab_size=64,
    hidden_size=16,
    intermediate_size=32,
    num_hidden_layers=1,
    num_key_value_heads=2,
    kv_channels=8,
    num_local_experts=2,
    num_experts_per_tok=1,
    max_position_embeddings=64,
)
"""A model that takes a view of what its attention gives."""


def model_of(config: PretrainedConfig) -> PreTrainedModel:
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_config(config).eval()


def inputs() -> tuple[Tensor, Tensor, Tensor]:
    """Ids, attention mask, completion mask: each sequence has one token of prompt."""
    torch.manual_seed(1)
    attention_mask = torch.arange(max(LENGTHS))[None] < torch.tensor(LENGTHS)[:, None]
    completion = attention_mask.clone()
    completion[:, 0] = False
    return torch.randint(60, attention_mask.shape), attention_mask, completion


@pytest.mark.parametrize("config", [LlamaConfig, Qwen2Config, Qwen3Config])
def test_value_and_gradient_equal_those_of_padding(
    config: type[LlamaConfig | Qwen2Config | Qwen3Config],
) -> None:
    """Architectures with grouped queries too; and sequences do not see each other."""
    model = model_of(config(**SHAPE))
    assert supports_packing(model)
    enable_packing(model)
    ids, attention_mask, completion = inputs()
    factors = torch.randn(ids.shape)
    results = []
    for packed in (False, True):
        model.zero_grad()
        result = token_logprobs(
            model, ids, attention_mask, completion, temperature=0.8, packed=packed
        )
        (result.logprobs * factors).sum().backward()  # type: ignore[no-untyped-call]
        gradients = [parameter.grad.clone() for parameter in model.parameters()]
        results.append([result.logprobs, result.entropy, *gradients])
    for padded, packed_value in zip(*results, strict=True):
        torch.testing.assert_close(packed_value, padded, atol=1e-5, rtol=1e-5)


def test_padded_rows_are_as_before() -> None:
    """Generation pads, with the same attention implementation."""
    model = model_of(LlamaConfig(**SHAPE))
    ids, attention_mask, completion = inputs()
    before = token_logprobs(model, ids, attention_mask, completion, temperature=1.0).logprobs
    with pytest.raises(ValueError, match="need enable_packing"):
        token_logprobs(model, ids, attention_mask, completion, temperature=1.0, packed=True)
    enable_packing(model)
    after = token_logprobs(model, ids, attention_mask, completion, temperature=1.0).logprobs
    torch.testing.assert_close(after, before, atol=0, rtol=0)


def test_models_with_windows_or_other_attention_are_padded() -> None:
    """A window would have to be applied within each sequence."""
    assert not supports_packing(model_of(MistralConfig(**SHAPE, sliding_window=4)))
    model = model_of(LlamaConfig(**SHAPE))
    model.set_attn_implementation("eager")
    assert not supports_packing(model)


def nemotron(vocabulary: int = SHAPE["vocab_size"]) -> PreTrainedModel:
    """A model that says it takes any attention implementation, and passes no lengths on to it."""
    return model_of(NemotronConfig(**{**SHAPE, "vocab_size": vocabulary}, head_dim=8))


def test_packed_rows_without_their_lengths_are_an_error() -> None:
    """They would see each other."""
    model = nemotron()
    assert supports_packing(model)
    enable_packing(model)
    ids, attention_mask, _ = inputs()
    with pytest.raises(ValueError, match="does not pass sequence_lengths on"):
        packed_states(model, ids, attention_mask)


@pytest.mark.parametrize(
    "config",
    [LlamaConfig(**SHAPE), Qwen2Config(**SHAPE), Qwen3Config(**SHAPE), JETMOE],
    ids=lambda config: config.model_type,
)
def test_rows_that_stay_apart_may_be_packed(config: PretrainedConfig) -> None:
    model = model_of(config)
    enable_packing(model)
    assert packing_error(model) is None


def test_rows_that_see_each_other_are_noticed() -> None:
    """The attention may know the lengths while something else mixes the tokens."""
    model = model_of(LlamaConfig(**SHAPE))
    enable_packing(model)

    def mix(module: torch.nn.Module, arguments: object, states: Tensor) -> Tensor:
        return states + 10 * states.mean(dim=1, keepdim=True)

    model.model.layers[0].mlp.register_forward_hook(mix)
    error = packing_error(model)
    assert error is not None
    assert "packed sequences are off by" in error


def test_a_model_that_mixes_packed_rows_is_trained_on_padded_ones(
    task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The gradient is that of `train.packing: false`, and the console says so."""
    tokenizer = sums_task.make_tokenizer()
    nemotron(len(tokenizer)).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    norms = []
    for packing in (True, False):
        settings = run_config(
            task,
            tmp_path / "run",
            model={"path": str(tmp_path / "model")},
            train={"packing": packing},
        )
        learner = make_learner(settings)
        assert not learner.packs
        batch = make_batch(
            rollouts_of(1, 7, 3, 5), [1.0, -1.0, 0.5, 0.0], pad_id=0, device=learner.policy.device
        )
        norms.append(update_policy(learner, batch, settings)["policy/grad_norm"])
    assert norms[0] == norms[1]
    assert capsys.readouterr().out.count("not with NemotronForCausalLM") == 1
