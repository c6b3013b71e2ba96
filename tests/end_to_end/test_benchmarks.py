"""The scripts that `make bench` runs, without running them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_of_make_bench_says_how_it_runs_without_an_argument(name: str) -> None:
    """What only serves another script begins with `_`, which `make bench` leaves out."""
    source = (FOLDER / f"{name}.py").read_text()
    usage = rf"^    \S*python benchmarks/{name}\.py( \[?--[a-z-]+ \S+)*$"
    assert re.search(usage, source, re.MULTILINE)
    assert '\nif __name__ == "__main__":\n' in source


def test_a_script_that_fails_keeps_no_other_from_being_run(tmp_path: Path) -> None:
    """It is named at the end, and `make bench` fails."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\ntest $1 != benchmarks/cpp.py\n")
    python.chmod(0o755)
    # Environments count as made: nothing is installed here.
    installed = ["install", ".venv-interop/installed", ".venv-vllm/installed"]
    command = ["make", "--no-print-directory", *(f"--old-file={name}" for name in installed)]
    command += ["bench", f"BIN={tmp_path}", f"VLLM_BIN={tmp_path}"]
    result = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True)
    *run, last = result.stdout.split("\n")[:-1]
    assert run == [f"benchmarks/{name}.py" for name in SCRIPTS]
    assert last == "failed: benchmarks/cpp.py"
    assert result.returncode != 0
