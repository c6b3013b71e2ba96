"""Matches of regular expressions as values: what `re.search` found, without the expression.

Python makes no `re.Match` but by searching, and a program's expression is not run by the judge. So
a match crosses as the texts and places of its groups, which answer all that it is asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class FoundMatch:
    """A match in text or bytes, with the methods of `re.Match`. It is true, as every match is."""

    string: Any
    """The text that was searched, `str` or `bytes`."""
    pos: int
    endpos: int
    regs: tuple[tuple[int, int], ...]
    """Start and end of the whole match, then of each group; -1 for a group without a part."""
    names: dict[str, int]
    """Numbers of the groups that have names."""
    lastindex: int | None

    @staticmethod
    def parts_of(match: Any) -> tuple[Any, ...]:
        """The parts of an `re.Match` or of a `FoundMatch`, each of which is plain data."""
        names = match.names if type(match) is FoundMatch else dict(match.re.groupindex)
        return match.string, match.pos, match.endpos, match.regs, names, match.lastindex

    @classmethod
    def from_parts(cls, *parts: Any) -> FoundMatch:
        """The match with these parts. Raises TypeError, ValueError: they are none of a match."""
        found = cls(*parts)
        if type(found.string) not in (str, bytes) or type(found.names) is not dict:
            raise TypeError("not the text and the names of a match")
        if type(found.regs) is not tuple or not all(map(_is_place, found.regs)):
            raise TypeError("not the places of groups")
        numbers = [0, found.lastindex or 0, *found.names.values()]
        if not all(type(one) is int and 0 <= one < len(found.regs) for one in numbers):
            raise ValueError("not the numbers of groups")
        if any(type(one) is not int for one in (found.pos, found.endpos)):
            raise TypeError("not the ends of a search")
        return found

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return re.Match  # so that `isinstance(found, re.Match)` is what it was in the program

    @property
    def lastgroup(self) -> str | None:
        """The name of the last group that has a part; None if it has no name."""
        return next((name for name, one in self.names.items() if one == self.lastindex), None)

    def span(self, group: int | str = 0, /) -> tuple[int, int]:
        """Start and end of a group. Raises IndexError: there is no such group."""
        number = self.names.get(group) if isinstance(group, str) else group
        if number is None or not 0 <= number < len(self.regs):
            raise IndexError("no such group")
        return self.regs[number]

    def start(self, group: int | str = 0, /) -> int:
        """Start of a group."""
        return self.span(group)[0]

    def end(self, group: int | str = 0, /) -> int:
        """End of a group."""
        return self.span(group)[1]

    def group(self, *groups: int | str) -> Any:
        """Text of a group, or of each of several; None for one without a part."""
        found = tuple(self[one] for one in groups or (0,))
        return found if len(found) > 1 else found[0]

    def __getitem__(self, group: int | str) -> Any:
        start, end = self.span(group)
        return None if start < 0 else self.string[start:end]

    def groups(self, default: Any = None) -> tuple[Any, ...]:
        """Texts of all groups."""
        found = (self[number] for number in range(1, len(self.regs)))
        return tuple(default if text is None else text for text in found)

    def groupdict(self, default: Any = None) -> dict[str, Any]:
        """Texts of the groups that have names."""
        return {name: default if self[name] is None else self[name] for name in self.names}

    def __repr__(self) -> str:
        return f"<re.Match object; span={self.span()}, match={self.group()!r}>"


def _is_place(place: object) -> bool:
    return type(place) is tuple and len(place) == 2 and all(type(one) is int for one in place)


MATCH_TYPES: frozenset[type] = frozenset({re.Match, FoundMatch})
