"""A fleet on the Ray cluster that this process belongs to, asked without HTTP.

    verifier = verifier_at("serve://verifier")

Calls go to a gateway through a handle of Ray Serve. They pass the same application as calls over
HTTP: keys, bounds, cache and verdicts are those of the gateway.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import httpx

from reward_verifier.verifier import URL_VARIABLE, Verifier
from verifier_adapters.reference import without_arrays

SCHEME = "serve://"
"""Beginning of an address that names an application of Ray Serve, such as `serve://verifier`."""
HOST = b"localhost"
"""Name in requests to the gateway, which takes this one from everybody."""
NO_CLUSTER = (
    "this process belongs to no Ray cluster, and none runs on this machine: name one by "
    "ray.init(address=...) or by the variable RAY_ADDRESS"
)

Answer = tuple[int, list[tuple[bytes, bytes]], bytes]
"""Status, headers and body of a response."""


def verifier_at(
    url: str | None = None,
    *,
    profile: str | None = None,
    verifiers: Sequence[str | Mapping[str, Any]] | None = None,
    api_key: str | None = None,
) -> Verifier:
    """The `Verifier` at an address: over HTTP, or in this Ray cluster for `serve://APPLICATION`.

    Args:
        url: the address; default: the environment's REWARD_VERIFIER_URL, or that of `Verifier`.
        profile: as of `Verifier`.
        verifiers: as of `Verifier`; lists and objects of OmegaConf are taken too.
        api_key: as of `Verifier`.

    Raises:
        ModuleNotFoundError: the address begins with serve:// and Ray is not installed.
        ValueError: the address is neither of HTTP nor of an application.
    """
    verifiers = without_arrays(verifiers)
    address = url or os.environ.get(URL_VARIABLE) or ""
    if not address.startswith(SCHEME):
        return Verifier(url=url, profile=profile, verifiers=verifiers, api_key=api_key)
    application = address.removeprefix(SCHEME).rstrip("/")
    transport = ServeTransport(application)
    return Verifier(
        url=f"{SCHEME}{application}",
        profile=profile,
        verifiers=verifiers,
        api_key=api_key,
        transport=transport,
    )


class ServeTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """The way of a client's requests to a fleet, through Ray. Can be pickled, shared by threads.

    A response arrives as a whole: `Verifier.stream` yields all groups at the end.

    Args:
        application: name of the application in Ray Serve.

    Raises:
        ModuleNotFoundError: Ray is not installed.
        ValueError: the name is empty.
        httpx.TransportError: every request, if there is no such application or its gateway is lost.
    """

    def __init__(self, application: str) -> None:
        if not application:
            raise ValueError(f"{SCHEME} needs the name of an application: {SCHEME}verifier")
        _ray_errors()
        self._application = application

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The response to a request, for code that blocks."""
        content = request.read()
        with self._errors(request), self._asked(request, content) as answer:
            return _response(answer.result(timeout_s=_seconds(request)))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response to a request, for code that awaits."""
        content = await request.aread()
        with self._errors(request), self._asked(request, content) as answer:
            async with asyncio.timeout(_seconds(request)):
                return _response(await answer)

    @contextmanager
    def _asked(self, request: httpx.Request, content: bytes) -> Iterator[Any]:
        """The answer of a gateway to come; the gateway's work ends when nobody waits for it."""
        path = request.url.raw_path.decode("ascii")
        headers = [
            (name, HOST if name.lower() == b"host" else value)
            for name, value in request.headers.raw
        ]
        answer = _gateway(self._application).answer.remote(request.method, path, headers, content)
        try:
            yield answer
        except BaseException:
            answer.cancel()
            raise

    @contextmanager
    def _errors(self, request: httpx.Request) -> Iterator[None]:
        """Raise what httpx raises."""
        unreachable: tuple[type[Exception], ...] = (*_ray_errors(), ConnectionError)
        try:
            yield
        except TimeoutError as error:
            raise httpx.ReadTimeout(
                f"no answer in {_seconds(request)} s", request=request
            ) from error
        except unreachable as error:
            first, _, _ = str(error).strip().partition("\n")
            message = f"{SCHEME}{self._application}: {type(error).__name__}: {first}"
            raise httpx.ConnectError(message, request=request) from error


def _response(answer: Answer) -> httpx.Response:
    status, headers, body = answer
    return httpx.Response(status, headers=headers, content=body)


def _seconds(request: httpx.Request) -> float | None:
    """The time limit of a request; None: there is none."""
    seconds: float | None = request.extensions.get("timeout", {}).get("read")
    return seconds


@cache
def _gateway(application: str) -> Any:
    """The handle of an application's gateways.

    Raises:
        RayServeException: the application does not run.
        ConnectionError: no cluster runs.
    """
    import ray  # noqa: PLC0415  only those who ask for it have Ray
    from ray import serve  # noqa: PLC0415

    if not ray.is_initialized():  # Ray Serve would start a cluster of its own
        try:
            # Another thread may be doing the same.
            ray.init(address="auto", ignore_reinit_error=True, log_to_driver=False)
        except ConnectionError as error:
            raise ConnectionError(NO_CLUSTER) from error
    return serve.get_app_handle(application)


@cache
def _ray_errors() -> tuple[type[Exception], ...]:
    """The errors of Ray that mean: this gateway is lost, or there is none."""
    try:
        from ray.exceptions import RayError  # noqa: PLC0415
        from ray.serve.exceptions import RayServeException  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"an address with {SCHEME} needs Ray: pip install 'ray[serve]'", name=error.name
        ) from error
    return RayError, RayServeException
