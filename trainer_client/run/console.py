"""The terminal: one for all runs of a process, quiet where that does not lead; what it shows."""

from __future__ import annotations

from rich.console import Console

CONSOLE = Console(markup=False, emoji=False)
"""Shows texts as they are: `[wandb]` in a command or `:100:` in a completion is no markup."""
CONSOLE_KEYS = {
    "reward/total": "reward",
    "reward/accuracy": "accuracy",
    "policy/kl_divergence": "KL",
    "policy/teacher_kl": "KL to teacher",
    "policy/entropy": "entropy",
    "completion/length": "length",
    "staleness/mean": "staleness",
    "episode/turns": "turns",
    "episode/lost_groups": "lost groups",
    "time/step": "seconds",
    "evaluation/pass@1": "held-out pass@1",
}
"""Metrics of training that the console shows, and the words it shows them with."""
SFT_CONSOLE_KEYS = {"sft/loss": "loss", "sft/perplexity": "perplexity"}
"""Those of supervised fine-tuning."""


def say(line: str) -> None:
    """Print a line as it is: uncoloured, and unwrapped so that a path can be copied."""
    CONSOLE.print(line, highlight=False, soft_wrap=True)
