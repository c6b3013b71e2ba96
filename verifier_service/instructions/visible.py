"""The text that a reader sees: without comments and characters that show nothing."""

from __future__ import annotations

import re
import unicodedata

# A comment that no reader sees: Markdown's `[//]: # (keyword)`.
_MARKDOWN_COMMENT = re.compile(r"^\[(?://|comment)\]:[^\n]*$", re.MULTILINE)
# HTML's `<!-- keyword -->`.
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
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
    if text.isascii():
        return text
    return "".join(_shown(text))


def _shown(text: str) -> list[str]:
    kept = []
    for index, character in enumerate(text):
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
