"""Work that is done beside other work, and of which nothing outlives the call that began it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine


async def finish_all(work: list[Coroutine[None, None, None]]) -> None:
    """Do the work beside each other. If it is given up, or a part fails, all of it ends first."""
    if len(work) == 1:
        await work[0]
        return
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            if not task.cancelling():  # a second time would break off what the task does at its end
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
