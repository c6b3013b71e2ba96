"""`GET /`: the page of the service, and its state in JSON for clients that do not ask for HTML.

The page is one static file. It shows nothing of the service until its script has asked the API, and
so needs no key of its own. Its policy lets it run its own script only, ask its own server only, and
make no markup from texts (trusted types).
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request, Response

import verifier_service
from verifier_service.http.metrics import Metrics
from verifier_service.http.open_paths import HTML
from verifier_service.http.promised_errors import STRANGER_ERRORS, promised
from verifier_service.http.service import CallService, Service
from verifier_service.page_style import source_hash
from verifier_service.schemas import (
    StateResponse,
    VerdictCount,
    WorkersState,
)

# Read at the start: an installation beside a service that runs may take the file away.
_TEXT = files("verifier_service.http").joinpath("page.html").read_text(encoding="utf-8")
router = APIRouter()


@router.get(
    "/",
    response_model=StateResponse,
    responses={
        200: {"content": {HTML: {"schema": {"type": "string"}}}},
        **promised(STRANGER_ERRORS, {401: "an API key is needed for the JSON, and missing"}),
    },
)
async def state(service: CallService, request: Request) -> StateResponse | Response:
    """The state of the service; for browsers (`Accept: text/html`) its page with a playground."""
    headers = {"Vary": "Accept"}
    if HTML in request.headers.get("accept", "").lower():
        return _page_response()
    body = state_of(service).model_dump_json()
    return Response(body, media_type="application/json", headers=headers)


@router.get("/docs", include_in_schema=False)
async def reference() -> Response:
    """The page, which shows the reference of the API at this path."""
    return _page_response()


def state_of(service: Service) -> StateResponse:
    """The version, the readiness, the load and the verdicts since the start."""
    pools = service.pools
    pending = service.admission.state
    return StateResponse(
        name="verifier service",
        version=verifier_service.__version__,
        ready=service.problem is None,
        problem=service.problem,
        workers={
            kind: WorkersState(
                running=pool.num_running, busy=pool.num_busy, waiting=pool.num_waiting
            )
            for kind, pool in pools.items()
        },
        pending_completions=pending["pending_completions"],
        max_pending_completions=pending["max_pending_completions"],
        verdicts=_counts(service.metrics),
    )


def _counts(metrics: Metrics) -> list[VerdictCount]:
    return [
        VerdictCount(verifier=verifier, outcome=outcome, reason=reason, count=count)
        for (verifier, outcome, reason), count in sorted(metrics.verdict_counts.items())
    ]


def _page_response() -> Response:
    text, policy = _page()
    headers = {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-cache",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Vary": "Accept",
    }
    return Response(text, media_type="text/html; charset=utf-8", headers=headers)


@cache
def _page() -> tuple[str, str]:
    """The page, and the policy that lets it run its own script and style and no others."""
    script, style = (_source(_TEXT, tag) for tag in ("script", "style"))
    policy = (
        f"default-src 'none'; script-src {script}; style-src {style}; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return _TEXT, policy


def _source(page: str, tag: str) -> str:
    """The hash of the page's one element of a tag, as a source in its policy."""
    (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    return source_hash(inside)
