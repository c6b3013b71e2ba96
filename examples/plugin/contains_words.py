"""`contains_words`: the share of `reference.words` that the completion has.

An example of a verifier in a package of its own. `pip install .` beside the service, start the
service, and a request may say {"type": "contains_words", "case_sensitive": false}.

The service reads the class: its options, which it checks, and its documentation. `prepare` and what
it returns run in the worker processes, under their limits: no network, no files but what can be
imported, 2 seconds of CPU time and 1 GiB for each completion. What takes long to import belongs
into `prepare`. A judge must depend on nothing but options, reference and completion, since equal
work is done once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.completion import Completion
from verifier_service.reason import EngineReason, Reason
from verifier_service.verifier import Judge, Judgement, TextVerifier, Unverifiable


class ContainsWordsReason(Reason):
    """Reasons of `contains_words`; `details` counts the words."""

    ALL_WORDS = "all_words", "1: the completion has every word."
    SOME_WORDS = "some_words", "The share of words that it has."
    NO_WORDS = "no_words", "0: it has none."


class ContainsWords(TextVerifier):
    """The share of the reference's words that the completion has."""

    purpose: ClassVar[str] = "the share of reference.words, a list, that the completion has"
    needs: ClassVar[tuple[str, ...]] = ("words",)
    reasons: ClassVar[Iterable[Reason]] = ContainsWordsReason

    type: Literal["contains_words"] = "contains_words"
    case_sensitive: bool = Field(default=False, description="whether Paris differs from paris")

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """See `TextVerifier`."""
        words = reference.get("words")
        if not words:
            raise Unverifiable(EngineReason.MISSING_REFERENCE)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise Unverifiable(EngineReason.BAD_REFERENCE)
        wanted = {self._normalised(word) for word in words}

        def judge(completion: Completion) -> Judgement:
            found = wanted & set(self._normalised(completion.text).split())
            details = {"found": len(found), "wanted": len(wanted)}
            if not found:
                return Judgement(0.0, ContainsWordsReason.NO_WORDS, details=details)
            reason = ContainsWordsReason["ALL_WORDS" if len(found) == len(wanted) else "SOME_WORDS"]
            return Judgement(len(found) / len(wanted), reason, details=details)

        return judge

    def _normalised(self, text: str) -> str:
        return text if self.case_sensitive else text.casefold()
