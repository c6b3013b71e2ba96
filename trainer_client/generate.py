"""Prompt a trained model and score its completions."""

from __future__ import annotations

from dataclasses import replace

import torch

from trainer_client.config.run_config import Config
from trainer_client.config.sections import DatasetConfig
from trainer_client.dataset import Problem, with_system_prompt
from trainer_client.policy.policy import load_policy
from trainer_client.reward.group_scoring import ScoredGroup, combined, open_scorer
from trainer_client.rollout import RolloutGroup, Sampling
from trainer_client.rollout.transformers import TransformersEngine


def generate(config: Config, prompt: str, *, num_completions: int, seed: int) -> RolloutGroup:
    """Sample completions of a prompt that is posed as the run's data set poses its problems."""
    torch.manual_seed(seed)
    policy = load_policy(config.model)
    messages = with_system_prompt([{"role": "user", "content": prompt}], config.dataset)
    groups: list[RolloutGroup] = []
    TransformersEngine(policy, batch_size=config.rollout.batch_size).generate(
        [Problem("prompt", tuple(messages), {})],
        Sampling(
            group_size=num_completions,
            max_completion_tokens=config.rollout.max_completion_tokens,
            temperature=config.rollout.temperature,
            top_p=config.rollout.top_p,
        ),
        lambda _, group: groups.append(group),
    )
    return groups[0]


def score(config: Config, group: RolloutGroup, answer: str) -> ScoredGroup:
    """The verdicts on a group, given the right answer; raises VerifierError and RewardError."""
    asked = replace(group, problem=_with_answer(group.problem, config.dataset, answer))
    with open_scorer(config.reward) as scorer:
        pending = scorer.submit(asked)
        (here,) = scorer.score_here([asked])
        return ScoredGroup(asked, combined(here, pending.result()))


def _with_answer(problem: Problem, config: DatasetConfig, answer: str) -> Problem:
    """The problem with the answer, in its reference and in the column of the run's data set."""
    columns = {config.problem_column: problem.text}
    if "answer" in config.reference_columns:
        columns[config.reference_columns["answer"]] = answer
    return replace(problem, reference={"answer": answer}, columns=columns)
