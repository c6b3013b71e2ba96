"""A sandbox to run programs in, in the two deployments that one machine can show.

`everything` has every layer that is permitted here; `common` has those that an unprivileged user in
a container has too. `test_unprivileged.py` runs these tests again as another user.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from verifier_service.code import languages
from verifier_service.sandbox.execution import COMMON_LAYERS, Execution, Layer, Limits, Program
from verifier_service.sandbox.runner import Runner

T = TypeVar("T")

DEPLOYMENTS = {"everything": frozenset[Layer](), "common": frozenset(Layer) - COMMON_LAYERS}
ENTRIES = {
    "ask": "tests.sandbox.pair_entries:ask",
    "answer": "tests.sandbox.pair_entries:answer",
    "fail": "tests.sandbox.pair_entries:fail",
}
LIMITS = Limits(cpu_seconds=5, wall_seconds=20)


class Sandbox:
    """A runner and the event loop that it lives in."""

    def __init__(self, loop: asyncio.Runner, runner: Runner) -> None:
        self.runner = runner
        self._loop = loop

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something in the loop."""
        return self._loop.run(work)

    def run(
        self, source: str | bytes, stdin: bytes = b"", limits: Limits = LIMITS, **changes: Any
    ) -> Execution:
        """Run a program."""
        payload = source.encode() if isinstance(source, str) else source
        program = Program(payload=payload, stdin=stdin, **changes)
        return self.wait(self.runner.run(program, limits))


@pytest.fixture(scope="session", params=sorted(DEPLOYMENTS))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox with two slots."""
    with asyncio.Runner() as loop:
        runner = Runner(
            2,
            entries=ENTRIES,
            tools=languages.tools,
            unsafe_without=DEPLOYMENTS[request.param],
        )
        loop.run(runner.__aenter__())
        try:
            yield Sandbox(loop, runner)
        finally:
            loop.run(runner.__aexit__(None, None, None))
