"""Requests to vLLM servers: their errors say which server, and what it should have been.

Whoever asks bounds the time: a group may take minutes, and servers queue requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any, TypeVar

import httpx

from trainer_client.config.run_config import ConfigError
from trainer_client.rollout import RolloutError

T = TypeVar("T")


async def check_server(client: httpx.AsyncClient, url: str) -> Any:
    """The configuration of a server.

    Raises ConfigError when no server runs at the address, or it lacks an option.
    """
    response = await _probed(client, url, "GET", "/server_info?config_format=json")
    if response.status_code == httpx.codes.NOT_FOUND:
        raise ConfigError(f"{url}: start the server with VLLM_SERVER_DEV_MODE=1")
    config, mode = _server_config(url, response)
    if mode != "processed_logprobs":
        raise ConfigError(
            f"{url} reports {mode}, which are not those of the distribution it samples "
            "from: start it with --logprobs-mode processed_logprobs"
        )
    probe = await _probed(client, url, "POST", "/inference/v1/generate", json={})
    if probe.status_code == httpx.codes.NOT_FOUND:
        raise ConfigError(f"{url}: start the server with --enable-scale-out")
    return config


async def _probed(
    client: httpx.AsyncClient, url: str, method: str, path: str, **arguments: Any
) -> httpx.Response:
    """The response of a server that is looked at. Raises ConfigError where none runs there."""
    try:
        return await client.request(method, f"{url}{path}", **arguments)
    except httpx.RequestError as error:
        raise ConfigError(
            f"rollout.vllm_server.urls: no server at {url} ({error!r}). Start one with "
            "VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-scale-out "
            "--logprobs-mode processed_logprobs"
        ) from error


def _server_config(url: str, response: httpx.Response) -> tuple[Any, str]:
    """A server's configuration, and the kind of log-probabilities that it reports.

    Raises ConfigError if it is no vLLM.
    """
    try:
        config = response.json()["vllm_config"]
        return config, str(config["model_config"]["logprobs_mode"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"rollout.vllm_server.urls: {url} does not answer as a vLLM server: "
            f"/server_info: {response.status_code}: {response.text[:200]}"
        ) from error


def open_client() -> httpx.AsyncClient:
    """A client without time limits of its own."""
    # httpx would give up after 5 seconds and wait for one of 100 connections.
    return httpx.AsyncClient(
        timeout=None, limits=httpx.Limits(max_connections=None), trust_env=False
    )


async def ask(
    client: httpx.AsyncClient, method: str, url: str, *, is_json: bool = True, **arguments: Any
) -> Any:
    """The JSON of the response, None when it is empty or not JSON; raises RolloutError."""
    try:
        response = await client.request(method, url, **arguments)
    except httpx.RequestError as error:
        raise RolloutError(f"the vLLM server is gone: {method} {url}: {error!r}") from error
    if response.is_error:
        raise RolloutError(f"{method} {url}: {response.status_code}: {response.text[:500]}")
    try:
        return response.json() if response.content and is_json else None
    except ValueError as error:
        raise RolloutError(f"{method} {url}: expected JSON: {response.text[:500]}") from error


async def ask_all(work: Iterable[Awaitable[T]]) -> list[T]:
    """The results of all; the first error cancels the others and is raised unwrapped."""
    tasks = [asyncio.ensure_future(item) for item in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
