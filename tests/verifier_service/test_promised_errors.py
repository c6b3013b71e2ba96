"""The OpenAPI document promises the errors of our own routes that calls get, and no others."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.verifier_service.test_openapi import FILE
from verifier_service.engine.body_limit import MAX_HELD_BYTES
from verifier_service.http.open_paths import OPEN_PATHS

PATHS = json.loads(FILE.read_text())["paths"]
OWN = [
    (method, path)
    for path, methods in PATHS.items()
    for method, operation in methods.items()
    if "tags" not in operation
]
OF_BODIES = {"400", "408", "413", "415", "422"}
OF_STRANGERS = {"401", "403", "421", "429"}
JSON = {"Content-Type": "application/json"}
BROKEN_GZIP = JSON | {"Content-Encoding": "gzip"}
PROGRAM = {"code": "", "limits": {"wall_seconds": -1}}


def promised(method: str, path: str) -> set[str]:
    return set(PATHS[path][method]["responses"])


@pytest.mark.parametrize(
    ("call", "path", "options", "status"),
    [
        ("get /", "/", {"headers": {"Host": "evil.example"}}, 421),
        ("get /metrics", "/metrics", {"headers": {"Origin": "http://evil.example"}}, 403),
        ("get /healthz", "/healthz", {"headers": {"Host": "evil.example"}}, 200),
        ("post /v1/score", "/v1/score", {"content": b"1", "headers": BROKEN_GZIP}, 400),
        ("post /v1/score", "/v1/score", {"content": b"1"}, 415),
        ("post /v1/score", "/v1/score", {"json": {}}, 422),
        ("post /v1/execute", "/v1/execute", {"content": b"1", "headers": BROKEN_GZIP}, 415),
        ("post /v1/execute", "/v1/execute", {"json": {"executions": [PROGRAM]}}, 422),
        ("post /v1/execute", "/v1/execute", {"json": {"executions": [{"code": ""}] * 65_537}}, 413),
        ("post /v1/sessions", "/v1/sessions", {"json": {"language": "cobol"}}, 422),
        ("post /v1/sessions", "/v1/sessions", {"content": b" " * (MAX_HELD_BYTES + 1)}, 413),
        ("get /v1/sessions/{name}", "/v1/sessions/none", {}, 404),
        ("post /v1/sessions/{name}", "/v1/sessions/none", {"json": {"code": ""}}, 404),
        ("delete /v1/sessions/{name}", "/v1/sessions/none", {}, 404),
    ],
)
def test_an_error_of_a_route_is_promised(
    http: httpx.Client, call: str, path: str, options: dict[str, Any], status: int
) -> None:
    method, _, route = call.partition(" ")
    assert http.request(method.upper(), path, **options).status_code == status
    assert str(status) in promised(method, route)


@pytest.mark.parametrize(("method", "path"), OWN)
def test_no_route_promises_errors_of_bodies_or_keys_that_it_does_not_take(
    method: str, path: str
) -> None:
    found = promised(method, path)
    assert found & OF_STRANGERS == (set() if path in OPEN_PATHS else OF_STRANGERS)
    if method != "post":
        assert found & OF_BODIES == set()


def test_no_route_has_another_body_of_errors_than_it_sends() -> None:
    assert "HTTPValidationError" not in FILE.read_text()
