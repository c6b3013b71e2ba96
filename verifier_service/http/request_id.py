"""The header with the id of a request, and which ids a client may give."""

from __future__ import annotations

import re

from verifier_service.current_call import new_request_id

REQUEST_ID_HEADER = "X-Request-Id"
# An id that cannot spoil a line of the log: `step-7.group-2`.
_SAFE_ID = re.compile(r"[A-Za-z0-9._:-]{1,100}")


def own_or_new_id(given: str) -> str:
    """The client's id if it is harmless, else a new one."""
    return given if _SAFE_ID.fullmatch(given) else new_request_id()
