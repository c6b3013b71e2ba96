"""Ray on a busy machine, which is slow and not dead."""

from __future__ import annotations

import inspect
import os
import socket
import time
from typing import Any

from ray._private import services
from ray._private.parameter import RayParams
from ray._raylet import DASHBOARD_AGENT_LISTEN_PORT_NAME, persist_port

VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_health_check_failure_threshold": "60",
    "RAY_prestart_worker_first_driver": "0",
    "RAY_worker_niceness": "0",
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "120",
    "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "120",
}
"""Variables of Ray: limits of time, no process for a core unasked, and actors that get their share
of a busy machine: Ray gives them a niceness of 15."""
AGENT_PORTS = (
    *("metrics_agent_port", "metrics_export_port", "runtime_env_agent_port"),
    "dashboard_agent_listen_port",
)
"""Ports of a node's agents. Ray gives a node up whose agents do not tell theirs within 15 s."""
START_SECONDS = 300.0
RETRY_SECONDS = 0.5


def be_patient() -> None:
    """Have Ray wait for nodes of this process as long as they take to start.

    It gives up a node after 30 s, which no variable changes: those that ask for the node wait here,
    and nobody waits for the ports of agents, which are chosen here.
    """
    os.environ.update(VARIABLES | dict(os.environ))
    ask = services.get_node

    def get_node(*given: Any) -> Any:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                return ask(*given)
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_SECONDS)

    services.get_node = get_node
    start = RayParams.__init__

    def with_ports(params: RayParams, *given: Any, **named: Any) -> None:
        start(params, *given, **{name: free_port() for name in AGENT_PORTS} | named)

    RayParams.__init__ = with_ports
    start_raylet = services.start_raylet
    place = list(inspect.signature(start_raylet).parameters).index

    def with_listen_port(*given: Any, **named: Any) -> Any:
        """Tell the one port that a raylet waits for even where it is chosen, as its agent will."""
        session, node = given[place("session_dir")], given[place("node_id")]
        port = named["dashboard_agent_listen_port"]
        persist_port(session, node, DASHBOARD_AGENT_LISTEN_PORT_NAME, port)
        return start_raylet(*given, **named)

    services.start_raylet = with_listen_port


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
