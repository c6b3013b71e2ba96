"""The private root directory while it is made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# `change_root` asks for the paths once the root is mounted, so this iterator can wait there.
PROGRAM = """
import sys
from pathlib import Path
from verifier_service.sandbox import namespaces

def readable():
    print("mounted", flush=True)
    sys.stdin.readline()
    yield Path("/usr/lib")

if not namespaces.enter():
    sys.exit("not permitted")
try:
    namespaces.change_root(readable(), [], Path(sys.argv[1]), {}, {})
except OSError as error:
    sys.exit(f"refused: {error}")
"""


def test_a_root_whose_directory_is_removed_meanwhile_does_not_make_it_again(tmp_path: Path) -> None:
    """A worker is killed while its zygote starts, and its directory is removed."""
    at = tmp_path / "worker" / "zygote"
    at.mkdir(parents=True)
    command = [sys.executable, "-c", PROGRAM, str(at)]
    with subprocess.Popen(
        command,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.readline() != "mounted\n":
            pytest.skip("namespaces or mounts are not permitted here")
        at.rmdir()
        at.parent.rmdir()
        _, errors = process.communicate("\n")
    assert errors.startswith("refused: ")
    assert list(tmp_path.iterdir()) == []
