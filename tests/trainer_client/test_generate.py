"""Asking a trained model, and having the answer scored."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.trainer_client.runs import run_config
from trainer_client.config.run_config import dump_config
from trainer_client.generate import generate, score

FUNCTION = """
def answers(completions, answer, problem):
    return [float(one == "2" and text == "1+1=?") for one, text in zip(answer, problem)]
"""


def test_a_function_scores_what_was_asked_with_its_answer(task: Path, tmp_path: Path) -> None:
    """It finds prompt and answer in the columns that the run's data set has them in."""
    path = tmp_path / "answers.py"
    path.write_text(FUNCTION)
    functions = {"functions": [{"path": f"{path}:answers"}]}
    config = run_config(task, tmp_path / "run", reward=functions)
    group = generate(config, "1+1=?", num_completions=2, seed=0)
    scores = [item["answers"].score for item in score(config, group, "2").verdicts]
    assert scores == [1.0, 1.0]


def test_completions_are_shown_before_a_service_that_is_not_there_is_waited_for(
    task: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    shutil.copytree(task / "model", run_dir / "model")
    reward = {"url": "http://127.0.0.1:9", "max_attempts": 2, "backoff_seconds": 0.01}
    config = run_config(task, run_dir, reward=reward | {"verifiers": [{"type": "accuracy"}]})
    (run_dir / "config.yaml").write_text(dump_config(config))
    command = [sys.executable, "-m", "trainer_client", "generate", str(run_dir), "1+1=?"]
    unscored = subprocess.run(command, capture_output=True, text=True)
    scored = subprocess.run([*command, "--answer", "2"], capture_output=True, text=True)
    assert scored.returncode == 1
    completion, said = scored.stdout.rsplit("waiting for the verifier at http://127.0.0.1:9 ", 1)
    assert completion == unscored.stdout != ""
    assert said.count("\n") == 1
    assert "error: no answer from the verifier at http://127.0.0.1:9 after 2" in scored.stderr
