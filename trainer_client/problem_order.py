"""The order in which a run takes its problems."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainer_client.dataset import Problem, require_enough


class ProblemOrder:
    """The order in which problems are taken: each pass has a new one, a function of the seed.

    Raises:
        DatasetError: the data set has fewer problems than one step takes.
    """

    def __init__(self, problems: Sequence[Problem], *, per_step: int, seed: int) -> None:
        require_enough(problems, per_step=per_step)
        self._problems = problems
        self._seed = seed

    def take(self, position: int, count: int) -> tuple[list[Problem], int]:
        """The next problems and the position after them.

        A position counts problems from the start of the run. Problems that are taken together are
        always of one pass, so all are different; the rest of a pass is skipped but counted.

        Args:
            position: 0 at first, then the position that the last call returned.
            count: number of problems to take, at most `per_step`.
        """
        pass_index, start = divmod(position, len(self._problems))
        if start + count > len(self._problems):
            pass_index, start = pass_index + 1, 0
        generator = torch.Generator().manual_seed(self._seed * 1_000_003 + pass_index)
        order = torch.randperm(len(self._problems), generator=generator).tolist()
        chosen = [self._problems[index] for index in order[start : start + count]]
        return chosen, pass_index * len(self._problems) + start + count
