"""`GET /`: a page for browsers, the state in JSON for everybody else."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import verifier_service
from trainer_client.service_process import running_service
from verifier_service.http.api_keys import hash_of, new_key
from verifier_service.schemas import StateResponse

KEY = new_key()
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
MAX_PAGE_BYTES = 60_000


@pytest.fixture(scope="module")
def page(http_module: httpx.Client) -> httpx.Response:
    return http_module.get("/", headers=BROWSER)


@pytest.fixture(scope="module")
def http_module(service_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service_url, timeout=600) as client:
        yield client


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    log = tmp_path_factory.mktemp("guarded") / "service.log"
    flags = ("--workers", "1", "--enabled", "format", "--api-key-hashes", hash_of(KEY))
    with running_service(log, *flags) as url, httpx.Client(base_url=url, timeout=600) as client:
        yield client


def test_a_browser_gets_one_small_page_of_our_own(page: httpx.Response) -> None:
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["vary"] == "Accept"
    assert len(page.content) < MAX_PAGE_BYTES
    addresses = set(re.findall(r"(?:https?:)?//[\w.]+\w", page.text.replace("://www.w3.org", "")))
    assert addresses <= {"http:"}


def test_the_policy_names_the_script_and_the_style_and_nothing_else(page: httpx.Response) -> None:
    policy = dict(
        part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";")
    )
    for tag in ("script", "style"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert policy[f"{tag}-src"] == f"'sha256-{digest}'"
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"


def test_the_page_has_no_inline_handlers_and_makes_no_markup(page: httpx.Response) -> None:
    markup = re.sub(r"<(script|style)>.*?</\1>", "", page.text, flags=re.DOTALL)
    assert re.findall(r"<[^>]*\s(?:on\w+|style)=", markup) == []
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert re.findall(ways, page.text) == []


@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
def test_everybody_else_gets_the_state(http_module: httpx.Client, accept: str) -> None:
    body = {"verifiers": [{"type": "format"}], "groups": [{"completions": ["a"]}]}
    before = StateResponse.model_validate_json(http_module.get("/").content)
    http_module.post("/v1/score", json=body)
    response = http_module.get("/", headers={"Accept": accept})
    assert response.headers["vary"] == "Accept"
    state = StateResponse.model_validate_json(response.content)
    assert state.version == verifier_service.__version__
    assert (state.ready, state.problem) == (True, None)
    assert state.workers["text"].running == 2
    assert count_of(state) == count_of(before) + 1


def count_of(state: StateResponse) -> int:
    found = [
        one for one in state.verdicts if (one.verifier, one.reason) == ("format", "missing_tag")
    ]
    return sum(one.count for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/", "/docs"])
def test_the_page_needs_no_key_and_tells_nothing(guarded: httpx.Client, path: str) -> None:
    response = guarded.get(path, headers=BROWSER)
    assert response.status_code == 200
    assert "<!doctype html>" in response.text
    source = Path(verifier_service.__file__).parent / "http" / "page.html"
    assert response.text == source.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "accept"),
    [
        ("GET", "/", "application/json"),
        ("GET", "/", "*/*"),
        ("POST", "/", "text/html"),
        ("GET", "/v1/verifiers", "text/html"),
        ("GET", "/metrics", "text/html"),
        ("GET", "/openapi.json", "text/html"),
        ("GET", "//", "text/html"),
    ],
    ids=["json", "any", "post", "verifiers", "metrics", "openapi", "slashes"],
)
def test_asking_for_html_opens_the_page_only(
    guarded: httpx.Client, method: str, path: str, accept: str
) -> None:
    url = f"{str(guarded.base_url).rstrip('/')}{path}"
    assert guarded.request(method, url, headers={"Accept": accept}).status_code == 401


@pytest.mark.slow
def test_a_key_opens_the_state(guarded: httpx.Client) -> None:
    response = guarded.get("/", headers={"Authorization": f"Bearer {KEY}"})
    assert response.json()["ready"] is True
