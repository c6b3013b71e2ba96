"""The routes of each protocol of another framework."""

from __future__ import annotations

from fastapi import APIRouter

from verifier_service.compat import (
    jupyter,
    nemo_gym,
    open_instruct,
    open_r1,
    openrlhf,
    piston,
    sandbox_fusion,
    slime,
)
from verifier_service.compat.data_sets import routes as data_sets

_sandbox_fusion = APIRouter()
_sandbox_fusion.include_router(sandbox_fusion.router)
_sandbox_fusion.include_router(jupyter.router)
_sandbox_fusion.include_router(data_sets.router)

ROUTERS = {
    "sandbox_fusion": _sandbox_fusion,
    "openrlhf": openrlhf.router,
    "slime": slime.router,
    "nemo_gym": nemo_gym.router,
    "open_instruct": open_instruct.router,
    "piston": piston.router,
    "open_r1": open_r1.router,
}
"""The routes by the name of the protocol: one for each of `PROTOCOLS`."""

TRY_LATER_STATUSES = {
    path: sandbox_fusion.RunCodeRoute.try_later_status
    for path in ("/run_code", "/run_jupyter", "/submit")
}
"""Statuses, by path, that make clients try again; 503 on all other paths."""
