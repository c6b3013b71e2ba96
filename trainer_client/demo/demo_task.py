"""The demonstrations that there are: their data, models, settings and words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from trainer_client.demo import sums_task, tools_task


class WriteData(Protocol):
    """Writes the data sets of a demonstration into a new folder."""

    def __call__(self, folder: Path, *, num_held_out: int, seed: int) -> None:
        """Write `train.jsonl`, `held_out.jsonl` and `demonstrations.jsonl`."""


@dataclass(frozen=True)
class DemoTask:
    """One demonstration."""

    write_data: WriteData
    make_tokenizer: Callable[[], PreTrainedTokenizerFast]
    make_model: Callable[[PreTrainedTokenizerFast], LlamaForCausalLM]
    sees: str
    """The problems of the supervised phase, in the plural."""
    mistake: str
    """A sentence on the demonstrations that are imitated."""
    minutes: str
    """The time that it takes."""
    sft_steps: int
    rollout: str
    """Lines of the section `rollout` besides those that all demonstrations share."""
    verifiers: str
    """Lines of `reward.verifiers`."""
    learning_rate: float
    steps: int
    num_samples: int
    """Completions of each held-out problem."""
    question: str
    """A problem to ask the trained model."""
    answer: str
    has_tools: bool = False
    """Whether the trained model calls the service to answer."""


SUMS = DemoTask(
    write_data=sums_task.write_data,
    make_tokenizer=sums_task.make_tokenizer,
    make_model=sums_task.make_model,
    sees="sums",
    mistake="half of its demonstrations stop one term early, so it is sometimes right",
    minutes="two to ten minutes",
    sft_steps=500,
    rollout="  max_completion_tokens: 48",
    verifiers="""\
    - {type: accuracy, weight: 1.0}
    - {type: format, weight: 0.1}
    - {type: tag_count, weight: 0.05}""",
    learning_rate=1e-4,
    steps=80,
    num_samples=10,
    question="7+8+9=?",
    answer="24",
)
TOOLS = DemoTask(
    write_data=tools_task.write_data,
    make_tokenizer=tools_task.make_tokenizer,
    make_model=tools_task.make_model,
    sees="products",
    mistake="one in four of its demonstrations calls Python, the others give an estimate",
    minutes="five to fifteen minutes",
    sft_steps=500,
    rollout="""\
  max_completion_tokens: 64
  stop: ["</tool_call>"]
  environment: {path: python_tool, max_turns: 3, judged: chat}""",
    verifiers="""\
    - {type: accuracy, weight: 1.0}
    - {type: tool_use, weight: 0.1, cost: 1.0}""",
    learning_rate=3e-4,
    steps=30,
    num_samples=4,
    question="38*47=?",
    answer="1786",
    has_tools=True,
)
LYING_TOOLS = replace(
    TOOLS,
    rollout=TOOLS.rollout.replace("python_tool", "trainer_client.demo.lying_tool:LyingTool"),
    has_tools=False,
)
