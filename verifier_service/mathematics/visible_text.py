"""Text of a completion as its reader sees it: without comments, struck-out parts and HTML tags.

Everything here takes time linear in the length of the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import lru_cache

from verifier_service.mathematics.notation import brace_pairs


@lru_cache(maxsize=2)  # a judge asks twice about the same text
def visible_text(text: str, tags: tuple[str, ...] = ()) -> str:
    """A text without its hidden parts, and without tags of HTML.

    >>> visible_text("<!-- 7 -->5"), visible_text("~~7~~ <b>5</b>"), visible_text("a<b>c")
    ('5', ' 5', 'a<b>c')

    Args:
        text: the completion, or a part of it.
        tags: names of tags that hold the answer, which stay.
    """
    if _has_html(text, tags):
        text = _without_html(text, frozenset(tags))
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if "~~" in text:
        text = _STRUCK.sub("", text)
    if "%" in text or "//]" in text or "comment" in text or "\\iffalse" in text:
        text = _COMMENT.sub("", text)
    if "{white}" in text:
        text = _WHITE.sub("", text)
    if "\\" in text and _HIDING.search(text):
        text = _without_hidden_arguments(text)
    return text


# A comment of HTML, closed or not; an element that is struck out, hidden or no text at all.
_HIDDEN_ELEMENT = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<name>del|s|strike|script|style|template)(?:\s[^<>]{0,200})?>[^<]*</(?P=name)>"
    r"|<(?P<other>\w{1,20})\s[^<>]{0,200}"
    r"(?:\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0\b)[^<>]{0,200}>"
    r"[^<]*</(?P=other)>",
    re.DOTALL | re.IGNORECASE,
)
# Tags around words of a line: `<b>`, `</span>`.
_INLINE = "b|strong|i|em|u|span|code|mark|font|small|big|tt|kbd|var|samp"
# Tags around lines.
_BLOCK = "p|div|li|ul|ol|h[1-6]|center|blockquote|pre"
# The end of an element: the `</b>` of `<b>5</b>`. Without it the signs are relations: `a<b>c`.
_CLOSING_TAG = re.compile(rf"</({_INLINE}|{_BLOCK}|sup|sub)\s*>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?P<name>{_INLINE}|{_BLOCK})(?:\s[^<>]{{0,200}})?>", re.IGNORECASE)
# An exponent or an index: `<sup>2</sup>`.
_RAISED = re.compile(r"<(?P<name>sup|sub)>(?P<inside>[^<]*)</(?P=name)>", re.IGNORECASE)
# The end of a line: `<br>`, `<br/>`.
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
# A sign by its name: `&lt;`, `&minus;`. The `&` of a LaTeX table is none.
_ENTITY = re.compile(
    r"&(?:nbsp|lt|gt|le|ge|ne|amp|minus|times|divide|plusmn|middot|pi|theta|radic|infin|deg|pound"
    r"|euro|frac12|frac14|frac34|sup2|sup3|#\d{1,6});"
)
# A struck-out part of a line in Markdown: `~~5~~`. Between formulas `~~` is space.
_STRUCK = re.compile(r"(?:(?<=[\s*(])|^)~~(?=[^\s~])[^~\n]*~~(?=[\s.,;:!?)*]|$)", re.MULTILINE)
# A comment of LaTeX or Markdown: `% 5`, `\iffalse 5 \fi`, `[//]: # (5)`.
_COMMENT = re.compile(
    r"^[ \t]*%[^\n]*|^\[(?://|comment)\]:[^\n]*"
    r"|\\iffalse\b(?s:.)*?(?:\\fi(?![a-zA-Z])|\Z)"
    r"|\\begin\{comment\}(?s:.)*?(?:\\end\{comment\}|\Z)",
    re.MULTILINE,
)
# A command whose argument is not to be seen or is struck out: `\phantom{5}`, `\cancel{5}`.
_HIDING = re.compile(r"\\(?:[hv]?phantom|[bx]?cancel|sout|st|textcolor\s*\{\s*white\s*\})\s*(?=\{)")
# White text up to the end of its group: the `\color{white}5` of `{\color{white}5}`.
_WHITE = re.compile(r"\\color\s*\{white\}[^{}]*(?=\}|\Z)")


def _has_html(text: str, kept: Sequence[str]) -> bool:
    """Whether there are comments, breaks, or ends of other elements than those that stay."""
    if "<" not in text:
        return False
    num_kept = sum(text.count(f"</{name}>") for name in kept)
    return text.count("</") > num_kept or "<!--" in text or "<br" in text


def _without_html(text: str, kept: frozenset[str]) -> str:
    text = _HIDDEN_ELEMENT.sub(
        lambda found: found[0] if _name_of(found) in kept else "", _BREAK.sub("\n", text)
    )
    closed = {name.lower() for name in _CLOSING_TAG.findall(text)} - kept
    if not closed:
        return text
    if closed & {"sup", "sub"}:
        text = _RAISED.sub(_as_latex, text)
    return _TAG.sub(lambda tag: _instead_of(tag, closed), text)


def _name_of(element: re.Match[str]) -> str:
    return (element["name"] or element["other"] or "").lower()


def _as_latex(raised: re.Match[str]) -> str:
    sign = "^" if raised["name"].lower() == "sup" else "_"
    return f"{sign}{{{raised['inside']}}}"


def _instead_of(tag: re.Match[str], closed: set[str]) -> str:
    name = tag["name"].lower()
    if name not in closed:
        return tag[0]
    return "" if re.fullmatch(_INLINE, name) else "\n"


def _without_hidden_arguments(text: str) -> str:
    closing = brace_pairs(text, 0)
    kept, position = [], 0
    for command in _HIDING.finditer(text):
        end = closing.get(command.end())
        if end is not None and command.start() >= position:
            kept.append(text[position : command.start()])
            position = end + 1
    return "".join([*kept, text[position:]])
