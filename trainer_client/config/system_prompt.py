"""The system prompt of a data set that sets none."""

from __future__ import annotations

SYSTEM_PROMPT = (
    "Solve the problem. First reason step by step between <think> and </think>, then give only "
    "the final answer between <answer> and </answer>:\n"
    "<think>\nyour reasoning\n</think>\n<answer>\nyour final answer\n</answer>"
)
