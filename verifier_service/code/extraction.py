"""Which text of a completion is the program."""

from __future__ import annotations

import re

from verifier_service.answer_text import after_reasoning

# Each part takes all that it can and gives nothing back, so that the time stays linear in a line.
_FENCE = re.compile(r"^[ ]{0,3}(`{3,}+|~{3,}+)[ \t]*+([^\s`]*+)[^\n`]*+$", re.MULTILINE)


def last_block(text: str, tags: tuple[str, ...], *, untagged: bool = True) -> str | None:
    """The content of the last fenced block with one of the tags, after the reasoning.

    A block without a tag counts where none has one of the tags, unless untagged is false. One that
    the text breaks off in does not: its program is not whole. Takes time linear in the text.

    >>> last_block("So:\\n```python\\nprint(1)\\n```\\n", ("python", "py"))
    'print(1)\\n'
    >>> last_block("No program.", ("python",)) is None
    True
    """
    after = after_reasoning(text)
    if after is None:
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
