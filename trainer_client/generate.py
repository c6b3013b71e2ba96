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
from trainer_client.config.sections import DatasetConfig
from trainer_client.dataset import Problem, with_system_prompt
from trainer_client.policy.policy import load_policy
from trainer_client.reward.group_scoring import ScoredGroup, combined, open_scorer
from trainer_client.reward.rewards import reward
from trainer_client.rollout import RolloutGroup, Sampling
from trainer_client.rollout.transformers import TransformersEngine


def generate(
    config: Config,
    prompt: str,
    *,
    num_completions: int,
    seed: int,
    temperature: float | None = None,
) -> RolloutGroup:
    """Completions of a prompt that is posed as the run's data set poses its problems.

    Args:
        config: configuration of the run; its model is asked.
        prompt: the problem.
        num_completions: number of completions.
        seed: seed of the sampling.
        temperature: 0: the likeliest token at each place; None: that of the run.
    """
    torch.manual_seed(seed)
    policy = load_policy(config.model)
    messages = with_system_prompt([{"role": "user", "content": prompt}], config.dataset)
    groups: list[RolloutGroup] = []
    TransformersEngine(policy, batch_size=config.rollout.batch_size).generate(
        [Problem("prompt", tuple(messages), {}, {}, config.dataset.chat_template_kwargs)],
        Sampling(
            group_size=num_completions,
            max_completion_tokens=config.rollout.max_completion_tokens,
            temperature=config.rollout.temperature if temperature is None else temperature,
            top_p=config.rollout.top_p,
        ),
        lambda _, group: groups.append(group),
    )
    return groups[0]


def parse_reference(entries: Sequence[str], answer: str | None) -> dict[str, Any]:
    """The reference of `--reference KEY=JSON` options and of `--answer`.

    >>> parse_reference(['tests=[{"input": "1", "output": "2"}]'], None)
    {'tests': [{'input': '1', 'output': '2'}]}

    Raises:
        ConfigError: an entry is not of that form.
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
        reference[key] = value
    return reference


def reward_line(verdicts: Verdicts, sources: Sequence[RewardSource]) -> str:
    """The reward of a completion and each verdict with its reason: `1.1: accuracy 1 (equal), ...`.

    Raises:
        KeyError: a source has no verdict.
    """
    parts = [f"{name} {_four(verdict.score)} ({verdict.why})" for name, verdict in verdicts.items()]
    return f"{_four(reward(verdicts, sources))}: {', '.join(parts)}"


def _four(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def score(config: Config, group: RolloutGroup, reference: dict[str, Any]) -> ScoredGroup:
    """The verdicts on a group by a reference; raises VerifierError and RewardError."""
    asked = replace(group, problem=_with_reference(group.problem, config.dataset, reference))
    with open_scorer(config.reward) as scorer:
        pending = scorer.submit(asked)
        (here,) = scorer.score_here([asked])
        return ScoredGroup(asked, combined(here, pending.result()))


def _with_reference(problem: Problem, config: DatasetConfig, reference: dict[str, Any]) -> Problem:
    """The problem with a reference, which also stands in the columns of the run's data set."""
    columns = {config.problem_column: problem.text}
    columns |= {
        column: reference[key]
        for key, column in config.reference_columns.items()
        if key in reference
    }
    return replace(problem, reference=reference, columns=columns)
