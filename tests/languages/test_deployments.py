"""Languages where the sandbox has fewer layers: another user, or no namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sandbox.deployments import OWN, run_python, skip_unless_possible

FILE = Path(__file__).with_name("test_languages.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deployment", "chosen"),
    [
        ("unprivileged in Docker", "(right or forbidden) and not kotlin and not scala"),
        ("unprivileged", "forbidden and not kotlin and not scala"),
    ],
)
def test_the_languages_work_and_are_confined(deployment: str, chosen: str) -> None:
    # What confines Kotlin and Scala is Java's, and their compilers take long.
    skip_unless_possible(deployment)
    if deployment == OWN:
        pytest.skip("these tests run so already")
    options = ["-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not gpu", "-k", chosen]
    result = run_python(deployment, *options, str(FILE))
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
