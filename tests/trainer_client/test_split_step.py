"""A step's gradient does not depend on how many processes share it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.trainer_client.runs import run_python
from tests.trainer_client.split_step import KINDS


def gradients(task: Path, output: Path, processes: int) -> dict[str, torch.Tensor]:
    script = Path(__file__).with_name("split_step.py")
    run_python(str(script), str(task / "model"), str(output), processes=processes)
    loaded: dict[str, torch.Tensor] = torch.load(output, weights_only=True)
    return loaded


@pytest.mark.slow
def test_two_processes_have_the_gradient_of_one(task: Path, tmp_path: Path) -> None:
    one = gradients(task, tmp_path / "one.pt", 1)
    two = gradients(task, tmp_path / "two.pt", 2)
    assert one.keys() == two.keys() == set(KINDS)
    for kind in KINDS:
        assert one[kind].norm() > 0.01
        torch.testing.assert_close(two[kind], one[kind], rtol=0, atol=1e-6)
