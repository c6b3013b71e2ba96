"""The adapters' client of a verifier service, for code that blocks and code that awaits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import httpx

from reward_verifier.client import connection_options, converse, converse_async
from reward_verifier.errors import VerifierRejected, VerifierUnavailable
from reward_verifier.protocol import CompletionGroup, Conversation, ServiceAccess, score
from reward_verifier.verdict import ScoredCompletion

URL_VARIABLE, PROFILE_VARIABLE = "REWARD_VERIFIER_URL", "REWARD_VERIFIER_PROFILE"
DEFAULT_URL = "http://127.0.0.1:8080"
DEFAULT_PROFILE = "accuracy"

Completion = str | Sequence[Mapping[str, Any]]
"""A text, or a list of chat messages."""
Reference = Mapping[str, Any]


@dataclass(frozen=True)
class Judgement:
    """The reward of one completion and the verdicts behind it."""

    reward: float | None
    """The weighted sum of the scores; None where the reference does not permit to judge."""
    verdicts: dict[str, dict[str, Any]]
    """Verifier name -> its verdict as the service sent it: `outcome`, `score`, `reason`, ..."""

    @property
    def score(self) -> float | None:
        """The first verifier's score, without its weight."""
        score: float | None = self._first["score"]
        return score

    @property
    def reason(self) -> str:
        """The first verifier's reason."""
        return str(self._first["reason"])

    @property
    def _first(self) -> dict[str, Any]:
        return next(iter(self.verdicts.values()))


@dataclass(frozen=True)
class Verifier:
    """A service and the verifiers to use. Can be pickled, copied, and shared by threads.

    | call | result |
    |---|---|
    | `verifier.judge(completions, references)` | a `Judgement` of each completion, in order |
    | `await verifier.judge_async(completions, references)` | the same |

    Args:
        url: address of the service; default: the environment's REWARD_VERIFIER_URL, or port 8080
            of this machine.
        profile: name of a list of verifiers of the service; default: the environment's
            REWARD_VERIFIER_PROFILE, or `accuracy`.
        verifiers: a list of verifiers as in `POST /v1/score`, instead of a profile. One without a
            `weight` has weight 1.
        api_key: sent as a bearer token; default: the environment's REWARD_VERIFIER_API_KEY.
        timeout_seconds: time limit of one attempt.
        max_attempts: attempts before `VerifierUnavailable`, the first included.
        backoff_seconds: wait before the second attempt; it doubles for each further one.
        transport: an httpx transport that replaces the network, for tests.

    Raises:
        ValueError: both profile and verifiers are given, or the URL has no http:// or https://.
    """

    url: str | None = None
    profile: str | None = None
    verifiers: Sequence[Mapping[str, Any]] | None = None
    api_key: str | None = None
    timeout_seconds: float = 120.0
    max_attempts: int = 6
    backoff_seconds: float = 0.5
    transport: Any = None

    def __post_init__(self) -> None:
        if self.profile is not None and self.verifiers is not None:
            raise ValueError("give either `profile` or `verifiers`, not both")
        if not self.address.startswith(("http://", "https://")):
            raise ValueError(
                f"{self._url_setting} {self.address!r} needs http:// or https:// before it"
            )

    def judge(
        self, completions: Sequence[Completion], references: Sequence[Reference]
    ) -> list[Judgement]:
        """Judge each completion by its reference.

        Raises:
            VerifierError: a completion has no verdict; that is never taken for a 0.
        """
        access = self._access
        with httpx.Client(transport=self.transport, **connection_options(access)) as http:
            return converse(self._judging(access, completions, references), http)

    async def judge_async(
        self, completions: Sequence[Completion], references: Sequence[Reference]
    ) -> list[Judgement]:
        """Judge each completion by its reference.

        Raises:
            VerifierError: a completion has no verdict; that is never taken for a 0.
        """
        access = self._access
        async with httpx.AsyncClient(
            transport=self.transport, **connection_options(access)
        ) as http:
            return await converse_async(self._judging(access, completions, references), http)

    @property
    def address(self) -> str:
        """The service's URL: the argument, the environment's, or this machine's."""
        return self.url or os.environ.get(URL_VARIABLE) or DEFAULT_URL

    @property
    def _url_setting(self) -> str:
        return "url" if self.url else URL_VARIABLE

    @property
    def _access(self) -> ServiceAccess:
        return ServiceAccess(
            url=self.address,
            url_setting=self._url_setting,
            timeout_seconds=self.timeout_seconds,
            max_attempts=self.max_attempts,
            backoff_seconds=self.backoff_seconds,
            api_key=self.api_key,
        )

    @property
    def _selection(self) -> dict[str, Any]:
        """The part of a request that names the verifiers."""
        if self.verifiers is not None:
            return {"verifiers": [{"weight": 1.0, **one} for one in self.verifiers]}
        return {"profile": self.profile or os.environ.get(PROFILE_VARIABLE) or DEFAULT_PROFILE}

    def _judging(
        self,
        access: ServiceAccess,
        completions: Sequence[Completion],
        references: Sequence[Reference],
    ) -> Conversation[list[Judgement]]:
        groups = _groups(completions, references)
        scored = list(chain(*(yield from score(access, self._selection, groups))))
        failures = sorted({one.failure for one in scored if one.failure})
        if failures:
            raise VerifierUnavailable(
                f"no verdict from {access.url} after {access.max_attempts} attempts; verdicts are "
                f"`failed`: {failures}. The service's log says more"
            )
        if any(one.reward is None and _is_all_scored(one) for one in scored):
            raise VerifierRejected(
                f"{access.url} gave no reward for a completion that all verifiers have scored: "
                "each verifier of the profile needs a weight"
            )
        return [Judgement(one.reward, one.fields) for one in scored]


def _groups(
    completions: Sequence[Completion], references: Sequence[Reference]
) -> list[CompletionGroup]:
    """Neighbours with equal references share a group, so that the reference is sent once."""
    if len(references) != len(completions):
        raise ValueError(f"{len(completions)} completions with {len(references)} references")
    groups: list[tuple[Reference, list[Completion]]] = []
    for completion, reference in zip(completions, references, strict=True):
        if groups and groups[-1][0] == reference:
            groups[-1][1].append(completion)
        else:
            groups.append((reference, [completion]))
    return [CompletionGroup(members, reference) for reference, members in groups]


def _is_all_scored(completion: ScoredCompletion) -> bool:
    return all(verdict.outcome == "scored" for verdict in completion.verdicts.values())
