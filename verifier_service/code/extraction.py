"""Fenced blocks of a completion; its program is the last one.

Blocks are those of CommonMark, and what models write besides: a fence behind text of its line
(`<answer>```python`), one that ends with the answer (```` ```</answer> ````), one that is indented
in a list, with its content, and tags such as `python3.11`, `{.python}` and `python:main.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from verifier_service.answer_text import after_reasoning

# A line with a fence: what stands before it, the fence, its tag and the rest, such as "```python",
# "~~~" or "So: ```python". Its possessive quantifiers do not backtrack, which would take time
# quadratic in a line's length.
_FENCE = re.compile(
    r"^(?:([^\n`]*+)(`{3,}+)|([ \t]*+)(~{3,}+))[ \t]*+([^\s`]*+)([^\n`]*+)$", re.MULTILINE
)
# The language in a tag: the `python` of `{.python`, `python:main.py` and `python{1,3}`.
_LANGUAGE = re.compile(r"\{?\.?([^{}:,;=]*)")
# A tag that may stand behind text: the `python` of "So: ```python".
_NAME = re.compile(r"[A-Za-z][\w+#.-]*")
_VERSION = "0123456789."
"""Signs at the end of a tag that tell a version: `python3.11`, `c++17`."""
_UNTAGGED = frozenset({"", "code"})
"""Tags that name no language."""
_MAX_INDENTATION = 3
"""Most white space before a fence that stands in no list; a closing one may have as much more."""


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
    for names, content in _blocks(text):
        if not names.isdisjoint(tags):
            tagged = content
        elif not names.isdisjoint(_UNTAGGED):
            bare = content
    return bare if tagged is None and untagged else tagged


def tags_of_blocks(text: str) -> set[str]:
    """The tags of the fenced blocks after the reasoning, in lower case.

    >>> tags_of_blocks("So:\\n```C++\\nint main() {}\\n```\\n")
    {'c++'}
    """
    return {name for names, _ in _blocks(text) for name in names} - _UNTAGGED


@dataclass(frozen=True)
class _Fence:
    """A line with a fence, and where it stands in the text."""

    start: int
    end: int
    before: str
    """Text of the line before the fence."""
    marks: str
    tag: str
    rest: str

    @classmethod
    def of(cls, found: re.Match[str]) -> _Fence:
        before, marks = (found[1], found[2]) if found[2] else (found[3], found[4])
        return cls(found.start(), found.end(), before, marks, found[5], found[6])

    @property
    def is_alone(self) -> bool:
        """Whether nothing but white space stands before the fence."""
        return not self.before.strip(" \t")

    @property
    def indentation(self) -> int:
        """Amount of white space at the start of the line."""
        return len(self.before) - len(self.before.lstrip(" \t"))

    @property
    def is_plain(self) -> bool:
        """Whether it stands where CommonMark has a fence that is in no list."""
        return self.is_alone and self.indentation <= _MAX_INDENTATION

    @property
    def opens(self) -> bool:
        """Whether it can open a block: behind text only with a tag, or behind a tag of XML."""
        if self.is_alone:
            return True
        if self.rest.strip():
            return False
        named = _NAME.fullmatch(self.tag) is not None
        return named or (not self.tag and self.before.rstrip().endswith(">"))

    def closes(self, opening: _Fence) -> bool:
        """Whether it ends a block that another one opened: what follows is nothing, or a tag."""
        fits = self.marks[0] == opening.marks[0] and len(self.marks) >= len(opening.marks)
        return fits and (not self.tag or self.tag.startswith("<"))

    def is_near(self, opening: _Fence) -> bool:
        """Whether it stands alone, and no deeper than the opening fence does."""
        return self.is_alone and self.indentation <= opening.indentation + _MAX_INDENTATION

    def names(self) -> frozenset[str]:
        """Names of the language that the tag may mean, in lower case."""
        found = _LANGUAGE.match(self.tag.lower())
        tag = found[1] if found else ""
        return frozenset({tag, tag.rstrip(_VERSION) or tag, tag.rpartition(".")[2] or tag})


def _blocks(text: str) -> Iterator[tuple[frozenset[str], str]]:
    """Names of the language and content of each whole block after the reasoning."""
    after = after_reasoning(text)
    if after is None or ("```" not in after and "~~~" not in after):
        return
    opening: _Fence | None = None
    behind_text: _Fence | None = None  # the first that would close the block, but for its place
    for found in _FENCE.finditer(after):
        fence = _Fence.of(found)
        if opening is None:
            if fence.opens:
                opening, behind_text = fence, None
        elif not fence.closes(opening):
            if fence.is_plain and fence.tag and not opening.is_plain:
                opening, behind_text = fence, None  # the other stood in a sentence
        elif fence.is_near(opening):
            yield opening.names(), _content(after, opening, fence)
            opening = None
        elif not fence.is_alone:
            behind_text = behind_text or fence
    if opening is not None and behind_text is not None:
        yield opening.names(), _content(after, opening, behind_text)


def _content(text: str, opening: _Fence, closing: _Fence) -> str:
    """The text between two fences, without the white space that indents both."""
    before = "" if closing.is_alone else closing.before
    inside = text[opening.end + 1 : closing.start] + before
    indentation = (opening if opening.is_alone else closing).indentation
    if not indentation:
        return inside
    lines = inside.split("\n")
    return "\n".join(line[:indentation].lstrip(" \t") + line[indentation:] for line in lines)
