"""The endpoints of a model, and whose turn it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr

WEIGHT = ";weight="


def _fits_in_a_header(key: SecretStr) -> SecretStr:
    text = key.get_secret_value().strip()
    if not text.isascii() or not text.isprintable():
        raise ValueError("expected ASCII without control characters")
    return SecretStr(text)


EndpointKey = Annotated[SecretStr, AfterValidator(_fits_in_a_header)]
"""A bearer token, without the white space around it."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible API and its share of the calls."""

    url: str
    """Address without `/chat/completions`, such as `http://127.0.0.1:8000/v1`."""
    weight: float = 1.0


def read_endpoint(text: str, *, field: str = "judge_url") -> Endpoint:
    """The endpoint that a setting names.

    >>> read_endpoint("http://gpu-1:8000/v1;weight=3")
    Endpoint(url='http://gpu-1:8000/v1', weight=3.0)

    Args:
        text: URL, and a weight if wanted.
        field: name of the setting, which ends in `_url`; an error names the setting of its key.

    Raises:
        ValueError: the URL or the weight is none.
    """
    url, _, weight = text.partition(WEIGHT)
    if "@" in url:  # not shown: it may hold a password
        key = f"VERIFIER_{field.removesuffix('_url').upper()}_KEY"
        raise ValueError(f"expected a URL without a user or password, the key is {key}")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        usable = usable and url.isascii() and url.isprintable() and " " not in url
    except ValueError:
        usable = False
    if not usable or "?" in url or "#" in url:
        path = "/v1" if field == "judge_url" else ""
        raise ValueError(f"expected http://HOST:PORT{path} or https://HOST{path}, found {url!r}")
    return Endpoint(url.rstrip("/"), _weight(weight) if WEIGHT in text else 1.0)


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 < weight < math.inf:
        raise ValueError(f"expected a weight over 0, found {text!r}")
    return weight


class Rotation:
    """Takes endpoints in turn by their weights, evenly spread (smooth weighted round robin).

    >>> rotation = Rotation([Endpoint("http://a", 2), Endpoint("http://b", 1)])
    >>> [rotation.take().url[-1] for _ in range(6)]
    ['a', 'b', 'a', 'a', 'b', 'a']
    """

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._endpoints = endpoints
        self._credits = [0.0] * len(endpoints)
        self._total = sum(one.weight for one in endpoints)

    def take(self) -> Endpoint:
        """The endpoint whose turn it is."""
        for index, one in enumerate(self._endpoints):
            self._credits[index] += one.weight
        index = max(range(len(self._credits)), key=self._credits.__getitem__)
        self._credits[index] -= self._total
        return self._endpoints[index]
