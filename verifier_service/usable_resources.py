"""How many CPU cores and how much memory this process may use.

A container mostly sees all that its host has. Control groups, of version 1 or 2, bound what it may
take of that: `--cpus 2` and `--memory 8g` of Docker, `limits` of Kubernetes, jobs of Slurm.
Docs: https://docs.kernel.org/admin-guide/cgroup-v2.html
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MEMBERSHIPS = Path("/proc/self/cgroup")
"""The file that tells the control groups of this process."""
MOUNT = Path("/sys/fs/cgroup")
"""The folder where control groups are mounted."""


def usable_cores(memberships: Path = MEMBERSHIPS, mount: Path = MOUNT) -> int:
    """The cores of the process's affinity, or of its quota of CPU time where that is less.

    A worker for each core of the host would be throttled. A part of a core counts as one.
    """
    found = [len(os.sched_getaffinity(0))]
    for group in _control_groups("cpu", memberships, mount):
        with suppress(OSError, ValueError):  # not there, or "max"
            quota, period = (group / "cpu.max").read_text().split()
            found.append(math.ceil(int(quota) / int(period)))
        with suppress(OSError, ValueError):
            quota = (group / "cpu.cfs_quota_us").read_text()
            if int(quota) > 0:  # not the -1 of a group without a bound
                period = (group / "cpu.cfs_period_us").read_text()
                found.append(math.ceil(int(quota) / int(period)))
    return max(1, min(found))


def usable_memory_bytes(memberships: Path = MEMBERSHIPS, mount: Path = MOUNT) -> int:
    """The memory of the machine, or of the process's control groups where that is less."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for group in _control_groups("memory", memberships, mount):
        for name in ("memory.max", "memory.limit_in_bytes"):
            with suppress(OSError, ValueError):  # not there, or "max"
                found.append(int((group / name).read_text()))
    return min(found)


def _control_groups(controller: str, memberships: Path, mount: Path) -> Iterator[Path]:
    """The folders of the groups that may bound a resource of the process, with those above them.

    In a container the group may have its name outside, and its folder is the mount itself.
    """
    try:
        lines = memberships.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        # 0::/system.slice/verifier.service    4:cpu,cpuacct:/docker/4f2a
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = mount / controllers if controllers else mount
        group = root / path.lstrip("/")
        yield from (one for one in (group, *group.parents) if one.is_relative_to(root))
