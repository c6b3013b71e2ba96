"""One engine, the images and the stack of all tests of this directory, and nothing left of them."""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import httpx
import pytest

from tests.docker.base_image import bootstrap, build_haproxy, proxy_arguments, torch_index
from tests.docker.engine import (
    Engine,
    EngineError,
    Surroundings,
    control_groups,
    mounts_below,
    running_engine,
)
from tests.docker.stack import Stack

ROOT = Path(__file__).parents[2]
CONNECTION_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
IGNORED = shutil.ignore_patterns(".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "runs")


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A Docker engine, on which nothing is left at the end.

    Without one the tests are skipped, or fail where the environment says DOCKER_TESTS=required.
    """
    if not all(map(shutil.which, ("debootstrap", "iptables"))) or os.getuid() != 0:
        _give_up("needs root, debootstrap and iptables; see scripts/install-docker")
    directory = tmp_path_factory.mktemp("docker")
    before = Surroundings.seen(directory)
    with ExitStack() as stack:
        try:
            engine = stack.enter_context(running_engine(directory))
        except EngineError as error:
            _give_up(f"no Docker engine: {error}")
        objects = engine.objects()
        yield engine
        left = {name: ids - objects[name] for name, ids in engine.objects().items()}
    assert left == {"containers": set(), "images": set(), "networks": set(), "volumes": set()}
    assert Surroundings.seen(directory) == before
    assert [*mounts_below(directory), *control_groups()] == []
    assert {path.name for path in directory.iterdir()} <= {"daemon.json", "dockerd.log"}


def _give_up(reason: str) -> NoReturn:
    if os.environ.get("DOCKER_TESTS") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, with secrets lying in it as they lie in people's."""
    folder = tmp_path_factory.mktemp("checkout") / "repository"
    shutil.copytree(ROOT, folder, ignore=IGNORED)
    for place in SECRET_PLACES:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{path.read_text() if path.exists() else ''}# TOKEN={SECRET}\n")
    return folder


SECRET = f"canary-{secrets.token_hex(16)}"
SECRET_PLACES = (
    *(".env", ".git/config", ".ssh/id_ed25519", "runs/secret.txt", "docker/verifier.env"),
    *("tests/secret.txt", "docker/.netrc"),
)


@pytest.fixture(scope="session")
def stack(
    engine: Engine, checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """The images, built from what is on this machine, and `docker compose` for them.

    Nothing is started yet.
    """
    names = f"verifier-tests-{secrets.token_hex(4)}"
    base, haproxy = f"{names}/base", f"{names}/haproxy"
    folder = tmp_path_factory.mktemp("base")
    images = {"BASE_IMAGE": base, "HAPROXY_IMAGE": haproxy, "IMAGES": names}
    before = engine.objects()["images"]
    try:
        bootstrap(engine, folder, name=base)
        with torch_index(engine, folder) as index:
            settings = {**images, **index, "API_PORT": str(_free_port())}
            stack = Stack(engine, checkout, names, settings)

            def build(service: str) -> None:
                if service == "api":
                    build_haproxy(engine, base=base, name=haproxy)
                stack.compose("build", *proxy_arguments(), service)

            with ThreadPoolExecutor() as pool:  # a build keeps one core busy
                list(pool.map(build, ("trainer", "verifier", "api")))
        yield stack
        stack.compose("down", "--volumes", "--timeout", "5")
    finally:
        new = engine.objects()["images"] - before
        while new:
            engine.docker("rmi", "--force", *new, check=False)
            left = engine.objects()["images"] & new
            assert left < new, f"images that cannot be removed: {left}"
            new = left


@pytest.fixture(scope="session")
def running(stack: Stack) -> Stack:
    """The stack with its service ready and its demonstration begun."""
    stack.compose("up", "--detach", "--no-build")
    return stack


@pytest.fixture
def http(running: Stack) -> Iterator[httpx.Client]:
    """A client of the published port, outside of the containers."""
    with httpx.Client(base_url=running.url, timeout=600) as client:
        yield client


def _free_port() -> int:
    """A free port that no connection gets while the images are built, before it is published."""
    first_of_connections = int(CONNECTION_PORTS.read_text().split()[0])
    while True:
        port = random.randrange(10_000, first_of_connections)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
