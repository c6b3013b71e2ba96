"""The way of calls from a fleet's gateway to session hosts; the hosts are services in this process.

`tests/fleet` has the same between processes of Ray.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.processes import fork_servers
from verifier_service.app import REQUEST_MODULE, create_app
from verifier_service.fleet.asgi_call import Headers, WholeResponse, asgi_response
from verifier_service.fleet.session_host import no_pools
from verifier_service.fleet.session_relay import Host, HostLost, HostUnavailable, relay_sessions
from verifier_service.fleet.settings import FleetSettings
from verifier_service.http.api_keys import hash_of

KEY, OTHER_KEY = "rv-" + "k" * 43, "rv-" + "o" * 43


async def lost(method: str, path: str, headers: Headers, body: bytes) -> WholeResponse:
    raise HostLost("ActorDiedError")


@asynccontextmanager
async def relayed(settings: FleetSettings, ways: list[Host | None]) -> AsyncIterator[Any]:
    """A client of two gateways in turn; a host is a service of its own where no way is given."""
    async with AsyncExitStack() as stack:

        async def started(**options: Any) -> Any:
            app = create_app(start=no_pools, **options)
            await stack.enter_async_context(app.router.lifespan_context(app))
            return app

        hosts = []
        for number, way in enumerate(ways):
            app = await started(settings=settings.of_session_hosts, replica=f"{number:02x}abcdef")
            hosts.append(way or host_of(app))
        gateways = [await started(settings=settings.of_gateways) for _ in range(2)]
        for one in gateways:
            relay_sessions(one, hosts)
        num_calls = 0

        async def gateway(scope: Any, receive: Any, send: Any) -> None:
            nonlocal num_calls
            num_calls += 1
            await gateways[num_calls % 2](scope, receive, send)

        transport = httpx.ASGITransport(gateway)
        client = httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=120)
        yield await stack.enter_async_context(client)


def host_of(app: Any) -> Host:
    async def answer(method: str, path: str, headers: Headers, body: bytes) -> WholeResponse:
        return await asgi_response(app, method, path, headers, body)

    return answer


Act = Callable[[httpx.AsyncClient], Awaitable[None]]


def through(act: Act, *, ways: list[Host | None] | None = None, **settings: Any) -> None:
    """Act on two gateways and, unless other ways are given, two hosts."""

    async def run() -> None:
        made = FleetSettings(gateways=2, session_hosts=2, **settings)
        async with relayed(made, ways or [None, None]) as client:
            await act(client)

    asyncio.run(run())


async def opened(client: httpx.AsyncClient, **options: Any) -> str:
    response = await client.post("/v1/sessions", json={"packages": "standard"}, **options)
    assert response.status_code == 201, response.text
    name = str(response.json()["id"])
    assert response.headers["session-replica"] == name.split("-")[1]
    return name


async def error_of(response: httpx.Response) -> tuple[int, str, Any]:
    error = response.json()["error"]
    return response.status_code, error["type"], (error.get("details") or {}).get("reason")


def test_a_service_without_workers_starts_no_process_for_large_requests() -> None:
    """A host of sessions has no use for the half second and the 46 MB that one takes."""
    before = fork_servers(os.getpid(), REQUEST_MODULE)

    async def act(client: httpx.AsyncClient) -> None:
        assert (await client.get("/healthz")).status_code == 200
        assert fork_servers(os.getpid(), REQUEST_MODULE) == before

    through(act)


@pytest.mark.slow
def test_each_gateway_reaches_the_sessions_of_each_host() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        names = [await opened(client) for _ in range(4)]
        assert {name[:4] for name in names} == {"s-00", "s-01"}
        for number, name in enumerate(names):
            await client.post(f"/v1/sessions/{name}", json={"code": f"kept = {number}"})
        for number, name in enumerate(names):
            for _ in range(2):  # by the one gateway and by the other
                found = await client.post(f"/v1/sessions/{name}", json={"code": "kept"})
                assert found.json()["value"] == str(number)
        whole = (await client.get("/v1/sessions")).json()
        assert (whole["open"], whole["max_sessions"]) == (4, 16)
        assert len(whole["replica"].split(",")) == 2
        ended = await client.delete(f"/v1/sessions/{names[0]}")
        assert ended.json() == {"id": names[0], "state": "ended", "calls": 3}
        gone = await client.post(f"/v1/sessions/{names[0]}", json={"code": "1"})
        assert await error_of(gone) == (410, "session_lost", "closed")

    through(act, max_sessions=8)


@pytest.mark.slow
def test_a_sandbox_of_e2b_is_found_by_the_path_and_by_the_header() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        names = []
        for _ in range(4):
            opened = await client.post("/compat/e2b/v2/sandboxes", json={"timeout": 60})
            names.append(opened.json()["sandboxID"])
        assert {name[:4] for name in names} == {"s-00", "s-01"}
        for number, name in [*enumerate(names)] * 2:
            body, headers = {"code": f"kept = {number}; kept"}, {"E2b-Sandbox-Id": name}
            found = await client.post("/compat/e2b/execute", json=body, headers=headers)
            assert json.loads(found.text.splitlines()[0])["text"] == str(number)
        for name in names:
            assert (await client.delete(f"/compat/e2b/sandboxes/{name}")).status_code == 204
            health = await client.get("/compat/e2b/health", headers={"E2b-Sandbox-Id": name})
            assert health.status_code == 502

    through(act)


@pytest.mark.slow
def test_an_environment_of_openenv_stays_at_its_host() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        async def step(name: str, code: str) -> str:
            body = {"action": {"code": code}}
            response = await client.post(f"/openenv/{name}/step", json=body)
            return str(response.json()["observation"]["stdout"])

        for name in ("a", "b", "c.d"):
            assert (await client.post(f"/openenv/{name}/reset", json={})).status_code == 200
            await step(name, f"kept = {name!r}")
        for name in ("a", "b", "c.d"):
            assert [await step(name, "print(kept)") for _ in range(2)] == [f"{name}\n"] * 2

    through(act)


@pytest.mark.slow
def test_a_full_host_leaves_a_session_to_the_next() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        names = [await opened(client) for _ in range(2)]
        full = await client.post("/v1/sessions", json={})
        assert await error_of(full) == (503, "sessions_full", None)
        assert int(full.headers["retry-after"]) > 0
        await client.delete(f"/v1/sessions/{names[0]}")
        for _ in range(2):  # whichever host has its turn
            again = await opened(client)
            assert again[:4] == names[0][:4]
            await client.delete(f"/v1/sessions/{again}")

    through(act, max_sessions=1)


@pytest.mark.slow
def test_the_sessions_of_a_lost_host_are_lost_by_name_and_others_go_on() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        kept = await opened(client)
        assert kept.startswith("s-01")
        assert (await opened(client)).startswith("s-01")
        of_lost = f"/v1/sessions/s-00abcdef-{'0' * 32}"
        for response in (
            await client.post(of_lost, json={"code": "1"}),
            await client.get(of_lost),
            await client.delete(of_lost),
        ):
            assert await error_of(response) == (410, "session_lost", "machine")
        named = {"E2b-Sandbox-Id": of_lost.rpartition("/")[2]}
        of_e2b = await client.post("/compat/e2b/execute", json={"code": "1"}, headers=named)
        assert (of_e2b.status_code, of_e2b.json()["code"]) == (502, 502)
        found = await client.post(f"/v1/sessions/{kept}", json={"code": "6 * 7"})
        assert found.json()["value"] == "42"

    through(act, ways=[lost, None])


@pytest.mark.slow
def test_without_any_host_a_session_is_refused_for_now() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        for path in ("/v1/sessions", "/openenv/a/reset", "/openenv/a/step"):
            response = await client.post(path, json={"action": {"code": "1"}})
            assert (await error_of(response))[:2] == (503, "request_failed")
            assert int(response.headers["retry-after"]) > 0
        assert (await client.get("/healthz")).status_code == 200

    through(act, ways=[lost, lost])


@pytest.mark.slow
def test_names_that_no_host_gave_are_unknown() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        for name in (
            "s-",
            "s-zz",
            "s-ff",
            "s--9aaaaaa-bb",
            "nothing",
            "s-00abcdef-" + "0" * 31,
            "é",
        ):
            response = await client.get(f"/v1/sessions/{name}")
            assert await error_of(response) == (404, "no_session", None)

    through(act)


@pytest.mark.slow
def test_keys_are_checked_and_own_their_sessions_behind_gateways_too() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        assert (await client.post("/v1/sessions", json={})).status_code == 401
        mine, others = ({"Authorization": f"Bearer {key}"} for key in (KEY, OTHER_KEY))
        name = await opened(client, headers=mine)
        path = f"/v1/sessions/{name}"
        for headers, status in ((others, 404), ({}, 401), (mine, 200)):
            response = await client.post(path, json={"code": "1"}, headers=headers)
            assert response.status_code == status

    through(act, api_key_hashes=(hash_of(KEY), hash_of(OTHER_KEY)))


async def busy(method: str, path: str, headers: Headers, body: bytes) -> WholeResponse:
    raise HostUnavailable("TimeoutError")


@pytest.mark.slow
def test_a_session_whose_host_does_not_answer_is_not_called_lost() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        path = f"/v1/sessions/s-00abcdef-{'0' * 32}"
        response = await client.post(path, json={"code": "1"})
        assert (await error_of(response))[:2] == (503, "request_failed")

    through(act, ways=[busy, None])


@pytest.mark.slow
def test_strangers_and_large_bodies_do_not_reach_a_host() -> None:
    reached = []

    async def host(method: str, path: str, headers: Headers, body: bytes) -> WholeResponse:
        reached.append(path)
        return 200, [], b"{}"

    async def act(client: httpx.AsyncClient) -> None:
        key = {"Authorization": f"Bearer {KEY}"}
        large = b" " * 2000
        assert (await client.post("/v1/sessions", content=large)).status_code == 401
        assert (await client.post("/v1/sessions", content=large, headers=key)).status_code == 413
        response = await client.post("/v1/sessions", content=b"{}", headers=key)
        assert (response.status_code, reached) == (200, ["/v1/sessions"])
        assert len(response.headers.get_list("x-request-id")) == 1

    through(act, ways=[host], api_key_hashes=(hash_of(KEY),), max_body_bytes=1000)
