"""The launcher: a step that fails is reported, and the program does not run."""

from __future__ import annotations

import subprocess
import sys

import pytest

from verifier_service.code.toolchains.compiled_libraries import compiled_launcher
from verifier_service.sandbox.launcher import Launcher

pytestmark = pytest.mark.skipif(not compiled_launcher(), reason="needs gcc: apt install gcc")

# In a process of its own, since the child shares its memory, and the mark that hides it with that.
SCRIPT = """
import os, socket, sys
from pathlib import Path
from types import SimpleNamespace
from verifier_service.code.toolchains.compiled_libraries import compiled_launcher
from verifier_service.sandbox.launcher import Launcher
from verifier_service.sandbox.layers import ChildLimits, LayerParts

parts = LayerParts(
    user=None,
    resource_limits=(),
    drops_capabilities=False,
    sets_no_new_privs=True,
    ruleset=None,
    filter=None,
)
parts = parts._replace({change})
layers = SimpleNamespace(parts=lambda limits: parts)
for number in range(3, 8):
    os.dup2(0, number)
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
reading, writing = os.pipe()
program = os.open("{program}", os.O_RDONLY)
descriptors = [(writing, 1), (writing, 2), (theirs.fileno(), 3), (program, 4)]
pid = Launcher(compiled_launcher()).start(
    layers, ChildLimits(1, 1, 0, 1, 1), descriptors, Path("{directory}"), ["main", "words"], {{}}
)
theirs.close()
os.close(writing)
said = []
while message := ours.recv(1000):
    said.append(message)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), b" ".join(said).decode(), os.read(reading, 1000).decode())
"""


def outcome(change: str = "user=None", *, program: str = "/bin/echo", directory: str = "/") -> str:
    """Exit code, messages of the status socket, and output."""
    source = SCRIPT.format(change=change, program=program, directory=directory)
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    return done.stdout.rstrip("\n")


def test_a_program_runs_after_both_messages() -> None:
    assert outcome() == "0 S R words"


@pytest.mark.parametrize(
    ("change", "directory", "why"),
    [
        ("ruleset=SimpleNamespace(descriptor=999)", "/", "restrict_self"),
        ("resource_limits=((99, (1, 1)),)", "/", "prlimit64"),
        ("user=None", "/nowhere", "chdir"),
    ],
)
def test_a_step_that_fails_is_reported_and_nothing_runs(
    change: str, directory: str, why: str
) -> None:
    code, _, said = outcome(change, directory=directory).partition(" ")
    assert code == "1"
    assert said.startswith("E")
    assert why in said
    assert "words" not in said


def test_a_file_that_is_no_program_says_why_it_does_not_start() -> None:
    said = outcome(program="/etc/passwd")
    assert said.startswith("126 S R cannot be started: ")


def test_what_is_no_library_cannot_be_loaded() -> None:
    with pytest.raises(OSError, match=r"invalid ELF header|file too short"):
        Launcher(b"no library")
