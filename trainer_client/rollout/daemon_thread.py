"""Work in a thread that keeps no process alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def start_daemon(work: Callable[[], T]) -> Future[T]:
    """Run work that may block for ever; the process can end without waiting for it.

    A `ThreadPoolExecutor` would keep the process alive: the interpreter joins its threads at exit.
    """
    future: Future[T] = Future()
    # A future that is still pending can be cancelled, and then `set_result` below would raise.
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - the future raises it where it is read
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, daemon=True).start()
    return future
