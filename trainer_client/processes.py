"""The processes of a run: this one alone, or those that torchrun has started.

A collective call is made by every process or by none: a process that left it out would let the
others wait for ever. So errors are shared before they are raised.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar, cast

import torch
from torch import distributed

from trainer_client.config.run_config import Config, ConfigError
from trainer_client.errors import TrainerError

T = TypeVar("T")


class OtherProcessFailed(TrainerError):
    """Another process cannot go on; the message is that of its error."""


@dataclass(frozen=True)
class Processes:
    """The processes of a run, as one of them sees them."""

    rank: int = 0
    """Number of this process, from 0."""
    size: int = 1
    """Number of processes."""

    @property
    def leads(self) -> bool:
        """Whether this process writes the run's files."""
        return self.rank == 0

    def share(self, items: list[T]) -> list[T]:
        """This process's part of items that all processes have.

        Parts are equally long when the number of items is a multiple of the processes.
        """
        return items[self.rank :: self.size]

    def gather(self, value: T) -> list[T]:
        """The values of all processes, by rank; a value must be picklable. Collective."""
        if self.size == 1:
            return [value]
        values: list[T] = [value] * self.size
        distributed.all_gather_object(values, value)
        return values

    def agree(self, work: Callable[[], T], *expected: type[Exception]) -> T:
        """The result of work, if the work of every process has succeeded. Collective.

        Raises:
            expected: the error of this process's work.
            OtherProcessFailed: only the work of another process has failed.
        """
        error, result = None, None
        try:
            result = work()
        except expected as found:
            error = found
        messages = self.gather(None if error is None else str(error))
        if error is not None:
            raise error
        for rank, message in enumerate(messages):
            if message is not None:
                raise OtherProcessFailed(f"process {rank}: {message}")
        return cast(T, result)

    def any(self, flag: bool) -> bool:
        """Whether the flag is True in any process. Collective."""
        return any(self.gather(flag))

    def seed_step(self, seed: int, step: int) -> None:
        """Give each of several processes random numbers of its own, a function of the step."""
        if self.size > 1:
            torch.manual_seed(self.step_seed(seed, step))

    def step_seed(self, seed: int, step: int) -> int:
        """A seed that no other process and no other step of the run has."""
        return (seed * 1_000_003 + step) * self.size + self.rank


def check_processes(config: Config, processes: Processes) -> None:
    """Raise ConfigError when a setting does not go with several processes."""
    if processes.size == 1:
        return
    if config.rollout.prompts_per_step % processes.size:
        raise ConfigError(
            f"rollout.prompts_per_step {config.rollout.prompts_per_step} is not a multiple of the "
            f"{processes.size} processes"
        )
    for setting, (given, reason) in _of_one_process(config).items():
        if given:
            raise ConfigError(f"{setting}: not with {processes.size} processes, because {reason}")


def _of_one_process(config: Config) -> dict[str, tuple[bool, str]]:
    """Settings that need one process: whether each is given, and the reason."""
    rollout, train = config.rollout, config.train
    return {
        "rollout.engine vllm": (
            rollout.engine == "vllm",
            "an engine in one of them would need the others' parts of the weights; use vllm_server",
        ),
        f"optimizer.type {config.optimizer.type}": (
            config.optimizer.type != "adamw",
            "each of them has a part of every matrix, and it needs whole ones",
        ),
        "train.offload_activations": (
            config.train.offload_activations,
            "layers that were gathered would be moved with what they keep",
        ),
        "train.compile": (
            config.train.compile,
            "each layer gathers its weights in code that would be compiled with it",
        ),
        "train.max_staleness_steps 1 with rollout.max_refills": (
            train.max_staleness_steps == 1 and rollout.max_refills > 0,
            "a thread beside the update cannot count the refills of all of them",
        ),
    }


@contextmanager
def launched(device: str) -> Iterator[Processes]:
    """The processes that torchrun has started, connected; without torchrun this one alone.

    Args:
        device: `model.device`. On GPUs each process of a machine has one of its own.

    Raises:
        ConfigError: this machine has fewer GPUs than processes.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or distributed.is_initialized():
        yield Processes()
        return
    on_gpus = device != "cpu" and torch.cuda.is_available()
    if on_gpus:
        torch.cuda.set_device(_own_gpu())
    distributed.init_process_group("cuda:nccl,cpu:gloo" if on_gpus else "gloo")
    try:
        yield Processes(distributed.get_rank(), distributed.get_world_size())
        # Without the barrier, a process that ends while another still talks to it can be aborted
        # by the threads of its own backend.
        distributed.barrier()
    finally:
        distributed.destroy_process_group()


def _own_gpu() -> int:
    """The number of this process's GPU; raises ConfigError if the machine has too few."""
    here = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    if here > torch.cuda.device_count():
        raise ConfigError(
            f"model.device: {here} processes on this machine, which has "
            f"{torch.cuda.device_count()} GPU(s), and each process needs one of its own: start "
            "fewer processes, or set model.device to cpu"
        )
    return int(os.environ["LOCAL_RANK"])


def sum_over_processes(sums: Mapping[str, float]) -> dict[str, float]:
    """Each value summed over the processes of `torch.distributed`, if it runs. Collective."""
    if not distributed.is_initialized():
        return dict(sums)
    values = torch.tensor([sums[name] for name in sorted(sums)], dtype=torch.float64)
    distributed.all_reduce(values)
    return dict(zip(sorted(sums), values.tolist(), strict=True))


def max_over_processes(count: int) -> int:
    """The largest count of the processes of `torch.distributed`, if it runs. Collective."""
    if not distributed.is_initialized():
        return count
    value = torch.tensor(count)
    distributed.all_reduce(value, distributed.ReduceOp.MAX)
    return int(value)
