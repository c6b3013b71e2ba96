"""Questions to toolchains: what they leave on the machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from verifier_service.code.toolchains.installed_programs import run_tool


def test_temporary_files_of_a_tool_are_in_its_directory(tmp_path: Path) -> None:
    answer = run_tool("sh", "-c", "pwd; echo $TMPDIR", directory=str(tmp_path))
    assert answer.stdout.split() == [str(tmp_path)] * 2


@pytest.mark.skipif(shutil.which("rustc") is None, reason="needs rustc: apt install rustc")
def test_what_rustc_keeps_is_in_its_directory(tmp_path: Path) -> None:
    (tmp_path / "main.rs").write_text("fn main() {}\n")
    run_tool("rustc", "-C", "save-temps", "main.rs", directory=str(tmp_path))
    assert list(tmp_path.glob("rustc*"))
