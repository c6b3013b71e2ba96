"""The example configurations can be used as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainer_client.config import load_config

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_a_valid_configuration(path: Path) -> None:
    assert load_config(path).output_dir.parts[0] == "runs"
