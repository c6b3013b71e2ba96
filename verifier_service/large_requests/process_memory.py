"""The memory that the process of a large request may use."""

from __future__ import annotations

MIN_BYTES = 2**30
BYTES_PER_BODY_BYTE = 16
"""Memory for each byte of the largest body; JSON of nothing but brackets takes as much."""
MAX_BYTES_PER_BODY_BYTE = 64
"""Most memory that any JSON takes for each of its bytes, read and checked."""


def process_memory(max_body_bytes: int) -> int:
    """The memory of a process, in bytes, where bodies have at most so many bytes."""
    return max(MIN_BYTES, BYTES_PER_BODY_BYTE * max_body_bytes)


def may_exceed(memory_bytes: int, *, body_bytes: int) -> bool:
    """Whether reading a body of this size may take more than this memory."""
    return body_bytes * MAX_BYTES_PER_BODY_BYTE > memory_bytes
