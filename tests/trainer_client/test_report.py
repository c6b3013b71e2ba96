"""The report of a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.runs import run_config
from trainer_client.config.run_config import dump_config
from trainer_client.run.report import (
    PLACEHOLDER,
    TEMPLATE,
    ReportError,
    charts,
    summarise_run,
    write_report,
)

TEXT = "</script><script>alert(1)</script><!--<script>"


def rows() -> list[dict[str, float]]:
    return [
        {"step": 0, "evaluation/pass@1": 0.25},
        *(
            {
                "step": step,
                "reward/accuracy": step / 20,
                "reward/total": step / 20,
                "advantage/std": 0.5 if step % 2 else 1.0,
                "policy/kl_divergence": 0.001 * step,
                "time/step": 1.0,
            }
            for step in range(1, 13)
        ),
    ]


@pytest.fixture
def run_dir(task: Path, tmp_path: Path) -> Path:
    """The files of a run of 12 steps, one of them with rollouts."""
    folder = tmp_path / "run"
    (folder / "rollouts").mkdir(parents=True)
    dataset = {"path": "held_out.jsonl"}
    config = run_config(task, folder, "accuracy", evaluation={"dataset": dataset, "k": [1]})
    (folder / "config.yaml").write_text(dump_config(config))
    lines = [json.dumps(row) for row in rows()]
    (folder / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / "warnings.jsonl").write_text('{"step": 3, "message": "look"}\n')
    completions = [
        {
            "step": 12,
            "prompt": "1+1=?",
            "completion": f"{TEXT} {n}",
            "reward": None if n == 9 else n / 10,
            "advantage": 0.0,
            "verdicts": {"accuracy": {"outcome": "scored", "score": 1.0, "reason": "equal"}},
            "completion_tokens": 3,
            "truncated": False,
        }
        for n in range(10)
    ]
    (folder / "rollouts" / "step_000012.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in completions)
    )
    return folder


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r"^const data = (.*);$", page, re.MULTILINE)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_summary_answers_three_questions(run_dir: Path, tmp_path: Path) -> None:
    assert write_report(run_dir, tmp_path / "report.html") == [
        "12 of 4 steps.",
        "reward/accuracy: 0.500 at step 10, 0.600 at step 12 (+0.100).",
        "evaluation/pass@1: 0.250 at step 0, 0.250 at step 0 (+0.000).",
        "Mean advantage std: 0.750.",
        "KL stayed below 0.05: at most 0.0120 nats per token.",
    ]


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        (0.01, "KL did not stay below 0.01: at most 0.0120 nats per token."),
        (0.2, "KL stayed below 0.2: at most 0.0120 nats per token."),
        (None, "KL was at most 0.0120 nats per token."),
    ],
)
def test_the_kl_is_compared_with_the_limit_that_the_run_warns_above(
    task: Path, tmp_path: Path, limit: float | None, sentence: str
) -> None:
    config = run_config(task, tmp_path / "run", guards={"warn_if_kl_above": limit})
    assert summarise_run(rows(), config)[-1] == sentence


def test_the_page_has_curves_with_units_warnings_and_configuration(
    run_dir: Path, tmp_path: Path
) -> None:
    write_report(run_dir, tmp_path / "report.html")
    data = data_of((tmp_path / "report.html").read_text())
    units = {chart["title"]: chart["unit"] for chart in data["charts"]}
    assert units["KL to the reference"] == "nats per token"
    assert units["Time per stage"] == "seconds"
    assert units["Held-out pass@k"] == "share of problems"
    assert data["warnings"] == [{"step": 3, "message": "look"}]
    assert data["config"] == (run_dir / "config.yaml").read_text()


def test_the_best_and_the_worst_judged_completions_are_shown(run_dir: Path, tmp_path: Path) -> None:
    write_report(run_dir, tmp_path / "report.html")
    shown = data_of((tmp_path / "report.html").read_text())["rollouts"]
    assert [(row["rank"], row["reward"]) for row in shown] == [
        ("best", 0.8),
        ("best", 0.7),
        ("best", 0.6),
        ("worst", 0.2),
        ("worst", 0.1),
        ("worst", 0.0),
    ]


def test_what_a_model_wrote_cannot_become_part_of_the_page(run_dir: Path, tmp_path: Path) -> None:
    write_report(run_dir, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for mark in ("</script>", "<script", "<!--"):
        assert page.count(mark) == TEMPLATE.read_text().count(mark)
    assert data_of(page)["rollouts"][0]["completion"].startswith(TEXT)


def test_the_page_loads_nothing_from_elsewhere() -> None:
    template = TEMPLATE.read_text()
    assert template.count(PLACEHOLDER) == 1
    assert set(re.findall(r"https?://[^\"\s]+", template)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|@import|src=|fetch\(|innerHTML", template)


def test_a_metric_that_was_never_logged_has_no_chart(task: Path, tmp_path: Path) -> None:
    config = run_config(task, tmp_path / "run")
    history = [{"step": 1.0, "policy/entropy": 2.0}]
    assert charts(history, config.guards, config.reward.sources) == [
        {
            "title": "Entropy",
            "unit": "nats per token",
            "series": [{"name": "policy/entropy", "points": [[1.0, 2.0]]}],
            "limits": {},
        }
    ]


def test_a_folder_without_a_finished_step_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="holds no run with a finished step"):
        write_report(tmp_path, tmp_path / "report.html")
