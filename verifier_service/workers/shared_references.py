"""Large references that a worker keeps, so that they need not come with each task.

Parent and worker keep the same names by the same rule. So the parent knows which references the
worker has without asking.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from verifier_service.workers.tasks import TaskPart

MAX_REFERENCES = 4

T = TypeVar("T")


class SharedReferences(Generic[T]):
    """The latest references by name, with a value for each."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, T] = OrderedDict()

    def __contains__(self, name: str) -> bool:
        return name in self._held

    def __getitem__(self, name: str) -> T:
        return self._held[name]

    def add(self, name: str, value: T) -> None:
        """Hold one more, and forget the first that was added if there are too many."""
        self._held[name] = value
        if len(self._held) > MAX_REFERENCES:
            self._held.popitem(last=False)


class WorkerReferences(Generic[T]):
    """A worker's references: shared ones, and those that come with a part of a task.

    Args:
        read: makes the worker's form of a reference, once for each that arrives.
    """

    def __init__(self, read: Callable[[dict[str, Any]], T]) -> None:
        self._read = read
        self._shared: SharedReferences[T] = SharedReferences()

    def keep(self, name: str, reference: bytes) -> None:
        """Keep a reference, given in JSON, for later tasks."""
        self._shared.add(name, self._read(_decode(reference)))

    def of_part(self, part: TaskPart) -> T:
        """The reference of a part, its own or a shared one."""
        if part.shared_reference is not None:
            return self._shared[part.shared_reference]
        assert part.reference is not None, "a part has a reference of its own or a shared one"
        return self._read(_decode(part.reference))


def _decode(reference: bytes) -> dict[str, Any]:
    return msgspec.json.decode(reference, type=dict[str, Any])
