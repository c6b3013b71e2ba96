"""The tests of this directory again, as a user without privileges."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from verifier_service.sandbox.execution import COMMON_LAYERS, level

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")

USER = 1500
ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
DEPENDENCIES = str(Path(pytest.__file__).parents[1])


def interpreter() -> str:
    """A Python of this version that every user can read, with its own library."""
    names = (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}")
    check = f"import os, sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    for name in names:
        if shutil.which(name) and all(
            path.stat().st_mode & 0o001 for path in Path(name).resolve().parents
        ):
            result = subprocess.run([name, "-c", check], user=USER, group=USER, extra_groups=[])
            if result.returncode == 0:
                return name
    pytest.skip(f"no Python that user {USER} can read: tried {names}")


def run_as_user(*command: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, USER, USER)
        return subprocess.run(
            command,
            cwd=ROOT,
            env={
                "PATH": os.defpath,
                "HOME": home,
                "TMPDIR": home,
                "PYTHONPATH": os.pathsep.join([str(ROOT), DEPENDENCIES]),
                "PYTHONDONTWRITEBYTECODE": "1",
                "HYPOTHESIS_STORAGE_DIRECTORY": home,
            },
            user=USER,
            group=USER,
            extra_groups=[],
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )


def test_the_sandbox_works_for_an_unprivileged_user() -> None:
    others = [str(path) for path in HERE.glob("test_*.py") if path != Path(__file__)]
    result = run_as_user(interpreter(), "-m", "pytest", "-q", "-p", "no:cacheprovider", *others)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]


def test_native_programs_work_where_namespaces_are_refused() -> None:
    python = interpreter()
    launcher = [python, str(HERE / "as_in_a_container.py"), str(USER)]
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / "test_native.py")]
    result = run_as_user(*launcher, python, *tests)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]


def test_the_sandbox_works_where_namespaces_are_refused() -> None:
    python = interpreter()
    launcher = [python, str(HERE / "as_in_a_container.py"), str(USER)]
    result = run_as_user(*launcher, python, "-m", "verifier_service", "doctor")
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"layers: {level(COMMON_LAYERS)}\n" in result.stdout
    assert "note: no namespaces: they are not permitted here" in result.stdout
