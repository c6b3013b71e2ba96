"""How the problems of several data sets are mixed by their shares, and a run's place in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from trainer_client.data_sets import DataSet, require_enough_of_each
from trainer_client.problem_order import ProblemOrder
from trainer_client.problems import Problem
from trainer_client.row_files import DatasetError
from trainer_client.solve_rates import MeasuredSolveRates

GOLDEN_RATIO = (math.sqrt(5) - 1) / 2
"""The fractional parts of its multiples are as evenly spread as those of any number can be."""


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
        self._orders = [ProblemOrder(one.problems, seed=seed) for one in data_sets]
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
