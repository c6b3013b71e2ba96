"""The section `advantage` of a configuration."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from trainer_client.config.section import NonNegativeFloat, Section


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
