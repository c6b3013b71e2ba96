"""Whether rules prove that two answers differ: both are read whole, as mathematics."""

from __future__ import annotations

from verifier_service.mathematics.comparison import AnswerReading, meets
from verifier_service.mathematics.rules import Rules
from verifier_service.mathematics.values import (
    Grid,
    Named,
    Quantity,
    Several,
    Value,
    Words,
)


def is_refuted(reference: AnswerReading, answer: AnswerReading, rules: Rules) -> bool:
    """Whether the answers differ for certain. Answers with words may still mean the same.

    >>> from verifier_service.mathematics.comparison import read_answer
    >>> rules = Rules("compare", "lenient", True, 1e-6, None)
    >>> [is_refuted(read_answer("12"), read_answer(one), rules) for one in ("13", "a dozen")]
    [True, False]
    """
    if not is_mathematics(reference) or not is_mathematics(answer):
        return False
    return meets(reference, answer, rules) is False


def is_mathematics(one: AnswerReading) -> bool:
    """Whether a text was read whole, without a word in it.

    >>> from verifier_service.mathematics.comparison import read_answer
    >>> [is_mathematics(read_answer(one)) for one in ("x^2 + 1", "5 apples", "(2, left)")]
    [True, False, False]
    """
    return bool(one.values) and not any(map(_has_words, one.values))


def _has_words(value: Value) -> bool:
    match value:
        case Words():
            return True
        case Quantity():
            return bool(value.words)
        case Named():
            return _has_words(value.value)
        case Several():
            return any(map(_has_words, value.items))
        case Grid():
            return any(_has_words(item) for row in value.rows for item in row)
        case _:
            return False
