"""The service: the state that calls share, as long as the application lives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, FastAPI, Request

from verifier_service.engine.admission import Admission
from verifier_service.engine.request_limits import RequestLimits
from verifier_service.engine.scheduler import Scheduler
from verifier_service.http.drain import Drain
from verifier_service.http.metrics import Metrics
from verifier_service.large_requests.launcher import RequestProcesses
from verifier_service.profiles import Verifiers
from verifier_service.workers.pool import WorkerPool


@dataclass(frozen=True)
class Service:
    """The state that calls share."""

    limits: RequestLimits
    profiles: Mapping[str, Verifiers]
    """Lists of verifiers by name."""
    admission: Admission
    scheduler: Scheduler
    processes: RequestProcesses
    """Processes of large requests to `/v1/score`."""
    call_processes: RequestProcesses
    """Processes of large calls of other protocols."""
    pools: Mapping[str, WorkerPool]
    """Workers by kind."""
    metrics: Metrics
    drain: Drain


def install_service(app: FastAPI, service: Service) -> None:
    """Give the service to the calls of an application."""
    app.state.service = service


def service_of(request: Request) -> Service:
    """The service that a call is for."""
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


CallService = Annotated[Service, Depends(service_of)]
"""The argument of a route that is given the service."""
