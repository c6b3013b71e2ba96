"""Evaluations: unbiased pass@k on held-out problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from trainer_client.config.reward_sections import EvaluationConfig
from trainer_client.config.rollout_section import RolloutConfig
from trainer_client.errors import TrainerError
from trainer_client.pass_at_k import pass_at_k
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import (
    ScoredGroup,
    Scorer,
    generate_and_score,
    why_lost,
)
from trainer_client.reward.selection import question_of
from trainer_client.rollout import RolloutEngine, Sampling
from trainer_client.run.rollout_log import SolveRate, solve_rate
from trainer_client.run.step_progress import STEP


class NothingJudged(TrainerError):
    """The verifier judged too few completions for the metric to exist."""


@dataclass(frozen=True)
class EvaluationResult:
    """The result of one evaluation."""

    pass_at_k: dict[int, float]
    """Mean over problems of the unbiased estimate, by k."""
    num_problems: int
    unjudged_fraction: float
    """Share of completions without a score; they count neither as passed nor as failed."""
    solve_rates: tuple[SolveRate, ...] = ()
    """One rate for each problem."""

    def metrics(self, prefix: str) -> dict[str, float]:
        """Values for the metrics log, their names starting with the prefix."""
        values = {f"{prefix}/pass@{k}": value for k, value in self.pass_at_k.items()}
        return {
            **values,
            f"{prefix}/problems": self.num_problems,
            f"{prefix}/unjudged_fraction": self.unjudged_fraction,
        }


def evaluate(
    engine: RolloutEngine,
    scorer: Scorer,
    problems: Sequence[Problem],
    rollout: RolloutConfig,
    evaluation: EvaluationConfig,
) -> EvaluationResult:
    """Sample, score and summarise; raises VerifierError and NothingJudged.

    The evaluation's sampling settings default to those of the rollout.
    """
    temperature = evaluation.temperature
    sampling = replace(
        Sampling.configured(rollout),
        group_size=evaluation.num_samples,
        max_completion_tokens=evaluation.max_completion_tokens or rollout.max_completion_tokens,
        temperature=rollout.temperature if temperature is None else temperature,
        top_p=evaluation.top_p or rollout.top_p,
    )
    STEP.name(evaluation.prefix)
    scored = generate_and_score(engine, scorer, problems, sampling, question_of(evaluation))
    if not scored.groups:
        raise NothingJudged(f"no problem has completions: {why_lost(scored.lost)}")
    return summarise(
        scored.groups, verifier=evaluation.verifier, ks=evaluation.k, num_lost=len(scored.lost)
    )


def summarise(
    groups: Sequence[ScoredGroup], *, verifier: str, ks: Sequence[int], num_lost: int = 0
) -> EvaluationResult:
    """pass@k over the problems that have at least k judged completions; raises NothingJudged.

    Args:
        groups: the scored groups.
        verifier: a completion passes by the score of this verdict.
        ks: the values of k.
        num_lost: number of groups that were lost; all of their completions are unjudged.
    """
    rates = tuple(solve_rate(group, _passes_by(group, verifier)) for group in groups)
    results = {}
    for k in ks:
        values = [pass_at_k(rate.judged, rate.passed, k) for rate in rates if rate.judged >= k]
        if not values:
            raise NothingJudged(
                f"no problem has {k} completions judged by {verifier!r}, so pass@{k} is unknown"
            )
        results[k] = sum(values) / len(values)
    num_judged = sum(rate.judged for rate in rates)
    num_completions = sum(len(group.verdicts) for group in groups)
    num_completions += num_lost * (num_completions // len(groups))
    unjudged_fraction = 1 - num_judged / num_completions
    return EvaluationResult(results, len(groups) + num_lost, unjudged_fraction, rates)


def _passes_by(group: ScoredGroup, verifier: str) -> str:
    """The verdict by which a group's completions pass; raises NothingJudged.

    A row that names its own verifiers, without this one, passes by its main one.
    """
    if verifier in group.verdicts[0]:
        return verifier
    own = group.group.problem.reward
    if own is not None and own.main.key in group.verdicts[0]:
        return own.main.key
    raise NothingJudged(
        f"evaluation.verifier is {verifier!r}, but there are verdicts only of "
        f"{sorted(group.verdicts[0])}"
    )


class Evaluations:
    """The evaluations of a run, with their problems.

    Args:
        configs: one section for each evaluation.
        problems: the problems of each.
        rollout: sampling settings that an evaluation does not set itself.
        last_step: the step after which all evaluations are due.
    """

    def __init__(
        self,
        configs: Sequence[EvaluationConfig],
        problems: Sequence[Sequence[Problem]],
        rollout: RolloutConfig,
        *,
        last_step: int,
    ) -> None:
        self._configs = configs
        self._rollout = rollout
        self._last_step = last_step
        self._problems = problems

    def due(self, step: int) -> dict[str, EvaluationConfig]:
        """The evaluations to run after this step, by the prefix of their metrics.

        All of them are due before the first step (0) and after the last.
        """
        return {
            evaluation.prefix: evaluation
            for evaluation in self._configs
            if step in (0, self._last_step)
            or (evaluation.every_steps is not None and step % evaluation.every_steps == 0)
        }

    def run(self, step: int, engine: RolloutEngine, scorer: Scorer) -> dict[str, float]:
        """Metrics of the evaluations that are due; never changes the training.

        Raises:
            VerifierError, NothingJudged: see `evaluate`.
        """
        metrics: dict[str, float] = {}
        due = self.due(step)
        for evaluation, problems in zip(self._configs, self._problems, strict=True):
            if evaluation.prefix in due:
                with torch.random.fork_rng():
                    result = evaluate(engine, scorer, problems, self._rollout, evaluation)
                metrics |= result.metrics(evaluation.prefix)
        return metrics

    def join(self, step: int, engine: RolloutEngine) -> None:
        """Take part in `run` of another process, whose engine may need this one's weights."""
        sampling = Sampling.configured(self._rollout)
        for _ in self.due(step):
            engine.generate([], sampling, lambda index, group: None)
