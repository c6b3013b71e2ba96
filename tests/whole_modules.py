"""How several pytests share the tests: modules stay whole.

Tests of a module share fixtures, such as a service or runs of the trainer, that take seconds of CPU
time. Each pytest that has some of the tests makes the fixtures again. `--dist=worksteal` does not
see this: it takes tests from whichever pytest is slow, for example from one that makes such a
fixture for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdist.scheduler.worksteal import MIN_PENDING, WorkStealingScheduling
from xdist.workermanage import WorkerController


class WholeModules(WorkStealingScheduling):  # type: ignore[misc]  # it has no types
    """`worksteal`, but a module is split only when no pytest has a whole one left to give."""

    collection: list[str]
    """The tests of all."""
    pending: list[int]
    """Tests that no pytest has; a test is its index in `collection`."""
    node2pending: dict[WorkerController, list[int]]
    """Tests that a pytest has; it runs the first one as soon as it has the second one, too."""
    steal_requested_from_node: WorkerController | None

    def check_schedule(self) -> None:
        """Give pytests that are about to be idle the tests that no other has, or has not begun."""
        running = [node for node in self.nodes if not node.shutting_down]
        idle = self._idle(running)
        for position, node in enumerate(idle):
            self._send_tests(node, len(self.pending) // (len(idle) - position))
        idle = self._idle(running)
        if not idle or self.steal_requested_from_node is not None:
            return
        stolen = {node: self._later_modules(self.node2pending[node]) for node in running}
        if not any(stolen.values()):
            stolen = {node: _half(self.node2pending[node]) for node in running}
        owner = max(running, key=lambda node: len(stolen[node]))
        if stolen[owner]:
            owner.send_steal(stolen[owner])
            self.steal_requested_from_node = owner
        else:
            for node in idle:
                node.shutdown()  # it waits for another test before it runs the last one it has

    def _idle(self, nodes: Sequence[WorkerController]) -> list[WorkerController]:
        return [node for node in nodes if len(self.node2pending[node]) < MIN_PENDING]

    def _send_tests(self, node: WorkerController, num: int) -> None:
        """Send so many of the first tests, and the rest of the last one's module."""
        while 0 < num < len(self.pending) and not self._begins_module(self.pending, num):
            num += 1
        super()._send_tests(node, num)

    def _later_modules(self, tests: Sequence[int]) -> Sequence[int]:
        """Those modules that make up about half of the tests; not the module that goes on."""
        begins = [n for n in range(MIN_PENDING, len(tests)) if self._begins_module(tests, n)]
        return tests[min(begins, key=lambda n: abs(2 * n - len(tests))) :] if begins else []

    def _begins_module(self, tests: Sequence[int], position: int) -> bool:
        return self._module(tests[position]) != self._module(tests[position - 1])

    def _module(self, test: int) -> str:
        return self.collection[test].partition("::")[0]


def _half(tests: Sequence[int]) -> Sequence[int]:
    """The last tests, up to half, but not the two that a pytest needs to go on."""
    num_stolen = min(len(tests) // 2, max(0, len(tests) - MIN_PENDING))
    return tests[len(tests) - num_stolen :]
