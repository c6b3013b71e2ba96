"""The findings of a check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from reward_verifier.errors import VerifierError
from trainer_client.errors import TrainerError


@dataclass(frozen=True)
class Findings:
    """The lines that a check says, in the order in which they were found."""

    problems: list[str] = field(default_factory=list)
    """Each stops the run."""
    warnings: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    """Parts that are as they should be."""

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Inside, an error that the user can mend is noted as a problem, and ends the block."""
        try:
            yield
        except (TrainerError, VerifierError) as error:
            self.problems.append(" ".join(str(error).split()))
