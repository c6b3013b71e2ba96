"""What verifiers read in a reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifier_service.verdict import EngineReason
from verifier_service.verifier import Unverifiable


def acceptable_answers(reference: Mapping[str, Any]) -> list[str]:
    """`reference.answer` as a list of texts: one, or several of which one must be met.

    >>> acceptable_answers({"answer": ["1/2", 0.5]})
    ['1/2', '0.5']

    Raises:
        Unverifiable: it is missing, or neither text nor number.
    """
    answer = reference.get("answer")
    if answer is None or answer == "" or answer == []:
        raise Unverifiable(EngineReason.MISSING_REFERENCE)
    texts = answer if isinstance(answer, list) else [answer]
    if any(isinstance(text, bool) or not isinstance(text, str | int | float) for text in texts):
        raise Unverifiable(EngineReason.BAD_REFERENCE)
    return [str(text) for text in texts]
