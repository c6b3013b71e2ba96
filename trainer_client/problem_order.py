"""The order in which a run takes the problems of one data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import torch

from trainer_client.problems import Problem


class ProblemOrder:
    """The order of one data set: each pass has a new one, a function of the seed."""

    def __init__(self, problems: Sequence[Problem], *, seed: int) -> None:
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
            count: number of problems to take, at most all of the data set.
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
