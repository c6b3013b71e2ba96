"""A completion as verifiers see it."""

from __future__ import annotations

import msgspec


class Completion(msgspec.Struct, frozen=True, gc=False):
    """A completion as verifiers see it; the counts are None where the request does not tell."""

    text: str
    num_tokens: int | None = None
    truncated: bool | None = None
