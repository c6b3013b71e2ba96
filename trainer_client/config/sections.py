"""The sections of a configuration; `trainer_client.config.run_config` puts them together.

Units are in the names; a description adds what the name cannot say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

SYSTEM_PROMPT = (
    "Solve the problem. First reason step by step between <think> and </think>, then give only "
    "the final answer between <answer> and </answer>:\n"
    "<think>\nyour reasoning\n</think>\n<answer>\nyour final answer\n</answer>"
)

TAKEN_TEMPLATE_VARIABLES = frozenset(
    [
        "add_generation_prompt",
        "chat_template",
        "continue_final_message",
        "conversation",
        "max_length",
        "messages",
        "padding",
        "return_assistant_tokens_mask",
        "return_dict",
        "return_tensors",
        "tokenize",
        "tokenizer_kwargs",
        "truncation",
    ]
)
"""Arguments of `apply_chat_template` that are no variables for a user to set."""

ADDRESS_PATTERN = r"^https?://\S+$"
ENVIRONMENT_PATTERN = (
    r"^(python_tool|search_tool|functions|verifier_feedback|openenv|verifiers"
    r"|.+\.py:\w+|\w+(\.\w+)*:\w+)$"
)

PositiveInt = Annotated[int, Field(gt=0)]
PositiveFloat = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegativeInt = Annotated[int, Field(ge=0)]
NonNegativeFloat = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Decay = Annotated[float, Field(ge=0, lt=1)]

LoraWeights = Literal["auto", "adapter", "merged"]


class Section(BaseModel):
    """A section of the configuration: typed, frozen, and strict about unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class LoraConfig(Section):
    """Low-rank adapters on a frozen base model (arXiv 2106.09685), through peft."""

    rank: PositiveInt = 16
    alpha: PositiveFloat = Field(default=32.0, description="the adapter is scaled by alpha / rank")
    target_modules: str | tuple[str, ...] = Field(
        default="all-linear",
        description="names of modules; all-linear: all linear layers but the output layer",
    )
    rank_stabilized: bool = Field(
        default=False,
        description="scale by alpha / sqrt(rank), so that a large rank learns as fast as a small "
        "one (rsLoRA, arXiv 2312.03732)",
    )
    dora: bool = Field(
        default=False,
        description="train the length of each weight's columns apart from their direction (DoRA, "
        "arXiv 2402.09353); slower, and vLLM gets the merged weights",
    )


class ModelConfig(Section):
    """The policy."""

    path: str = Field(description="Hugging Face model name or folder")
    dtype: Literal["float32", "bfloat16"] = Field(
        default="float32", description="type of the weights that are trained"
    )
    autocast: Literal["bfloat16"] | None = Field(
        default=None,
        description="bfloat16: compute in it where that is safe, with float32 master weights",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="auto: cuda where there is one"
    )
    chat_template: Path | None = Field(
        default=None, description="Jinja file, where the tokenizer has no template or a wrong one"
    )
    lora: LoraConfig | None = Field(default=None, description="null: all weights are trained")
    quantization: Literal["4bit"] | None = Field(
        default=None,
        description="stores the frozen base model under lora in 4 bits (QLoRA); needs CUDA, "
        "bitsandbytes and rollout.engine transformers",
    )

    @model_validator(mode="after")
    def _quantized_weights_are_frozen(self) -> ModelConfig:
        if self.quantization is not None and self.lora is None:
            raise ValueError("quantization needs lora: quantized weights cannot be trained")
        return self


class DatasetConfig(Section):
    """The source of problems and the meaning of its columns."""

    path: str = Field(
        description="a .jsonl file, a folder written by save_to_disk, or a Hugging Face data set"
    )
    name: str | None = Field(default=None, description="subset of a Hugging Face data set")
    split: str = Field(default="train", description="a split expression, such as train[:100]")
    problem_column: str = Field(default="problem", description="a string or a list of messages")
    reference_columns: dict[str, str] = Field(
        default={"answer": "answer"},
        description="what verifiers judge by: key of the reference -> column of the data set",
    )
    reference_format: str | None = Field(
        default=None,
        description="instead of reference_columns: the service reads the reference from the row's "
        "other columns, in this format of docs/datasets.md; auto: the one that fits",
    )
    verifiers_column: str | None = Field(
        default=None,
        description="column with a row's own verifiers: a list of them with weights, or the name "
        "of a profile in reward.profiles; a row where it is null has those of its data set",
    )
    system_prompt: str | None = Field(
        default=SYSTEM_PROMPT,
        description="null: none; by default it asks for <think> and <answer>; a row's own wins",
    )
    chat_template_kwargs: dict[str, Any] = Field(
        default={}, description="variables of the chat template, such as {enable_thinking: false}"
    )
    on_bad_row: Literal["error", "skip"] = Field(
        default="error",
        description="a row without a problem or a reference, or with what JSON cannot express; "
        "skip: it is left out and counted",
    )
    on_conflict: Literal["error", "drop"] = Field(
        default="error",
        description="rows with one prompt and different references; drop: all of them are left out",
    )
    max_prompt_tokens: PositiveInt | None = Field(
        default=None, description="null: the model's context, but for one token of the completion"
    )
    on_long_prompt: Literal["error", "skip"] = Field(
        default="error", description="prompts of more tokens; skip: they are left out and counted"
    )
    solve_rates: Path | None = Field(
        default=None,
        description="solve_rates.jsonl of a run or of `evaluate --solve-rates`; selects problems",
    )
    solve_rate_range: tuple[Share, Share] = Field(
        default=(0.0, 1.0),
        description="problems outside the range, or without a rate, are left out",
    )

    @model_validator(mode="after")
    def _one_way_to_the_reference(self) -> DatasetConfig:
        if self.reference_format is not None and "reference_columns" in self.model_fields_set:
            raise ValueError("give either reference_columns or reference_format")
        return self

    @property
    def place(self) -> str:
        """The path, with the split where it is not all of `train`."""
        return self.path if self.split == "train" else f"{self.path} [{self.split}]"

    @property
    def named_columns(self) -> set[str]:
        """Columns that every row must have."""
        named = {self.problem_column, self.verifiers_column} - {None}
        if self.reference_format is None:
            named |= set(self.reference_columns.values())
        return cast("set[str]", named)

    @field_validator("chat_template_kwargs")
    @classmethod
    def _variables_are_the_templates(cls, variables: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(variables.keys() & TAKEN_TEMPLATE_VARIABLES):
            raise ValueError(f"{taken} cannot be set: the trainer decides how a prompt is written")
        return variables

    @property
    def has_rates(self) -> bool:
        """Whether problems have solve rates, by which they can be chosen."""
        return self.solve_rates is not None

    @model_validator(mode="after")
    def _range_has_rates(self) -> DatasetConfig:
        low, high = self.solve_rate_range
        if low > high:
            raise ValueError(f"solve_rate_range {low} to {high} is empty")
        if not self.has_rates and (low, high) != (0.0, 1.0):
            raise ValueError(
                "solve_rate_range needs solve_rates, a file with a rate per problem, or, of the "
                "data that is trained on, solve_rate_steps"
            )
        return self


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
        default=64, description="episodes that have an environment at the same time"
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


class AdvantageConfig(Section):
    """How a group's rewards become advantages (`trainer_client.update.advantages`)."""

    scale: Literal["group_std", "batch_std", "none"] = Field(
        default="group_std", description="divisor of reward - baseline; none: no division"
    )
    std: Literal["population", "bessel"] = Field(
        default="population", description="sum of squares over n (population) or n - 1 (bessel)"
    )
    epsilon: NonNegativeFloat = Field(default=1e-6, description="added to the std")
    aggregation: Literal["sum_first", "normalize_first"] = Field(
        default="sum_first",
        description="sum_first: the weighted sum of the scores is compared within the group; "
        "normalize_first: each source's scores are, then weighted and summed, then scaled by the "
        "step (GDPO)",
    )
    baseline: Literal["mean", "leave_one_out"] = Field(
        default="mean",
        description="the group's mean, or for each completion the mean of the others",
    )
    unjudged: Literal["keep", "drop"] = Field(
        default="keep",
        description="completions without a reward: keep (advantage 0, still in KL and "
        "denominators) or drop",
    )
    zero_variance: Literal["keep", "drop"] = Field(
        default="keep",
        description="groups with equal rewards: keep (advantage 0, still in KL and denominators) "
        "or drop; rollout.max_refills samples others in their place",
    )

    @model_validator(mode="after")
    def _gdpo_has_its_own_form(self) -> AdvantageConfig:
        if self.aggregation == "normalize_first" and (
            self.scale != "group_std" or self.baseline != "mean"
        ):
            raise ValueError(
                "advantage.aggregation normalize_first goes with scale group_std and baseline "
                "mean: each source is normalised so within its group"
            )
        return self


class ImportanceConfig(Section):
    """Correction for a sampler whose log-probabilities differ from the trainer's.

    The ratio is then between the policy and itself before the step's first update, and each token
    loss is weighted by trainer / sampler probability (`update.loss.importance_weights`).
    """

    mode: Literal["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]
    low: NonNegativeFloat | None = Field(default=None, description="null: no lower bound")
    high: PositiveFloat | None = Field(default=3.0, description="null: no upper bound")

    @model_validator(mode="after")
    def _some_weight_is_within(self) -> ImportanceConfig:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"importance.low {self.low:g} is above importance.high {self.high:g}")
        return self


class CovarianceConfig(Section):
    """Keeps the entropy up at the tokens that make it fall (`trainer_client.update.covariance`)."""

    mode: Literal["clip", "kl"] = Field(
        description="clip: no gradient of tokens drawn among those between low and high "
        "(Clip-Cov); kl: a penalty on the tokens of the largest covariance (KL-Cov)"
    )
    share: Annotated[float, Field(gt=0, le=1)] = Field(
        default=2e-4, description="part of the step's completion tokens, at least one token"
    )
    low: float = Field(default=1.0, description="for clip: lower bound of the covariance")
    high: float = Field(default=5.0, description="for clip: upper bound of the covariance")
    kl_coefficient: PositiveFloat = Field(
        default=1.0, description="for kl: weight of |log ratio| in the loss of these tokens"
    )

    @model_validator(mode="after")
    def _some_covariance_is_within(self) -> CovarianceConfig:
        if not self.low < self.high:
            raise ValueError(f"covariance.low {self.low:g} is not below high {self.high:g}")
        return self


class LossConfig(Section):
    """The policy loss (`trainer_client.update.loss`)."""

    type: Literal["grpo", "bnpo", "dr_grpo", "dapo", "gspo", "cispo", "sapo", "unclipped"] = "grpo"
    clip_low: NonNegativeFloat = Field(default=0.2, description="ratio is at least 1 - clip_low")
    clip_high: NonNegativeFloat = Field(
        default=0.2,
        description="ratio is at most 1 + clip_high (gspo's paper: 3e-4 and 4e-4)",
    )
    ratio_cap: Annotated[float, Field(ge=1)] | None = Field(
        default=None,
        description="absolute bound of the ratio, whatever the advantage's sign; cispo needs one "
        "(ScaleRL: 5.0)",
    )
    sapo_temperature_positive: PositiveFloat = Field(
        default=1.0, description="of sapo's gate, for advantages above 0"
    )
    sapo_temperature_negative: PositiveFloat = Field(
        default=1.05, description="of sapo's gate, for the other advantages"
    )
    kl_coefficient: NonNegativeFloat = Field(
        default=0.0,
        description="0: no reference policy is kept, unless guards.measure_kl_every_steps is set",
    )
    kl_estimator: Literal["k1", "k2", "k3"] = "k3"
    teacher: str | None = Field(
        default=None,
        description="Hugging Face model name or folder: the KL is to this model instead of the "
        "start policy (on-policy distillation); k2 is the reverse KL, k3 the forward one",
    )
    kl_ratio_weighted: bool = Field(
        default=False, description="multiply the KL term by the ratio, which unbiases its gradient"
    )
    reference_sync_steps: PositiveInt | None = Field(
        default=None,
        description="steps after which the reference becomes a copy of the policy; null: never",
    )
    entropy_coefficient: NonNegativeFloat = Field(
        default=0.0,
        description="weight of the mean token entropy in the objective; with entropy_target the "
        "first one",
    )
    entropy_target: NonNegativeFloat | None = Field(
        default=None,
        description="nats a token: the coefficient rises while the entropy is at most so high, "
        "falls while it is higher, and is 0 then; null: it is constant",
    )
    entropy_step: PositiveFloat = Field(
        default=0.005, description="change of the coefficient in one optimizer step"
    )
    entropy_max: PositiveFloat = Field(
        default=1.0, description="largest coefficient that entropy_target leads to"
    )
    covariance: CovarianceConfig | None = Field(
        default=None, description="null: all tokens are treated alike"
    )
    truncated: Literal["keep", "mask"] = Field(
        default="keep",
        description="completions that met the token limit; mask leaves their tokens out of loss "
        "and denominators; to shape them instead, give the verifier soft_overlong a weight",
    )
    importance: ImportanceConfig | None = Field(
        default=None, description="null: the ratio is between policy and sampler"
    )

    @model_validator(mode="after")
    def _cispo_has_its_cap(self) -> LossConfig:
        if self.type == "cispo" and self.ratio_cap is None:
            raise ValueError("cispo needs loss.ratio_cap, an absolute bound such as 5.0")
        if self.type == "sapo" and self.ratio_cap is not None:
            raise ValueError("sapo bounds the ratio by its gate: leave loss.ratio_cap out")
        return self

    @property
    def needs_entropy_gradient(self) -> bool:
        """Whether the entropy can be a part of the loss."""
        return self.entropy_coefficient != 0 or self.entropy_target is not None

    @model_validator(mode="after")
    def _teacher_is_the_reference(self) -> LossConfig:
        if self.teacher is None:
            return self
        if not self.kl_coefficient:
            raise ValueError("teacher needs a kl_coefficient other than 0, such as 1.0")
        if self.kl_estimator == "k1":
            raise ValueError(
                "teacher needs kl_estimator k2 or k3: k1 in the loss has no gradient in expectation"
            )
        if self.reference_sync_steps is not None:
            raise ValueError(
                "teacher does not go with reference_sync_steps, which replaces the reference"
            )
        return self

    @model_validator(mode="after")
    def _sync_has_a_reference(self) -> LossConfig:
        if self.reference_sync_steps is not None and not self.kl_coefficient:
            raise ValueError("reference_sync_steps needs a kl_coefficient other than 0")
        return self


class OptimizerConfig(Section):
    """The optimizer and its learning rate schedule."""

    type: Literal["adamw", "adamw_8bit", "muon"] = Field(
        default="adamw",
        description="adamw_8bit: moments in 8 bits, needs CUDA and bitsandbytes; muon: orthogonal "
        "updates of the layers' matrices, adamw for the rest",
    )
    learning_rate: PositiveFloat = 1e-6
    betas: tuple[Decay, Decay] = (0.9, 0.999)
    weight_decay: NonNegativeFloat = 0.0
    max_grad_norm: PositiveFloat = 1.0
    warmup_steps: NonNegativeInt = 0
    schedule: Literal["constant", "linear", "cosine"] = "constant"


class TrainConfig(Section):
    """The training loop."""

    steps: PositiveInt = 100
    seed: Annotated[int, Field(ge=-(2**31), lt=2**31)] = 0
    epochs_per_rollout: PositiveInt = Field(
        default=1, description="passes over the rollouts of one step"
    )
    minibatches: PositiveInt = Field(
        default=1, description="optimizer steps that one pass is split into, by whole groups"
    )
    micro_batch_tokens: PositiveInt = Field(
        default=16_384,
        description="tokens of one forward; gradients accumulate over micro-batches",
    )
    packing: bool = Field(
        default=True,
        description="no padding in micro-batches, where the model's attention allows it; false, "
        "and for other models: sequences of like length are padded together",
    )
    gradient_checkpointing: bool = Field(
        default=False,
        description="less memory for more time: the backward pass computes layers again",
    )
    offload_activations: bool = Field(
        default=False,
        description="activations wait in CPU memory for the backward pass: less memory than "
        "without, more time",
    )
    offload: bool = Field(
        default=False,
        description="optimizer state and reference policy in CPU memory while completions are "
        "sampled",
    )
    max_staleness_steps: NonNegativeInt = Field(
        default=0,
        description="optimizer steps by which the weights that sampled a completion may lag behind "
        "those that train on it. 0: on-policy; 1: the next step's completions are sampled while "
        "this one trains; more: sampling never pauses and goes on under new weights within a "
        "completion, and older groups are dropped. Above 0 it needs rollout.engine vllm_server and "
        "loss.importance",
    )
    reshard_after_forward: bool = Field(
        default=True,
        description="with several processes: gather a layer's weights again for the backward pass "
        "(ZeRO-3); false keeps them (ZeRO-2): more memory, less communication",
    )
    checkpoint_every_steps: PositiveInt | None = Field(
        default=50, description="null: one checkpoint, at the end"
    )
    keep_checkpoints: PositiveInt | None = Field(
        default=3,
        description="number of newest checkpoints; null: all. The best by evaluation stays too",
    )
    checkpoint_store: str | None = Field(
        default=None,
        description="address that gets each checkpoint too, such as s3://bucket/run or "
        "gs://bucket/run; a run that is resumed takes from it what its disk lacks. It needs "
        "fsspec's package for the address, such as s3fs or gcsfs",
    )
    write_rollouts: bool = Field(
        default=True, description="write each step's completions and verdicts to rollouts/"
    )
    log_every_steps: PositiveInt = Field(default=1, description="steps per line on the console")

    @model_validator(mode="before")
    @classmethod
    def _reads_runs_of_0_2(cls, values: Any) -> Any:
        """Every run of 0.2 has `one_step_off` in its folder: a staleness of 1, or of 0."""
        if not isinstance(values, dict) or not isinstance(values.get("one_step_off"), bool):
            return values
        others = {name: value for name, value in values.items() if name != "one_step_off"}
        return {"max_staleness_steps": int(values["one_step_off"])} | others


class GuardConfig(Section):
    """Limits for warnings and for a stop (`trainer_client.run.guards`); null: never."""

    warn_if_kl_above: PositiveFloat | None = Field(default=0.05, description="k3, nats a token")
    stop_if_kl_above: PositiveFloat | None = 0.1
    measure_kl_every_steps: PositiveInt | None = Field(
        default=None,
        description="with loss.kl_coefficient 0: measure the KL to the start policy in every so "
        "many steps, on a quarter of the completions; null: the KL limits never act then",
    )
    warn_if_zero_variance_above: Share | None = Field(
        default=0.5, description="share of groups with equal rewards"
    )
    warn_if_spread_below: Share | None = Field(
        default=0.1,
        description="mean std within groups, as a share of the largest that the weights allow",
    )
    trend_steps: PositiveInt | None = Field(
        default=20, description="steps in which format must not rise while accuracy falls"
    )
    max_nonfinite_updates: PositiveInt = Field(
        default=3, description="skipped updates in a row after which the run stops"
    )


class SftConfig(Section):
    """The supervised phase (`trainer-client sft`)."""

    completion_column: str = Field(
        default="completion",
        description="a text, a list of texts (generations) or a chat (messages), whose assistant "
        "messages are the completions of what stands before them",
    )
    correct_column: str | None = Field(
        default=None,
        description="list of booleans beside a list of texts, such as correctness_math_verify; "
        "only texts with true are used; null: all",
    )
    batch_size: PositiveInt = 32
    steps: PositiveInt = 100
    learning_rate: PositiveFloat = 1e-5
    warmup_steps: NonNegativeInt = 0
