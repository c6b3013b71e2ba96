"""A tiny model and its task, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from trainer_client.demo import sums_task
from trainer_client.demo.tiny_model import tiny_llama

NUM_TRAINING_PROBLEMS = 64
"""Problems of the task: each run writes all prompts twice before its first step."""


@pytest.fixture(scope="session")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `model` (random weights), and `data` as the demonstration has it."""
    folder = tmp_path_factory.mktemp("task")
    torch.manual_seed(0)
    tokenizer = sums_task.make_tokenizer()
    tiny_llama(tokenizer, num_layers=2).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    sums_task.write_data(folder / "data", num_held_out=20, seed=0)
    for name in ("train", "demonstrations"):
        path = folder / "data" / f"{name}.jsonl"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:NUM_TRAINING_PROBLEMS]))
    return folder
