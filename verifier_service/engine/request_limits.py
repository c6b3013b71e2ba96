"""The limits on one request, and on the texts in it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from verifier_service.engine.allowance import Allowance
from verifier_service.errors import TooManyCompletions, VerifierNotEnabled

MAX_COMPLETION_CHARACTERS = 2 * 2**20
"""Longest completion that is judged; a longer one is `too_large`. No model writes as much, and one
message of that size would hold up other requests."""
MAX_GROUP_CHARACTERS = 2 * MAX_COMPLETION_CHARACTERS
"""Most characters of a group whose completions are judged beside each other."""
MAX_REFERENCE_BYTES = 16 * 2**20
"""Largest reference in JSON; a larger one is `bad_reference`."""
LARGE_REFERENCE = f"the reference takes more than {MAX_REFERENCE_BYTES} bytes of JSON"
MAX_EXPLAINED_VERDICTS = 1024
"""Most verdicts of a request that asks for explanations, each of which may take 60 kB."""


class RequestLimits(msgspec.Struct, frozen=True):
    """Limits on one request, from the service's settings."""

    enabled: tuple[str, ...]
    """Types of the verifiers that the service serves."""
    max_body_bytes: int
    """Largest body, in bytes, before and after decompression."""
    max_completions: int
    max_deadline_seconds: float
    enabled_for: str = "here"
    """Place of `enabled` in a message: here, or for an API key."""

    def within(self, allowance: Allowance) -> RequestLimits:
        """These limits for the requests with one API key."""
        limits = allowance.limits
        narrowed = self
        if limits.verifiers is not None:
            narrowed = msgspec.structs.replace(
                narrowed,
                enabled=tuple(one for one in self.enabled if one in limits.verifiers),
                enabled_for=f"for the API key {allowance.name!r}",
            )
        if limits.max_pending_completions is not None:
            # A request with more could never be accepted: 413 says so, where 429 would be retried.
            most = min(self.max_completions, limits.max_pending_completions)
            narrowed = msgspec.structs.replace(narrowed, max_completions=most)
        return narrowed

    def check_enabled(self, verifiers: Iterable[str]) -> None:
        """Raise VerifierNotEnabled if the service does not serve one of these verifier types."""
        if disabled := sorted(set(verifiers) - set(self.enabled)):
            raise VerifierNotEnabled(
                f"not enabled {self.enabled_for}: {disabled}; enabled are {sorted(self.enabled)}"
            )

    def check_num_completions(self, num_completions: int) -> None:
        """Raise TooManyCompletions."""
        if num_completions > self.max_completions:
            raise TooManyCompletions(
                f"the request has {num_completions} completions; at most {self.max_completions} "
                "are taken at once"
            )

    @staticmethod
    def check_num_explained(num_verdicts: int) -> None:
        """Raise TooManyCompletions if so many verdicts are not explained at once."""
        if num_verdicts > MAX_EXPLAINED_VERDICTS:
            raise TooManyCompletions(
                f"`explain` asks for {num_verdicts} explanations; at most "
                f"{MAX_EXPLAINED_VERDICTS} are given at once"
            )
