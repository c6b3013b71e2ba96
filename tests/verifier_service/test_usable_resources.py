"""A service in a container starts what its control groups let it use, not what its host has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from verifier_service.usable_resources import usable_cores, usable_memory_bytes

CORES, MEMORY_BYTES = 64, 2**40
REAL = Path("/sys/fs/cgroup/cpu")
"""The control groups of version 1 that bound CPU time, if the machine has them."""


@pytest.fixture(autouse=True)
def large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CORES)))
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": MEMORY_BYTES // 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)


class ControlGroups(NamedTuple):
    """Control groups of a process, as files."""

    memberships: Path
    mount: Path


def groups(tmp_path: Path, memberships: str, files: dict[str, str]) -> ControlGroups:
    found = ControlGroups(tmp_path / "memberships", tmp_path / "mount")
    found.memberships.write_text(memberships)
    for name, text in files.items():
        file = found.mount / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return found


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("200000 100000\n", 2),
        ("150000 100000\n", 2),  # a part of a core has a worker, too
        ("5000 100000\n", 1),
        ("max 100000\n", CORES),
        ("9900000 100000\n", CORES),
        ("garbage\n", CORES),
    ],
)
def test_a_container_has_the_cores_of_its_quota(tmp_path: Path, limit: str, expected: int) -> None:
    """Its file is in the mount itself: the names of groups begin at its own."""
    assert usable_cores(*groups(tmp_path, "0::/\n", {"cpu.max": limit})) == expected


@pytest.mark.parametrize(("limit", "expected"), [("8589934592\n", 2**33), ("max\n", MEMORY_BYTES)])
def test_a_container_has_the_memory_of_its_limit(tmp_path: Path, limit: str, expected: int) -> None:
    assert usable_memory_bytes(*groups(tmp_path, "0::/\n", {"memory.max": limit})) == expected


@pytest.mark.parametrize("inner", [("max 100000", "max"), ("800000 100000", "900")])
def test_the_smallest_limit_above_a_process_counts(tmp_path: Path, inner: tuple[str, str]) -> None:
    files = {"cpu.max": "900000 100000\n", "memory.max": "900\n"}
    files |= {"pods/cpu.max": "300000 100000\n", "pods/memory.max": "700\n"}
    files |= {"pods/one/cpu.max": inner[0], "pods/one/memory.max": inner[1]}
    found = groups(tmp_path, "0::/pods/one\n", files)
    assert (usable_cores(*found), usable_memory_bytes(*found)) == (3, 700)


@pytest.mark.parametrize("name", ["cpu", "cpu,cpuacct"])
@pytest.mark.parametrize("group", ["", "docker/4f2a/"])  # as seen in the container, and outside
@pytest.mark.parametrize(("quota", "expected"), [("400000\n", 4), ("-1\n", CORES)])
def test_the_first_version_of_control_groups_counts(
    tmp_path: Path, name: str, group: str, quota: str, expected: int
) -> None:
    memberships = f"5:memory:/docker/4f2a\n4:{name}:/docker/4f2a\n0::/\n"
    files = {
        f"{name}/{group}cpu.cfs_quota_us": quota,
        f"{name}/{group}cpu.cfs_period_us": "100000\n",
        f"memory/{group}memory.limit_in_bytes": "4096\n",
    }
    found = groups(tmp_path, memberships, files)
    assert (usable_cores(*found), usable_memory_bytes(*found)) == (expected, 4096)


def test_without_control_groups_all_of_the_machine_counts(tmp_path: Path) -> None:
    for found in (
        ControlGroups(tmp_path / "no file", tmp_path),
        groups(tmp_path, "7:cpuset:/a\n", {"cpuset/a/cpu.max": "100000 100000"}),
    ):
        assert (usable_cores(*found), usable_memory_bytes(*found)) == (CORES, MEMORY_BYTES)


@pytest.mark.skipif(
    not os.access(REAL / "tasks", os.W_OK), reason="no control group can be made here"
)
def test_a_process_sees_the_quota_of_its_real_group() -> None:
    group = REAL / f"usable-cores-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cpu.cfs_quota_us").write_text("100000")
        (group / "cpu.cfs_period_us").write_text("100000")
        source = (
            f"import os, pathlib; pathlib.Path({str(group / 'tasks')!r}).write_text('0'); "
            "from verifier_service.usable_resources import usable_cores; print(usable_cores())"
        )
        found = subprocess.check_output([sys.executable, "-c", source], text=True)
    finally:
        group.rmdir()
    assert found == "1\n"
