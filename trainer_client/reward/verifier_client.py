"""The trainer's side of the wire: score groups of completions at a verifier service.

    VerifierError
    |- VerifierUnavailable   no usable answer within the attempts: down, too slow, or overloaded
    |- VerifierRejected      the service refused the request (4xx): a mistake of ours to mend
    `- VerifierNonsense      it answered, but not with what was asked; is this URL a verifier?

Verification is a pure function of the request, so trying again is always safe. The service forbids
unknown fields and this client ignores them, so an older client works with a newer service.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from trainer_client.config.run_config import RewardConfig, VerifierConfig
from trainer_client.errors import TrainerError
from trainer_client.run.console import CONSOLE

T = TypeVar("T")

KEY_VARIABLE = "REWARD_VERIFIER_API_KEY"
MAX_BACKOFF_SECONDS = 30.0
DEADLINE_SHARE = 0.9
"""Of the time-out: the service answers with what it has before the client gives up."""
RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})


class VerifierError(TrainerError):
    """Scoring did not succeed."""


class VerifierUnavailable(VerifierError):
    """No usable answer within the attempts."""


class VerifierRejected(VerifierError):
    """The service refused the request."""


class VerifierNonsense(VerifierError):
    """The answer is not one of a verifier service to this request."""


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Verdict(_Wire):
    """What one verifier says about one completion; it has a score if and only if it judged."""

    outcome: Literal["scored", "unverifiable", "failed"]
    score: float | None = Field(default=None, allow_inf_nan=False)
    reason: str
    extracted: str | None = None
    seconds: float = 0.0
    details: dict[str, Any] | None = None
    """Facts besides, such as how many tests passed."""

    @model_validator(mode="after")
    def _score_belongs_to_scored(self) -> Verdict:
        if (self.score is not None) != (self.outcome == "scored"):
            raise ValueError(f"outcome {self.outcome!r} with score {self.score!r}")
        return self

    @property
    def why(self) -> str:
        """The reason, and what the service says of it."""
        message = (self.details or {}).get("message")
        return self.reason if message is None else f"{self.reason}: {message}"


Verdicts = dict[str, Verdict]
"""The verdicts of one completion, by verifier name."""


class _Completion(_Wire):
    verdicts: Verdicts


class _Group(_Wire):
    completions: list[_Completion]


class _ScoreResponse(_Wire):
    groups: list[_Group]


@dataclass(frozen=True)
class SampledText:
    """A completion with what its sampler knows, which verifiers of length ask for."""

    text: str
    num_tokens: int
    truncated: bool


@dataclass(frozen=True)
class Question:
    """What to ask about a group: verifiers, or the name of a profile of the service."""

    verifiers: tuple[VerifierConfig, ...] = ()
    profile: str | None = None

    @property
    def wire(self) -> dict[str, Any]:
        """The part of a request's body that says so."""
        if self.profile is not None:
            return {"profile": self.profile}
        return {"verifiers": [verifier.wire for verifier in self.verifiers]}

    @property
    def names(self) -> set[str]:
        """Names that verdicts must have; of a profile's, only the service knows them."""
        return {verifier.key for verifier in self.verifiers} if self.profile is None else set()


@dataclass(frozen=True)
class ScoreRequest:
    """One group to score."""

    completions: tuple[str | SampledText, ...]
    reference: dict[str, Any]
    prompt: str | None = None
    question: Question | None = None
    """None: what the client was made to ask."""


class VerifierClient:
    """Scores groups, one request each, any number at a time.

    The API key of the service, if it wants one, is the environment's REWARD_VERIFIER_API_KEY: a run
    writes its configuration down, and a secret does not belong there.

    | call | waits for |
    |---|---|
    | `await client.score(group)` | the verdicts of the group, in order |
    | `await client.check()` | the service to be ready, and to take the run's verifiers |

    A group with verdicts that are `failed` (the service's fault) is sent again, whole, within the
    attempts; what still fails comes back as `failed`. It has no score and is never a 0.
    """

    def __init__(
        self,
        config: RewardConfig,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._config = config
        self._sleep = sleep
        self._question = Question(config.verifiers)
        key = os.environ.get(KEY_VARIABLE)
        self._http = httpx.AsyncClient(
            base_url=config.url,
            headers={"Authorization": f"Bearer {key}"} if key else None,
            timeout=httpx.Timeout(config.timeout_seconds, connect=10.0, pool=None),
            limits=httpx.Limits(max_connections=64),
            transport=transport,
        )
        self._has_answered = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def check(self, *others: Question) -> None:
        """Raise VerifierError unless the service is ready, and takes what it will be asked.

        Args:
            others: what will be asked besides the run's verifiers, such as by evaluations.
        """
        await self._try(partial(self._send, "GET", "/readyz"))
        asked = [("reward", self._question), *(("evaluation", question) for question in others)]
        for section, question in asked:
            if question == Question():
                continue
            body = {**question.wire, "groups": []}
            try:
                await self._try(partial(self._send, "POST", "/v1/score", body))
            except VerifierRejected as error:
                setting = "profile" if question.profile else "verifiers"
                raise VerifierRejected(f"{error} (asked by {section}.{setting})") from error

    async def score(self, group: ScoreRequest) -> list[Verdicts]:
        """The verdicts of each completion, in order; raises VerifierError.

        Where no verifier is asked (only evaluations need the service) there are none.
        """
        if (group.question or self._question) == Question():
            return [{} for _ in group.completions]
        verdicts = await self._try(partial(self._score_once, group))
        for attempt in range(1, self._config.max_attempts):
            failed = [index for index, item in enumerate(verdicts) if _has_failed(item)]
            if not failed:
                break
            await self._sleep(self._backoff(attempt))
            # The whole group: some verifiers judge a completion by the others of its group.
            again = await self._try(partial(self._score_once, group))
            for index in failed:
                verdicts[index] = again[index]
        return verdicts

    async def _score_once(self, group: ScoreRequest) -> list[Verdicts]:
        question = group.question or self._question
        body = {
            "deadline_seconds": DEADLINE_SHARE * self._config.timeout_seconds,
            **question.wire,
            "groups": [
                {
                    "prompt": group.prompt,
                    "reference": group.reference,
                    "completions": [
                        item if isinstance(item, str) else asdict(item)
                        for item in group.completions
                    ],
                }
            ],
        }
        answer = await self._send("POST", "/v1/score", body)
        try:
            response = _ScoreResponse.model_validate_json(answer.content)
        except ValidationError as error:
            raise VerifierNonsense(
                f"{answer.url} did not answer with scores: {_first_problem(error)}; "
                f"the answer begins {answer.text[:200]!r}"
            ) from error
        lengths = [len(answered.completions) for answered in response.groups]
        expected = len(group.completions)
        if lengths != [expected]:
            raise VerifierNonsense(
                f"{answer.url} was asked about one group of {expected} completions and "
                f"answered for groups of {lengths}"
            )
        verdicts = [completion.verdicts for completion in response.groups[0].completions]
        for item in verdicts:
            if not question.names <= item.keys():
                raise VerifierNonsense(
                    f"{answer.url} was asked for verdicts of {sorted(question.names)} and "
                    f"answered with {sorted(item)}"
                )
        return verdicts

    async def _send(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> httpx.Response:
        response = await self._http.request(method, path, json=body)
        if response.status_code in RETRIED_STATUSES:
            raise _Again(response)
        if response.status_code == 401:
            raise VerifierRejected(
                f"{response.url} refused the request with 401: {_error_message(response)}. The key "
                f"is the environment's {KEY_VARIABLE}, which is "
                f"{'set to another one' if KEY_VARIABLE in os.environ else 'not set'}"
            )
        if response.status_code != 200:
            raise VerifierRejected(
                f"{response.url} refused the request with {response.status_code}: "
                f"{_error_message(response)}"
            )
        return response

    async def _try(self, call: Callable[[], Awaitable[T]]) -> T:
        last: Exception | None = None
        for attempt in range(1, self._config.max_attempts + 1):
            try:
                answer = await call()
                self._has_answered = True
                return answer
            except (httpx.RequestError, _Again, VerifierNonsense) as error:
                last = error
            if attempt < self._config.max_attempts:
                if attempt == 1 and not self._has_answered:
                    CONSOLE.print(
                        f"waiting for the verifier at {self._config.url} ({_describe(last)})",
                        markup=False,
                        highlight=False,
                        soft_wrap=True,
                    )
                asked = last.retry_after_seconds if isinstance(last, _Again) else 0.0
                await self._sleep(max(asked, self._backoff(attempt)))
        if isinstance(last, VerifierNonsense):
            raise last
        raise VerifierUnavailable(
            f"no answer from the verifier at {self._config.url} after "
            f"{self._config.max_attempts} attempts; the last one: {_describe(last)}. Is it running "
            "(`verifier-service serve`) and is reward.url right?"
        ) from last

    def _backoff(self, attempt: int) -> float:
        """Seconds before the next try: doubling, with jitter so that clients spread out."""
        longest = self._config.backoff_seconds * 2.0 ** (attempt - 1)
        return min(longest, MAX_BACKOFF_SECONDS) * random.uniform(0.5, 1.0)


class _Again(Exception):
    """The service answered with a status that asks to try again."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"status {response.status_code}: {_error_message(response)}")
        self.retry_after_seconds = _retry_after(response)


def _has_failed(verdicts: Verdicts) -> bool:
    return any(verdict.outcome == "failed" for verdict in verdicts.values())


def _retry_after(response: httpx.Response) -> float:
    try:
        seconds = float(response.headers.get("retry-after", "0"))
    except ValueError:
        return 0.0  # an HTTP date: our own backoff is near enough
    return min(max(seconds, 0.0), MAX_BACKOFF_SECONDS)


def _error_message(response: httpx.Response) -> str:
    """The message of the service's error body, or the start of whatever else it sent."""
    try:
        return str(response.json()["error"]["message"])[:2000]
    except (ValueError, KeyError, TypeError, AttributeError):
        return repr(response.text[:200])


def _describe(error: Exception | None) -> str:
    return f"{type(error).__name__}: {error}" if not isinstance(error, _Again) else str(error)


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'body'}: {first['msg']}"
