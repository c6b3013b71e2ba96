"""Large references that a worker holds, so that they need not come with each task.

Parent and worker each keep the names, by the same rule, so that the parent knows what the worker
has without asking.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from verifier_service.workers.tasks import TaskPart

MAX_REFERENCES = 4

T = TypeVar("T")


class SharedReferences(Generic[T]):
    """The latest references by name, with what is kept of each."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, T] = OrderedDict()

    def __contains__(self, name: str) -> bool:
        return name in self._held

    def __getitem__(self, name: str) -> T:
        return self._held[name]

    def add(self, name: str, value: T) -> None:
        """Hold one more, and forget the one that came first if there are too many."""
        self._held[name] = value
        if len(self._held) > MAX_REFERENCES:
            self._held.popitem(last=False)


def reference_of(part: TaskPart, shared: SharedReferences[dict[str, Any]]) -> Mapping[str, Any]:
    """The reference of a part, its own or a shared one."""
    if part.shared_reference is not None:
        return shared[part.shared_reference]
    assert part.reference is not None, "a part has a reference of its own or a shared one"
    return part.reference
