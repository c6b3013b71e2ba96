"""Stop a pytest that is pointed at this folder: importing one of these programs would run it."""

from __future__ import annotations

import pytest

raise pytest.UsageError(
    "tests/attacks/programs holds hostile programs, which only a sandbox may run; "
    "they are read as text by tests/attacks/corpus.py"
)
