"""The real service beside the real peers, which are installed in another environment than it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from trainer_client.service_process import running_service


@pytest.fixture(scope="session")
def service_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a service, run by the interpreter that SERVICE_PYTHON names."""
    log = tmp_path_factory.mktemp("service") / "service.log"
    python = os.environ.get("SERVICE_PYTHON", sys.executable)
    with running_service(log, "--workers", "1", python=python) as url:
        yield url


@pytest.fixture(autouse=True)
def adapters_ask_the_service(service_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service is in the environment, where the adapters look."""
    monkeypatch.setenv("REWARD_VERIFIER_URL", service_url)
