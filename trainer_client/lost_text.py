"""Texts that a tokenizer does not read back as they were written."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from trainer_client.problems import Problem

MAX_SHOWN_CHARACTERS = 60
NUM_TRIED = 2000
"""Problems, spread over the data set, whose texts are written by the tokenizer and read back."""


def tried_problems(problems: Sequence[Problem]) -> Sequence[Problem]:
    """Some of the problems, evenly spread, about `2 * NUM_TRIED` at most."""
    return problems[:: max(1, len(problems) // NUM_TRIED)]


def lost_text_warnings(problems: Sequence[Problem], read_back: Callable[[str], str]) -> list[str]:
    """A warning where texts of problems and answers differ by more than their Unicode form.

    Args:
        problems: those that are tried.
        read_back: writes a text as token ids, and decodes them as completions are decoded.
    """
    texts = {text: None for problem in problems for text in _texts(problem)}
    pairs = [(text, read_back(text)) for text in texts]
    lost = [(text, back) for text, back in pairs if _form(back) != _form(text)]
    if not lost:
        return []
    text, back = min(lost, key=lambda pair: len(pair[0]))
    missing = sorted(set(text) - set(back))
    named = f" (lost: {' '.join(map(repr, missing[:10]))})" if missing else ""
    return [
        f"the tokenizer cannot write {len(lost)} of {len(texts)} texts of the problems and "
        f"answers that were tried: {_shown(text)} is read back as {_shown(back)}{named}. The "
        "model cannot see or write what is lost, and verifiers judge completions as they are "
        "read back. Check that the tokenizer is the model's own, and that no word of an answer "
        "is one of its special tokens"
    ]


def _texts(problem: Problem) -> list[str]:
    """The texts that the model reads, and those answers that it has to write."""
    answers = [value for value in problem.reference.values() if isinstance(value, str)]
    return [*(message["content"] for message in problem.messages), *answers]


def _form(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def _shown(text: str) -> str:
    return repr(text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}...")
