"""The memory that a run will take, estimated from its configuration without loading weights.

The parts, in bytes, with P parameters of which T are trained, w bytes per weight:

| part | estimate |
|---|---|
| weights | P w |
| gradients | T w |
| optimizer | 2 T w (AdamW's two moments, in the weights' format) |
| reference | P w with a KL term and without LoRA, else 0 |
| KV cache | 2 * layers * key-value heads * head size * w, per token generated together |
| logits | 4 bytes * vocabulary * tokens of a chunk of the output layer * 4 copies |
| activations | a * tokens of a micro-batch * layers * (14 hidden + 4 intermediate sizes) |

The four copies are logits, scaled logits, log-softmax and a gradient. a is w, with `model.autocast`
2. With `train.gradient_checkpointing` only the inputs of layers are kept, w * tokens * layers *
hidden size, beside the activations of one layer and their gradients; without it, gradients reuse
the memory of activations that are no longer needed.

The step's peak is the larger of generating (weights, optimizer, reference, KV cache) and updating
(everything but the KV cache). With `train.offload` optimizer and reference are on the GPU for
updating only. Allocator overhead and the CUDA context (about 1 GB) come on top.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PretrainedConfig

from trainer_client.config.run_config import Config, ConfigError
from trainer_client.config.sections import LoraConfig, RolloutConfig
from trainer_client.errors import not_loaded
from trainer_client.policy.output_layer import CHUNK_TOKENS

LOGIT_COPIES = 4
HIDDEN_ACTIVATIONS = 14
"""Numbers of the hidden size that a layer keeps for each token."""
INTERMEDIATE_ACTIVATIONS = 4
"""Numbers of the intermediate size that a layer keeps for each token."""


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes of each part of a run's memory."""

    weights: int
    gradients: int
    optimizer: int
    reference: int
    kv_cache: int
    logits: int
    activations: int
    offloads: bool = False
    """Whether optimizer and reference leave the GPU while completions are sampled."""

    @property
    def parts(self) -> dict[str, int]:
        """Name of each part -> bytes."""
        return {name: size for name, size in asdict(self).items() if name != "offloads"}

    @property
    def generating(self) -> int:
        """Bytes while completions are sampled."""
        state = 0 if self.offloads else self.optimizer + self.reference
        return self.weights + state + self.kv_cache

    @property
    def updating(self) -> int:
        """Bytes while gradients are computed."""
        return sum(self.parts.values()) - self.kv_cache

    @property
    def peak(self) -> int:
        """Bytes at the step's peak."""
        return max(self.generating, self.updating)


def estimate_memory(config: Config, *, prompt_tokens: int) -> MemoryEstimate:
    """The estimate by this file's table; raises ConfigError if the model cannot be read.

    Args:
        config: the run's.
        prompt_tokens: length of a prompt.
    """
    try:
        model = AutoConfig.from_pretrained(config.model.path).get_text_config()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"model.path: cannot read {not_loaded(error, config.model.path, 'model.path')}"
        ) from error
    total, adapters = _count_parameters(model, config.model.lora)
    width = torch.finfo(getattr(torch, config.model.dtype)).bits // 8
    base_bytes = int(total * (0.5 if config.model.quantization else width))
    trained = adapters if config.model.lora else total
    trained_width = 4 if config.model.lora else width  # peft keeps adapters in float32
    copy = config.needs_reference and not config.model.lora
    length = prompt_tokens + config.rollout.max_completion_tokens
    rows = max(1, config.train.micro_batch_tokens // length)
    return MemoryEstimate(
        weights=base_bytes + (trained * trained_width if config.model.lora else 0),
        gradients=trained * trained_width,
        optimizer=2 * trained * trained_width,
        reference=base_bytes if copy else 0,
        kv_cache=_generated_together(config.rollout) * length * width * _kv_numbers(model),
        logits=4
        * LOGIT_COPIES
        * model.vocab_size
        * min(CHUNK_TOKENS, rows * config.rollout.max_completion_tokens),
        activations=rows
        * length
        * _activation_bytes_per_token(
            model,
            width=width,
            computed_width=2 if config.model.autocast else width,
            gradient_checkpointing=config.train.gradient_checkpointing,
        ),
        # On a CPU the state stays in the same memory.
        offloads=config.train.offload and config.model.device != "cpu",
    )


def _activation_bytes_per_token(
    model: PretrainedConfig, *, width: int, computed_width: int, gradient_checkpointing: bool
) -> int:
    layer = computed_width * (
        HIDDEN_ACTIVATIONS * model.hidden_size + INTERMEDIATE_ACTIVATIONS * model.intermediate_size
    )
    if gradient_checkpointing:
        return int(model.num_hidden_layers * model.hidden_size * width + 2 * layer)
    return int(model.num_hidden_layers * layer)


def _generated_together(rollout: RolloutConfig) -> int:
    """Completions that are sampled at the same time."""
    groups = max(1, rollout.batch_size // rollout.group_size)
    return min(groups, rollout.prompts_per_step) * rollout.group_size


def _kv_numbers(model: PretrainedConfig) -> int:
    """Numbers that the cache holds for one token."""
    head_size: int = (
        getattr(model, "head_dim", None) or model.hidden_size // model.num_attention_heads
    )
    heads: int = getattr(model, "num_key_value_heads", None) or model.num_attention_heads
    return int(2 * model.num_hidden_layers * heads * head_size)


def _count_parameters(model: PretrainedConfig, lora: LoraConfig | None) -> tuple[int, int]:
    """The numbers of parameters of the model and of its adapters, 0 without LoRA."""
    with torch.device("meta"):
        module = AutoModelForCausalLM.from_config(model)
    total = sum(parameter.numel() for parameter in module.parameters())
    if lora is None:
        return total, 0
    wanted = lora.target_modules
    adapters = 0
    for name, layer in module.named_modules():
        chosen = (
            layer is not module.get_output_embeddings()
            if wanted == "all-linear"
            else name.rpartition(".")[2] in ([wanted] if isinstance(wanted, str) else wanted)
        )
        if isinstance(layer, torch.nn.Linear) and chosen:
            adapters += lora.rank * (layer.in_features + layer.out_features)
    return total, adapters
