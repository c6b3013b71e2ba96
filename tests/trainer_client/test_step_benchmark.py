"""`benchmarks/grpo_step.py` compares with TRL or says that it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks._trl import trl_version
from benchmarks.grpo_step import Side
from benchmarks.step.ours import timed
from benchmarks.step.phases import Phases
from benchmarks.step.task import CPU, StepTask


def test_an_interpreter_that_is_not_there_is_named() -> None:
    """The benchmark is not skipped: it has nothing to say without its peer."""
    with pytest.raises(SystemExit, match=r"nowhere/python: No such file.*installed` makes an env"):
        trl_version(Path("nowhere/python"))


def test_an_interpreter_without_trl_is_named(tmp_path: Path) -> None:
    """`-I -S` hides every installed package."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    python.chmod(0o755)
    with pytest.raises(SystemExit, match=r"python has no TRL\. This benchmark compares with TRL"):
        trl_version(python)


def test_medians_are_over_the_steps_of_all_turns() -> None:
    """The peak is the largest of any turn and phase."""
    first = {"steps": [{"step": 1.0}, {"step": 9.0}], "peaks": {"generation": 0, "update": 2**20}}
    second = {"steps": [{"step": 2.0}], "peaks": {"generation": 3 * 2**20, "update": 2**21}}
    side = Side([first, second])
    assert (side.median("step"), side.peak(), side.peak("update")) == (2.0, 3.0, 2.0)


def test_both_sides_read_the_same_task(tmp_path: Path) -> None:
    """One process writes it, the others read it."""
    CPU.write(tmp_path)
    assert StepTask.read(tmp_path) == CPU


def test_a_step_is_timed_from_an_idle_gpu_to_an_idle_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimizer's kernels are launched last, and run on after the call has returned."""
    events: list[str] = []
    phases = Phases("cpu")
    monkeypatch.setattr(phases, "synchronize", lambda: events.append("synchronize"))

    def step() -> int:
        events.append("step")
        return 7

    assert timed(phases, step)[0] == 7
    assert events == ["synchronize", "step", "synchronize"]
