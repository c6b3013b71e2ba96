"""A fleet on this machine, with a Ray of its own: for trying it."""

from __future__ import annotations

import logging.config
import os
import signal
import threading
from collections.abc import Sequence

import ray
from ray import serve

from verifier_service.fleet.application import fleet_of
from verifier_service.fleet.settings import FleetSettings
from verifier_service.logs import LISTENING, log_config
from verifier_service.server import UNKNOWN, CannotServe, listen
from verifier_service.usable_resources import usable_cores

log = logging.getLogger(__name__)


def serve_fleet(settings: FleetSettings, unknown: Sequence[str]) -> None:
    """Serve a fleet until SIGINT or SIGTERM; then Ray is ended too.

    Args:
        settings: of the fleet.
        unknown: variables of the environment that are no settings.

    Raises:
        CannotServe: the address is not available.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would tell its makers of the start
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's 15 starves actors on a busy machine
    logging.config.dictConfig(log_config(settings.log_level, settings.log_format))
    if unknown:
        log.warning(UNKNOWN, ", ".join(unknown))
    # Ray Serve tells of the proxy's address, where nothing listens.
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    port = _free_port(settings.host, settings.port)
    if settings.direct_port is not None:
        if settings.direct_port == port:
            raise CannotServe(f"--direct-port and --port are both {port}: they need two")
        _free_port(settings.host, settings.direct_port, "--direct-port / VERIFIER_DIRECT_PORT")
    ray.init(
        address="local",
        num_cpus=_num_cpus(settings),
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    try:
        log.info("starting judges")
        if settings.direct_port is None:
            settings = settings.model_copy(update={"direct_port": port})
            serve.start(proxy_location="Disabled")
        else:
            serve.start(http_options={"host": settings.host, "port": port})
        serve.run(fleet_of(settings), name="verifier", route_prefix="/")
        log.info(LISTENING, settings.host, port)
        _wait_for_signal()
    finally:
        serve.shutdown()
        ray.shutdown()


def _num_cpus(settings: FleetSettings) -> int:
    """The cores that Ray is told of: this machine's, or what judges were asked for, if it is more.

    Ray starts no judge without a core of its own, and says so in its own log only.
    """
    is_limit_given = "max_judges" in settings.model_fields_set
    num_judges = settings.max_judges if is_limit_given else settings.judges
    num_asked = sum(num_judges * settings.num_workers(kind) for kind in settings.kinds)
    num_cores = usable_cores()
    if num_asked > num_cores:
        log.warning(
            "%d judges of each of %s: their %d workers share the %d cores of this machine",
            *(num_judges, " and ".join(settings.kinds), num_asked, num_cores),
        )
    return max(num_asked, num_cores)


def _free_port(host: str, number: int, setting: str = "--port / VERIFIER_PORT") -> int:
    """A port, any one for 0, that is free now. Raises CannotServe."""
    listeners = listen(host, number, setting=setting)
    port: int = listeners[0].getsockname()[1]
    for listener in listeners:
        listener.close()
    return port


def _wait_for_signal() -> None:
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # not earlier: Ray has set its own at its start
        signal.signal(number, lambda *_: ended.set())
    ended.wait()
