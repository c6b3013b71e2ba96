"""The command `openapi`."""

from __future__ import annotations

import json

from verifier_service.settings import Settings


def openapi() -> None:
    """Print the OpenAPI document of the service.

    Clients can be generated from it.
    """
    from verifier_service.app import create_app  # noqa: PLC0415  help need not wait for it

    print(json.dumps(create_app(Settings()).openapi(), indent=1))  # noqa: T201
