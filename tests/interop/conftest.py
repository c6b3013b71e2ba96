"""The real service beside the real peers, which are installed in another environment than it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

START_SECONDS = 120.0
STOP_SECONDS = 30.0
"""More than `VERIFIER_DRAIN_SECONDS`."""


@pytest.fixture(scope="session")
def service_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a service, run by the interpreter that SERVICE_PYTHON names.

    `demo.run_demo.running_service` needs all of the trainer, which peers do not have here.
    """
    log = tmp_path_factory.mktemp("service") / "service.log"
    python = os.environ.get("SERVICE_PYTHON", sys.executable)
    command = [python, "-m", "verifier_service", "serve", "--port", "0", "--workers", "1"]
    with log.open("w") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        yield _url(process, log)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _url(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"running on (http://\S+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.1)
    raise RuntimeError(f"the service did not start:\n{log.read_text()}")


@pytest.fixture(autouse=True)
def adapters_ask_the_service(service_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the adapters find in the environment."""
    monkeypatch.setenv("REWARD_VERIFIER_URL", service_url)
