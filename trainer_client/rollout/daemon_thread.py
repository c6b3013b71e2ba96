"""Work in a thread that keeps no process alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def start_daemon(work: Callable[[], T]) -> Future[T]:
    """Run what may block for ever; whoever waits can give up, and the process can end.

    The threads of a `ThreadPoolExecutor` are waited for when the interpreter ends.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # from now on nobody can cancel what the thread sets

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, daemon=True).start()
    return future
