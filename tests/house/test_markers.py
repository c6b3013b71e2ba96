"""Which tests `make test` leaves out, and that the session of `.ci/run` leaves out no more."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping, Set

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


SEPARATE = ("browser", "deploy", "docker", "fleet", "interop")
"""Folders of suites, or of tests, that say themselves where they run."""
SLOW_MODULE = re.compile(r"^pytestmark = .*mark\.(slow|gpu|vllm)", re.MULTILINE)


def test_what_starts_a_service_of_its_own_is_slow() -> None:
    """Other tests share the one of `service_url`: a start takes three seconds of CPU time."""
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        source = path.read_text()
        if path.parent.name in SEPARATE or SLOW_MODULE.search(source):
            continue
        functions = {
            one.name: one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef)
        }
        starting = users("running_service", functions)
        found += [
            f"{path.name}::{name}"
            for name in starting
            if name.startswith("test_") and not is_slow(functions[name])
        ]
    assert found == []


def users(name: str, functions: Mapping[str, ast.FunctionDef]) -> Set[str]:
    """Functions that name another, or one that does: a fixture is the name of an argument."""
    found = {name}
    while more := {one for one in functions.keys() - found if found & names(functions[one])}:
        found |= more
    return found & functions.keys()


def names(function: ast.FunctionDef) -> Set[str]:
    arguments = {argument.arg for argument in function.args.args + function.args.kwonlyargs}
    return arguments | {one.id for one in ast.walk(function) if isinstance(one, ast.Name)}


def is_slow(function: ast.FunctionDef) -> bool:
    return any(
        ast.unparse(decorator) == "pytest.mark.slow" for decorator in function.decorator_list
    )
