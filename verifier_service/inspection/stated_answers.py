"""Answers and programs that a problem states itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_STATED_CHARACTERS = 200
"""Longest answer that is looked for behind a word such as `answer`."""
MIN_STATED_PROGRAM_CHARACTERS = 40
"""Shortest program that is looked for in a problem as a whole."""

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
