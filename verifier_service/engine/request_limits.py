"""The limits on one request."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from verifier_service.errors import TooManyCompletions, VerifierNotEnabled


class RequestLimits(msgspec.Struct, frozen=True):
    """Limits on one request, from the service's settings."""

    enabled: tuple[str, ...]
    """Types of the verifiers that the service serves."""
    max_body_bytes: int
    """Largest body, in bytes, before and after decompression."""
    max_completions: int
    max_deadline_seconds: float

    def check_enabled(self, verifiers: Iterable[str]) -> None:
        """Raise VerifierNotEnabled if the service does not serve one of these verifier types."""
        if disabled := sorted(set(verifiers) - set(self.enabled)):
            raise VerifierNotEnabled(
                f"not enabled here: {disabled}; enabled are {sorted(self.enabled)}"
            )

    def check_num_completions(self, num_completions: int) -> None:
        """Raise TooManyCompletions."""
        if num_completions > self.max_completions:
            raise TooManyCompletions(
                f"the request has {num_completions} completions; at most {self.max_completions} "
                "are taken at once"
            )
