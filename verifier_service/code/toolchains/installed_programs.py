"""Programs that are installed on this machine, and the files that each of them reads."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.sandbox import runtime
from verifier_service.sandbox.execution import Tools

SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
SYSTEM = Path("/usr")
"""Directory below which toolchains lie that no program leads to."""
_QUERY_SECONDS = 60.0
RESTART = "then start the service again"
"""End of advice on what to install."""


def located(name: str, package: str) -> str:
    """The path of a program, without links. Raises ToolchainError."""
    found = shutil.which(name, path=SEARCH_PATH)
    if found is None:
        raise ToolchainError(
            f"no {name} in {SEARCH_PATH}: install it (Debian and Ubuntu: apt install {package}), "
            f"{RESTART}"
        )
    # A link named gcc or g++ leads to the driver of one version, which does the same.
    return str(Path(found).resolve())


def ask(driver: str, *question: str) -> str:
    """The standard output of a program. Raises ToolchainError."""
    return run_tool(driver, *question).stdout.strip()


def run_tool(*command: str, directory: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program of the machine, on nothing that a user gave. Raises ToolchainError.

    Args:
        command: the program and its arguments.
        directory: where it runs and keeps its temporary files, which rustc leaves behind.
    """
    # A user without a name, as in a container, has no home: Racket would not even tell its version.
    environment = {"PATH": SEARCH_PATH, "LC_ALL": "C", "HOME": "/nonexistent"}
    if directory is not None:
        environment["TMPDIR"] = directory
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            cwd=directory or "/",
            stdin=subprocess.DEVNULL,
            timeout=_QUERY_SECONDS,
            check=True,
        )
    except OSError as error:
        raise ToolchainError(f"{command[0]} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ToolchainError(f"{command[0]} does not end within {error.timeout:g} s") from error
    except subprocess.CalledProcessError as error:
        first_line = error.stderr.strip().partition("\n")[0]
        said = first_line or f"status {error.returncode}"
        raise ToolchainError(f"{shlex.join(command)}: {said}") from error


def tools_of(
    programs: Iterable[Path],
    readable: Iterable[Path],
    devices: tuple[Path, ...] = (),
    *,
    runtime_calls: str = "",
    starter: bytes = b"",
) -> Tools:
    """Programs with the libraries that they are linked with, and the files that they read."""
    programs = list(dict.fromkeys(programs))
    libraries = sorted({path for program in programs for path in shared_libraries(program)})
    loaders = [path for path in libraries if path.name.startswith(("ld-linux", "ld-musl"))]
    files = [*readable, *libraries, *existing("/etc/ld.so.cache")]
    return Tools(
        executable=(*programs, *loaders),
        readable=tuple(dict.fromkeys(files)),
        devices=devices,
        runtime_calls=runtime_calls,
        launcher=starter,
    )


def system_files() -> list[Path]:
    """Files that every runtime reads: shared libraries, time zones, and the locale C.UTF-8."""
    return [*runtime.system_libraries(), *locale_files()]


def locale_files() -> Iterator[Path]:
    """The locale that every program has by its environment."""
    return existing("/usr/lib/locale/C.utf8")


def existing(*paths: str) -> Iterator[Path]:
    """The files and directories among these that this machine has."""
    return (Path(path) for path in paths if path and Path(path).exists())


def shared_libraries(program: Path) -> list[Path]:
    """Files that the dynamic loader maps for a program, the loader included.

    Debian's alternatives are left out. They are links through /etc, which the sandbox does not
    have, so a row names their directories (`LD_LIBRARY_PATH`).
    """
    lines = run_tool("ldd", str(program)).stdout
    paths = [Path(path) for path in re.findall(r"(/\S+) \(0x", lines)]
    return [path for path in paths if not (path.is_symlink() and _is_alternative(path))]


def _is_alternative(link: Path) -> bool:
    return link.readlink().is_relative_to("/etc/alternatives")
