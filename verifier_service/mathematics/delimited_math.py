r"""Mathematics between delimiters: `$5$`, `\[x = 2\]`, `\begin{align}`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from verifier_service.mathematics.closing_statement import FILLED
from verifier_service.mathematics.markdown import trimmed

_INNER = ("aligned", "gathered", "split")
"""Environments that stand in display mathematics, or alone where that is forgotten."""
ENVIRONMENTS = (
    *("align", "align*", "equation", "equation*", "gather", "gather*", "eqnarray"),
    *_INNER,
)

# The beginning of mathematics: `$`, `\[`, `\begin{align}`.
OPENING = re.compile(
    r"\$\$|(?<!\\)\$|(?<!\\)\\\[|(?<!\\)\\\(|\\begin\{(?:align|equation|gather)\*?\}"
    r"|\\begin\{(?:eqnarray|aligned|gathered|split)\}"
)

_CLOSING = {"$$": "$$", "$": "$", "\\[": "\\]", "\\(": "\\)"} | {
    f"\\begin{{{name}}}": f"\\end{{{name}}}" for name in ENVIRONMENTS
}


@dataclass(frozen=True)
class DelimitedMath:
    """Mathematics between delimiters: its start and end with them, its text without them."""

    start: int
    end: int
    inside: str


def delimited(text: str) -> list[DelimitedMath]:
    """Mathematics between delimiters, in order, in time linear in the text.

    An opening sign that is never closed is looked for once: `unclosed` has such signs.
    """
    found: list[DelimitedMath] = []
    unclosed: set[str] = set()
    position = 0
    while (match := OPENING.search(text, position)) is not None:
        opening = match[0]
        position = match.end()
        if opening in unclosed:
            continue
        end = text.find(_CLOSING[opening], position)
        if opening == "$" and end >= 0:
            line_end = text.find("\n", position, end)
            is_sum = text[position : position + 2].lstrip(".")[:1].isdigit()
            before = "-+*/=(<" if is_sum else "-+*/"
            is_between = text[end - 1].isspace() or text[end - 1] in before
            is_amount = text[end + 1 : end + 2].isdigit() or text[
                end + 1 : end + 4
            ].lstrip().startswith("<<")
            is_money = is_between and is_amount
            if line_end >= 0 or is_money:  # the sign of money: `$5 and $6`, `$5-$3`
                continue
        if end < 0:
            unclosed.add(opening)
        elif text[position:end].strip():
            inside = _without_end_of_row(text[position:end])
            found.append(DelimitedMath(match.start(), end + len(opening), inside))
            position = end + len(opening)
    return found


def _without_end_of_row(inside: str) -> str:
    r"""Mathematics without spaces around it and an end of a row behind it: `12` of `12 \\\\`."""
    inside = inside.strip()
    return inside[:-2].rstrip() if inside.endswith("\\\\") and len(inside) > 2 else inside


def without_spans(text: str, spans: Sequence[DelimitedMath]) -> str:
    """The text around its mathematics."""
    parts, position = [], 0
    for span in spans:
        parts.append(text[position : span.start])
        position = span.end
    return " ".join([*parts, text[position:]])


# The end of displayed mathematics at the start of a line: `\]`, `$$`.
DISPLAY_END = re.compile(r"\s*(?:\\\]|\$\$|\\end\{)")


def has_open_display(rest: str) -> bool:
    """Whether displayed mathematics begins in a text."""
    opening = OPENING.search(rest)
    return opening is not None and opening[0] != "$"


# An environment inside display mathematics that only sets its rows.
_ROWS = re.compile(
    r"\\begin\{(?P<name>(?:align|gather)(?:ed|\*)?|split)\}(?P<rows>(?:(?!\\begin|\\end).)*)\\end\{(?P=name)\}"
    r"[\s.]*",
    re.DOTALL,
)


def rows_alone(text: str) -> str | None:
    """The last side of a chain in rows that is all of a text; its rows where they are no chain.

    None for any other text, and for environments that display mathematics by themselves.
    """
    text = text.strip()
    if (rows := _ROWS.fullmatch(text)) is None or rows["name"] not in _INNER:
        return None
    return end_of_chain(text)


def end_of_chain(statement: str) -> str:
    """The last side of a chain in rows of an environment; any other statement as it is.

    >>> end_of_chain(r"\\begin{split}x&=2+3\\\\&=5\\end{split}")
    '5'
    """
    if not statement.startswith("\\begin") or (rows := _ROWS.fullmatch(statement)) is None:
        return statement
    is_chain = rows["rows"].rstrip("\\ \n").rpartition("\\\\")[2].lstrip().startswith("&")
    return final_side(statement) if is_chain else statement


def final_side(statement: str) -> str:
    """The last row of several, and the end of a chain of equations."""
    if (rows_alone := _ROWS.fullmatch(statement)) is not None:
        statement = rows_alone["rows"].strip()
    if "\\begin" not in statement:
        rows = [row for row in statement.split("\\\\") if FILLED.search(row)]
        if len(rows) > 1 and "&" in statement:
            statement = rows[-1].strip()
            if statement.startswith("&"):
                statement = statement.replace("&", " ").strip().removeprefix("=").strip()
        statement = statement.replace("&", " ")
    if statement.count("=") < 2 or "$" in statement or _lists_equations(statement):
        return trimmed(statement)
    last = statement.rpartition("=")[2].strip()
    return trimmed(statement) if "\\end{" in last else last


# What stands between two equations of a list: a comma outside of brackets, `\text{ or }`, `\\`.
_BETWEEN_EQUATIONS = re.compile(
    r"[,;](?![^()\[\]{}]{0,60}[)\]}])|\\text\s{0,3}\{\s{0,3}(?:or|and)\s{0,3}\}|\\q?quad(?![a-z])"
    r"|\\\\"
)
# An equation that gives a name its value: `a_1 = 3`, `f(2) = 5`, but not `a + b = 5`.
_GIVES_VALUE = re.compile(
    r"\s{0,9}(?P<name>(?:[A-Za-z\\]|\([^()=]{1,20}\))(?:[^=+*/−()-]|\([^()]{0,20}\)){0,30})=[^=]{1,100}"
)


def _lists_equations(statement: str) -> bool:
    """Whether a statement is a list of values with names, and no chain: `a = 1, b = 2`.

    Rows that give one name are a derivation.
    """
    parts = [part for part in _BETWEEN_EQUATIONS.split(statement) if part.strip(" .")]
    found = [_GIVES_VALUE.fullmatch(part) for part in parts]
    names = {one["name"].strip() for one in found if one is not None}
    is_list = len(parts) > 1 and None not in found
    return is_list and ("\\\\" not in statement or len(names) == len(parts))
