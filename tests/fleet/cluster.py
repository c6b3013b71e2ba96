"""A Ray cluster of three nodes on this machine, with a fleet on it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import ray
from ray import serve
from ray.cluster_utils import Cluster

from benchmarks._patient_ray import be_patient, free_port
from tests.processes import tree, until
from verifier_service.fleet.application import fleet_of
from verifier_service.fleet.settings import FleetSettings

APPLICATION = "verifier"
NUM_NODES = 3
NODE_CPUS = 3
"""Cores of each node but the first: room for three judges."""
MEASURED = {
    *("seconds", "request_id", "execution_time", "cpu_time", "wall_time", "memory"),
    *("cpu_seconds", "wall_seconds", "peak_memory_bytes", "runtimes"),
}
"""Fields that differ between two calls to one service: what was measured, and the call's id."""


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Three nodes: the first has no room for judges, and each other one for three."""
    be_patient()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        for _ in range(NUM_NODES - 1):
            cluster.add_node(num_cpus=NODE_CPUS)
        ray.init(address=cluster.address, log_to_driver=False)
        try:
            yield cluster
        finally:
            serve.shutdown()
            ray.shutdown()
    finally:
        cluster.shutdown()


def start_fleet(settings: FleetSettings) -> str:
    """Start the one fleet of the cluster, and give the URL of Ray Serve's proxy."""
    port = free_port()
    serve.start(http_options={"host": "127.0.0.1", "port": port}, proxy_location="HeadOnly")
    serve.run(fleet_of(settings), name=APPLICATION, route_prefix="/")
    return f"http://127.0.0.1:{port}"


def replica_processes(kind: str, application: str = APPLICATION) -> list[int]:
    """The processes of the judges of a kind, or of `gateway`, which Ray has started below this."""
    title = f"ray::ServeReplica:{application}:{kind}".encode()
    return [pid for pid in tree(os.getpid()) if _command_line(pid).startswith(title)]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def kill_replica(kind: str, application: str = APPLICATION) -> bool:
    """Kill the process of a replica, as where its node is lost; False where none is running."""
    for judge in replica_processes(kind, application)[:1]:
        with suppress(ProcessLookupError):
            os.kill(judge, signal.SIGKILL)
            return True
    return False


def num_judges(kind: str, *states: str, application: str = APPLICATION) -> int:
    """The judges that Ray Serve has in these states; default: running."""
    deployment = serve.status().applications[application].deployments[kind]
    found = deployment.replica_states
    return sum(int(found.get(state, 0)) for state in states or ("RUNNING",))


def wait_for_judges(kind: str, number: int) -> None:
    """Wait until so many judges of a kind run."""
    until(lambda: num_judges(kind) == number, seconds=120)


def without_seconds(content: bytes, measured: Set[str] = MEASURED) -> Any:
    """The body of a response without measured fields and the order of streamed lines."""
    try:
        return _pruned(json.loads(content), measured)
    except ValueError:
        lines = [_pruned(json.loads(line), measured) for line in content.splitlines()]
        # Groups are sent as they are done, in any order; the last line has the numbers of all.
        return sorted(lines, key=lambda line: line.get("index", len(lines)))


def _pruned(node: Any, measured: Set[str]) -> Any:
    if isinstance(node, dict):
        return {key: _pruned(value, measured) for key, value in node.items() if key not in measured}
    return [_pruned(one, measured) for one in node] if isinstance(node, list) else node


NO_TIME = b'"deadline_seconds":1e-06'
"""Part of a request whose deadline leaves verdicts to chance."""
LONG_BYTES = 100_000
"""Size of a request from which its explanations are not compared.

A worker leaves out the explanation of a completion that took it 0.1 s of CPU time to judge.
"""


class AllTransport(httpx.BaseTransport):
    """Sends each request to a gateway, by Ray Serve's proxy to it, and to a single service.

    The three responses must be equal.
    """

    def __init__(self, *urls: str) -> None:
        self._urls = [httpx.URL(url) for url in urls]
        self._transport = httpx.HTTPTransport()
        self.num_compared = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The response of the fleet."""
        content = request.read()
        responses = []
        for url in self._urls:
            target = request.url.copy_with(host=url.host, port=url.port)
            headers = [one for one in request.headers.raw if one[0].lower() != b"host"]
            sent = httpx.Request(
                request.method,
                target,
                headers=headers,
                content=content,
                extensions=request.extensions,
            )
            response = self._transport.handle_request(sent)
            response.read()
            responses.append(response)
        *fleets, single = responses
        for fleet in fleets:
            assert fleet.status_code == single.status_code, (fleet.text, single.text)
            if request.method == "POST" and NO_TIME not in content:
                measured = MEASURED | ({"explanation"} if len(content) >= LONG_BYTES else set())
                found, wanted = (without_seconds(one.content, measured) for one in (fleet, single))
                assert found == wanted
                assert fleet.headers.get("content-type") == single.headers.get("content-type")
                self.num_compared += 1
        return fleets[0]

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()
