"""The two interpreters of sessions: the programs to start, and how calls are put to them."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.session_process import (
    FORMS,
    HEADER,
    MAX_FETCHED_BYTES,
    MAX_REPLY_BYTES,
    MAX_SHOWN,
    SESSION,
    SESSION_ENTRIES,
)
from verifier_service.sandbox.execution import (
    Limits,
    Program,
    Tools,
    ZygoteKind,
)
from verifier_service.sandbox.file_names import MAX_FETCHED_FILES
from verifier_service.sessions.wire import Packages, RaisedError, SessionLimits

NUM_FILES = 256
"""Files that a session may have open at a time."""
UNLIMITED_SECONDS = 2.0**20
"""CPU and wall time of the process: those of each call are limited, and the life of the session."""
MAX_BASH_REPLY_BYTES = 256
_KINDS: dict[Packages, ZygoteKind] = {
    "standard": ZygoteKind.STD,
    "scientific": ZygoteKind.SCI,
    "data": ZygoteKind.DATA,
}
_DRIVER = b"""while IFS= read -r -d '' -u 5 REPLY_CODE && IFS= read -r -d '' -u 5 REPLY_TOKEN; do
eval "$REPLY_CODE" </dev/null
printf '%s %d\\0' "$REPLY_TOKEN" "$?" >&5
done
"""
"""The program of a bash session. Descriptor 5 is its channel: code and token in, token and exit
code out, each ended by a zero byte."""


class BrokenReply(Exception):
    """A session sent something that is no reply to its call."""


@dataclass(frozen=True, kw_only=True)
class SessionReply:
    """The word of a session about its own call."""

    token: str
    error: RaisedError | None = None
    display: Sequence[dict[str, str]] = ()
    files: Sequence[str | None] = ()
    """The files that the call asked for, in its order, as base64; None: there is none."""
    exit_code: int | None = None

    def contents(self, fetch: Sequence[str]) -> dict[str, bytes]:
        """The files by name. Raises BrokenReply."""
        found = zip(fetch, self.files, strict=False)
        try:
            files = {name: base64.b64decode(text) for name, text in found if text is not None}
        except ValueError as error:
            raise BrokenReply("a file is not base64") from error
        if sum(map(len, files.values())) > MAX_FETCHED_BYTES:
            raise BrokenReply(f"the files have more than {MAX_FETCHED_BYTES} bytes")
        return files


class Interpreter(ABC):
    """How a session's process is started and called."""

    language: Literal["python", "bash"]
    can_interrupt: bool
    """Whether a call can be ended without the session."""

    @property
    @abstractmethod
    def kind(self) -> ZygoteKind:
        """The zygotes that its processes are forked from."""

    @property
    def entries(self) -> dict[str, str]:
        """Entries of its zygotes."""
        return {}

    @abstractmethod
    def tools(self) -> Tools:
        """The programs that it may start. Raises ToolchainError."""

    @abstractmethod
    def program(self, files: Mapping[str, bytes]) -> Program:
        """The program of a session, with files of its working directory. Raises ToolchainError."""

    @abstractmethod
    def limits(self, limits: SessionLimits) -> Limits:
        """The limits of its process."""

    @abstractmethod
    def call(
        self, token: str, code: str, files: Mapping[str, bytes], fetch: Sequence[str]
    ) -> bytes:
        """A call as bytes of the channel."""

    @abstractmethod
    async def read_reply(self, reader: asyncio.StreamReader) -> SessionReply:
        """The next reply.

        Raises:
            BrokenReply: it is none.
            IncompleteReadError: the channel is closed.
        """


class Python(Interpreter):
    """Python, with some packages."""

    language = "python"
    can_interrupt = True

    def __init__(self, packages: Packages) -> None:
        self._packages = packages

    @property
    def kind(self) -> ZygoteKind:
        """The kind with the packages."""
        return _KINDS[self._packages]

    @property
    def entries(self) -> dict[str, str]:
        """The entry of a session."""
        return SESSION_ENTRIES

    def tools(self) -> Tools:
        """None."""
        return Tools(executable=(), readable=())

    def program(self, files: Mapping[str, bytes]) -> Program:
        """A program that serves calls."""
        return Program(payload=b"", entry=SESSION, files=files)

    def limits(self, limits: SessionLimits) -> Limits:
        """The limits of the request."""
        return _limits(limits)

    def call(
        self, token: str, code: str, files: Mapping[str, bytes], fetch: Sequence[str]
    ) -> bytes:
        """A frame of JSON."""
        encoded = {name: base64.b64encode(content).decode() for name, content in files.items()}
        fields: dict[str, Any] = {"token": token, "code": code, "files": encoded, "fetch": fetch}
        content = json.dumps(fields).encode()
        return HEADER.pack(len(content)) + content

    async def read_reply(self, reader: asyncio.StreamReader) -> SessionReply:
        """A frame of JSON, of bounded length."""
        (length,) = HEADER.unpack(await reader.readexactly(HEADER.size))
        if length > MAX_REPLY_BYTES:
            raise BrokenReply(f"a reply of {length} bytes")
        try:
            return _read_frame(await reader.readexactly(length))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise BrokenReply("a reply of another form") from error
        except RecursionError as error:
            raise BrokenReply("a reply without end") from error


class Bash(Interpreter):
    """Bash with its builtins: a confined process starts no other program."""

    language = "bash"
    can_interrupt = False

    @property
    def kind(self) -> ZygoteKind:
        """The kind of tools."""
        return ZygoteKind.NATIVE

    def tools(self) -> Tools:
        """Bash. Raises ToolchainError."""
        return LANGUAGES["bash"].toolchain().tools

    def program(self, files: Mapping[str, bytes]) -> Program:
        """Bash that reads calls. Raises ToolchainError."""
        started = LANGUAGES["bash"].interpreted(_DRIVER)
        return dataclasses.replace(started, files={**files, **started.files})

    def limits(self, limits: SessionLimits) -> Limits:
        """The limits of the request, with the room that bash needs."""
        return LANGUAGES["bash"].run_limits(_limits(limits))

    def call(
        self, token: str, code: str, files: Mapping[str, bytes], fetch: Sequence[str]
    ) -> bytes:
        """The code and the token, each ended by a zero byte."""
        return code.encode() + b"\0" + token.encode() + b"\0"

    async def read_reply(self, reader: asyncio.StreamReader) -> SessionReply:
        """The token and the exit code, ended by a zero byte."""
        try:
            line = await reader.readuntil(b"\0")
        except asyncio.LimitOverrunError as error:
            raise BrokenReply("a reply without end") from error
        token, _, code = line[:-1].decode(errors="replace").partition(" ")
        if len(line) > MAX_BASH_REPLY_BYTES or not (code.isascii() and code.isdigit()):
            raise BrokenReply("a reply of another form")
        return SessionReply(token=token, exit_code=int(code))


def interpreter_of(language: str, packages: Packages) -> Interpreter:
    """The interpreter of a language, `python` or `bash`."""
    return Bash() if language == "bash" else Python(packages)


def _limits(limits: SessionLimits) -> Limits:
    return Limits(
        cpu_seconds=UNLIMITED_SECONDS,
        wall_seconds=UNLIMITED_SECONDS,
        idle_seconds=None,
        memory_bytes=limits.memory_bytes,
        output_bytes=limits.output_bytes,
        file_bytes=limits.file_bytes,
        num_files=NUM_FILES,
    )


class _Error(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    message: str
    traceback: str


class _Frame(msgspec.Struct, forbid_unknown_fields=True):
    token: str
    error: _Error | None
    display: msgspec.Raw
    files: msgspec.Raw


_Forms = msgspec.defstruct(
    "_Forms",
    [(f"form_{n}", str | msgspec.UnsetType, msgspec.UNSET) for n in range(len(FORMS))],
    rename={f"form_{n}": form for n, form in enumerate(FORMS)},
    forbid_unknown_fields=True,
)


def _array_of(kind: Any, max_length: int) -> msgspec.json.Decoder[Any]:
    """A decoder of arrays that refuses a longer one before its elements fill the memory.

    The constraint `max_length` of msgspec is checked only after the whole list is built.
    """
    fields = [(f"element_{n}", kind | None, None) for n in range(max_length)]
    return msgspec.json.Decoder(
        msgspec.defstruct("_Array", fields, array_like=True, forbid_unknown_fields=True)
    )


def _read_frame(content: bytes) -> SessionReply:
    """The reply in a frame. Raises MsgspecError, UnicodeDecodeError, RecursionError."""
    frame = _frames.decode(content)
    error = frame.error
    shown = msgspec.structs.astuple(_shown.decode(frame.display))
    return SessionReply(
        token=frame.token,
        error=None if error is None else RaisedError(**msgspec.structs.asdict(error)),
        display=[msgspec.to_builtins(one) for one in shown if one is not None],
        files=msgspec.structs.astuple(_files.decode(frame.files)),
    )


_frames = msgspec.json.Decoder(_Frame)
_shown = _array_of(_Forms, MAX_SHOWN)
_files = _array_of(str, MAX_FETCHED_FILES)
