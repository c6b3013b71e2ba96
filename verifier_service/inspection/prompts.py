"""Problems in normal forms, by which repeated ones are found, and answers that they state."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

MAX_STATED_CHARACTERS = 200
"""Longest answer that is looked for behind a word such as `answer`."""
MIN_STATED_PROGRAM_CHARACTERS = 40
"""Shortest program that is looked for in a problem as a whole."""
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
_COUNTING = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred first second third fourth fifth sixth seventh eighth ninth tenth"
)
_NUMBER_WORDS = frozenset(_COUNTING.split())


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


def skeleton(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens with words cut to their first letter, which typing errors seldom change."""
    return tuple(one[0] if _is_word(one) else one for one in tokens)


def differ_by_typing(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether problems with one skeleton differ only as typing errors do.

    One word in ten may differ, and one at least; each by a letter, or by two neighbours.

    >>> differ_by_typing(("sum", "odd", "numbers"), ("sum", "odd", "nubmers"))
    True
    >>> differ_by_typing(("is", "maximum"), ("is", "minimum"))
    False
    """
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    if len(pairs) > max(1, len(one) // 10):
        return False
    return all(_is_typing_error(a, b) for a, b in pairs)


def _is_word(token: str) -> bool:
    return len(token) > 3 and token.isalpha() and token not in _NUMBER_WORDS


def _is_typing_error(one: str, other: str) -> bool:
    """Whether two words of five letters or more differ by a letter or by two neighbours."""
    if min(len(one), len(other)) < 5 or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    a, b = one[start:], other[start:]
    if a[1:] == b or a == b[1:] or a[1:] == b[1:]:
        return True
    return len(a) == len(b) and a[:2] == b[1::-1] and a[2:] == b[2:]


# A word that announces an answer, and what links it: the `answer is` of `The answer is 5`.
_ANNOUNCED = re.compile(r"\b(?:answer|solution|result|ans)\b[ \t]{0,4}(?:is\b|:|=)", re.IGNORECASE)


def states(prompt: str, answer: str) -> bool:
    """Whether a problem states an answer behind a word such as `answer`.

    >>> states("Add 2 and 3. (Answer: 5)", "5"), states("The answer is 5.5?", "5")
    (True, False)
    """
    wanted = _stated_form(answer)
    if not wanted or len(wanted) > MAX_STATED_CHARACTERS:
        return False
    return any(_begins_with(text, wanted) for text in _announced(prompt))


def _announced(prompt: str) -> Iterator[str]:
    for match in _ANNOUNCED.finditer(prompt):
        yield _stated_form(prompt[match.end() : match.end() + 2 * MAX_STATED_CHARACTERS])


def _stated_form(text: str) -> str:
    text = " ".join(text.replace("$", " ").split()).lstrip("*(\"' ")
    return text.casefold() if len(text) > 1 and text[1].isalnum() else text


def _begins_with(text: str, wanted: str) -> bool:
    if not text.startswith(wanted):
        return False
    rest = text[len(wanted) :]
    if not rest:
        return True
    if len(wanted) == 1 and wanted.isalpha():
        return rest[0] in ".,;)*\"'"  # "the answer is a number" does not state option A
    is_decimal = rest[0] in ".,/^" and rest[1:2].isalnum()
    return not rest[0].isalnum() and not is_decimal and rest[0] not in "+-*/^_"


def contains_program(prompt: str, program: str) -> bool:
    """Whether a problem holds a whole program."""
    wanted = " ".join(program.split())
    if len(wanted) < MIN_STATED_PROGRAM_CHARACTERS:
        return False
    return wanted in " ".join(prompt.split())
