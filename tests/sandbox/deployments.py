"""The deployments of the sandbox that one machine can show, and how Python is started in each.

| deployment | layers |
|---|---|
| root | all |
| unprivileged | all but `user` |
| unprivileged in Docker | the common ones |
| root in Docker | the common ones and `user` |

The last two are a stand-in for Docker: `as_in_a_container.py` refuses namespaces and mounts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.sandbox import as_in_a_container
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer

LAYERS = {
    "root": frozenset(Layer),
    "unprivileged": frozenset(Layer) - {Layer.USER},
    "unprivileged in Docker": COMMON_LAYERS,
    "root in Docker": COMMON_LAYERS | {Layer.USER},
}
"""Layers in force in each deployment."""
OWN = "root" if os.getuid() == 0 else "unprivileged"
"""The deployment of the process that runs the tests."""
USER = 1500
ROOT = Path(__file__).parents[2]
DEPENDENCIES = str(Path(pytest.__file__).parents[1])
_LAUNCHER = as_in_a_container.__file__
_TIMEOUT_SECONDS = 1200


def skip_unless_possible(deployment: str) -> None:
    """Skip the test if this process cannot start others in a deployment."""
    if deployment.startswith("root") and OWN != "root":
        pytest.skip("needs root")


def run_python(
    deployment: str, *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python in a deployment, with a home directory of its own and this environment only."""
    user = USER if OWN == "root" and deployment.startswith("unprivileged") else os.getuid()
    # The launcher becomes the user itself; it is started as root.
    becomes = USER if OWN == "root" and deployment == "unprivileged" else None
    with tempfile.TemporaryDirectory(prefix="deployment-") as home:
        os.chown(home, user, -1)
        Path(home).chmod(0o711)
        return subprocess.run(
            [*_command(deployment, user), *arguments],
            cwd=ROOT,
            env={
                "PATH": os.defpath,
                "HOME": home,
                "TMPDIR": home,
                "PYTHONPATH": os.pathsep.join([str(ROOT), DEPENDENCIES]),
                "PYTHONDONTWRITEBYTECODE": "1",
                "HYPOTHESIS_STORAGE_DIRECTORY": home,
                **(environment or {}),
            },
            user=becomes,
            group=becomes,
            extra_groups=None if becomes is None else [],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )


def _command(deployment: str, user: int) -> list[str]:
    """The command that starts Python in a deployment."""
    if deployment == OWN:
        return [sys.executable]
    python = _interpreter() if OWN == "root" else sys.executable
    if deployment.endswith("in Docker"):
        return [python, _LAUNCHER, str(user), python]
    return [python]


def _interpreter() -> str:
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
