"""Runs whose sampling never pauses: weights in flight, metrics, kills, several processes."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.runs import metrics, rollouts, run_config, run_python, same, weights
from tests.trainer_client.sampling_server import Sampler, sampling_server
from trainer_client.config.run_config import Config, ConfigError, dump_config, make_config
from trainer_client.errors import TrainingStopped
from trainer_client.rollout.stream_state import FILE
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.train import train

STEPS = 4
PER_STEP = 4
MAX_STALENESS = 2


def streamed(task: Path, run_dir: Path, url: str, **sections: Any) -> Config:
    """A run of the largest staleness `MAX_STALENESS`."""
    rollout = {
        "engine": "vllm_server",
        "vllm_server": {"urls": [url], "weights_dir": str(run_dir.parent / "server_weights")},
    }
    return run_config(
        task,
        run_dir,
        **{
            "loss": {"importance": {"mode": "token_truncate"}},
            **sections,
            "rollout": {**rollout, **sections.get("rollout", {})},
            "train": {
                "steps": STEPS,
                "max_staleness_steps": MAX_STALENESS,
                "checkpoint_every_steps": 1,
                "keep_checkpoints": None,
                **sections.get("train", {}),
            },
        },
    )


@pytest.fixture(scope="module")
def server(task: Path) -> Iterator[tuple[str, Sampler]]:
    with sampling_server(str(task / "model")) as running:
        yield running


@pytest.fixture(scope="module")
def whole(
    task: Path, server: tuple[str, Sampler], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of a run that nothing disturbed."""
    settings = streamed(task, tmp_path_factory.mktemp("whole") / "run", server[0])
    train(settings)
    return settings.output_dir


def prompts(run_dir: Path, steps: int = STEPS) -> list[str]:
    """The problem of each group that the run trained on."""
    return [
        group
        for step in range(1, steps + 1)
        for group in dict.fromkeys(row["id"] for row in rollouts(run_dir, step))
    ]


@pytest.mark.slow
def test_a_run_has_all_its_steps_with_their_staleness_and_idle_times(whole: Path) -> None:
    rows = metrics(whole)
    assert [row["step"] for row in rows] == list(range(1, STEPS + 1))
    for row in rows:
        assert 0 <= row["staleness/mean"] <= row["staleness/max"] <= 2
        assert row["staleness/dropped_groups"] == 0
        assert min(row["time/trainer_idle"], row["time/sampler_idle"]) >= 0
        assert row["completion/count"] == 4 * PER_STEP
    assert rows[0]["staleness/max"] == 0
    assert rows[0]["policy/sampler_kl"] < 1e-6


def test_each_line_of_a_rollout_says_which_weights_sampled_how_many_tokens(whole: Path) -> None:
    for step in range(1, STEPS + 1):
        for row in rollouts(whole, step):
            assert sum(tokens for _, tokens in row["weights"]) == row["completion_tokens"]
            assert all(step - 3 <= trained < step for trained, _ in row["weights"])


def test_each_problem_is_trained_on_once(whole: Path) -> None:
    assert max(Counter(prompts(whole)).values()) == 1
    assert len(prompts(whole)) == STEPS * PER_STEP


def test_a_run_that_goes_on_trains_on_each_problem_that_was_kept_once(
    task: Path, whole: Path, server: tuple[str, Sampler], tmp_path: Path
) -> None:
    """The problems of a run are those of the order, wherever it is cut; no problem is lost."""
    settings = streamed(task, tmp_path / "run", server[0])
    shutil.copytree(whole, settings.output_dir)
    for checkpoint in list_checkpoints(settings.output_dir)[2:]:
        shutil.rmtree(checkpoint.folder)
    shutil.rmtree(settings.output_dir / "model")
    kept = json.loads((list_checkpoints(settings.output_dir)[-1].folder / FILE).read_text())
    train(settings, resume=True)
    assert sorted(prompts(settings.output_dir)) == sorted(prompts(whole))
    assert len(kept["items"]) == 2 * PER_STEP
    assert [row["step"] for row in metrics(settings.output_dir)] == list(range(1, STEPS + 1))


@pytest.mark.slow
def test_functions_score_refills_and_evaluations_go_beside_a_stream(
    task: Path, server: tuple[str, Sampler], tmp_path: Path
) -> None:
    """Groups with equal rewards are replaced by others of the stream; an evaluation changes none
    of the ages, though it updates the weights as well."""
    settings = streamed(
        task,
        tmp_path / "run",
        server[0],
        reward={"verifiers": [], "functions": [{"path": f"{tmp_path}/run_rewards.py:accuracy"}]},
        advantage={"zero_variance": "drop"},
        rollout={"max_refills": 1},
        train={"steps": 2},
        evaluation={
            "dataset": {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None},
            "num_samples": 2,
            "every_steps": 1,
            "k": [1],
        },
    )
    train(settings)
    rows = metrics(settings.output_dir)
    assert [row["step"] for row in rows] == [0, 1, 2]
    assert all("evaluation/pass@1" in row for row in rows)
    assert all(row["staleness/max"] <= 2 for row in rows[1:])
    assert all(len(rollouts(settings.output_dir, step)) >= 4 * PER_STEP for step in (1, 2))


@pytest.mark.slow
def test_a_stop_keeps_the_groups_of_the_step_that_was_not_finished(
    task: Path, tmp_path: Path
) -> None:
    """The server goes away in the third step; with it back, each problem has its turn."""
    updates = 0

    def fail_third(path: str, response: Any) -> Any:
        nonlocal updates
        updates += path == "/collective_rpc"
        return 500 if path == "/collective_rpc" and updates == 3 else response

    with sampling_server(str(task / "model"), fail_third) as (url, _):
        settings = streamed(task, tmp_path / "run", url)
        with pytest.raises(TrainingStopped, match=r"stopped after step 2: .*collective_rpc: 500"):
            train(settings)
    with sampling_server(str(task / "model")) as (url, _):
        settings = streamed(task, tmp_path / "run", url)
        train(settings, resume=True)
    assert max(Counter(prompts(settings.output_dir)).values()) == 1
    assert len(prompts(settings.output_dir)) == STEPS * PER_STEP


@pytest.mark.slow
def test_two_processes_train_on_the_stream_of_the_first(
    task: Path, server: tuple[str, Sampler], tmp_path: Path
) -> None:
    settings = streamed(task, tmp_path / "run", server[0])
    (tmp_path / "run.yaml").write_text(dump_config(settings))
    command = ("-m", "trainer_client", "train", str(tmp_path / "run.yaml"))
    run_python(*command, processes=2)
    for checkpoint in list_checkpoints(settings.output_dir)[2:]:
        shutil.rmtree(checkpoint.folder)
    run_python(*command, "--resume", processes=2)
    assert max(Counter(prompts(settings.output_dir)).values()) == 1
    assert len(prompts(settings.output_dir)) == STEPS * PER_STEP


@pytest.mark.slow
def test_without_staleness_a_run_is_the_synchronous_one_bit_for_bit(
    task: Path, server: tuple[str, Sampler], tmp_path: Path
) -> None:
    """0 is the default, and needs no correction."""
    runs = []
    for name, train_section in (("default", {}), ("zero", {"max_staleness_steps": 0})):
        settings = streamed(task, tmp_path / name, server[0]).model_dump(mode="json")
        settings["train"].pop("max_staleness_steps")
        settings["train"] |= {"steps": 2, **train_section}
        settings["loss"]["importance"] = None
        train(make_config(settings))
        runs.append(tmp_path / name)
    assert same(weights(runs[0] / "model"), weights(runs[1] / "model"))
    assert all("staleness/mean" not in row for row in metrics(runs[1]))


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        (
            {"rollout": {"engine": "transformers"}},
            r"max_staleness_steps 2 needs rollout\.engine vllm_server, found transformers: an "
            "engine in the trainer's process shares",
        ),
        ({"loss": {"importance": None}}, r"max_staleness_steps 2 needs loss\.importance"),
        ({"train": {"max_staleness_steps": -1}}, "greater than or equal to 0"),
    ],
)
def test_settings_that_staleness_does_not_go_with_are_named(
    task: Path, tmp_path: Path, sections: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        streamed(task, tmp_path / "run", "http://127.0.0.1:9", **sections)
