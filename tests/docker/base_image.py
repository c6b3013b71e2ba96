"""The parts that images are built from, made on this machine: a base, HAProxy, and torch.

Nothing is pulled. Builds reach registries as this machine does: with its certificates, its proxies
and what `pip config` and `apt-config` say, which go into the base image of the tests and nowhere
else.
"""

from __future__ import annotations

import contextlib
import http.server
import ipaddress
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.docker.engine import Engine

SUITE = "bookworm"
PYTHON_VERSION = "3.11"
"""The version that the suite has."""
PACKAGES = "ca-certificates,python3,python3-venv"
PROXIES = ("http_proxy", "https_proxy", "no_proxy")
_PIP_OPTIONS = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout")


def bootstrap(engine: Engine, directory: Path, *, name: str) -> None:
    """Make a minimal Debian with Python an image."""
    root = directory / "root"
    mirror = _mirror()
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root)]
    subprocess.run([*command, *mirror], check=True, stdout=subprocess.DEVNULL)
    try:
        authorities = ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
        shutil.copyfile(authorities, root / "etc/ssl/certs/ca-certificates.crt")
        (root / "etc/pip.conf").write_text(_pip_configuration(_gateway(engine)))
        (root / "etc/apt/apt.conf.d/90machine").write_text(_apt_configuration())
        for cache in (
            *root.glob("var/cache/apt/archives/*.deb"),
            *root.glob("var/lib/apt/lists/*_*"),
        ):
            cache.unlink()
        archive = subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE)
        with archive:
            subprocess.run(
                ["docker", "--host", engine.host, "import", "-", name],
                stdin=archive.stdout,
                stdout=subprocess.DEVNULL,
                check=True,
            )
    finally:
        shutil.rmtree(root)


def build_haproxy(engine: Engine, *, base: str, name: str) -> None:
    """Make Debian's HAProxy an image, in place of the official one."""
    recipe = (
        f"FROM {base}\nRUN apt-get update && apt-get install --yes --no-install-recommends "
        "haproxy && rm -rf /var/lib/apt/lists/*\n"
    )
    engine.docker("build", "--tag", name, *proxy_arguments(), "-", stdin=recipe.encode())


def proxy_arguments() -> list[str]:
    """Build arguments that every Dockerfile knows, and no image keeps."""
    return [
        argument
        for name in PROXIES
        if name in os.environ
        for argument in ("--build-arg", f"{name}={os.environ[name]}")
    ]


@contextlib.contextmanager
def torch_index(engine: Engine, directory: Path) -> Iterator[dict[str, str]]:
    """An index with the torch that pip finds here, as a setting of compose; none if it finds none.

    Without it, the image gets torch from the Internet, as it does anywhere else.
    """
    wheels = directory / "index" / "torch"
    wheels.mkdir(parents=True)
    constraints = (Path(__file__).parents[2] / "constraints.txt").read_text()
    wanted = re.findall(r"^torch==.*$", constraints, re.M)
    command = [sys.executable, "-m", "pip", "download", "--no-index", "--no-deps", "--quiet"]
    command += ["--python-version", PYTHON_VERSION, "--only-binary", ":all:"]
    found = subprocess.run([*command, "--dest", str(wheels), *wanted], capture_output=True)
    if found.returncode != 0:
        yield {}
        return
    handler = partial(_Silent, directory=str(wheels.parent))
    with http.server.ThreadingHTTPServer((_gateway(engine), 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield {"TORCH_INDEX_URL": f"http://{_gateway(engine)}:{server.server_port}"}
        finally:
            server.shutdown()
            thread.join()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _gateway(engine: Engine) -> str:
    """The address of this machine in the network of builds."""
    networks = json.loads(engine.docker("network", "inspect", "bridge"))
    (described, *_) = networks[0]["IPAM"]["Config"]
    return str(described.get("Gateway", ipaddress.ip_network(described["Subnet"])[1]))


def _mirror() -> list[str]:
    """The mirror of the suite that apt uses here, if it does."""
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    found = re.findall(rf"^{SUITE} main (http\S+)$", targets, re.M)
    return found[:1]


def _pip_configuration(gateway: str) -> str:
    """This machine's options of pip that hold in a container too."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    options = {"trusted-host": [gateway], "cert": ["/etc/ssl/certs/ca-certificates.crt"]}
    for name, value in re.findall(r"^[^.\s]+\.([a-z-]+)='(.*)'$", lines, re.M):
        values = [part for part in value.split() if not part.startswith(("file:", "/"))]
        if name in _PIP_OPTIONS and values:
            options.setdefault(name, []).extend(values)
    written = [f"{name} = {' '.join(values)}\n" for name, values in options.items()]
    return "".join(["[global]\n", *written])


def _apt_configuration() -> str:
    """This machine's proxies of apt, if it has any."""
    command = ["apt-config", "dump"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = re.compile(r"Acquire::(https?::Proxy|Check-)")
    return "".join(f"{line}\n" for line in lines if wanted.match(line))
