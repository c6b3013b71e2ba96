"""The protocols of other frameworks, each translated to and from the engine of `/v1/score`.

Each protocol has a file; docs/integrations.md says how each framework is pointed here.
"""

from verifier_service.compat import (
    nemo_gym,
    open_instruct,
    open_r1,
    openrlhf,
    piston,
    sandbox_fusion,
    slime,
)

ROUTERS = {
    "sandbox_fusion": sandbox_fusion.router,
    "openrlhf": openrlhf.router,
    "slime": slime.router,
    "nemo_gym": nemo_gym.router,
    "open_instruct": open_instruct.router,
    "piston": piston.router,
    "open_r1": open_r1.router,
}
"""The protocols by name, as in the setting `compat`."""

TRY_LATER_STATUSES = {"/run_code": sandbox_fusion.RunCodeRoute.try_later_status}
"""Statuses, by path, that make clients try again; 503 on all other paths."""
