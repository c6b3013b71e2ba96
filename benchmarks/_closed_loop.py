"""Clients that each ask again as soon as they are answered, all in one thread of asyncio."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

COMPLETION_CHARACTERS = 1000
SCORED = b'"outcome":"scored"'
WARM_UP_SHARE = 0.3
"""Share of the time before anything counts."""


@dataclass(frozen=True)
class Load:
    """The answers of a loop."""

    completions: int
    """Completions judged after the warm-up."""
    seconds: float
    latencies: list[float]
    """Seconds of each call after the warm-up, in ascending order."""
    all_completions: int
    """Completions judged, those of the warm-up and of calls that ended too late included."""

    @property
    def rate(self) -> float:
        """Completions a second."""
        return self.completions / self.seconds

    def percentile(self, share: float) -> float:
        """The latency, in seconds, that this share of the calls does not exceed."""
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


def bodies(num_completions: int, *, group: int = 16) -> Iterator[bytes]:
    """Bodies of requests, of which no two have a completion in common, without an end."""
    padding = "some words " * (COMPLETION_CHARACTERS // 11 + 1)
    for number in itertools.count():
        texts = [f"{number} {n} {padding}"[:COMPLETION_CHARACTERS] for n in range(num_completions)]
        groups = [{"completions": texts[n : n + group]} for n in range(0, len(texts), group)]
        yield json.dumps({"verifiers": [{"type": "format"}], "groups": groups}).encode()


async def ask(urls: Sequence[str], num_clients: int, num_completions: int, seconds: float) -> Load:
    """Have clients ask for so many seconds; each stays with one URL.

    Raises:
        RuntimeError: an answer is not whole; the message has it.
    """
    supply, latencies, num_calls = bodies(num_completions), list[float](), itertools.count()
    begin = time.monotonic() + WARM_UP_SHARE * seconds
    end = begin + (1 - WARM_UP_SHARE) * seconds

    async def client(url: str) -> None:
        target = urlsplit(url)
        reader, writer = await asyncio.open_connection(target.hostname, target.port)
        try:
            while (start := time.monotonic()) < end:
                answer = await _exchange(reader, writer, next(supply))
                if answer.count(SCORED) != num_completions:
                    raise RuntimeError(f"not every completion was scored: {answer[:400]!r}")
                next(num_calls)
                if begin <= time.monotonic() < end:
                    latencies.append(time.monotonic() - start)
        finally:
            writer.close()

    async with asyncio.TaskGroup() as clients:
        for number in range(num_clients):
            clients.create_task(client(urls[number % len(urls)]))
    judged, all_judged = (num_completions * number for number in (len(latencies), next(num_calls)))
    return Load(judged, end - begin, sorted(latencies) or [0.0], all_judged)


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes
) -> bytes:
    """The body of the response to one request. Raises RuntimeError unless its status is 200."""
    writer.write(
        b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body) + body
    )
    head = await reader.readuntil(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n") if b": " in line)
    if b"content-length" in fields:
        answer = await reader.readexactly(int(fields[b"content-length"]))
    else:
        answer = await _chunks(reader)
    if b" 200 " not in head.split(b"\r\n", 1)[0]:
        raise RuntimeError(f"the service answered {head!r} {answer[:400]!r}")
    return answer


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    found = b""
    while size := int(await reader.readline(), 16):
        found += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return found
