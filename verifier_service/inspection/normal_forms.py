"""Problems in normal forms, by which repeated ones are found."""

from __future__ import annotations

import re
import unicodedata

MIN_LOOSE_TOKENS = 3
"""Fewest tokens of a problem that may equal another but for its wording."""

# A token: a command, a number, a word, or a sign: `\frac`, `3.5`, `sum`, `+`.
_TOKEN = re.compile(r"\\[A-Za-z]+|\d+(?:[.,]\d+)*|[^\W\d_]+|[^\w\s]|_")
# Space that LaTeX sets and nobody reads: `\,`, `\!`, `\left`, `\right`.
_LATEX_SPACE = re.compile(r"\\[,;:! ]|\\(?:left|right|quad|qquad|displaystyle)(?![A-Za-z])")
# The place between two sentences: that behind `5.` in `It is 5. Why?`
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n+")
_SIGNS_OF_FORM = frozenset("$.,?:;'\"`*#")
_ASKING = (
    "a an the of is are be what whats find compute calculate determine evaluate give please your "
    "answer final solve question problem following q let us now that value"
)
_FORM_WORDS = frozenset(_ASKING.split())
_INSTRUCTIONS = ("boxed", "step by step", "final answer", "<answer>", "<think>")


def exact_tokens(prompt: str) -> tuple[str, ...]:
    """The tokens of a problem, without case and without signs that only set it.

    >>> exact_tokens("What is  $2+2$?") == exact_tokens("what is 2 + 2 ?")
    True
    """
    text = _LATEX_SPACE.sub(" ", unicodedata.normalize("NFKC", prompt))
    tokens = (one if len(one) == 1 else one.casefold() for one in _TOKEN.findall(text))
    return tuple(one for one in tokens if one not in _SIGNS_OF_FORM)


def loose_tokens(prompt: str) -> tuple[str, ...]:
    """The tokens that make the problem: no instructions on the form, no words that only ask.

    >>> loose_tokens("Find the sum of 2 and 3. Put it in \\\\boxed{}.")
    ('sum', '2', 'and', '3')
    """
    sentences = [one for one in _SENTENCE_END.split(prompt) if one and not _is_instruction(one)]
    tokens = exact_tokens(" ".join(sentences))
    return tuple(one for one in tokens if one not in _FORM_WORDS)


def _is_instruction(sentence: str) -> bool:
    low = sentence.casefold()
    return any(one in low for one in _INSTRUCTIONS)
