"""The scripts that `make bench` runs, without measuring."""

from __future__ import annotations

import importlib
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import shared_data
from tests.trainer_client.runs import run_together

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_of_make_bench_says_how_it_runs_without_an_argument(name: str) -> None:
    """A file that only serves another script begins with `_`, and `make bench` leaves it out."""
    source = (FOLDER / f"{name}.py").read_text()
    usage = rf"^    \S*python benchmarks/{name}\.py( \[?--[a-z-]+ \S+)*$"
    assert re.search(usage, source, re.MULTILINE)
    assert '\nif __name__ == "__main__":\n' in source


def test_a_script_that_fails_keeps_no_other_from_being_run(tmp_path: Path) -> None:
    """It is named at the end, under the table of what was measured, and `make bench` fails."""
    python = tmp_path / "python"
    row = "| time (`$(basename $1)`) | 1 s | 2 s |"
    python.write_text(
        f'#!/bin/sh\necho "{row}"\ntest $1 != benchmarks/languages.py\n'.replace("`", r"\`")
    )
    python.chmod(0o755)
    # Environments count as made: nothing is installed here.
    names = ("interop", "vllm", "fleet")
    installed = ["install", *(f".venv-{name}/installed" for name in names)]
    command = ["make", "--no-print-directory", *(f"--old-file={name}" for name in installed)]
    command += ["bench", *(f"{name}={tmp_path}" for name in ("BIN", "VLLM_BIN", "FLEET_BIN"))]
    result = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True)
    ran, table = result.stdout.split("|---|---|---|\n")
    rows = [f"| time (`{name}.py`) | 1 s | 2 s |" for name in SCRIPTS]
    assert [line for line in ran.splitlines() if line in rows] == rows
    assert table.splitlines() == [*rows, "failed: benchmarks/languages.py"]
    assert result.returncode != 0


@pytest.mark.parametrize(
    "name", ["accuracy_engine", "accuracy_labels", "accuracy_modes", "score_completions"]
)
def test_without_its_data_a_script_fails(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = importlib.import_module(f"benchmarks.{name}")
    monkeypatch.setattr(shared_data, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.setattr(logging, "disable", lambda *given: None)
    with pytest.raises(SystemExit, match="nothing to measure: no real data"):
        script.main()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "flags", "message"),
    [
        (
            "service_overhead",
            ["--trl-python", "nowhere/python"],
            "--trl-python nowhere/python: No such file or directory. This benchmark compares with",
        ),
        ("generation", [], "nothing to measure: no vLLM here; .venv-vllm/bin/python"),
    ],
)
def test_without_its_peer_a_script_fails(
    name: str, flags: list[str], message: str, tmp_path: Path
) -> None:
    run = f"runpy.run_path({str(FOLDER / f'{name}.py')!r}, run_name='__main__')"
    code = f"import runpy, sys; sys.modules['vllm'] = None; sys.argv = {[name, *flags]}; {run}"
    script = tmp_path / "without_peer.py"
    script.write_text(code)
    result = run_together([(str(script),)])
    assert result.returncode == 1
    assert message in result.stderr
