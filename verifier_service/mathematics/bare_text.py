"""Texts that are an answer without anything around them, and formulas among them."""

from __future__ import annotations

import re
import string

from verifier_service.mathematics.answer_sources import MAX_ANSWER_CHARACTERS
from verifier_service.mathematics.closing_statement import FILLED
from verifier_service.mathematics.delimited_math import ENVIRONMENTS
from verifier_service.mathematics.spelled_numbers import is_number_word

MAX_BARE_CHARACTERS = 120
"""Longest text or last line with words that can be an answer without anything around it."""

BLANK = string.whitespace + "\u00a0\u200b\u200c\u200d\u2060\ufeff"

_MAX_WORDS_AFTER = 4
"""Most words that may follow the last mathematics without a full stop; longer text breaks off."""


def breaks_off(rest: str) -> bool:
    """Whether the text after its last mathematics ends in the middle of a sentence."""
    rest = rest.strip(BLANK + "*")
    return (
        bool(rest)
        and rest[-1].isascii()
        and rest[-1].isalpha()
        and len(_LETTERS.findall(rest)) > _MAX_WORDS_AFTER
    )


# A word of ASCII letters: `apples`.
WORD = re.compile(r"[A-Za-z]{2,}")

# A word, or one letter of another script: `apples`, `中`.
_LETTERS = re.compile(r"[A-Za-z]{2,}|[^\W\d_A-Za-z²³¹⁰⁴-⁹₀-₉]")

# A LaTeX command: `\frac`.
_COMMAND = re.compile(r"\\[a-zA-Z]+")

_MATH_WORDS = frozenset(
    (
        "or and sin cos tan log ln sqrt pi exp cm km mm kg mg ml am pm text frac dfrac left "
        "right boxed mathrm degrees degree hours minutes seconds meters dollars cents units real "
        "reals numbers positive negative"
    ).split()
)


def is_bare(text: str) -> bool:
    """Whether a text is an answer without anything around it."""
    return (
        "\n" not in text.strip()
        and (len(text) <= MAX_BARE_CHARACTERS or is_formula(text))
        and bool(FILLED.search(text))
        and not is_wordy(text)
        and not _leads_to_a_number(text)
        and not _NO_ANSWER.match(text)
        and not _NAMES_OPTION.fullmatch(text)
    )


# A short sentence with an option in brackets: `This supports (D).`
_NAMES_OPTION = re.compile(
    r"(?:this|that|it|we|so|thus|hence|therefore|I|which),?\s(?:[a-z'’]{1,15}\s){0,5}\((?-i:[A-J])\)[.!*]{0,3}",
    re.IGNORECASE,
)
# The first digit of a number: the `1` of `It is 12`.
_DIGIT = re.compile(r"\d")


# A word, the pronoun before a verb, a verb in short: the `I` of `I get 42`, the `'s` of `She's 7`.
_WORD_OR_I = re.compile(
    r"[A-Za-z]{2,}|(?<![A-Za-z])I(?=\s+[a-z]{2})|(?<=[a-z])['’](?:s|d|re|ve|ll)(?=\s)"
)


def _leads_to_a_number(text: str) -> bool:
    """Whether words stand before the first number, which then is the answer."""
    digit = _DIGIT.search(text)
    words = _WORD_OR_I.findall(_COMMAND.sub(" ", text[: digit.start()])) if digit else []
    return sum(word.lower() not in _MATH_WORDS for word in words) > 1


# The beginning of a refusal, or of a remark on the answer: `I don't know`, `Confidence: 90%`.
_NO_ANSWER = re.compile(
    r"\W*(?:I\s+(?:don['’]?t|do not|cannot|can['’]?t)\b"
    r"|confidence(?:\s(?:score|rating))?\s?:\W{0,9}(?:\d{1,3}\s?\\?%|0?\.\d|high|medium|low))",
    re.IGNORECASE,
)


def is_wordy(text: str) -> bool:
    """Whether a text has more than three words that neither mathematics nor a number uses."""
    words = [word.lower() for word in _LETTERS.findall(_COMMAND.sub(" ", text))]
    prose = [word for word in words if word not in _MATH_WORDS and not is_number_word(word)]
    return len(prose) > 3 and not is_formula(text)


# The beginning of an environment that is an answer by itself: `\begin{pmatrix}`.
_ENVIRONMENT = re.compile(r"\\begin\{([a-zA-Z]{1,20}\*?)\}")

_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def is_block(text: str) -> bool:
    """Whether a text in several lines is one environment, or one formula in brackets."""
    text = text.strip()
    if (environment := _ENVIRONMENT.match(text)) is not None:
        end = f"\\end{{{environment[1]}}}"
        is_display = environment[1] in ENVIRONMENTS
        return not is_display and text.endswith(end) and text.count(environment[0]) == 1
    return text[-1:] == _BRACKETS.get(text[:1], "") != "" and is_formula(text)


# Letters that begin or end no factor: the `so` of `so 3 + 4`, the `the` of `to the left`.
_PROSE = re.compile(
    r"(?<![A-Za-z])[A-Za-z]{2,}(?=\s+\w|\s*[:;.!?\"'’])|\w\s+[A-Za-z]{2,}"
    r"|[A-Za-z]{4,}|[^\W\d_A-Za-zα-ωΑ-Ω]"
)

# A sign that only a formula has: `+`, `=`, `^`.
_OPERATOR = re.compile(r"[-+*/^=<>_,\\]")


def is_formula(text: str) -> bool:
    """Whether a text is a formula altogether, whatever its length: `4ab + 3cd + ... + 7ij`."""
    if len(text) > MAX_ANSWER_CHARACTERS or not _OPERATOR.search(text):
        return False
    return _PROSE.search(_NAME.sub(_without_name, text)) is None


# A command, or a word that may be the name of a function: `\cdot`, `sin`.
_NAME = re.compile(r"\\[a-zA-Z]+\*?|[A-Za-z]{2,}")


def _without_name(name: re.Match[str]) -> str:
    return "," if name[0][0] == "\\" or name[0].lower() in _MATH_WORDS else name[0]
