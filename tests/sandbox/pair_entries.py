"""Two entries that talk to each other: `ask` as the judge of `answer`."""

from __future__ import annotations

import os

from verifier_service.sandbox.entries import EntryContext


def answer(context: EntryContext) -> None:
    """Run the payload, which defines `solve`, and answer each line that comes."""
    assert context.channel is not None
    assert context.result is None
    names: dict[str, object] = {}
    context.begin()
    exec(context.payload, names)
    solve = names["solve"]
    assert callable(solve)
    with context.channel.makefile("rw") as lines:
        for line in lines:
            lines.write(f"{solve(int(line))}\n")
            lines.flush()


def ask(context: EntryContext) -> None:
    """Send each line of the payload, and report the answers as the result."""
    assert context.channel is not None
    assert context.result is not None
    context.begin()
    with context.channel.makefile("rw") as lines:
        for question in context.payload.decode().splitlines():
            lines.write(f"{question}\n")
            lines.flush()
            os.write(context.result, (lines.readline() or "nothing\n").encode())


def fail(context: EntryContext) -> None:
    """End in a way that is the entry's own fault."""
    context.begin()
    raise RuntimeError("a bug in an entry")
