"""The one session of `.ci/run` leaves out only tests that another part of it runs."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.house.source import ROOT

PYTEST = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
MARKERS = {text.partition(":")[0] for text in PYTEST["markers"]}
CI = (ROOT / ".ci" / "run").read_text()


def left_out(text: str) -> set[str]:
    found = re.search(r"not \(([a-z_ ]+)\)", text)
    assert found
    return set(found[1].split(" or "))


def test_make_test_leaves_out_the_slow_part_of_a_test_and_ci_the_quick_one() -> None:
    assert left_out(" ".join(PYTEST["addopts"])) == MARKERS - {"quick"}
    assert left_out(CI) == MARKERS - {"slow"}


@pytest.mark.parametrize("marker", sorted(MARKERS - {"slow", "quick", "gpu"}))
def test_each_other_suite_is_a_part_of_ci(marker: str) -> None:
    assert re.search(rf"make test-{marker}\b|\.venv-{marker}\b", CI)


def test_what_is_quick_is_part_of_what_is_slow() -> None:
    sources = {path: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    quick = [path for path, source in sources.items() if "mark.quick" in source]
    assert [path for path in quick if "mark.slow" not in sources[path]] == []
