"""From the bytes of a body to a request that may be scored."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus

import zstandard
from pydantic import ValidationError

from verifier_service.errors import ApiError, invalid_request
from verifier_service.profiles import Verifiers
from verifier_service.requests.messages import RequestLimits
from verifier_service.schemas import ScoreRequest

CONTENT_ENCODINGS = ("identity", "gzip", "zstd")
MAX_ZSTD_WINDOW_BYTES = 8 * 2**20
"""As RFC 8878 recommends to those who decompress."""
READ_BYTES = 2**16


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
    """A gzip file may have several members."""
    while body:
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        while not member.eof:
            piece = member.decompress(body, READ_BYTES)
            body = member.unconsumed_tail
            if not piece and not body and not member.eof:
                raise EOFError("it ends too early")
            yield piece
        body = member.unused_data


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
    body: bytes, limits: RequestLimits, profiles: Callable[[], Mapping[str, Verifiers]]
) -> ScoreRequest:
    """The request, with the verifiers of its profile.

    Parsed straight from its bytes: faster than by way of Python's `json`, and strict. Lone
    surrogates and endless nesting are refused here, so that nothing behind meets them.

    Raises:
        ApiError: it is malformed, too large, or asks for what is not served.
    """
    try:
        request = ScoreRequest.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise invalid_request(error.errors(include_input=False, include_url=False)) from error
    if request.num_completions > limits.max_completions:
        raise ApiError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "too_many_completions",
            f"the request has {request.num_completions} completions; at most "
            f"{limits.max_completions} are taken at once",
        )
    if request.profile is not None:
        request = _with_profile(request, request.profile, profiles())
    disabled = sorted({verifier.type for verifier in request.verifiers} - set(limits.enabled))
    if disabled:
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "verifier_not_enabled",
            f"not enabled here: {disabled}; enabled are {sorted(limits.enabled)}",
        )
    return request


def _with_profile(
    request: ScoreRequest, name: str, profiles: Mapping[str, Verifiers]
) -> ScoreRequest:
    if name not in profiles:
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "unknown_profile",
            f"no profile {name[:100]!r}; there are {sorted(profiles)}",
        )
    return request.model_copy(update={"verifiers": profiles[name]})
