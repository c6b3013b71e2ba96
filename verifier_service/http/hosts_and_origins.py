"""Sites: the hosts under which the service may be asked, and the pages that may ask it (CORS).

A page in a user's browser reaches services that its author does not: those on the user's machine.
By DNS rebinding its own name becomes the address of such a service, and the browser lets it read
the responses. The header Host then has the page's name, so unknown names are refused. A page of
another site that keeps its name sends that in the header Origin.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

from verifier_service.http.error_statuses import ApiError

ANY = "*"
MAX_SHOWN_CHARACTERS = 100
"""Longest name of a host or a page that a message quotes."""

# A host with or without a port: `api.example.com:8080`, `192.0.2.1`, `[::1]:8080`, `node_3.`.
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{0,5}))?")
# An origin: `https://app.example.com:8443`.
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#@\s]+)", re.IGNORECASE)
# An allowed host: `api`, `verifier.example.com`, `*.example.com`, `[2001:db8::1]`, `*`.
_ALLOWED_HOST = re.compile(r"\*|\[[0-9A-Fa-f:.]+\]|(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?")
DEFAULT_PORTS = {"http": "80", "https": "443"}


@dataclass(frozen=True)
class Sites:
    """Names of the service, and origins of foreign pages that may ask it.

    An address (`192.0.2.1`) is always a name of the service. A page cannot have it as its own name
    and come from elsewhere. Nor is a request without Host from a browser.
    """

    hosts: frozenset[str] | None
    """Lower-case names; `*.example.com` stands for the names below; None: all names."""
    origins: frozenset[str]
    """Origins in lower case; `*` stands for all."""

    def refusal(self, host: str, origin: str | None) -> ApiError | None:
        """The error of a call with these headers, Host and Origin; None if it is welcome."""
        if host and not self._is_ours(host):
            return ApiError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "unknown_host",
                f"the header Host says {_shown(host)}, which is no known name of this service: to "
                "serve it under that name, add the name to --allowed-hosts / "
                "VERIFIER_ALLOWED_HOSTS, or give the service API keys",
            )
        if origin is not None and not self._may_ask(origin, host):
            return ApiError(
                HTTPStatus.FORBIDDEN,
                "foreign_origin",
                f"a page of {_shown(origin)} may not ask this service: to let it, add that origin "
                "to --allowed-origins / VERIFIER_ALLOWED_ORIGINS",
            )
        return None

    def _is_ours(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        if self.hosts is None:
            return True
        name = found["name"].lower().removesuffix(".")
        if is_address(name) or name in self.hosts:
            return True
        parents = _parents(name)
        return any(f"*.{parent}" in self.hosts for parent in parents)

    def _may_ask(self, origin: str, host: str) -> bool:
        if ANY in self.origins or origin.lower() in self.origins:
            return True
        found = _ORIGIN.fullmatch(origin)
        if found is None:  # `null`, as a page in a sandbox or a file has it
            return False
        scheme = found["scheme"].lower()
        return _place(found["host"], scheme) == _place(host, scheme)


def known_sites(
    *,
    listening_on: str,
    allowed_hosts: Iterable[str],
    allowed_origins: Iterable[str],
    has_keys: bool,
) -> Sites:
    """The sites of a service with these settings.

    With API keys a page can do nothing, as it has none: every name is taken then, unless the
    settings name some.
    """
    allowed = {_normal(host) for host in allowed_hosts}
    origins = frozenset(origin.lower() for origin in allowed_origins)
    if ANY in allowed or (has_keys and not allowed):
        return Sites(None, origins)
    names = {"localhost", _normal(listening_on), *allowed}
    if not is_loopback(listening_on):
        names.add(_normal(socket.gethostname()))
    return Sites(frozenset(names), origins)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address or a name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_address(name: str) -> bool:
    """Whether the name of a host is an address, with or without brackets."""
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def check_allowed_host(text: str) -> None:
    """Raise ValueError unless the text can be an allowed host."""
    if not _ALLOWED_HOST.fullmatch(text):
        raise ValueError(
            f"{text[:MAX_SHOWN_CHARACTERS]!r} is no host: write a name without scheme and port, "
            "such as api.example.com, or *.example.com for all names below, or *"
        )


def check_allowed_origin(text: str) -> None:
    """Raise ValueError unless the text can be an allowed origin."""
    if text != ANY and not _ORIGIN.fullmatch(text):
        raise ValueError(
            f"{text[:MAX_SHOWN_CHARACTERS]!r} is no origin: write scheme, host and port as a "
            "browser shows them, such as https://app.example.com:8443, or *"
        )


def _normal(host: str) -> str:
    return host.lower().removesuffix(".")


def _parents(name: str) -> Iterable[str]:
    """The domains above a name.

    >>> list(_parents("a.b.example"))
    ['b.example', 'example']
    """
    _, dot, parent = name.partition(".")
    while dot:
        yield parent
        _, dot, parent = parent.partition(".")


def _place(host: str, scheme: str) -> tuple[str, str] | None:
    """Name and port of a host as a page of that scheme sees it; None if it is malformed."""
    found = _HOST.fullmatch(host)
    if found is None:
        return None
    return _normal(found["name"]), found["port"] or DEFAULT_PORTS[scheme]


def _shown(text: str) -> str:
    return repr(text[:MAX_SHOWN_CHARACTERS])
