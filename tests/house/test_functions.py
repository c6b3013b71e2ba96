"""Functions are short; ruff's C901 in `make check` bounds their branches."""

from __future__ import annotations

from statistics import median

import pytest

from tests.house.source import PACKAGES, modules

MEDIAN_LINES = 9
MAX_LINES = 60


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_are_short(package: str) -> None:
    lines = {
        f"{module.place}:{function.line} {function.name}": function.num_lines
        for module in modules(package)
        for function in module.functions
    }
    assert {place: number for place, number in lines.items() if number > MAX_LINES} == {}
    assert median(lines.values()) <= MEDIAN_LINES
