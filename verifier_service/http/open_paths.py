"""Paths that answer without an API key, and paths whose calls are not logged."""

from __future__ import annotations

OPEN_PATHS = ("/healthz", "/readyz")
"""Paths without an API key: they tell nothing, and ask whether the service runs."""
PAGE_PATHS = ("/", "/docs")
"""Paths at which a browser gets the page, without an API key."""
NOT_LOGGED_PATHS = ("/", "/healthz", "/readyz", "/metrics")
"""Paths whose calls have no line in the log, and no trace."""
HTML = "text/html"


def is_open(path: str, method: str, accept: str) -> bool:
    """Whether a call needs no API key.

    Args:
        path: of the call.
        method: GET or another one.
        accept: its header of this name.
    """
    return path in OPEN_PATHS or asks_for_page(path, method, accept)


def asks_for_page(path: str, method: str, accept: str) -> bool:
    """Whether a call is a browser's for the page, which tells nothing of the service.

    >>> asks_for_page("/", "GET", "text/html,application/xhtml+xml,*/*;q=0.8")
    True
    >>> asks_for_page("/", "GET", "*/*")
    False
    """
    return path in PAGE_PATHS and method == "GET" and HTML in accept.lower()
