"""Whether time grows with the length of a text and no faster."""

from __future__ import annotations

import time
from collections.abc import Callable


def assert_linear(
    read: Callable[[str], object],
    piece: str,
    *,
    before: str = "",
    after: str = "",
    num_characters: int = 50_000,
) -> None:
    """Let a piece be read as often as fills the characters, and a quarter of them.

    Quadratic time would be 16 times as long for 4 times the text: 2.5 seconds for 50,000
    characters, at a nanosecond a step. CPU time is that of the calling thread, since services of
    other tests may have threads in this process; a collection of garbage that falls into one of
    three tries does not count. Half a second is fast enough, whatever a quarter takes.
    """

    def cpu_seconds(num_filled: int) -> float:
        text = before + piece * (num_filled // len(piece)) + after
        start = time.thread_time()
        read(text)
        return time.thread_time() - start

    def is_fast() -> bool:
        beyond = cpu_seconds(num_characters) - 0.5
        return beyond < 0 or beyond < 8 * cpu_seconds(num_characters // 4)

    assert any(is_fast() for _ in range(3))
