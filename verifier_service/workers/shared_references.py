"""Large references that a worker keeps, so that they need not come with each task.

Parent and worker keep the same names by the same rule. So the parent knows which references the
worker has without asking.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec

from verifier_service.reference_formats.reading import resolved
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
        self._shared: SharedReferences[_Kept[T]] = SharedReferences()

    def keep(self, name: str, reference: bytes) -> None:
        """Keep a reference, given in JSON, for later tasks."""
        self._shared.add(name, _Kept(self._read, reference))

    def of_part(self, part: TaskPart) -> T:
        """The reference of a part, its own or a shared one.

        Raises:
            Unverifiable: it is a row of a data set that no format fits.
        """
        if part.shared_reference is not None:
            return self._shared[part.shared_reference].value
        assert part.reference is not None, "a part has a reference of its own or a shared one"
        return self._read(_resolved(part.reference))


class _Kept(Generic[T]):
    """A shared reference, read when the first task needs it: there, errors have a place."""

    def __init__(self, read: Callable[[dict[str, Any]], T], reference: bytes) -> None:
        self._read = read
        self._reference = reference

    @cached_property
    def value(self) -> T:
        """The worker's form of the reference."""
        value = self._read(_resolved(self._reference))
        self._reference = b""
        return value


def _resolved(reference: bytes) -> dict[str, Any]:
    """The reference in JSON; of a row of a data set, what its format reads. Raises Unverifiable."""
    return resolved(msgspec.json.decode(reference, type=dict[str, Any]))
