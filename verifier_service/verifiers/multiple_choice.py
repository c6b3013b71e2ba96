"""`multiple_choice`: does the completion choose the right option, and only that one?"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.completion import Completion
from verifier_service.mathematics.answer_sources import STATEMENT_SOURCES, StatementSource
from verifier_service.reason import Reason
from verifier_service.reference import bad, missing
from verifier_service.verifier import Judge, Judgement, TextVerifier, Unverifiable

# The API process imports this module for its options and should start soon. So modules that compile
# many patterns are imported inside the functions that use them.


class MultipleChoiceReason(Reason):
    """Reasons of `multiple_choice`."""

    EQUAL = "equal", "1: the completion chooses the option of the reference."
    DIFFERENT = "different", "0: the completion chooses another option."
    NO_ANSWER = "no_answer", "0: the final answer names no option."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the final answer names more than one option."


class MultipleChoice(TextVerifier):
    """1 if the completion's final answer is the option of the reference, else 0."""

    purpose: ClassVar[str] = (
        "1 if the completion's final answer is the option reference.answer (a letter, `(B) Paris`, "
        "or the text of one of the choices), else 0; with reference.choices, or reference.options "
        "(the options' texts, in the order of the letters, or by letter) an option can also be "
        "named by its text"
    )
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    reasons: ClassVar[Iterable[Reason]] = MultipleChoiceReason

    type: Literal["multiple_choice"] = "multiple_choice"
    extract: tuple[StatementSource, ...] = Field(
        default=STATEMENT_SOURCES,
        min_length=1,
        description="where to look for the statement that names an option, as in `accuracy`; "
        "last_line: the last line of the completion, if no other source has one",
    )

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        from verifier_service.verifiers.chosen_option import choice_reader  # noqa: PLC0415

        choices = _choices_of(reference)
        right = _right_letter(reference, choices)
        read = choice_reader(choices, self.extract)

        def judge(completion: Completion) -> Judgement:
            chosen = read(completion.text)
            if chosen.is_ambiguous:
                return Judgement(0.0, MultipleChoiceReason.AMBIGUOUS_ANSWER, chosen.statement)
            if chosen.letter is None:
                return Judgement(0.0, MultipleChoiceReason.NO_ANSWER, chosen.statement)
            if chosen.letter == right:
                return Judgement(1.0, MultipleChoiceReason.EQUAL, chosen.statement)
            return Judgement(0.0, MultipleChoiceReason.DIFFERENT, chosen.statement)

        return judge


def _choices_of(reference: Mapping[str, Any]) -> dict[str, str]:
    """Texts of options by letter: `choices`, or texts of options in a column `options`."""
    if (given := reference.get("choices")) is not None:
        return _choices(given)
    try:
        options = _choices(reference.get("options", []))
    except Unverifiable:  # something else, of which a row may be full
        return {}
    # Texts without that of the answer are something else too.
    return options if _letter_of(reference.get("answer"), options) in options else {}


def _choices(choices: object) -> dict[str, str]:
    """Texts of options by letter. Raises Unverifiable if they are none."""
    if isinstance(choices, list) and len(choices) <= len(string.ascii_uppercase):
        choices = dict(zip(string.ascii_uppercase, choices, strict=False))
    if not isinstance(choices, dict):
        raise bad("choices", "expected at most 26 texts in a list, or texts by letter")
    found: dict[str, str] = {}
    for letter, text in choices.items():
        is_letter = len(letter) == 1 and letter in string.ascii_letters
        if not is_letter or not isinstance(text, str):
            raise bad("choices", "expected at most 26 texts in a list, or texts by letter")
        if letter.upper() in found:
            raise bad("choices", f"two options have the letter {letter.upper()}")
        found[letter.upper()] = text
    return found


def _right_letter(reference: Mapping[str, Any], choices: Mapping[str, str]) -> str:
    answer = reference.get("answer")
    if answer is None or answer == "":
        raise missing("answer", reference)
    letter = _letter_of(answer, choices)
    if letter is None or (choices and letter not in choices):
        found = f"found {str(answer)[:60]!r}" if isinstance(answer, str) else f"found {answer!r}"
        of_choices = " of `choices`, or its text" if choices else ""
        expected = f"expected the letter of an option{of_choices}"
        raise bad("answer", f"{found[:80]}, {expected}")
    return letter


def _letter_of(answer: object, choices: Mapping[str, str]) -> str | None:
    """The option that a reference names: `B`, `(B) Paris`, or the text of one of the choices."""
    from verifier_service.mathematics.option_letters import (  # noqa: PLC0415
        labelled_option,
        single_letter,
    )
    from verifier_service.mathematics.plain_text import text_key  # noqa: PLC0415

    if not isinstance(answer, str):
        return None
    letter = single_letter(answer)
    if letter is not None and (not choices or letter in choices):
        return letter
    named = [letter for letter, text in choices.items() if text_key(text) == text_key(answer)]
    if named:
        return named[0] if len(named) == 1 else None
    option = labelled_option(answer)
    if option is None or letter is not None:
        return None
    is_other = bool(choices and option.text) and (
        text_key(choices.get(option.letter, "")) != text_key(option.text)
    )
    return None if is_other else option.letter
