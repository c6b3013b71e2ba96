"""The task of a reference as text for a model: what the response responds to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifier_service.model_judge.open_answer import MAX_GIVEN_CHARACTERS
from verifier_service.reference import bad, kind

PROBLEM_KEYS = ("problem", "prompt", "context")
"""Keys of a reference under which the task stands: ours, HealthBench's and NeMo Gym's."""


def task_text(reference: Mapping[str, Any]) -> str | None:
    """The task of a reference, a text or messages; None without one. Raises Unverifiable."""
    for key in PROBLEM_KEYS:
        given = reference.get(key)
        if given is not None:
            text = given if isinstance(given, str) else "\n".join(_turns(key, given))
            if len(text) > MAX_GIVEN_CHARACTERS:
                found = f"found {len(text)} characters"
                raise bad(key, f"{found}, expected at most {MAX_GIVEN_CHARACTERS} for a model")
            return text or None
    return None


def _turns(key: str, messages: Any) -> list[str]:
    """Each message of a chat with its role. Raises Unverifiable."""
    if not isinstance(messages, list):
        raise bad(key, f"found {kind(messages)}, expected a text or a list of messages")
    turns = []
    for index, message in enumerate(messages):
        content = message.get("content") if isinstance(message, Mapping) else None
        if not isinstance(content, str):
            raise bad(f"{key}.{index}", "expected a message with `role` and `content`, a text")
        turns.append(f"{message.get('role', 'user')}: {content}")
    return turns
