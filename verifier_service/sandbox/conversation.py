"""Notes of what two processes said to each other: a bounded beginning and end of it."""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_NOTED_BYTES = 2000
"""Largest beginning, and largest end, of a conversation that is noted."""


@dataclass
class Conversation:
    """Conversation of two processes: its beginning and its end, and who fell silent first.

    Nothing of it comes from the processes' own reports: the bytes passed through the runner.
    """

    beginning: list[tuple[str, bytes]] = field(default_factory=list)
    end: list[tuple[str, bytes]] = field(default_factory=list)
    num_bytes: int = 0
    silent_first: str | None = None
    """Speaker whose end was the first to close."""

    def note(self, speaker: str, said: bytes) -> None:
        """Note what a speaker said."""
        room = max(MAX_NOTED_BYTES - self.num_bytes, 0)
        self.num_bytes += len(said)
        _add(self.beginning, speaker, said[:room])
        _add(self.end, speaker, said[room:])
        while sum(len(part) for _, part in self.end[1:]) >= MAX_NOTED_BYTES:
            del self.end[0]
        if self.end:
            first_speaker, first = self.end[0]
            rest = sum(len(part) for _, part in self.end[1:])
            self.end[0] = first_speaker, first[-(MAX_NOTED_BYTES - rest) :]

    def note_silence(self, speaker: str) -> None:
        """Note that a speaker will say no more."""
        self.silent_first = self.silent_first or speaker

    def text(self) -> str:
        """The conversation for people: a line of a speaker begins with its name.

        >>> talk = Conversation()
        >>> talk.note("program", b"is it 5?\\n")
        >>> talk.note("interactor", b"no\\n")
        >>> talk.text()
        'program: is it 5?\\ninteractor: no\\n'
        """
        noted = sum(len(part) for _, part in (*self.beginning, *self.end))
        gap = f"... {self.num_bytes - noted} bytes left out ...\n" if self.num_bytes > noted else ""
        return _shown(self.beginning) + gap + _shown(self.end)


def _add(parts: list[tuple[str, bytes]], speaker: str, said: bytes) -> None:
    if not said:
        return
    if parts and parts[-1][0] == speaker:
        parts[-1] = speaker, parts[-1][1] + said
    else:
        parts.append((speaker, said))


def _shown(parts: list[tuple[str, bytes]]) -> str:
    lines = [
        f"{speaker}: {line}\n"
        for speaker, said in parts
        for line in said.decode(errors="replace").splitlines()
    ]
    return "".join(lines)
