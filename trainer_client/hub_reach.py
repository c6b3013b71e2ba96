"""Whether the Hugging Face hub can be reached; its own libraries try for half a minute."""

from __future__ import annotations

import httpx
from huggingface_hub import constants

REACH_SECONDS = 10.0
"""Time limit for the first answer of the hub."""


def hub_obstacle() -> Exception | None:
    """The error of asking the hub, at the address of HF_ENDPOINT; None where it answers."""
    if constants.HF_HUB_OFFLINE:
        return OSError("HF_HUB_OFFLINE is set")
    try:
        httpx.head(constants.ENDPOINT, timeout=REACH_SECONDS)
    except httpx.HTTPError as error:
        return error
    return None
