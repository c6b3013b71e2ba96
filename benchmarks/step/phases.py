"""Peak memory and CPU time of a process, apart for generation and everything else of a step."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

PROCESS = Path("/proc/self")


class Phases:
    """Made before the model is loaded; memory counts from there.

    On the CPU memory is what is resident, on a GPU what torch has allocated. CPU seconds are those
    of all threads; unlike the clock's they hardly change with what else the machine does.
    """

    def __init__(self, device: str) -> None:
        self._cuda = device == "cuda"
        self._start = self._resident("VmRSS") if not self._cuda else torch.cuda.memory_allocated()
        self._peaks = {"generation": 0, "update": 0}
        self._cpu_seconds = {"generation": 0.0, "update": 0.0}
        self._last = time.process_time()
        self._reset()

    @contextmanager
    def generation(self) -> Iterator[None]:
        """Inside, completions are sampled; outside is the update."""
        self._close("update")
        try:
            yield
        finally:
            self._close("generation")

    def take_cpu_seconds(self) -> dict[str, float]:
        """CPU seconds of each phase since the last call."""
        self._close("update")
        taken = {f"{name} CPU": seconds for name, seconds in self._cpu_seconds.items()}
        self._cpu_seconds = dict.fromkeys(self._cpu_seconds, 0.0)
        return taken

    def synchronize(self) -> None:
        """Wait for the GPU, before the clock is read."""
        if self._cuda:
            torch.cuda.synchronize()

    def peaks(self, model: torch.nn.Module) -> dict[str, int]:
        """Bytes of each phase above the model's weights, `reserved` of a GPU's allocator too."""
        self._close("update")
        weights = sum(weight.nbytes for weight in model.parameters())
        peaks = {name: peak - self._start - weights for name, peak in self._peaks.items()}
        if self._cuda:
            peaks["reserved"] = torch.cuda.max_memory_reserved() - weights
        return peaks

    def above_start(self) -> int:
        """Bytes of the peak of all phases above what there was at the start."""
        self._close("update")
        return max(self._peaks.values()) - self._start

    def _close(self, phase: str) -> None:
        self.synchronize()
        peak = torch.cuda.max_memory_allocated() if self._cuda else self._resident("VmHWM")
        self._peaks[phase] = max(self._peaks[phase], peak)
        self._reset()
        now = time.process_time()
        self._cpu_seconds[phase] += now - self._last
        self._last = now

    def _reset(self) -> None:
        if self._cuda:
            torch.cuda.reset_peak_memory_stats()
        else:
            (PROCESS / "clear_refs").write_text("5")  # resets VmHWM; see proc_pid_clear_refs(5)

    @staticmethod
    def _resident(name: str) -> int:
        found = re.search(rf"^{name}:\s+(\d+) kB", (PROCESS / "status").read_text(), re.MULTILINE)
        assert found is not None
        return int(found[1]) * 1024


def tell(result: dict[str, Any]) -> None:
    """Hand the measurements to the script that has started this process."""
    sys.stdout.write("\n" + json.dumps(result) + "\n")
