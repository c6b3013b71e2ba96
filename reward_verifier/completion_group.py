"""Groups of completions, references and verifiers in the form of the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CompletionGroup:
    """Completions of one problem, in the form of the wire.

    A batch may mix mathematics, programs and other kinds: each group may name its own verifiers.
    """

    completions: Sequence[Any]
    """Each a text, a list of chat messages, or an object with `text` and lengths.

    The content of a message may be a list of parts of type text, which are joined."""
    reference: Mapping[str, Any]
    prompt: str | None = None
    verifiers: Sequence[str | Mapping[str, Any]] | None = None
    """Verifiers for this group, instead of those of the request; a type alone may be a text."""
    profile: str | None = None
    """Name of a list of verifiers for this group, instead."""
    reference_format: str | None = None
    """Format of a reference that is a row as its data set ships it, or `auto`."""

    def __post_init__(self) -> None:
        """Raise TypeError for what would be taken apart into characters or keys.

        Raise ValueError where both verifiers and a profile are given.
        """
        if self.verifiers is not None and self.profile is not None:
            raise ValueError("give either `profile` or `verifiers` of a group, not both")
        if isinstance(self.verifiers, str | bytes | Mapping):
            raise TypeError("verifiers: expected a list of verifiers, found one")
        if isinstance(self.completions, str | bytes | Mapping):
            kind = type(self.completions).__name__
            raise TypeError(f"completions: expected a list of completions, found one {kind}")
        if not isinstance(self.reference, Mapping):
            raise TypeError(
                'reference: expected an object such as {"answer": "4"}, found '
                f"{type(self.reference).__name__}"
            )

    @property
    def wire(self) -> dict[str, Any]:
        """The group in a request's body."""
        prompt = {} if self.prompt is None else {"prompt": self.prompt}
        completions = [_wire_completion(one) for one in self.completions]
        return {
            **prompt,
            **self.selection,
            "reference": self.reference,
            **self._format,
            "completions": completions,
        }

    @property
    def _format(self) -> dict[str, Any]:
        return {} if self.reference_format is None else {"reference_format": self.reference_format}

    @property
    def selection(self) -> dict[str, Any]:
        """The part of the group that names its own verifiers; empty where it has none."""
        if self.profile is not None:
            return {"profile": self.profile}
        if self.verifiers is None:
            return {}
        return {"verifiers": wire_verifiers(self.verifiers)}


def _wire_completion(completion: Any) -> Any:
    """A completion in the form of the wire: each content of a chat is one text."""
    if not isinstance(completion, list | tuple):
        return completion
    return [
        {**message, "content": "".join(part["text"] for part in message["content"])}
        if isinstance(message, Mapping) and _is_texts(message.get("content"))
        else message
        for message in completion
    ]


def _is_texts(content: Any) -> bool:
    """Whether a message's content is a list of parts of type text: `[{"type": "text", ...}]`."""
    return isinstance(content, list | tuple) and all(
        isinstance(part, Mapping)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
        for part in content
    )


def row_reference(row: Mapping[str, Any], reference_format: str) -> dict[str, Any]:
    """The `reference` for a row as its data set ships it, which the service reads.

    >>> row_reference({"problem": "1 + 1", "solution": "2"}, "auto")
    {'reference_row': {'problem': '1 + 1', 'solution': '2'}, 'reference_format': 'auto'}
    """
    return {"reference_row": dict(row), "reference_format": reference_format}


def wire_verifiers(verifiers: Sequence[str | Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Verifiers in the form of the wire: a type alone becomes an object."""
    return [{"type": one} if isinstance(one, str) else one for one in verifiers]
