"""The server of a gateway that listens itself, without Ray."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack

import httpx
import pytest
from fastapi import FastAPI

from tests.verifier_service.test_judge_connections import HOST, EchoPool
from verifier_service.app import create_app
from verifier_service.engine.scheduler import CountedPool
from verifier_service.fleet.direct_server import listen_directly
from verifier_service.http.drain import Drain
from verifier_service.http.metrics import Metrics
from verifier_service.server import CannotServe, listen
from verifier_service.settings import EngineSettings, Settings

pytestmark = pytest.mark.slow

BODY = {
    "verifiers": [{"type": "format"}],
    "groups": [{"reference": {}, "completions": ["0.5", "0.25"]}],
}


class Pool(EchoPool):
    """Workers that a gateway counts."""

    num_running = num_busy = num_waiting = 0

    def __init__(self) -> None:
        super().__init__()
        self.restarts: dict[str, int] = {}


def gateway(port: int, pool: Pool) -> tuple[FastAPI, Drain]:
    async def start(_: EngineSettings, __: AsyncExitStack) -> Mapping[str, CountedPool]:
        return {"text": pool}  # type: ignore[dict-item]

    settings = Settings(enabled=("format",), max_sessions=0, drain_seconds=30)
    drain, metrics = Drain(), Metrics()
    app = create_app(settings, drain=drain, metrics=metrics, start=start)
    listen_directly(app, settings, port, drain=drain, metrics=metrics)
    return app, drain


def free_port() -> int:
    [listener] = listen(HOST, 0)
    port: int = listener.getsockname()[1]
    listener.close()
    return port


async def scores(client: httpx.AsyncClient) -> list[float]:
    response = await client.post("/v1/score", json=BODY)
    assert response.status_code == 200, response.text
    return [one["reward"] for one in response.json()["groups"][0]["completions"]]


def test_it_answers_finishes_calls_and_closes_its_port() -> None:
    async def test() -> None:
        port, pool = free_port(), Pool()
        app, drain = gateway(port, pool)
        async with httpx.AsyncClient(base_url=f"http://{HOST}:{port}", timeout=60) as client:
            async with app.router.lifespan_context(app):
                assert await scores(client) == [0.5, 0.25]
                pool.waits_after = 1
                late = asyncio.create_task(scores_of_new_texts(client))
                await pool.has_begun.wait()
                asyncio.get_running_loop().call_soon(pool.may_go_on.set)
            assert await late == [0.75, 0.125]
            assert drain.is_draining
            with pytest.raises(httpx.ConnectError):
                await client.get("/healthz")

    asyncio.run(test())


async def scores_of_new_texts(client: httpx.AsyncClient) -> list[float]:
    body = BODY | {"groups": [{"reference": {}, "completions": ["0.75", "0.125"]}]}
    response = await client.post("/v1/score", json=body)
    return [one["reward"] for one in response.json()["groups"][0]["completions"]]


def test_gateways_of_one_machine_share_a_port_and_others_do_not() -> None:
    async def test() -> None:
        port = free_port()
        (first, _), (second, _) = gateway(port, Pool()), gateway(port, Pool())
        async with first.router.lifespan_context(first), second.router.lifespan_context(second):
            for _ in range(8):
                async with httpx.AsyncClient(base_url=f"http://{HOST}:{port}") as client:
                    assert await scores(client) == [0.5, 0.25]
            with pytest.raises(CannotServe, match="is in use"):
                listen(HOST, port)

    asyncio.run(test())
