"""The section `guards` of a configuration: when a run warns, and when it stops."""

from __future__ import annotations

from pydantic import Field

from trainer_client.config.section import PositiveFloat, PositiveInt, Section, Share


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
