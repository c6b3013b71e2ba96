"""Several pytests share the tests by whole modules, and run each test once."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from types import SimpleNamespace
from typing import Any

import pytest

from tests.whole_modules import WholeModules

CONFIG: Any = SimpleNamespace(getvalue={"tx": ["3*popen"]}.get)


class Pytest:
    """A pytest as the scheduler sees it: it has a queue, and runs a test when it knows the next."""

    shutting_down = False
    gateway = SimpleNamespace(id="one of three")

    def __init__(self) -> None:
        self.queue: list[int] = []
        self.orders: list[list[int]] = []

    def send_runtest_some(self, tests: list[int]) -> None:
        self.queue += tests

    def send_steal(self, tests: Sequence[int]) -> None:
        self.orders.append(list(tests))

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def can_run(self) -> bool:
        return len(self.queue) > (0 if self.shutting_down else 1)

    def given_up(self) -> list[int]:
        """The tests of the oldest order, which are given up; none if one of them has begun."""
        tests = self.orders.pop(0)
        if not set(tests) <= set(self.queue[2:]):
            return []
        self.queue = [test for test in self.queue if test not in tests]
        return tests


def run(collection: list[str], seconds: dict[str, float]) -> list[list[str]]:
    """The tests that each of three pytests ran, in order; a module's tests take so long each."""
    pytests = [Pytest() for _ in range(3)]
    scheduler = WholeModules(CONFIG)
    nodes: Any = pytests
    for node in nodes:
        scheduler.add_node(node)
        scheduler.add_node_collection(node, collection)
    scheduler.schedule()
    ran: list[list[str]] = [[] for _ in pytests]
    clocks = [0.0 for _ in pytests]
    while scheduler.has_pending:
        for node in nodes:
            if node.orders:
                scheduler.remove_pending_tests_from_node(node, node.given_up())
        able = [number for number, node in enumerate(pytests) if node.can_run]
        number = min(able, key=lambda number: clocks[number])
        test = pytests[number].queue.pop(0)
        ran[number].append(collection[test])
        clocks[number] = max(clocks[number], min(clocks)) + seconds[collection[test][:3]]
        scheduler.mark_test_complete(nodes[number], test)
    assert scheduler.tests_finished
    return ran


def share(seed: int) -> tuple[list[str], list[list[str]], dict[str, float]]:
    chance = random.Random(seed)
    sizes = {f"m{number:02}": chance.choice([1, 2, 3, 10, 50]) for number in range(40)}
    seconds = {module: chance.choice([0.01, 1, 20]) for module in sizes}
    collection = [f"{module}::test_{n}" for module, size in sizes.items() for n in range(size)]
    return collection, run(collection, seconds), seconds


@pytest.mark.parametrize("seed", range(20))
def test_each_test_is_run_once_and_few_modules_are_split(seed: int) -> None:
    """Those at the end alone, where a pytest would have nothing to do otherwise."""
    collection, ran, _ = share(seed)
    assert sorted(chain.from_iterable(ran)) == sorted(collection)
    places: dict[str, set[int]] = defaultdict(set)
    for number, tests in enumerate(ran):
        for test in tests:
            places[test[:3]].add(number)
    split = [module for module, numbers in places.items() if len(numbers) > 1]
    assert len(split) <= 2


@pytest.mark.parametrize("seed", range(20))
def test_no_pytest_is_idle_for_long(seed: int) -> None:
    """The last to end has done no more than a fair share and a few tests, however slow they are."""
    _, ran, seconds = share(seed)
    work = [sum(seconds[test[:3]] for test in tests) for tests in ran]
    assert max(work) <= sum(work) / 3 + 3 * max(seconds.values())


def test_a_module_is_split_when_there_is_no_other() -> None:
    collection = [f"m00::test_{n}" for n in range(30)]
    ran = run(collection, {"m00": 1.0})
    assert sorted(chain.from_iterable(ran)) == sorted(collection)
    assert all(ran)


def test_xdist_still_asks_for_a_scheduler() -> None:
    """All tests would pass without the hook, and modules would be split."""
    from xdist import newhooks  # noqa: PLC0415

    assert hasattr(newhooks, "pytest_xdist_make_scheduler")
