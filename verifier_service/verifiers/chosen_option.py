"""The option that a completion chooses: its letter, from its final answer or its last line."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from verifier_service import strict_json
from verifier_service.answer_text import after_reasoning
from verifier_service.code.extraction import last_block
from verifier_service.mathematics.answer_sources import STATEMENT_SOURCES, StatementSource
from verifier_service.mathematics.bare_text import is_bare
from verifier_service.mathematics.comparison import (
    AnswerReading,
    read_answer,
    same_answer,
)
from verifier_service.mathematics.extraction import extract
from verifier_service.mathematics.further_answers import without_further_answers
from verifier_service.mathematics.option_letters import (
    MAX_STATEMENT_CHARACTERS,
    alternatives,
    named_letters,
    opening_letter,
)
from verifier_service.mathematics.options_in_chinese import (
    announced_in_chinese,
    called_right_in_chinese,
    offered_in_chinese,
)
from verifier_service.mathematics.other_questions import (
    without_next_question,
    without_other_questions,
)
from verifier_service.mathematics.rejected_options import REJECTED_OPTION, only_wonders
from verifier_service.mathematics.rules import Rules
from verifier_service.mathematics.tolerance import DECIMAL_TOLERANCE
from verifier_service.mathematics.visible_text import visible_text
from verifier_service.mathematics.withdrawn_answers import (
    is_refused,
    is_retracted,
    says_none,
)
from verifier_service.verifiers.explained_option import with_letter_alone


class ChosenOption(NamedTuple):
    """The option that a completion chooses."""

    letter: str | None = None
    """None if it chooses none, or more than one."""
    is_ambiguous: bool = False
    """Whether it names more than one, or its choice depends on a condition."""
    statement: str | None = None
    """The text that should name an option; None where there is none."""


def choice_reader(
    choices: Mapping[str, str], sources: Sequence[StatementSource]
) -> Callable[[str], ChosenOption]:
    """A function that finds the option that the text of a completion chooses.

    Args:
        choices: texts of the options by letter; may be empty.
        sources: where to look for the statement that names an option, `StatementSource`.
    """
    named_otherwise = _namer_by_value(choices)

    def read(completion: str) -> ChosenOption:
        text = _own_text(_with_plain_letters(completion))
        answer = final_answer(text, sources)
        if answer is None:
            return ChosenOption()
        if not answer.is_announced and _ends_with_options(text):
            return ChosenOption(is_ambiguous=True, statement=answer.text)
        letters = named_letters(answer.text, choices, is_announced=answer.is_announced)
        if not letters and answer.is_announced and "last_line" in sources:
            # `The answer is 8. So option B.`, `The result is 8, which is option B. #### B`
            last = final_answer(text, ("last_line",))
            if last is not None and (letters := named_letters(last.text, choices)):
                answer = last
        if answer.offered:
            letters |= named_letters(answer.statement, choices)
        if not letters and not answer.is_announced:
            opening = _opening_letter(text, answer.statement, choices)
            letters = {opening} if opening else set()
            answer = replace(answer, statement=opening or answer.text, offered="")
        letters = letters or named_otherwise(answer, text) or called_right_in_chinese(text)
        letters = _with_later_words(letters, answer, text)
        if len(letters) == 1 and not answer.is_announced and only_wonders(answer.text):
            letters = set()
        chosen = [choices[one] for one in letters if one in choices]
        if not letters or _is_taken_back(text, answer, chosen):
            return ChosenOption(statement=answer.text)
        if len(letters) > 1 or _depends(text, letters, choices):
            return ChosenOption(is_ambiguous=True, statement=answer.text)
        return ChosenOption(letters.pop(), statement=answer.text)

    return read


def _opening_letter(text: str, line: str, choices: Mapping[str, str]) -> str | None:
    """The letter with which a text or its last line begins or ends."""
    main, _ = _without_offers(text)
    return (
        _letter_at_end(line)
        or _letter_left(line)
        or opening_letter(with_letter_alone(main, choices))
        or _choice_at_end(line, choices)
    )


def _with_later_words(letters: set[str], answer: FinalAnswer, text: str) -> set[str]:
    """The letters after a revision at the end, with those that later words call right too."""
    if (revised := _REVISED_AT_END.search(text)) is not None:
        letters = {revised[1]}
    if letters and answer.also:
        letters |= set(answer.also)
    if letters and not letters.issuperset(_CALLED_ANSWER.findall(_last_line(text))):
        letters |= set(_CALLED_ANSWER.findall(REJECTED_OPTION.sub(" ", _last_line(text))))
    return letters


@dataclass(frozen=True)
class FinalAnswer:
    """The statement that should name an option."""

    statement: str
    is_announced: bool
    """Whether a tag, a box or words announce the statement; else it is the last line."""
    offered: str = ""
    """Words behind it that offer other options."""
    also: str = ""
    """The letters of options that later words call right, too, or a second choice."""

    @property
    def text(self) -> str:
        """The statement and what is offered beside it."""
        return self.statement + self.offered


def final_answer(
    text: str, sources: Sequence[StatementSource] = STATEMENT_SOURCES
) -> FinalAnswer | None:
    """The statement that should name an option: `accuracy`'s final answer, or else the last line.

    Alternatives behind the statement in its line are part of it. None where the completion has no
    text after its reasoning.
    """
    after = after_reasoning(text)
    if after is None:
        return None
    text = after = without_other_questions(after)
    main, offered_letter = _without_offers(text)
    if offered_letter and main.strip():
        text = after = main
    found = extract(text, [source for source in sources if source != "last_line"])
    if found is None and "last_line" not in sources:
        return None
    if found is None:
        in_json = _answer_in_json(after)
        if in_json is not None:
            return FinalAnswer(in_json, is_announced=True)
        last = _last_line(main if main.strip() else after)[-MAX_STATEMENT_CHARACTERS:]
        letters = offered_letter or offered_in_chinese(_last_words(last))
        return FinalAnswer(last, is_announced=False, also=letters) if last else None
    if len(found.statements) == 1 and _LABELLED_SENTENCE.fullmatch(found.sentence):
        found = replace(found, statements=(found.sentence,))
    before, is_there, rest = after.rpartition(found.statements[-1])
    rest = rest if is_there else ""
    line = rest.split("\n", 1)[0][:MAX_STATEMENT_CHARACTERS]
    offers = _OFFER.findall(rest[len(line) : len(line) + MAX_STATEMENT_CHARACTERS])
    offered = "".join(alternatives(one) for one in (line, *(f" {one}" for one in offers)))
    also = _ALSO.search(rest[:MAX_STATEMENT_CHARACTERS])
    also = also or _BESIDE.match(rest)
    letter = also[also.lastindex or 0].upper() if also else offered_letter
    if not letter and not after.isascii():
        begin = len(before) if found.position is None else found.position
        letter = offered_in_chinese(_announcing_words(after, begin, found.statements[-1]))
    return FinalAnswer(found.text, is_announced=True, offered=offered, also=letter)


# An option with its text, which is a sentence: `D: the reaction is exothermic`.
_LABELLED_SENTENCE = re.compile(
    r"[*(]{0,3}[A-J][)*]{0,3}(?:[.:)]|,\s(?:i\.e\.|that\sis),?|\s[\u2014\u2013-])\s"
    r"(?!(?i:[^\n]{0,300}\b(?:no|not|wait|actually|hmm+|sorry|wrong|or|but)\b))(?!.*\b[A-J]\b)[^\n]{1,300}"
)

MAX_WORDS_CHARACTERS = 200
"""Longest text right before an answer, and right behind it, in which another is offered."""


def _announcing_words(text: str, begin: int, statement: str) -> str:
    """The words of a line that announce a statement at `begin`, and what stands behind it.

    >>> _announcing_words("A也对,故选B,或者C", 5, "B")
    '选B,或者C'
    """

    start = text.find(statement, begin)
    end = (begin if start < 0 else start) + len(statement)
    line = max(0, begin - MAX_WORDS_CHARACTERS, text.rfind("\n", 0, begin) + 1)
    return text[announced_in_chinese(text, line, begin) : end + MAX_WORDS_CHARACTERS]


def _last_words(line: str) -> str:
    """The end of a line, from the first words that announce an option, where there are any."""

    begin = max(0, len(line) - 2 * MAX_WORDS_CHARACTERS)
    announced = announced_in_chinese(line, begin, len(line))
    return line[announced if announced < len(line) else begin :]


def _without_offers(text: str) -> tuple[str, str]:
    """The text that a reader sees behind the reasoning, and the letter that it offers beside."""

    main, further = without_further_answers(visible_text(after_reasoning(text) or "", ("answer",)))
    letters = [one.value for one in further if len(one.value) == 1 and one.value.isalpha()]
    return main, letters[-1] if letters else ""


# The letters and brackets of full width of Chinese and Japanese, and the full stops of Hindi and
# Urdu, with the narrow ones for them.
_NARROW = {0xFF08: "(", 0xFF09: ")", 0xFF0C: ",", 0xFF0E: ".", 0x0964: ".", 0x06D4: "."} | {
    code + 0xFEE0: chr(code) for code in map(ord, string.ascii_letters)
}


def _own_text(text: str) -> str:
    """The text without the questions with which it goes on behind its answer."""

    after = after_reasoning(text)
    return text if after is None else without_next_question(after)


_OPEN_QUOTE, _CLOSE_QUOTE = r"[\"'\u2018\u201c\u300c\u300e]", r"[\"'\u2019\u201d\u300d\u300f]"
_UNQUOTED = r"[^\"'\u2018\u2019\u201c\u201d\u300c-\u300f\n]"
_QUOTED = rf"{_OPEN_QUOTE}([A-Z])([.):]\s{_UNQUOTED}{{1,300}})?{_CLOSE_QUOTE}(?!\w)"
# A letter between quotes, which words call an option in the second one: `"B"`, `The answer is "B"`,
# `**Answer**: "B. Paris"`, `答え:「B」`.
_QUOTED_LETTER = re.compile(rf"(?<!\w){_QUOTED}")
_QUOTED_OPTION = re.compile(
    rf"(?:\b(?:is|[Oo]ption|[Cc]hoice|[Ll]etter)|\b[Aa]nswer\**[:\uff1a]?|答[え案]\**[:\uff1a是为は]?)"
    rf"[*\s]{{0,3}}{_QUOTED}"
)
# A sentence that is an announced letter between quotes: `'Answer: B'`. Others tell how to answer:
# `The format is "Answer: B".`
_QUOTED_ANNOUNCEMENT = re.compile(
    rf"(?:^|(?<=[.!?]\s)){_OPEN_QUOTE}(Answer: ?\(?[A-Z]\)?){_CLOSE_QUOTE}(?=[\s.*]{{0,9}}$)",
    re.MULTILINE,
)
# The only key of an object in JSON whose beginning is lost: the line `answer": "B"`.
_LOST_BEGINNING = re.compile(r'^[ \t]{0,9}answer"[ ]?:[ ]?"([A-Z])"[ \t}]{0,9}$', re.MULTILINE)
# The word for an option between an announcement and its letter: the `选项` of `答案是选项B`.
_NAMED_OPTION = re.compile(r"(?<=答案[是为:\uff1a])选项\s?(?=\(?[A-J](?![A-Za-z]))")


def _with_plain_letters(text: str) -> str:
    """The text with narrow letters, and without quotes around those of options."""
    if not text.isascii():
        text = _NAMED_OPTION.sub("", text.translate(_NARROW))
    if "nswer" in text:
        text = _LOST_BEGINNING.sub(r"answer: \1", _QUOTED_ANNOUNCEMENT.sub(r"\1", text))
    return _QUOTED_LETTER.sub(r"\1\2", text) if _QUOTED_OPTION.search(text) else text


# A later line that offers another option: `Alternatively, C.`.
_OFFER = re.compile(r"^(?=[ \t]*(?:or|alternatively|maybe|perhaps|possibly)\b).*", re.I | re.M)
# Words that name one more option: `B is also right`, `If wrong, B.`, `but the right one is B`.
_ALSO = re.compile(
    r"\b([A-Z])\)?\s+is\s+(?:also|equally)\s+(?:right|correct|true|possible|acceptable)\b"
    r"|\b[Ii]f\s+(?:\w+\s+){0,3}(?:wrong|incorrect|rejected|refused|not\s+(?:accepted|right|correct)),?\s+(?:then\s+)?\(?([A-HJ-Z])\b"
    r"|\b(?:[Ss]econd|[Oo]ther|[Nn]ext|[Bb]ackup)\s+(?:choice|answer|guess|option):?\s*\(?([A-Z])\b"
    r"|\b(?:but|however|although|though),?\s+(?:the\s+)?(?:right|correct|true|actual)\s+"
    r"(?:option|choice|answer|one|letter)\s+is\s+\(?([A-Z])\b"
    r"|\b(?:but|although|though|while)\s+\(?([A-Z])\)?\s+is\s+(?:the\s+)?(?:right|correct|better|best)\b"
)
# A letter in brackets right behind a statement, at the end of its line: the ` (B)` of
# `\boxed{5} (B)`.
_BESIDE = re.compile(r"[ $*}]{0,6}\(([A-J])\)[ .!*$]{0,6}(?:\n|\Z)")
# A letter with the word for an answer right beside it, which ends a line: the `D` of `... = 10
# ANS:D`, of `(Answer D)`, of `D is the answer.`
_LETTER_AT_END = re.compile(
    r"(?<!not )(?<!wrong )(?<!incorrect )\b(?:answer|ans|option|choice)\b"
    r"(?:\s?[.:=-]{1,3}|\s{1,3}is)?\s?\(?(?-i:(?P<behind>[A-J]))\)?[\s.)*]{0,5}\Z"
    r"|(?<!not )\b(?-i:(?P<before>[A-J]))\)?\s{1,3}is\s{1,3}(?:the|my)\s{1,3}"
    r"(?:(?:correct|right|final|best)\s{1,3})?(?:answer|option|choice)[\s.)*]{0,5}\Z"
    r"|\b(?:is|are|be)\s{1,3}\*\*(?:option\s)?\(?(?-i:(?P<bold>[A-J]))[).:]{1,2}\s"
    r"[^*\n]{1,300}\*\*[\s.]{0,3}\Z",
    re.IGNORECASE,
)
# A letter that a line concludes with, or that is left of all: the `B` of `C is too large, so B.`,
# of `That leaves **B** as the answer.`, of `Only B remains.`
_LETTER_LEFT = re.compile(
    r"(?:[,.;]\s{1,3}(?:and\s)?(?:so|hence|thus|therefore),?"
    r"|\b(?:leaves|leaving|left\swith)(?:\s(?:us\swith|only|just)){0,2})\s[*(]{0,3}"
    r"(?:option\s[*(]{0,3})?(?-i:(?P<behind>[A-J]))[*)]{0,3}"
    r"(?:\sas\sthe\s(?:only\s|correct\s|right\s){0,2}(?:answer|option|choice))?[\s.*]{0,5}\Z"
    r"|\bonly\s[*(]{0,3}(?:option\s)?(?-i:(?P<before>[A-J]))[*)]{0,3}\s(?:remains|is\sleft)[\s.*]{0,5}\Z",
    re.IGNORECASE,
)
# A second thought with which a text ends, and its letter: the `C` of `It is B. Wait, no: C.`
_REVISED_AT_END = re.compile(
    r"[.!?]\s{1,9}(?:(?:(?i:wait|no|actually|hmm+|sorry|oops|correction))\b[\s,.:!\u2014-]{1,3}){1,3}"
    r"(?:(?i:it(?:\sis|['\u2019]s)|the\sanswer\sis)\s)?[*(]{0,3}([A-J])[*)]{0,3}[\s.!*]{0,5}\Z"
)
# An option that is called the answer: the `A` of `A is the answer, or B is the answer.`
_CALLED_ANSWER = re.compile(
    r"\b([A-J])\)?\s{1,3}is\s{1,3}(?:also\s{1,3})?(?:the|my|an?)\s{1,3}"
    r"(?:(?:correct|right|final|possible)\s{1,3})?answer\b"
)
# Words of a line that only wonders or denies: `I doubt that it is answer B`.
_DOUBT = re.compile(
    r"\b(?:doubt|could|might|(?-i:may)|maybe|perhaps|possibly|cannot|not|neither|nor|unsure|unlikely|if"
    r"|whether|impossible|rule\s{1,3}out|eliminate|(?:false|untrue|wrong|incorrect)\s{1,3}that)\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
# Words of a line that names an option in bold type to refuse it: `The wrong one is **A. lead**.`
_REFUSAL = re.compile(
    r"\b(?:wrong|incorrect|false|untrue|least|worst|bad|weakest|never|second|trap|distractors?|except"
    r"|only\s+in\s+part|excluded|eliminated|rejected|discarded|tempting|mistaken?|popular|favou?rite)\b",
    re.IGNORECASE,
)
# Words of a line that speaks of others, or of nothing: `Most people say it is **D. Tin**.`
_NOTHING = re.compile(
    r"\b(?:no|none|nothing|nobody|neither|error|mistake|forget\w*|ignor\w*|naive\w*|people|students)\b",
    re.IGNORECASE,
)
# Any letter of an option in a line, no article: the `A` of `A or B`, not that of `A car`.
_ANY_LETTER = re.compile(r"\b[A-J]\b(?!\s+[a-z]{2,}\b(?<!is)(?<!or)(?<!and))")
# A letter that a word calls an option: the `C` of `The correct option letter is C: 40°`.
_CALLED_LETTER = re.compile(
    r"\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer|[Ll]etter)s?(?:\s+letter)?(?:\s+is)?"
    r"[\s:(*]{1,4}([A-J])\b(?!['\u2019])"
)
# The letter before an option's text: the `A) ` of `A) London`, not of `A) is wrong`.
_OPTION = re.compile(r"(?:^|(?<=\s))\(?([A-Z])[).:][ \t]+(?!is\b)(?=\S)")
# Two lines that are letters of different options, no variables: `A\n(B)`, not `x\nB`.
_TWO_LETTERS = re.compile(r"\(?([A-J])[).]?\n\(?(?!\1)[A-J][).]?", re.IGNORECASE)
# The signs of a heading: the `## ` of `## B`.
_HEADING = re.compile(r"#{1,6}\s+")
_KEYS = frozenset({"answer", "final_answer", "correct_answer", "choice", "option"})
"""Keys under which an object in JSON has the option."""


def _ends_with_options(text: str) -> bool:
    """Whether a text ends with the options, each in a line or all in one, and chooses none.

    >>> _ends_with_options("Which?\\nA) London\\nB) Paris"), _ends_with_options("A) London\\n\\nB")
    (True, False)
    >>> _ends_with_options("It grows.\\nA\\nB"), _ends_with_options("V\\nB")
    (True, False)
    """
    lines = [line.strip(" \t\r*-") for line in (after_reasoning(text) or "").strip().split("\n")]
    lines = [line for line in lines if line]
    if _TWO_LETTERS.fullmatch("\n".join(lines[-2:])):
        return True
    letters: list[str] = []
    for line in reversed(lines):
        if not _OPTION.match(line) or len(letters) > len(string.ascii_uppercase):
            break
        letters = _OPTION.findall(line) + letters
    return len(letters) > 1 and letters == sorted(set(letters))


# An answer under a condition: the `If x > 0, the answer is A` of `If x > 0, the answer is A.`
_CONDITIONAL = re.compile(
    r"\b(?:[Ii]f|[Ww]hen|[Uu]nless|[Oo]therwise)\b[^.\n]{1,150}?\banswer\s(?:is|would\sbe|will\sbe)\s"
    r"[(*]{0,3}([A-Z])\b"
)


def _depends(text: str, chosen: set[str], choices: Mapping[str, str]) -> bool:
    """Whether a text has an answer for each of several cases, and does not end with the chosen one.

    >>> _depends("If x > 0, the answer is A. If x < 0, the answer is B.", {"B"}, {})
    True
    >>> _depends("If x > 0, the answer is A. If x < 0, the answer is B. So it is B.", {"B"}, {})
    False
    """

    last = text.rfind("answer ")
    if last < 0:
        return False
    end = text[max(0, last - MAX_CASES_CHARACTERS) :]
    cases = list(_CONDITIONAL.finditer(end)) if "answer " in end[:-7] else []
    if len({case[1] for case in cases}) < 2:
        return False
    behind = end[cases[-1].end() :].lstrip(" .,;:)*")
    found = final_answer(behind)
    if found and named_letters(found.text, choices, is_announced=found.is_announced) == chosen:
        return False
    alone = _ALONE_AT_END.search(behind)
    return alone is None or {alone[1]} != chosen


# A letter that ends a text as a sentence of its own: the `B` of `It is odd. **B**`.
_ALONE_AT_END = re.compile(r"[.:!\n][ *(]{1,5}([A-Z])[ *).]{0,5}\s{0,9}\Z")


def _is_taken_back(text: str, answer: FinalAnswer, chosen: Sequence[str]) -> bool:
    """Whether words behind an answer take it back, or say that none is right.

    The latter is no denial of an option that says so itself: `Cannot be determined`.
    """

    position = text.rfind(answer.statement)
    if position < 0:  # the statement is no part of the text, so nothing stands behind it
        position = len(text)
    elif answer.is_announced:
        position += len(answer.statement)
    if is_retracted(text, position):
        return True
    if any(map(says_none, chosen)):
        return False
    return is_refused(text, position, may_be_reason=not chosen)


MAX_CASES_CHARACTERS = 1000
"""Most characters in which another answer, or another condition for one, is sought."""


_MAX_END_CHARACTERS = 2000
"""Longest end of a line in which refused options are looked for; a megabyte takes a second."""


def _letter_at_end(line: str) -> str | None:
    """The letter that a line calls the answer at its end, unless it names another one beside."""

    match = _LETTER_AT_END.search(REJECTED_OPTION.sub(" ", line[-_MAX_END_CHARACTERS:]))
    if match is None or _DOUBT.search(line):
        return None
    if match["bold"] and (_REFUSAL.search(line) or _NOTHING.search(line)):
        return None
    letter = match["behind"] or match["before"] or match["bold"]
    return letter if set(_ANY_LETTER.findall(line)) <= {letter} else None


def _letter_left(line: str) -> str | None:
    """The letter with which a line concludes, or the only one that it leaves.

    >>> _letter_left("C is too large, so B."), _letter_left("A or C is right, so it may be B.")
    ('B', None)
    """
    match = _LETTER_LEFT.search(line)
    return None if match is None or _DOUBT.search(line) else match["behind"] or match["before"]


_BEFORE_TEXT = (
    r"(?<![\w.,/^\u2212-])(?<!times\s)(?<!cdot\s)(?<!div\s)"
    r"(?<![-\u2212+*/^]\s(?=\d))(?<!\d\s(?=\d))"
)
"""Signs of a longer number or formula, which do not stand before the text of an option."""
# A verdict that opens a statement: the `No` of `No, it is not.`
_VERDICT = re.compile(r"(yes|no|true|false)\s?[,.;:!](?=\s)", re.IGNORECASE)


def _opening_verdict(statement: str, choices: Mapping[str, str]) -> set[str]:
    """The option whose text is the verdict with which a statement opens.

    >>> _opening_verdict("No, it is rough.", {"A": "Yes", "B": "No"})
    {'B'}
    """
    statement = statement.strip()[:MAX_CASES_CHARACTERS]
    match = _VERDICT.match(statement.lstrip(" *"))
    if match is None or _SECOND_VERDICT.search(statement):
        return set()
    texts = {letter: text.casefold().strip(" .") for letter, text in choices.items()}
    named = {letter for letter, text in texts.items() if text == match[1].casefold()}
    return named if len(named) == 1 else set()


# Words behind a verdict that take it back or give another one: `No, wait, yes.`
_SECOND_VERDICT = re.compile(
    r"[.,;:!]\s+(?:but\s+)?(?:wait|actually|or|maybe|perhaps|yes|no|true|false|hmm)\b|\?",
    re.IGNORECASE,
)


# Words of a conclusion, and words that contradict a yes or a no: `So it is not.`, `It is true.`
_CONCLUDES = r"therefore|so|thus|hence|conclusion|however"
_CONTRADICTS_YES = re.compile(
    rf"\b(?:{_CONCLUDES}|fails?|false|not|cannot)\b|n['\u2019]t\b", re.IGNORECASE
)
_CONTRADICTS_NO = re.compile(rf"\b(?:{_CONCLUDES}|holds?|true)\b", re.IGNORECASE)
# The space between two sentences.
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=\S)|\n+(?=\S)")


def _goes_on(text: str) -> bool:
    """Whether a text that opens with a verdict goes on to a conclusion that may be another.

    >>> _goes_on("Yes, I can help. So 7 is odd."), _goes_on("Yes, it is so.")
    (True, False)
    """
    text = text.strip(" *\n")
    match = _VERDICT.match(text)
    if match is None or _BETWEEN_SENTENCES.search(text, match.end()) is None:
        return False
    is_yes = match[1].casefold() in ("yes", "true")
    return (_CONTRADICTS_YES if is_yes else _CONTRADICTS_NO).search(text, match.end()) is not None


def _namer_by_value(choices: Mapping[str, str]) -> Callable[[FinalAnswer, str], set[str]]:
    """A function that finds the one option that has the value of an answer, or is its verdict."""

    @lru_cache(maxsize=1)
    def readings() -> dict[str, AnswerReading]:

        short = {letter: text for letter, text in choices.items() if len(text) <= _MAX_VALUE}
        return {letter: read_answer(text) for letter, text in short.items()}

    def equal_choices(statement: str) -> set[str]:

        if len(statement) > _MAX_VALUE or not any(map(str.isdigit, statement)):
            return set()
        answer = read_answer(statement)
        rules = Rules("compare", "lenient", True, DECIMAL_TOLERANCE, None)
        found = {
            letter for letter, one in readings().items() if same_answer(one, answer, rules) is True
        }
        return found if len(found) == 1 else set()

    def named_otherwise(answer: FinalAnswer, text: str) -> set[str]:
        if not answer.is_announced:
            is_stated = is_bare(text) and not text.rstrip().endswith("?")
            if is_stated and (equal := equal_choices(text)):
                return equal
            return set() if _goes_on(text) else _opening_verdict(text, choices)
        return equal_choices(answer.statement) or _opening_verdict(answer.text, choices)

    return named_otherwise


_MAX_VALUE = 200
"""Longest statement and longest text of an option that are compared by their values."""


def _choice_at_end(line: str, choices: Mapping[str, str]) -> str | None:
    """The letter of the option whose text ends a line, unless the line has that of another one.

    >>> _choice_at_end("Most of them came in May.", {"A": "May", "B": "June"})
    'A'
    >>> _choice_at_end("June had fewer than May.", {"A": "May", "B": "June"}) is None
    True
    """
    if _DOUBT.search(line):
        return None
    as_written = {letter: text.casefold() for letter, text in choices.items()}
    without_dollars = {letter: _without_dollars(text) for letter, text in choices.items()}
    return _text_at_end(line, line.casefold(), as_written) or _text_at_end(
        line, _without_dollars(line), without_dollars
    )


def _text_at_end(line: str, folded: str, choices: Mapping[str, str]) -> str | None:
    """The letter of the option with which a line ends, where that and the options are folded."""
    plain = folded.rstrip(" .!*\u3002")
    texts = {letter: text.strip(" .") for letter, text in choices.items()}
    named = [
        letter
        for letter, text in texts.items()
        if text and re.search(rf"{_BEFORE_TEXT}{re.escape(text)}(?!\w)", plain)
    ]
    if len(named) != 1 or not plain.endswith(texts[named[0]]) or plain == texts[named[0]]:
        return None
    if _BOUNDS.search(plain[: -len(texts[named[0]])]):
        return None
    return named[0] if set(_CALLED_LETTER.findall(line)) <= set(named) else None


# Words right before a value that bound, deny, doubt or change it: `less than `, `half of `, `大于`.
_BOUNDS = re.compile(
    r"(?:\b(?:except(?:\s+for)?|(?:thing|where|one|all)\s+but|besides|near|unlike|outside|(?:north|south|east|west)\s+of|twice|thrice|double"
    r"|triple|half|negative|(?:half|square|cube|root|reciprocal|inverse|opposite)\s+of)"
    r"|(?:every|any)(?:thing|one|where)\s+but)\s?\Z|"
    r"(?:\b(?:than|least|most|below|above|under|over|exceeds?)|[<>\u2264\u2265\u2260]"
    r"|\\(?:n?eq|neq?|[lg]eq?|[lg]t)|不是|不等于|可能是?|也许是?|[小大少多低高]于|超过|不足)\s?\Z"
)


def _without_dollars(text: str) -> str:
    """A text in lower case, with a space in the place of each delimiter of mathematics."""
    return " ".join(text.replace("$", " ").casefold().split())


# A horizontal rule of Markdown: `---`.
_RULE = re.compile(r"-{3,99}|\*{3,99}|_{3,99}")


def _last_line(text: str) -> str:
    """The last line that has a sign, without those of a heading; a fence or a rule is none."""
    lines = [line.strip() for line in text.split("\n")]
    last = next(
        (one for one in reversed(lines) if one.strip("`~") and not _RULE.fullmatch(one)), ""
    )
    return _HEADING.sub("", last, count=1) if last.startswith("#") else last


def _answer_in_json(text: str) -> str | None:
    """The text under the one key for an answer in an object that is the text, or its last block."""
    block = last_block(text, ("json",)) if "{" in text else None
    document = (text if block is None else block).strip()
    if not document.startswith("{"):
        return None
    try:
        value = strict_json.loads(document)
    except (ValueError, RecursionError):
        return None
    answers = [one for key, one in value.items() if key.casefold().replace(" ", "_") in _KEYS]
    return answers[0] if len(answers) == 1 and isinstance(answers[0], str) else None
