"""The judging that a call of another protocol may use, in whichever process it is handled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from fastapi import Request

from verifier_service.engine.engine import Engine
from verifier_service.engine.request_limits import RequestLimits
from verifier_service.http.line_stream import LineStream
from verifier_service.profiles import Verifiers


class TooMuchHere(Exception):
    """The call is more work than others can wait for; a process of its own handles it."""


@dataclass(frozen=True)
class Judging:
    """The means of a call."""

    limits: RequestLimits
    profiles: Mapping[str, Verifiers]
    """Lists of verifiers by name."""
    engine: Engine
    room: Callable[[int], AbstractAsyncContextManager[None]]
    """Room for completions in the queue, held in the context. Entering it raises QueueFull."""
    started: float
    """Arrival of the body, by `time.monotonic`."""
    hold: Callable[[int], None]
    """Counts bytes of a response until it has been sent. Raises QueueFull."""
    max_verdicts: int | None = None
    """Most verdicts that are put together here; None in a process of the call's own."""
    lines: Callable[[Request], LineStream] | None = None
    """Makes the stream of a response in lines; None in a process of the call's own, whose response
    is sent whole."""

    def check_num_verdicts(self, num_verdicts: int) -> None:
        """Raise TooMuchHere."""
        if self.max_verdicts is not None and num_verdicts > self.max_verdicts:
            raise TooMuchHere


def judging_of(request: Request) -> Judging:
    """The judging of a call."""
    judging = request.scope["state"]["judging"]
    assert isinstance(judging, Judging)
    return judging
