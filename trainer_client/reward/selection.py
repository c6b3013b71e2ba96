"""Judges of the completions of a problem: verifiers of the service, and the weights of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trainer_client.config.reward_sections import (
    EvaluationConfig,
    RewardSource,
    VerifierConfig,
    main_source,
)
from trainer_client.config.training_dataset import TrainingDatasetConfig


@dataclass(frozen=True)
class VerifierSelection:
    """The verifiers that judge a group: a list, or the name of a profile of the service."""

    verifiers: tuple[VerifierConfig, ...] = ()
    profile: str | None = None

    @property
    def wire(self) -> dict[str, Any]:
        """The selection in a request's body."""
        if self.profile is not None:
            return {"profile": self.profile}
        return {"verifiers": [verifier.wire for verifier in self.verifiers]}

    @property
    def weighted_wire(self) -> dict[str, Any]:
        """The selection with its weights, which only a check sends: rewards are computed here."""
        if self.profile is not None:
            return self.wire
        return {"verifiers": [{**one.wire, "weight": one.weight} for one in self.verifiers]}


@dataclass(frozen=True)
class ProblemReward:
    """The verifiers that judge the completions of one problem, and the weights of scores."""

    sources: tuple[RewardSource, ...]
    """The sources of scores, those in this process included; the reward is their weighted sum."""
    selection: VerifierSelection | None = None
    """The verifiers to ask the service for; None: the run's."""

    @property
    def main(self) -> RewardSource:
        """The source that says whether the problem is solved."""
        return main_source(self.sources)


def question_of(section: EvaluationConfig | TrainingDatasetConfig) -> VerifierSelection | None:
    """The question of an evaluation or a data set to the service; None: that of `reward`."""
    if section.profile is None and section.verifiers is None:
        return None
    return VerifierSelection(section.verifiers or (), section.profile)
