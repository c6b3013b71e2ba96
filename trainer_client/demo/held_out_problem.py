"""One held-out problem, answered greedily before the training and after it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from trainer_client.config.run_config import Config
from trainer_client.dataset import Problem, load_problems
from trainer_client.episodes.episode_engine import in_environment
from trainer_client.generate import reward_line
from trainer_client.policy.policy import load_policy
from trainer_client.reward.group_scoring import ScoredGroup, generate_and_score, open_scorer
from trainer_client.rollout import Rollout, Sampling
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.run.console import say
from trainer_client.run.rollout_log import PASSING_SCORE


def first_mistake(config: Config) -> ScoredGroup:
    """The first held-out problem that the start model gets wrong, or else the first, as judged."""
    problems = load_problems(config.evaluation[0].dataset)
    answered = answer(config, Path(config.model.path), problems)
    return next((one for one in answered if _is_wrong(config, one)), answered[0])


def _is_wrong(config: Config, item: ScoredGroup) -> bool:
    score = item.verdicts[0][config.reward.main.key].score
    return score is not None and score < PASSING_SCORE


def answer(config: Config, model: Path, problems: Sequence[Problem]) -> list[ScoredGroup]:
    """One greedy completion of each problem by the model of a folder, with its verdicts."""
    policy = load_policy(config.model.model_copy(update={"path": str(model)}))
    sampler = TransformersEngine(policy, batch_size=config.rollout.batch_size)
    engine = in_environment(sampler, policy, config)
    sampling = replace(Sampling.configured(config.rollout), group_size=1, temperature=0.0)
    with closing(engine), open_scorer(config.reward) as scorer:
        return generate_and_score(engine, scorer, problems, sampling).groups


def tell(config: Config, before: ScoredGroup, after: ScoredGroup) -> None:
    """Print both answers with their rewards and verdicts."""
    problem = before.group.problem
    which = ", the first that it got wrong before" if _is_wrong(config, before) else ""
    say(
        f"a held-out problem, {problem.text} (answer {problem.reference['answer']}){which}; greedy:"
    )
    for name, item in (("before", before), ("after", after)):
        (rollout,), (verdicts,) = item.group.rollouts, item.verdicts
        say(f"  {name:<6}  {' '.join(_whole_text(rollout).split())}")
        say(f"          reward {reward_line(verdicts, config.reward.sources)}")


def _whole_text(rollout: Rollout) -> str:
    """The text of a completion, of an episode with its observations."""
    if rollout.episode is None:
        return rollout.text
    said = (
        one["content"] if one["role"] == "assistant" else f"-> {one['content']} ->"
        for one in rollout.episode.messages
    )
    return " ".join(said)
