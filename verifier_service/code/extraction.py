"""Fenced blocks of a completion; its program is the last one.

Blocks are those of CommonMark, and what models write besides: a fence behind text of its line
(`<answer>```python`), one that ends with the answer (```` ```</answer> ````), one that is indented
in a list, with its content, and tags such as `python3.11`, `{.python}` and `python:main.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import IntEnum, auto
from typing import NamedTuple

from verifier_service.answer_text import after_reasoning

# A line with a fence: what stands before it, the fence, its tag and the rest, such as "```python",
# "~~~" or "So: ```python". Its possessive quantifiers do not backtrack, which would take time
# quadratic in a line's length.
_FENCE = re.compile(
    r"^(?:([^\n`]*+)(`{3,}+)|([ ]{0,3})(~{3,}+))[ \t]*+([^\s`]*+)([^\n`]*+)$", re.MULTILINE
)
# The mark of a list before a fence: `- `, `2. `.
_LIST_MARK = re.compile(r"\s{0,20}(?:[-*+]|\d{1,3}[.)])[ \t]+")
_LEADS = (":", ">", "\uff1a")
"""Signs at the end of text before a fence: `So:`, `<answer>`."""
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


def last_block(
    text: str,
    tags: tuple[str, ...],
    *,
    untagged: bool = True,
    is_preferred: Callable[[str], bool] | None = None,
) -> str | None:
    """The last fenced block after the reasoning with one of these tags, in any case.

    Where no block has one, a block counts whose tag names the language in another way, such as
    `python3.11`; then one without a tag. A block that the text breaks off in never counts, because
    its program is not whole. Takes time linear in the text.

    Args:
        text: whole completion.
        tags: tags to accept, in lower case.
        untagged: whether blocks count whose tag names no language.
        is_preferred: tells of a block's content whether it goes before others that would count; the
            last such block is taken, and the last of all where there is none.

    >>> last_block("So:\\n```python\\nprint(1)\\n```\\n", ("python", "py"))
    'print(1)\\n'
    >>> last_block("No program.", ("python",)) is None
    True
    """
    found: dict[tuple[bool, _Rank], list[str]] = {}
    for block in _blocks(text):
        rank = block.rank(tags)
        if rank is not None and (untagged or rank < _Rank.UNTAGGED):
            found.setdefault((not block.is_whole, rank), []).append(block.content)
    if not found:
        return None
    counting = [_as_source(content) for content in found[min(found)]]
    if is_preferred is None or len(counting) == 1:
        return counting[-1]
    return next(filter(is_preferred, reversed(counting)), counting[-1])


def _as_source(content: str) -> str:
    """A block without a byte order mark and returns at the ends of lines, which came on the way."""
    return content.removeprefix("\ufeff").replace("\r\n", "\n")


def tags_of_blocks(text: str) -> set[str]:
    """The tags of the fenced blocks after the reasoning, in lower case.

    >>> tags_of_blocks("So:\\n```C++\\nint main() {}\\n```\\n")
    {'c++'}
    """
    return {name for block in _blocks(text) for name in block.names} - _UNTAGGED


class _Fence(NamedTuple):
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
        return not self.before or not self.before.strip(" \t")

    @property
    def is_plain(self) -> bool:
        """Whether it stands where CommonMark has a fence that is in no list."""
        return not self.before or (self.is_alone and len(self.before) <= _MAX_INDENTATION)

    @property
    def opens(self) -> bool:
        """Whether it can open a block: deep only with a tag, behind text only if that leads to it.

        A sentence may end with a fence, too: "It begins with ```python".
        """
        if self.is_plain:
            return True
        named = _NAME.fullmatch(self.tag) is not None
        if self.is_alone:
            return named
        if self.rest.strip() or not self._follows_lead:
            return False
        return named or (not self.tag and self.before.rstrip().endswith(">"))

    @property
    def _follows_lead(self) -> bool:
        """Whether the text before it leads to it, and is no quotation."""
        if self.before.lstrip().startswith(">"):
            return False
        is_lead = self.before.rstrip("*_ \t").endswith(_LEADS)
        return is_lead or _LIST_MARK.fullmatch(self.before) is not None

    def closes(self, opening: _Fence) -> bool:
        """Whether it ends a block that another one opened: nothing follows, or a closing tag."""
        fits = self.marks[0] == opening.marks[0] and len(self.marks) >= len(opening.marks)
        return fits and (not self.tag or self.tag.startswith(("</", "<|")))

    def is_near(self, opening: _Fence) -> bool:
        """Whether it stands alone, and no deeper than the opening fence does."""
        return self.is_plain or (
            self.is_alone
            and _indentation(self.before) <= _indentation(opening.before) + _MAX_INDENTATION
        )


class _Rank(IntEnum):
    """Order of blocks by their tags; the first one that a text has decides."""

    TAGGED = auto()
    TAGGED_OTHERWISE = auto()
    """A tag that names the language in another way: `python3.11`."""
    UNTAGGED = auto()
    CODE = auto()
    """The tag `code`, which may stand before output too."""


class _Block(NamedTuple):
    """A fenced block."""

    tag: str
    """Tag of its opening fence, in lower case."""
    content: str
    is_whole: bool
    """Whether a fence in a line of its own closes it, not one behind text."""

    @property
    def names(self) -> frozenset[str]:
        """Names of the language that the tag may mean."""
        found = _LANGUAGE.match(self.tag)
        tag = found[1] if found else ""
        return frozenset({tag, tag.rstrip(_VERSION) or tag, tag.rpartition(".")[2] or tag})

    def rank(self, tags: tuple[str, ...]) -> _Rank | None:
        """Its rank among blocks of the language with these tags; None: another language."""
        if self.tag in tags:
            return _Rank.TAGGED
        if not self.tag:
            return _Rank.UNTAGGED
        if not self.names.isdisjoint(tags):
            return _Rank.TAGGED_OTHERWISE
        return _Rank.CODE if self.tag in _UNTAGGED else None


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks after the reasoning."""
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
            yield _Block(opening.tag.lower(), _content(after, opening, fence), is_whole=True)
            opening = None
        elif not fence.is_alone:
            behind_text = behind_text or fence
    if opening is not None and behind_text is not None and opening.is_alone:
        content = _content(after, opening, behind_text)
        yield _Block(opening.tag.lower(), content, is_whole=False)


def _content(text: str, opening: _Fence, closing: _Fence) -> str:
    """The text between two fences, without the white space that indents them and it."""
    if not opening.before and not closing.before:
        return text[opening.end + 1 : closing.start]
    before = "" if closing.is_alone else closing.before
    inside = text[opening.end + 1 : closing.start] + before
    depth = _indentation((opening if opening.is_alone else closing).before)
    depth = min(depth, _indentation(inside.lstrip("\n")))
    if not depth:
        return inside
    lines = inside.split("\n")
    return "\n".join(line[:depth].lstrip(" \t") + line[depth:] for line in lines)


def _indentation(line: str) -> int:
    """Amount of white space at the start of a line."""
    return len(line) - len(line.lstrip(" \t"))
