"""An option whose words stand above its explanation: `**B. It falls**`, then `Explanation: ...`"""

from __future__ import annotations

import re
from collections.abc import Mapping

# A first line that is an option with its letter: `**B. It falls**`, `(B) It falls.`
_FIRST_OPTION = re.compile(r"[*_]{0,3}\(?(?P<letter>[A-Z])[).:]\s{1,3}(?P<words>[^\n]{1,200})")
# The explanation behind an option, which tells it from a heading: `**A. Analysis**`.
_EXPLAINED = re.compile(
    r"\s{0,9}[*_]{0,3}(?:explanation|reason(?:ing|s)?|rationale|justification|because|why)\b",
    re.IGNORECASE,
)
# Words that take an option back: `This one is incorrect.`, `On second thought, A.`
_AGAINST_OPTION = re.compile(
    r"\A[\s*_:?.,]{0,9}(?:(?:it|this|that|option|choice|one|answer|is|was|does|can)\s){0,4}"
    r"(?:is\s)?(?:not|cannot|no|never|wrong|incorrect|false|(?:isn|doesn)['\u2019]t|the\s(?:distractor|trap|wrong\w*|incorrect))\b"
    r"|\b(?:second\sthought|actually|correct\sone|my\spick|wait|scratch\sthat|correction|instead|hmm)\b",
    re.IGNORECASE,
)


def with_letter_alone(text: str, choices: Mapping[str, str]) -> str:
    """A text whose first line is an option with its letter, without the words of that option."""
    first = _FIRST_OPTION.match(text)
    if first is None:
        return text
    is_bold = first[0].startswith("**") and first[0].rstrip().endswith("**")
    words, choice = first["words"].strip(" .*_"), choices.get(first["letter"], "").strip(" .")
    rest = text[first.end() :]
    is_option = words.lower() == choice.lower() if choices else is_bold
    explanation = _EXPLAINED.match(rest)
    if explanation is None and choices and not _names_another(rest, first["letter"], choices):
        explanation = None if _DOUBTS.search(rest) else _PARAGRAPH.match(rest)
    if not is_option or explanation is None or _AGAINST_OPTION.search(rest[explanation.end() :]):
        return text
    return first["letter"] + rest


# The beginning of a sentence that goes on below an option: `\n\nThe order is two`.
_PARAGRAPH = re.compile(r"\n\s{0,9}(?=[A-Z][a-z]*\s)(?![A-Z][a-z]{0,12}[.):])")


# Words of a paragraph that may doubt the option above it, go on to others, or end with another.
_DOUBTS = re.compile(
    r"\b(?:but|yet|however|although|though|no|not|never|could|might|may|maybe|perhaps|if|let\s+me|first(?=,)|at\s+first|each"
    r"|wrong|second\s+option|seems|next|would\s+say)\b|n['\u2019]t\b|let['\u2019]s\b|\?|(?-i:\b[A-J])\W*\Z",
    re.IGNORECASE,
)


def _names_another(rest: str, letter: str, choices: Mapping[str, str]) -> bool:
    """Whether a text has the words of another option than that of a letter."""
    folded = rest.casefold()
    others = (text.casefold().strip(" .") for one, text in choices.items() if one != letter)
    return any(text in folded for text in others if text)
