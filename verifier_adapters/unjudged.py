"""The warning about a call without any reward.

Each adapter says in its own file what its framework gets for a completion without a reward.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from verifier_adapters.client import Judgement


def warn_if_none_judged(judgements: Sequence[Judgement], column: str | None) -> None:
    """Warn where no completion of a call has a reward; Python shows equal warnings once.

    Args:
        judgements: those of all completions of the call.
        column: the column that holds the labels; None: the whole row is the label.
    """
    if judgements and all(one.reward is None for one in judgements):
        labels = "reference_format" if column is None else f"the column {column!r} of the labels"
        warnings.warn(
            f"the verifier could judge no completion of a call ({judgements[0].why}), so that "
            f"nothing is learnt from it; is {labels} right?",
            stacklevel=2,
        )
