"""Libraries of ours that a runtime is started with: compiled once, and not taken from others."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from verifier_service.code.toolchains.compiled_libraries import preloaded
from verifier_service.code.toolchains.csharp import MONO_THREADS
from verifier_service.code.toolchains.toolchain import ToolchainError


@pytest.mark.parametrize("attack", ["open to all", "a link", "a file"])
def test_a_library_to_preload_is_not_taken_from_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, attack: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    directory = tmp_path / f"verifier-service-{os.geteuid()}"
    if attack == "open to all":
        directory.mkdir()
        directory.chmod(0o777)
    elif attack == "a link":
        directory.symlink_to(tmp_path)
    else:
        directory.write_text("")
    with pytest.raises(ToolchainError, match="not this user's alone: remove it"):
        preloaded(MONO_THREADS)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_library_to_preload_is_compiled_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = [preloaded(MONO_THREADS) for _ in range(2)]
    assert found[0] == found[1]
    assert list(found[0].parent.iterdir()) == [found[0]]
    beside = tmp_path / "mono_threads.so"
    beside.touch()
    assert preloaded(tmp_path / "mono_threads.c") == beside
