"""Rows of the table "Measured" of the README: each script prints its own.

`scripts/bench` (`make bench`) gathers them; they are copied into the README by hand.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path


def readme_row(measured: str, peer: str, ours: str) -> None:
    """Print one row.

    Args:
        measured: the quantity, in words.
        peer: its value for the named peer.
        ours: its value here, with the ratio.
    """
    print(f"| {measured} (`{Path(sys.argv[0]).name}`) | {peer} | {ours} |", flush=True)


def spread(values: Sequence[float], digits: int = 0) -> str:
    """The median with the lowest and the highest in brackets: `549 (530 to 552)`."""
    median, low, high = statistics.median(values), min(values), max(values)
    return f"{median:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
