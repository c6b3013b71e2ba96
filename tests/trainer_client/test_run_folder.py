"""The folder of a run, looked at before anything is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from trainer_client.config.run_config import ConfigError
from trainer_client.processes import Processes
from trainer_client.run.run_folder import checkpoint_folder, checkpoint_folders, start_problem
from trainer_client.run.sole_run import LOCK_FILE, sole_run


@pytest.mark.parametrize("name", ["file", "file/run", "file/runs/first"])
def test_a_folder_that_cannot_be_made_because_of_a_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    problem = start_problem(tmp_path / name, resume=False)
    assert problem == f"{tmp_path / name} needs a folder, and {tmp_path / 'file'} is a file"


@pytest.mark.parametrize("path", [Path("runs_that_are_not_there/first"), Path()])
def test_a_folder_that_can_be_made_is_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert start_problem(path, resume=False) is None
    assert start_problem(tmp_path / path, resume=False) is None


def test_a_folder_that_another_process_trains_into_is_refused(tmp_path: Path) -> None:
    """Its lock lasts as long as the process."""
    (tmp_path / "run").mkdir()
    holds = (
        "import fcntl, sys\n"
        f"file = open({str(tmp_path / 'run' / LOCK_FILE)!r}, 'w')\n"
        "fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"locked\n"
        with (
            pytest.raises(ConfigError, match="another process trains into"),
            sole_run(tmp_path / "run", Processes(), make=False),
        ):
            pass
        other.kill()
        other.wait()
        with sole_run(tmp_path / "run", Processes(), make=False):
            assert (tmp_path / "run" / LOCK_FILE).exists()


def test_a_folder_that_cannot_be_made_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with sole_run(tmp_path / "file" / "run", Processes(), make=True):
        assert (tmp_path / "file").is_file()
    with sole_run(tmp_path / "run", Processes(), make=False):
        assert not (tmp_path / "run").exists()


def test_checkpoints_of_any_step_are_found_in_their_order(tmp_path: Path) -> None:
    folders = [checkpoint_folder(tmp_path, step) for step in (1, 999_999, 1_000_000)]
    for folder in (*reversed(folders), folders[0].with_suffix(".part")):
        folder.mkdir(parents=True)
    assert checkpoint_folders(tmp_path) == folders
