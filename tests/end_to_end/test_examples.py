"""The example configurations can be used as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from trainer_client.config.run_config import load_config

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_a_valid_configuration(path: Path) -> None:
    assert load_config(path).output_dir.parts[0] == "runs"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "settings"),
    [("memory", ["model.path"]), ("train", ["dataset.path", "model.path"])],
)
def test_without_a_network_the_example_says_what_can_be_local(
    command: str, settings: list[str], tmp_path: Path
) -> None:
    (example,) = (path for path in EXAMPLES if path.name == "gsm8k.yaml")
    result = subprocess.run(
        [sys.executable, "-m", "trainer_client", command, str(example)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
    )
    assert result.returncode == 1
    for setting in settings:
        assert re.search(f"[sS]et {setting} to a local folder", result.stderr)
    assert "Traceback" not in result.stderr
