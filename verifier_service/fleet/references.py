"""Large references on their way to judges: once to each, through Ray's object store."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any

import msgspec
import ray

from verifier_service.workers.shared_references import SharedReferences
from verifier_service.workers.tasks import EncodedTask

STORED_BYTES = 2**18
"""Size in JSON from which a reference goes through the object store; smaller ones are sent with
each task, which costs less than asking for the object."""
MAX_STORED = 16
"""References that a gateway keeps in the object store."""

Stored = list[Any]
"""The object with the reference of a task, in a list, where Ray does not fetch it unasked."""


class StoredReferences:
    """The large references of a gateway, by name, each put into the object store once."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, asyncio.Task[Any]] = OrderedDict()

    async def take(self, task: EncodedTask) -> tuple[EncodedTask, Stored]:
        """The task to send: without its reference if that is stored, and the object then."""
        name = task.shared_name
        if name is None or sum(map(len, task.shared_reference)) < STORED_BYTES:
            return task, []
        if name not in self._held:
            put = asyncio.to_thread(ray.put, task.shared_reference)
            self._held[name] = asyncio.create_task(put)
            if len(self._held) > MAX_STORED:
                self._held.popitem(last=False)
        else:
            self._held.move_to_end(name)
        stored = await asyncio.shield(self._held[name])
        return msgspec.structs.replace(task, shared_reference=()), [stored]

    def forget(self, task: EncodedTask) -> None:
        """Put the reference of a task into the store again, when the next task needs it."""
        if task.shared_name is not None:
            self._held.pop(task.shared_name, None)


class FetchedReferences:
    """The references that a judge has fetched, the latest of them."""

    def __init__(self) -> None:
        self._held: SharedReferences[tuple[bytes, ...]] = SharedReferences()

    async def restore(self, task: EncodedTask, stored: Stored) -> EncodedTask:
        """The task with its reference. Raises RayError where the object is lost."""
        name = task.shared_name
        if name is None or not stored:
            return task
        if name in self._held:
            reference = self._held[name]
        else:
            reference = await stored[0]
            self._held.add(name, reference)
        return msgspec.structs.replace(task, shared_reference=reference)
