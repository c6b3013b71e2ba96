"""The HTTP routes of the service's own API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

import verifier_service
from verifier_service.code.languages.status import LanguageStatus, language_statuses
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.errors import Draining, NotReady, RequestError
from verifier_service.http.error_handlers import refused
from verifier_service.http.line_stream import NDJSON
from verifier_service.http.promised_errors import BODY_ERRORS, STRANGER_ERRORS, promised
from verifier_service.http.score_call import respond_to_score_call
from verifier_service.http.service import CallService, Service, service_of
from verifier_service.proofs.provers import ProverStatus
from verifier_service.reason import EngineReason, Reason
from verifier_service.schemas import (
    HealthResponse,
    LanguageDescription,
    ProfileDescription,
    ProfilesResponse,
    ProverDescription,
    ReadinessResponse,
    ReasonDescription,
    ScoreResponse,
    VerifierDescription,
    VerifiersResponse,
)
from verifier_service.verifier import Verifier
from verifier_service.verifiers import VERIFIERS
from verifier_service.verifiers.code import Code

router = APIRouter()

METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SCORE_ERRORS = {
    400: "the body is not compressed as it says",
    413: "the body, the number of completions or the response is over a limit",
}
SCORE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "verdicts, in the order of the request; with `Accept: application/x-ndjson` "
        "a line for each group as it is done, with its `index`, and a last line with `stats`",
        "content": {NDJSON: {"schema": {"type": "string"}}},
    },
    **promised(STRANGER_ERRORS, BODY_ERRORS, SCORE_ERRORS),
}


class DirectRoute(APIRoute):
    """A route whose function reads the request itself: FastAPI looks for no arguments of it."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.app = self.respond  # FastAPI's keeps dependencies open, of which there are none

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call, errors included, as the layers do that `ShortWay` leaves out."""
        request = Request(scope, receive, send)
        service = service_of(request)
        try:
            response: Response = await self.endpoint(request)
        except RequestError as error:
            response = refused(error, scope, service.metrics)
        try:
            await response(scope, receive, send)
        except RequestError as error:
            raise RuntimeError("refused after the start of its response") from error


class ShortWay:
    """Innermost layer, from which direct routes are called without a look at all the others.

    Args:
        app: the next layer, for every other call.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._routes = {
            (method, route.path): route
            for route in _direct.routes
            if isinstance(route, DirectRoute)
            for method in route.methods or ()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the route of a call, or the next layer."""
        route = None
        if scope["type"] == "http":
            route = self._routes.get((scope["method"], scope["path"]))
        if route is None:
            await self._app(scope, receive, send)
        else:
            scope["route"] = route
            await route.respond(scope, receive, send)


_direct = APIRouter(route_class=DirectRoute)


@_direct.post(
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
    responses=SCORE_RESPONSES,
)
async def score(request: Request) -> Response:
    """Score groups of completions.

    Always 200, whatever the verdicts: one completion that hangs, or a reference that cannot be
    read, has its own verdict and changes no other. The same request gives the same verdicts
    (`seconds` aside), so asking again is safe. The body may be compressed (`Content-Encoding: gzip`
    or `zstd`).
    """
    return await respond_to_score_call(request, service_of(request))


router.include_router(_direct)


@router.get("/v1/verifiers", response_model=VerifiersResponse, responses=promised(STRANGER_ERRORS))
async def verifiers(service: CallService) -> VerifiersResponse:
    """The verifiers served here: purpose, options, what each needs, and its reasons.

    Where `code` is one of them, also the languages of programs and whether their toolchains are
    installed; where `proof` is one, also the proof checkers.
    """
    has_code = Code.model_fields["type"].default in service.limits.enabled
    statuses = await asyncio.to_thread(language_statuses) if has_code else []
    return VerifiersResponse(
        verifiers=[_describe(name, VERIFIERS[name]) for name in service.limits.enabled],
        languages=[_describe_language(status) for status in statuses],
        provers=[_describe_prover(status) for status in await asyncio.to_thread(_provers, service)],
    )


def _provers(service: Service) -> list[ProverStatus]:
    return service.provers


def _describe_prover(status: ProverStatus) -> ProverDescription:
    return ProverDescription(
        language=status.language,
        available=status.problem is None,
        version=status.version,
        problem=status.problem,
    )


def _describe_language(status: LanguageStatus) -> LanguageDescription:
    language = LANGUAGES[status.name]
    return LanguageDescription(
        language=status.name,
        aliases=list(language.aliases),
        tags=list(language.tags),
        available=status.problem is None,
        version=status.version,
        problem=status.problem,
    )


@router.get("/v1/profiles", response_model=ProfilesResponse, responses=promised(STRANGER_ERRORS))
async def profiles(service: CallService) -> ProfilesResponse:
    """The lists of verifiers that `profile` can name."""
    return ProfilesResponse(
        profiles=[
            ProfileDescription(name=name, verifiers=[_as_sent(one) for one in verifiers])
            for name, verifiers in service.profiles.items()
        ]
    )


# Some balancers and monitors ask by HEAD.
@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", response_model=HealthResponse)
async def healthz() -> HealthResponse:
    """The process is alive."""
    return HealthResponse(status="ok")


@router.head("/readyz", include_in_schema=False)
@router.get(
    "/readyz",
    response_model=ReadinessResponse,
    responses=promised({503: "the message says what is missing"}),
)
async def readyz(service: CallService) -> ReadinessResponse:
    """Every enabled verifier can be served; `missing` names proof checkers that are not there."""
    if service.drain.is_draining:
        raise Draining
    if service.problem is not None:
        raise NotReady(service.problem)
    provers = await asyncio.to_thread(_provers, service)
    missing = [f"proof, {one.language}: {one.problem}" for one in provers if one.problem]
    workers = {kind: pool.num_running for kind, pool in service.pools.items()}
    version = verifier_service.__version__
    return ReadinessResponse(status="ok", version=version, workers=workers, missing=missing)


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **promised(STRANGER_ERRORS),
    },
)
async def metrics(service: CallService) -> Response:
    """Counters and histograms in Prometheus' text format."""
    return Response(service.metrics.encode(), media_type=METRICS_MEDIA_TYPE)


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
