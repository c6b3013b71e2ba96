"""Entries that talk to each other: `ask` and `ask_late` as judges of `answer`."""

from __future__ import annotations

import os
import time

from verifier_service.sandbox.entries import EntryContext, awaiting_partner


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
            with awaiting_partner():
                answered = lines.readline()
            os.write(context.result, (answered or "nothing\n").encode())


def ask_late(context: EntryContext) -> None:
    """Sleep for as many seconds as the payload says, then ask once."""
    assert context.channel is not None
    assert context.result is not None
    context.begin()
    time.sleep(float(context.payload))
    with context.channel.makefile("rw") as lines:
        lines.write("3\n")
        lines.flush()
        with awaiting_partner():
            os.write(context.result, lines.readline().encode())


def fail(context: EntryContext) -> None:
    """End in a way that is the entry's own fault."""
    context.begin()
    raise RuntimeError("a bug in an entry")
