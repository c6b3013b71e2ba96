"""The final answer as the extraction finds it, with the place where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from verifier_service.mathematics.answer_sources import Source
from verifier_service.mathematics.closing_statement import Joint


@dataclass(frozen=True)
class Extraction:
    """The final answer of a completion: mostly one statement, sometimes several."""

    source: Source
    statements: tuple[str, ...]
    joint: Joint = "list"
    sentence: str = ""
    """The sentence that states the answer in words; empty where the statement is no part of one."""
    position: int | None = None
    """Place of the tag, the box or the words that announce it; None: it stands at the end."""

    @property
    def text(self) -> str:
        """The statements in one text, for people to read."""
        return (" or " if self.joint == "or" else ", ").join(self.statements)
