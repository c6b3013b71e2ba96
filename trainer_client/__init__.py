"""A light GRPO trainer whose rewards come from a verifier service over HTTP."""

import os

# Before torch is loaded. By default libgomp's threads spin for milliseconds while they wait for
# each other, also for one whose core something else is using; see docs/decisions.md.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
