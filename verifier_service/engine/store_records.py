"""Records of a scored request for the store of verdicts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import msgspec

from verifier_service.current_call import new_request_id, request_id
from verifier_service.engine.chunks import Owner, VerdictsByKey
from verifier_service.schemas import ScoreRequest
from verifier_service.verdict import Verdict
from verifier_service.verdict_store.records import (
    StoredTexts,
    StoredVerifier,
)
from verifier_service.verifier import GroupVerifier, Verifier

VERDICTS_PER_RECORD = 4096
CHARACTERS_PER_RECORD = 2**20
"""Characters of texts after which a record ends."""
MAX_TEXT_CHARACTERS = 2**20
"""Longest completion, reference or prompt that is kept. A longer one is left out; the store has
the hash of a completion and of a reference."""

_encoder = msgspec.json.Encoder()


def records_of(
    request: ScoreRequest,
    slots: list[list[VerdictsByKey]],
    owners: list[list[Owner]],
    *,
    options: dict[str, bytes],
    places: Sequence[int],
    texts: StoredTexts,
) -> Iterator[tuple[bytes, int]]:
    """The records of a scored request, each with its number of verdicts.

    Args:
        request: with its verifiers.
        slots: the verdicts on each completion, by group.
        owners: of `unique_parts`.
        options: the options of each verifier in JSON, by its key.
        places: position of each group in the request as it came.
        texts: form in which the store keeps completions and references.
    """
    verifiers = [_stored_verifier(one, options[one.key]) for one in request.verifiers]
    keys = [one.key for one in request.verifiers]
    call, now = request_id() or new_request_id(), time.time()
    own = new_request_id()
    groups: list[_Group] = []
    num_verdicts = num_characters = 0
    for index, group in enumerate(request.groups):
        if not owners[index]:
            continue
        found = _group(places[index], owners[index], slots[index], keys, texts)
        if texts == "text":
            part = owners[index][0][0]
            found.reference = _bounded(part.encoded_reference.decode())
            found.prompt = _bounded(group.prompt) if isinstance(group.prompt, str) else None
            num_characters += _num_characters(found)
        groups.append(found)
        num_verdicts += len(owners[index]) * len(keys)
        if num_verdicts >= VERDICTS_PER_RECORD or num_characters >= CHARACTERS_PER_RECORD:
            yield _encoder.encode((own, call, now, texts, verifiers, groups)), num_verdicts
            groups, num_verdicts, num_characters = [], 0, 0
    if groups:
        yield _encoder.encode((own, call, now, texts, verifiers, groups)), num_verdicts


class _Group(msgspec.Struct, array_like=True, gc=False):
    """A `StoredGroup` to be written: its completions are those of a `StoredCompletion`."""

    index: int
    reference_digest: bytes
    completions: list[tuple[bytes, list[Verdict], str | None, int | None, bool | None]]
    reference: str | None = None
    prompt: str | None = None


def _stored_verifier(verifier: Verifier, options: bytes) -> StoredVerifier:
    is_group = isinstance(verifier, GroupVerifier)
    return StoredVerifier(verifier.type, verifier.key, options.decode(), is_group)


def _group(
    place: int,
    owners: list[Owner],
    slots: list[VerdictsByKey],
    keys: list[str],
    texts: StoredTexts,
) -> _Group:
    with_text = texts == "text"
    completions = []
    for (_, unique), verdicts in zip(owners, slots, strict=True):
        given = unique.completion
        text = _bounded(given.text) if with_text else None
        judged = [verdicts[key] for key in keys]
        completions.append((unique.digest, judged, text, given.num_tokens, given.truncated))
    return _Group(place, owners[0][0].reference_digest, completions)


def _bounded(text: str) -> str | None:
    return text if len(text) <= MAX_TEXT_CHARACTERS else None


def _num_characters(group: _Group) -> int:
    about = len(group.reference or "") + len(group.prompt or "")
    return about + sum(len(one[2] or "") for one in group.completions)
