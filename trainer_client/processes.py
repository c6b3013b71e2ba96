"""The processes of a run: one, or those that torchrun has started.

What every process has to take part in is called by all of them or by none: a process that left the
others waiting would hang the run. So errors are shared before they are raised.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import distributed

T = TypeVar("T")


class OtherProcessFailed(RuntimeError):
    """Another process cannot go on; the message is its error's."""


@dataclass(frozen=True)
class Processes:
    """This process among them."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes the run's files."""
        return self.rank == 0

    def share(self, items: list[T]) -> list[T]:
        """This process's part of items that all processes have; the same number in each."""
        return items[self.rank :: self.size]

    def gather(self, value: T) -> list[T]:
        """The values of all processes, in their order; of what can be pickled."""
        if self.size == 1:
            return [value]
        values: list[T] = [value] * self.size
        distributed.all_gather_object(values, value)
        return values

    def raise_together(self, error: Exception | None) -> None:
        """Raise this process's error, or OtherProcessFailed where only another has one."""
        messages = self.gather(None if error is None else str(error))
        if error is not None:
            raise error
        for rank, message in enumerate(messages):
            if message is not None:
                raise OtherProcessFailed(f"process {rank}: {message}")


@contextmanager
def launched() -> Iterator[Processes]:
    """The processes that torchrun has started, connected; without torchrun this one alone."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or distributed.is_initialized():
        yield Processes()
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("cuda:nccl,cpu:gloo" if torch.cuda.is_available() else "gloo")
    try:
        yield Processes(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
