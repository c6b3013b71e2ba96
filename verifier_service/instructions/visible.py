"""The text that a reader sees: without comments and characters that show nothing."""

from __future__ import annotations

import html
import re
import unicodedata

# A comment that no reader sees: Markdown's `[//]: # (keyword)`.
_MARKDOWN_COMMENT = re.compile(r"^\[(?://|comment)\]:[^\n]*$", re.MULTILINE)
# HTML's `<!-- keyword -->`.
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# The start of an element that is not shown: `<span style="display:none">`, `<b hidden>`.
_HIDING = re.compile(
    r"<([a-z][a-z0-9]{0,20})\b[^<>]{0,200}?(?:display\s*:\s*none|visibility\s*:\s*hidden"
    r"|(?:opacity|font-size)\s*:\s*0+(?:\.0*)?(?![.\d])|\shidden\b)[^<>]{0,200}>",
    re.IGNORECASE,
)
# Code, which is shown as it is, or the start of what is never shown as text: `<style>`,
# `\iffalse`, `\phantom{`.
_CODE_OR_UNSEEN = re.compile(
    r"^[ ]{0,3}(?:```|~~~)(?s:.*?)(?:^[ ]{0,3}(?:```|~~~)[ \t]*$|\Z)|`[^`\n]*`"
    r"|<(?P<name>style|script|template|title|noscript)\b[^<>]{0,200}>"
    r"|(?P<iffalse>\\iffalse)\b|\\[hv]?phantom\s*(?P<brace>\{)",
    re.IGNORECASE | re.MULTILINE,
)
# What shows that a text may have the above: the `<title` of `<title>`.
_MAY_BE_UNSEEN = re.compile(
    r"<(?:style|script|template|title|noscript)|\\iffalse|\\[hv]?phantom", re.IGNORECASE
)
# A declaration, or a link without a text: `<!DOCTYPE keyword>`, `[](keyword)`.
_UNSEEN = re.compile(r"<![a-z][^<>\n]*>|\[\]\([^()\n]*\)", re.IGNORECASE)
# A tag within a text: `</b>`, `<br>`.
_INLINE_TAG = re.compile(r"</?[a-z][^<>\n]{0,80}>", re.IGNORECASE)
# The hyphen at the end of a line of a word that the next one goes on with.
_BROKEN_WORD = re.compile(r"(?<=[^\W\d])-\n(?=[^\W\d])")
# Code, whose tags and entities a reader sees: "```html\n<b>\n```", `<b>`.
_CODE = re.compile(
    r"(^[ ]{0,3}(?:```|~~~)(?s:.*?)(?:^[ ]{0,3}(?:```|~~~)[ \t]*$|\Z)|`[^`\n]*`)", re.MULTILINE
)
_BREAKS = (
    "br|hr|p|div|li|ul|ol|dl|dt|dd|table|tr|td|th|thead|tbody|section|article|header|footer|h[1-6]"
)
# A tag of HTML in a text, not `<<b>>`: one that breaks a line, `<br/>`, or any other, `</b>`.
_TAG = re.compile(
    rf"(?:(?<!<)|(?<=<<))</?(?:(?P<breaks>{_BREAKS})"
    r"|a|abbr|b|big|center|cite|code|del|em|font|i|img|ins|kbd|mark|pre|q|s|small|span|strike|strong|sub|sup"
    r"|tt|u|var|wbr)(?:[ \t][^<>\n]{0,200})?/?>(?:(?!>)|(?=>>))",
    re.IGNORECASE,
)
_SIGNS_OF_SYNTAX = frozenset('"\\<&')
# A character that HTML writes out: `&nbsp;`, `&#44;`, `&#x200b;`.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});", re.IGNORECASE)
BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters, marks and signs that have no ink; Unicode's category of format has the others."""
NO_INK = (
    r"\xad\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    rf"\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef{BLANKS}"
)
"""Characters of format and blanks that show nothing, inside the brackets of a pattern."""
# A character that shows something: no white space, sign of control, format or blank.
_INK = re.compile(rf"[^\s\x00-\x1f\x7f-\x9f{NO_INK}]")
_JOINERS = "\u200c\u200d\ufe0f"
"""Characters that shape signs and emoji; they stay between signs that are not Latin."""
# Letters that look like Latin ones: the Cyrillic one in `c?t`.
_LOOK_ALIKES = str.maketrans(
    "\u0430\u0441\u0501\u0435\u04bb\u0456\u0458\u04cf\u043e\u0440\u051b\u0455"
    "\u051d\u0445\u0443\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c"
    "\u041e\u0420\u0405\u0422\u0425\u0391\u0392\u0395\u0396\u0397\u0399\u039a"
    "\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u0430\u03bd\u03b9",
    "acdehijlopqswxyABCEHIJKMOPSTXABEZHIKMNOPTYXoavi",
)


def visible(text: str) -> str:
    """The text without comments and without characters that show nothing.

    >>> visible("a<!-- keyword -->b\\u200bc")
    'abc'
    """
    if "<!--" in text:
        text = _HTML_COMMENT.sub("", text)
    if "]:" in text:
        text = _MARKDOWN_COMMENT.sub("", text)
    if _MAY_BE_UNSEEN.search(text):
        text = _without_unseen(text)
    if "<" in text:
        text = _without_hidden(text)
    if "<!" in text or "[](" in text:
        text = _UNSEEN.sub("", text)
    if text.isascii():
        return text
    return "".join(_shown(text))


def without_markup(text: str) -> str:
    """The text without tags of HTML, and with the characters that entities stand for.

    Code keeps its own.

    >>> without_markup("<b>a</b><br>&#98; &#8203;&nbsp;c `<b>`")
    'a b  c `<b>`'
    """
    if not (_TAG.search(text) or _ENTITY.search(text)):
        return text
    parts = _CODE.split(text)
    parts[::2] = map(_without_tags, parts[::2])
    return "".join(parts)


def _without_tags(text: str) -> str:
    text = _TAG.sub(lambda tag: " " if tag["breaks"] else "", text)
    return _ENTITY.sub(_character, text)


def _character(entity: re.Match[str]) -> str:
    """The character of an entity; a space for one that would end a text of JSON or begin a tag."""
    found = html.unescape(entity[0])
    if found.isspace() or found in _SIGNS_OF_SYNTAX:
        return " "
    return found if _INK.search(found) else ""


def is_blank(text: str) -> bool:
    """Whether a text has nothing but white space, comments and characters that show nothing.

    >>> is_blank("\u200b <!-- answer -->"), is_blank("0")
    (True, False)
    """
    if "<!--" in text:
        text = _HTML_COMMENT.sub("", text)
    return _INK.search(text) is None


def _without_hidden(text: str) -> str:
    """The text without elements that a browser does not show."""
    kept, end = [], 0
    lower = text.lower()
    for tag in _HIDING.finditer(text):
        if tag.start() < end:
            continue
        closing = f"</{tag[1].lower()}>"
        place = lower.find(closing, tag.end())
        kept.append(text[end : tag.start()])
        if place < 0:  # what follows would not be shown either
            return "".join(kept)
        end = place + len(closing)
    return "".join([*kept, text[end:]])


def _without_unseen(text: str) -> str:
    """The text without elements and LaTeX that have no words for a reader; code keeps its own.

    An element that never closes hides what follows where it begins a line, as in Markdown.
    """
    from verifier_service.mathematics.notation import brace_pairs  # noqa: PLC0415

    closing = brace_pairs(text, 0)
    kept, end, shown = [], 0, set()
    for found in _CODE_OR_UNSEEN.finditer(text):
        kind = found.lastgroup
        name = (found["name"] or kind or "").lower()
        if kind is None or found.start() < end or name in shown:
            continue
        if kind == "brace":
            brace = closing.get(found.start("brace"))
            after = None if brace is None else brace + 1
        else:
            closer = re.compile(rf"</{name}\s*>" if found["name"] else r"\\fi\b", re.IGNORECASE)
            close = closer.search(text, found.end())
            after = close.end() if close else None
            if after is None and text[: found.start()].rpartition("\n")[2].strip() == "":
                after = len(text)
            elif after is None:
                shown.add(name)
        if after is not None:
            kept.append(text[end : found.start()])
            end = after
    return "".join([*kept, text[end:]])


def joined(text: str) -> str:
    """The text with its words whole: tags and line breaks within them are left out.

    >>> joined("mar<b></b>ble, mar-\\nble, &#109;arble")
    'marble, marble, marble'
    """
    return _BROKEN_WORD.sub("", _INLINE_TAG.sub("", html.unescape(text)))


def _shown(text: str) -> list[str]:
    kept = []
    for index, character in enumerate(text):
        if character in BLANKS:
            continue
        if unicodedata.category(character) == "Cf" and not (
            character in _JOINERS and index and not text[index - 1].isascii()
        ):
            continue
        kept.append(character)
    return kept


def latin(text: str) -> str:
    """The text with Latin letters for those of other alphabets that look like them, in mixed words.

    >>> latin("c\\u0430t \\u043a\\u043e\\u0442")
    'cat \\u043a\\u043e\\u0442'
    """
    if text.isascii():
        return text
    normal = unicodedata.normalize("NFKC", text)
    return re.sub(r"\w+", _latin_word, normal)


def _latin_word(word: re.Match[str]) -> str:
    is_mixed = re.search("[A-Za-z]", word[0]) is not None
    return word[0].translate(_LOOK_ALIKES) if is_mixed else word[0]
