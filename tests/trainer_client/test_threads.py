"""How torch's threads wait for each other is settled before torch is loaded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SAY = """
import os, sys
import trainer_client
assert "torch" not in sys.modules
print(os.environ.get("GOMP_SPINCOUNT"))
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "1000"),
        ({"GOMP_SPINCOUNT": "7"}, "7"),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, "None"),
    ],
)
def test_what_the_environment_says_goes_first(given: dict[str, str], expected: str) -> None:
    names = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    rest = {name: value for name, value in os.environ.items() if name not in names}
    said = subprocess.run(
        [sys.executable, "-c", SAY], env=rest | given, check=True, capture_output=True, text=True
    )
    assert said.stdout.strip() == expected
