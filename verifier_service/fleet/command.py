"""The start of a fleet from the command line, where Ray may be missing."""

from __future__ import annotations

from importlib.util import find_spec

from verifier_service.fleet.settings import FleetSettings
from verifier_service.server import CannotServe, unknown_or_refused


def run_fleet(settings: FleetSettings) -> None:
    """Serve a fleet on this machine until SIGINT or SIGTERM.

    Raises:
        CannotServe: Ray is not installed, the address is not available, or a variable of the
            environment is misspelt.
    """
    unknown = unknown_or_refused(FleetSettings)
    if find_spec("ray") is None:
        raise CannotServe(
            "Ray is missing: pip install 'reward-verifier[service,ray]', or '.[service,ray]' in a "
            "clone"
        )
    from verifier_service.fleet.local import serve_fleet  # noqa: PLC0415  needs Ray

    serve_fleet(settings, unknown)
