"""The examples of docs/gallery.md that need no other project's packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from trainer_client.service_process import running_service

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs" / "gallery"
PAGE = (ROOT / "docs" / "gallery.md").read_text()
MAX_FIGURE_BYTES = 60_000


def shown_after(command: str) -> str:
    """The lines that the page shows below a command."""
    found = re.search(rf"```\n(?:\$ .*\n)*\$ {re.escape(command)}\n(.*?)```", PAGE, re.S)
    assert found, f"docs/gallery.md does not show {command}"
    return found[1]


def example(
    url: str, folder: Path, script: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """A script of examples/, run in a folder against a service."""
    return subprocess.run(
        [sys.executable, ROOT / "examples" / f"{script}.py", *arguments],
        cwd=folder,
        env={**os.environ, "REWARD_VERIFIER_URL": url, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def run_example(url: str, folder: Path, script: str, *arguments: str) -> tuple[str, Path]:
    """The output of an example, and its figure."""
    result = example(url, folder, script, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout, folder / f"{script}.svg"


@pytest.mark.slow
def test_graders_are_compared_as_the_page_shows(service_url: str, tmp_path: Path) -> None:
    answers = "examples/answers.jsonl"
    printed, figure = run_example(service_url, tmp_path, "wrong_verdicts", str(ROOT / answers))
    assert printed == shown_after(f"python examples/wrong_verdicts.py {answers}")
    assert figure.read_text() == (FIGURES / figure.name).read_text()


@pytest.mark.slow
def test_rows_without_a_label_are_shown_where_graders_differ(
    service_url: str, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        '{"completion": "It is 2.", "answer": "2"}\n{"completion": "\\\\boxed{2}", "answer": "2"}\n'
    )
    result = example(service_url, tmp_path, "wrong_verdicts", str(rows))
    assert result.stdout == "accepted by accuracy, math-verify only: It is 2.  [2]\n"
    assert "nothing to count" in result.stderr


@pytest.mark.slow
def test_a_verifier_of_ones_own_rewards_as_the_page_shows(tmp_path: Path) -> None:
    python = with_the_plugin(tmp_path)
    flags = ("--workers", "1", "--enabled", "contains_words,repetition", "--compat", "")
    with running_service(tmp_path / "log", *flags, python=str(python)) as url:
        printed, figure = run_example(url, tmp_path, "own_verifier")
    assert printed == shown_after("python examples/own_verifier.py")
    assert figure.read_text() == (FIGURES / figure.name).read_text()


def with_the_plugin(folder: Path) -> Path:
    """An interpreter that sees all that this one does, and examples/plugin, installed."""
    venv.create(folder / "venv", with_pip=False)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (packages / "ours.pth").write_text("\n".join(path for path in sys.path if path))
    source = shutil.copytree(ROOT / "examples" / "plugin", folder / "source")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(packages)]
    subprocess.run([*pip, *options, str(source)], check=True, capture_output=True)
    return folder / "venv" / "bin" / "python"


@pytest.mark.parametrize("example", ["wrong_verdicts", "trl_grpo", "verl_programs", "own_verifier"])
def test_a_figure_is_small_and_its_example_is_on_the_page(example: str) -> None:
    figure = FIGURES / f"{example}.svg"
    assert 1_000 < figure.stat().st_size <= MAX_FIGURE_BYTES
    assert f"(gallery/{example}.svg)" in PAGE
    assert f"$ python examples/{example}.py" in PAGE
