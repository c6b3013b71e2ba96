"""Solve rates measured while a run goes on: they choose the problems of later steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from trainer_client.config.training_dataset import TrainingDatasetConfig
from trainer_client.problems import Problem

if TYPE_CHECKING:
    from trainer_client.run.rollout_log import SolveRate

Key = tuple[str, str]
"""Label of the data set, id of the problem."""


class MeasuredSolveRates:
    """How often problems were solved in each of the last steps.

    What a step chooses depends on earlier steps alone, not on when it is asked: a resumed run,
    which reads them from `solve_rates.jsonl`, chooses as if it had not stopped.

    Args:
        lag: number of steps before a step whose rates it does not know yet; 1 where problems are
            taken while the step before them is trained on.
    """

    def __init__(self, *, lag: int = 0) -> None:
        self._lag = lag
        self._steps: dict[int, Mapping[Key, tuple[int, int]]] = {}

    def record(self, step: int, rates: Iterable[SolveRate]) -> None:
        """Note the solve rates of a finished step."""
        self._steps[step] = {
            (rate.dataset, rate.id): (rate.passed, rate.judged) for rate in rates if rate.judged
        }

    def restore(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Note the rows of `solve_rates.jsonl`."""
        found: dict[int, dict[Key, tuple[int, int]]] = {}
        for row in rows:
            if row["judged"]:
                key = (row.get("dataset", ""), row["id"])
                found.setdefault(row["step"], {})[key] = (row["passed"], row["judged"])
        self._steps.update(found)

    def chooses(self, config: TrainingDatasetConfig, step: int) -> Callable[[Problem], bool]:
        """Whether a step takes a problem of this data set.

        A problem is taken unless its completions of the last `solve_rate_steps` steps have a solve
        rate outside the range. Without any it is taken: so each comes back, however it stood.
        """
        if config.solve_rate_steps is None:
            return lambda problem: True
        rates = self._rates(range(step - self._lag - config.solve_rate_steps, step - self._lag))
        low, high = config.solve_rate_range

        def takes(problem: Problem) -> bool:
            rate = rates.get((problem.dataset, problem.id))
            return rate is None or low <= rate <= high

        return takes

    def _rates(self, steps: Iterable[int]) -> dict[Key, float]:
        """The solve rate of each problem over these steps."""
        counts: dict[Key, tuple[int, int]] = {}
        for step in steps:
            for key, (passed, judged) in self._steps.get(step, {}).items():
                before = counts.get(key, (0, 0))
                counts[key] = (before[0] + passed, before[1] + judged)
        return {key: passed / judged for key, (passed, judged) in counts.items()}
