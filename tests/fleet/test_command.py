"""`verifier-service fleet`: one command, and nothing is left when it has ended."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.processes import tree, until

pytestmark = pytest.mark.fleet

START_SECONDS = 240
STOP_SECONDS = 120
BODY = {
    "verifiers": [{"type": "accuracy"}],
    "groups": [{"reference": {"answer": "2"}, "completions": ["$2$", "$3$"]}],
}


def test_it_serves_until_sigterm_and_ends_ray(tmp_path: Path) -> None:
    log = tmp_path / "fleet.log"
    # As many judges as a machine of two cores has no room for, by Ray's reckoning.
    flags = ("--port", "0", "--judges", "2", "--max-judges", "3")
    command = [sys.executable, "-m", "verifier_service", "fleet", *flags]
    with log.open("w") as output:
        fleet = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        until(lambda: "running on http" in log.read_text(), seconds=START_SECONDS)
        found = re.search(r"running on (http://\S+)", log.read_text())
        assert found
        response = httpx.post(f"{found[1]}/v1/score", json=BODY, timeout=60)
        scores = [one["reward"] for one in response.json()["groups"][0]["completions"]]
        assert scores == [1.0, 0.0]
        ready = f"{found[1]}/readyz"
        until(lambda: httpx.get(ready, timeout=60).json()["workers"] == {"code": 2, "text": 2})
    finally:
        started = tree(fleet.pid)
        fleet.send_signal(signal.SIGTERM)
        status = fleet.wait(STOP_SECONDS)
    assert status == 0, log.read_text()
    assert len(started) > 5
    until(lambda: not any(map(is_running, started)), seconds=60)


def is_running(pid: int) -> bool:
    """Whether a process lives; one that nobody has collected does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
