"""The memory that a run will take, estimated from its configuration without torch and weights.

The parts, in bytes, with P parameters of which T are trained, w bytes per weight, B completions
generated together:

| part | estimate |
|---|---|
| weights | P w; in 4 bits 0.516 bytes for weights of linear layers, w for the others |
| gradients | T w |
| optimizer | AdamW: 2 T w, its two moments in the weights' format; in 8 bits 2 T; Muon: T w |
| reference | P w with a KL term and without LoRA, else 0 |
| reward models | weights of each in `reward.models`, in the type in which they are stored |
| KV cache | 2 * layers * key-value heads * head size * w, per token generated together |
| sampling | 4 bytes * vocabulary * B * 4 copies + one layer's activations of the prompts |
| logits | 4 bytes * vocabulary * tokens of a chunk of the output layer * 4 copies |
| activations | tokens of a micro-batch * layers * (10 a + 4 w hidden, 4 a intermediate sizes) |
| weights in the type of autocast | 2 T, where `model.autocast` has another than the weights |
| vLLM | `rollout.vllm.gpu_memory_utilization` of the GPU, while it samples |

The four copies are logits, scaled logits, log-softmax and a gradient or a draw. a is w, with
`model.autocast` 2; the sums between layers stay in the weights' type. With
`train.gradient_checkpointing` only the inputs of layers are kept, w * tokens * layers * hidden
size, beside the activations of one layer and their gradients; without it, gradients reuse the
memory of activations that are no longer needed. With `train.offload_activations` those of one layer
and their gradients alone are on the GPU.

The step's peak is the larger of generating (weights, optimizer, reference, KV cache, sampling) and
updating (everything but KV cache and sampling). With `train.offload` optimizer and reference are on
the GPU for updating only. Completions of vLLM take its own memory: with `vllm_server` the server's.
Allocator overhead and the CUDA context (about 1 GB) come on top.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from trainer_client.config.model_section import LoraConfig
from trainer_client.config.reward_sections import RewardModelConfig
from trainer_client.config.run_config import Config, ConfigError
from trainer_client.given_objects import is_given
from trainer_client.model_files import ModelFiles, Shapes, find_model, number_of
from trainer_client.policy.output_chunk import CHUNK_TOKENS

BYTES_PER_WEIGHT = {"float32": 4, "bfloat16": 2, "float16": 2}
FOUR_BIT_BYTES = 0.516
"""Bytes of a weight in NF4: half a byte, and its part of the scales, which are quantized too."""
LOGIT_COPIES = 4
HIDDEN_ACTIVATIONS = 10
"""Numbers of the hidden size that a layer keeps for each token in the type that it computes in."""
SUM_ACTIVATIONS = 4
"""Numbers of the hidden size that it keeps in the weights' type: the sums of layers."""
INTERMEDIATE_ACTIVATIONS = 4
"""Numbers of the intermediate size that a layer keeps for each token."""
MOMENT_BYTES: dict[str, Callable[[int], int]] = {
    "adamw": lambda width: 2 * width,
    "adamw_8bit": lambda width: 2,
    "muon": lambda width: width,
}
"""Bytes of the optimizer's state for a weight of so many bytes; Muon's without embeddings."""
SAMPLING_PARTS = frozenset({"vllm", "kv_cache", "sampling"})
"""Parts that are there only while completions are sampled."""
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
    reward_models: int
    vllm: int
    kv_cache: int
    sampling: int
    logits: int
    activations: int
    autocast_weights: int
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
        return self.weights + state + self.reward_models + self._of_sampling

    @property
    def updating(self) -> int:
        """Bytes while gradients are computed."""
        return sum(self.parts.values()) - self._of_sampling

    @property
    def _of_sampling(self) -> int:
        return sum(size for name, size in self.parts.items() if name in SAMPLING_PARTS)

    @property
    def peak(self) -> int:
        """Bytes at the step's peak."""
        return max(self.generating, self.updating)

    @property
    def peak_parts(self) -> dict[str, int]:
        """The parts that are there at the step's peak."""
        if self.updating >= self.generating:
            return {name: size for name, size in self.parts.items() if name not in SAMPLING_PARTS}
        state = set() if self.offloads else {"optimizer", "reference"}
        wanted = {"weights", "reward_models", *state, *SAMPLING_PARTS}
        return {name: size for name, size in self.parts.items() if name in wanted}

    @property
    def state(self) -> int:
        """Bytes of what an update needs however small its micro-batches are."""
        kept = self.weights + self.gradients + self.optimizer + self.autocast_weights
        return kept + self.reference + self.reward_models


def estimate_memory(
    config: Config,
    *,
    prompt_tokens: int,
    files: ModelFiles | None = None,
    gpu_bytes: int | None = None,
) -> MemoryEstimate:
    """The estimate by this file's table; raises ConfigError if the model cannot be read.

    Args:
        config: the run's.
        prompt_tokens: length of a prompt.
        files: the model's, if they are known.
        gpu_bytes: all memory of the GPU, of which vLLM takes its share; None: it is not counted.
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
    base_bytes = _weight_bytes(shapes, width, four_bit=config.model.quantization is not None)
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
    layer = _layer_bytes_per_token(model, computed_width, width)
    logit_bytes = 4 * LOGIT_COPIES * number_of(model, "vocab_size")
    return MemoryEstimate(
        weights=base_bytes + (trained * trained_width if config.model.lora else 0),
        gradients=trained * trained_width,
        optimizer=MOMENT_BYTES[config.optimizer.type](trained_width) * trained,
        reference=reference_bytes,
        reward_models=sum(map(_reward_model_bytes, config.reward.models)),
        vllm=_vllm_bytes(config, gpu_bytes),
        kv_cache=together * length * width * _kv_numbers(model),
        sampling=together * logit_bytes + _prompts_together(config) * prompt_tokens * layer,
        logits=logit_bytes * min(CHUNK_TOKENS, rows * config.rollout.max_completion_tokens),
        activations=rows * length * _activation_bytes_per_token(model, config, width, layer),
        autocast_weights=2 * trained if computed_width != trained_width else 0,
        # On a CPU the state stays in the same memory.
        offloads=config.train.offload and config.model.device != "cpu",
    )


def _weight_bytes(shapes: Shapes, width: int, *, four_bit: bool) -> int:
    """Bytes of a model's weights; in 4 bits embeddings, norms and output layer keep their type."""
    sizes = {name: prod(shape) for name, shape in shapes.items()}
    packed = sum(
        size
        for name, size in sizes.items()
        if four_bit and len(shapes[name]) == 2 and _has_adapter(_module(name), "all-linear")
    )
    return int(packed * FOUR_BIT_BYTES) + (sum(sizes.values()) - packed) * width


def _reward_model_bytes(config: RewardModelConfig) -> int:
    """Bytes of a classifier's weights, 0 where it is given as an object or is on the CPU."""
    if config.device == "cpu" or is_given(config.path):
        return 0
    files = find_model(config.path, "reward.models")
    model = files.config()
    width = BYTES_PER_WEIGHT.get(str(model.get("dtype") or model.get("torch_dtype")), 4)
    return _weight_bytes(files.shapes(), width, four_bit=config.quantization is not None)


def _vllm_bytes(config: Config, gpu_bytes: int | None) -> int:
    """Bytes that vLLM takes in the trainer's own process while it is awake."""
    if config.rollout.engine != "vllm" or gpu_bytes is None:
        return 0
    return int(config.rollout.vllm.gpu_memory_utilization * gpu_bytes)


def _activation_bytes_per_token(
    model: Mapping[str, Any], config: Config, width: int, layer: int
) -> int:
    """Bytes of a token's activations in all layers that are on the GPU together.

    Args:
        model: the model's configuration.
        config: the run's.
        width: bytes per weight.
        layer: bytes of a token's activations in one layer.
    """
    num_layers = number_of(model, "num_hidden_layers")
    # On a CPU they wait in the same memory.
    if config.train.offload_activations and config.model.device != "cpu":
        return 2 * layer
    if config.train.gradient_checkpointing:
        return num_layers * number_of(model, "hidden_size") * width + 2 * layer
    return num_layers * layer


def _layer_bytes_per_token(model: Mapping[str, Any], computed_width: int, width: int) -> int:
    hidden, intermediate = (number_of(model, f"{name}_size") for name in ("hidden", "intermediate"))
    computed = HIDDEN_ACTIVATIONS * hidden + INTERMEDIATE_ACTIVATIONS * intermediate
    return computed_width * computed + width * SUM_ACTIVATIONS * hidden


def _generated_together(config: Config) -> int:
    """Completions that the trainer's own engine samples at the same time, at most.

    A group is never split, however large it is.
    """
    rollout = config.rollout
    if rollout.engine != "transformers":
        return 0
    groups = max(1, rollout.batch_size // rollout.group_size)
    return min(groups, rollout.prompts_per_step) * rollout.group_size


def _prompts_together(config: Config) -> int:
    """Prompts that the trainer's own engine reads at the same time, at most.

    The turns of an environment after the first have contexts of their own.
    """
    together = _generated_together(config)
    if config.rollout.environment is not None:
        return together
    return together // config.rollout.group_size


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
        if len(shape) == 2 and _has_adapter(_module(name), lora.target_modules)
    )


def _module(name: str) -> str:
    """The dotted name of the module that a weight is of."""
    return name.removesuffix(".weight")


def _has_adapter(module: str, wanted: str | tuple[str, ...]) -> bool:
    """Whether LoRA adapts the module of a matrix, by its dotted name."""
    last = module.rpartition(".")[2]
    if wanted == "all-linear":
        return last not in NOT_ADAPTED and "embed" not in last
    return last in ((wanted,) if isinstance(wanted, str) else wanted)
