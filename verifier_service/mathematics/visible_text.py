"""Text of a completion as its reader sees it: without comments, struck-out parts and HTML tags.

Everything here takes time linear in the length of the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import lru_cache

from verifier_service.answer_text import without_end_tokens
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
    text = _INVISIBLE.sub("", text)
    if "【" in text:
        text = _OPTION.sub(r" \1 ", text)
    if ">" in text[-8:]:
        text = without_end_tokens(text)
    if _has_html(text, tags):
        text = _without_html(text, frozenset(tags))
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    if "~~" in text:
        text = _STRUCK.sub("", text)
    if "%" in text:
        text = _COMMENT.sub("", text)
    if "]" in text and _MARKED.search(text):
        text = _COMMENT.sub("", _LINK.sub(r"\g<words>", _IMAGE.sub("", text)))
    if "\\" in text and _MAY_HIDE.search(text):
        text = _without_white(_COMMENT.sub("", text))
        text = _without_hidden_arguments(text)
    return text


# A control character, or a mark of the direction of writing that moves no sign. Overrides stay:
# behind one a reader sees 12 where the text has 21. A backspace may begin `\boxed`.
_INVISIBLE = re.compile(r"[\x00-\x07\x0e-\x1f\x7f\u200e\u200f\u061c\u202a-\u202c\u2066-\u2069]")
# An option in Chinese brackets: `【B】`.
_OPTION = re.compile(r"【\s{0,3}([A-J])\s{0,3}】")
# The beginning of a comment of HTML, or of an element that is struck out, hidden or no text.
_HIDDEN = re.compile(
    r"<!--"
    r"|<(?P<name>del|s|strike|script|style|template|title|noscript)(?:\s[^<>]{0,200})?>"
    r"|<(?P<other>\w{1,20})\s[^<>]{0,200}"
    r"(?:\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d])"
    r"|font-size\s*:\s*0(?![.\d])"
    r"|(?<![\w-])color\s*[:=]\s*[\"']?(?:white|transparent|#f{3}(?:f{3})?)\b)[^<>]{0,200}>",
    re.IGNORECASE,
)
# An element without content, whose attributes nobody reads: `<img alt="5">`.
_VOID = re.compile(r"<(?:img|input|meta|source|embed)\s[^<>]{0,400}>", re.IGNORECASE)
# Tags around words of a line: `<b>`, `</span>`.
_INLINE = "a|b|strong|i|em|u|ins|span|code|mark|font|small|big|tt|kbd|var|samp|label"
# Tags around lines.
_BLOCK = "p|div|li|ul|ol|h[1-6]|center|blockquote|pre|section|article|details|summary"
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
# An image of Markdown, of which the words are not shown: `![5](figure.png)`.
_IMAGE = re.compile(r"!\[[^\]\n]{0,300}\]\((?=[^()\s]*[./][A-Za-z])[^()\s]{1,300}\)")
# A link of Markdown, of which only the words are shown: `[see](https://example.org/5)`.
_LINK = re.compile(
    r"(?<!!)\[(?P<words>[^\[\]\n]{0,300})\]\((?:https?://|mailto:|#)[^()\s]{0,300}\)"
)
# A comment of LaTeX or Markdown: `% 5`, `\iffalse 5 \fi`, `[//]: # (5)`, `[note]: <> (5)`.
_COMMENT = re.compile(
    r"^[ \t]*%[^\n]*|^\[(?://|comment)\]:[^\n]*"
    r"|^\[[^\[\]\n]{1,60}\]:[ \t]*(?:#|<[^<>\n]*>)[ \t][^\n]*"
    r"|\\if(?:false\b|\s?0)(?s:.)*?(?:\\fi(?![a-zA-Z])|\Z)"
    r"|\\begin\{comment\}(?s:.)*?(?:\\end\{comment\}|\Z)",
    re.MULTILINE,
)
_COLOUR = r"(?:\[\w{1,10}\]\s*)?\{\s*(?:white|transparent|[Ff]{6}|1\s*,\s*1\s*,\s*1)\s*\}"
_MACRO = r"\*?\s*(?:\{\s*\\\w{1,40}\s*\}|\\\w{1,40})\s*(?:\[\d\]\s*)?"
# A command whose argument is not to be seen, is struck out or only defines another command:
# `\phantom{5}`, `\cancel{5}`, `\newcommand{\five}{5}`, the `\href{5}` of `\href{5}{a link}`.
_HIDING = re.compile(
    r"\\(?:[hv]?phantom|[bx]?cancel|cancelto\s*\{[^{}]*\}|sout|st|label|href"
    rf"|textcolor\s*{_COLOUR}|enclose\s*\{{[^{{}}]*strike[^{{}}]*\}}|class\{{hid[^{{}}]*\}}"
    r"|(?:opacity|scalebox)\s*\{0(?:\.0*)?\}"
    rf"|(?:(?:re)?new|provide)command{_MACRO}|[egx]?def\s*\\[A-Za-z]{{1,40}})\s*(?=\{{)"
)
# The beginning of any such command, of a colour or of a comment. It is sought in every text, so
# each alternative begins with letters, by which most commands are passed over.
_MAY_HIDE = re.compile(
    r"\\(?:phantom|hphantom|vphantom|cancel|bcancel|xcancel|sout|st\b|label|href|textcolor|enclose"
    r"|class|opacity|scalebox|newcommand|renewcommand|providecommand|def|edef|gdef|xdef|color|iffalse"
    r"|if\s?0|begin\{comment)"
)
# A bracket of a link or of a definition in Markdown: the `](` of `![5](figure.png)`.
_MARKED = re.compile(r"\][(:]")
# A command that makes white what follows in its group: the `\color{white}` of `{\color{white}5}`.
_WHITE = re.compile(rf"\\color\s*{_COLOUR}")


def _has_html(text: str, kept: Sequence[str]) -> bool:
    """Whether there are comments, breaks, or ends of other elements than those that stay."""
    if "<" not in text:
        return False
    num_kept = sum(text.count(f"</{name}>") for name in kept)
    if text.count("</") > num_kept or "<!--" in text or "<br" in text:
        return True
    return ("<img" in text or "<input" in text) and _VOID.search(text) is not None


def _without_html(text: str, kept: frozenset[str]) -> str:
    text = _without_hidden_elements(_VOID.sub("", _BREAK.sub("\n", text)), kept)
    closed = {name.lower() for name in _CLOSING_TAG.findall(text)} - kept
    if not closed:
        return text
    if closed & {"sup", "sub"}:
        text = _RAISED.sub(_as_latex, text)
    return _TAG.sub(lambda tag: _instead_of(tag, closed), text)


def _without_hidden_elements(text: str, kept: frozenset[str]) -> str:
    """The text without comments and hidden elements, whatever is inside them.

    An element that never closes is sought once: `shown` has its name then.
    """
    parts, position, shown = [], 0, set(kept)
    start = 0
    while (opening := _HIDDEN.search(text, start)) is not None:
        start = opening.end()
        name = (opening["name"] or opening["other"] or "").lower()
        if name in shown:
            continue
        end = _end_of_element(text, start, name) if name else text.find("-->", start) + len("-->")
        if name and end is None:
            shown.add(name)
            continue
        parts.append(text[position : opening.start()])
        position = start = end if end and end > start else len(text)  # an open comment hides all
    return "".join([*parts, text[position:]])


def _end_of_element(text: str, position: int, name: str) -> int | None:
    """The end of the element whose content begins at a position; None where it never closes."""
    depth = 1
    for tag in re.compile(rf"<(/?){re.escape(name)}\b[^<>]*>", re.IGNORECASE).finditer(
        text, position
    ):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end()
    return None


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


def _without_white(text: str) -> str:
    """The text without what white colour hides: the rest of its group, or of its line."""
    kept, position = [], 0
    while (colour := _WHITE.search(text, position)) is not None:
        kept.append(text[position : colour.start()])
        position = _end_of_group(text, colour.end())
    return "".join([*kept, text[position:]])


# A sign that can end a group or a line: a brace, `\n`.
_GROUP_SIGN = re.compile(r"[{}\n]")


def _end_of_group(text: str, position: int) -> int:
    depth = 0
    for sign in _GROUP_SIGN.finditer(text, position):
        if sign[0] == "{":
            depth += 1
        elif depth == 0:
            return sign.start()
        elif sign[0] == "}":
            depth -= 1
    return len(text)
