"""Values that a short sentence states: the `12` of `15% of 80 is 12.`

Such a sentence is nothing but a subject, a verb and a value. One that doubts, denies, asks or has
an operation left to do states none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from verifier_service.mathematics.closing_numbers import FACTOR_OF_FORMULA, NUMBER, number_text
from verifier_service.mathematics.closing_words import DENIAL, DOUBT
from verifier_service.mathematics.spelled_numbers import NUMBER_WORDS, SPELLED_NUMBER

MAX_CHARACTERS = 120
"""Longest sentence that is read."""
_MAX_WORDS_OF_SUBJECT = 10


@dataclass(frozen=True)
class ShortStatement:
    """The statement of a short sentence about its subject."""

    subject: str
    value: str
    """The value with its unit, as it is written."""
    text: str
    """The text to compare: the value, or an equation whose left side must then agree with it."""


# A verb that says what its subject is, for which `=` can stand: `is`, `makes`.
_COPULA = (
    r"(?:is|are|was|were|equals?|makes?|made|gives?|yields?|comes?\s+to|amounts?\s+to|adds?\s+up\s+to"
    r"|works?\s+out\s+to)(?:\s+equal\s+to)?"
)
# A verb that says how much its subject has, needs or costs.
_MEASURING = (
    r"(?:takes?|took|has|have|had|needs?|needed|earns?|earned|gets?|got|pays?|paid|costs?|spends?|spent"
    r"|saves?|saved|buys?|bought|sells?|sold|contains?|contained|weighs?|weighed|holds?|held|runs?|ran"
    r"|walks?|walked|uses?|used|lasts?|lasted|eats?|ate|reads?|lays?|laid|travels?|travel+ed|covers?"
    r"|covered|measures?|measured|receives?|received|owes?|owed|fills?|filled|requires?|required)"
)
# A formula with a digit or a sign that only formulas have: `2y + 3`, `3\sqrt{2}`.
_FORMULA = (
    rf"(?=[^A-Za-z]*[a-z]?[^A-Za-z]*[\dπ√\\])[-−]?\s?{FACTOR_OF_FORMULA}+"
    rf"(?:\s?(?:[-−+*/·×÷]|\*\*)\s?{FACTOR_OF_FORMULA}+)*"
)
# A short sentence: `So 15% of 80 is exactly 12.`, `It costs ten dollars.`; `one` is a pronoun too.
_STATEMENT = re.compile(
    rf"""(?:(?:so|thus|hence|therefore|then)\b,?\s+)?
    (?P<subject>(?:[^\s.,;:!?=<>≠≈→]|(?<=\d)[.,](?=\d)|(?<=[\d)])!|\ )+?)\s+
    (?:(?P<copula>{_COPULA})|(?:{_MEASURING}))\s+
    (?:(?:a\s+total\s+of|exactly|precisely|only|just|simply|thus|therefore|then|indeed)\s+)?
    (?P<value>(?:\\?[$€£]\s?)?(?:{NUMBER.pattern})(?P<unit>(?:\s+[A-Za-z'’]+){{0,5}})|{_FORMULA}
    |(?(copula)(?!)|(?!one\b(?!\s+(?:hundred|thousand|million)))){SPELLED_NUMBER}(?P<words>(?:\s+[A-Za-z'’]+){{0,5}}))
    [*_]*\.?""",
    re.VERBOSE | re.IGNORECASE,
)

# A word of a subject of which nothing, or something else than the answer, is stated: a question, a
# supposition, a label, a second statement.
_NO_SUBJECT = re.compile(
    r"\b(?:what|which|who|whom|whose|how|why|when|where|while|for|let|given|because|since|imagine|pretend"
    r"|i|is|are|was|were|be|equals?|so|thus|hence|therefore|then|case|step|stage|part|method|way"
    r"|approach|plan|attempt|try|guess|estimate|approximation|bound|limit|problem|question|figure|line"
    r"|exercise|equation|page|originally|initially|formerly|once|first|second|last|old|example|fake"
    r"|bogus|bad|almost|nearly|about|around|roughly|approximately)\b",
    re.IGNORECASE,
)
# A word for an operation, of whose result the value is: the `Twice` of `Twice x is 6`.
_OPERATION = re.compile(
    r"\b(?:half|twice|thrice|doubled?|tripled?|quarter|third|minus|negative|reciprocal|inverse|squared?"
    r"|cubed?|roots?|log(?:arithm)?|complement|multiple|power|plus|times|over|remainder|digits?)\b",
    re.IGNORECASE,
)
# A value before `and`, behind which another statement begins: the `5 and` of `5 and x`.
_VALUE_AND = re.compile(r"\d\S*\s+and\s+\D*", re.IGNORECASE)
# A word behind a number that changes it or leaves something to do with it: `over`, `doubled`.
_CHANGING = re.compile(
    r"\b(?:and|over|under|above|below|beyond|off|short|away|by|to|from|into|of|as|than|times|more|less"
    r"|fewer|plus|minus|divided|multiplied|squared|cubed|factorial|choose|mod|modulo|x|point|half|at"
    r"|negative|positive|wrong|false|joking|kidding|when|while|where|once|so|then|ish|about|versus|vs"
    rf"|(?:doubl|halv|tripl|quadrupl|invert|revers|negat|increas|decreas|add|subtract)\w*"
    rf"|{'|'.join(NUMBER_WORDS)})\b",
    re.IGNORECASE,
)
# A word of two letters or more, which no formula has.
_WORD = re.compile(r"(?<!\\)\b(?!(?:sin|cos|tan|ln|log|gcd|lcm|sqrt|pi|exp|max|min)\b)[A-Za-z]{2,}")


def short_statement(sentence: str) -> ShortStatement | None:
    """The statement of a short sentence; None where it states no value, or more than one.

    >>> short_statement("15% of 80 is 12.").text, short_statement("4 books cost $50").text
    ('15% of 80 = 12', '$50')
    >>> short_statement("x is not 6"), short_statement("12 is 15% of 80")
    (None, None)
    """
    if len(sentence) > MAX_CHARACTERS or "\n" in sentence:
        return None
    match = _STATEMENT.fullmatch(sentence.strip(" *_"))
    if match is None:
        return None
    subject, value, unit = (
        match["subject"].strip(" *_"),
        match["value"],
        match["unit"] or match["words"] or "",
    )
    number = value[: len(value) - len(unit)]
    if number.endswith((",", "!")) or DOUBT.search(unit) or DENIAL.search(unit):
        return None
    if _CHANGING.search(unit) or not _is_subject(subject):
        return None
    value = number_text(value)
    is_equation = bool(match["copula"]) and " and " not in subject and _is_value(subject)
    return ShortStatement(subject, value, f"{subject} = {value}" if is_equation else value)


# The space or the end of line between two sentences.
_BETWEEN = re.compile(r"(?<=[.;])[ \t]+|\s*\n\s*")


def stated_twice(text: str) -> tuple[str, str] | None:
    """The two values that the last two sentences state of one subject; None if they do not.

    >>> stated_twice("x is 7. x is 6."), stated_twice("x is 7. y is 6.")
    (('7', '6'), None)
    """
    sentences = _BETWEEN.split(text[-2 * MAX_CHARACTERS :].strip())
    last = short_statement(sentences[-1].rstrip(";"))
    if last is None or len(sentences) < 2:
        return None
    before = short_statement(sentences[-2].rstrip(";"))
    if before is None or before.subject.casefold() != last.subject.casefold():
        return None
    return None if before.value == last.value else (before.value, last.value)


# The one number of a short sentence: the `42` of `I get 42.`
_ONE_NUMBER = re.compile(r"(?P<before>\D*[A-Za-z]\D*?)(?P<number>\d+(?:\.\d+)?)(?P<behind>\D*)")


def said_twice(sentences: Sequence[str]) -> tuple[str, str] | None:
    """The numbers of the last two sentences, which say the same of two numbers; else None.

    >>> said_twice(["I get 42.", "I get 43."]), said_twice(["I get 42.", "You get 43."])
    (('42', '43'), None)
    """
    if len(sentences) < 2 or max(map(len, sentences[-2:])) > MAX_CHARACTERS:
        return None
    before, last = (_ONE_NUMBER.fullmatch(one.strip()) for one in sentences[-2:])
    if before is None or last is None or before["number"] == last["number"]:
        return None
    are_alike = all(
        before[side].strip(" .!").casefold() == last[side].strip(" .!").casefold()
        for side in ("before", "behind")
    )
    return (before["number"], last["number"]) if are_alike else None


def _is_subject(text: str) -> bool:
    """Whether something can be stated of what a text names."""
    if len(text.split()) > _MAX_WORDS_OF_SUBJECT or _NO_SUBJECT.search(text):
        return False
    if DOUBT.search(text.replace("/", " ")) or DENIAL.search(text) or _VALUE_AND.fullmatch(text):
        return False
    return any(map(str.isdigit, text)) or not _OPERATION.search(text)


def _is_value(subject: str) -> bool:
    """Whether a subject has a value of its own: `15% of 80`, `x`, `f(2)`."""
    return subject[0].isdigit() or not _WORD.search(subject)
