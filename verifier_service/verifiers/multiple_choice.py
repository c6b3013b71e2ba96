"""`multiple_choice`: does the completion choose the right option, and only that one?"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

from pydantic import Field

from verifier_service import strict_json
from verifier_service.answer_text import after_reasoning
from verifier_service.code.extraction import last_block
from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.reference import bad, missing
from verifier_service.verifier import Judge, Judgement, TextVerifier

# The API process imports this module for its options and should start soon. So modules that compile
# many patterns are imported inside the functions that use them.


StatementSource = Literal["answer_tag", "boxed", "answer_phrase", "last_line"]


class MultipleChoiceReason(Reason):
    """Reasons of `multiple_choice`."""

    EQUAL = "equal", "1: the completion chooses the option of the reference."
    DIFFERENT = "different", "0: the completion chooses another option."
    NO_ANSWER = "no_answer", "0: the final answer names no option."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the final answer names more than one option."


class MultipleChoice(TextVerifier):
    """1 if the completion's final answer is the option of the reference, else 0."""

    purpose: ClassVar[str] = (
        "1 if the completion's final answer is the option reference.answer, a letter, else 0; with "
        "reference.choices (the options' texts, in the order of the letters, or by letter) an "
        "option can also be named by its text"
    )
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    reasons: ClassVar[Iterable[Reason]] = MultipleChoiceReason

    type: Literal["multiple_choice"] = "multiple_choice"
    extract: tuple[StatementSource, ...] = Field(
        default=get_args(StatementSource),
        min_length=1,
        description="where to look for the statement that names an option, as in `accuracy`; "
        "last_line: the last line of the completion, if no other source has one",
    )

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        from verifier_service.mathematics.option_letters import (  # noqa: PLC0415
            named_letters,
            opening_letter,
        )

        choices = _choices(reference.get("choices"))
        right = _right_letter(reference, choices)

        def judge(completion: Completion) -> Judgement:
            text = _with_narrow_letters(completion.text)
            answer = final_answer(text, self.extract)
            if answer is None:
                return Judgement(0.0, MultipleChoiceReason.NO_ANSWER)
            if not answer.is_announced and _only_lists_options(text):
                return Judgement(0.0, MultipleChoiceReason.AMBIGUOUS_ANSWER, answer.text)
            letters = named_letters(answer.text, choices, is_announced=answer.is_announced)
            if not letters and answer.is_announced and "last_line" in self.extract:
                # `The answer is 8. So option B.`, `The result is 8, which is option B. #### B`
                last = final_answer(text, ("last_line",))
                if last is not None and (letters := named_letters(last.text, choices)):
                    answer = last
            if answer.offered:
                letters |= named_letters(answer.statement, choices)
            if not letters and not answer.is_announced:
                main, _ = _without_offers(text)
                line = answer.statement
                opening = (
                    _letter_at_end(line) or opening_letter(main) or _choice_at_end(line, choices)
                )
                letters = {opening} if opening else set()
                answer = replace(answer, statement=opening or answer.text, offered="")
            if letters and answer.also:
                letters |= {answer.also}
            if letters:
                letters |= set(_CALLED_ANSWER.findall(_last_line(text)))
            if not letters:
                return Judgement(0.0, MultipleChoiceReason.NO_ANSWER, answer.text)
            if len(letters) > 1:
                return Judgement(0.0, MultipleChoiceReason.AMBIGUOUS_ANSWER, answer.text)
            if letters == {right}:
                return Judgement(1.0, MultipleChoiceReason.EQUAL, answer.text)
            return Judgement(0.0, MultipleChoiceReason.DIFFERENT, answer.text)

        return judge


@dataclass(frozen=True)
class FinalAnswer:
    """The statement that should name an option."""

    statement: str
    is_announced: bool
    """Whether a tag, a box or words announce the statement; else it is the last line."""
    offered: str = ""
    """Words behind it that offer other options."""
    also: str = ""
    """The letter of an option that later words call right, too, or a second choice."""

    @property
    def text(self) -> str:
        """The statement and what is offered beside it."""
        return self.statement + self.offered


def final_answer(
    text: str, sources: Sequence[StatementSource] = get_args(StatementSource)
) -> FinalAnswer | None:
    """The statement that should name an option: `accuracy`'s final answer, or else the last line.

    Alternatives behind the statement in its line are part of it. None where the completion has no
    text after its reasoning.
    """
    from verifier_service.mathematics.extraction import extract  # noqa: PLC0415
    from verifier_service.mathematics.option_letters import (  # noqa: PLC0415
        MAX_STATEMENT_CHARACTERS,
        alternatives,
    )
    from verifier_service.mathematics.other_questions import (  # noqa: PLC0415
        without_other_questions,
    )

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
        return FinalAnswer(last, is_announced=False, also=offered_letter) if last else None
    _, is_there, rest = after.rpartition(found.statements[-1])
    rest = rest if is_there else ""
    line = rest.split("\n", 1)[0][:MAX_STATEMENT_CHARACTERS]
    offers = _OFFER.findall(rest[len(line) : len(line) + MAX_STATEMENT_CHARACTERS])
    offered = "".join(alternatives(one) for one in (line, *(f" {one}" for one in offers)))
    also = _ALSO.search(rest[:MAX_STATEMENT_CHARACTERS])
    letter = also[also.lastindex or 0].upper() if also else offered_letter
    return FinalAnswer(found.text, is_announced=True, offered=offered, also=letter)


def _without_offers(text: str) -> tuple[str, str]:
    """The text that a reader sees behind the reasoning, and the letter that it offers beside."""
    from verifier_service.mathematics.further_answers import (  # noqa: PLC0415
        without_further_answers,
    )
    from verifier_service.mathematics.visible_text import visible_text  # noqa: PLC0415

    main, further = without_further_answers(visible_text(after_reasoning(text) or "", ("answer",)))
    letters = [one.value for one in further if len(one.value) == 1 and one.value.isalpha()]
    return main, letters[-1] if letters else ""


# The letters and brackets of full width of Chinese and Japanese, and the narrow ones for them.
_NARROW = {0xFF08: "(", 0xFF09: ")"} | {
    code + 0xFEE0: chr(code) for code in map(ord, string.ascii_letters)
}


def _with_narrow_letters(text: str) -> str:
    return text if text.isascii() else text.translate(_NARROW)


# A later line that offers another option: `Alternatively, C.`.
_OFFER = re.compile(r"^(?=[ \t]*(?:or|alternatively|maybe|perhaps|possibly)\b).*", re.I | re.M)
# Words that name one more option: `B is also right`, `If wrong, B.`, `Second choice: B`.
_ALSO = re.compile(
    r"\b([A-Z])\)?\s+is\s+(?:also|equally)\s+(?:right|correct|true|possible|acceptable)\b"
    r"|\b[Ii]f\s+(?:\w+\s+){0,3}(?:wrong|incorrect),?\s+(?:then\s+)?\(?([A-HJ-Z])\b"
    r"|\b(?:[Ss]econd|[Oo]ther|[Nn]ext|[Bb]ackup)\s+(?:choice|answer|guess|option):?\s*\(?([A-Z])\b"
)
# A letter with the word for an answer right beside it, which ends a line: the `D` of `... = 10
# ANS:D`, of `(Answer D)`, of `D is the answer.`
_LETTER_AT_END = re.compile(
    r"(?<!not )(?<!wrong )(?<!incorrect )\b(?:answer|ans|option|choice)\b"
    r"(?:\s?[.:=-]{1,3}|\s{1,3}is)?\s?\(?(?-i:(?P<behind>[A-J]))\)?[\s.)*]{0,5}\Z"
    r"|(?<!not )\b(?-i:(?P<before>[A-J]))\)?\s{1,3}is\s{1,3}(?:the|my)\s{1,3}"
    r"(?:(?:correct|right|final|best)\s{1,3})?(?:answer|option|choice)[\s.)*]{0,5}\Z",
    re.IGNORECASE,
)
# An option that is called the answer: the `A` of `A is the answer, or B is the answer.`
_CALLED_ANSWER = re.compile(
    r"\b([A-J])\)?\s{1,3}is\s{1,3}(?:also\s{1,3})?(?:the|my|an?)\s{1,3}"
    r"(?:(?:correct|right|final|possible)\s{1,3})?answer\b"
)
# Words of a line that only wonders or denies: `I doubt that it is answer B`.
_DOUBT = re.compile(
    r"\b(?:doubt|could|might|(?-i:may)|maybe|perhaps|possibly|cannot|not|neither|nor|unsure|unlikely|if"
    r"|whether|impossible|rule\s{1,3}out|eliminate)\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
# Any letter of an option in a line, no article: the `A` of `A or B`, not that of `A car`.
_ANY_LETTER = re.compile(r"\b[A-J]\b(?!\s+[a-z]{2,}\b(?<!is)(?<!or)(?<!and))")
# The letter before an option's text: the `A) ` of `A) London`, not of `A) is wrong`.
_OPTION = re.compile(r"(?:^|(?<=\s))\(?([A-Z])[).:][ \t]+(?!is\b)(?=\w)")
# The signs of a heading: the `## ` of `## B`.
_HEADING = re.compile(r"#{1,6}\s+")
_KEYS = frozenset({"answer", "final_answer", "correct_answer", "choice", "option"})
"""Keys under which an object in JSON has the option."""


def _only_lists_options(text: str) -> bool:
    """Whether a text repeats the options, each in a line or all in one, and chooses none.

    >>> _only_lists_options("A) London\\nB) Paris"), _only_lists_options("A) London\\n\\nB")
    (True, False)
    """
    lines = [line.strip(" \t\r*-") for line in (after_reasoning(text) or "").strip().split("\n")]
    lines = [line for line in lines if line]
    if not all(_OPTION.match(line) for line in lines):
        return False
    letters = [letter for line in lines for letter in _OPTION.findall(line)]
    return len(letters) > 1 and letters == sorted(set(letters))


def _letter_at_end(line: str) -> str | None:
    """The letter that a line calls the answer at its end, unless it names another one beside."""
    match = _LETTER_AT_END.search(line)
    if match is None or _DOUBT.search(line):
        return None
    letter = match["behind"] or match["before"]
    return letter if set(_ANY_LETTER.findall(line)) <= {letter} else None


def _choice_at_end(line: str, choices: Mapping[str, str]) -> str | None:
    """The letter of the option whose text ends a line, unless the line has that of another one.

    >>> _choice_at_end("Most of them came in May.", {"A": "May", "B": "June"})
    'A'
    >>> _choice_at_end("June had fewer than May.", {"A": "May", "B": "June"}) is None
    True
    """
    if _DOUBT.search(line):
        return None
    plain = line.casefold().rstrip(" .!*")
    texts = {letter: text.casefold().strip(" .") for letter, text in choices.items()}
    named = [
        letter
        for letter, text in texts.items()
        if text and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", plain)
    ]
    if len(named) != 1 or not plain.endswith(texts[named[0]]) or plain == texts[named[0]]:
        return None
    return named[0]


def _last_line(text: str) -> str:
    """The last line that has a sign, without those of a heading; a fence is none."""
    lines = [line.strip() for line in text.split("\n")]
    last = next((line for line in reversed(lines) if line.strip("`~")), "")
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


def _choices(choices: object) -> dict[str, str]:
    """Texts of options by letter."""
    if choices is None:
        return {}
    if isinstance(choices, list) and len(choices) <= len(string.ascii_uppercase):
        choices = dict(zip(string.ascii_uppercase, choices, strict=False))
    if not isinstance(choices, dict):
        raise bad("choices", "expected at most 26 texts in a list, or texts by letter")
    found: dict[str, str] = {}
    for letter, text in choices.items():
        is_letter = len(letter) == 1 and letter in string.ascii_letters
        if not is_letter or not isinstance(text, str):
            raise bad("choices", "expected at most 26 texts in a list, or texts by letter")
        found[letter.upper()] = text
    return found


def _right_letter(reference: Mapping[str, Any], choices: Mapping[str, str]) -> str:
    from verifier_service.mathematics.option_letters import single_letter  # noqa: PLC0415

    answer = reference.get("answer")
    if answer is None or answer == "":
        raise missing("answer", reference)
    letter = single_letter(answer) if isinstance(answer, str) else None
    if letter is None or (choices and letter not in choices):
        raise bad("answer", "expected the letter of an option" + " of `choices`" * bool(choices))
    return letter
