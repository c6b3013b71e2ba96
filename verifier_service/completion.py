"""Completions as verifiers see them."""

from __future__ import annotations

import msgspec


class ChatTurn(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One message of a completion that is a chat."""

    role: str
    text: str
    """The content, and behind it the calls in tags."""


class Completion(msgspec.Struct, frozen=True, gc=False):
    """The text of a completion, with facts about it that are None where the request lacks them."""

    text: str
    num_tokens: int | None = None
    truncated: bool | None = None
    """Whether the completion ended at its limit of tokens."""
    turns: tuple[ChatTurn, ...] | None = None
    """All messages of a chat, for verifiers that read them; None: the text is all there is."""

    @property
    def num_characters(self) -> int:
        """Number of characters, those of all messages included."""
        if self.turns is None:
            return len(self.text)
        return len(self.text) + sum(len(turn.text) for turn in self.turns)
