"""The work of one request in chunks for workers: completions by reference.

`equal_completions` finds those of a request, equal ones once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from verifier_service.completion import Completion
from verifier_service.current_call import request_id
from verifier_service.verdict import Verdict
from verifier_service.verifier import Verifier
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart

MAX_CHUNK_CHARACTERS = 2**20
"""Characters of completions after which a chunk ends."""
SHARED_REFERENCE_BYTES = 2**14
"""Size in JSON from which a reference is sent to a worker once, instead of with each task."""

DIGEST_BYTES = 16

VerdictsByKey = dict[str, Verdict]
"""Verdicts on one completion by `Verifier.key`."""
VerdictSlot = tuple[int, VerdictsByKey]
"""One completion of the request: the index of its group, and its verdicts, filled as they come."""

_encoder = msgspec.json.Encoder(order="sorted")


class UniqueCompletion(msgspec.Struct, frozen=True):
    """A completion, with the slots of all completions of the request that equal it."""

    completion: Completion
    digest: bytes
    """Hash of the completion; empty where nobody asks for it."""
    slots: list[VerdictSlot]


class ChunkPart(msgspec.Struct, frozen=True):
    """Different completions of one reference."""

    encoded_reference: bytes
    """The reference in JSON."""
    reference_digest: bytes
    """Hash of the reference, and of the group for group-wise verifiers."""
    uniques: list[UniqueCompletion]
    group: list[Completion] | None = None
    """The whole group, for group-wise verifiers."""


Owner = tuple[ChunkPart, UniqueCompletion]
"""A completion among the different ones, and the part with its reference."""


class VerifierWork(msgspec.Struct, frozen=True):
    """The completions of a chunk that one verifier has to judge."""

    verifier: Verifier
    options: bytes
    """The verifier's options, of `options_json`."""
    parts: list[ChunkPart]
    keys: list[bytes]
    """The cache key of each completion."""


def seen_by(verifier: Verifier, completion: Completion) -> Completion:
    """The completion without the messages that a verifier does not read."""
    if completion.turns is None or verifier.reads_turns:
        return completion
    return msgspec.structs.replace(completion, turns=None)


def packed_into_chunks(parts: Iterable[ChunkPart], size: int) -> Iterator[list[ChunkPart]]:
    """Whole parts in chunks; a chunk ends when it has at least `size` completions."""
    chunk: list[ChunkPart] = []
    num_completions = 0
    for part in parts:
        chunk.append(part)
        num_completions += len(part.uniques)
        if num_completions >= size:
            yield chunk
            chunk, num_completions = [], 0
    if chunk:
        yield chunk


def cut_into_chunks(parts: list[ChunkPart], size: int) -> Iterator[list[ChunkPart]]:
    """The parts, cut and packed into chunks of at most `size` completions."""
    chunk: list[ChunkPart] = []
    num_completions = num_characters = 0
    for part in parts:
        start = 0
        for index, unique in enumerate(part.uniques):
            num_completions += 1
            num_characters += unique.completion.num_characters
            if num_completions >= size or num_characters >= MAX_CHUNK_CHARACTERS:
                uniques = part.uniques[start : index + 1]
                yield [*chunk, msgspec.structs.replace(part, uniques=uniques)]
                chunk, start = [], index + 1
                num_completions = num_characters = 0
        if start == 0:
            chunk.append(part)
        elif start < len(part.uniques):
            chunk.append(msgspec.structs.replace(part, uniques=part.uniques[start:]))
    if chunk:
        yield chunk


def filtered(
    chunk: list[ChunkPart], is_wanted: Callable[[UniqueCompletion], bool]
) -> list[ChunkPart]:
    """The chunk with the wanted completions only."""
    kept = (
        msgspec.structs.replace(part, uniques=[one for one in part.uniques if is_wanted(one)])
        for part in chunk
    )
    return [part for part in kept if part.uniques]


def num_characters(completions: Iterable[Completion]) -> int:
    """The characters of all completions together."""
    return sum(completion.num_characters for completion in completions)


def options_json(verifier: Verifier) -> bytes:
    """The options of a verifier in JSON; equal ones are the same bytes."""
    return _encoder.encode(verifier.options)


def cache_keys(options: bytes, chunk: list[ChunkPart]) -> list[bytes]:
    """The key of each completion: a hash of everything that its verdict depends on."""
    keys = []
    for part in chunk:
        prefix = part_key(options, part)
        keys += [prefix + unique.digest for unique in part.uniques]
    return keys


def part_key(options: bytes, part: ChunkPart) -> bytes:
    """A hash of a verifier's options and the part's reference."""
    return digest(options, part.reference_digest)


def judge_task(work: Sequence[VerifierWork], *, explain: bool = False) -> EncodedTask:
    """The task to judge the completions of a chunk with each verifier that has some to judge."""
    parts = [
        (one.options, part, [seen_by(one.verifier, unique.completion) for unique in part.uniques])
        for one in work
        for part in one.parts
    ]
    return _encoded_task(work[0].verifier.workers, parts, explain=explain)


def settle_task(
    verifier: Verifier, options: bytes, part: ChunkPart, questions: list[str]
) -> EncodedTask:
    """The task to settle open questions about the reference of a part."""
    asked = [Completion(question) for question in questions]
    return _encoded_task(verifier.workers, [(options, part, asked)], settle=True)


def _encoded_task(
    kind: str,
    work: list[tuple[bytes, ChunkPart, list[Completion]]],
    *,
    settle: bool = False,
    explain: bool = False,
) -> EncodedTask:
    reference = work[0][1].encoded_reference
    is_shared = len(reference) >= SHARED_REFERENCE_BYTES and all(
        part.encoded_reference == reference for _, part, _ in work
    )
    name = digest(reference).hex() if is_shared else None
    parts = [
        TaskPart(
            None if is_shared else part.encoded_reference,
            completions,
            part.group,
            name,
            options,
        )
        for options, part, completions in work
    ]
    task = Task(parts, settle=settle, explain=explain, request_id=request_id())
    encoded = EncodedTask.of(task, kind)
    if not is_shared:
        return encoded
    return msgspec.structs.replace(encoded, shared_name=name, shared_reference=(reference,))


def digest(*parts: bytes) -> bytes:
    """A hash of the parts and of where each of them ends."""
    found = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.digest()
