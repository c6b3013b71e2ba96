"""`soft_overlong`: a penalty that grows over the last tokens before the limit.

DAPO (arXiv 2503.14476, equation 13), as open-r1's and TRL's `get_soft_overlong_punishment`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from verifier_service.completion import Completion
from verifier_service.reason import Reason
from verifier_service.verifier import Judge, Judgement, TextVerifier, Unverifiable
from verifier_service.verifiers.correctness import NO_TOKEN_COUNT


class SoftOverlongReason(Reason):
    """Reasons of `soft_overlong`; `details.tokens` has the length."""

    WITHIN_LENGTH = "within_length", "0: at most max_completion_tokens - cache_tokens tokens."
    IN_CACHE = "in_cache", "Between 0 and -1: the length is within the cache."
    OVERLONG = "overlong", "-1: more than max_completion_tokens tokens."
    NO_TOKEN_COUNT = "no_token_count", "unverifiable: the completion comes without `num_tokens`."


class SoftOverlong(TextVerifier):
    """From 0 to -1 over the cache before the limit."""

    purpose: ClassVar[str] = (
        "0 up to max_completion_tokens - cache_tokens tokens, then falling to -1 at "
        "max_completion_tokens, and -1 above; needs completions with num_tokens"
    )
    score_range: ClassVar[tuple[float, float]] = (-1.0, 0.0)
    reasons: ClassVar[Iterable[Reason]] = SoftOverlongReason

    type: Literal["soft_overlong"] = "soft_overlong"
    max_completion_tokens: int = Field(
        default=16_384, gt=0, description="more tokens than this score -1"
    )
    cache_tokens: int = Field(
        default=4096, ge=0, description="tokens before that over which the score falls"
    )

    @model_validator(mode="after")
    def _cache_is_within(self) -> Self:
        if self.cache_tokens > self.max_completion_tokens:
            raise ValueError(
                f"cache_tokens {self.cache_tokens} is more than max_completion_tokens "
                f"{self.max_completion_tokens}"
            )
        return self

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """See `Verifier`; no reference is needed."""
        return self._judge

    def _judge(self, completion: Completion) -> Judgement:
        length = completion.num_tokens
        if length is None:
            raise Unverifiable(SoftOverlongReason.NO_TOKEN_COUNT, NO_TOKEN_COUNT)
        details = {"tokens": length}
        excess = length - (self.max_completion_tokens - self.cache_tokens)
        if excess <= 0:
            return Judgement(0.0, SoftOverlongReason.WITHIN_LENGTH, details=details)
        if excess > self.cache_tokens:
            return Judgement(-1.0, SoftOverlongReason.OVERLONG, details=details)
        return Judgement(-excess / self.cache_tokens, SoftOverlongReason.IN_CACHE, details=details)
