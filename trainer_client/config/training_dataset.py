"""A data set to train on: what `dataset_section` has, its share of a step, and what judges it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.reward_sections import (
    RewardConfig,
    RewardSource,
    VerifierConfig,
    check_sources,
)
from trainer_client.config.section import PositiveFloat, PositiveInt


class TrainingDatasetConfig(DatasetConfig):
    """A data set to train on: its part of each step, and what judges its completions."""

    label: str | None = Field(
        default=None,
        pattern=r"^\w[\w.-]*$",
        description="in metrics of several data sets: dataset/LABEL/reward/total; null: the "
        "path's last part without its suffix",
    )
    share: PositiveFloat | None = Field(
        default=None,
        description="part of each step's problems, relative to the other data sets; null for all: "
        "by their numbers of problems",
    )
    verifiers: tuple[VerifierConfig, ...] | None = Field(
        default=None, description="used instead of reward.verifiers"
    )
    profile: str | None = Field(
        default=None,
        description="profile of the service, used instead of reward.verifiers; its weights are in "
        "reward.profiles",
    )
    weights: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(
        default={},
        description="weights that differ from those in the section reward, by the name of verifier,"
        " function or model",
    )
    solve_rate_steps: PositiveInt | None = Field(
        default=None,
        description="skip problems whose completions of the last so many steps have a solve rate "
        "outside solve_rate_range; a problem without one is taken",
    )

    @property
    def name_in_metrics(self) -> str:
        """The label, or the one that the path gives."""
        return self.label or super().name_in_metrics

    @property
    def has_rates(self) -> bool:
        """Whether problems have solve rates, by which they can be chosen."""
        return self.solve_rates is not None or self.solve_rate_steps is not None

    def sources(self, reward: RewardConfig) -> tuple[RewardSource, ...]:
        """The sources that judge its completions, unless a row names its own verifiers."""
        return reward.sources_with(self.verifiers, self.profile, self.weights)

    @field_validator("verifiers")
    @classmethod
    def _verifiers_are_some(
        cls, verifiers: tuple[VerifierConfig, ...] | None
    ) -> tuple[VerifierConfig, ...] | None:
        if verifiers == ():
            raise ValueError("is empty; null uses those of the section reward")
        return verifiers

    @model_validator(mode="after")
    def _one_selection(self) -> TrainingDatasetConfig:
        if self.profile is not None and self.verifiers is not None:
            raise ValueError("a data set has a profile or verifiers, not both")
        if self.solve_rate_steps is not None and self.solve_rate_range == (0.0, 1.0):
            raise ValueError("solve_rate_steps needs a solve_rate_range, such as [0.1, 0.9]")
        return self


READING = ("problem_column", "system_prompt", "chat_template_kwargs")
"""Settings of a data set that evaluations take over, beside those of its references."""
_REFERENCES = ("reference_columns", "reference_format")


def evaluation_like_training(evaluation: Any, data_set: Mapping[str, Any]) -> Any:
    """An evaluation whose rows are read and prompted as those of the one data set of training.

    Its own settings win; `evaluation` is as the file has it, well formed or not.
    """
    own = evaluation.get("dataset") if isinstance(evaluation, dict) else None
    if not isinstance(own, dict):
        return evaluation
    names = READING if own.keys() & set(_REFERENCES) else (*READING, *_REFERENCES)
    taken_over = {name: data_set[name] for name in names if name in data_set}
    return {**evaluation, "dataset": taken_over | own}


def check_data_sets(data_sets: Sequence[TrainingDatasetConfig], reward: RewardConfig) -> None:
    """Raise ValueError where data sets cannot be mixed, or one cannot be judged."""
    if not data_sets:
        raise ValueError("dataset is an empty list")
    labels = [one.name_in_metrics for one in data_sets]
    if len(set(labels)) < len(labels):
        raise ValueError(f"several data sets need different labels, found {labels}")
    if len({one.share is None for one in data_sets}) > 1:
        raise ValueError("give a share to all data sets or to none")
    for number, data_set in enumerate(data_sets):
        where = f"dataset.{number}" if len(data_sets) > 1 else "dataset"
        if data_set.profile is not None and data_set.profile not in reward.profiles:
            raise ValueError(
                f"{where}.profile {data_set.profile!r} has no weights; give them as "
                f"reward.profiles {{{data_set.profile}: {{VERIFIER: WEIGHT}}}}"
            )
        _check_weights(data_set.weights, data_set.sources(reward), where)
        check_sources(data_set.sources(reward), where)


def _check_weights(
    weights: Mapping[str, float], sources: Sequence[RewardSource], where: str
) -> None:
    keys = [source.key for source in sources]
    if unknown := sorted(weights.keys() - set(keys)):
        raise ValueError(f"{where}.weights names {unknown}, but its sources are only {keys}")
