"""The routes of an application, one by one: since 0.137 FastAPI keeps those of a router apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from starlette.routing import BaseRoute


def every_route(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """The routes, with those of an included router in its place."""
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is None:
            yield route
        else:
            yield from every_route(included.routes)
