"""Sessions of a fleet with two gateways and two session hosts, and of one that has one of each."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from ray import serve

from reward_verifier.verifier import Verifier
from tests.fleet.cluster import kill_replica, replica_processes
from tests.processes import until
from verifier_adapters.ray import ServeTransport
from verifier_service.fleet.application import fleet_of
from verifier_service.fleet.settings import FleetSettings

pytestmark = pytest.mark.fleet

TWO = "two"


@pytest.fixture(scope="module")
def two(fleet_url: str) -> Iterator[httpx.Client]:
    """A client whose calls Ray Serve gives to one of two gateways, by its choice."""
    settings = FleetSettings(
        enabled=("code",), gateways=2, session_hosts=2, judges=1, max_judges=1, max_sessions=8
    )
    serve.run(fleet_of(settings), name=TWO, route_prefix=None)
    try:
        transport = ServeTransport(TWO)
        with httpx.Client(base_url="http://localhost", transport=transport, timeout=120) as client:
            yield client
    finally:
        serve.delete(TWO)


def opened(http: httpx.Client) -> str:
    response = http.post("/v1/sessions", json={"packages": "standard"})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def test_the_calls_of_a_session_reach_it_through_each_gateway(two: httpx.Client) -> None:
    assert len(replica_processes("gateway", TWO)) == 2
    names = [opened(two) for _ in range(4)]
    assert sorted({name[:4] for name in names}) == ["s-00", "s-01"]
    for number, name in enumerate(names):
        two.post(f"/v1/sessions/{name}", json={"code": f"n = 10 * {number}"})
    for _ in range(6):
        for name in names:
            found = two.post(f"/v1/sessions/{name}", json={"code": "n += 1; n"}).json()
            assert found["outcome"] == "ran"
    for number, name in enumerate(names):
        found = two.post(f"/v1/sessions/{name}", json={"code": "n"}).json()
        assert (found["value"], found["call"]) == (str(10 * number + 6), 8)
    assert two.get("/v1/sessions").json()["open"] == 4
    for name in names:
        assert two.delete(f"/v1/sessions/{name}").json()["state"] == "ended"


def test_sessions_of_a_killed_host_are_lost_and_new_ones_open(two: httpx.Client) -> None:
    names: dict[str, str] = {}
    while len(names) < 2:  # each gateway has its own turn of hosts
        name = opened(two)
        names[name[:4]] = name
    assert kill_replica("sessions0", TWO)

    def lost() -> httpx.Response:
        return two.post(f"/v1/sessions/{names['s-00']}", json={"code": "1"})

    until(lambda: lost().status_code == 410, seconds=600)
    assert lost().json()["error"]["details"]["reason"] in ("machine", "other_replica")
    kept = two.post(f"/v1/sessions/{names['s-01']}", json={"code": "6 * 7"})
    assert kept.json()["value"] == "42"

    def hosts_of_two() -> set[str]:
        names = [opened(two) for _ in range(2)]
        for name in names:
            two.delete(f"/v1/sessions/{name}")
        return {name[:4] for name in names}

    until(lambda: hosts_of_two() == {"s-00", "s-01"}, seconds=600)


def test_a_client_s_session_and_openenv_work_over_http(fleet: httpx.Client, fleet_url: str) -> None:
    with Verifier(fleet_url).session() as session:
        session.run("x = 20")
        assert session.run("x + 1").value == "21"
        gone = session.opened.path
    found = fleet.post(gone, json={"code": "x"})
    assert (found.status_code, found.json()["error"]["type"]) == (410, "session_lost")
    assert fleet.post("/openenv/a/reset", json={}).status_code == 200
    step = fleet.post("/openenv/a/step", json={"action": {"code": "print(3)"}})
    assert step.json()["observation"]["stdout"] == "3\n"
