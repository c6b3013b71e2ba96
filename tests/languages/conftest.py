"""A judge for each module of these tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest

from tests.languages.judge import Judge
from verifier_service.code import languages
from verifier_service.code.compiled_programs import CompiledPrograms
from verifier_service.code.run_tests import ENTRIES
from verifier_service.sandbox.runner import Runner


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    kept, languages.compiled_programs = languages.compiled_programs, CompiledPrograms()
    descriptor = CompiledPrograms.create_file()
    languages.compiled_programs.share(descriptor)
    os.close(descriptor)
    with asyncio.Runner() as loop:
        runner = Runner(1, entries=ENTRIES, tools=languages.tools)
        loop.run(runner.__aenter__())
        try:
            yield Judge(loop, runner)
        finally:
            loop.run(runner.__aexit__(None, None, None))
            languages.compiled_programs = kept
