"""Judges that Ray Serve starts as tasks wait, and ends when they do not."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import httpx
import pytest
from ray import serve
from ray.cluster_utils import Cluster

from benchmarks._patient_ray import free_port
from benchmarks._ray_fleet import WaitingJudge
from benchmarks._waiting import ENABLED
from tests.fleet.cluster import num_judges
from tests.processes import until
from verifier_service.fleet import application
from verifier_service.fleet.settings import FleetSettings

pytestmark = pytest.mark.fleet

APPLICATION = "scaled"
MAX_JUDGES = 4
NUM_CLIENTS = 8
NUM_COMPLETIONS = 8
WAIT_SECONDS = 0.05


@contextmanager
def scaled_fleet(cluster: Cluster) -> Iterator[str]:
    """The URL of a gateway with one to four judges that wait, on a node of their own."""
    node = cluster.add_node(num_cpus=MAX_JUDGES)
    judge = type("Judge", (WaitingJudge,), {"wait_seconds": WAIT_SECONDS})
    settings = FleetSettings(
        enabled=ENABLED,
        max_judges=MAX_JUDGES,
        max_cached_verdicts=0,
        max_sessions=0,
        direct_port=free_port(),
    )
    fleet = application.fleet_of(settings, judge)
    try:
        serve.run(fleet, name=APPLICATION, route_prefix=f"/{APPLICATION}")
        yield f"http://127.0.0.1:{settings.direct_port}"
    finally:
        serve.delete(APPLICATION)
        cluster.remove_node(node)


class Clients:
    """Clients that each ask again as soon as they are answered.

    Args:
        url: of the gateway.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._numbers = count()
        self.outcomes: list[tuple[int, int]] = []
        """Status and number of scored completions of each call."""

    @contextmanager
    def asking(self, number: int) -> Iterator[None]:
        """Have so many ask within the block."""
        ended = threading.Event()

        def ask() -> None:
            while not ended.is_set():
                texts = [f"{next(self._numbers)}" for _ in range(NUM_COMPLETIONS)]
                body = {"verifiers": [{"type": "format"}], "groups": [{"completions": texts}]}
                response = httpx.post(f"{self._url}/v1/score", json=body, timeout=300)
                self.outcomes.append((response.status_code, response.text.count('"scored"')))

        clients = [threading.Thread(target=ask) for _ in range(number)]
        for client in clients:
            client.start()
        try:
            yield
        finally:
            ended.set()
            for client in clients:
                client.join()


def test_judges_come_under_load_and_go_without_a_lost_verdict(
    cluster: Cluster, fleet_urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "DOWNSCALE_SECONDS", 5.0)

    def running(*states: str) -> int:
        return num_judges("text", *states, application=APPLICATION)

    with scaled_fleet(cluster) as url:
        clients = Clients(url)
        with clients.asking(NUM_CLIENTS):
            start = time.monotonic()
            until(lambda: running("STARTING", "RUNNING") == MAX_JUDGES, seconds=240)
            decided = time.monotonic()
            until(lambda: running() == MAX_JUDGES, seconds=240)
            grown, num_before = time.monotonic(), len(clients.outcomes)
            until(lambda: len(clients.outcomes) > num_before + 4 * NUM_CLIENTS, seconds=240)
        with clients.asking(1):
            until(lambda: running() == 1, seconds=240)
            num_before = len(clients.outcomes)
            until(lambda: len(clients.outcomes) > num_before + 2, seconds=240)
    assert set(clients.outcomes) == {(200, NUM_COMPLETIONS)}
    print(  # noqa: T201
        f"\nfour judges decided after {decided - start:.1f} s of load, running "
        f"{grown - decided:.1f} s later; {len(clients.outcomes)} calls"
    )
