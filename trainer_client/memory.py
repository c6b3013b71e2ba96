"""How much memory a run will take, estimated from its configuration without loading weights.

The parts, in bytes, with P parameters of which T are trained, w bytes per weight:

| part | estimate |
|---|---|
| weights | P w |
| gradients | T w |
| optimizer | 2 T w (AdamW's two moments, in the weights' format) |
| reference | P w with a KL term and without LoRA, else 0 |
| KV cache | 2 * layers * key-value heads * head size * w, per token generated together |
| logits | 4 bytes * vocabulary * tokens of a chunk of the output layer * 4 copies |
| activations | w * tokens of a micro-batch * layers * (14 hidden + 4 intermediate sizes) |

The four copies are logits, scaled logits, log-softmax and a gradient; activations are those without
checkpointing.

The step's peak is the larger of generating (weights, optimizer, reference, KV cache) and updating
(everything but the KV cache). Allocator overhead and the CUDA context (about 1 GB) come on top.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PretrainedConfig

from trainer_client.config import Config, ConfigError
from trainer_client.output_layer import CHUNK_TOKENS

PROMPT_TOKENS = 256
"""Assumed length of a prompt: the estimate reads no data."""
LOGIT_COPIES = 4
HIDDEN_ACTIVATIONS = 14
INTERMEDIATE_ACTIVATIONS = 4


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes of each part."""

    weights: int
    gradients: int
    optimizer: int
    reference: int
    kv_cache: int
    logits: int
    activations: int

    @property
    def generating(self) -> int:
        """Bytes while completions are sampled."""
        return self.weights + self.optimizer + self.reference + self.kv_cache

    @property
    def updating(self) -> int:
        """Bytes while gradients are computed."""
        total: int = sum(getattr(self, field.name) for field in fields(self))
        return total - self.kv_cache

    @property
    def peak(self) -> int:
        """The larger of the two."""
        return max(self.generating, self.updating)


def estimate_memory(config: Config, *, prompt_tokens: int = PROMPT_TOKENS) -> MemoryEstimate:
    """The estimate of this file's table; raises ConfigError when there is no such model.

    Args:
        config: of the run.
        prompt_tokens: length of a prompt.
    """
    try:
        model = AutoConfig.from_pretrained(config.model.path).get_text_config()
    except (OSError, ValueError) as error:
        raise ConfigError(f"model.path: cannot read {config.model.path!r}: {error}") from error
    total, adapters = _count_parameters(model, config)
    width = torch.finfo(getattr(torch, config.model.dtype)).bits // 8
    base_bytes = int(total * (0.5 if config.model.quantization else width))
    trained = adapters if config.model.lora else total
    trained_width = 4 if config.model.lora else width  # peft keeps adapters in float32
    copy = config.loss.kl_coefficient and not config.model.lora
    length = prompt_tokens + config.rollout.max_completion_tokens
    rows = max(1, config.train.micro_batch_tokens // length)
    return MemoryEstimate(
        weights=base_bytes + (trained * trained_width if config.model.lora else 0),
        gradients=trained * trained_width,
        optimizer=2 * trained * trained_width,
        reference=base_bytes if copy else 0,
        kv_cache=_kv_bytes_per_token(model) * width * length * _generated_together(config),
        logits=4
        * LOGIT_COPIES
        * model.vocab_size
        * min(CHUNK_TOKENS, rows * config.rollout.max_completion_tokens),
        activations=width
        * rows
        * length
        * model.num_hidden_layers
        * (
            HIDDEN_ACTIVATIONS * model.hidden_size
            + INTERMEDIATE_ACTIVATIONS * model.intermediate_size
        ),
    )


def _generated_together(config: Config) -> int:
    group = config.rollout.group_size
    groups = max(1, config.rollout.batch_size // group)
    return min(groups, config.rollout.prompts_per_step) * group


def _kv_bytes_per_token(model: PretrainedConfig) -> int:
    """Numbers of the cache per token and per byte of width."""
    head_size: int = (
        getattr(model, "head_dim", None) or model.hidden_size // model.num_attention_heads
    )
    heads: int = getattr(model, "num_key_value_heads", None) or model.num_attention_heads
    return int(2 * model.num_hidden_layers * heads * head_size)


def _count_parameters(model: PretrainedConfig, config: Config) -> tuple[int, int]:
    """Of the model, and of adapters on every linear layer but the last."""
    with torch.device("meta"):
        module = AutoModelForCausalLM.from_config(model)
    total = sum(parameter.numel() for parameter in module.parameters())
    if config.model.lora is None:
        return total, 0
    wanted = config.model.lora.target_modules
    rank = config.model.lora.rank
    adapters = 0
    for name, layer in module.named_modules():
        chosen = (
            layer is not module.get_output_embeddings()
            if wanted == "all-linear"
            else name.rpartition(".")[2] in ([wanted] if isinstance(wanted, str) else wanted)
        )
        if isinstance(layer, torch.nn.Linear) and chosen:
            adapters += rank * (layer.in_features + layer.out_features)
    return total, adapters
