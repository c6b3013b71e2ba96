"""Two processes train as one does, and go on from each other's checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import distributed

from tests.trainer_client import runs
from trainer_client.config.run_config import ConfigError, dump_config, make_config
from trainer_client.errors import TrainerError
from trainer_client.export import export
from trainer_client.processes import OtherProcessFailed, Processes, check_processes, launched
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.train import train

pytestmark = pytest.mark.slow

History = list[dict[str, float]]
SCRIPT = Path(__file__).with_name("sharded_steps.py")


def weights(run_dir: Path, step: int) -> dict[str, torch.Tensor]:
    return runs.weights(run_dir / "checkpoints" / f"step_{step:06d}")


def check_equal(actual: History, expected: History) -> None:
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the runs of `histories`, each in one of its name."""
    return tmp_path_factory.mktemp("sharded")


@pytest.fixture(scope="module")
def histories(task: Path, folder: Path) -> dict[str, History]:
    """The metrics of each run's steps.

    Whatever a number of processes does is done by one start of them: each start imports torch.
    """
    drop, sync, resume, objectives = "--drop", "--sync", "--resume", "--objectives"
    lora, dora, offload = "--lora", "--dora", "--offload"
    minibatches = "--minibatches"
    found: dict[str, History] = {}

    def take_steps(processes: int, *asked: tuple[str, int, *tuple[str, ...]]) -> None:
        orders = json.dumps([(str(folder / name), *others) for name, *others in asked])
        output = runs.run_python(str(SCRIPT), str(task / "model"), orders, processes=processes)
        for (name, *_), history in zip(asked, json.loads(output), strict=True):
            found[name] = [*found.get(name, []), *history]

    take_steps(
        1,
        ("one", 10),
        ("one drops", 4, drop),
        ("one has minibatches", 3, minibatches),
        ("one syncs", 6, sync),
        ("one has objectives", 5, objectives),
        ("1 then 2", 5),
        ("1 then 2 sync", 4, sync),
        ("one lora", 4, lora),
        ("one dora", 3, dora),
    )
    take_steps(
        2,
        ("zero3", 10),
        ("zero2", 10, "--keep-weights"),
        ("two drop", 4, drop),
        ("two have minibatches", 3, minibatches),
        ("2 then 1 objectives", 3, objectives),
        ("1 then 2", 5, resume),
        ("1 then 2 sync", 2, sync, resume),
        ("2 then 1", 5),
        ("2 then 1 sync", 4, sync),
        ("two lora", 4, lora, offload),
        ("two dora", 3, dora, "--keep-weights"),
        ("2 then 1 lora", 2, lora),
    )
    take_steps(
        1,
        ("2 then 1", 5, resume),
        ("2 then 1 sync", 2, sync, resume),
        ("2 then 1 objectives", 2, objectives, resume),
        ("2 then 1 lora", 2, lora, resume),
    )
    return found


def test_one_process_learns(histories: dict[str, History]) -> None:
    losses = [update["policy/loss"] for update in histories["one"]]
    assert losses[0] - losses[-1] > 0.1


@pytest.mark.parametrize("name", ["zero3", "zero2"])
def test_two_processes_have_the_loss_curve_of_one(
    folder: Path, histories: dict[str, History], name: str
) -> None:
    """Loss, gradient norm, KL and entropy of ten steps, and the weights after them."""
    check_equal(histories[name], histories["one"])
    actual = weights(folder / name, 10)
    for tensor, value in weights(folder / "one", 10).items():
        # Adam makes a step of a rounding error where a gradient is next to nothing.
        torch.testing.assert_close(actual[tensor], value, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("name", ["2 then 1", "1 then 2"])
def test_a_checkpoint_resumes_on_another_number_of_processes(
    histories: dict[str, History], name: str
) -> None:
    """Five steps and five more equal ten: weights, optimizer state and schedule are restored."""
    check_equal(histories[name], histories["one"])


def test_dropped_groups_leave_a_process_without_sequences(histories: dict[str, History]) -> None:
    """The process takes part in the other's updates and adds nothing, not even to the counts."""
    expected = histories["one drops"]
    assert expected[0]["policy/grad_norm"] > 0.1
    check_equal(histories["two drop"], expected)


def test_minibatches_are_those_of_one_process_where_one_has_no_group_in_some(
    histories: dict[str, History],
) -> None:
    """Three groups in two optimizer steps: one step has one group, which one process has."""
    expected = histories["one has minibatches"]
    assert [update["policy/updates"] for update in expected] == [2, 2, 2]
    check_equal(histories["two have minibatches"], expected)


def test_selected_tokens_and_the_entropy_coefficient_are_those_of_one_process(
    histories: dict[str, History],
) -> None:
    """The largest covariances of all tokens; the coefficient goes on from a checkpoint."""
    expected = histories["one has objectives"]
    coefficients = [update["policy/entropy_coefficient"] for update in expected]
    assert coefficients == pytest.approx([0, 0.01, 0.02, 0.03, 0.04])
    check_equal(histories["2 then 1 objectives"], expected)


@pytest.mark.parametrize(
    ("name", "alone"),
    [("two lora", "one lora"), ("2 then 1 lora", "one lora"), ("two dora", "one dora")],
)
def test_an_adapter_is_trained_by_two_processes_as_by_one(
    histories: dict[str, History], name: str, alone: str
) -> None:
    """The KL is that to the frozen base; what is in bfloat16 is the base and not the adapter."""
    expected = histories[alone]
    divergences = [update["policy/kl_divergence"] for update in expected]
    assert divergences[0] < 1e-4 < divergences[-1]
    for ours, theirs in zip(histories[name], expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-3)


def test_a_checkpoint_of_two_processes_holds_the_whole_adapter_alone(
    folder: Path, histories: dict[str, History]
) -> None:
    one, two = (
        load_file(folder / name / "checkpoints" / "step_000004" / "adapter_model.safetensors")
        for name in ("one lora", "two lora")
    )
    assert not (folder / "two lora" / "checkpoints" / "step_000004" / "model.safetensors").exists()
    assert two.keys() == one.keys()
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, atol=1e-3, rtol=0)


@pytest.mark.parametrize("name", ["2 then 1 sync", "1 then 2 sync"])
def test_a_reference_that_is_synced_goes_along(histories: dict[str, History], name: str) -> None:
    """The KL to a reference that moves is that of one process, in a resumed run too."""
    expected = histories["one syncs"]
    divergences = [update["policy/kl_divergence"] for update in expected]
    assert divergences[2] == pytest.approx(0, abs=1e-7)  # just synced
    assert divergences[3] > 1e-4
    check_equal(histories[name], expected)


def test_a_whole_run_goes_on_with_another_number_of_processes(
    task: Path, service_url: str, tmp_path: Path
) -> None:
    """Prompts are split, the rollouts of all are logged once, the first process evaluates.

    From two to one and from one to two; torchrun starts the first two, as a user does.
    """
    data = task / "data"
    path = tmp_path / "run.yaml"
    path.write_text(
        json.dumps(
            {
                "output_dir": str(tmp_path / "run"),
                "model": {"path": str(task / "model"), "device": "cpu"},
                "dataset": {"path": str(data / "train.jsonl"), "system_prompt": None},
                "rollout": {"prompts_per_step": 4, "group_size": 4, "max_completion_tokens": 8},
                "reward": {
                    "url": service_url,
                    "verifiers": [{"type": "regex", "pattern": "[0-4]", "part": "completion"}],
                },
                "optimizer": {"learning_rate": 1e-3},
                "train": {"steps": 2},
                "evaluation": {
                    "dataset": {"path": str(data / "held_out.jsonl"), "system_prompt": None},
                    "verifier": "regex",
                    "num_samples": 2,
                    "k": [1],
                    "every_steps": 1,
                },
            }
        )
    )
    command = ("-m", "trainer_client", "train", str(path))
    runs.torchrun(*command, processes=2)
    runs.run_python(*command, "--resume", "train.steps=3")
    runs.run_python(*command, "--resume", "train.steps=4", processes=2)
    run_dir = tmp_path / "run"
    rows = runs.metrics(run_dir)
    assert [row["step"] for row in rows] == [0, 1, 2, 3, 4]
    assert all("evaluation/pass@1" in row for row in rows)
    assert [len(runs.rollouts(run_dir, step)) for step in (1, 3, 4)] == [16, 16, 16]
    assert not runs.same(runs.weights(task / "model"), runs.weights(run_dir / "model"))


def test_an_evaluation_that_nothing_was_judged_in_stops_all_processes(
    task: Path, tmp_path: Path
) -> None:
    """The process that did not evaluate takes part in the checkpoint; it does not wait for ever."""
    run_dir = tmp_path / "run"
    config = runs.run_that_judges_nothing_once(task, run_dir, call=3, steps=2, every_steps=1)
    (tmp_path / "run.yaml").write_text(dump_config(config))
    with pytest.raises(
        AssertionError, match=r"stopped after step 1: (process 0: )?no problem has 1 completions"
    ):
        runs.run_python("-m", "trainer_client", "train", str(tmp_path / "run.yaml"), processes=2)
    assert [checkpoint.step for checkpoint in list_checkpoints(run_dir)] == [1]


def test_what_a_run_says_before_its_first_step_is_said_once(task: Path, tmp_path: Path) -> None:
    """Each process checks the configuration and asks the service; the one that leads speaks."""
    run_dir = tmp_path / "run"
    reward = {"url": "http://127.0.0.1:9", "max_attempts": 2, "backoff_seconds": 0.01}
    verifiers = {"verifiers": [{"type": "accuracy"}], "functions": []}
    config = runs.run_config(task, run_dir, reward=reward | verifiers)
    run_dir.mkdir()
    (run_dir / "config.yaml").write_text(dump_config(config))
    arguments = ("-m", "trainer_client", "train", str(run_dir / "config.yaml"), "--resume")
    with pytest.raises(AssertionError, match="no answer from the verifier") as failed:
        runs.run_python(*arguments, processes=2)
    said = str(failed.value)
    assert said.count("config.yaml cannot be used") == 1
    assert said.count("waiting for the verifier at http://127.0.0.1:9 ") == 1


def test_a_whole_run_with_an_adapter_on_two_processes_ends_with_a_merged_model(
    task: Path, tmp_path: Path
) -> None:
    """Refills and offloading too; `export` gives the same merged model, and the adapter alone."""
    config = runs.run_config(
        task,
        tmp_path / "run",
        model={"lora": {"rank": 4, "alpha": 8}},
        advantage={"zero_variance": "drop"},
        rollout={"max_refills": 1},
        train={"steps": 2, "offload": True},
    )
    (tmp_path / "run.yaml").write_text(dump_config(config))
    runs.run_python("-m", "trainer_client", "train", str(tmp_path / "run.yaml"), processes=2)
    export(tmp_path / "run", tmp_path / "out", checkpoint="last")
    ours, exported = runs.weights(tmp_path / "run" / "model"), runs.weights(tmp_path / "out")
    assert not runs.same(exported, runs.weights(task / "model"))
    for name, value in exported.items():
        torch.testing.assert_close(ours[name], value, atol=1e-6, rtol=0)
    assert (tmp_path / "out" / "adapter" / "adapter_model.safetensors").exists()


def test_that_a_run_is_finished_is_said_once(task: Path, tmp_path: Path) -> None:
    """The folder of the model is said once, too; no model is loaded for it."""
    config = runs.run_config(task, tmp_path / "run", train={"steps": 1})
    train(config)
    (tmp_path / "run.yaml").write_text(dump_config(config))
    arguments = ("-m", "trainer_client", "train", str(tmp_path / "run.yaml"), "--resume")
    said = runs.run_python(*arguments, processes=2)
    assert said.count("raise train.steps to go on") == 1
    assert said.count(f"trained model: {tmp_path / 'run' / 'model'}") == 1


def test_the_error_of_another_process_ends_a_command_with_its_message() -> None:
    """Otherwise every process but the one that failed would end with a traceback."""
    assert issubclass(OtherProcessFailed, TrainerError)


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"train": {"offload_activations": True}}, "offload_activations: .* were gathered"),
        ({"optimizer": {"type": "muon"}}, r"optimizer\.type muon: .* needs whole ones"),
        ({"rollout": {"engine": "vllm"}}, r"rollout\.engine vllm: .* use vllm_server"),
        ({"train": {"compile": True}}, r"train\.compile: .* gathers its weights"),
        (
            {
                "train": {"max_staleness_steps": 1},
                "rollout": {"engine": "vllm_server", "max_refills": 1},
                "advantage": {"zero_variance": "drop"},
                "loss": {"importance": {"mode": "token_truncate"}},
            },
            r"max_staleness_steps 1 with rollout\.max_refills: .* cannot count the refills",
        ),
    ],
)
def test_settings_that_need_one_process_are_named_with_the_reason(
    sections: dict[str, Any], message: str
) -> None:
    """The check needs the configuration alone, so it comes before a model is loaded."""
    minimal = {"output_dir": "r", "model": {"path": "m"}, "dataset": {"path": "unused"}}
    config = make_config({**minimal, **sections})
    check_processes(config, Processes())
    with pytest.raises(ConfigError, match=message):
        check_processes(config, Processes(0, 2))


def test_more_processes_than_gpus_are_refused_with_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Any number of processes may run on the CPU, whatever GPUs there are."""
    for name, value in (("WORLD_SIZE", "2"), ("LOCAL_WORLD_SIZE", "2"), ("LOCAL_RANK", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    message = r"2 processes on this machine, which has 1 GPU"
    with pytest.raises(ConfigError, match=message), launched("auto"):
        pass
    monkeypatch.setattr(distributed, "init_process_group", lambda backend: backends.append(backend))
    monkeypatch.setattr(distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(distributed, "get_world_size", lambda: 2)
    for name in ("barrier", "destroy_process_group"):
        monkeypatch.setattr(distributed, name, lambda: None)
    backends: list[str] = []
    with launched("cpu") as processes:
        assert (processes.rank, processes.size) == (1, 2)
    assert backends == ["gloo"]
