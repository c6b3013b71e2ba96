"""SIGTERM as a request: the step under way is finished, then the run is saved and ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

EXIT_STATUS = 128 + signal.SIGTERM
"""What a shell reports of a process that SIGTERM ended."""


@dataclass
class Interruption:
    """Whether the run has been asked to end."""

    requested: bool = False


@contextmanager
def catch_sigterm() -> Iterator[Interruption]:
    """SIGTERM sets `requested`; a second one ends the process as usual.

    Outside the main thread, where Python has no signals, nothing is caught.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return

    def ask(number: int, frame: FrameType | None) -> None:
        interruption.requested = True
        signal.signal(signal.SIGTERM, before)

    before = signal.signal(signal.SIGTERM, ask)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGTERM, before)
