"""Reward functions for ms-swift's GRPO, for a file given with `--external_plugins`.

    from swift.rewards import ORM, orms
    from verifier_adapters.ms_swift import VerifierORM

    class Verified(VerifierORM, ORM): ...

    orms["verifier"] = Verified

A row with a column `profile` or `verifiers` is judged by these. ms-swift leaves out a reward of
None, as TRL does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verifier_adapters.client import Completion, Judgement, Verifier
from verifier_adapters.reference import label_in, naming_columns, reference_of, selections_in
from verifier_adapters.unjudged import warn_if_none_judged


class VerifierORM:
    """An outcome reward model that asks the service; its settings are the environment's.

    Set `column` in a subclass where the data set's references are not in `solution`.
    """

    column = "solution"
    """Column of the data set that holds the labels."""
    own_verifiers = True
    """Whether a row's columns `profile` and `verifiers` choose its verifiers."""

    def __init__(self, args: Any = None, **ignored: Any) -> None:
        self._verifier = Verifier()

    def __call__(self, completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        """Each completion's reward, None where it could not be judged. Raises VerifierError."""
        references, selections = self._asked(columns, len(completions))
        with naming_columns(selections):
            judged = self._verifier.judge(completions, references, selections=selections)
        return self._rewards(judged)

    def _asked(
        self, columns: dict[str, Any], num_rows: int
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any] | None]]:
        """The reference and the selection of each row."""
        labels = label_in(columns, self.column, "column = {!r} in a subclass")
        references = [reference_of(label) for label in labels]
        return references, selections_in(columns if self.own_verifiers else {}, num_rows)

    def _rewards(self, judged: Sequence[Judgement]) -> list[float | None]:
        warn_if_none_judged(judged, self.column)
        return [one.reward for one in judged]


class AsyncVerifierORM(VerifierORM):
    """A `VerifierORM` to be awaited; give it ms-swift's `AsyncORM` as the second base class."""

    async def __call__(  # type: ignore[override]
        self, completions: Sequence[Completion], **columns: Any
    ) -> list[float | None]:
        """Each completion's reward, None where it could not be judged. Raises VerifierError."""
        references, selections = self._asked(columns, len(completions))
        with naming_columns(selections):
            judged = await self._verifier.judge_async(
                completions, references, selections=selections
            )
        return self._rewards(judged)
