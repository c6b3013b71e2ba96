"""A sandbox to run programs in, with every layer that the process of the tests may have.

The user of that process decides which ones these are: `test_deployments.py` runs the tests again as
another user, and again where namespaces are refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from verifier_service.code.languages.runners import language_tools
from verifier_service.sandbox.execution import Execution, Limits, Program
from verifier_service.sandbox.runner import Runner

T = TypeVar("T")

ENTRIES = {
    "ask": "tests.sandbox.pair_entries:ask",
    "ask_late": "tests.sandbox.pair_entries:ask_late",
    "answer": "tests.sandbox.pair_entries:answer",
    "fail": "tests.sandbox.pair_entries:fail",
}
LIMITS = Limits(cpu_seconds=30, wall_seconds=120, idle_seconds=None)
"""Limits on time that no program of the tests meets unless it never ends, on a busy machine too."""


class Sandbox:
    """A runner and the event loop that it lives in."""

    def __init__(self, loop: asyncio.Runner, runner: Runner) -> None:
        self.runner = runner
        self._loop = loop

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop."""
        return self._loop.run(work)

    def run(
        self, source: str | bytes, stdin: bytes = b"", limits: Limits = LIMITS, **changes: Any
    ) -> Execution:
        """Run a program."""
        payload = source.encode() if isinstance(source, str) else source
        program = Program(payload=payload, stdin=stdin, **changes)
        return self.wait(self.runner.run(program, limits))


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox with two slots."""
    with asyncio.Runner() as loop:
        runner = Runner(2, entries=ENTRIES, tools=language_tools)
        loop.run(runner.__aenter__())
        try:
            yield Sandbox(loop, runner)
        finally:
            loop.run(runner.__aexit__(None, None, None))
