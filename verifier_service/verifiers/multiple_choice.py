"""`multiple_choice`: does the completion choose the right option, and only that one?"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from verifier_service.answer_text import after_reasoning
from verifier_service.completion import Completion
from verifier_service.mathematics.denials import REJECTED_OPTION
from verifier_service.mathematics.extraction import extract
from verifier_service.reason import Reason
from verifier_service.reference import bad, missing
from verifier_service.verifier import Judge, Judgement, TextVerifier

MAX_STATEMENT_CHARACTERS = 1000
"""Of a statement that names an option; the expressions below take quadratic time at worst."""


class MultipleChoiceReason(Reason):
    """Reasons of `multiple_choice`."""

    EQUAL = "equal", "1: the completion chooses the option of the reference."
    DIFFERENT = "different", "0: it chooses another one."
    NO_ANSWER = "no_answer", "0: its final answer names no option."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: its final answer names more than one."


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

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """See `Verifier`."""
        choices = _choices(reference.get("choices"))
        right = _right_letter(reference, choices)

        def judge(completion: Completion) -> Judgement:
            answer = final_answer(completion.text)
            if answer is None:
                return Judgement(0.0, MultipleChoiceReason.NO_ANSWER)
            letters = named_letters(answer, choices)
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

    text: str
    is_announced: bool
    """Whether a tag, a box or words say that it is the answer; else it is the last line."""


def final_answer(text: str) -> FinalAnswer | None:
    """The statement that should name an option: as `accuracy` finds it, or else the last line.

    An alternative that follows the statement in its line is part of it.
    """
    after = after_reasoning(text)
    if after is None:
        return None
    found = extract(text, ("answer_tag", "boxed", "answer_phrase"))
    if found is None:
        lines = [line.strip() for line in after.split("\n") if line.strip()]
        last = lines[-1][-MAX_STATEMENT_CHARACTERS:] if lines else ""
        return FinalAnswer(last, is_announced=False) if last else None
    _, is_there, rest = after.rpartition(found.statements[-1])
    line = rest.split("\n", 1)[0][:MAX_STATEMENT_CHARACTERS] if is_there else ""
    offered = _ALTERNATIVE.finditer(REJECTED_OPTION.sub(" ", line))
    return FinalAnswer(found.text + "".join(match[0] for match in offered), is_announced=True)


def named_letters(answer: FinalAnswer, choices: Mapping[str, str]) -> set[str]:
    r"""The options that a final answer names, by letter or by text; none if it is too long.

    >>> def letters(statement, choices={}):
    ...     return sorted(named_letters(FinalAnswer(statement, is_announced=True), choices))
    >>> letters(r"\text{(B)}")
    ['B']
    >>> letters("B or maybe C")
    ['B', 'C']
    >>> letters("paris.", {"A": "London", "B": "Paris"})
    ['B']
    >>> letters("A good question")
    []
    """
    if len(answer.text) > MAX_STATEMENT_CHARACTERS:
        return set()
    plain = _plain(answer.text)
    named = _named_by_text(plain, choices)
    if named:
        return named
    labelled = _LABELLED.match(plain) if answer.is_announced else None
    if labelled and _DENYING_TEXT.match(plain, labelled.end()):
        return {_letter(labelled), *_marked(REJECTED_OPTION.sub(" ", plain[labelled.end() :]))}
    kept, num_rejected = REJECTED_OPTION.subn(" ", plain)
    kept = kept.strip(" .,;") if num_rejected else kept
    listed = _LIST.fullmatch(_REASON.sub("", kept))
    if listed:
        letters = _LONE_LETTER.findall(_JOINT.sub(" ", listed[0]))
        return {*map(str.upper, letters), *map(_letter, _ALTERNATIVE.finditer(kept))}
    labelled = _LABELLED.match(kept)
    if labelled:
        return {_letter(labelled), *_marked(kept[labelled.end() :])}
    return _marked(kept)


def _named_by_text(plain: str, choices: Mapping[str, str]) -> set[str]:
    """The options with that text; with another letter beside the text, that one too."""

    def named(text: str) -> set[str]:
        return {letter for letter, other in choices.items() if _folded(other) == _folded(text)}

    if whole := named(plain):
        return whole
    before, after = _LABELLED.match(plain), _LETTER_AFTER.search(plain)
    for label, text in (
        (before, plain[before.end() :] if before else ""),
        (after, plain[: after.start()] if after else ""),
    ):
        if label and (texts := named(text)):
            return {_letter(label)} if _letter(label) in texts else {_letter(label), *texts}
    return set()


def _letter(match: re.Match[str]) -> str:
    letter: str = next(filter(None, match.groups()))
    return letter.upper()


def _marked(text: str) -> set[str]:
    """The options that prose names."""
    found = (*_MARKED.finditer(text), *_ALTERNATIVE.finditer(text))
    return {_letter(match) for match in found}


def _plain(statement: str) -> str:
    """Without LaTeX and Markdown around letters."""
    return " ".join(_DECORATION.sub(" ", _STYLE.sub(" ", statement)).split())


def _folded(text: str) -> str:
    return _plain(text).casefold().strip(string.punctuation + " ")


_STYLE = re.compile(
    r"\\(?:text|mathrm|mathbf|mathsf|mathit|textbf|textit|textrm|textsf|boxed|fbox|rm|bf|quad|qquad)"
    r"(?![A-Za-z])|\\[ ,;:!()\[\]]"
)
_DECORATION = re.compile(r"[*_${}~`]+")
_NOUN = r"(?:(?:option|choice|answer|letter)s?(?:\s*:)?\s*)?"
_LETTER = r"[(\[]?\b[A-Za-z]\b[)\].]?"
_JOINT = re.compile(r"\b(?:or|and|maybe|perhaps|possibly|either|both|also)\b", re.IGNORECASE)
_LIST = re.compile(
    rf"(?:the\s+)?{_NOUN}(?:(?:either|both)\s+)?{_LETTER}"
    rf"(?:[\s,/;&|]*(?:(?:or|and|maybe|perhaps|possibly|also)\s+)*{_NOUN}{_LETTER})*[\s.!]*",
    re.IGNORECASE,
)
"""Nothing but letters: one, or several joined by commas and words."""
_LONE_LETTER = re.compile(r"\b[A-Za-z]\b")
_LABELLED = re.compile(
    rf"{_NOUN}(?:[(\[]([A-Za-z])[)\]]|([A-Z])\s*[).:](?=\s|$)|([A-Z])\s+[-–—]\s)[\s:.,–—-]*",  # noqa: RUF001
    re.IGNORECASE,
)
_DENYING_TEXT = re.compile(
    r"(?:fails|(?:is|was)(?:\s+not|n['’]t))\s+"  # noqa: RUF001
    r"(?!(?:\w+\s+){0,2}(?:correct|right|true|valid|possible|best|answer|option|choice|solution|it)\b"
    r"|(?:so|because|since|as|but|and|or)\b|(?-i:[A-Z])\b)[a-z]",
    re.IGNORECASE,
)
"""A denial that is the option's own text, behind its label: `(B) is not continuous`."""
_LETTER_AFTER = re.compile(
    r"[\s,:–—-]+(?:[(\[](?:(?:option|choice)\s+)?([A-Za-z])[)\]]|(?:option|choice)\s+([A-Za-z]))[\s.!]*$",  # noqa: RUF001
    re.IGNORECASE,
)
_REASON = re.compile(r"[\s,;]+(?:because|since)\b.*", re.IGNORECASE)
_MARKED = re.compile(
    r"\b(?:(?i:choose|select|pick|answer\s+is)|options?|choices?)\s*:?\s*"
    r"(?:[(\[]([A-Za-z])[)\]]|[(\[]?([A-Z])\b)"
    r"|[(\[]([A-Z])[)\]]"
    r"|\b(?:Option|Choice)\s+[(\[]?([A-Z])\b[)\]]?(?=\s*(?:[.!]|$))"
    r"|(?:[(\[]([A-Za-z])[)\]]|\b([A-Z]))\s+(?i:is)\s+(?i:the\s+)?(?i:correct|right|best|true)\b"
)
_ALTERNATIVE = re.compile(
    r"[\s,.;(]+(?:or|maybe|perhaps|possibly|alternatively)\b[\s,:(\[*]*"
    r"(?:(?:it|else|also|even|is|be|could|might|option|choice|maybe|perhaps|possibly)\b[\s,:(\[*]*)"
    r"{0,4}([A-Z])\b(?!['’])"  # noqa: RUF001
)


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
        if not _SINGLE.fullmatch(letter) or not isinstance(text, str):
            raise bad("choices", "expected at most 26 texts in a list, or texts by letter")
        found[letter.upper()] = text
    return found


_SINGLE = re.compile(r"[A-Za-z]")
_REFERENCE = re.compile(r"\s*\(?([A-Za-z])[).]?\s*")


def _right_letter(reference: Mapping[str, Any], choices: Mapping[str, str]) -> str:
    answer = reference.get("answer")
    if answer is None or answer == "":
        raise missing("answer", reference)
    match = _REFERENCE.fullmatch(answer) if isinstance(answer, str) else None
    if match is None or (choices and match[1].upper() not in choices):
        raise bad("answer", "expected the letter of an option" + " of `choices`" * bool(choices))
    return match[1].upper()
