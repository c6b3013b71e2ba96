"""Completions as verifiers see them."""

from __future__ import annotations

import msgspec


class Completion(msgspec.Struct, frozen=True, gc=False):
    """The text of a completion, with facts about it that are None where the request lacks them."""

    text: str
    num_tokens: int | None = None
    truncated: bool | None = None
    """Whether the completion ended at its limit of tokens."""
