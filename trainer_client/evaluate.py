"""Unbiased pass@k on held-out problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from trainer_client.config import Config, EvaluationConfig
from trainer_client.dataset import Problem
from trainer_client.rollout import RolloutEngine, Sampling
from trainer_client.scoring import ScoredGroup, Scorer, generate_and_score

PASSING_SCORE = 0.99


class NothingJudged(RuntimeError):
    """The verifier judged too few completions for the metric to exist."""


@dataclass(frozen=True)
class Evaluation:
    """The result of one evaluation."""

    pass_at_k: dict[int, float]
    """k -> mean over problems of the unbiased estimate."""
    num_problems: int
    unjudged_fraction: float
    """Share of completions without a score; they count neither as passed nor as failed."""

    @property
    def metrics(self) -> dict[str, float]:
        """For the metrics log."""
        values = {f"evaluation/pass@{k}": value for k, value in self.pass_at_k.items()}
        return {**values, "evaluation/unjudged_fraction": self.unjudged_fraction}


def pass_at_k(num_samples: int, num_passed: int, k: int) -> float:
    """1 - C(n - c, k) / C(n, k): the chance that at least one of k samples passes.

    The unbiased estimate from n samples of which c passed (Chen et al., arXiv 2107.03374, eq. 1).

    >>> pass_at_k(10, 3, 1)
    0.3
    >>> pass_at_k(2, 1, 2)
    1.0
    """
    if not 0 <= num_passed <= num_samples or not 1 <= k <= num_samples:
        raise ValueError(f"pass@{k} of {num_passed} passed in {num_samples} samples")
    return round(1 - comb(num_samples - num_passed, k) / comb(num_samples, k), 12)


def evaluate(
    engine: RolloutEngine,
    scorer: Scorer,
    problems: Sequence[Problem],
    config: Config,
    evaluation: EvaluationConfig,
) -> Evaluation:
    """Sample, score and summarise; raises VerifierError and NothingJudged."""
    sampling = Sampling(
        group_size=evaluation.num_samples,
        max_completion_tokens=config.rollout.max_completion_tokens,
        temperature=config.rollout.temperature,
        top_p=config.rollout.top_p,
    )
    scored = generate_and_score(engine, scorer, problems, sampling)
    return summarise(scored.groups, verifier=evaluation.verifier, ks=evaluation.k)


def summarise(groups: Sequence[ScoredGroup], *, verifier: str, ks: Sequence[int]) -> Evaluation:
    """pass@k over the problems that have at least k judged completions; raises NothingJudged."""
    counts = []
    num_completions = 0
    for group in groups:
        scores = [verdicts[verifier].score for verdicts in group.verdicts]
        judged = [score for score in scores if score is not None]
        num_completions += len(scores)
        counts.append((len(judged), sum(score >= PASSING_SCORE for score in judged)))
    results = {}
    for k in ks:
        values = [pass_at_k(judged, passed, k) for judged, passed in counts if judged >= k]
        if not values:
            raise NothingJudged(
                f"no problem has {k} completions judged by {verifier!r}, so pass@{k} is unknown"
            )
        results[k] = sum(values) / len(values)
    num_judged = sum(judged for judged, _ in counts)
    return Evaluation(results, len(groups), 1 - num_judged / num_completions)
