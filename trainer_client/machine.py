"""The machine that trains, looked at without torch: its GPU and the memory that is free."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CONTROL_GROUP = Path("/sys/fs/cgroup")
SMI_SECONDS = 20.0
"""Time limit for `nvidia-smi`, which wakes sleeping GPUs."""
_CUDA_VERSION = re.compile(r"^(?:cuda|hip)\b.*= '", re.M)  # `cuda: Optional[str] = '13.0'`


@dataclass(frozen=True)
class FreeMemory:
    """Memory that a run could take."""

    num_bytes: int
    where: str
    """Its owner, such as `this machine`."""
    gpu_bytes: int | None = None
    """All memory of the GPU, what is taken included; None: it is not a GPU's."""


def cuda_problem() -> str | None:
    """The reason why torch could not use a GPU here; None: it could."""
    spec = importlib.util.find_spec("torch")
    build = Path(spec.origin).with_name("version.py") if spec and spec.origin else None
    if build is not None and build.is_file() and not _CUDA_VERSION.search(build.read_text()):
        return f"the installed torch {_version_of('torch')} is a build for CPU"
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1"):
        return "CUDA_VISIBLE_DEVICES hides every GPU"
    return None if num_gpus() else "the driver finds no GPU (see `nvidia-smi`)"


def num_gpus() -> int:
    """The number of GPUs that CUDA's driver finds."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value


def free_memory(device: str) -> FreeMemory | None:
    """The memory that is free for a run; None where the machine does not tell.

    Args:
        device: the setting `model.device`.
    """
    if device == "cpu" or (device == "auto" and cuda_problem() is not None):
        return _free_memory_of_cpu()
    return _free_memory_of_gpu()


def _free_memory_of_gpu() -> FreeMemory | None:
    """The free memory of the first visible GPU."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
    query = ["nvidia-smi", f"--id={first}", "--query-gpu=memory.free,memory.total"]
    try:
        shown = subprocess.run(
            [*query, "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            check=True,
            timeout=SMI_SECONDS,
        ).stdout
        free, total = (int(size) * 2**20 for size in shown.splitlines()[0].split(","))
        return FreeMemory(free, f"GPU {first}", total)
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def _free_memory_of_cpu() -> FreeMemory | None:
    """Memory that Linux could give a process; in a container at most what is left of its limit."""
    try:
        available = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    except OSError:
        return None
    if available is None:
        return None
    free = int(available[1]) * 1024
    left = _left_of_limit()
    if left is None or left >= free:
        return FreeMemory(free, "this machine")
    return FreeMemory(left, "this container")


def _left_of_limit() -> int | None:
    """Memory left of the control group's limit; None: it has none."""
    for limit_file, used_file, folder in (
        ("memory.max", "memory.current", CONTROL_GROUP),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", CONTROL_GROUP / "memory"),
    ):
        try:
            limit, used = ((folder / name).read_text() for name in (limit_file, used_file))
            return int(limit) - int(used) + _file_cache(folder)
        except (OSError, ValueError):  # no such control group, or its limit is `max`
            continue
    return None


def _file_cache(folder: Path) -> int:
    """Memory of files that nobody reads now; it counts as used, and is given up when needed."""
    found = re.search(r"^inactive_file (\d+)", (folder / "memory.stat").read_text(), re.M)
    return int(found[1]) if found else 0


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
