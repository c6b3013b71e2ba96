"""A judge for each module of these tests, and things that no program may reach."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.languages.judge import SECRET, Judge
from verifier_service.code.compiled_programs import CompiledPrograms
from verifier_service.code.languages import language
from verifier_service.code.languages.runners import language_tools
from verifier_service.code.run_tests import ENTRIES
from verifier_service.sandbox.runner import Runner


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    kept, language.compiled_programs = language.compiled_programs, CompiledPrograms()
    descriptor = CompiledPrograms.create_file()
    language.compiled_programs.share(descriptor)
    os.close(descriptor)
    with asyncio.Runner() as loop:
        runner = Runner(1, entries=ENTRIES, tools=language_tools)
        loop.run(runner.__aenter__())
        try:
            yield Judge(loop, runner)
        finally:
            loop.run(runner.__aexit__(None, None, None))
            language.compiled_programs = kept


@pytest.fixture
def canary() -> Iterator[Path]:
    """A file that everybody can read, in a directory that everybody can write to."""
    directory = Path("/var/tmp") / f"languages-{os.getpid()}"
    directory.mkdir()
    directory.chmod(0o777)
    path = directory / "canary.h"
    path.write_text(f"{SECRET}\n")
    path.chmod(0o644)
    yield path
    left = {one.name: (one.read_text(), one.stat().st_mode & 0o777) for one in directory.iterdir()}
    shutil.rmtree(directory)
    assert left == {"canary.h": (f"{SECRET}\n", 0o644)}


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A server that nobody may reach."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening
        with pytest.raises(BlockingIOError):
            listening.accept()
