"""The folder of a run, looked at before anything is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainer_client.run.run_folder import start_problem


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
