"""Packed micro-batches give what padded ones give."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    MistralConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen3Config,
)

from trainer_client.logprobs import token_logprobs
from trainer_client.packing import enable_packing, supports_packing

LENGTHS = (9, 1, 4, 17, 2)
SHAPE = {
    "vocab_size": 60,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def model_of(config: LlamaConfig | Qwen2Config | Qwen3Config | MistralConfig) -> PreTrainedModel:
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
    """For architectures with grouped queries; also that sequences do not see each other."""
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
