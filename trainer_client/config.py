"""The configuration of a run: one YAML file, typed, frozen, made once and passed down.

Values are taken in this order, later ones win: the defaults below, the preset the file names, the
file, `section.key=value` overrides. An unknown key is an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from trainer_client.presets import PRESETS

SYSTEM_PROMPT = (
    "Solve the problem. First reason step by step between <think> and </think>, then give only "
    "the final answer between <answer> and </answer>:\n"
    "<think>\nyour reasoning\n</think>\n<answer>\nyour final answer\n</answer>"
)

PositiveInt = Annotated[int, Field(gt=0)]
PositiveFloat = Annotated[float, Field(gt=0)]
NonNegativeInt = Annotated[int, Field(ge=0)]
NonNegativeFloat = Annotated[float, Field(ge=0)]


class ConfigError(ValueError):
    """The configuration cannot be used; the message names the key and what was expected."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class ModelConfig(_Section):
    """The policy."""

    path: str = Field(description="Hugging Face model name or folder")
    dtype: Literal["float32", "bfloat16"] = Field(
        default="float32", description="of the weights that are trained"
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="auto: cuda where there is one"
    )
    chat_template: Path | None = Field(
        default=None, description="Jinja file, for a tokenizer that has none or another one"
    )


class DatasetConfig(_Section):
    """Where problems come from and which columns hold what."""

    path: str = Field(
        description="a .jsonl file, a folder written by save_to_disk, or a Hugging Face data set"
    )
    name: str | None = Field(default=None, description="subset of a Hugging Face data set")
    split: str = Field(default="train", description="a split expression, such as train[:100]")
    problem_column: str = Field(default="problem", description="a string or a list of messages")
    reference_columns: dict[str, str] = Field(
        default={"answer": "answer"},
        description="what the verifiers need: key of the reference -> column of the data set",
    )
    system_prompt: str | None = Field(
        default=SYSTEM_PROMPT, description="null: none; not used where the row brings its own"
    )


class RolloutConfig(_Section):
    """How completions are sampled; a step samples prompts_per_step * group_size of them."""

    engine: Literal["transformers"] = "transformers"
    prompts_per_step: PositiveInt = 8
    group_size: Annotated[int, Field(ge=2)] = Field(
        default=8, description="completions of one problem, G"
    )
    temperature: PositiveFloat = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    max_completion_tokens: PositiveInt = 512
    batch_size: PositiveInt = Field(
        default=64, description="completions generated at once, rounded up to whole groups"
    )


class VerifierConfig(BaseModel):
    """One verifier to ask for. Other keys are options of the verifier, checked by the service."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str
    name: str | None = Field(default=None, description="key of its verdicts; default: the type")
    weight: float = Field(default=1.0, allow_inf_nan=False)

    @property
    def key(self) -> str:
        """The key of this verifier's verdicts and metrics."""
        return self.name or self.type

    @property
    def wire(self) -> dict[str, Any]:
        """What is sent to the service: everything but the weight, which is the trainer's affair."""
        return {"name": self.key, **self.model_dump(exclude={"weight", "name"})}


class RewardConfig(_Section):
    """The verifier service, what to ask it, and how hard to try."""

    url: str = Field(default="http://127.0.0.1:8080", pattern=r"^https?://\S+$")
    verifiers: tuple[VerifierConfig, ...] = (
        VerifierConfig(type="accuracy", weight=1.0),
        VerifierConfig(type="format", weight=0.1),
        VerifierConfig(type="tag_count", weight=0.05),
    )
    timeout_seconds: PositiveFloat = Field(default=120.0, description="of one HTTP request")
    max_attempts: PositiveInt = Field(default=8, description="tries of one group, first included")
    backoff_seconds: PositiveFloat = Field(
        default=0.5, description="wait before the second try; doubles, at most 30"
    )

    @model_validator(mode="after")
    def _names_are_unique(self) -> RewardConfig:
        keys = [verifier.key for verifier in self.verifiers]
        if len(set(keys)) != len(keys):
            raise ValueError(f"two verifiers have the same name in {keys}; give one a `name`")
        if not any(verifier.weight for verifier in self.verifiers):
            raise ValueError("no verifier has a weight other than 0, so nothing could be learnt")
        return self


class AdvantageConfig(_Section):
    """How rewards of a group become advantages (`trainer_client.advantages`)."""

    scale: Literal["group_std", "batch_std", "none"] = "group_std"
    std: Literal["population", "bessel"] = "population"
    epsilon: NonNegativeFloat = 1e-6
    baseline: Literal["mean", "leave_one_out"] = "mean"
    unjudged: Literal["keep", "drop"] = Field(
        default="keep",
        description="completions without a reward: keep (advantage 0, still in KL and "
        "denominators) or drop",
    )


class LossConfig(_Section):
    """The policy loss (`trainer_client.loss`)."""

    type: Literal["grpo", "bnpo", "dr_grpo", "dapo", "unclipped"] = "grpo"
    clip_low: NonNegativeFloat = Field(default=0.2, description="ratio is at least 1 - clip_low")
    clip_high: NonNegativeFloat = Field(default=0.2, description="ratio is at most 1 + clip_high")
    kl_coefficient: NonNegativeFloat = Field(
        default=0.0, description="0: no reference policy is kept"
    )
    kl_estimator: Literal["k1", "k2", "k3"] = "k3"


class OptimizerConfig(_Section):
    """AdamW and its schedule."""

    learning_rate: PositiveFloat = 1e-6
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: NonNegativeFloat = 0.0
    max_grad_norm: PositiveFloat = 1.0
    warmup_steps: NonNegativeInt = 0
    schedule: Literal["constant", "linear", "cosine"] = "constant"


class TrainConfig(_Section):
    """The loop."""

    steps: PositiveInt = 100
    seed: int = 0
    updates_per_rollout: PositiveInt = Field(
        default=1, description="optimizer steps on one batch of rollouts"
    )
    micro_batch_tokens: PositiveInt = Field(
        default=16_384,
        description="padded tokens of one forward; gradients accumulate over micro-batches",
    )
    checkpoint_every_steps: PositiveInt | None = Field(
        default=50, description="null: only at the end"
    )
    keep_checkpoints: PositiveInt | None = Field(default=3, description="null: all")
    log_every_steps: PositiveInt = Field(default=1, description="lines on the console")


class EvaluationConfig(_Section):
    """Unbiased pass@k on held-out problems."""

    dataset: DatasetConfig
    every_steps: PositiveInt | None = Field(
        default=None, description="null: only before and after training"
    )
    num_samples: PositiveInt = Field(default=10, description="completions of each problem, n")
    k: tuple[PositiveInt, ...] = (1, 10)
    verifier: str = Field(
        default="accuracy", description="a completion passes when this verdict's score is >= 0.99"
    )

    @model_validator(mode="after")
    def _enough_samples(self) -> EvaluationConfig:
        if max(self.k) > self.num_samples:
            raise ValueError(f"pass@{max(self.k)} needs num_samples >= {max(self.k)}")
        return self


class SftConfig(_Section):
    """The supervised phase (`trainer-client sft`)."""

    completion_column: str = "completion"
    batch_size: PositiveInt = 32
    steps: PositiveInt = 100
    learning_rate: PositiveFloat = 1e-5
    warmup_steps: NonNegativeInt = 0


class Config(_Section):
    """A whole run."""

    output_dir: Path
    preset: Literal[tuple(PRESETS)] | None = None  # type: ignore[valid-type]
    model: ModelConfig
    dataset: DatasetConfig
    rollout: RolloutConfig = RolloutConfig()
    reward: RewardConfig = RewardConfig()
    advantage: AdvantageConfig = AdvantageConfig()
    loss: LossConfig = LossConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    train: TrainConfig = TrainConfig()
    evaluation: EvaluationConfig | None = None
    sft: SftConfig = SftConfig()

    @model_validator(mode="after")
    def _evaluation_verifier_exists(self) -> Config:
        keys = [verifier.key for verifier in self.reward.verifiers]
        if self.evaluation is not None and self.evaluation.verifier not in keys:
            raise ValueError(
                f"evaluation.verifier is {self.evaluation.verifier!r}, "
                f"but reward.verifiers has only {keys}"
            )
        return self


def load_config(path: Path, overrides: list[str] | None = None) -> Config:
    """The configuration in a YAML file.

    Args:
        path: the file.
        overrides: `section.key=value`, the value in YAML, such as `loss.kl_coefficient=0.04`.

    Raises:
        ConfigError: file, key or value cannot be used.
    """
    try:
        values = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold sections such as `model:`, found {values!r}")
    return make_config(_merge(values, _parse_overrides(overrides or [])), source=str(path))


def make_config(values: dict[str, Any], *, source: str = "configuration") -> Config:
    """The configuration from nested values; raises ConfigError, which names the source."""
    preset = values.get("preset")
    if isinstance(preset, str) and preset in PRESETS:
        values = _merge(PRESETS[preset].nested, values)
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        lines = (_explain(details) for details in error.errors())
        raise ConfigError("\n".join([f"{source} cannot be used:", *lines])) from error


def dump_config(config: Config) -> str:
    """The configuration as YAML that `load_config` reads back to an equal one."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)


def _explain(details: Any) -> str:
    key = ".".join(str(part) for part in details["loc"]) or "(whole file)"
    if details["type"] == "extra_forbidden":
        section = ".".join(str(part) for part in details["loc"][:-1]) or "the top level"
        return f"  {key}: no such setting in {section}"
    if details["type"] == "missing":
        return f"  {key}: is required"
    return f"  {key}: {details['msg']} (found {details['input']!r})"[:500]


def _parse_overrides(overrides: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for override in overrides:
        key, separator, text = override.partition("=")
        if not separator or not key.strip():
            raise ConfigError(f"override {override!r} is not of the form section.key=value")
        value = yaml.safe_load(text)
        for part in reversed(key.strip().split(".")):
            value = {part: value}
        values = _merge(values, value)
    return values


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        if isinstance(under, dict) and isinstance(value, dict):
            value = _merge(under, value)
        merged[key] = value
    return merged
