"""Shared libraries of ours, which GCC compiles on this machine."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import tempfile
from pathlib import Path

from verifier_service.code.toolchains.installed_programs import RESTART, located, run_tool
from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.sandbox import launcher


@functools.cache
def compiled_launcher() -> bytes:
    """The library of `launcher.c`; empty where it does not compile: programs start slower then."""
    with tempfile.TemporaryDirectory() as directory:
        library = Path(directory, "launcher.so")
        try:
            driver = located("gcc", "gcc libc6-dev")
            run_tool(driver, *launcher.OPTIONS, "-o", str(library), str(launcher.SOURCE))
        except ToolchainError:
            return b""
        return library.read_bytes()


def preloaded(source: Path) -> Path:
    """A library that LD_PRELOAD can name, compiled from a source. Raises ToolchainError.

    The sandbox has to map it, so it is a file. An image has it beside its source. Elsewhere it is
    in a directory of this user's, by the hash of its source, and stays for the next service.
    """
    if (beside := source.with_suffix(".so")).exists():
        return beside
    directory = Path(tempfile.gettempdir(), f"verifier-service-{os.geteuid()}")
    try:
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o755)
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise ToolchainError(f"{directory} is not this user's alone: remove it, {RESTART}")
        if os.statvfs(directory).f_flag & os.ST_NOEXEC:
            raise ToolchainError(
                f"no library can be mapped from {directory}, which is mounted with noexec: set "
                f"TMPDIR to another directory, {RESTART}"
            )
        name = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
        library = directory / f"{source.stem}-{name}.so"
        if not library.exists():
            with tempfile.TemporaryDirectory(dir=directory) as made:
                driver = located("gcc", "gcc libc6-dev")
                run_tool(driver, *launcher.OPTIONS, "-o", f"{made}/library", str(source))
                Path(made, "library").rename(library)
    except OSError as error:
        raise ToolchainError(f"{source.name} cannot be compiled: {error}") from error
    return library
