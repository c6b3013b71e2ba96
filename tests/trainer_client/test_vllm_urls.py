"""Addresses in `rollout.vllm_server.urls` at which no vLLM server runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from trainer_client.config.model_section import ModelConfig
from trainer_client.config.rollout_section import VllmServerConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.policy.policy import load_policy
from trainer_client.rollout import vllm_server
from trainer_client.rollout.vllm_requests import check_server


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (httpx.Response(404), "start the server with VLLM_SERVER_DEV_MODE=1"),
        (httpx.Response(401, text="no key"), "/server_info: 401: no key"),
        (httpx.Response(200, text="<html>"), "/server_info: 200: <html>"),
        (httpx.Response(200, json={"status": "ok"}), "does not answer as a vLLM server"),
        (httpx.Response(200, json=["ok"]), "does not answer as a vLLM server"),
    ],
)
def test_another_server_is_named(
    task: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    response: httpx.Response,
    message: str,
) -> None:
    """The message holds its response; no traceback is shown."""
    transport = httpx.MockTransport(lambda request: response)
    monkeypatch.setattr(vllm_server, "open_client", lambda: httpx.AsyncClient(transport=transport))
    policy = load_policy(ModelConfig(path=str(task / "model"), device="cpu"))
    with pytest.raises(ConfigError, match=message):
        vllm_server.VllmServerEngine(policy, VllmServerConfig(), weights_dir=tmp_path)


@pytest.mark.parametrize("path", ["/server_info", "/inference/v1/generate"])
def test_a_server_that_dies_while_it_is_asked_is_named(path: str) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path == path:
            raise httpx.ReadError("gone")
        config = {"model_config": {"logprobs_mode": "processed_logprobs"}}
        return httpx.Response(200, json={"vllm_config": config})

    async def check() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(respond)) as client:
            await check_server(client, "http://test")

    with pytest.raises(ConfigError, match=r"no server at http://test \(ReadError\('gone'\)\)"):
        asyncio.run(check())
