"""The tests of this directory again, in deployments other than that of this process.

Each part is an item of its own, so that several workers can share them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandbox.deployments import OWN, run_python, skip_unless_possible
from verifier_service.sandbox.execution import COMMON_LAYERS, level

HERE = Path(__file__).parent
NATIVE, SOAK = ("test_native.py", "test_launcher.py"), "test_soak.py"
RUNNER = (
    *("test_runner.py", "test_workspace.py", "test_idle.py", "test_renewal.py"),
    *("test_loopback.py", "test_turns.py"),
)
LAYERS = ("test_layers.py", "test_doctor.py", "test_root.py", "test_traces.py", SOAK)
AGAIN = [
    ("unprivileged", NATIVE),
    ("unprivileged", RUNNER),
    ("unprivileged", LAYERS),
    ("unprivileged in Docker", NATIVE),
    ("unprivileged in Docker", RUNNER),
    ("unprivileged in Docker", (SOAK,)),
]
"""Tests of single layers are not run where namespaces are refused: they need each layer."""
THE_SAME_EVERYWHERE = {
    *("test_seccomp.py", "test_exit_reason.py", "test_session_execution.py"),
    "test_memory_files.py",
    Path(__file__).name,
}
"""Tests that confine no process, and this file."""

DIAGNOSE = """
import asyncio, sys
from verifier_service.sandbox.doctor import diagnose
found = asyncio.run(diagnose())
print(found)
sys.exit(not found.is_healthy)
"""
"""The part of `verifier-service doctor` that is about the sandbox."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deployment", "files"),
    AGAIN,
    ids=[f"{deployment}-{files[0]}" for deployment, files in AGAIN],
)
def test_the_sandbox_works(deployment: str, files: tuple[str, ...]) -> None:
    skip_unless_possible(deployment)
    if deployment == OWN:
        pytest.skip("these tests run so already")
    paths = [str(HERE / file) for file in files]
    options = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    result = run_python(deployment, *options, *paths)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]


def test_every_file_is_run_again_where_it_matters() -> None:
    again = {file for _, files in AGAIN for file in files}
    assert again | THE_SAME_EVERYWHERE == {path.name for path in HERE.glob("test_*.py")}


@pytest.mark.slow
def test_doctor_finds_the_sandbox_sound_where_namespaces_are_refused() -> None:
    # The command would try all compilers too, in 25 s of CPU time. `tests/languages` does that.
    result = run_python("unprivileged in Docker", "-c", DIAGNOSE)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"layers: {level(COMMON_LAYERS)}\n" in result.stdout
    assert "note: no namespaces: they are not permitted here" in result.stdout
