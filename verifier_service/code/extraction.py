"""Fenced blocks of a completion; its program is the last one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifier_service.answer_text import after_reasoning

# A line that opens or closes a fenced block: the fence and its tag, such as "```python" or "~~~".
# Its possessive quantifiers do not backtrack, which would take time quadratic in a line's length.
_FENCE = re.compile(r"^[ ]{0,3}(`{3,}+|~{3,}+)[ \t]*+([^\s`]*+)[^\n`]*+$", re.MULTILINE)


def last_block(text: str, tags: tuple[str, ...], *, untagged: bool = True) -> str | None:
    """The content of the last fenced block with one of the tags, after the reasoning.

    A block without a tag counts if no block has one of the tags, unless `untagged` is false. A
    block that the text breaks off in does not count, because its program is not whole. Takes time
    linear in the text.

    >>> last_block("So:\\n```python\\nprint(1)\\n```\\n", ("python", "py"))
    'print(1)\\n'
    >>> last_block("No program.", ("python",)) is None
    True
    """
    tagged = bare = None
    for tag, content in _blocks(text):
        if tag in tags:
            tagged = content
        elif not tag:
            bare = content
    return bare if tagged is None and untagged else tagged


def tags_of_blocks(text: str) -> set[str]:
    """The tags of the fenced blocks after the reasoning, in lower case.

    >>> tags_of_blocks("So:\\n```C++\\nint main() {}\\n```\\n")
    {'c++'}
    """
    return {tag for tag, _ in _blocks(text)} - {""}


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Tag and content of each whole block after the reasoning."""
    after = after_reasoning(text)
    if after is None or ("```" not in after and "~~~" not in after):
        return
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(after):
        if opening is None:
            opening = fence
        elif fence[1][0] == opening[1][0] and len(fence[1]) >= len(opening[1]) and not fence[2]:
            yield opening[2].lower(), after[opening.end() + 1 : fence.start()]
            opening = None
