"""Transfers of the policy's weights to vLLM servers.

`disk` works everywhere. `nccl` and `ipc` are vLLM's weight-transfer protocol between GPUs
(`--weight-transfer-config '{"backend": "nccl"}'` or `"ipc"` at the server), spoken without vLLM.
"""

from __future__ import annotations

import asyncio
import base64
import pickle
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.multiprocessing.reductions import reduce_tensor
from transformers import PreTrainedModel

from trainer_client.config.rollout_section import VllmServerConfig
from trainer_client.policy.weights import (
    Weights,
    checkpoint_weights,
    leads_processes,
    save_weights,
)
from trainer_client.rollout import RolloutError
from trainer_client.rollout.daemon_thread import start_daemon
from trainer_client.rollout.nccl import Communicator, unique_id

WeightsOf = Callable[[PreTrainedModel], Weights]
"""The weights of a model that are sent: merged, or those of its base."""

AskEach = Callable[..., Awaitable[list[Any]]]
"""Asks every server at once: `await each("POST", "/resume")` gives their responses in order."""


class WeightTransfer(Protocol):
    """One way to transfer weights; servers are paused while it is used."""

    def prepare(self, model: PreTrainedModel, weights_of: WeightsOf = checkpoint_weights) -> None:
        """Collect the weights of all processes; comes before `send`. Collective.

        Raises RolloutError.
        """
        ...

    async def send(self, model: PreTrainedModel, each: AskEach) -> None:
        """Bring the weights into the servers; first process only. Raises RolloutError."""
        ...

    def close(self) -> None:
        """Free memory, files and connections of the transfer."""
        ...


def make_transfer(config: VllmServerConfig, weights_dir: Path) -> WeightTransfer:
    """The transfer that a configuration names."""
    if config.weight_transfer == "disk":
        return DiskTransfer(config.weights_dir or weights_dir)
    if config.weight_transfer == "ipc":
        return IpcTransfer()
    return NcclTransfer()


class DiskTransfer:
    """Safetensors in a folder that the servers see, too; they load it with `reload_weights`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def prepare(self, model: PreTrainedModel, weights_of: WeightsOf = checkpoint_weights) -> None:
        """Write the folder."""
        try:
            save_weights(model, self._folder, weights_of)
        except OSError as error:
            raise RolloutError(
                f"rollout.vllm_server.weights_dir: cannot write the weights: {error}"
            ) from error

    async def send(self, model: PreTrainedModel, each: AskEach) -> None:
        """Have the servers read the folder."""
        await each(
            "POST",
            "/collective_rpc",
            json={"method": "reload_weights", "kwargs": {"weights_path": str(self._folder)}},
        )

    def close(self) -> None:
        """Remove the folder, which checkpoints make redundant."""
        shutil.rmtree(self._folder, ignore_errors=True)


class IpcTransfer:
    """Handles of this process's GPU memory, for servers on the same GPU.

    Servers unpickle the handles, so they need VLLM_ALLOW_INSECURE_SERIALIZATION=1. Whoever reaches
    their port can then run code, so nobody else may reach it.
    """

    def __init__(self) -> None:
        self._ready = False
        self._weights: list[tuple[str, Tensor]] = []

    def prepare(self, model: PreTrainedModel, weights_of: WeightsOf = checkpoint_weights) -> None:
        """Gather the weights; they stay in memory until the servers have read them."""
        self._weights = _gathered(model, weights_of)

    async def send(self, model: PreTrainedModel, each: AskEach) -> None:
        """Send the handles, then free the memory."""
        if not self._ready:
            await each(
                "POST", "/init_weight_transfer_engine", json={"init_info": {"packed": False}}
            )
            self._ready = True
        gpu = str(torch.cuda.get_device_properties(self._weights[0][1].device).uuid)
        handles = [{gpu: reduce_tensor(value)[1]} for _, value in self._weights]  # type: ignore[no-untyped-call]
        pickled = base64.b64encode(pickle.dumps(handles)).decode()
        await each("POST", "/start_weight_update")
        await each(
            "POST",
            "/update_weights",
            json={"update_info": {**_update_info(self._weights), "ipc_handles_pickled": pickled}},
        )
        await each("POST", "/finish_weight_update", json={})
        self._weights = []

    def close(self) -> None:
        """Nothing is held between updates."""


class NcclTransfer:
    """A broadcast from this process, rank 0, to every worker of every server."""

    def __init__(self) -> None:
        self._communicator: Communicator | None = None
        self._weights: list[tuple[str, Tensor]] = []

    def prepare(self, model: PreTrainedModel, weights_of: WeightsOf = checkpoint_weights) -> None:
        """Gather the weights."""
        self._weights = _gathered(model, weights_of)

    async def send(self, model: PreTrainedModel, each: AskEach) -> None:
        """Join the servers at the first call, then broadcast weight by weight."""
        if self._communicator is None:
            await self._join(each)
        await each("POST", "/start_weight_update")
        await asyncio.gather(
            each("POST", "/update_weights", json={"update_info": _update_info(self._weights)}),
            asyncio.wrap_future(start_daemon(self._broadcast)),
        )
        await each("POST", "/finish_weight_update", json={})
        self._weights = []

    def close(self) -> None:
        """Nothing to do: destroying the communicator would wait for the servers."""

    async def _join(self, each: AskEach) -> None:
        # A unique id replaces an address and a port, so nothing has to listen in this process.
        identifier = unique_id()
        sizes = [response["world_size"] for response in await each("GET", "/get_world_size")]
        if len(sizes) != 1:
            raise RolloutError("weight_transfer nccl takes one server; give it all the GPUs")
        world_size = sizes[0] + 1
        info = {
            "nccl_unique_id_b64": base64.b64encode(identifier).decode(),
            "rank_offset": 1,
            "world_size": world_size,
            "packed": False,
        }

        def join() -> Communicator:
            communicator = Communicator(world_size, identifier, rank=0)
            # vLLM's workers begin with an all-reduce of one number; without ours they would wait
            # for ever.
            number = torch.zeros(1, device="cuda")
            communicator.sum(number)
            torch.cuda.synchronize()
            return communicator

        _, self._communicator = await asyncio.gather(
            each("POST", "/init_weight_transfer_engine", json={"init_info": info}),
            asyncio.wrap_future(start_daemon(join)),
        )

    def _broadcast(self) -> None:
        assert self._communicator is not None
        for _, value in self._weights:
            self._communicator.broadcast(value, root=0)
        torch.cuda.synchronize()


def _gathered(model: PreTrainedModel, weights_of: WeightsOf) -> list[tuple[str, Tensor]]:
    """The whole weights in the first process, an empty list in the others. Collective."""
    leads = leads_processes()
    return [(name, value.contiguous()) for name, value in weights_of(model) if leads]


def _update_info(weights: list[tuple[str, Tensor]]) -> dict[str, Any]:
    """Names, types and shapes of the weights, as vLLM's `update_info` has them."""
    return {
        "names": [name for name, _ in weights],
        "dtype_names": [str(value.dtype).removeprefix("torch.") for _, value in weights],
        "shapes": [list(value.shape) for _, value in weights],
    }
