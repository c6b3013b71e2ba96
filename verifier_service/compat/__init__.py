"""The protocols of other frameworks, each translated to and from the engine of `/v1/score`.

Each protocol has a file; docs/integrations.md says how each framework is pointed here. Their routes
are in `routers`, which loads them all.
"""

PROTOCOLS = (
    *("sandbox_fusion", "openrlhf", "slime", "nemo_gym", "open_instruct", "piston", "open_r1"),
)
"""Names of the protocols, as in the setting `compat`."""
