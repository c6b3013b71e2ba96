"""The services of compose.yaml, as a person runs them."""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.docker.engine import Engine

PYTHON = "/opt/verifier/bin/python"
WAIT_SECONDS = 240.0
_UNPACK = """
import sys, tarfile
tarfile.open(fileobj=sys.stdin.buffer, mode="r|").extractall(sys.argv[1])
"""


@dataclass(frozen=True)
class Stack:
    """A project of compose.

    Args:
        engine: that runs it.
        folder: of compose.yaml.
        name: of the project, and of its images.
        settings: what compose.yaml takes from the environment.
    """

    engine: Engine
    folder: Path
    name: str
    settings: dict[str, str]

    @property
    def url(self) -> str:
        """The address of the published port."""
        return f"http://127.0.0.1:{self.settings['API_PORT']}"

    @property
    def service_image(self) -> str:
        return f"{self.name}/service"

    def compose(self, *arguments: str, check: bool = True, **settings: str) -> str:
        """Run compose for this project. Raises CalledProcessError."""
        place = ("--project-name", self.name, "--project-directory", str(self.folder))
        files = ("--file", str(self.folder / "compose.yaml"))
        return self.engine.compose(
            *place, *files, *arguments, check=check, **{**self.settings, **settings}
        )

    def containers(self, service: str) -> list[str]:
        """Ids of the running containers of a service."""
        label = f"label=com.docker.compose.service={service}"
        project = f"label=com.docker.compose.project={self.name}"
        return self.engine.docker("ps", "--quiet", "--filter", label, "--filter", project).split()

    def container(self, service: str) -> str:
        """The container of a service that has one; running or not."""
        label = f"label=com.docker.compose.service={service}"
        project = f"label=com.docker.compose.project={self.name}"
        filters = ("--filter", label, "--filter", project)
        (found,) = self.engine.docker("ps", "--all", "--quiet", *filters).split()
        return found

    def python(self, container: str, code: str, *arguments: str) -> str:
        """The output of Python code in a container of the service."""
        return self.engine.docker("exec", container, PYTHON, "-c", code, *arguments)

    def put(self, container: str, files: dict[str, Path], directory: str) -> None:
        """Copy files and folders into the scratch file system of a container of the service.

        `docker cp` refuses containers with a read-only root.
        """
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name, path in files.items():
                archive.add(path, name, filter=_without_caches)
        command = ("exec", "--interactive", container, PYTHON, "-c", _UNPACK, directory)
        self.engine.docker(*command, stdin=packed.getvalue())

    def hardened(self, *, network: str = "none") -> list[str]:
        """Options of `docker run` that confine a container as compose.yaml does the service."""
        return [
            *("--rm", "--init", "--read-only", "--tmpfs", "/tmp:size=1g,mode=1777"),
            *("--cap-drop", "ALL", "--security-opt", "no-new-privileges:true"),
            *("--cpus", "2", "--memory", "6g", "--pids-limit", "2048", "--network", network),
        ]


def _without_caches(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if "__pycache__" in info.name:
        return None
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


def wait_until(
    condition: Callable[[], object], what: str, *, seconds: float = WAIT_SECONDS
) -> None:
    """Ask again until it is so. Raises AssertionError when it is not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.1)
