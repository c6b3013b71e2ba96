"""The scripts that `make bench` runs, without running them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_of_make_bench_says_how_it_runs_without_an_argument(name: str) -> None:
    """`make bench` stops at the first that fails; what serves another script begins with `_`."""
    source = (FOLDER / f"{name}.py").read_text()
    usage = rf"^    \S*python benchmarks/{name}\.py( \[--[a-z-]+ \S+\])*$"
    assert re.search(usage, source, re.MULTILINE)
    assert '\nif __name__ == "__main__":\n' in source
