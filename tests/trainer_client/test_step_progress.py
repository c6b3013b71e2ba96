"""The work within a step is shown on a bar, or in lines where no terminal shows one."""

from __future__ import annotations

import io
import threading

from rich.console import Console
from rich.progress import Progress

from trainer_client.run.step_progress import LINE_SECONDS, SHORT_SECONDS, StepProgress


class Clock:
    """A clock that goes on when it is told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def work(step: StepProgress, clock: Clock) -> None:
    """Sample 3 completions of at most 10 tokens, 31 s before the first and the fifth."""
    step.name("step 3")
    step.begin("sampling", 3, "completions")
    for number in range(1, 6):
        clock.now += LINE_SECONDS + 1 if number in (1, 5) else 0
        step.token(number, 10)
    step.advance(3)
    step.begin("update", 2, "micro-batches")
    clock.now += LINE_SECONDS + 1
    step.advance()
    step.end()


def test_a_log_has_a_line_for_each_half_minute() -> None:
    console, clock = Console(file=io.StringIO(), width=200), Clock()
    with Progress(console=console, disable=True) as bar:
        step = StepProgress(console, clock)
        step.show_on(bar)
        work(step, clock)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines == [
        "step 3: sampling 0/3 completions, 31 s, token 1/10",
        "step 3: sampling 0/3 completions, 62 s, token 5/10, at most 39 s left of the batch",
        "step 3: update 1/2 micro-batches, 31 s",
    ]


def test_short_work_says_nothing_in_a_log() -> None:
    console = Console(file=io.StringIO())
    with Progress(console=console, disable=True) as bar:
        step = StepProgress(console, Clock())
        step.show_on(bar)
        step.begin("sampling", 3, "completions")
        step.advance(3)
        step.end()
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]


def test_a_phase_that_has_just_begun_says_nothing_in_a_log() -> None:
    console, clock = Console(file=io.StringIO()), Clock()
    with Progress(console=console, disable=True) as bar:
        step = StepProgress(console, clock)
        step.show_on(bar)
        clock.now += LINE_SECONDS + 1
        step.begin("update", 1, "micro-batches")
        clock.now += SHORT_SECONDS - 1
        step.advance()
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]


def test_a_terminal_has_a_bar_for_the_phase_under_way() -> None:
    console = Console(file=io.StringIO(), force_terminal=True)
    bar = Progress(console=console, auto_refresh=False)
    step = StepProgress(console, Clock())
    step.show_on(bar)
    step.name("step 3")
    step.begin("sampling", 4, "completions")
    step.advance(1)
    (task,) = bar.tasks
    assert (task.description, task.completed, task.total) == (
        "step 3: sampling (completions)",
        1,
        4,
    )
    step.end()
    assert bar.tasks == []


def test_a_thread_that_samples_ahead_is_not_heard() -> None:
    console = Console(file=io.StringIO(), force_terminal=True)
    bar = Progress(console=console, auto_refresh=False)
    step = StepProgress(console, Clock())
    step.show_on(bar)
    thread = threading.Thread(target=step.begin, args=("sampling", 4, "completions"))
    thread.start()
    thread.join()
    assert bar.tasks == []


def test_without_a_run_nothing_is_shown() -> None:
    console = Console(file=io.StringIO())
    work(StepProgress(console, Clock()), Clock())
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]
