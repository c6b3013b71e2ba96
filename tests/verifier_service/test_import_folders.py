"""The service runs where its packages are found by PYTHONPATH alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from site import getsitepackages

import httpx
import pytest

from trainer_client.service_process import running_service

ROOT = Path(__file__).parents[2]
BASE_PYTHON: str = getattr(sys, "_base_executable", sys.executable)
REQUEST = {
    "verifiers": [{"type": "accuracy"}, {"type": "code"}],
    "groups": [
        {
            "reference": {"answer": "4", "tests": {"inputs": [""], "outputs": ["4"]}},
            "completions": ["\\boxed{4}\n```python\nprint(4)\n```"],
        }
    ],
}


@pytest.mark.slow
@pytest.mark.skipif(sys.executable == BASE_PYTHON, reason="not run from a virtual environment")
def test_workers_find_what_pythonpath_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interpreter has no package of its own; a worker of texts and one of programs judge."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *getsitepackages()]))
    with running_service(tmp_path / "log", "--workers", "1", python=BASE_PYTHON) as url:
        response = httpx.post(f"{url}/v1/score", json=REQUEST, timeout=120).json()
    (completion,) = response["groups"][0]["completions"]
    verdicts = completion["verdicts"]
    assert {name: one.get("score") for name, one in verdicts.items()} == {"accuracy": 1, "code": 1}
