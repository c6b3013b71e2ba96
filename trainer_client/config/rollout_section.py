"""The section `rollout` of a configuration: sampling, its engine, episodes and replay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from trainer_client.config.section import NonNegativeInt, PositiveFloat, PositiveInt, Section

ADDRESS_PATTERN = r"^https?://\S+$"
SHIPPED_ENVIRONMENTS = (
    "python_tool",
    "search_tool",
    "functions",
    "verifier_feedback",
    "openenv",
    "verifiers",
)
"""Names of the environments of this package (`trainer_client.episodes.environment_source`)."""
ENVIRONMENT_PATTERN = rf"^({'|'.join(SHIPPED_ENVIRONMENTS)}|.+\.py:\w+|\w+(\.\w+)*:\w+)$"
LoraWeights = Literal["auto", "adapter", "merged"]


class VllmConfig(Section):
    """`rollout.engine: vllm`, an engine in the trainer's own process (`rollout.vllm`)."""

    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.3, description="share of the GPU's memory for its weights and KV cache"
    )
    max_model_tokens: PositiveInt | None = Field(
        default=None, description="prompt and completion together; null: the model's own limit"
    )
    compile: bool = Field(
        default=True, description="false: the engine starts sooner and samples slower"
    )


class VllmServerConfig(Section):
    """`rollout.engine: vllm_server`, stock vLLM servers over HTTP (`rollout.vllm_server`)."""

    urls: tuple[Annotated[str, Field(pattern=ADDRESS_PATTERN)], ...] = Field(
        default=("http://127.0.0.1:8000",),
        min_length=1,
        description="groups are sent to the servers in turn",
    )
    deadline_seconds: PositiveFloat = Field(
        default=600.0,
        description="time limit for sampling one step's groups, and for one weight update",
    )
    weight_transfer: Literal["disk", "nccl", "ipc"] = Field(
        default="disk",
        description="disk: safetensors in a folder that the servers see too, works everywhere; "
        "nccl: broadcast to other GPUs; ipc: shared memory of the same GPU",
    )
    weights_dir: Path | None = Field(
        default=None, description="for disk; null: server_weights in the run's folder"
    )


class EnvironmentConfig(Section):
    """Completions of several turns (`trainer_client.episodes`): messages and observations."""

    path: str = Field(
        pattern=ENVIRONMENT_PATTERN,
        description="file.py:name or package.module:name of a class or function that makes one "
        "environment, or python_tool, search_tool, functions, verifier_feedback, openenv or "
        "verifiers",
    )
    options: dict[str, Any] = Field(default={}, description="arguments that it is called with")
    max_turns: PositiveInt = Field(
        default=8, description="messages of the policy in one episode; more truncate it"
    )
    max_turn_tokens: PositiveInt | None = Field(
        default=None,
        description="longest message; null: what rollout.max_completion_tokens leaves, which "
        "bounds the whole episode with its observations",
    )
    max_seconds: PositiveFloat = Field(
        default=300.0,
        description="time of one episode in its environment, without sampling and without waits "
        "for the service; a longer wait for the service loses the group",
    )
    max_open: PositiveInt = Field(
        default=64,
        description="episodes that are under way at once; one past its time limit is not, although "
        "its environment lives until its call returns",
    )
    judged: Literal["last_message", "all_messages", "chat"] = Field(
        default="last_message",
        description="text that is scored: the policy's last message, all of its messages, or the "
        "chat with calls and observations, as messages on the wire",
    )


class ReplayConfig(Section):
    """Solved completions of earlier steps in groups without one (`rollout.replay`)."""

    per_group: PositiveInt = Field(
        default=1, description="completions of a group that are replaced, at most all but one"
    )
    max_age_steps: PositiveInt = Field(
        default=100, description="steps after which a solved completion is forgotten"
    )


class RolloutConfig(Section):
    """How completions are sampled; a step samples prompts_per_step * group_size of them."""

    engine: Literal["transformers", "vllm", "vllm_server"] = "transformers"
    vllm: VllmConfig = VllmConfig()
    vllm_server: VllmServerConfig = VllmServerConfig()
    prompts_per_step: PositiveInt = 8
    group_size: Annotated[int, Field(ge=2)] = Field(
        default=8, description="completions of one problem, G"
    )
    temperature: PositiveFloat = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    top_k: PositiveInt | None = Field(
        default=None, description="draw among so many of the likeliest tokens; null: all"
    )
    min_p: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.0,
        description="draw among tokens of at least so much of the likeliest one's probability "
        "(arXiv 2407.01082)",
    )
    repetition_penalty: PositiveFloat = Field(
        default=1.0,
        description="divides positive logits of tokens that prompt or completion have, multiplies "
        "negative ones (CTRL, arXiv 1909.05858)",
    )
    stop: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(),
        description="texts that end a completion, which keeps them; the tokens after them are "
        "neither judged nor trained on",
    )
    lora_weights: LoraWeights = Field(
        default="auto",
        description="what vLLM gets before each step under model.lora: the adapter alone, or the "
        "whole weights with the adapter merged; auto: the adapter where vLLM can take it",
    )
    max_completion_tokens: PositiveInt = 512
    batch_size: PositiveInt = Field(
        default=64,
        description="completions generated at once, rounded down to whole groups, at least one",
    )
    cuda_graphs: bool = Field(
        default=True,
        description="on a GPU the transformers engine computes each token by a CUDA graph, which "
        "takes a fraction of the time; where the model cannot be captured, the run says so and "
        "samples without; on a CPU it decodes by the same loop without graphs in any case",
    )
    environment: EnvironmentConfig | None = Field(
        default=None, description="null: completions have one turn"
    )
    replay: ReplayConfig | None = Field(
        default=None,
        description="in a group without a solved completion, one of an earlier step takes the "
        "place of a failed one (ARPO, arXiv 2505.16282); null: never",
    )
    max_refills: NonNegativeInt = Field(
        default=0,
        description="with advantage.zero_variance drop: how often a step samples further problems "
        "in place of dropped groups",
    )
