"""A client of the verifier service for code that waits, and for code that does not.

    VerifierError
    |- VerifierUnavailable   no verdict within the attempts: down, too slow, overloaded
    `- VerifierRejected      the service refused the request, or was asked for a profile without
                             weights: a mistake to mend

Judging is a pure function of the request, so trying again is safe.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

URL_VARIABLE, KEY_VARIABLE, PROFILE_VARIABLE = (
    "REWARD_VERIFIER_URL",
    "REWARD_VERIFIER_API_KEY",
    "REWARD_VERIFIER_PROFILE",
)
MAX_BACKOFF_SECONDS = 30.0
DEADLINE_SHARE = 0.9
"""Of the time-out: the service answers with what it has before this side gives up."""
RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})

Completion = str | Sequence[Mapping[str, Any]]
"""A text, or a list of chat messages."""
Reference = Mapping[str, Any]


class VerifierError(Exception):
    """There is no verdict."""


class VerifierUnavailable(VerifierError):
    """No verdict within the attempts."""


class VerifierRejected(VerifierError):
    """The service refused the request, or it is not a verifier service."""


@dataclass(frozen=True)
class Judgement:
    """What the service says about one completion."""

    reward: float | None
    """The weighted sum of the scores; None where the reference does not permit to judge."""
    verdicts: dict[str, dict[str, Any]]
    """By the name of the verifier: `outcome`, `score`, `reason`, ..."""

    @property
    def score(self) -> float | None:
        """Of the first verifier, without its weight."""
        score: float | None = next(iter(self.verdicts.values()))["score"]
        return score

    @property
    def reason(self) -> str:
        """Of the first verifier."""
        return str(next(iter(self.verdicts.values()))["reason"])


@dataclass(frozen=True)
class Verifier:
    """Where and how completions are judged. Can be pickled, copied, and used by several threads.

    | call | gives |
    |---|---|
    | `verifier.judge(completions, references)` | a `Judgement` each, in order |
    | `await verifier.judge_async(completions, references)` | the same |

    Args:
        url: of the service; default: the environment's REWARD_VERIFIER_URL, or this machine.
        profile: name of a list of verifiers of the service; default: the environment's
            REWARD_VERIFIER_PROFILE, or `accuracy`.
        verifiers: a list of verifiers as in `POST /v1/score`, instead of a profile. One without a
            `weight` has weight 1.
        api_key: sent as a bearer token; default: the environment's REWARD_VERIFIER_API_KEY.
        timeout_seconds: of one attempt.
        max_attempts: for each request, before `VerifierUnavailable`.
        backoff_seconds: before the second attempt; twice as long before each following one.
        transport: instead of the network, for tests.

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
            source = "url" if self.url else URL_VARIABLE
            raise ValueError(f"{source} {self.address!r} needs http:// or https:// before it")

    def judge(
        self, completions: Sequence[Completion], references: Sequence[Reference]
    ) -> list[Judgement]:
        """Judge each completion by its reference.

        Raises:
            VerifierError: there is no verdict on all of them; none is ever taken for a 0.
        """
        work = _work(self, completions, references)
        answer: _Answer | None = None
        with httpx.Client(transport=self.transport, **self._connection) as http:
            while True:
                try:
                    step = work.send(answer)
                except StopIteration as end:
                    return _judgements(end)
                answer = None
                if isinstance(step, float):
                    time.sleep(step)
                    continue
                try:
                    answer = http.post("/v1/score", json=step)
                except httpx.RequestError as error:
                    answer = error

    async def judge_async(
        self, completions: Sequence[Completion], references: Sequence[Reference]
    ) -> list[Judgement]:
        """Judge each completion by its reference.

        Raises:
            VerifierError: there is no verdict on all of them; none is ever taken for a 0.
        """
        work = _work(self, completions, references)
        answer: _Answer | None = None
        async with httpx.AsyncClient(transport=self.transport, **self._connection) as http:
            while True:
                try:
                    step = work.send(answer)
                except StopIteration as end:
                    return _judgements(end)
                answer = None
                if isinstance(step, float):
                    await asyncio.sleep(step)
                    continue
                try:
                    answer = await http.post("/v1/score", json=step)
                except httpx.RequestError as error:
                    answer = error

    @property
    def address(self) -> str:
        """The URL in force."""
        return self.url or os.environ.get(URL_VARIABLE) or "http://127.0.0.1:8080"

    @property
    def _connection(self) -> dict[str, Any]:
        key = self.api_key or os.environ.get(KEY_VARIABLE)
        return {
            "base_url": self.address,
            "timeout": httpx.Timeout(self.timeout_seconds, connect=10.0),
            "headers": {"Authorization": f"Bearer {key}"} if key else {},
            # Reading the certificates takes longer than judging, and http needs none.
            "verify": not self.address.startswith("http://"),
        }

    @property
    def request(self) -> dict[str, Any]:
        """The part of a request that says how to judge."""
        deadline = {"deadline_seconds": DEADLINE_SHARE * self.timeout_seconds}
        if self.verifiers is not None:
            return {**deadline, "verifiers": [{"weight": 1.0, **one} for one in self.verifiers]}
        profile = self.profile or os.environ.get(PROFILE_VARIABLE) or "accuracy"
        return {**deadline, "profile": profile}


_Answer = httpx.Response | httpx.RequestError
_Work = Generator[dict[str, Any] | float, _Answer | None, list[Judgement]]
"""Gives requests to send and seconds to wait, and is sent what came of a request."""


def _work(
    verifier: Verifier, completions: Sequence[Completion], references: Sequence[Reference]
) -> _Work:
    if len(references) != len(completions):
        raise ValueError(f"{len(completions)} completions with {len(references)} references")
    found: dict[int, Judgement] = {}
    groups = _groups(references)
    for attempt in range(1, verifier.max_attempts + 1):
        if not groups:
            break
        body = {
            **verifier.request,
            "groups": [
                {"reference": references[group[0]], "completions": [completions[i] for i in group]}
                for group in groups
            ],
        }
        answer = yield body
        asked = 0.0
        if isinstance(answer, httpx.Response) and answer.status_code not in RETRIED_STATUSES:
            judged = _read(answer, groups)
            failed = {index for index, one in judged.items() if _has_failed(one)}
            found |= {i: one for i, one in judged.items() if i not in failed and i not in found}
            # Whole groups: some verifiers judge a completion by the others of its group.
            groups = [group for group in groups if not found.keys() >= set(group)]
            why = f"verdicts are `failed`: {sorted({_failure(judged[i]) for i in failed})}"
        else:
            why, asked = _trouble(answer)
        if groups and attempt < verifier.max_attempts:
            yield max(asked, _backoff(verifier, attempt))
    if groups:
        raise VerifierUnavailable(
            f"no verdict from {verifier.address} after {verifier.max_attempts} attempts; {why}. Is "
            f"it running (`verifier-service serve`), and is the URL right?"
        )
    return [found[index] for index in range(len(completions))]


def _groups(references: Sequence[Reference]) -> list[list[int]]:
    """Row numbers of neighbours with the same reference, which is then sent once."""
    groups: list[list[int]] = []
    for index, reference in enumerate(references):
        if groups and references[groups[-1][-1]] == reference:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _read(answer: httpx.Response, groups: list[list[int]]) -> dict[int, Judgement]:
    if answer.status_code != 200:
        raise VerifierRejected(f"{answer.url} answered {answer.status_code}: {_message(answer)}")
    try:
        judged = [
            Judgement(completion["reward"], completion["verdicts"])
            for group in answer.json()["groups"]
            for completion in group["completions"]
        ]
        found = dict(zip(itertools.chain(*groups), judged, strict=True))
        unweighted = any(one.reward is None and _all_scored(one) for one in judged)
    except (ValueError, KeyError, TypeError) as error:
        raise VerifierRejected(
            f"{answer.url} did not answer as a verifier service: {error!r}; the answer begins "
            f"{answer.text[:200]!r}"
        ) from error
    if unweighted:
        raise VerifierRejected(
            f"{answer.url} gave no reward for a completion that all verifiers have scored: each "
            "verifier of the profile needs a weight"
        )
    return found


def _all_scored(judgement: Judgement) -> bool:
    return all(verdict["outcome"] == "scored" for verdict in judgement.verdicts.values())


def _has_failed(judgement: Judgement) -> bool:
    return any(verdict["outcome"] == "failed" for verdict in judgement.verdicts.values())


def _failure(judgement: Judgement) -> str:
    return next(
        str(verdict["reason"])
        for verdict in judgement.verdicts.values()
        if verdict["outcome"] == "failed"
    )


def _trouble(answer: _Answer | None) -> tuple[str, float]:
    """Why there is no verdict, and for how many seconds the service asks to wait."""
    if not isinstance(answer, httpx.Response):
        return f"{type(answer).__name__}: {answer}", 0.0
    try:
        asked = float(answer.headers.get("retry-after", "0"))
    except ValueError:  # a date: our own waits are near enough
        asked = 0.0
    return f"status {answer.status_code}: {_message(answer)}", min(
        max(asked, 0.0), MAX_BACKOFF_SECONDS
    )


def _message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"]["message"])[:2000]
    except (ValueError, KeyError, TypeError):
        return repr(answer.text[:200])


def _backoff(verifier: Verifier, attempt: int) -> float:
    """Doubling, with jitter so that clients spread out."""
    longest = min(verifier.backoff_seconds * 2.0 ** (attempt - 1), MAX_BACKOFF_SECONDS)
    return float(longest * random.uniform(0.5, 1.0))


def _judgements(end: StopIteration) -> list[Judgement]:
    judgements: list[Judgement] = end.value
    return judgements
