"""The one number that an announced sentence states: the `52` of `Answer: Bob ate 52 sweets.`

A sentence that bounds, denies, doubts or changes its number, or that has another number which may
be the answer, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from verifier_service.mathematics.closing_numbers import (
    NUMBER,
    amount_of_sentence,
    closing_result,
    number_of_subject,
    number_text,
)
from verifier_service.mathematics.closing_units import closing_amount
from verifier_service.mathematics.denials import is_no_statement, offered_in_line
from verifier_service.mathematics.spelled_numbers import NUMBER_WORDS

MAX_SENTENCE = 300
"""Longest sentence that is read, in characters."""

# A sentence about one number, up to it: `It will take `, `Each of them pays exactly $`.
_BEFORE_NUMBER = re.compile(
    r"(?:(?:[A-Z][\w'’]*|the)\s+)(?:[\w'’-]+\s+){0,20}?(?:is|are|was|were|be|takes?|took|has|have|had|needs?"
    r"|makes?|made|earns?|gets?|got|pays?|paid|costs?|spends?|spent|saves?|saved|buys?|bought|sells?"
    r"|sold|gives?|contains?|weighs?|runs?|ran|walks?|uses?|used"
    r"|(?:will|can|could|must)\s+[a-z]{3,12})\s+"
    r"(?:(?:a\s+total\s+of|exactly|only|in\s+total)\s+)?[$*]*"
)
# Words that may follow a number in a sentence, none of which changes it: ` years before he earns`.
_PLAIN_END = re.compile(
    r"\**(?:\s+(?!(?:or|and|but|if|unless|times|more|less|fewer|plus|minus|squared|cubed|hundred"
    r"|thousand|million|billion|dozen|percent|half|point)\b)[A-Za-z'’,]+){0,15}[.!*]*$",
    re.IGNORECASE,
)


def number_of_sentence(statement: str, behind: str) -> str:
    """The number that an announced sentence of prose states; the statement if it states none.

    >>> number_of_sentence("It will take 13 years", "")
    '13'
    >>> number_of_sentence("Kim ate 2 more plums than Jo.", "")
    '2'
    >>> number_of_sentence("He has 2 or 3 of them", "")
    'He has 2 or 3 of them'

    Args:
        statement: the sentence, or any other statement.
        behind: the text behind it. Where that has a number, the sentence may be the beginning of
            a solution.
    """
    if statement.count(" ") < 2 and not _is_unspaced(statement):
        return statement
    numbers = list(NUMBER.finditer(statement))
    if not numbers or "\\" in statement or len(statement) > MAX_SENTENCE:
        return statement
    start, end = numbers[-1].span()
    if is_no_statement(statement, start, end) or offered_in_line(statement) is not None:
        return statement
    if len(numbers) == 1 and _BEFORE_NUMBER.fullmatch(statement, 0, start):
        if _PLAIN_END.match(statement, end) is not None:
            return numbers[0][0]
    if any(map(str.isdigit, behind)):
        return statement
    if _LABELLED_RESULT.fullmatch(statement) is not None:
        return _last_amount(statement, numbers)
    if _CHANGES.search(statement):
        return statement
    return _number_of_any_sentence(statement, numbers) or statement


def _number_of_any_sentence(statement: str, numbers: Sequence[re.Match[str]]) -> str | None:
    """The number of a sentence with any verb, in any language."""
    if (first := amount_of_sentence(statement) or number_of_subject(statement)) is not None:
        return first
    if (result := closing_result(statement)) is not None:
        return number_text(statement[slice(*result)])
    return _last_amount(statement, numbers) if len(numbers) == 1 else None


def _last_amount(statement: str, numbers: Sequence[re.Match[str]]) -> str:
    """The last number of a sentence, with its unit."""
    amount = closing_amount(statement, numbers)
    return number_text(numbers[-1][0] if amount is None else amount)


# A number that counts those of which a verb is denied: `21 pupils did not come to the party`.
_COUNTED_OUT = re.compile(
    r"(?P<value>\d[\d,]{0,12})(?:[ ](?!and\b|or\b)[a-z]{2,20}){1,4}[ ]"
    r"(?:did|do|were|are|have|had|will|can|could)[ ]not[ ]"
    r"(?!the\b|an?\b|be\b|it\b|equal|right|correct|enough|possible|valid|sure|known)[a-z]{2,20}\b[^\d]*",
)


def number_counted_out(statement: str) -> str | None:
    """The number of those that a sentence denies something of; None for any other denial.

    >>> number_counted_out("21 pupils did not come."), number_counted_out("5 is not right.")
    ('21', None)
    """
    counted = _COUNTED_OUT.fullmatch(statement) if len(statement) <= MAX_SENTENCE else None
    return counted["value"] if counted else None


# Three signs of a script without spaces between its words, Chinese, Japanese or Thai: `花了三`.
_UNSPACED = re.compile(r"(?:[\u3040-\u30ff\u4e00-\u9fff\u0e00-\u0e7f].{0,20}?){3}")


def _is_unspaced(statement: str) -> bool:
    return len(statement) <= MAX_SENTENCE and _UNSPACED.search(statement) is not None


# A label with its computation: `Total cost = $10 + $15 = $25`.
_LABELLED_RESULT = re.compile(
    r"[A-Za-z][A-Za-z'’ ()-]{2,80}=\s?[$€£]?\d[\d,.]*(?:\s?[-−+*/×·÷x]\s?[$€£]?\d[\d,.]*){1,9}\s?"
    r"=\s?[$€£]?\d[\d,.]*(?:\s[A-Za-z]+){0,3}\.?"
)
_SPELLED = "|".join(word for word in NUMBER_WORDS if word != "one")
# A word that changes a number, bounds it, or gives another one: `twice`, `at least`, `two`, `and a
# half`, `5 and some`; in other languages the commonest of them.
_CHANGES = re.compile(
    r"\b(?:or|either|but|if|unless|whether|times|plus|minus|squared|cubed|hundred|thousand|million"
    r"|billion|dozen|half|twice|thrice|doubled?|tripled?|quarter|third|divided|multiplied|negative"
    r"|square|cube|root|power|factorial|between|maybe|perhaps|possibly|wrong|guess|another|not"
    rf"|except|least|most|{_SPELLED})\b|n['’]t\b"
    r"|\b(?:more|less|fewer|greater|higher|lower|above|below|over|under)\s+(?:than\s+)?[$€£]?\d"
    r"|\d\s*(?:more|less|fewer|times)\s+than\b|\d\s*[-−+*/^×÷!]|[-−+*/^×÷?]\s*[$€£]?\d"
    r"|\d[\w.]*,?\s+and\b(?!\s+\w+)|\d[\w.]*,?\s+and\s+(?:some|an?|then|no|so|he|she|they|we|it|I)\b"
    r"|\b(?:ou|oder|o|u|або|или|либо|nicht|kein\w*|pas|aucun\w*|non|não|нет|не|mal|fois|veces|si|wenn"
    r"|falls|moitié|mitad|hälfte|doppelt\w*|doble|au\s+moins|mindestens|al\s+menos)\b"
    r"|[不没無无非或二三四五六七八九十百千万億亿倍半]|至少|ない|また",
    re.IGNORECASE,
)
