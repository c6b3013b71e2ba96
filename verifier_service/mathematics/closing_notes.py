"""Last paragraphs that hold no answer: they check it, comment on it or offer help."""

from __future__ import annotations

import re

# The beginning of a paragraph that checks the answer or comments on it: `**Check:**`, `Note`.
NOTE = re.compile(
    r"\W*(?:(?:double[- ])?check|verification|verify|note|hint"
    r"|confidence(?:\s(?:score|rating))?(?=\s?:\W{0,9}(?:\d{1,3}\s?\\?%|0?\.\d|high|medium|low)))\b",
    re.IGNORECASE,
)
# The end of a note that finds the answer wrong, and another one: the `not whole, so it must be 54.`
# of `Check: 48/9 is not whole, so it must be 54.`
_AMENDS = re.compile(
    r"(?:\b(?:not|wrong|mistake|error|fails|off)\b|n['’]t\b|≠)[^\n]{0,200}?\b(?:so|thus|hence|therefore|instead)\b"
    r"[^\n\d]{0,30}?\b(?:it|answer|value|number|total|result|that)\s+(?:must\s+be|should\s+be)\s+"
    r"[$*(]{0,3}(?P<value>[-−]?\d[\d.,/]{0,20}(?<![.,]))[$*)]{0,3}(?:\s[a-z]{1,15})?[.!]?\**\s{0,9}\Z",
    re.IGNORECASE,
)
_MAX_NOTE = 500
"""Most characters of a note in which another answer is sought."""


def amended_in_note(note: str) -> str | None:
    """The number with which a note replaces the answer that it finds wrong; else None.

    >>> amended_in_note("Check: 48/9 is not whole, so it must be 54."), amended_in_note("Check: 3.")
    ('54', None)
    """
    found = _AMENDS.search(note, max(0, len(note) - _MAX_NOTE))
    return found["value"] if found else None


# A closing paragraph that only offers help: `Would you like me to explain the steps?`
_COURTESY = re.compile(
    r"\W*(?:(?:(?:would|do|does|did|can|could|shall|may|want)\s+(?:you|that|this|it|i|me|we)"
    r"|is\s+there\s+(?:anything|something)\s+else)\b"
    r"(?:(?!\b(?-i:[A-HJ])\b)[^\d\n.!?]){0,150}\?"
    r"|(?:please\s+)?(?:let\s+me\s+know|feel\s+free|(?:i\s+)?hope\s+(?:this|that|it)|if\s+you\s+"
    r"(?:have|need|would|want)|happy\s+to)\b(?:(?!\b(?-i:[A-HJ])\b)[^\d\n]){0,150})\W*",
    re.IGNORECASE,
)


# The blanks of a line that has nothing else, before its end.
_BLANK_LINE = re.compile(r"\n[ \t]{1,20}(?=\n)")


def without_notes(text: str) -> str:
    """The text without last paragraphs that check the answer, comment on it or offer help."""
    text = _BLANK_LINE.sub("\n", text) if "\n " in text else text
    end = len(text)
    while (start := text.rfind("\n\n", 0, end)) >= 0 and (
        NOTE.match(text, start + 2, end) or _COURTESY.fullmatch(text, start + 2, end)
    ):
        end = start
        while end > 0 and text[end - 1].isspace():
            end -= 1
    return text[:end]
