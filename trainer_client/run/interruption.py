"""SIGTERM and Ctrl-C as requests: the run finishes the step under way, is saved and ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

REQUESTS = (signal.SIGTERM, signal.SIGINT)
WHAT_FOLLOWS = "the run ends and is saved after the step under way; once more ends it at once"


@dataclass
class Interruption:
    """A request to end the run."""

    signal: signal.Signals | None = None
    """The signal that asked for it; None: nothing did."""


@contextmanager
def catch_interruptions() -> Iterator[Interruption]:
    """Inside, the first SIGTERM or SIGINT is a request; the second ends the process at once.

    Outside the main thread nothing is caught, because Python handles signals only there.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return

    def request(number: int, frame: FrameType | None) -> None:
        interruption.signal = signal.Signals(number)
        for one in caught:
            # Python's own handler of SIGINT would run every `finally`, which may wait for long.
            signal.signal(one, signal.SIG_DFL)
        # Not through the console: the signal may have come while it was printing.
        os.write(2, f"\n{name_of(interruption.signal)}: {WHAT_FOLLOWS}\n".encode())

    # A signal that is ignored stays so: a shell starts jobs in the background without Ctrl-C.
    caught = [one for one in REQUESTS if signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, request) for one in caught}
    try:
        yield interruption
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def name_of(number: signal.Signals) -> str:
    """The name of a request as people know it."""
    return "Ctrl-C" if number is signal.SIGINT else number.name
