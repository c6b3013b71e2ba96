"""Several data sets: their mixture, what judges each, and their own metrics and warnings."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.runs import metrics, rollouts, run_config, run_python, same, weights
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.run_config import ConfigError, dump_config, load_config, make_config
from trainer_client.data_sets import DataSet, load_data_sets, questions_of
from trainer_client.problem_mix import MixPosition, ProblemMix
from trainer_client.problem_order import ProblemOrder
from trainer_client.problems import Problem, load_problems
from trainer_client.reward.selection import VerifierSelection
from trainer_client.row_files import DatasetError
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.run.guards import new_warnings
from trainer_client.run.json_lines import read_lines
from trainer_client.run.rollout_log import SolveRate
from trainer_client.sft import ExampleDraw
from trainer_client.sft_examples import Example
from trainer_client.solve_rates import MeasuredSolveRates
from trainer_client.train import train


def written(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def sums(path: Path, first: int, count: int) -> str:
    """Sums with a first number of their own, in a file."""
    return written(
        path,
        *({"problem": f"{first}+{b}=?", "answer": str(first + b)} for b in range(count)),
    )


def two(tmp_path: Path, *sections: dict[str, Any]) -> list[dict[str, Any]]:
    """Data sets of 6 and of 12 problems, with further settings of each."""
    return [
        {"path": sums(tmp_path / f"{name}.jsonl", first, count), "system_prompt": None, **section}
        for (name, first, count), section in zip(
            [("ones", 1, 6), ("twos", 2, 12)], sections or ({}, {}), strict=True
        )
    ]


def mix_of(tmp_path: Path, *sections: dict[str, Any], per_step: int = 4) -> ProblemMix:
    return ProblemMix(data_sets_of(tmp_path, *sections), per_step=per_step, seed=0)


def data_sets_of(tmp_path: Path, *sections: dict[str, Any]) -> list[DataSet]:
    config = {"output_dir": "r", "model": {"path": "m"}, "dataset": two(tmp_path, *sections)}
    return load_data_sets(make_config(config))


def steps_of(mix: ProblemMix, count: int, per_step: int) -> list[Counter[str]]:
    """How many problems of each data set each step takes."""
    position, steps = MixPosition(), []
    for _ in range(count):
        problems, position = mix.take(position, per_step)
        assert len({problem.id for problem in problems}) == per_step
        steps.append(Counter(problem.dataset for problem in problems))
    return steps


@pytest.mark.parametrize(("share", "expected"), [(1.0, 0.25), (3.0, 0.5), (0.3, 0.3 / 3.3)])
def test_steps_have_the_shares_within_one_problem(
    tmp_path: Path, share: float, expected: float
) -> None:
    steps = steps_of(mix_of(tmp_path, {"share": share}, {"share": 3.0}), 400, 4)
    assert all(abs(step["ones"] - 4 * expected) < 1 for step in steps)
    assert sum(step["ones"] for step in steps) / 1600 == pytest.approx(expected, abs=0.002)


def test_without_shares_a_data_set_counts_by_its_problems(tmp_path: Path) -> None:
    steps = steps_of(mix_of(tmp_path), 300, 2)
    assert sum(step["ones"] for step in steps) / 600 == pytest.approx(1 / 3, abs=0.004)


def test_the_mixture_is_a_function_of_the_position(tmp_path: Path) -> None:
    mix = mix_of(tmp_path)
    _, position = mix.take(MixPosition(), 4)
    assert mix.take(position, 4) == mix_of(tmp_path).take(MixPosition(*position), 4)


def test_a_position_of_other_data_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="training on 1 data sets, and the configuration has 2"):
        mix_of(tmp_path).take(MixPosition(4, (16,)), 4)


def test_a_data_set_with_fewer_problems_than_its_share_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"data set ones has 6 different problems, .* up to 8"):
        mix_of(tmp_path, {"share": 9.0}, {"share": 1.0}, per_step=8)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"label": "a"}, {"label": "a"}, "several data sets need different labels"),
        ({"share": 1.0}, {}, "a share to all data sets or to none"),
        ({}, {"weights": {"acuracy": 1.0}}, r"dataset\.1\.weights names \['acuracy'\]"),
        ({"profile": "code"}, {}, r"dataset\.0\.profile 'code' has no weights"),
        ({"verifiers": [{"type": "code", "weight": 0}]}, {}, r"dataset\.0: no verifier has a we"),
        ({"verifiers": []}, {}, r"dataset\.0\.verifiers: is empty"),
        ({"verifiers": [{"type": "code"}], "profile": "code"}, {}, "a profile or verifiers"),
        ({"solve_rate_steps": 9}, {}, r"solve_rate_steps needs a solve_rate_range"),
        ({"labl": "a"}, {}, r"dataset\.0\.labl: no such setting .* did you mean dataset\.0\.label"),
    ],
)
def test_what_cannot_be_mixed_or_judged_is_named(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], message: str
) -> None:
    values = {"output_dir": "r", "model": {"path": "m"}, "dataset": two(tmp_path, first, second)}
    with pytest.raises(ConfigError, match=message):
        make_config(values)


def test_one_data_set_needs_no_list_and_no_number(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("{output_dir: r, model: {path: m}, dataset: {path: d.jsonl}}")
    config = load_config(path, ["dataset.split=test"])
    assert (config.dataset[0].split, config.is_mixed) == ("test", False)
    written_again = tmp_path / "config.yaml"
    written_again.write_text(dump_config(config))
    assert load_config(written_again, ["dataset.split=test"]) == config
    with pytest.raises(ConfigError, match=r"dataset\.splt: no such setting .*dataset\.split"):
        load_config(path, ["dataset.splt=test"])


def test_of_several_data_sets_an_override_names_the_number(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("{output_dir: r, model: {path: m}, dataset: [{path: a}, {path: b}]}")
    config = load_config(path, ["dataset.1.share=2", "dataset.0.share=1"])
    assert [one.share for one in config.dataset] == [1.0, 2.0]
    written_again = tmp_path / "config.yaml"
    written_again.write_text(dump_config(config))
    assert load_config(written_again) == config


def own(value: Any, tmp_path: Path) -> Problem:
    """The problem of a row that names its verifiers in a column."""
    path = written(tmp_path / "own.jsonl", {"problem": "1+1=?", "answer": "2", "judges": value})
    (problem,) = load_problems(DatasetConfig(path=path, verifiers_column="judges"))
    return problem


@pytest.mark.parametrize("form", ["list", "text", "table"])
def test_a_row_names_its_own_verifiers(tmp_path: Path, form: str) -> None:
    """A list, JSON in a text, and the null that a table has for an unset value are read."""
    verifier = {"type": "regex", "weight": 0.5, "pattern": "2"}
    value: Any = {
        "list": [verifier],
        "text": json.dumps([verifier]),
        "table": [{**verifier, "name": None, "part": None}],
    }[form]
    selection = own(value, tmp_path).own_verifiers
    assert selection is not None
    assert selection.wire == {"verifiers": [{"name": "regex", "type": "regex", "pattern": "2"}]}
    assert selection.verifiers[0].weight == 0.5


def test_a_row_names_a_profile_or_nothing(tmp_path: Path) -> None:
    assert own("code", tmp_path).own_verifiers == VerifierSelection(profile="code")
    assert own(None, tmp_path).own_verifiers is None


@pytest.mark.parametrize("value", [[], "", 3, [{"weight": 1.0}], "[nothing", {"type": "code"}])
def test_what_is_no_choice_of_verifiers_is_a_bad_row(tmp_path: Path, value: Any) -> None:
    with pytest.raises(DatasetError, match="row 1, column 'judges' must be the name of a profile"):
        own(value, tmp_path)


def test_rows_with_one_prompt_and_other_verifiers_conflict(tmp_path: Path) -> None:
    row = {"problem": "1+1=?", "answer": "2"}
    rows = [{**row, "judges": [{"type": name}]} for name in ("accuracy", "regex")]
    path = written(tmp_path / "rows.jsonl", *rows)
    with pytest.raises(DatasetError, match="rows 1 and 2 pose the same problem"):
        load_problems(DatasetConfig(path=path, verifiers_column="judges"))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("maths", r"names the profile 'maths', whose weights are not in reward\.profiles"),
        ([{"type": "code", "weight": 0}], "no verifier has a weight other than 0"),
    ],
)
def test_a_row_that_cannot_teach_is_named(tmp_path: Path, value: Any, message: str) -> None:
    path = written(tmp_path / "d.jsonl", {"problem": "1+1=?", "answer": "2", "judges": value})
    config = make_config(
        {
            "output_dir": "r",
            "model": {"path": "m"},
            "dataset": {"path": path, "verifiers_column": "judges"},
        }
    )
    with pytest.raises(DatasetError, match=message):
        load_data_sets(config)


def test_each_choice_of_verifiers_is_asked_for_once(tmp_path: Path) -> None:
    """The default verifiers are not asked for where nothing is judged by them."""
    rows = [
        {"problem": f"{a}+1=?", "answer": str(a + 1), "judges": [{"type": "regex", "pattern": "1"}]}
        for a in range(3)
    ]
    values = {
        "output_dir": "r",
        "model": {"path": "m"},
        "reward": {"profiles": {"code": {"code": 1.0}}},
        "dataset": [
            {
                "path": written(tmp_path / "own.jsonl", *rows),
                "verifiers_column": "judges",
                "verifiers": [{"type": "code"}],
            },
            {"path": sums(tmp_path / "sums.jsonl", 1, 2), "profile": "code"},
        ],
    }
    config = make_config(values)
    asked = questions_of(config, load_data_sets(config))
    assert [place for place, _ in asked] == [
        "dataset.0.verifiers",
        "dataset.1.profile",
        f"row 1 of {config.dataset[0].path}",
    ]


def test_each_problem_has_its_own_verifiers_and_weights(
    task: Path, service_url: str, tmp_path: Path
) -> None:
    """Verifiers of `reward`, of the data set, and of a row; each reward is of its own sources."""
    digit = {"type": "regex", "pattern": "[0-4]", "part": "completion"}
    rows = [
        {"problem": f"{a}+7=?", "answer": str(a + 7), "judges": judges}
        for a, judges in enumerate([None, [{**digit, "name": "mine", "weight": 3.0}]] * 2)
    ]
    run_dir = tmp_path / "run"
    first, second = two(tmp_path, {"weights": {"digits": 2.0}}, {})
    second["path"] = written(tmp_path / "twos.jsonl", *rows)
    second |= {"verifiers": [{**digit, "weight": 0.5}], "verifiers_column": "judges"}
    config = run_config(
        task,
        run_dir,
        dataset=[first, second],
        rollout={"prompts_per_step": 4, "group_size": 4, "max_completion_tokens": 8},
        train={"steps": 2},
    )
    reward = {"url": service_url, "verifiers": [{**digit, "name": "digit"}]}
    config = make_config(
        {
            **config.model_dump(mode="json"),
            "reward": {**config.model_dump(mode="json")["reward"], **reward},
        }
    )
    train(config)
    weights_of = {
        frozenset({"digit", "digits"}): {"digit": 1.0, "digits": 2.0},
        frozenset({"regex", "digits"}): {"regex": 0.5, "digits": 1.0},
        frozenset({"mine", "digits"}): {"mine": 3.0, "digits": 1.0},
    }
    seen = set()
    for row in [*rollouts(run_dir, 1), *rollouts(run_dir, 2)]:
        keys = frozenset(row["verdicts"])
        seen.add((row["dataset"], keys))
        expected = sum(
            weight * row["verdicts"][key]["score"] for key, weight in weights_of[keys].items()
        )
        assert row["reward"] == pytest.approx(expected)
    assert seen == {
        ("ones", frozenset({"digit", "digits"})),
        ("twos", frozenset({"regex", "digits"})),
        ("twos", frozenset({"mine", "digits"})),
    }
    first_row = metrics(run_dir)[0]
    assert {"dataset/ones/reward/digit", "dataset/twos/reward/regex"} <= first_row.keys()
    assert "dataset/ones/reward/regex" not in first_row
    problems = first_row["dataset/ones/problems"] + first_row["dataset/twos/problems"]
    assert problems == 4
    total = sum(
        first_row[f"dataset/{name}/reward/total"] * first_row[f"dataset/{name}/problems"] / 4
        for name in ("ones", "twos")
    )
    assert first_row["reward/total"] == pytest.approx(total)
    labels = {row["dataset"] for row in read_lines(run_dir / "solve_rates.jsonl")}
    assert labels == {"ones", "twos"}


def spread(history: list[dict[str, float]], tmp_path: Path) -> list[str]:
    """The warnings of a run on two data sets, of which the second one is judged by `code`."""
    sections = two(tmp_path, {}, {"verifiers": [{"type": "code", "weight": 4.0}]})
    values = {"output_dir": "r", "model": {"path": "m"}, "dataset": sections}
    return new_warnings(history, make_config(values))


def test_warnings_are_of_the_data_set_that_they_are_about(tmp_path: Path) -> None:
    """The limit of the spread is relative to what the data set's own weights allow."""
    row = {
        "step": 1.0,
        "reward/group_std": 0.1,
        "dataset/ones/reward/group_std": 0.1,
        "dataset/twos/reward/group_std": 0.1,
        "dataset/twos/reward/zero_variance_fraction": 0.75,
        "dataset/twos/reason/code/wrong_answer": 1.0,
    }
    zero, low = spread([row], tmp_path)
    assert zero.startswith("data set twos: 75% of the groups have equal rewards")
    assert "The commonest verdict of 'code' is wrong_answer (100%)" in zero
    assert low.startswith("data set twos: reward/group_std is 0.1, less than 10% of 2, the largest")


def test_a_data_set_without_problems_in_a_step_is_not_warned_about(tmp_path: Path) -> None:
    bad = {"step": 1.0, "dataset/ones/reward/zero_variance_fraction": 1.0}
    assert len(spread([bad], tmp_path)) == 1
    assert spread([bad, {"step": 2.0}], tmp_path) == []


def test_an_order_skips_what_is_not_wanted_until_too_little_is_left(tmp_path: Path) -> None:
    problems = load_problems(DatasetConfig(path=sums(tmp_path / "d.jsonl", 1, 6)))
    order = ProblemOrder(problems, seed=0)
    everything, _ = order.take(0, 6)
    wanted = {everything[1].id, everything[4].id}
    chosen, position = order.take(0, 2, wants=lambda problem: problem.id in wanted)
    assert ([everything[1], everything[4]], 5) == (chosen, position)
    few, position = order.take(5, 3, wants=lambda problem: problem.id in wanted)
    assert wanted < {problem.id for problem in few}
    assert (len(few), position) == (3, 12)


def test_measured_rates_choose_problems_until_they_are_forgotten(tmp_path: Path) -> None:
    (data_set, _) = data_sets_of(
        tmp_path, {"solve_rate_range": [0.2, 0.8], "solve_rate_steps": 2}, {}
    )
    solved, mixed, never = (problem.id for problem in data_set.problems[:3])

    def taken(measured: MeasuredSolveRates, step: int) -> list[bool]:
        takes = measured.chooses(data_set.config, step)
        return [takes(problem) for problem in data_set.problems[:4]]

    rates = MeasuredSolveRates()
    rates.record(1, [SolveRate(solved, 4, 4, "ones"), SolveRate(mixed, 4, 4, "ones")])
    rates.record(2, [SolveRate(never, 0, 4, "ones"), SolveRate(mixed, 0, 4, "ones")])
    assert taken(rates, 1) == [True] * 4
    assert taken(rates, 2) == [False, False, True, True]
    assert taken(rates, 3) == [False, True, False, True]
    assert taken(rates, 4) == [True, False, False, True]
    assert taken(rates, 5) == [True] * 4
    behind = MeasuredSolveRates(lag=1)
    behind.restore(
        [{"step": 1, "dataset": "ones", "id": solved, "passed": 4, "judged": 4}],
    )
    assert taken(behind, 2) == [True] * 4
    assert not taken(behind, 3)[0]


def curriculum(task: Path, run_dir: Path, **sections: Any) -> Any:
    """Six steps on two data sets, one of them chosen by rates; half of the completions pass."""
    values = two(run_dir.parent, {"solve_rate_range": [0.2, 0.8], "solve_rate_steps": 2}, {})
    return run_config(task, run_dir, "accuracy", dataset=values, train={"steps": 6, **sections})


@pytest.mark.slow
def test_a_resumed_run_chooses_as_if_it_had_not_stopped(task: Path, tmp_path: Path) -> None:
    train(curriculum(task, tmp_path / "whole", checkpoint_every_steps=3))
    train(curriculum(task, tmp_path / "part", checkpoint_every_steps=3))
    for checkpoint in list_checkpoints(tmp_path / "part")[1:]:
        for file in sorted(checkpoint.folder.rglob("*"), reverse=True):
            file.unlink()
        checkpoint.folder.rmdir()
    (tmp_path / "part" / "model" / "trained_steps").unlink()
    train(curriculum(task, tmp_path / "part", checkpoint_every_steps=3), resume=True)
    assert same(weights(tmp_path / "whole" / "model"), weights(tmp_path / "part" / "model"))
    asked = [
        [(row["step"], row["id"]) for row in read_lines(tmp_path / name / "solve_rates.jsonl")]
        for name in ("whole", "part")
    ]
    assert asked[0] == asked[1]
    rates = read_lines(tmp_path / "whole" / "solve_rates.jsonl")
    for row in rates:
        before = [
            (one["passed"], one["judged"])
            for one in rates
            if row["step"] - 2 <= one["step"] < row["step"]
            and (one["dataset"], one["id"]) == (row["dataset"], row["id"])
        ]
        if row["dataset"] == "ones" and before:
            assert 0.2 <= sum(p for p, _ in before) / sum(j for _, j in before) <= 0.8


@pytest.mark.slow
def test_two_processes_mix_choose_and_refill_together(task: Path, tmp_path: Path) -> None:
    """Every group is dropped, so each of two steps takes its four problems and two refills."""
    config = run_config(
        task,
        tmp_path / "run",
        "constant",
        dataset=two(tmp_path, {"solve_rate_range": [0.2, 0.8], "solve_rate_steps": 4}, {}),
        advantage={"zero_variance": "drop"},
        rollout={"max_refills": 2},
        train={"steps": 2, "checkpoint_every_steps": 1},
    )
    (tmp_path / "run.yaml").write_text(dump_config(config))
    command = ("-m", "trainer_client", "train", str(tmp_path / "run.yaml"))
    run_python(*command, processes=2)
    assert [row["completion/count"] for row in metrics(tmp_path / "run")] == [48, 48]
    first = [row["id"] for row in read_lines(tmp_path / "run" / "solve_rates.jsonl")][:12]
    assert len(set(first)) == 12


def test_supervised_examples_are_drawn_by_shares() -> None:
    first, second = ([Example([index], [place]) for place in range(4)] for index in (1, 2))
    drawn = ExampleDraw([first, second], [3.0, 1.0], seed=0).take(2000)
    assert sum(one.prompt_ids == [1] for one in drawn) / 2000 == pytest.approx(0.75, abs=0.03)
    assert {one.completion_ids[0] for one in drawn} == {0, 1, 2, 3}
