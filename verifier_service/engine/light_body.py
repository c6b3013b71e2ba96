"""Light bodies: a few short values around long texts of completions, as trainers send them.

Reading JSON takes time and memory for each value, and little for a long text. So the texts of
completions are cut out of a light body, by looking for quotes alone. The rest is its skeleton. It
must be as short as a small body and is read like one. Then each text is read and put back:

    {"groups": [{"completions": ["So 2x = 4 ..."]}]}    the body
    {"groups": [{"completions": ["hW3x... 0"]}]}        its skeleton; the mark cannot be guessed
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest

import msgspec

from verifier_service.engine.request_body import read_request
from verifier_service.engine.request_limits import RequestLimits
from verifier_service.errors import RequestError
from verifier_service.profiles import Verifiers
from verifier_service.schemas import CompletionObject, ScoreRequest
from verifier_service.verifiers.regex import QuickPatterns

MAX_SKELETON_BYTES = 2**15
"""Largest skeleton: its values are those that a small body may have."""
MIN_TEXT_BYTES = 64
"""Shortest text that is cut out, in JSON."""
MAX_TEXTS = 1024
MAX_QUOTES = 2**13
"""Most quotes of a light body, those within texts included: finding each takes a microsecond."""
MAX_BACKSLASHES = 64
"""Most backslashes in a row before a quote."""
TOKEN_BYTES = 12
"""Size of the part of a mark that cannot be guessed."""


class _NotLight(Exception):
    """The body is not light, or malformed: it is for a process of its own."""


class _Message(msgspec.Struct):
    content: str


class _Object(msgspec.Struct):
    text: str


class _Group(msgspec.Struct):
    completions: list[str | list[_Message] | _Object]


class _Request(msgspec.Struct):
    """The part of a request in which texts may be cut out."""

    groups: list[_Group]

    def texts(self) -> Iterable[str]:
        """Every text of a completion."""
        for completion in chain.from_iterable(group.completions for group in self.groups):
            if isinstance(completion, str):
                yield completion
            elif isinstance(completion, list):
                yield from (message.content for message in completion)
            else:
                yield completion.text


_request: msgspec.json.Decoder[_Request] = msgspec.json.Decoder(_Request)
_text: msgspec.json.Decoder[str] = msgspec.json.Decoder(str)


@dataclass(frozen=True)
class _Cut:
    """A body in parts: `kept[0] texts[0] kept[1] texts[1] ... kept[-1]`."""

    kept: list[bytes]
    texts: list[bytes]
    """Long texts, with their quotes."""

    def skeleton(self, marks: Iterable[str | None]) -> bytes:
        """The body with a mark for each text, or with the text where the mark is None.

        Raises:
            _NotLight: it exceeds MAX_SKELETON_BYTES.
        """
        replaced = (
            text if mark is None else b'"%b"' % mark.encode()
            for mark, text in zip(marks, self.texts, strict=True)
        )
        pairs = zip_longest(self.kept, replaced, fillvalue=b"")
        skeleton = b"".join(chain.from_iterable(pairs))
        if len(skeleton) > MAX_SKELETON_BYTES:
            raise _NotLight
        return skeleton


def read_light_request(
    body: bytes,
    limits: RequestLimits,
    profiles: Callable[[], Mapping[str, Verifiers]],
    *,
    quick_patterns: QuickPatterns,
) -> ScoreRequest | None:
    """The request of a light body, the same that `request_body.read_request` finds.

    None if the body is not light, and for every fault: whoever reads the body whole finds the same
    fault and its place.

    Args:
        body: JSON, of a size that one step of the event loop can look through.
        limits: on one request.
        profiles: returns the lists of verifiers by name.
        quick_patterns: refuses patterns that take long to compile.

    Raises:
        SlowPattern: a pattern takes too long to compile where other requests wait.
    """
    try:
        cut = _cut(body)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        marks = [f"{token} {number}" for number in range(len(cut.texts))]
        skeleton = cut.skeleton(marks)
        found = set(marks).intersection(_request.decode(skeleton).texts())
        if len(found) < len(marks):  # a long prompt, reference or key stays in the skeleton
            skeleton = cut.skeleton(mark if mark in found else None for mark in marks)
        request = read_request(skeleton, limits, profiles, quick_patterns=quick_patterns)
        texts = {
            mark: _text.decode(text)
            for mark, text in zip(marks, cut.texts, strict=True)
            if mark in found
        }
    except (_NotLight, RequestError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return _with_texts(request, texts)


def _cut(body: bytes) -> _Cut:
    """The body without its long texts. Raises _NotLight.

    In JSON, a quote begins a text and the next one that is not escaped ends it. A body that is no
    JSON is cut somewhere; its parts are no JSON either.
    """
    kept: list[bytes] = []
    texts: list[bytes] = []
    start = num_kept = num_quotes = 0
    opening = body.find(b'"')
    while opening >= 0:
        closing = body.find(b'"', opening + 1)
        num_quotes += 2
        while closing >= 0 and _is_escaped(body, opening, closing):
            closing = body.find(b'"', closing + 1)
            num_quotes += 1
            if num_quotes > MAX_QUOTES:
                raise _NotLight
        if closing < 0 or num_quotes > MAX_QUOTES:
            raise _NotLight
        if closing - opening >= MIN_TEXT_BYTES:
            kept.append(body[start:opening])
            texts.append(body[opening : closing + 1])
            num_kept += opening - start
            start = closing + 1
            if len(texts) > MAX_TEXTS or num_kept > MAX_SKELETON_BYTES:
                raise _NotLight
        opening = body.find(b'"', closing + 1)
    kept.append(body[start:])
    return _Cut(kept, texts)


def _is_escaped(body: bytes, opening: int, quote: int) -> bool:
    """Whether a quote in a text has an odd number of backslashes before it. Raises _NotLight."""
    if body[quote - 1] != ord("\\"):
        return False
    before = body[max(opening + 1, quote - MAX_BACKSLASHES) : quote]
    num_backslashes = len(before) - len(before.rstrip(b"\\"))
    if num_backslashes == MAX_BACKSLASHES:
        raise _NotLight
    return num_backslashes % 2 == 1


def _with_texts(request: ScoreRequest, texts: Mapping[str, str]) -> ScoreRequest:
    """The request, of which nobody else knows yet, with each text in the place of its mark.

    The models are written to: to copy one takes longer than to read its text.
    """
    for group in request.groups:
        for number, given in enumerate(group.completions):
            if isinstance(given, str):
                group.completions[number] = texts.get(given, given)
            elif isinstance(given, CompletionObject):
                vars(given)["text"] = texts.get(given.text, given.text)
            else:
                for message in given:
                    content = message.content
                    vars(message)["content"] = texts.get(content or "", content)
    return request
