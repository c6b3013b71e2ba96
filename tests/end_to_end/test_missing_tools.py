"""Tests of what is not installed are skipped, and fail where somebody said that it is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.peer import peer, peer_folder

ROOT = Path(__file__).parents[2]
FAKE = ("debootstrap", "iptables", "iptables-save", "ip6tables-save")
PYTHON = "SERVICE_PYTHON"
"""Which `make test-interop` sets."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "expected"), [({}, "skipped"), ({"DOCKER_TESTS": "required"}, "error")]
)
@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ((), "needs root, debootstrap and iptables; see scripts/install-docker"),
        (FAKE, "no Docker engine: dockerd, docker not found: scripts/install-docker installs them"),
    ],
    ids=["no tool", "no engine"],
)
def test_containers(
    tmp_path: Path, tools: tuple[str, ...], reason: str, given: dict[str, str], expected: str
) -> None:
    for tool in tools:
        (tmp_path / tool).write_text("#!/bin/sh\n")
        (tmp_path / tool).chmod(0o755)
    test = "tests/docker/test_configuration.py::test_promtool_accepts_the_configuration"
    arguments = ("-m", "docker", "--confcutdir", "tests/docker", "-p", "no:cacheprovider")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, test],
        cwd=ROOT,
        env={"PATH": str(tmp_path), **given},
        capture_output=True,
        text=True,
    )
    assert f"1 {expected} in" in result.stdout.splitlines()[-1]
    assert reason in result.stdout


@pytest.mark.parametrize(("given", "expected"), [({}, "skipped"), ({PYTHON: "python"}, "error")])
def test_code_of_other_projects(
    given: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PYTHON, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    raised = {"skipped": pytest.skip.Exception, "error": ModuleNotFoundError}[expected]
    for find in (peer, peer_folder):
        with pytest.raises(raised):
            find("no_such_project")


@pytest.mark.parametrize("test", sorted((ROOT / "tests" / "interop").glob("test_*.py")))
def test_every_test_of_other_projects_asks_for_them_in_this_way(test: Path) -> None:
    assert not re.search(r"importorskip|pytest\.skip", test.read_text())


@pytest.mark.slow
def test_a_clone_that_is_not_made_is_an_error_of_make(tmp_path: Path) -> None:
    """It was one only if it was the last."""
    git = tmp_path / "git"
    git.write_text('#!/bin/sh\ncase "$*" in *SandboxFusion*) exit 1; esac\n')
    git.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    command = ["make", "--file", str(ROOT / "Makefile"), "peers"]
    assert subprocess.run(command, cwd=tmp_path, env={"PATH": path}).returncode != 0


def test_make_clean_removes_every_environment() -> None:
    makefile = (ROOT / "Makefile").read_text()
    environments = re.findall(r"^(\w+) := \.venv", makefile, re.MULTILINE)
    removed = makefile.partition("\nclean:\n")[2]
    assert len(environments) > 5
    assert [name for name in environments if f"$({name})" not in removed] == []
