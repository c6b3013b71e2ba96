"""Keys of a reference: reading them, and messages where they cannot be used."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from verifier_service.reason import EngineReason
from verifier_service.validation import did_you_mean
from verifier_service.verifier import Unverifiable

MAX_SHOWN_KEYS = 10
"""Most keys of a reference that a message names."""
MAX_KEY_CHARACTERS = 20
"""Longest beginning of a key that a message shows."""


def acceptable_answers(reference: Mapping[str, Any]) -> list[str]:
    """`reference.answer` as a list of texts: one, or several of which one must be met.

    >>> acceptable_answers({"answer": ["1/2", 0.5]})
    ['1/2', '0.5']

    Raises:
        Unverifiable: `answer` is missing, or neither text nor number.
    """
    answer = reference.get("answer")
    if answer is None or answer == "" or answer == []:
        raise missing("answer", reference)
    texts = answer if isinstance(answer, list) else [answer]
    for text in texts:
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            raise bad("answer", f"found {kind(text)}, expected a text, a number, or a list of them")
    return [str(text) for text in texts]


_COLUMNS = frozenset({"problem", "question", "prompt", "solution", "ground_truth", "reward_model",
                      "expected_answer", "final_answer"})  # fmt: skip
"""Columns of data sets; a reference that has them may be a whole row."""


def missing(key: str, reference: Mapping[str, Any], *, instead: str | None = None) -> Unverifiable:
    """The error for a reference without a key, or with an empty value under it.

    `instead` is another key that would do.

    >>> print(missing("answer", {"anwser": "2"}))
    reference.answer is needed; there are: anwser
    >>> print(missing("answer", {"problem": "1 + 1"}))
    reference.answer is needed; there are: problem; `reference_format` reads the rows of data sets
    """
    if key in reference:
        message = f"reference.{key} is empty"
    else:
        keys = [name[:MAX_KEY_CHARACTERS] for name in list(reference)[:MAX_SHOWN_KEYS]]
        wanted = f"reference.{key}" + (f" or reference.{instead}" if instead else "")
        there = f"there are: {', '.join(keys)}" if keys else "the reference is empty"
        message = f"{wanted} is needed; {there}"
        if not _COLUMNS.isdisjoint(keys):
            message += "; `reference_format` reads the rows of data sets"
    return Unverifiable(EngineReason.MISSING_REFERENCE, message)


def bad(key: str, message: str) -> Unverifiable:
    """The error for a value under a key that cannot be used.

    >>> print(bad("answer", "found an object, expected a text"))
    reference.answer: found an object, expected a text
    """
    return Unverifiable(EngineReason.BAD_REFERENCE, f"reference.{key}: {message}")


def check_names(key: str, given: Mapping[str, Any], names: Collection[str]) -> None:
    """Raise Unverifiable for a misspelt name under a key, without which another rule would judge.

    A data set may have names of its own beside those that are read, so only one that resembles a
    name which is missing is a mistake.
    """
    absent = [name for name in names if name not in given]
    for name in sorted(map(str, given.keys() - set(names))):
        if nearest := did_you_mean(name, absent, likeness=0.8):
            raise bad(key, f"no name {name[:MAX_KEY_CHARACTERS]!r}{nearest}")


def kind(value: object) -> str:
    """The kind of a JSON value, in words for messages.

    >>> kind([]), kind(True), kind(2.5)
    ('a list', 'true or false', 'a number')
    """
    if isinstance(value, bool):
        return "true or false"
    names = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "null")
