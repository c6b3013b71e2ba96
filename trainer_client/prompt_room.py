"""Room for a prompt and its completion in the longest sequence that a model was made for."""

from __future__ import annotations


def no_room_warnings(
    longest: int, *, max_completion_tokens: int, limit: int | None, at_least: bool = False
) -> list[str]:
    """A warning where a prompt and a completion do not fit the model together.

    Args:
        longest: tokens of the longest prompt.
        max_completion_tokens: longest completion in tokens.
        limit: tokens that the model was made for; None: it has no such limit.
        at_least: whether the prompt has tokens of the chat template that were not counted.
    """
    if limit is None or longest + max_completion_tokens <= limit:
        return []
    counted = "at least " if at_least else ""
    fits = "less than " if at_least else ""
    return [
        f"a prompt of {counted}{longest} tokens and rollout.max_completion_tokens "
        f"{max_completion_tokens} are more than the {limit} that the model was made for: "
        "completions become noise there, and vLLM refuses them. Suggested: "
        f"rollout.max_completion_tokens {fits}{max(1, limit - longest)}"
    ]
