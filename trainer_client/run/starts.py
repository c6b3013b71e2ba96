"""The starts of a run: when, on which machine and by which version it was begun and resumed.

`starts.jsonl` has a line for each.
"""

from __future__ import annotations

import json
import os
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import torch


def record_start(run_dir: Path, step: int, num_trained: int, num_processes: int) -> None:
    """Add a line for this process, which goes on after a step; 0: it begins the run."""
    start = {
        "step": step,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": version("reward-verifier"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "trained_weights": num_trained,
        "processes": num_processes,
        **_machine(),
    }
    with (run_dir / "starts.jsonl").open("a") as file:
        file.write(json.dumps(start) + "\n")


def _machine() -> dict[str, str | int | list[str]]:
    """The processor, the cores that this process may use, the memory and the GPUs."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "gpus": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
    }


def _processor() -> str:
    """The name of the first processor; Arm's do not tell one, so there it is the architecture."""
    # "model name	: AMD EPYC 7B13"
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()
