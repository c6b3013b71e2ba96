"""A fleet on this machine, with a Ray of its own: for trying it."""

from __future__ import annotations

import logging.config
import os
import signal
import threading

import ray
from ray import serve

from verifier_service.fleet.application import fleet_of
from verifier_service.fleet.settings import FleetSettings
from verifier_service.logs import log_config
from verifier_service.server import listen

log = logging.getLogger(__name__)


def serve_fleet(settings: FleetSettings) -> None:
    """Serve a fleet until SIGINT or SIGTERM; then Ray is ended too.

    Raises:
        CannotServe: the address is not available.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would tell its makers of the start
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's 15 starves actors on a busy machine
    logging.config.dictConfig(log_config(settings.log_level, settings.log_format))
    port = _free_port(settings)
    ray.init(address="local", include_dashboard=False, log_to_driver=False)
    try:
        if settings.direct_port is None:
            settings = settings.model_copy(update={"direct_port": port})
            serve.start(proxy_location="Disabled")
        else:
            serve.start(http_options={"host": settings.host, "port": port})
        serve.run(fleet_of(settings), name="verifier", route_prefix="/")
        log.info("running on http://%s:%d (CTRL+C ends it)", settings.host, port)
        _wait_for_signal()
    finally:
        serve.shutdown()
        ray.shutdown()


def _free_port(settings: FleetSettings) -> int:
    """The port to listen on, which is free now. Raises CannotServe."""
    listeners = listen(settings.host, settings.port)
    port: int = listeners[0].getsockname()[1]
    for listener in listeners:
        listener.close()
    return port


def _wait_for_signal() -> None:
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # not earlier: Ray has set its own at its start
        signal.signal(number, lambda *_: ended.set())
    ended.wait()
