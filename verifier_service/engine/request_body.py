"""From the bytes of a body to a request that may be scored."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus

import zstandard
from pydantic import ValidationError

from verifier_service.http.errors import (
    ApiError,
    invalid_request,
    not_enabled,
    too_many_completions,
    unknown_profile,
)
from verifier_service.large_requests.messages import RequestLimits
from verifier_service.profiles import Verifiers
from verifier_service.schemas import ScoreRequest
from verifier_service.verifiers.regex import QuickPatterns

CONTENT_ENCODINGS = ("identity", "gzip", "zstd")
MAX_ZSTD_WINDOW_BYTES = 8 * 2**20
"""As RFC 8878 recommends to those who decompress."""
READ_BYTES = 2**16
GZIP_READ_BYTES = 2**12


def decompressed(body: bytes, content_encoding: str, *, max_bytes: int) -> bytes:
    """The body as it was before it was compressed, never more than max_bytes of it in memory.

    Raises:
        ApiError: it is larger (413), or not what its encoding says (400).
    """
    if content_encoding == "identity":
        return body
    inflate = _gzip_pieces if content_encoding == "gzip" else _zstd_pieces
    parts = bytearray()
    try:
        for piece in inflate(body):
            parts += piece
            if len(parts) > max_bytes:
                raise body_too_large(max_bytes)
    except (zlib.error, EOFError, zstandard.ZstdError) as error:
        raise ApiError(
            HTTPStatus.BAD_REQUEST,
            "broken_compression",
            f"the body is not {content_encoding}, as Content-Encoding says: {error}"[:200],
        ) from error
    return bytes(parts)


def _gzip_pieces(body: bytes) -> Iterator[bytes]:
    """A gzip file may have several members.

    zlib copies what it leaves of its input, so it is given little at a time.
    """
    rest = memoryview(body)
    while rest:
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        while not member.eof:
            if not rest:
                raise EOFError("it ends too early")
            part = rest[:GZIP_READ_BYTES]
            yield member.decompress(part, READ_BYTES)
            # At the end of a member zlib's tail may hold the unused data once more.
            left = member.unused_data if member.eof else member.unconsumed_tail
            rest = rest[len(part) - len(left) :]


def _zstd_pieces(body: bytes) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW_BYTES)
    with decompressor.stream_reader(body, read_across_frames=True) as reader:
        while piece := reader.read(READ_BYTES):
            yield piece


def body_too_large(max_bytes: int) -> ApiError:
    """413."""
    return ApiError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "body_too_large",
        f"the body is larger than {max_bytes} bytes",
    )


def read_request(
    body: bytes,
    limits: RequestLimits,
    profiles: Callable[[], Mapping[str, Verifiers]],
    *,
    quick_patterns: QuickPatterns | None = None,
) -> ScoreRequest:
    """The request, with the verifiers of its profile.

    Parsed straight from its bytes: faster than by way of Python's `json`, and strict. Lone
    surrogates and endless nesting are refused here, so that nothing behind meets them.

    Args:
        body: JSON.
        limits: on what it may ask for.
        profiles: gives the lists of verifiers by name.
        quick_patterns: where others wait.

    Raises:
        ApiError: it is malformed, too large, or asks for what is not served.
        SlowPattern: its patterns are for a process that nobody waits for.
    """
    try:
        request = ScoreRequest.model_validate_json(body, strict=True, context=quick_patterns)
    except ValidationError as error:
        raise invalid_request(error.errors(include_input=False, include_url=False)) from error
    if request.num_completions > limits.max_completions:
        raise too_many_completions(request.num_completions, limits.max_completions)
    if request.profile is not None:
        request = _with_profile(request, request.profile, profiles())
    disabled = {verifier.type for verifier in request.verifiers} - set(limits.enabled)
    if disabled:
        raise not_enabled(disabled, limits.enabled)
    return request


def _with_profile(
    request: ScoreRequest, name: str, profiles: Mapping[str, Verifiers]
) -> ScoreRequest:
    if name not in profiles:
        raise unknown_profile(name, profiles)
    return request.model_copy(update={"verifiers": profiles[name]})
