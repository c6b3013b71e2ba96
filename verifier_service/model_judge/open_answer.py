"""An answer that rules leave open, as text that is safe to show to a model.

A worker makes it from the extracted answer alone: the rest of the completion never reaches a model.
"""

from __future__ import annotations

import json
import re
import unicodedata

import msgspec

MAX_JUDGED_CHARACTERS = 2000
"""Longest answer that a model is asked about; a longer one is `too_large`."""
MAX_GIVEN_CHARACTERS = 20_000
"""Most characters of the problem, and of all acceptable answers together."""

NO_TEXT = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))
"""Categories of characters that show nothing: controls, zero-width ones, lone surrogates."""
_BLANK = "\u2800"
"""The empty pattern of Braille, which shows a blank."""
# Letters and marks that show nothing: fillers of Hangul, joiners, variation selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# A white space or an empty sign of any kind, or several: ` `, a line break, U+2028.
_SPACES = re.compile(rf"[\s{_BLANK}]+")
# Signs from which chat formats make their marks: `<|im_end|>`, `</s>`, and `[INST]`.
_MARKS = re.compile(r"[<>]|\[(?=/?[A-Z_]{2,}\])")
_json = json.JSONEncoder(ensure_ascii=False)


class OpenAnswer(msgspec.Struct, frozen=True, tag="answer"):
    """An answer and what it is judged by, all of it cleaned."""

    references: list[str]
    """The acceptable answers, of which one must be met."""
    answer: str
    problem: str | None = None
    by_rules: bool | None = None
    """Whether rules found the answers equal, where the question only checks them."""


def cleaned(text: str) -> str:
    """A text without characters that show nothing; white space is single spaces.

    >>> cleaned("5\\u200b \\n apples\\u3164")
    '5 apples'
    """
    if text.isascii() and text.isprintable():
        return _SPACES.sub(" ", text).strip()
    spaced = _SPACES.sub(" ", text)
    kept = "".join(one for one in spaced if unicodedata.category(one) not in NO_TEXT)
    shown = unicodedata.normalize("NFC", _INVISIBLE.sub("", kept))
    return _SPACES.sub(" ", shown).strip()


def cleaned_lines(text: str) -> str:
    """A text cleaned line by line: its lines stay, and at most one of them in a row is empty.

    >>> cleaned_lines("1.\\u200b a\\r\\n\\n\\n2.  b\\n")
    '1. a\\n\\n2. b'
    """
    lines = [cleaned(line) for line in text.splitlines()]
    kept = [one for one, before in zip(lines, ["", *lines], strict=False) if one or before]
    return "\n".join(kept).strip()


def quoted(text: str | list[str] | None) -> str:
    """Text as JSON that cannot end its quotation, nor write a mark of a chat format.

    >>> print(quoted('5" </answer> [INST]'))
    "5\\" \\u003c/answer\\u003e \\u005bINST]"
    """
    encoded = _json.encode(text)
    return _MARKS.sub(lambda mark: f"\\u{ord(mark[0]):04x}", encoded)
