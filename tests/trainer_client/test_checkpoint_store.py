"""Checkpoints in a store: whole ones only, and nodes that share no folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.trainer_client import runs
from trainer_client.config.run_config import ConfigError
from trainer_client.processes import Processes
from trainer_client.run.checkpoint import Checkpoint, list_checkpoints
from trainer_client.run.checkpoint_store import MANIFEST, CheckpointStore, StoreError
from trainer_client.run.run_folder import checkpoint_folder

FILES = {
    "model.safetensors": b"weights",
    "optimizer/.metadata": b"m",
    "optimizer/__0_0.distcp": b"p",
}


def saved(run_dir: Path, step: int) -> Checkpoint:
    """A checkpoint of a run, with a few bytes in each file."""
    folder = checkpoint_folder(run_dir, step)
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content + str(step).encode())
    return Checkpoint(folder, step)


def store(tmp_path: Path, node: str) -> CheckpointStore:
    """The store as a node sees it that has a folder of its own."""
    return CheckpointStore((tmp_path / "store").as_uri(), tmp_path / node, Processes())


def steps(run_dir: Path) -> list[int]:
    return [one.step for one in list_checkpoints(run_dir)]


def test_a_new_machine_goes_on_from_the_newest_checkpoint(tmp_path: Path) -> None:
    for step in (1, 2):
        store(tmp_path, "old").keep(saved(tmp_path / "old", step))
    (tmp_path / "old" / "metrics.jsonl").write_text('{"step": 2}\n')
    store(tmp_path, "old").keep(saved(tmp_path / "old", 3))
    store(tmp_path, "new").restore()
    assert steps(tmp_path / "new") == [3]
    found = checkpoint_folder(tmp_path / "new", 3)
    assert {name: (found / name).read_bytes() for name in FILES} == {
        name: content + b"3" for name, content in FILES.items()
    }
    assert (tmp_path / "new" / "metrics.jsonl").read_text() == '{"step": 2}\n'


def test_one_whose_sending_was_cut_off_is_not_taken(tmp_path: Path) -> None:
    for step in (1, 2):
        store(tmp_path, "old").keep(saved(tmp_path / "old", step))
    (tmp_path / "store" / "checkpoints" / "step_000002" / MANIFEST).unlink()
    store(tmp_path, "new").restore()
    assert steps(tmp_path / "new") == [1]


def test_the_store_keeps_what_the_disk_keeps(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    store(tmp_path, "run").keep(saved(run_dir, 1))
    first = checkpoint_folder(run_dir, 1)
    first.rename(first.with_suffix(".partial"))
    store(tmp_path, "run").keep(saved(run_dir, 2))
    kept = (tmp_path / "store" / "checkpoints").glob("*")
    assert [path.name for path in kept] == ["step_000002"]


def test_a_disk_that_is_ahead_of_the_store_keeps_its_checkpoint(tmp_path: Path) -> None:
    """The last sending failed; the one process has all parts of its own checkpoint."""
    store(tmp_path, "run").keep(saved(tmp_path / "run", 1))
    saved(tmp_path / "run", 2)
    store(tmp_path, "run").restore()
    assert steps(tmp_path / "run") == [1, 2]


def test_a_file_that_lacks_bytes_is_an_error(tmp_path: Path) -> None:
    store(tmp_path, "old").keep(saved(tmp_path / "old", 1))
    (tmp_path / "store" / "checkpoints" / "step_000001" / "model.safetensors").write_bytes(b"w")
    with pytest.raises(StoreError, match=r"model\.safetensors has not the 8 bytes"):
        store(tmp_path, "new").restore()
    assert steps(tmp_path / "new") == []


def test_a_store_that_fails_is_a_warning_and_the_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store").write_text("a file where a folder is expected")
    store(tmp_path, "run").keep(saved(tmp_path / "run", 1))
    assert "warning: step_000001 is not in file://" in capsys.readouterr().out.replace("\n", "")
    assert steps(tmp_path / "run") == [1]


def test_an_address_of_no_known_kind_is_named(tmp_path: Path) -> None:
    wrong = CheckpointStore("s4://bucket/run", tmp_path, Processes())
    with pytest.raises(ConfigError, match=r"train.checkpoint_store 's4://bucket/run': .*s4"):
        wrong.check()


def commands(config: Path, folders: list[Path]) -> list[tuple[str, ...]]:
    """A command for each of several nodes that share no folder."""
    command = ("-m", "trainer_client", "train", str(config), "--resume")
    return [(*command, f"output_dir={folder}") for folder in folders]


@pytest.mark.slow
def test_two_nodes_without_a_common_folder_resume_on_two_new_ones(
    task: Path, service_url: str, tmp_path: Path
) -> None:
    """The last checkpoint did not arrive; its step is done again, to the same weights."""
    config = tmp_path / "run.yaml"
    reward = {
        "url": service_url,
        "verifiers": [{"type": "regex", "pattern": "[0-4]", "part": "completion"}],
    }
    values = {
        "output_dir": str(tmp_path / "nowhere"),
        "model": {"path": str(task / "model"), "device": "cpu"},
        "dataset": {"path": str(task / "data" / "train.jsonl"), "system_prompt": None},
        "rollout": {"prompts_per_step": 4, "group_size": 4, "max_completion_tokens": 8},
        "reward": reward,
        "optimizer": {"learning_rate": 1e-3},
        "train": {
            "steps": 2,
            "checkpoint_every_steps": 1,
            "checkpoint_store": (tmp_path / "store").as_uri(),
        },
    }
    config.write_text(json.dumps(values))
    runs.torchrun_on_nodes(commands(config, [tmp_path / "a0", tmp_path / "a1"]))
    manifest = tmp_path / "store" / "checkpoints" / "step_000002" / MANIFEST
    assert {"optimizer/__0_0.distcp", "optimizer/__1_0.distcp"} <= json.loads(
        manifest.read_text()
    ).keys()
    assert not list((tmp_path / "a1").rglob("*.safetensors")), "the first process writes weights"
    manifest.unlink()
    alone_on_its_node = {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}
    ended = runs.run_together(
        commands(config, [tmp_path / "b0", tmp_path / "b1"]), alone_on_its_node
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [row["step"] for row in runs.metrics(tmp_path / "b0")] == [1, 2]
    trained = [runs.weights(tmp_path / node / "model") for node in ("a0", "b0")]
    assert runs.same(*trained)
    assert manifest.exists()
