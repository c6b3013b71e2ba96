"""Judge a completion in this process, as a worker would."""

from __future__ import annotations

from typing import Any

from verifier_service.completion import Completion
from verifier_service.verifier import Judgement, SettlingVerifier, TextVerifier, Undecided


def judge(verifier: TextVerifier, reference: dict[str, Any], text: str, **known: Any) -> Judgement:
    found = verifier.prepare(reference)(Completion(text, **known))
    if isinstance(found, Undecided):
        assert isinstance(verifier, SettlingVerifier)
        return verifier.settle(reference)(found.question)
    return found
