"""The examples of docs/gallery.md that run other projects' own code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.peer import peer

pytestmark = pytest.mark.interop

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gallery.md").read_text()


def run_example(folder: Path, script: str, *arguments: str) -> str:
    """The output of an example; the environment names the service."""
    result = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{script}.py", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_trl_learns_from_our_rewards(tmp_path: Path) -> None:
    """Fewer steps than on the page; the reward is that of another machine's arithmetic."""
    peer("trl")
    printed = run_example(tmp_path, "trl_grpo", "trl_grpo.svg", "30")
    (line,) = re.findall(r"mean reward: (\S+) at step 1, (\S+) at step 30", printed)
    first, last = map(float, line)
    assert last > first + 0.2
    assert "figure: trl_grpo.svg\n" in printed
    assert (tmp_path / "trl_grpo.svg").read_text().startswith("<?xml")


def test_verl_pays_programs_as_the_page_shows(tmp_path: Path) -> None:
    peer("verl.utils.reward_score.sandbox_fusion")
    printed = run_example(tmp_path, "verl_programs")
    shown = re.search(r"\$ python examples/verl_programs.py\n(.*?)```", PAGE, re.S)
    assert shown
    assert printed == shown[1]
    made = tmp_path / "verl_programs.svg"
    assert made.read_text() == (ROOT / "docs" / "gallery" / made.name).read_text()
