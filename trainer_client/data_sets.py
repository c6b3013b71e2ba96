"""The data sets of a run: their problems, each with what judges it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.reward_sections import EvaluationConfig, RewardConfig, check_sources
from trainer_client.config.run_config import Config
from trainer_client.config.training_dataset import TrainingDatasetConfig
from trainer_client.problems import Problem, load_problems, require_enough
from trainer_client.reward.selection import ProblemReward, VerifierSelection, question_of
from trainer_client.row_files import DatasetError

if TYPE_CHECKING:
    from trainer_client.prompts import PromptReader


@dataclass(frozen=True)
class DataSet:
    """A data set to train on."""

    config: TrainingDatasetConfig
    problems: list[Problem]
    share: float
    """Part of each step's problems; those of all data sets sum to 1."""


def load_data_sets(config: Config, reader: PromptReader | None = None) -> list[DataSet]:
    """The data sets of a run; raises DatasetError.

    Args:
        config: configuration of the run.
        reader: leaves out prompts that do not fit the model, or raises; None: all fit.
    """
    loaded = []
    for one in config.dataset:
        judged = ProblemReward(one.sources(config.reward), question_of(one))
        label = one.name_in_metrics if config.is_mixed else ""
        problems = [
            replace(problem, dataset=label, reward=_reward_of(problem, judged, one, config.reward))
            for problem in load_problems(one)
        ]
        loaded.append(problems if reader is None else reader.fitting(problems, one))
    total = sum(one.share or len(problems) for one, problems in _pairs(config, loaded))
    return [
        DataSet(one, problems, (one.share or len(problems)) / total)
        for one, problems in _pairs(config, loaded)
    ]


def _pairs(
    config: Config, loaded: Sequence[list[Problem]]
) -> Iterable[tuple[TrainingDatasetConfig, list[Problem]]]:
    return zip(config.dataset, loaded, strict=True)


def load_held_out(evaluation: EvaluationConfig, reward: RewardConfig) -> list[Problem]:
    """The problems of an evaluation; raises DatasetError."""
    return [
        problem
        if problem.own_verifiers is None
        else replace(problem, reward=_own_reward(problem, evaluation.dataset, reward))
        for problem in load_problems(evaluation.dataset)
    ]


def questions_of(
    config: Config,
    data_sets: Sequence[DataSet] = (),
    held_out: Sequence[Sequence[Problem]] = (),
) -> list[tuple[str, VerifierSelection]]:
    """The different choices of verifiers that a run will ask for, each with where it stands.

    Args:
        config: configuration of the run.
        data_sets: data sets whose rows may name verifiers.
        held_out: problems of evaluations, whose rows may too.
    """
    asked = []
    if config.asks_own_verifiers and config.reward.verifiers:
        asked.append(("reward.verifiers", VerifierSelection(config.reward.verifiers)))
    for section in ("dataset", "evaluation"):
        listed = getattr(config, section)
        for number, one in enumerate(listed):
            alone = section == "dataset" and len(listed) == 1
            where = section if alone else f"{section}.{number}"
            if (question := question_of(one)) is not None:
                asked.append((_place(where, question), question))
    for one in data_sets:
        asked += _questions_of_rows(one.problems, one.config.path)
    for problems in held_out:
        asked += _questions_of_rows(problems, "the held-out problems")
    first = {_wire_text(selection): (place, selection) for place, selection in reversed(asked)}
    return list(reversed(first.values()))


def _questions_of_rows(
    problems: Iterable[Problem], place: str
) -> list[tuple[str, VerifierSelection]]:
    """The choices that rows name for themselves, each once."""
    found: dict[str, tuple[str, VerifierSelection]] = {}
    for problem in problems:
        if (own := problem.own_verifiers) is not None:
            found.setdefault(_wire_text(own), (f"row {problem.row_number} of {place}", own))
    return list(found.values())


def _wire_text(selection: VerifierSelection) -> str:
    return json.dumps(selection.weighted_wire, sort_keys=True)


def _place(section: str, selection: VerifierSelection) -> str:
    return f"{section}.{'verifiers' if selection.profile is None else 'profile'}"


def _reward_of(
    problem: Problem, judged: ProblemReward, config: TrainingDatasetConfig, reward: RewardConfig
) -> ProblemReward:
    """The judges of a problem: its row's own verifiers, or those of its data set."""
    if problem.own_verifiers is None:
        return judged
    return _own_reward(problem, config, reward)


def _own_reward(problem: Problem, config: DatasetConfig, reward: RewardConfig) -> ProblemReward:
    """The judges of a problem whose row names its own verifiers; raises DatasetError."""
    own = problem.own_verifiers
    assert own is not None
    where = f"{Path(config.path)}: row {problem.row_number}, column {config.verifiers_column!r}"
    if own.profile is not None and own.profile not in reward.profiles:
        raise DatasetError(
            f"{where} names the profile {own.profile!r}, whose weights are not in reward.profiles; "
            f"there are {sorted(reward.profiles)}"
        )
    weights = config.weights if isinstance(config, TrainingDatasetConfig) else {}
    verifiers = own.verifiers if own.profile is None else None
    sources = reward.sources_with(verifiers, own.profile, weights)
    try:
        check_sources(sources, where)
    except ValueError as error:
        raise DatasetError(str(error)) from error
    return ProblemReward(sources, own)


def require_enough_of_each(data_sets: Sequence[DataSet], *, per_step: int) -> None:
    """Raise DatasetError where a data set has fewer problems than one step may take of it."""
    for data_set in data_sets:
        name = data_set.config.name_in_metrics if len(data_sets) > 1 else None
        require_enough(data_set.problems, per_step=most_of_a_step(data_set, per_step), name=name)


def most_of_a_step(data_set: DataSet, per_step: int) -> int:
    """The largest number of problems that one step takes of a data set."""
    return min(per_step, math.floor(per_step * data_set.share) + 1)
