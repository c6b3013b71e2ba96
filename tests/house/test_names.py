"""One word, one thing."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.house.source import PACKAGES, modules


@pytest.mark.parametrize("package", PACKAGES)
def test_no_two_public_types_of_a_package_share_a_name(package: str) -> None:
    places = defaultdict(list)
    for module in modules(package):
        for name in module.public_types:
            places[name].append(module.place)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_file_of_a_package_has_the_name_of_a_test(package: str) -> None:
    assert [one.place for one in modules(package) if one.path.name.startswith("test_")] == []
