"""The memory that a run will take, estimated from its configuration without torch and weights.

The parts, in bytes, with P parameters of which T are trained, w bytes per weight, B completions
generated together:

| part | estimate |
|---|---|
| weights | P w |
| gradients | T w |
| optimizer | 2 T w (AdamW's two moments, in the weights' format) |
| reference | P w with a KL term and without LoRA, else 0 |
| KV cache | 2 * layers * key-value heads * head size * w, per token generated together |
| sampling | 4 bytes * vocabulary * B * 4 copies + one layer's activations of the prompts, each read once |
| logits | 4 bytes * vocabulary * tokens of a chunk of the output layer * 4 copies |
| activations | a * tokens of a micro-batch * layers * (14 hidden + 4 intermediate sizes) |

The four copies are logits, scaled logits, log-softmax and a gradient or a draw. a is w, with
`model.autocast` 2. With `train.gradient_checkpointing` only the inputs of layers are kept,
w * tokens * layers * hidden size, beside the activations of one layer and their gradients; without
it, gradients reuse the memory of activations that are no longer needed.

The step's peak is the larger of generating (weights, optimizer, reference, KV cache, sampling) and
updating (everything but KV cache and sampling). With `train.offload` optimizer and reference are on
the GPU for updating only. With `rollout.engine: vllm_server` completions take memory of the server.
Allocator overhead and the CUDA context (about 1 GB) come on top.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from trainer_client.config.run_config import Config, ConfigError
from trainer_client.config.sections import LoraConfig
from trainer_client.model_files import ModelFiles, Shapes, find_model, number_of
from trainer_client.policy.output_chunk import CHUNK_TOKENS

BYTES_PER_WEIGHT = {"float32": 4, "bfloat16": 2}
LOGIT_COPIES = 4
HIDDEN_ACTIVATIONS = 14
"""Numbers of the hidden size that a layer keeps for each token."""
INTERMEDIATE_ACTIVATIONS = 4
"""Numbers of the intermediate size that a layer keeps for each token."""
NOT_ADAPTED = frozenset({"lm_head", "wte", "wpe"})
"""Matrices that `all-linear` leaves out beside those with `embed` in their names: the output layer
and GPT-2's embeddings."""


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes of each part of a run's memory."""

    weights: int
    gradients: int
    optimizer: int
    reference: int
    kv_cache: int
    sampling: int
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
        return self.weights + state + self.kv_cache + self.sampling

    @property
    def updating(self) -> int:
        """Bytes while gradients are computed."""
        return sum(self.parts.values()) - self.kv_cache - self.sampling

    @property
    def peak(self) -> int:
        """Bytes at the step's peak."""
        return max(self.generating, self.updating)

    @property
    def peak_parts(self) -> dict[str, int]:
        """The parts that are there at the step's peak."""
        sampled = {"kv_cache", "sampling"}
        if self.updating >= self.generating:
            return {name: size for name, size in self.parts.items() if name not in sampled}
        state = set() if self.offloads else {"optimizer", "reference"}
        wanted = {"weights", *state, *sampled}
        return {name: size for name, size in self.parts.items() if name in wanted}

    @property
    def state(self) -> int:
        """Bytes of what an update needs however small its micro-batches are."""
        return self.weights + self.gradients + self.optimizer + self.reference


def estimate_memory(
    config: Config, *, prompt_tokens: int, files: ModelFiles | None = None
) -> MemoryEstimate:
    """The estimate by this file's table; raises ConfigError if the model cannot be read.

    Args:
        config: the run's.
        prompt_tokens: length of a prompt.
        files: the model's, if they are known.
    """
    files = files or find_model(config.model.path)
    model, shapes = files.config(), files.shapes()
    if not shapes:
        raise ConfigError(
            f"model.path: {config.model.path!r} has no safetensors files, whose headers tell the "
            "number of weights, so memory cannot be estimated"
        )
    total, adapters = sum(map(prod, shapes.values())), _adapter_weights(shapes, config.model.lora)
    width = BYTES_PER_WEIGHT[config.model.dtype]
    computed_width = 2 if config.model.autocast else width
    base_bytes = int(total * (0.5 if config.model.quantization else width))
    trained = adapters if config.model.lora else total
    trained_width = 4 if config.model.lora else width  # peft keeps adapters in float32
    teacher = config.loss.teacher
    copy = config.needs_reference and not config.model.lora and teacher is None
    reference_bytes = base_bytes if copy else 0
    if teacher is not None:
        taught_by = find_model(teacher).shapes()
        reference_bytes = width * sum(map(prod, taught_by.values()))
    length = prompt_tokens + config.rollout.max_completion_tokens
    rows = max(1, config.train.micro_batch_tokens // length)
    together = _generated_together(config)
    layer = _layer_bytes_per_token(model, computed_width)
    logit_bytes = 4 * LOGIT_COPIES * number_of(model, "vocab_size")
    return MemoryEstimate(
        weights=base_bytes + (trained * trained_width if config.model.lora else 0),
        gradients=trained * trained_width,
        optimizer=2 * trained * trained_width,
        reference=reference_bytes,
        kv_cache=together * length * width * _kv_numbers(model),
        sampling=together * logit_bytes + _prompts_together(config) * prompt_tokens * layer,
        logits=logit_bytes * min(CHUNK_TOKENS, rows * config.rollout.max_completion_tokens),
        activations=rows * length * _activation_bytes_per_token(model, config, width, layer),
        # On a CPU the state stays in the same memory.
        offloads=config.train.offload and config.model.device != "cpu",
    )


def _activation_bytes_per_token(
    model: Mapping[str, Any], config: Config, width: int, layer: int
) -> int:
    """Bytes of a token's activations in all layers.

    Args:
        model: the model's configuration.
        config: the run's.
        width: bytes per weight.
        layer: bytes of a token's activations in one layer.
    """
    num_layers = number_of(model, "num_hidden_layers")
    if config.train.gradient_checkpointing:
        return num_layers * number_of(model, "hidden_size") * width + 2 * layer
    return num_layers * layer


def _layer_bytes_per_token(model: Mapping[str, Any], computed_width: int) -> int:
    return computed_width * (
        HIDDEN_ACTIVATIONS * number_of(model, "hidden_size")
        + INTERMEDIATE_ACTIVATIONS * number_of(model, "intermediate_size")
    )


def _generated_together(config: Config) -> int:
    """Completions that the trainer's own engine samples at the same time, at most.

    A group is never split, however large it is.
    """
    if config.rollout.engine == "vllm_server":
        return 0
    rollout = config.rollout
    groups = max(1, rollout.batch_size // rollout.group_size)
    return min(groups, rollout.prompts_per_step) * rollout.group_size


def _prompts_together(config: Config) -> int:
    """Prompts that the trainer's own engine reads at the same time, at most.

    The turns of an environment after the first have contexts of their own.
    """
    together = _generated_together(config)
    alone = config.rollout.environment is not None or config.rollout.engine != "transformers"
    return together if alone else together // config.rollout.group_size


def _kv_numbers(model: Mapping[str, Any]) -> int:
    """Numbers that the cache holds for one token."""
    heads = number_of(model, "num_attention_heads")
    head_size = model.get("head_dim") or number_of(model, "hidden_size") // heads
    kv_heads = model.get("num_key_value_heads") or heads
    return int(2 * number_of(model, "num_hidden_layers") * kv_heads * head_size)


def _adapter_weights(shapes: Shapes, lora: LoraConfig | None) -> int:
    """The number of weights of the adapters, 0 without LoRA: of matrices but the output layer's."""
    if lora is None:
        return 0
    return sum(
        lora.rank * sum(shape)
        for name, shape in shapes.items()
        if len(shape) == 2 and _has_adapter(name.removesuffix(".weight"), lora.target_modules)
    )


def _has_adapter(module: str, wanted: str | tuple[str, ...]) -> bool:
    """Whether LoRA adapts the module of a matrix, by its dotted name."""
    last = module.rpartition(".")[2]
    if wanted == "all-linear":
        return last not in NOT_ADAPTED and "embed" not in last
    return last in ((wanted,) if isinstance(wanted, str) else wanted)
