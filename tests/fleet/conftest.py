"""One cluster, one fleet and one single service for all tests of this directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.fleet.cluster import BothTransport, running_cluster, start_fleet
from trainer_client.service_process import running_service
from verifier_service.fleet.settings import FleetSettings


@pytest.fixture(scope="session")
def fleet_url() -> Iterator[str]:
    """The URL of a fleet with two judges of each kind, on three nodes."""
    with running_cluster():
        settings = FleetSettings(
            judges=2, max_judges=2, workers=1, code_workers=1, max_pending_completions=2000
        )
        yield start_fleet(settings)


@pytest.fixture(scope="session")
def single_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a service without Ray."""
    log = tmp_path_factory.mktemp("service") / "service.log"
    with running_service(Path(log), "--workers", "1", "--code-workers", "1") as url:
        yield url


@pytest.fixture
def fleet(fleet_url: str) -> Iterator[httpx.Client]:
    """A client of the fleet."""
    with httpx.Client(base_url=fleet_url, timeout=120) as client:
        yield client


@pytest.fixture
def http(fleet_url: str, single_url: str) -> Iterator[httpx.Client]:
    """A client that asks the fleet and the single service, and finds no difference."""
    transport = BothTransport(fleet_url, single_url)
    with httpx.Client(base_url=fleet_url, transport=transport, timeout=600) as client:
        yield client
