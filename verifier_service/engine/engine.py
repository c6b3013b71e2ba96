"""The engine behind a request: the workers, and the verdicts that other requests had.

`Scheduler` is it in the API process. The process of a large request reaches it by messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from verifier_service.verdict import Verdict
from verifier_service.verdict_store.records import StoredTexts
from verifier_service.verifier import OpenQuestion
from verifier_service.workers.tasks import EncodedTask, TaskResult

OnVerdict = Callable[[int, Verdict], None]
"""Called with the index of a question and the verdict on it."""


class NoWorkers(Exception):
    """No worker of the kind that a task needs is running."""


class Engine(Protocol):
    """Judges the tasks of a request, and remembers verdicts for other requests."""

    def num_workers(self, kind: str) -> int:
        """The number of workers of a kind."""
        ...

    async def judge(
        self, task: EncodedTask, verdicts: list[TaskResult], keys: Sequence[bytes] = ()
    ) -> None:
        """Append a verdict for each completion of the task, in order, as they come.

        Cancelling the call ends the work.

        Args:
            task: completions to judge.
            verdicts: is appended to.
            keys: cache keys of the verdicts; none if they may not be cached.

        Raises:
            NoWorkers: no worker can take the task.
        """
        ...

    @property
    def keeps_verdicts(self) -> bool:
        """Whether `keep` keeps anything."""
        ...

    @property
    def max_questions(self) -> int | None:
        """Most questions to a model for one request; None: any number."""
        ...

    async def ask(self, questions: Sequence[OpenQuestion], on_verdict: OnVerdict) -> None:
        """Have a server, such as a model, settle what an `AskingVerifier` left open.

        Cancelling the call ends the work.

        Args:
            questions: that are asked beside each other.
            on_verdict: is called for each question, as the verdicts come.
        """
        ...

    async def look_up(self, keys: Sequence[bytes]) -> list[Verdict | None]:
        """The cached verdict of each key; None where the cache has none."""
        ...

    def keep(self, verdicts: Sequence[tuple[bytes, Verdict]]) -> None:
        """Cache verdicts by their keys."""
        ...

    @property
    def stored_texts(self) -> StoredTexts | None:
        """Form in which the store of verdicts keeps texts; None: there is no store."""
        ...

    async def record(self, record: bytes, num_verdicts: int) -> None:
        """Give the store a record of so many verdicts, which it may drop."""
        ...
