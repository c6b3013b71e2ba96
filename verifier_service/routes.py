"""The HTTP routes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from verifier_service.errors import ApiError
from verifier_service.profiles import Verifiers
from verifier_service.scheduler import QueueFull, Scheduler, ScoredRequest, reward
from verifier_service.schemas import (
    ErrorResponse,
    HealthResponse,
    ProfileDescription,
    ProfilesResponse,
    ReasonDescription,
    ScoreRequest,
    ScoreResponse,
    VerifierDescription,
    VerifiersResponse,
)
from verifier_service.settings import Settings
from verifier_service.verdict import EngineReason, Reason, Verdict
from verifier_service.verifier import Verifier
from verifier_service.verifiers import VERIFIERS
from verifier_service.worker_pool import WorkerPool

router = APIRouter()

RETRY_AFTER_SECONDS = 1


class _CompletionJson(msgspec.Struct):
    reward: float | None
    verdicts: dict[str, Verdict]


class _GroupJson(msgspec.Struct, omit_defaults=True, kw_only=True):
    id: str | None = None
    completions: list[_CompletionJson]


class _StatsJson(msgspec.Struct):
    completions: int
    deduplicated: int
    seconds: float


class _ScoreJson(msgspec.Struct):
    groups: list[_GroupJson]
    stats: _StatsJson


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def _profiles(request: Request) -> dict[str, Verifiers]:
    profiles: dict[str, Verifiers] = request.app.state.profiles
    return profiles


async def _score_request(request: Request) -> ScoreRequest:
    """The body, with the verifiers of its profile.

    Parsed straight from its bytes: faster than by way of Python's `json`, and strict. Lone
    surrogates and endless nesting are refused here, so that nothing behind meets them.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise ApiError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            f"Content-Type must be application/json, found {content_type[:100]!r}",
        )
    try:
        body = ScoreRequest.model_validate_json(await request.body())
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_input=False)) from error
    if body.profile is None:
        return body
    profiles = _profiles(request)
    if body.profile not in profiles:
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "unknown_profile",
            f"no profile {body.profile[:100]!r}; there are {sorted(profiles)}",
        )
    return body.model_copy(update={"verifiers": profiles[body.profile]})


@router.post(
    "/v1/score",
    response_model=ScoreResponse,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/ScoreRequest"}}
            },
        }
    },
    responses={
        status: {"model": ErrorResponse, "description": description}
        for status, description in {
            413: "the body or the number of completions is over a limit",
            415: "the body is not JSON",
            422: "the request is malformed; the message names the field",
            503: "too much work is waiting; try again after `Retry-After` seconds",
        }.items()
    },
)
async def score(
    body: Annotated[ScoreRequest, Depends(_score_request)],
    request: Request,
    settings: Annotated[Settings, Depends(_settings)],
) -> Response:
    """Score groups of completions.

    Always 200, whatever the verdicts: one completion that hangs, or a reference that cannot be
    read, has its own verdict and changes no other. The same request gives the same verdicts
    (`seconds` aside), so asking again is safe.
    """
    start = time.perf_counter()
    _check(body, settings)
    scheduler: Scheduler = request.app.state.scheduler
    limit = settings.max_deadline_seconds
    try:
        scored = await scheduler.score(
            body, deadline_seconds=min(body.deadline_seconds or limit, limit)
        )
    except QueueFull as error:
        raise ApiError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "queue_full",
            f"{error}; try again later",
            details={"pending_completions": error.pending, "max_pending_completions": error.limit},
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        ) from error
    answer = _answer(body, scored, time.perf_counter() - start)
    return Response(msgspec.json.encode(answer), media_type="application/json")


@router.get("/v1/verifiers", response_model=VerifiersResponse)
async def verifiers(settings: Annotated[Settings, Depends(_settings)]) -> VerifiersResponse:
    """The verifiers served here: purpose, options, what each needs, and its reasons."""
    return VerifiersResponse(
        verifiers=[_describe(name, VERIFIERS[name]) for name in settings.enabled]
    )


@router.get("/v1/profiles", response_model=ProfilesResponse)
async def profiles(
    profiles: Annotated[dict[str, Verifiers], Depends(_profiles)],
) -> ProfilesResponse:
    """The lists of verifiers that `profile` can name."""
    return ProfilesResponse(
        profiles=[
            ProfileDescription(name=name, verifiers=[_as_sent(one) for one in verifiers])
            for name, verifiers in profiles.items()
        ]
    )


@router.get("/healthz", response_model=HealthResponse)
async def healthz() -> HealthResponse:
    """The process is alive."""
    return HealthResponse(status="ok")


@router.get(
    "/readyz",
    response_model=HealthResponse,
    responses={503: {"model": ErrorResponse, "description": "the message says what is missing"}},
)
async def readyz(request: Request) -> HealthResponse:
    """Every enabled verifier can be served."""
    pools: dict[str, WorkerPool] = request.app.state.pools
    problems = [f"{kind}: {pool.problem}" for kind, pool in pools.items() if pool.problem]
    if problems:
        raise ApiError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "not_ready",
            "; ".join(problems),
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        )
    return HealthResponse(status="ok")


def _check(body: ScoreRequest, settings: Settings) -> None:
    if body.num_completions > settings.max_completions:
        raise ApiError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "too_many_completions",
            f"the request has {body.num_completions} completions; at most "
            f"{settings.max_completions} are taken at once",
        )
    disabled = sorted({v.type for v in body.verifiers} - set(settings.enabled))
    if disabled:
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "verifier_not_enabled",
            f"not enabled here: {disabled}; enabled are {sorted(settings.enabled)}",
        )


def _answer(body: ScoreRequest, scored: ScoredRequest, seconds: float) -> _ScoreJson:
    groups = [
        _GroupJson(
            id=group.id,
            completions=[
                _CompletionJson(reward(verdicts, body.verifiers), verdicts) for verdicts in scores
            ],
        )
        for group, scores in zip(body.groups, scored.groups, strict=True)
    ]
    return _ScoreJson(groups, _StatsJson(body.num_completions, scored.num_deduplicated, seconds))


def _describe(name: str, verifier: type[Verifier]) -> VerifierDescription:
    return VerifierDescription(
        type=name,
        purpose=verifier.purpose,
        needs=list(verifier.needs),
        score_range=verifier.score_range,
        options=verifier.model_json_schema(),
        reasons=_reasons(verifier.reasons) + _reasons(EngineReason),
    )


def _as_sent(verifier: Verifier) -> dict[str, Any]:
    named = {"name": verifier.name, "weight": verifier.weight}
    given = {key: value for key, value in named.items() if value is not None}
    return {**verifier.options, **given}


def _reasons(reasons: Iterable[Reason]) -> list[ReasonDescription]:
    return [ReasonDescription(reason=reason, meaning=reason.meaning) for reason in reasons]
