"""One held-out problem, answered greedily before the training and after it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from trainer_client.config.run_config import Config
from trainer_client.episodes.episode_engine import in_environment
from trainer_client.generate import reward_line
from trainer_client.policy.policy import load_policy
from trainer_client.problems import Problem, load_problems
from trainer_client.reward.group_scoring import ScoredGroup, generate_and_score, open_scorer
from trainer_client.rollout import Rollout, Sampling
from trainer_client.rollout.engines import transformers_engine
from trainer_client.run.console import say
from trainer_client.run.rollout_log import PASSING_SCORE


def mistakes(config: Config) -> list[ScoredGroup]:
    """The held-out problems that the start model gets wrong, or else the first, as judged."""
    problems = load_problems(config.evaluation[0].dataset)
    answered = answer(config, Path(config.model.path), problems)
    return [one for one in answered if _is_right(config, one) is False] or answered[:1]


def _is_right(config: Config, item: ScoredGroup) -> bool | None:
    """Whether the answer is right; None: it could not be judged."""
    score = item.verdicts[0][config.reward.main.key].score
    return None if score is None else score >= PASSING_SCORE


def answer(config: Config, model: Path, problems: Sequence[Problem]) -> list[ScoredGroup]:
    """One greedy completion of each problem by the model of a folder, with its verdicts."""
    policy = load_policy(config.model.model_copy(update={"path": str(model)}))
    sampler = transformers_engine(policy, config.rollout)
    engine = in_environment(sampler, policy, config)
    sampling = replace(Sampling.configured(config.rollout), group_size=1, temperature=0.0)
    with closing(engine), open_scorer(config.reward) as scorer:
        return generate_and_score(engine, scorer, problems, sampling).groups


def tell(config: Config, before: Sequence[ScoredGroup], after: Sequence[ScoredGroup]) -> None:
    """Print the answers to one problem with their rewards and verdicts."""
    index, which = most_telling(
        [_is_right(config, one) for one in before], [_is_right(config, one) for one in after]
    )
    problem = before[index].group.problem
    say(
        f"a held-out problem, {problem.text} (answer {problem.reference['answer']}){which}; greedy:"
    )
    for name, item in (("before", before[index]), ("after", after[index])):
        (rollout,), (verdicts,) = item.group.rollouts, item.verdicts
        say(f"  {name:<6}  {' '.join(_whole_text(rollout).split())}")
        say(f"          reward {reward_line(verdicts, config.reward.sources)}")


def most_telling(before: Sequence[bool | None], after: Sequence[bool | None]) -> tuple[int, str]:
    """The index of the problem to show, and why that one.

    Args:
        before: whether each answer was right before the training; None: not judged.
        after: the same after it.

    >>> most_telling([False, False], [False, True])
    (1, ', the first that training mended')
    >>> most_telling([False], [False])
    (0, ', the first that it got wrong before; training mended none')
    >>> most_telling([True], [True])
    (0, '')
    """
    wrong = [index for index, was_right in enumerate(before) if was_right is False]
    mended = [index for index in wrong if after[index]]
    if mended:
        return mended[0], ", the first that training mended"
    if wrong:
        return wrong[0], ", the first that it got wrong before; training mended none"
    return 0, ""


def _whole_text(rollout: Rollout) -> str:
    """The text of a completion, of an episode with its observations."""
    if rollout.episode is None:
        return rollout.text
    said = (
        one["content"] if one["role"] == "assistant" else f"-> {one['content']} ->"
        for one in rollout.episode.messages
    )
    return " ".join(said)
