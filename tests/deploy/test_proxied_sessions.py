"""Sessions behind the proxy of compose: three replicas, and the machine's own HAProxy."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from tests.deploy.test_kubernetes import ROOT
from tests.processes import until
from trainer_client.service_process import running_service

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("haproxy") is None, reason="haproxy is not installed"),
]

NUM_REPLICAS = 3


def configuration(urls: list[str], port: int) -> str:
    """The proxy's configuration with these replicas in place of those that a name server knows."""
    text = (
        (ROOT / "docker" / "haproxy.cfg").read_text().replace("/etc/verifier/", f"{ROOT}/docker/")
    )
    text = re.sub(r"resolvers docker\n(    .*\n)+", "", text)
    text = re.sub(r" resolvers docker init-addr none resolve-prefer ipv4", "", text)
    places = [url.removeprefix("http://") for url in urls]
    servers = [f"    server verifier{n} {place}" for n, place in enumerate(places)]
    text = re.sub(r" +server-template .*", "\n".join(servers), text)
    return text.replace("bind :8080", f"bind 127.0.0.1:{port}")


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("proxied")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = ("--workers", "1", "--code-workers", "1", "--max-sessions", "16")
    with ExitStack() as stack:
        urls = [
            stack.enter_context(running_service(folder / f"{number}.log", *flags))
            for number in range(NUM_REPLICAS)
        ]
        file = folder / "haproxy.cfg"
        file.write_text(configuration(urls, port))
        proxy = subprocess.Popen(["haproxy", "-f", str(file)])
        stack.callback(proxy.wait)
        stack.callback(proxy.terminate)
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600)
        http = stack.enter_context(client)
        until(lambda: answers(http))
        yield http


def answers(http: httpx.Client) -> bool:
    """Whether the proxy listens and knows a replica."""
    try:
        return http.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def test_calls_of_sessions_reach_their_replicas(proxied: httpx.Client) -> None:
    names = []
    for number in range(6):
        opened = proxied.post("/v1/sessions", json={"packages": "standard"})
        assert opened.status_code == 201, opened.text
        names.append(opened.json()["id"])
        proxied.post(f"/v1/sessions/{names[-1]}", json={"code": f"kept = {number}"})
    assert len({name.split("-")[1] for name in names}) > 1  # or the proxy had nothing to choose
    for _ in range(2):
        for number, name in enumerate(names):
            found = proxied.post(f"/v1/sessions/{name}", json={"code": "kept"})
            assert found.json()["value"] == str(number), found.text
    for name in names:
        assert proxied.delete(f"/v1/sessions/{name}").json()["calls"] == 3


def test_sandboxes_of_e2b_are_reached_at_their_replicas(proxied: httpx.Client) -> None:
    names = []
    for _ in range(6):
        opened = proxied.post("/compat/e2b/v2/sandboxes", json={"timeout": 60})
        assert opened.status_code == 201, opened.text
        names.append(opened.json()["sandboxID"])
    assert len({name.split("-")[1] for name in names}) > 1
    for number, name in [*enumerate(names)] * 2:
        body, headers = {"code": f"kept = {number}; kept"}, {"E2b-Sandbox-Id": name}
        found = proxied.post("/compat/e2b/execute", json=body, headers=headers)
        assert json.loads(found.text.splitlines()[0])["text"] == str(number), found.text
    for name in names:
        assert proxied.delete(f"/compat/e2b/sandboxes/{name}").status_code == 204


def test_environments_of_openenv_stay_at_their_replicas(proxied: httpx.Client) -> None:
    for name in "abcd":
        assert proxied.post(f"/openenv/{name}/reset", json={}).status_code == 200
        action = {"action": {"code": f"kept = {name!r}"}}
        assert proxied.post(f"/openenv/{name}/step", json=action).status_code == 200
    for name in "abcdabcd":
        action = {"action": {"code": "print(kept)"}}
        found = proxied.post(f"/openenv/{name}/step", json=action)
        assert found.json()["observation"]["stdout"] == f"{name}\n"


def test_a_session_that_no_replica_has_is_gone_by_name(proxied: httpx.Client) -> None:
    gone = proxied.post(f"/v1/sessions/s-{'0' * 8}-{'0' * 32}", json={"code": "1"})
    assert gone.status_code == 410
    assert gone.json()["error"]["details"]["reason"] == "other_replica"
