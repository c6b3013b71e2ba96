"""Reading a body: decompressed, parsed, and checked against the limits on a request."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import zstandard
from pydantic import ValidationError

from verifier_service import strict_json
from verifier_service.engine.body_limit import BodyLimit
from verifier_service.engine.request_limits import RequestLimits
from verifier_service.errors import BrokenCompression, InvalidRequest, UnknownProfile
from verifier_service.profiles import Verifiers, profile_named
from verifier_service.schemas import REQUEST_NAMES, Group, ScoreRequest
from verifier_service.strict_json import FlawedJson
from verifier_service.validation import invalid_request
from verifier_service.verifiers.regex import QuickPatterns

CONTENT_ENCODINGS = ("identity", "gzip", "zstd")
MAX_ZSTD_WINDOW_BYTES = 8 * 2**20
"""Largest window of a zstd frame; RFC 8878 recommends 8 MiB for decompressors."""
READ_BYTES = 2**16
GZIP_READ_BYTES = 2**12


def decompressed(body: bytes, content_encoding: str, *, max_bytes: int) -> bytes:
    """The body without its compression, never more than max_bytes of it in memory.

    Raises:
        BodyTooLarge: the decompressed body exceeds max_bytes.
        BrokenCompression: the body does not have its declared encoding.
    """
    if content_encoding == "identity":
        return body
    inflate = _gzip_pieces if content_encoding == "gzip" else _zstd_pieces
    limit = BodyLimit(max_bytes)
    content = bytearray()
    try:
        for piece in inflate(body):
            limit.add(len(piece))
            content += piece
    except (zlib.error, EOFError, zstandard.ZstdError) as error:
        raise BrokenCompression(
            f"the body is not {content_encoding}, as Content-Encoding says: {error}"[:200]
        ) from error
    return bytes(content)


def _gzip_pieces(body: bytes) -> Iterator[bytes]:
    """The content of a gzip file, which may have several members.

    zlib copies the input that it leaves unread. A large input would be copied once for each piece,
    so zlib gets little at a time.
    """
    rest = memoryview(body)
    while rest:
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        while not member.eof:
            if not rest:
                raise EOFError("it ends too early")
            part = rest[:GZIP_READ_BYTES]
            yield member.decompress(part, READ_BYTES)
            # At the end of a member, `unconsumed_tail` may hold the unused data a second time.
            left = member.unused_data if member.eof else member.unconsumed_tail
            rest = rest[len(part) - len(left) :]


def _zstd_pieces(body: bytes) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW_BYTES)
    with decompressor.stream_reader(body, read_across_frames=True) as reader:
        while piece := reader.read(READ_BYTES):
            yield piece


def read_request(
    body: bytes,
    limits: RequestLimits,
    profiles: Callable[[], Mapping[str, Verifiers]],
    *,
    quick_patterns: QuickPatterns | None = None,
) -> ScoreRequest:
    """The request of a body, with the verifiers of its profile.

    It is parsed straight from its bytes, which is faster than Python's `json` and strict. Lone
    surrogates and endless nesting are refused here, so no later step meets them.

    Args:
        body: JSON.
        limits: on one request.
        profiles: returns the lists of verifiers by name; called for a request with a profile, and
            for the message on a wrong one.
        quick_patterns: refuses patterns that take long to compile, where other requests wait.

    Raises:
        InvalidRequest: the body is malformed.
        TooManyCompletions: it has more than the limit.
        UnknownProfile: no profile has the name.
        VerifierNotEnabled: one of its verifiers is not served.
        SlowPattern: a pattern takes too long to compile where other requests wait.
    """
    flaw = _flaw_in(body)  # first, so that its memory is free before the request's is taken
    try:
        request = ScoreRequest.model_validate_json(body, strict=True, context=quick_patterns)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
        raise invalid_request(found, replace(REQUEST_NAMES, profiles=profiles())) from error
    if flaw is not None:
        raise flaw
    limits.check_num_completions(request.num_completions)
    request = _with_profiles(request, profiles)
    limits.check_enabled(verifier.type for verifier in request.verifiers)
    for index in request.choosing_groups:
        chosen = request.chosen_for(request.groups[index])
        limits.check_enabled(verifier.type for verifier in chosen)
    if request.explain:
        limits.check_num_explained(request.num_verdicts)
    return request


def _with_profiles(
    request: ScoreRequest, profiles: Callable[[], Mapping[str, Verifiers]]
) -> ScoreRequest:
    """The request with the verifiers of the profiles that it and its groups name."""
    found: dict[str, Any] = {}
    if request.profile is not None:
        found["verifiers"] = profile_named(request.profile, profiles())
    if any(request.groups[index].profile is not None for index in request.choosing_groups):
        known = profiles()
        found["groups"] = [
            _with_profile(group, known, f"groups.{index}")
            for index, group in enumerate(request.groups)
        ]
    return request.model_copy(update=found) if found else request


def _with_profile(group: Group, profiles: Mapping[str, Verifiers], place: str) -> Group:
    if group.profile is None:
        return group
    try:
        verifiers = profile_named(group.profile, profiles)
    except UnknownProfile as error:
        raise UnknownProfile(f"{place}: {error}") from error
    return group.model_copy(update={"verifiers": verifiers})


def check_json(body: bytes) -> None:
    """Raise InvalidRequest if readers may take the JSON of a body for different values."""
    flaw = _flaw_in(body)
    if flaw is not None:
        raise flaw


def _flaw_in(body: bytes) -> InvalidRequest | None:
    try:
        strict_json.check(body)
    except FlawedJson as error:
        return invalid_request(
            [{"loc": error.location, "msg": error.problem, "type": "ambiguous_json"}]
        )
    return None
