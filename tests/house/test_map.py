"""The map of the tree in CONTRIBUTING.md names every folder of the packages, and no other."""

from __future__ import annotations

import re

import pytest

from tests.house.source import PACKAGES, ROOT

MAP = (ROOT / "CONTRIBUTING.md").read_text().partition("## Where things are")[2]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_names_the_folders_of_a_package(package: str) -> None:
    part = re.search(rf"^{package}/ .*\n((?:  .*\n)*)", MAP, re.M)
    assert part, f"no line begins with {package}/"
    named = re.findall(r"  (\w+)/ ", part[1])
    files = (ROOT / package).rglob("*/__init__.py")
    there = [file.parent.name for file in files if file.parent.parent.name == package]
    assert sorted(set(named) - {"languages", "toolchains"}) == sorted(there)
