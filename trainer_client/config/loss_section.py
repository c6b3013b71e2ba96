"""The section `loss` of a configuration: the objective, and its corrections."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from trainer_client.config.section import NonNegativeFloat, PositiveFloat, PositiveInt, Section


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
    def is_by_token(self) -> bool:
        """Whether the loss of a token hangs on its own log-probability alone."""
        by_sequence = self.importance is not None and self.importance.mode.startswith("sequence")
        return self.type != "gspo" and not by_sequence

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
