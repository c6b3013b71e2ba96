"""NCCL's library, called directly: broadcasts to processes that know one another by an identifier.

`torch.distributed` meets its peers at an address, where vLLM's workers meet theirs by NCCL's own
identifier; and `torch.cuda.nccl.init_rank` of torch 2.11 fails on Python 3.12 and later. Names and
numbers are those of nccl.h.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch import Tensor

from trainer_client.rollout import RolloutError

IDENTIFIER_BYTES = 128
_SUM = 0
_TYPES = {
    torch.int8: 0,
    torch.uint8: 1,
    torch.int32: 2,
    torch.int64: 4,
    torch.float16: 6,
    torch.float32: 7,
    torch.float64: 8,
    torch.bfloat16: 9,
}


class NcclError(RolloutError):
    """NCCL cannot be used or has failed; the message is its own."""


class _Identifier(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_byte * IDENTIFIER_BYTES),)


class Communicator:
    """This process as one of several that NCCL connects.

    Making it blocks until all others are there.

    Args:
        world_size: number of processes.
        identifier: what `unique_id` has given to one of them.
        rank: number of this process, from 0.

    Raises:
        NcclError: NCCL is missing, or cannot connect them.
    """

    def __init__(self, world_size: int, identifier: bytes, rank: int) -> None:
        self._handle = ctypes.c_void_p()
        known = _Identifier.from_buffer_copy(identifier)
        _call(
            "ncclCommInitRank",
            ctypes.byref(self._handle),
            ctypes.c_int(world_size),
            known,
            ctypes.c_int(rank),
        )

    def broadcast(self, tensor: Tensor, root: int) -> None:
        """Overwrite a contiguous tensor on the GPU with that of rank `root`, on torch's stream."""
        _call("ncclBroadcast", *self._in_place(tensor), ctypes.c_int(root), *self._where())

    def sum(self, tensor: Tensor) -> None:
        """Overwrite a contiguous tensor on the GPU with the sum of all, on torch's stream."""
        _call("ncclAllReduce", *self._in_place(tensor), ctypes.c_int(_SUM), *self._where())

    def _in_place(self, tensor: Tensor) -> tuple[Any, ...]:
        data = ctypes.c_void_p(tensor.data_ptr())
        return data, data, ctypes.c_size_t(tensor.numel()), ctypes.c_int(_TYPES[tensor.dtype])

    def _where(self) -> tuple[Any, ...]:
        return self._handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def unique_id() -> bytes:
    """A new identifier, by which processes find each other; raises NcclError."""
    made = _Identifier()
    _call("ncclGetUniqueId", ctypes.byref(made))
    return bytes(made)


def _call(name: str, *arguments: Any) -> None:
    """Call a function of the library that torch has loaded; raises NcclError."""
    try:
        library = ctypes.CDLL("libnccl.so.2")
    except OSError as error:
        raise NcclError(f"NCCL cannot be loaded: {error}") from error
    if status := getattr(library, name)(*arguments):
        library.ncclGetErrorString.restype = ctypes.c_char_p
        raise NcclError(f"{name}: {library.ncclGetErrorString(status).decode()}")
