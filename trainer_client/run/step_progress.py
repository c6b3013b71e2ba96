"""The work within a step: sampling, scoring, update; shown on the run's bar, or in lines.

A terminal shows a bar. Elsewhere, as in a log file, a line appears when the work has gone on for
`LINE_SECONDS` without one, so that short steps say nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import Progress, TaskID

from trainer_client.run.console import CONSOLE

LINE_SECONDS = 30.0
"""Seconds between lines where no terminal shows a bar."""
SHORT_SECONDS = 5.0
"""A phase that has lasted less long has no line of its own."""
ESTIMATED_TOKENS = 5
"""Tokens from which the time that a batch will take is estimated."""


class StepProgress:
    """Counts of the work under way, such as `step 3: sampling 24/64 completions`.

    Only the thread that shows a bar is listened to: with `train.max_staleness_steps` another one
    samples for later steps meanwhile.
    """

    def __init__(
        self, console: Console = CONSOLE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console
        self._clock = clock
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._thread: int | None = None
        self._work = ""
        self._unit = ""
        self._phase = ""
        self._done = self._total = 0
        self._began = self._said = 0.0
        self._tokens_began = 0.0

    def show_on(self, bar: Progress | None) -> None:
        """Show the work on a run's bar from now on; None: show nothing."""
        self._bar, self._task = bar, None
        self._thread = None if bar is None else threading.get_ident()
        self._said = self._clock()

    def name(self, work: str) -> None:
        """Name the work whose phases follow, such as `step 3`."""
        if self._is_heard:
            self._work = work

    def begin(self, phase: str, total: int, unit: str) -> None:
        """Begin a phase, such as sampling 64 completions."""
        if not self._is_heard:
            return
        self.end()  # the time that a bar shows is its phase's
        self._phase, self._unit, self._done, self._total = phase, unit, 0, total
        self._began = self._clock()
        self._show("")

    def advance(self, count: int = 1) -> None:
        """Count units of the phase as done."""
        if self._is_heard:
            self._done += count
            self._show("")

    def token(self, number: int, limit: int) -> None:
        """Tell that each completion of the batch has so many tokens, of at most `limit`."""
        if not self._is_heard:
            return
        if number == 1:
            self._tokens_began = self._clock()
        passed = self._clock() - self._tokens_began
        left = ""
        if number >= ESTIMATED_TOKENS:
            seconds = passed / (number - 1) * (limit - number)
            left = f", at most {seconds:.0f} s left of the batch"
        self._show(f", token {number}/{limit}{left}")

    def end(self) -> None:
        """End the phase: nothing is shown until another begins."""
        if self._is_heard and self._bar is not None and self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None

    @property
    def _is_heard(self) -> bool:
        return self._thread == threading.get_ident()

    def _show(self, detail: str) -> None:
        assert self._bar is not None
        title = f"{self._work}: {self._phase}"
        if self._console.is_terminal:
            if self._task is None:
                self._task = self._bar.add_task(title)
            described = f"{title} ({self._unit}{detail})"
            self._bar.update(
                self._task, description=described, completed=self._done, total=self._total
            )
            return
        now = self._clock()
        seconds = now - self._began
        if now - self._said >= LINE_SECONDS and seconds >= SHORT_SECONDS:
            self._said = now
            self._console.print(
                f"{title} {self._done}/{self._total} {self._unit}, {seconds:.0f} s{detail}",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )


STEP = StepProgress()
"""The work of the run in this process; there is one bar in a terminal."""
