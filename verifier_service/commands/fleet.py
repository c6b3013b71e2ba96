"""The command `fleet`."""

from __future__ import annotations

from verifier_service.console import fail
from verifier_service.fleet.settings import FleetSettings
from verifier_service.settings_options import takes_settings


@takes_settings(FleetSettings)
def fleet(*, settings: FleetSettings) -> None:
    """Serve the scoring API by a Ray cluster on this machine."""
    from verifier_service.fleet.command import run_fleet  # noqa: PLC0415
    from verifier_service.server import CannotServe  # noqa: PLC0415

    try:
        run_fleet(settings)
    except CannotServe as error:
        fail(error)
