"""The window of requests of commands that judge files, data sets and stores."""

from __future__ import annotations

import asyncio

import pytest

from verifier_service.engine.in_flight import REQUESTS_IN_FLIGHT, in_flight


class Requests:
    """Requests that take some turns of the event loop, the first ones most."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.num_at_work = 0
        self.most_at_work = 0

    async def judge(self, index: int) -> int:
        self.num_at_work += 1
        self.most_at_work = max(self.most_at_work, self.num_at_work)
        try:
            for _ in range(2 * (self.number - index)):
                await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)
            self.num_at_work -= 1
        return index


def test_results_come_in_order_and_few_requests_are_at_work() -> None:
    async def run() -> list[int]:
        async with in_flight(requests.judge(index) for index in range(requests.number)) as results:
            return [one async for one in results]

    requests = Requests(20)
    assert asyncio.run(run()) == list(range(20))
    assert requests.most_at_work == REQUESTS_IN_FLIGHT


def test_none_is_at_work_when_its_results_are_no_longer_taken() -> None:
    """The pools that judge are closed then."""

    async def run() -> None:
        async with in_flight(requests.judge(index) for index in range(requests.number)) as results:
            async for _ in results:
                raise OSError("the disk is full")

    async def run_and_look() -> int:
        with pytest.raises(OSError, match="the disk is full"):
            await run()
        return requests.num_at_work

    requests = Requests(20)
    assert asyncio.run(run_and_look()) == 0
