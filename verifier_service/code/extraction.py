"""Finds the program in a completion: its last fenced block."""

from __future__ import annotations

import re

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
    after = after_reasoning(text)
    if after is None or ("```" not in after and "~~~" not in after):
        return None
    tagged = bare = None
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(after):
        if opening is None:
            opening = fence
        elif fence[1][0] == opening[1][0] and len(fence[1]) >= len(opening[1]) and not fence[2]:
            content = after[opening.end() + 1 : fence.start()]
            if opening[2].lower() in tags:
                tagged = content
            elif not opening[2]:
                bare = content
            opening = None
    return bare if tagged is None and untagged else tagged
