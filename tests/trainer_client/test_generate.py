"""Asking a trained model, and having the answer scored."""

from __future__ import annotations

from pathlib import Path

from tests.trainer_client.runs import run_config
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
