"""The self-check finds operations that are not refused, and its exit status says so."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

from verifier_service.sandbox.doctor import diagnose
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer
from verifier_service.sandbox.probes import BENIGN, FORBIDDEN

ADDITIONS = frozenset(Layer) - COMMON_LAYERS


def doctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "verifier_service", "doctor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.slow
def test_doctor_prints_the_layers_and_every_check() -> None:
    result = doctor()
    assert result.returncode == 0, result.stdout + result.stderr
    for layer in COMMON_LAYERS:
        assert f"  {layer:13} in force" in result.stdout
    for name in (*FORBIDDEN, *BENIGN):
        assert f"ok      {name}: " in result.stdout
    assert ", 0 failed" in result.stdout
    assert len(FORBIDDEN) >= 25


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root has capabilities to lose")
def test_root_without_capabilities_is_confined_without_namespaces() -> None:
    """The kernel maps user 0 without capabilities into no user namespace."""
    script = (
        "import asyncio; from verifier_service.sandbox.doctor import diagnose;"
        "found = asyncio.run(diagnose()); print(found.is_healthy, found.problems)"
    )
    powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    result = subprocess.run(
        [*powerless, sys.executable, "-c", script], capture_output=True, text=True, timeout=600
    )
    assert result.stdout.startswith("True "), result.stdout + result.stderr


@pytest.mark.skipif(os.getuid() == 0, reason="root has every layer")
def test_doctor_fails_when_a_required_layer_is_missing() -> None:
    result = doctor("--require", "seccomp,user")
    assert result.returncode == 1
    assert "required and not available: user" in result.stdout


def test_doctor_fails_when_a_layer_has_no_such_name() -> None:
    result = doctor("--require", "moat")
    assert result.returncode == 2
    assert "moat" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("without", "found"),
    [
        ({Layer.RLIMITS}, {"refuse memory"}),
        ({Layer.LANDLOCK}, {"read /etc/passwd", "list the root directory"}),
        (
            {Layer.SECCOMP},
            {
                *("fork", "clone", "open a datagram socket", "create a memory file", "io_uring"),
                *("evict a file from the page cache", "page out memory", "make memory cold"),
                *("merge memory with others", "send out-of-band data", "receive out-of-band data"),
                "lock a futex with priority inheritance",
                "wait for a lock with priority inheritance",
                *("start a thread with its own descriptors", "stop sharing descriptors"),
                *("make a pipe of packets", "turn a pipe into packets"),
                "refuse that a program kills itself",
            },
        ),
    ],
)
def test_the_self_check_notices_that_a_layer_is_off(without: set[Layer], found: set[str]) -> None:
    diagnosis = asyncio.run(diagnose(unsafe_without=ADDITIONS | without))
    failed = {check.name for check in diagnosis.checks if not check.passed}
    assert found <= failed
    assert not diagnosis.is_healthy


def test_a_sandbox_that_cannot_start_is_not_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    diagnosis = asyncio.run(diagnose())
    assert not diagnosis.is_healthy
    assert "did not start" in diagnosis.problems[-1]
