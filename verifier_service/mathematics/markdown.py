"""Markdown around an answer, which says nothing: quotes, headings, emphasis, code and tables.

Everything here takes time linear in the length of the text.
"""

from __future__ import annotations

import re

MAX_MARKED_CHARACTERS = 1000
"""Longest line whose marks are read; a longer one is no bare answer with marks around it."""
# The beginning of a quote or of a heading, with the space behind it: `> `, `## `, `> ### `.
_PREFIX = re.compile(r"\s*(?:(?:>\s*)*#{1,6}\s+|(?:>\s*)+)")
# The marks of a quote whose content is marked too: the `> ` of `> **42**`. Before a bare number the
# sign is a relation: `> 42`.
_MARKED_QUOTE = re.compile(r"\s*(?:>\s*)+(?=\*\*|__|`|\$|\\\(|\\\[|\\boxed)")
# A heading: the `## ` of `## 42`.
_HEADING = re.compile(r"\s*#{1,6}\s+")
# Emphasis or code, which begins behind a space, a colon or a sign and ends before none of a word:
# the `**18**` of `Total: **18**`. The stars of `x**2 + y**2` are none.
_EMPHASIS = re.compile(
    r"(?:(?<=^)|(?<=[\s:=(≈]))(?P<mark>\*{2,3}|_{1,3}|`+)"
    r"(?P<inside>[^\s*_`](?:(?:[^*`\n]|(?<=\w)\*(?=\w))*?[^\s*_`])?)(?P=mark)(?![\w*^{])"
)
# The bullet or number of an item in a list: `- `, `2. `.
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?=\S)")
# An item of a list that is nothing but a value: `- 42`, `2. **-3.5**`, `- $x$`.
_VALUE = re.compile(r"[-−+\d.,/%$\\(){}^*_`x]*|\$[^$]*\$")
# The same, or an equation that names it: `x = 2`, `x_1 = 2`; or a formula on a line of its own.
_NAMED_VALUE = re.compile(
    rf"(?:[A-Za-z](?:_\{{?\w\}}?)?\s*=\s*)?(?:{_VALUE.pattern})|\$\$[^$]*\$\$|\\\[.*\\\]"
)
_MAX_LISTED = 50
# The first item of a numbered list: the `1. ` of `1. add 2 and 3\n2. subtract 1`.
_FIRST_OF_LIST = re.compile(r"1[.)][ \t]+(?=\S[^\n]*\n\s*2[.)][ \t])")
_FENCES = ("```", "~~~")
# The language of a fenced block that holds no program, and the one line in it: `text\n18\n`.
_FENCED_LINE = re.compile(
    r"(?:text|txt|plain|plaintext|math|latex|tex|markdown|md|json|answer|output)?[ \t]*\n"
    r"\s*(\S[^\n]*)\n\s*"
)
# The row below the head of a table: `|---|:-:|`.
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-*:?\s*)*\|?\s*")
# The border between two cells: `|`, but not `\|`.
_BORDER = re.compile(r"(?<!\\)\|")


def without_marks(line: str) -> str:
    """A line without the marks of a heading, of emphasis and of code.

    >>> without_marks("> **42**"), without_marks("### Total = `18`"), without_marks("x**2 + y**2")
    ('42', 'Total = 18', 'x**2 + y**2')
    """
    if len(line) > MAX_MARKED_CHARACTERS or not _MARKS.search(line):
        return line
    line = _behind(_HEADING, _behind(_MARKED_QUOTE, line))
    before = ""
    while line != before:
        before, line = line, _EMPHASIS.sub(r"\g<inside>", line)
    return line


# Any mark at all.
_MARKS = re.compile(r"[*_`#]|>\s*[$\\]")


def closing_line(text: str) -> str:
    """The last line of a text, without marks: of a fenced block its line, of a table the last cell.

    >>> closing_line("The total is:\\n```\\n18\\n```")
    '18'
    >>> closing_line("| Day | Sum |\\n|---|---|\\n| Mon | 20 |\\n| **All** | **60** |")
    '60'
    >>> closing_line("The answer:\\n> 42"), closing_line("We get:\\n- 42")
    ('42', '42')
    """
    text = text.rstrip()
    if text.endswith(_FENCES):
        opening = text.rfind(text[-3:], 0, -3)
        fenced = _FENCED_LINE.fullmatch(text, opening + 3, len(text) - 3) if opening >= 0 else None
        return without_marks(fenced[1].rstrip()) if fenced else ""
    above, _, line = text.rpartition("\n")
    if "|" in line and (cell := _last_cell(above, line)) is not None:
        return without_marks(cell)
    if above.strip():
        line = _behind(_ITEM, _behind(_PREFIX, line))
    elif line.startswith(("1. ", "• ")):
        line = line.partition(" ")[2]
    return without_marks(line)


def without_opening(text: str) -> str:
    """A text without marks at the start of its first line; of a fenced block, its line.

    >>> without_opening("- 12"), without_opening("> 42"), without_opening("```\\n18\\n```")
    ('12', '42', '18')
    """
    if text.startswith(_FENCES):
        end = text.find(text[:3], 3)
        fenced = _FENCED_LINE.fullmatch(text, 3, end) if end > 0 else None
        return fenced[1].rstrip() if fenced else text
    return _FIRST_OF_LIST.sub("", _behind(_BULLET, _behind(_PREFIX, text)), count=1)


# The bullet of a list: the `- ` of `- 12`.
_BULLET = re.compile(r"[-*•]\s+")


def _behind(mark: re.Pattern[str], text: str) -> str:
    """The text behind a mark at its start."""
    found = mark.match(text)
    return text[found.end() :] if found else text


def _last_cell(above: str, row: str) -> str | None:
    """The last cell of a table's last row; None where the text above is no table."""
    if "$" in row or "\\" in row:
        return None
    for line in reversed(above.split("\n")):
        if _RULE.fullmatch(line) and "-" in line:
            cells = [cell.strip() for cell in _BORDER.split(row)]
            return next((cell for cell in reversed(cells) if cell), None)
        if "|" not in line:
            return None
    return None


def listed_values(text: str) -> tuple[str, ...]:
    """The items of the list that ends a text, where each is nothing but a value; else none.

    Each value may have a name, if all have the same one and no number stands before the first.

    >>> listed_values("The roots:\\n- 42\\n- **43**"), listed_values("So:\\n- x = 2\\n- x = 3")
    (('42', '43'), ('x = 2', 'x = 3'))
    >>> listed_values("- 42"), listed_values("- apples: 3\\n- pears: 4")
    ((), ())
    """
    items: list[str] = []
    end = len(text.rstrip())
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        item = _ITEM.match(text, start, end)
        if item is None:
            break
        value = text[item.end() : end].strip()
        if not _NAMED_VALUE.fullmatch(value):
            return ()
        items.append(without_marks(value))
        end = start - 1
    names = {item.rpartition("=")[0].strip("$ ") for item in items}
    are_steps = names != {""} and text[end + 1 :].lstrip()[:1].isdigit()
    return tuple(reversed(items)) if len(items) > 1 and len(names) == 1 and not are_steps else ()


def listed_behind(text: str, position: int) -> tuple[str, ...]:
    """The items of a list behind a line, which ends the text, where each is a value; else none.

    >>> listed_behind("The roots are:\\n1. $x = 2$\\n2. $x = 3$", 14)
    ('$x = 2$', '$x = 3$')
    """
    rest = text[position:].lstrip(" *:\t")
    lines = [line.strip() for line in rest.split("\n", _MAX_LISTED)[1:] if line.strip()]
    if rest[:1] != "\n" or len(lines) < 2 or len(lines) == _MAX_LISTED:
        return ()
    values = [_behind(_ITEM, line) for line in lines]
    is_list = all(
        (value != line or line.startswith(("$$", "\\["))) and _NAMED_VALUE.fullmatch(value)
        for line, value in zip(lines, values, strict=True)
    )
    return tuple(map(without_marks, values)) if is_list else ()


# Signs and pictures of approval behind a word at the end of a line: ` ✅`, ` 🎉`.
_DECORATION = re.compile(
    r"(?<=[^\s-])[ \t]{1,9}[✅✓✔☑✨⭐🎉🎊💯👍👏🙌😊😀😃😄😎🚀🔥💪🌟🏆\ufe0f]{1,9}"
    r"(?=[ \t*_]{0,9}(?:\n|\Z))"
)


def without_decoration(text: str) -> str:
    """The text without pictures at the ends of its lines, and with stars for bold words.

    >>> without_decoration("**11** ✅"), without_decoration("11 ❌"), without_decoration("✅")
    ('**11**', '11 ❌', '✅')
    """
    text = _UNDERLINED.sub(r"\g<before>**\g<inside>**", text) if "__" in text else text
    text = _END_OF_PROOF.sub("", text) if "\\" in text[-30:] else text
    return text if text.isascii() else _DECORATION.sub("", text)


# The sign behind the end of a proof: the ` $\\blacksquare$` of `There are 7. $\\blacksquare$`.
_END_OF_PROOF = re.compile(
    r"(?<=[.!)}$\]*])\s{1,3}(?:\$\s?\\(?:blacksquare|square|Box|qed|QED|checkmark)\s?\$"
    r"|\\\(\s?\\(?:blacksquare|square|Box|qed|QED|checkmark)\s?\\\)|\\(?:blacksquare|qed|QED))\.?\s{0,9}\Z"
)
# Words in bold at the start of a line by another sign: the `__Answer:__` of `__Answer:__ 7`.
_UNDERLINED = re.compile(
    r"(?P<before>(?:\A|\n)[ \t]{0,9})__(?P<inside>[A-Za-z][A-Za-z :]{0,40})__(?!\w)"
)


def trimmed(line: str) -> str:
    """A line without Markdown, spaces, stars and full stops around it."""
    return without_marks(line.strip()).strip("*").strip().rstrip(".").strip()
