"""A session host: the replica of a fleet that has sessions, and answers the calls for them."""

from __future__ import annotations

import logging.config
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack

from verifier_service.app import create_app
from verifier_service.engine.scheduler import CountedPool
from verifier_service.fleet.asgi_call import Headers, WholeResponse, asgi_response
from verifier_service.fleet.settings import FleetSettings
from verifier_service.logs import log_config
from verifier_service.sandbox.layers import hide_process
from verifier_service.sessions.open_sessions import REPLICA_BYTES
from verifier_service.settings import EngineSettings


class SessionHost:
    """The service without workers; it checks keys and bounds as the gateways do.

    Args:
        settings: of the fleet.
        number: of this host, which begins the name of each of its sessions' replica.
    """

    async def __init__(  # type: ignore[misc]  # Ray Serve awaits it
        self, settings: FleetSettings, number: int
    ) -> None:
        hide_process()
        logging.config.dictConfig(log_config(settings.log_level, settings.log_format))
        replica = bytes([number]) + secrets.token_bytes(REPLICA_BYTES - 1)
        self._app = create_app(settings.of_session_hosts, start=no_pools, replica=replica.hex())
        self._stack = AsyncExitStack()
        await self._stack.enter_async_context(self._app.router.lifespan_context(self._app))

    async def __del__(self) -> None:
        await self._stack.aclose()

    async def answer(self, method: str, path: str, headers: Headers, body: bytes) -> WholeResponse:
        """The response to a call; see `asgi_response`."""
        return await asgi_response(self._app, method, path, headers, body)


async def no_pools(settings: EngineSettings, stack: AsyncExitStack) -> Mapping[str, CountedPool]:
    """No workers: a session host judges nothing."""
    return {}
