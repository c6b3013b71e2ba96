"""Transfers of a LoRA adapter alone to vLLM, whose base model stays as it is.

A server takes it with `/v1/load_lora_adapter`, started with

    VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 vllm serve MODEL --enable-lora --max-lora-rank RANK

Each version of the adapter has a name and a folder of its own: a completion of an older one cannot
pass for a new one, and blocks of the prefix cache are never those of other weights.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any

import httpx
from peft import PeftModel
from transformers import PreTrainedModel

from trainer_client.policy.lora import has_adapter
from trainer_client.policy.weights import save_adapter
from trainer_client.rollout import RolloutError
from trainer_client.rollout.weight_transfer import AskEach

LOAD = "/v1/load_lora_adapter"
UNLOAD = "/v1/unload_lora_adapter"
MEMORY_FOLDER = Path("/dev/shm")
"""A folder of Linux whose files are in memory."""


class AdapterTransfer:
    """Folders that the servers see too, one for each version; only the newest is kept.

    Args:
        folder: the folder that they are made in.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._loaded: str | None = None

    def prepare(self, model: PreTrainedModel, version: str) -> None:
        """Write the adapter's folder. Collective. Raises RolloutError."""
        try:
            save_adapter(model, self._folder / version)
        except OSError as error:
            raise RolloutError(
                f"rollout.vllm_server.weights_dir: cannot write the adapter: {error}"
            ) from error

    async def send(self, version: str, each: AskEach) -> None:
        """Have the servers load this version in place of the last one. Raises RolloutError."""
        if self._loaded is not None:
            await each("POST", UNLOAD, json={"lora_name": self._loaded}, is_json=False)
            shutil.rmtree(self._folder / self._loaded, ignore_errors=True)
            self._loaded = None
        path = str(self._folder / version)
        loaded = {"lora_name": version, "lora_path": path}
        await each("POST", LOAD, json=loaded, is_json=False)
        self._loaded = version

    def close(self) -> None:
        """Remove the folders, which checkpoints make redundant."""
        shutil.rmtree(self._folder, ignore_errors=True)


class AdapterFolder:
    """Adapters for an engine in this process, in memory where that has room for them."""

    def __init__(self, model: PreTrainedModel) -> None:
        trained = (weight for weight in model.parameters() if weight.requires_grad)
        needed = 2 * sum(weight.nbytes for weight in trained)  # two versions for a moment
        in_memory = MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free > 2 * needed
        self._folder = Path(mkdtemp(dir=MEMORY_FOLDER if in_memory else gettempdir()))

    def write(self, model: PreTrainedModel, version: int) -> Path:
        """The folder of this version; that of the version before is removed."""
        shutil.rmtree(self._folder / str(version - 1), ignore_errors=True)
        save_adapter(model, self._folder / str(version))
        return self._folder / str(version)

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)


async def loading_refusal(client: httpx.AsyncClient, url: str) -> str | None:
    """The reason why a server does not load adapters while it runs."""
    probe = await client.post(f"{url}{LOAD}", json={})
    if probe.status_code == httpx.codes.NOT_FOUND:
        return f"{url} was started without VLLM_ALLOW_RUNTIME_LORA_UPDATING=1"
    return None


def unsupported_adapter(model: PreTrainedModel | PeftModel) -> str | None:
    """The reason why no vLLM takes this adapter; None: it may."""
    if has_adapter(model) and any(one.use_dora for one in model.peft_config.values()):
        return "vLLM does not compute model.lora.dora"
    return None


def adapter_refusal(model: PreTrainedModel, url: str, server: Any) -> str | None:
    """The reason why a server does not take the model's adapter, by the server's configuration."""
    if not has_adapter(model):
        return None
    if (unsupported := unsupported_adapter(model)) is not None:
        return unsupported
    lora = server.get("lora_config")
    if not lora:
        return f"{url} was started without --enable-lora"
    rank = max(one.r for one in model.peft_config.values())
    largest = lora.get("max_lora_rank") if isinstance(lora, dict) else None
    if isinstance(largest, int) and largest < rank:
        return f"{url} was started with --max-lora-rank {largest}, below the rank {rank}"
    return None
