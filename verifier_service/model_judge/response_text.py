"""The response in a completion as text for a model."""

from __future__ import annotations

from verifier_service.answer_text import AnswerPart, SeveralAnswers, answer_part
from verifier_service.model_judge.only_announced import says_nothing
from verifier_service.model_judge.open_answer import cleaned_lines

MAX_RESPONSE_CHARACTERS = 20_000
"""Longest response that a model is asked about; a longer one is `too_large`."""


def response_text(text: str, part: AnswerPart) -> str | None:
    """A part of a completion; None where it is missing, says nothing or says two things."""
    try:
        found = answer_part(text, part)
    except SeveralAnswers:
        return None
    if found is None:
        return None
    is_short = len(found) <= MAX_RESPONSE_CHARACTERS
    return None if is_short and says_nothing(cleaned_lines(found)) else found
