"""The protocols of other frameworks, each translated to and from the engine of `/v1/score`.

One file per protocol; docs/integrations.md says how each framework is pointed here.
"""

from verifier_service.compat import nemo_gym, openrlhf, slime

ROUTERS = {
    "openrlhf": openrlhf.router,
    "slime": slime.router,
    "nemo_gym": nemo_gym.router,
}
"""The protocols by name, as in the setting `compat`."""
