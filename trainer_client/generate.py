"""Prompt a trained model and score its completions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from reward_verifier.verdict import Verdicts
from trainer_client.config.reward_sections import RewardSource
from trainer_client.config.run_config import Config, ConfigError
from trainer_client.config.training_dataset import TrainingDatasetConfig
from trainer_client.episodes.episode_engine import in_environment
from trainer_client.policy.policy import load_policy
from trainer_client.problems import Problem, with_system_prompt
from trainer_client.reward.group_scoring import ScoredGroup, combined, open_scorer
from trainer_client.reward.rewards import reward
from trainer_client.reward.selection import ProblemReward, VerifierSelection, question_of
from trainer_client.rollout import RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.engines import transformers_engine


def generate(
    config: Config,
    prompt: str,
    data_set: TrainingDatasetConfig | None = None,
    *,
    num_completions: int,
    seed: int,
    temperature: float | None = None,
    reference: dict[str, Any] | None = None,
) -> RolloutGroup:
    """Completions of a prompt that is posed as the run's data set poses its problems.

    Args:
        config: configuration of the run; its model is asked.
        prompt: the problem.
        data_set: the data set whose system prompt is used; None: the first.
        num_completions: number of completions.
        seed: seed of the sampling.
        temperature: 0: the likeliest token at each place; None: that of the run.
        reference: what the verifiers judge by, which an environment may need.

    Raises:
        RolloutError: the environment of the run was lost, or raised an error.
    """
    torch.manual_seed(seed)
    policy = load_policy(config.model)
    posed_as = data_set or config.dataset[0]
    messages = with_system_prompt([{"role": "user", "content": prompt}], posed_as)
    problem = Problem("prompt", tuple(messages), {}, {}, posed_as.chat_template_kwargs)
    groups: list[RolloutGroup] = []
    engine = transformers_engine(policy, config.rollout)
    sampling = replace(
        Sampling.configured(config.rollout),
        group_size=num_completions,
        temperature=config.rollout.temperature if temperature is None else temperature,
    )
    posed = _with_reference(problem, posed_as, reference or {})
    try:
        in_environment(engine, policy, config).generate(
            [posed], sampling, lambda _, group: groups.append(group)
        )
    except RolloutError as error:
        if reference or config.rollout.environment is None:
            raise
        raise RolloutError(f"{error}. --answer or --reference gives it a reference") from error
    if groups[0].lost is not None:
        raise RolloutError(groups[0].lost)
    return groups[0]


def parse_reference(entries: Sequence[str], answer: str | None) -> dict[str, Any]:
    """The reference of `--reference KEY=JSON` options and of `--answer`.

    >>> parse_reference(['tests=[{"input": "1", "output": "2"}]'], None)
    {'tests': [{'input': '1', 'output': '2'}]}

    Raises:
        ConfigError: an entry is not of that form, or a key is given twice.
    """
    reference: dict[str, Any] = {} if answer is None else {"answer": answer}
    for entry in entries:
        key, separator, text = entry.partition("=")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"--reference {entry!r} must be KEY=JSON, such as tests='[...]' or "
                f"answer='\"42\"': {error}"
            ) from error
        if not key or not separator:
            raise ConfigError(f"--reference {entry!r} must be KEY=JSON")
        if key in reference:
            raise ConfigError(f"--reference {entry!r}: {key} is given already")
        reference[key] = value
    return reference


def reward_line(verdicts: Verdicts, sources: Sequence[RewardSource]) -> str:
    """The reward of a completion and each verdict with its reason: `1.1: accuracy 1 (equal), ...`.

    Raises:
        TrainingError: a source has no verdict.
    """
    parts = [f"{name} {_four(verdict.score)} ({verdict.why})" for name, verdict in verdicts.items()]
    return f"{_four(reward(verdicts, sources))}: {', '.join(parts)}"


def _four(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def score(
    config: Config,
    group: RolloutGroup,
    reference: dict[str, Any],
    data_set: TrainingDatasetConfig | None = None,
) -> ScoredGroup:
    """The verdicts on a group by a reference; raises VerifierError and RewardError.

    Args:
        config: configuration of the run.
        group: the completions.
        reference: what the verifiers judge by.
        data_set: the data set whose verifiers judge; None: the first.
    """
    judged_as = data_set or config.dataset[0]
    asked = replace(group, problem=_with_reference(group.problem, judged_as, reference))
    selection = question_of(judged_as) or VerifierSelection(config.reward.verifiers)
    judged = ProblemReward(judged_as.sources(config.reward), selection)
    asked = replace(asked, problem=replace(asked.problem, reward=judged))
    questions = [] if selection == VerifierSelection() else [("dataset", selection)]
    with open_scorer(config.reward, questions) as scorer:
        pending = scorer.submit(asked)
        (here,) = scorer.score_here([asked])
        return ScoredGroup(asked, combined(here, pending.result()))


def data_set_named(config: Config, label: str | None) -> TrainingDatasetConfig:
    """The data set with this label, or the first; raises ConfigError."""
    named = {one.name_in_metrics: one for one in config.dataset}
    if label is None:
        return config.dataset[0]
    if label not in named:
        raise ConfigError(f"--dataset {label!r}: the run's data sets are {sorted(named)}")
    return named[label]


def _with_reference(
    problem: Problem, config: TrainingDatasetConfig, reference: dict[str, Any]
) -> Problem:
    """The problem with a reference, which also stands in the columns of the run's data set."""
    columns = {config.problem_column: problem.text}
    columns |= {
        column: reference[key]
        for key, column in config.reference_columns.items()
        if key in reference
    }
    return replace(problem, reference=reference, columns=columns)
