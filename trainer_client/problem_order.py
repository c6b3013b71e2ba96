"""The order in which a run takes its problems: that of each data set, and their mixture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

import torch

from trainer_client.data_sets import DataSet, require_enough_of_each
from trainer_client.dataset import Problem, require_enough
from trainer_client.rows import DatasetError
from trainer_client.solve_rates import MeasuredSolveRates

GOLDEN_RATIO = (math.sqrt(5) - 1) / 2
"""The fractional parts of its multiples are as evenly spread as those of any number can be."""


class ProblemOrder:
    """The order of one data set: each pass has a new one, a function of the seed.

    Raises:
        DatasetError: the data set has fewer problems than one step takes.
    """

    def __init__(self, problems: Sequence[Problem], *, per_step: int, seed: int) -> None:
        require_enough(problems, per_step=per_step)
        self._problems = problems
        self._seed = seed

    def take(
        self, position: int, count: int, *, wants: Callable[[Problem], bool] = lambda problem: True
    ) -> tuple[list[Problem], int]:
        """The next problems and the position after them.

        A position counts problems from the start of the run. Problems that are taken together are
        always of one pass, so all are different; the rest of a pass is skipped but counted.

        Args:
            position: 0 at first, then the position that the last call returned.
            count: number of problems to take, at most `per_step`.
            wants: problems for which it is False are skipped and counted. Where a whole pass has
                fewer than `count` others, the first that were skipped make up the number.
        """
        if not count:
            return [], position
        size = len(self._problems)
        first_pass, start = divmod(position, size)
        chosen: list[int] = []
        for pass_index, begin in ((first_pass, start), (first_pass + 1, 0)):
            order = self._order(pass_index)
            wanted = (place for place in range(begin, size) if wants(self._problems[order[place]]))
            chosen = list(islice(wanted, count))
            if len(chosen) == count:
                taken = [self._problems[order[place]] for place in chosen]
                return taken, pass_index * size + chosen[-1] + 1
        wanted_places = set(chosen)
        skipped = (place for place in range(size) if place not in wanted_places)
        chosen += islice(skipped, count - len(chosen))
        return [self._problems[order[place]] for place in chosen], (first_pass + 2) * size

    def _order(self, pass_index: int) -> list[int]:
        generator = torch.Generator().manual_seed(self._seed * 1_000_003 + pass_index)
        order: list[int] = torch.randperm(len(self._problems), generator=generator).tolist()
        return order


class MixPosition(NamedTuple):
    """The place of a run in its problems."""

    takes: int = 0
    """Number of times that problems were taken."""
    positions: tuple[int, ...] = ()
    """The position in the order of each data set; empty: at the beginning of all."""


class ProblemMix:
    """The data sets of a run, mixed by their shares.

    Each `take` has of a data set its share of the problems, rounded down or up, so that over many
    takes the numbers differ from the shares by next to nothing (systematic sampling, with offsets
    spread by the golden ratio). It is a function of the position alone.

    Raises:
        DatasetError: a data set has fewer problems than one step may take of it.
    """

    def __init__(
        self,
        data_sets: Sequence[DataSet],
        *,
        per_step: int,
        seed: int,
        measured: MeasuredSolveRates | None = None,
    ) -> None:
        require_enough_of_each(data_sets, per_step=per_step)
        self._data_sets = data_sets
        self._orders = [ProblemOrder(one.problems, per_step=0, seed=seed) for one in data_sets]
        self._ends = [*list(accumulate(one.share for one in data_sets))[:-1], 1.0]
        self.measured = measured or MeasuredSolveRates()
        """Solve rates of finished steps, which choose the problems of later ones."""

    def take(
        self, position: MixPosition, count: int, *, step: int = 1
    ) -> tuple[list[Problem], MixPosition]:
        """The next problems and the position after them; all of them are different.

        Args:
            position: the position that the last call returned, or that of a new run.
            count: number of problems to take, at most `per_step`.
            step: the step that they are for, from 1; measured solve rates are those before it.

        Raises:
            DatasetError: the position is that of other data sets.
        """
        places = position.positions or (0,) * len(self._orders)
        if len(places) != len(self._orders):
            raise DatasetError(
                f"the run has been training on {len(places)} data sets, and the configuration has "
                f"{len(self._orders)}: start another run from its model"
            )
        taken: list[Problem] = []
        after = []
        for index, number in enumerate(self._numbers(position.takes, count)):
            wants = self.measured.chooses(self._data_sets[index].config, step)
            problems, place = self._orders[index].take(places[index], number, wants=wants)
            taken += problems
            after.append(place)
        return taken, MixPosition(position.takes + 1, tuple(after))

    def _numbers(self, takes: int, count: int) -> list[int]:
        """How many problems of each data set the next take has; they sum to `count`."""
        offset = (takes + 1) * GOLDEN_RATIO % 1
        ends = [math.floor(count * end + offset) for end in self._ends[:-1]]
        bounds = [0, *(min(end, count) for end in ends), count]
        return [high - low for low, high in pairwise(bounds)]
