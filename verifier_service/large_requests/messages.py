"""What travels between the API process and the process of a large request.

Frames of msgpack, since most of what they carry are bytes that the API process passes on unread.
Verdicts are JSON in bytes, because msgpack has no whole numbers over 64 bits.
"""

from __future__ import annotations

from typing import Any

import msgspec

from verifier_service.verdict import Verdict
from verifier_service.verifier import OpenQuestion
from verifier_service.workers.tasks import EncodedTask


class Job(msgspec.Struct, frozen=True, tag=True):
    """To the process: what to do with the body in its descriptor."""

    num_bytes: int
    """Of the body as it came."""
    content_encoding: str
    stream: bool
    """Whether groups are answered one by one."""
    started: float
    """When the request came, by `time.monotonic`, which all processes of a machine share."""
    limits: RequestLimits
    profiles: bytes
    """JSON: lists of verifiers by name."""
    num_workers: dict[str, int]
    """By kind."""


class RequestLimits(msgspec.Struct, frozen=True):
    """What a request may ask for."""

    enabled: tuple[str, ...]
    max_body_bytes: int
    """After decompression."""
    max_completions: int
    max_deadline_seconds: float


class Accepted(msgspec.Struct, frozen=True, tag=True):
    """To the process: there is room for the request."""


class Known(msgspec.Struct, frozen=True, tag=True):
    """To the process: what the cache has; an answer to `LookUp`."""

    number: int
    verdicts: bytes


class JudgedTask(msgspec.Struct, frozen=True, tag=True):
    """To the process: what came of `Judge`, which may be less than it asked for."""

    number: int
    verdicts: bytes
    unavailable: bool = False
    """There are no such workers."""


class Parsed(msgspec.Struct, frozen=True, tag=True):
    """From the process: how large the request is; it waits for `Accepted`."""

    num_completions: int
    num_bytes: int
    """After decompression."""


class LookUp(msgspec.Struct, frozen=True, tag=True):
    """From the process: which of these verdicts are known?"""

    number: int
    keys: list[bytes]


class Keep(msgspec.Struct, frozen=True, tag=True):
    """From the process: verdicts for the cache."""

    keys: list[bytes]
    verdicts: bytes


class Share(msgspec.Struct, frozen=True, tag=True):
    """From the process: the next part of a large reference that its tasks name."""

    name: str
    part: bytes


class JudgeTask(msgspec.Struct, frozen=True, tag=True):
    """From the process: have a task judged. Its shared reference was sent before."""

    number: int
    task: EncodedTask
    keys: list[bytes]
    """By which the cache knows the verdicts; none if it may not."""


class GiveUp(msgspec.Struct, frozen=True, tag=True):
    """From the process: end a task; what it has so far comes back."""

    number: int


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """From the process, its last message: the request is not accepted. See `ApiError`."""

    status: int
    kind: str
    message: str
    details: dict[str, Any] | list[dict[str, Any]] | None
    headers: dict[str, str] | None = None


class GroupLine(msgspec.Struct, frozen=True, tag=True):
    """From the process: a group is complete."""

    index: int
    line: bytes


class Piece(msgspec.Struct, frozen=True, tag=True):
    """From the process: the next bytes of an answer that is not streamed."""

    data: bytes


class Done(msgspec.Struct, frozen=True, tag=True):
    """From the process, its last message."""

    last_line: bytes
    """Of an answer that is streamed."""
    counts: list[tuple[str, str, str, int]]
    """Verdicts by verifier type, outcome and reason."""
    num_completions: int


ToProcess = Job | Accepted | Known | JudgedTask
FromProcess = (
    Parsed | LookUp | Keep | Share | JudgeTask | GiveUp | Refusal | GroupLine | Piece | Done
)

to_process: msgspec.msgpack.Decoder[ToProcess] = msgspec.msgpack.Decoder(ToProcess)
from_process: msgspec.msgpack.Decoder[FromProcess] = msgspec.msgpack.Decoder(FromProcess)
found_verdicts: msgspec.json.Decoder[list[Verdict | None]] = msgspec.json.Decoder(
    list[Verdict | None]
)
judged_verdicts: msgspec.json.Decoder[list[Verdict | OpenQuestion]] = msgspec.json.Decoder(
    list[Verdict | OpenQuestion]
)
kept_verdicts: msgspec.json.Decoder[list[Verdict]] = msgspec.json.Decoder(list[Verdict])
