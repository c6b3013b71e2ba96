"""The report of a run: what is compared, what is drawn, which completions are shown."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.logged_runs import change_config, row_of_completion, write_lines, write_run
from trainer_client.errors import TrainerError
from trainer_client.run import report_rollouts
from trainer_client.run.json_lines import read_lines
from trainer_client.run.logged_run import LoggedRun, ReportError
from trainer_client.run.report import DATA, POLICY, TEMPLATE, report_data, write_report
from trainer_client.run.report_charts import MAX_POINTS, charts, reasons
from trainer_client.run.report_rollouts import MAX_GROUPS, MAX_TEXT
from trainer_client.run.report_summary import facts, headline, summarise_run

TEXT = "</script><script>alert(1)</script><!--<script>"
MakeRun = Callable[..., LoggedRun]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Makes a run's folder and reads it."""
    return lambda **options: LoggedRun.read(write_run(tmp_path / "run", **options))


def change_rows(run: LoggedRun, change: Callable[[dict[str, float]], object]) -> LoggedRun:
    """The run with each line of its metrics changed."""
    rows = read_lines(run.folder / "metrics.jsonl")
    for row in rows:
        change(row)
    write_lines(run.folder / "metrics.jsonl", rows)
    return LoggedRun.read(run.folder)


def chart(run: LoggedRun, title: str) -> dict[str, Any]:
    found = charts(run)
    everything: list[Any] = [*found["large"], *found["small"]]
    return next(one for one in everything if one["title"] == title)


# The head


def test_the_summary_compares_the_first_evaluation_and_the_first_steps_with_the_last(
    make_run: MakeRun,
) -> None:
    run = make_run(steps=30)
    change_rows(run, lambda row: row.update({"reward/accuracy": row["step"] / 100}))
    assert summarise_run(LoggedRun.read(run.folder)) == [
        "30 of 30 steps.",
        "Held-out pass@1: 0.400 at step 0, 0.850 at step 30 (+0.450).",
        "reward/accuracy: 0.020 in the first 5 steps, 0.280 in the last (+0.260).",
        "Mean std of a step's advantages: 0.897.",
        "KL did not stay below 0.05: at most 0.0640 nats per token.",
    ]


def test_a_run_of_few_steps_compares_as_many_as_do_not_overlap(make_run: MakeRun) -> None:
    run = make_run(steps=3, evaluation=None)
    changed = change_rows(run, lambda row: row.update({"reward/accuracy": row["step"] / 10}))
    sentence = "reward/accuracy: 0.000 in the first 2 steps, 0.250 in the last (+0.200)."
    assert sentence.replace("0.000", "0.050") in summarise_run(changed)


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        (0.05, "KL did not stay below 0.05: at most 0.0640 nats per token."),
        (0.2, "KL stayed below 0.2: at most 0.0640 nats per token."),
        (None, "KL was at most 0.0640 nats per token."),
    ],
)
def test_the_kl_is_compared_with_the_limit_that_the_run_warns_above(
    make_run: MakeRun, limit: float | None, sentence: str
) -> None:
    run = make_run(guards={"warn_if_kl_above": limit})
    assert summarise_run(run)[-1] == sentence


def test_the_one_number_is_held_out_before_and_after(make_run: MakeRun) -> None:
    assert headline(make_run()) == {
        "name": "held-out pass@1",
        "before": 0.4,
        "after": 0.85,
        "note": "100 problems, 10 completions each; at step 0 and at step 30",
    }


def test_without_held_out_problems_the_one_number_is_of_the_first_and_last_steps(
    make_run: MakeRun,
) -> None:
    run = make_run(steps=20, evaluation=None)
    found = headline(change_rows(run, lambda row: row.update({"reward/accuracy": row["step"]})))
    assert (found["before"], found["after"]) == (2.0, 18.0)
    assert found["name"] == "accuracy in training"


def test_a_run_under_way_has_no_number_after_yet(make_run: MakeRun) -> None:
    run = make_run(steps=0, finished=False, train={"steps": 40})
    assert (headline(run)["before"], headline(run)["after"]) == (0.4, None)
    assert facts(run)[4] == ("Steps", "0 of 40, each 4 problems of 8 completions")
    assert "0 of 40 steps." in summarise_run(run)


def test_a_run_that_was_stopped_says_so_until_it_goes_on(make_run: MakeRun) -> None:
    folder = make_run(finished=False).folder
    path, last = folder / "warnings.jsonl", LoggedRun.read(folder).last_step
    for is_stop in (False, True):
        warning = {"step": last, "message": "stopped: SIGTERM", "stopped": is_stop}
        path.write_text(json.dumps(warning) + "\n")
        data = report_data(LoggedRun.read(folder))
        assert data["stopped"] is is_stop
        assert ("Stopped: SIGTERM." in data["summary"]) is is_stop
    with (folder / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"step": last + 1}) + "\n")
    assert not report_data(LoggedRun.read(folder))["stopped"]


def test_the_facts_name_model_data_rewards_machine_and_version(make_run: MakeRun) -> None:
    found = dict(facts(make_run(preset="trl")))
    assert found["Model"] == "tiny-llama, 1.009 million weights trained, float32"
    assert found["Data"] == "data/train.jsonl; held out: data/held_out.jsonl"
    assert found["Reward"].startswith("1 accuracy")
    assert found["Recipe"].startswith("preset trl; ")
    assert found["Duration"].endswith("s in steps and evaluations")
    assert found["Machine"] == "AMD EPYC 7B13, 2 cores, 16 GiB, no GPU"
    assert found["Version"] == "0.2.0; Python 3.12.3, torch 2.13.0+cpu"
    assert found["Begun"] == "2026-11-22 09:30 UTC"


def test_a_run_of_an_older_version_says_what_was_not_recorded(make_run: MakeRun) -> None:
    run = make_run()
    (run.folder / "starts.jsonl").unlink()
    assert "not recorded" in dict(facts(LoggedRun.read(run.folder)))["Machine"]


# Curves


def test_three_curves_are_large(make_run: MakeRun) -> None:
    large: list[Any] = charts(make_run())["large"]
    assert [(one["title"], one["smooth"]) for one in large] == [
        ("accuracy in training", True),
        ("Held-out problems", False),
        ("KL to the start policy", False),
    ]


def test_where_no_kl_is_measured_the_third_one_is_the_length(make_run: MakeRun) -> None:
    run = make_run()
    found: list[Any] = charts(change_rows(run, lambda row: row.pop("policy/kl_divergence", None)))[
        "large"
    ]
    assert found[2]["title"] == "Completion length"


def test_no_curve_is_drawn_twice(make_run: MakeRun) -> None:
    found = charts(make_run())
    everything: list[Any] = [*found["large"], *found["small"]]
    curves = [json.dumps(one["points"]) for chart in everything for one in chart["series"]]
    assert len(set(curves)) == len(curves)
    assert "mean solve rate of problems: the same as accuracy, mean score" in found["quiet"]


def test_curves_of_zeros_are_called_so_beside_an_accuracy_of_zero(make_run: MakeRun) -> None:
    def never_right(row: dict[str, Any]) -> None:
        row.update({"reward/accuracy": 0.0, "policy/kl_divergence": 0.0})

    found = charts(change_rows(make_run(), never_right))
    assert "KL: 0 throughout" in found["quiet"]
    assert not [one for one in found["quiet"] if "the same as accuracy in training" in str(one)]


def test_a_sum_of_one_score_is_not_drawn_beside_it(make_run: MakeRun) -> None:
    run = make_run(reward={"verifiers": [{"type": "accuracy", "weight": 0.5}]})
    found: list[Any] = charts(run)["small"]
    assert "Reward, weighted sum" not in [one["title"] for one in found]


def test_rounding_and_constants_are_named_and_not_drawn(make_run: MakeRun) -> None:
    found = charts(make_run())
    drawn = json.dumps([found["large"], found["small"]])
    assert "policy/sampler_kl" not in drawn
    assert "policy/learning_rate" not in drawn
    sampler = "KL between sampler and policy: 0 throughout, but for rounding (at most 3e-12)"
    assert sampler in found["quiet"]
    assert "learning rate: 0.0001 throughout" in found["quiet"]
    assert "clipped: 0 throughout" in found["quiet"]


def test_a_sampler_that_differs_is_drawn(make_run: MakeRun) -> None:
    run = change_rows(make_run(), lambda row: row.update({"policy/sampler_kl": 1e-3 * row["step"]}))
    assert chart(run, "KL between sampler and policy")["series"]


def test_turns_calls_observations_and_time_in_tools_are_drawn(make_run: MakeRun) -> None:
    def of_episodes(row: dict[str, float]) -> None:
        step = row["step"]
        row |= {"episode/turns": 1 + step, "episode/calls": step / 2, "episode/failed_calls": 0.1}
        row |= {"episode/observation_tokens": 7 * step, "episode/environment_seconds": step / 3}
        row |= {"episode/ended_by/done": 1 - step / 9, "episode/ended_by/turn_limit": step / 9}
        row |= {"episode/lost_groups": step % 2}

    run = change_rows(make_run(), of_episodes)
    drawn = {
        title: [one["name"] for one in chart(run, title)["series"]]
        for title in ("Turns and calls", "Observations", "Time in tools", "Ends of episodes")
    }
    assert drawn == {
        "Turns and calls": ["turns", "calls"],
        "Observations": ["observation tokens"],
        "Time in tools": ["time in tools"],
        "Ends of episodes": ["done", "turn limit"],
    }
    assert "Turns and calls, failed calls: 0.1 throughout" in charts(run)["quiet"]
    assert chart(run, "Lost groups")["unit"] == "groups a step"


def test_charts_have_the_runs_own_limits(make_run: MakeRun) -> None:
    run = make_run(guards={"warn_if_kl_above": 0.2, "stop_if_kl_above": None})
    assert chart(run, "KL to the start policy")["limits"] == {"warns above": 0.2}
    assert chart(run, "Completion length")["limits"] == {"cut off at": 512}
    spread = chart(run, "Spread of rewards within groups")["limits"]["warns below"]
    assert spread == pytest.approx(0.1 * 1.15 / 2)


def test_a_long_curve_keeps_its_extremes(make_run: MakeRun) -> None:
    run = make_run(steps=1000, groups=1, group_size=2, finished=False)
    points = chart(run, "KL to the start policy")["series"][0]["points"]
    assert len(points) <= MAX_POINTS
    assert max(high for _, _, _, high in points) == 0.064
    assert all(low <= mean <= high for _, mean, low, high in points)


def test_reasons_are_counted_over_time(make_run: MakeRun) -> None:
    run = change_rows(
        make_run(steps=2),
        lambda row: (
            row["step"]
            and row.update({"reason/accuracy/equal": 0.25 * row["step"], "completion/count": 8})
        ),
    )
    (accuracy, _) = reasons(run)
    by_name = {one["name"]: one for one in accuracy["reasons"]}  # type: ignore[attr-defined]
    assert by_name["equal"]["points"] == [[1, 0.25], [2, 0.5]]
    assert by_name["equal"]["count"] == 6


# Rollouts


def test_a_group_has_its_reference_what_was_extracted_and_equal_completions_once(
    make_run: MakeRun,
) -> None:
    run = make_run(steps=1, groups=1, group_size=8)
    (group,) = report_data(run)["rollouts"]["groups"]
    assert group["reference"] == '{"answer": "12"}'
    right, wrong = group["completions"]
    assert right["times"] + wrong["times"] == 8
    assert (right["verdicts"]["accuracy"]["extracted"], right["advantage"]) == ("12", 0.8)
    assert (wrong["verdicts"]["accuracy"]["reason"], wrong["advantage"]) == ("different", -1.2)


def test_a_group_has_the_system_prompt_that_was_sampled_from(make_run: MakeRun) -> None:
    run = make_run(steps=2)
    posed = {1: [{"role": "user", "content": "1+1=?"}], 2: [{"role": "system", "content": "Add."}]}
    for step, messages in posed.items():
        path = run.folder / "rollouts" / f"step_{step:06d}.jsonl"
        write_lines(path, [{**row, "messages": messages} for row in read_lines(path)])
    shown = {(one["step"], one["system"]) for one in report_rollouts.rollouts(run)["groups"]}
    assert shown == {(1, None), (2, "Add.")}


def test_a_problem_can_be_followed_over_the_steps(make_run: MakeRun) -> None:
    found = report_data(make_run(steps=9))["rollouts"]
    problem = next(one for one in found["problems"] if one["id"] == "p2-1-9")
    assert [step for step, *_ in problem["rates"]] == [1, 4, 7]
    at = [group["step"] for group in found["groups"] if group["id"] == "p2-1-9"]
    assert at == [1, 4, 7]


def test_a_long_run_is_sampled_and_the_page_says_so(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(steps=200, groups=4, group_size=2)
    found = report_data(run)["rollouts"]
    assert len(found["groups"]) == MAX_GROUPS
    assert found["note"].startswith("300 of the run's 800 groups are here")
    assert {1, 200} <= {group["step"] for group in found["groups"]}
    monkeypatch.setattr(report_rollouts, "MAX_CHARACTERS", 10_000)
    assert len(json.dumps(report_data(run)["rollouts"])) < 30_000


def test_a_large_group_shows_the_highest_and_the_lowest_rewards(make_run: MakeRun) -> None:
    run = make_run(steps=1, groups=1, group_size=2)
    rows = [row_of_completion(1, 0, [1, 1, 9], f"text {n}", True) for n in range(40)]
    rows = [{**row, "reward": None if n == 20 else n} for n, row in enumerate(rows)]
    write_lines(run.folder / "rollouts" / "step_000001.jsonl", rows)
    (group,) = report_data(run)["rollouts"]["groups"]
    assert [one["reward"] for one in group["completions"][:8]] == [39, 38, 37, 36, 35, 34, 33, 32]
    assert [one["reward"] for one in group["completions"][8:]] == [6, 5, 4, 3, 2, 1, 0, None]
    assert group["left_out"] == 24


def test_a_long_completion_keeps_its_end(make_run: MakeRun) -> None:
    run = make_run(steps=1, groups=1, group_size=2, completions=["a" * 9000 + "the end"])
    (group,) = report_data(run)["rollouts"]["groups"]
    text = group["completions"][0]["text"]
    assert len(text) < MAX_TEXT + 50
    assert text.endswith("the end")
    assert "[... 5,007 characters ...]" in text


def test_numbers_that_json_lacks_do_not_break_the_page(make_run: MakeRun) -> None:
    run = make_run(steps=1, groups=1, group_size=2)
    row = row_of_completion(1, 0, [1, 1, 9], "x", True) | {"advantage": float("nan")}
    write_lines(run.folder / "rollouts" / "step_000001.jsonl", [row])
    data = json.dumps(report_data(run), allow_nan=False)
    assert json.loads(data)["rollouts"]["groups"][0]["completions"][0]["advantage"] is None


def test_rollouts_of_an_older_version_are_shown_without_a_reference(make_run: MakeRun) -> None:
    run = make_run(steps=1, groups=3)
    path = run.folder / "rollouts" / "step_000001.jsonl"
    old = [
        {k: v for k, v in row.items() if k not in ("group", "reference")}
        for row in read_lines(path)
    ]
    write_lines(path, old)
    groups = report_data(run)["rollouts"]["groups"]
    assert [group["id"] for group in groups] == ["p2-1-9", "p2-2-9", "p2-3-9"]
    assert groups[0]["reference"] is None


def test_a_step_that_has_not_finished_is_left_out(make_run: MakeRun) -> None:
    run = make_run(steps=3)
    rows = read_lines(run.folder / "metrics.jsonl")
    write_lines(run.folder / "metrics.jsonl", rows[:-1])
    groups = report_data(LoggedRun.read(run.folder))["rollouts"]["groups"]
    assert max(group["step"] for group in groups) == 2


# The page


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_what_a_model_wrote_cannot_become_part_of_the_page(
    make_run: MakeRun, tmp_path: Path
) -> None:
    run = make_run(steps=1, completions=[TEXT])
    write_report(run.folder, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for mark in ("</script>", "<script", "<!--"):
        assert page.count(mark) == TEMPLATE.read_text().count(mark)
    assert data_of(page)["rollouts"]["groups"][0]["completions"][0]["text"] == TEXT


def test_the_page_loads_nothing_from_elsewhere_and_makes_no_markup() -> None:
    template = TEMPLATE.read_text()
    assert template.count(DATA) == template.count(POLICY) == 1
    assert set(re.findall(r"https?://[^\"'\s]+", template)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|src=|innerHTML|insertAdjacentHTML|eval\(| on\w+=\"", template)
    assert "style=" not in template


def test_a_page_of_a_file_may_ask_nobody(make_run: MakeRun, tmp_path: Path) -> None:
    write_report(make_run().folder, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "connect-src 'none'" in page
    assert len(re.findall(r"'sha256-[\w+/]{43}='", page)) == 2


def test_the_command_needs_no_torch(make_run: MakeRun) -> None:
    run = make_run()
    command = [sys.executable, "-X", "importtime", "-m", "trainer_client", "report"]
    done = subprocess.run([*command, str(run.folder)], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f"report: {run.folder}/report.html\n")
    assert not re.search(r"\| +torch$", done.stderr, re.M)


def test_a_folder_without_a_finished_step_is_no_run(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="holds no run: expected config"):
        write_report(tmp_path, tmp_path / "report.html")
    run = make_run(steps=0, finished=False)
    with pytest.raises(ReportError, match="no run with a finished step yet"):
        write_report(run.folder, tmp_path / "report.html")


def test_a_metric_that_was_never_logged_has_no_chart(make_run: MakeRun) -> None:
    run = make_run(steps=1)
    change_config(run.folder, evaluation=[])
    write_lines(run.folder / "metrics.jsonl", [{"step": 1, "policy/entropy": 2.0}])
    found = charts(LoggedRun.read(run.folder))
    small: list[Any] = found["small"]
    assert (found["large"], [one["title"] for one in small]) == ([], ["Entropy"])


def test_a_page_that_cannot_be_written_is_named(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    with pytest.raises(TrainerError, match=r"cannot write .*: Is a directory"):
        write_report(run.folder, tmp_path)
