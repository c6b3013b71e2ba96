"""One cluster, one fleet and one single service for all tests of this directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from ray.cluster_utils import Cluster

from benchmarks._patient_ray import free_port
from tests.fleet.cluster import AllTransport, running_cluster, start_fleet
from trainer_client.service_process import running_service
from verifier_service.fleet.settings import FleetSettings


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Three nodes."""
    with running_cluster() as found:
        yield found


@pytest.fixture(scope="session")
def fleet_urls(cluster: Cluster) -> tuple[str, str]:
    """The URLs of a fleet with two judges of each kind: the gateway's own, and the proxy's."""
    port = free_port()
    settings = FleetSettings(
        judges=2,
        max_judges=2,
        workers=1,
        code_workers=1,
        max_pending_completions=2000,
        direct_port=port,
    )
    proxy_url = start_fleet(settings)
    return f"http://127.0.0.1:{port}", proxy_url


@pytest.fixture(scope="session")
def fleet_url(fleet_urls: tuple[str, str]) -> str:
    """The gateway's own URL."""
    return fleet_urls[0]


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
def http(fleet_urls: tuple[str, str], single_url: str) -> Iterator[httpx.Client]:
    """A client that asks the fleet on both ways and the single service: there is no difference."""
    transport = AllTransport(*fleet_urls, single_url)
    with httpx.Client(base_url=fleet_urls[0], transport=transport, timeout=600) as client:
        yield client
