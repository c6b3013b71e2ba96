"""SIGTERM as a request: the step under way is finished, then the run is saved and ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass
class Interruption:
    """A request to end the run."""

    requested: bool = False


@contextmanager
def catch_sigterm() -> Iterator[Interruption]:
    """Inside, SIGTERM sets `requested`; a second SIGTERM ends the process as usual.

    Outside the main thread nothing is caught, because Python handles signals only there.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return

    def request(number: int, frame: FrameType | None) -> None:
        interruption.requested = True
        signal.signal(signal.SIGTERM, before)

    before = signal.signal(signal.SIGTERM, request)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGTERM, before)
