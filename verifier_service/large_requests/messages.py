"""Messages between the API process and the process of a large request.

They are frames of msgpack: most of their content is bytes that the API process passes on unread.
Verdicts are JSON in bytes, because msgpack has no whole numbers over 64 bits.
"""

from __future__ import annotations

from typing import Any, Self

import msgspec

from verifier_service.engine.request_limits import RequestLimits
from verifier_service.errors import (
    BodyTooLarge,
    BrokenCompression,
    InvalidRequest,
    QueueFull,
    RequestError,
    ResponseTooLarge,
    TooManyCompletions,
    TryLater,
    UnknownProfile,
    VerdictFailed,
    VerifierNotEnabled,
)
from verifier_service.verdict import Verdict
from verifier_service.verdict_store.records import StoredTexts
from verifier_service.workers.tasks import EncodedTask, TaskResult

_REFUSALS: dict[str, type[RequestError]] = {
    error.kind: error
    for error in (
        *(BrokenCompression, BodyTooLarge, TooManyCompletions, ResponseTooLarge),
        *(InvalidRequest, UnknownProfile, VerifierNotEnabled, QueueFull, VerdictFailed),
    )
}
"""The errors that reading a request and encoding its response may raise, by kind."""


class CallRefused(RequestError):
    """A call was refused by its route, with an error that only HTTP knows."""

    def __init__(self, kind: str, message: str, status: int) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status


class LargeRequest(msgspec.Struct, frozen=True, tag=True):
    """Message to the process: how to read the body in its descriptor, and how to respond."""

    num_bytes: int
    """Size of the body as it arrived, before decompression."""
    content_encoding: str
    stream: bool
    """Whether the response has a line for each group."""
    started: float
    """Arrival of the request, by `time.monotonic`, which all processes of a machine share."""
    limits: RequestLimits
    profiles: bytes
    """JSON: lists of verifiers by name."""
    num_workers: dict[str, int]
    """Numbers of workers by kind."""
    max_questions: int | None = None
    """Most questions to a model; None: any number."""
    request_id: str | None = None
    stored_texts: StoredTexts | None = None
    """Form in which the store of verdicts keeps texts; None: there is no store."""


class LargeCall(msgspec.Struct, frozen=True, tag=True):
    """Message to the process: a call of another protocol, whose body is in its descriptor."""

    num_bytes: int
    """Size of the body."""
    path: str
    query_string: bytes
    content_type: str
    accept: str
    """Forms of a response that the client takes."""
    started: float
    """Arrival of the body, by `time.monotonic`, which all processes of a machine share."""
    limits: RequestLimits
    profiles: bytes
    """JSON: lists of verifiers by name."""
    num_workers: dict[str, int]
    """Numbers of workers by kind."""
    max_questions: int | None = None
    """Most questions to a model; None: any number."""
    request_id: str | None = None
    stored_texts: StoredTexts | None = None
    """Form in which the store of verdicts keeps texts; None: there is no store."""

    @property
    def content_encoding(self) -> str:
        """The encoding of the body, which is not compressed."""
        return "identity"


class Reserved(msgspec.Struct, frozen=True, tag=True):
    """Message to the process: the reply to `Reserve`."""

    number: int
    """The number of the message that this replies to."""
    refusal: str | None
    """Why the queue has no room; None if it has."""


class Accepted(msgspec.Struct, frozen=True, tag=True):
    """Message to the process: the request is admitted."""


class CachedVerdicts(msgspec.Struct, frozen=True, tag=True):
    """Message to the process: the reply to `LookUp`."""

    number: int
    """The number of the message that this replies to."""
    verdicts: bytes
    """JSON: a verdict, or null, for each key."""


class TaskReply(msgspec.Struct, frozen=True, tag=True):
    """Message to the process: the reply to `JudgeTask` or `Ask`."""

    number: int
    """The number of the message that this replies to."""
    verdicts: bytes
    """JSON: the verdicts so far; fewer than completions if the task was given up."""
    no_workers: bool = False
    """Whether no worker could take the task."""


class Parsed(msgspec.Struct, frozen=True, tag=True):
    """Message from the process: the size of the request, for which it waits for `Accepted`."""

    num_completions: int
    num_bytes: int
    """Size of the body after decompression."""


class Reserve(msgspec.Struct, frozen=True, tag=True):
    """Message from the process of a call: asks for room for completions."""

    number: int
    num_completions: int


class LookUp(msgspec.Struct, frozen=True, tag=True):
    """Message from the process: asks for cached verdicts."""

    number: int
    keys: list[bytes]


class Keep(msgspec.Struct, frozen=True, tag=True):
    """Message from the process: verdicts for the cache."""

    keys: list[bytes]
    verdicts: bytes
    """JSON: a verdict for each key."""


class ReferencePart(msgspec.Struct, frozen=True, tag=True):
    """Message from the process: the next bytes of a large reference that its tasks name."""

    name: str
    data: bytes


class JudgeTask(msgspec.Struct, frozen=True, tag=True):
    """Message from the process: a task to judge. Its shared reference was sent before."""

    number: int
    task: EncodedTask
    keys: list[bytes]
    """Cache keys of the verdicts; none if they may not be cached."""


class Ask(msgspec.Struct, frozen=True, tag=True):
    """Message from the process: a question to the model; a `TaskReply` has its one verdict."""

    number: int
    question: str


class Record(msgspec.Struct, frozen=True, tag=True):
    """Message from the process: a record for the store of verdicts."""

    record: bytes
    num_verdicts: int


class GiveUp(msgspec.Struct, frozen=True, tag=True):
    """Message from the process: ends a task or a question; the reply has the verdicts so far."""

    number: int


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """Last message from the process: the request is refused."""

    kind: str
    message: str
    details: dict[str, Any] | list[dict[str, Any]] | None
    status: int | None = None
    """Status in HTTP of an error that only a protocol knows; None for the errors of the core."""

    @classmethod
    def of(cls, error: RequestError, *, status: int | None = None) -> Self:
        """The message that carries an error."""
        message = error.why if isinstance(error, TryLater) else error.message
        return cls(error.kind, message, error.details, status)

    def error(self) -> RequestError:
        """The error that the message carries."""
        if self.status is not None:
            return CallRefused(self.kind, self.message, self.status)
        return _REFUSALS[self.kind](self.message, details=self.details)


class GroupLine(msgspec.Struct, frozen=True, tag=True):
    """Message from the process: a group is complete."""

    index: int
    line: bytes


class ResponsePiece(msgspec.Struct, frozen=True, tag=True):
    """Message from the process: the next bytes of a response that is not streamed."""

    data: bytes


class Done(msgspec.Struct, frozen=True, tag=True):
    """Last message from the process: the response is complete."""

    last_line: bytes
    """The last line of a streamed response."""
    counts: list[tuple[str, str, str, int]]
    """Numbers of verdicts by verifier type, outcome and reason."""
    num_completions: int
    status: int = 200
    """Status of the response in HTTP."""


ToProcess = LargeRequest | LargeCall | Accepted | Reserved | CachedVerdicts | TaskReply
FromProcess = (
    Parsed
    | Reserve
    | LookUp
    | Keep
    | ReferencePart
    | JudgeTask
    | Ask
    | Record
    | GiveUp
    | Refusal
    | GroupLine
    | ResponsePiece
    | Done
)

to_process: msgspec.msgpack.Decoder[ToProcess] = msgspec.msgpack.Decoder(ToProcess)
from_process: msgspec.msgpack.Decoder[FromProcess] = msgspec.msgpack.Decoder(FromProcess)
cached_verdicts: msgspec.json.Decoder[list[Verdict | None]] = msgspec.json.Decoder(
    list[Verdict | None]
)
task_verdicts: msgspec.json.Decoder[list[TaskResult]] = msgspec.json.Decoder(list[TaskResult])
kept_verdicts: msgspec.json.Decoder[list[Verdict]] = msgspec.json.Decoder(list[Verdict])
