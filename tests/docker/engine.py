"""A Docker engine for the tests: the one that runs here, or one of their own, which leaves nothing.

An engine of our own has its data, its sockets and its processes in one directory. What dockerd
changes outside of it (the bridge, the firewall, forwarding, control groups) is put back.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainer_client.service_process import end_with_parent

START_SECONDS = 60.0
STOP_SECONDS = 60.0
BRIDGE = "docker0"
CGROUP_PARENT = "/verifier-docker-tests"
FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
FIREWALLS = ("iptables", "ip6tables")
TABLES = ("filter", "nat", "mangle", "raw")
_BUILT_IN = re.compile(r"^:(\S+) (?!-)", re.M)
# `*nat`, `:INPUT ACCEPT` for each chain, `COMMIT`: no rule, no chain of somebody's own.
_EMPTY_TABLE = re.compile(r"^\*\w+\n(?::\w+ ACCEPT\n)*COMMIT\n", re.M)


class EngineError(RuntimeError):
    """There can be no engine here; the message says why."""


@dataclass(frozen=True)
class Engine:
    """A running engine.

    Args:
        host: its address, as in DOCKER_HOST.
    """

    host: str
    environment: dict[str, str] = field(default_factory=dict)
    """Variables for its clients besides this process's environment."""

    def docker(self, *arguments: str, stdin: bytes | None = None, check: bool = True) -> str:
        """Run `docker`. Raises CalledProcessError, whose notes have what it said."""
        return self._run(["docker", *arguments], stdin=stdin, check=check)

    def compose(self, *arguments: str, check: bool = True, **environment: str) -> str:
        """Run `docker-compose`, or `docker compose` where there is no such program."""
        program = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]
        return self._run([*program, *arguments], check=check, environment=environment)

    def _run(
        self,
        command: list[str],
        *,
        stdin: bytes | None = None,
        check: bool = True,
        environment: dict[str, str] | None = None,
    ) -> str:
        result = subprocess.run(
            command,
            input=stdin if stdin is not None else b"",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **self.environment, "DOCKER_HOST": self.host, **(environment or {})},
            check=False,
        )
        output = result.stdout.decode(errors="replace")
        if check and result.returncode != 0:
            error = subprocess.CalledProcessError(result.returncode, command)
            error.add_note(output[-6000:])
            raise error
        return output

    def start_in_background(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Run `docker` and do not wait; its output is in pipes."""
        return subprocess.Popen(
            ["docker", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "DOCKER_HOST": self.host},
        )

    def inspect(self, name: str) -> dict[str, Any]:
        """The engine's description of a container, an image, a network or a volume."""
        found: dict[str, Any] = json.loads(self.docker("inspect", name))[0]
        return found

    def objects(self) -> dict[str, set[str]]:
        """Ids of all containers, images, networks and volumes."""
        commands = {
            "containers": ("ps", "--all", "--quiet", "--no-trunc"),
            "images": ("images", "--all", "--quiet", "--no-trunc"),
            "networks": ("network", "ls", "--quiet", "--no-trunc"),
            "volumes": ("volume", "ls", "--quiet"),
        }
        return {name: set(self.docker(*command).split()) for name, command in commands.items()}


@contextlib.contextmanager
def running_engine(directory: Path) -> Iterator[Engine]:
    """The engine that answers here, or else one of our own below an empty directory.

    Raises:
        EngineError: there is none, and none can be started.
    """
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if shutil.which("docker") and _answers(host):
        yield Engine(host)
        return
    if os.getuid() != 0:
        raise EngineError(f"no Docker engine answers at {host}, and only root can start one")
    missing = [name for name in ("dockerd", "docker", "iptables") if not shutil.which(name)]
    if missing:
        raise EngineError(f"{', '.join(missing)} not found: scripts/install-docker installs them")
    with _own_engine(directory) as host:
        yield Engine(host)


def _answers(host: str) -> bool:
    command = ["docker", "--host", host, "version", "--format", "{{.Server.Version}}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def _own_engine(directory: Path) -> Iterator[str]:
    host = f"unix://{directory}/docker.sock"
    config = directory / "daemon.json"
    config.write_text("{}")  # not this machine's
    before = Surroundings.seen(directory)
    with (directory / "dockerd.log").open("wb") as log:
        daemon = subprocess.Popen(
            [
                "dockerd",
                *("--host", host, "--group", str(os.getgid())),
                *("--data-root", str(directory / "data"), "--exec-root", str(directory / "exec")),
                *("--pidfile", str(directory / "dockerd.pid"), "--config-file", str(config)),
                *("--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", CGROUP_PARENT),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=end_with_parent,  # and its containers with it
        )
    try:
        _wait_until(lambda: _answers(host), daemon, directory / "dockerd.log")
        yield host
    finally:
        _stop(daemon, host)
        before.restore()
        for folder in filter(Path.is_dir, (directory / "data", directory / "exec")):
            shutil.rmtree(folder)


def _wait_until(condition: Callable[[], bool], daemon: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        if daemon.poll() is not None or time.monotonic() > deadline:
            tail = log.read_text(errors="replace")[-3000:]
            raise EngineError(f"dockerd does not start on this machine; it says:\n{tail}")
        time.sleep(0.1)


def _stop(daemon: subprocess.Popen[bytes], host: str) -> None:
    """End every container, then the daemon, which ends containerd."""
    if daemon.poll() is None:
        command = ["docker", "--host", host, "ps", "--all", "--quiet"]
        left = subprocess.run(command, capture_output=True, check=False).stdout.decode().split()
        if left:
            command = ["docker", "--host", host, "rm", "--force", "--volumes", *left]
            subprocess.run(command, capture_output=True, check=False)
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()


@dataclass(frozen=True)
class Surroundings:
    """The machine's state that a daemon changes outside of its directory."""

    directory: Path
    links: frozenset[str]
    forwarding: str
    rules: dict[str, str]

    @classmethod
    def seen(cls, directory: Path) -> Surroundings:
        """The surroundings as they are now."""
        return cls(directory, frozenset(_links()), FORWARDING.read_text(), _rules())

    def restore(self) -> None:
        """Put them back."""
        for mount in sorted(mounts_below(self.directory), reverse=True):
            subprocess.run(["umount", "--lazy", mount], check=True)
        for link in _links() - self.links:
            subprocess.run(["ip", "link", "delete", link], check=False, capture_output=True)
        FORWARDING.write_text(self.forwarding)
        for firewall, rules in self.rules.items():
            _restore_rules(firewall, rules)
        for cgroup in control_groups():
            for path in sorted(cgroup.glob("**/"), reverse=True):
                path.rmdir()


def mounts_below(directory: Path) -> list[str]:
    """Mount points in a directory."""
    lines = Path("/proc/mounts").read_text().splitlines()
    return [line.split()[1] for line in lines if line.split()[1].startswith(f"{directory}/")]


def control_groups() -> list[Path]:
    """Control groups that containers were in, of either version."""
    root, name = Path("/sys/fs/cgroup"), CGROUP_PARENT.removeprefix("/")
    return [path for path in (root / name, *root.glob(f"*/{name}")) if path.is_dir()]


def _links() -> set[str]:
    """Bridges and their ports, which containers are connected by."""
    names = set(os.listdir("/sys/class/net"))
    return {name for name in names if re.fullmatch(r"docker0|br-[0-9a-f]{12}|veth[0-9a-f]+", name)}


def _rules() -> dict[str, str]:
    """The rules of each firewall, without counters and dates.

    Tables that let everything pass are left out: the first program that looks for rules makes them,
    and they stay.
    """
    return {
        firewall: _EMPTY_TABLE.sub(
            "", re.sub(r"^#.*\n| \[\d+:\d+\]$", "", _saved(firewall), flags=re.M)
        )
        for firewall in FIREWALLS
    }


def _saved(firewall: str) -> str:
    return subprocess.run([f"{firewall}-save"], capture_output=True, text=True, check=True).stdout


def _restore_rules(firewall: str, rules: str) -> None:
    """Make the rules what they were; a table that had none is emptied."""
    now = _saved(firewall)
    for table in TABLES:
        if f"*{table}\n" in now and f"*{table}\n" not in rules:
            described = now.partition(f"*{table}\n")[2].partition("COMMIT")[0]
            policies = [("-P", chain, "ACCEPT") for chain in _BUILT_IN.findall(described)]
            for change in (*policies, ("-F",), ("-X",)):
                subprocess.run([firewall, "-t", table, *change], check=True)
    if rules:
        subprocess.run([f"{firewall}-restore"], input=rules.encode(), check=True)
