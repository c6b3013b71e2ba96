"""The command `serve`."""

from __future__ import annotations

from verifier_service.console import fail
from verifier_service.sandbox.layers import hide_process
from verifier_service.settings import Settings
from verifier_service.settings_options import takes_settings


@takes_settings(Settings)
def serve(*, settings: Settings) -> None:
    """Serve the scoring API.

    Each flag is also an environment variable, such as VERIFIER_PORT.
    """
    from verifier_service.server import CannotServe  # noqa: PLC0415
    from verifier_service.server import serve as run_server  # noqa: PLC0415

    hide_process()
    try:
        run_server(settings)
    except CannotServe as error:
        fail(error)
