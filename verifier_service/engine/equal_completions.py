"""The different completions of a request: those that are equal are judged once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec

from verifier_service.completion import ChatTurn, Completion
from verifier_service.engine.chunks import (
    DIGEST_BYTES,
    ChunkPart,
    Owner,
    UniqueCompletion,
    VerdictsByKey,
    digest,
)
from verifier_service.reference_formats.reading import with_format
from verifier_service.schemas import ChatMessage, CompletionObject, Group, ScoreRequest

_encoder = msgspec.json.Encoder(order="sorted")


def unique_parts(
    request: ScoreRequest,
    slots: list[list[VerdictsByKey]],
    owners: list[list[Owner]] | None = None,
    *,
    with_digests: bool = True,
) -> list[ChunkPart]:
    """Each different completion of each different reference, in the order of the request.

    Args:
        request: groups of completions.
        slots: for each group, for each completion, the verdicts to be filled.
        owners: gets a list for each group, with the owner of each completion; None: nobody asks.
        with_digests: whether somebody asks for the digests. Comparing texts takes less time.
    """
    reads_turns = _reads_turns(request)
    parts: dict[bytes, ChunkPart] = {}
    found: dict[tuple[bytes, bytes | Completion], UniqueCompletion] = {}
    for index, (group, group_slots) in enumerate(zip(request.groups, slots, strict=True)):
        encoded = encoded_reference(group)
        part = parts.get(encoded)
        if part is None:
            part = parts[encoded] = ChunkPart(encoded, digest(encoded), [])
        owned: list[Owner] = []
        for given, verdicts in zip(group.completions, group_slots, strict=True):
            completion = completion_of(given, reads_turns=reads_turns)
            completion_digest = _completion_digest(completion) if with_digests else b""
            key = (part.reference_digest, completion_digest or completion)
            unique = found.get(key)
            if unique is None:
                slots_of = [(index, verdicts)]
                unique = found[key] = UniqueCompletion(completion, completion_digest, slots_of)
                part.uniques.append(unique)
            else:
                unique.slots.append((index, verdicts))
            if owners is not None:
                owned.append((part, unique))
        if owners is not None:
            owners.append(owned)
    return list(parts.values())


def group_parts(request: ScoreRequest, slots: list[list[VerdictsByKey]]) -> Iterator[ChunkPart]:
    """Each group as it is: equal completions of two groups, or of one, are judged twice.

    Args:
        request: groups of completions.
        slots: for each group, for each completion, the verdicts to be filled.
    """
    reads_turns = _reads_turns(request)
    for index, (group, group_slots) in enumerate(zip(request.groups, slots, strict=True)):
        completions = [completion_of(given, reads_turns=reads_turns) for given in group.completions]
        uniques = [
            UniqueCompletion(completion, _completion_digest(completion), [(index, verdicts)])
            for completion, verdicts in zip(completions, group_slots, strict=True)
        ]
        if uniques:
            encoded = encoded_reference(group)
            group_digest = digest(encoded, *(unique.digest for unique in uniques))
            yield ChunkPart(encoded, group_digest, uniques, completions)


def encoded_reference(group: Group) -> bytes:
    """The reference of a group in JSON. A row of a data set is read by the worker, not here."""
    return _encoder.encode(with_format(group.reference, group.reference_format))


def completion_of(
    given: str | list[ChatMessage] | CompletionObject, *, reads_turns: bool = False
) -> Completion:
    """A completion of a request as verifiers see it: of a chat, the last assistant message.

    Args:
        given: as it is on the wire.
        reads_turns: whether all messages of a chat are wanted, too. Chats that end in one message
            are then different completions.
    """
    if isinstance(given, str):
        return Completion(given)
    if isinstance(given, CompletionObject):
        return Completion(given.text, given.num_tokens, given.truncated)
    spoken = [message.text for message in given if message.role == "assistant"]
    turns = (
        tuple(ChatTurn(message.role, message.text) for message in given) if reads_turns else None
    )
    return Completion(spoken[-1], turns=turns)


def _reads_turns(request: ScoreRequest) -> bool:
    return any(verifier.reads_turns for verifier in request.verifiers)


def _completion_digest(completion: Completion) -> bytes:
    """A hash of a completion: SHA-256, for which most processors have instructions."""
    facts = (completion.num_tokens, completion.truncated, len(completion.text))
    # The length tells a text from a shorter one with messages behind it.
    found = hashlib.sha256(repr(facts).encode())
    found.update(completion.text.encode())
    if completion.turns is not None:
        found.update(_encoder.encode(completion.turns))
    return found.digest()[:DIGEST_BYTES]
