"""Under which names the service may be asked, and by whose pages."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import httpx
import pytest
from pydantic import ValidationError

from trainer_client.service_process import running_service
from verifier_service.http.api_keys import hash_of, new_key
from verifier_service.http.hosts_and_origins import Sites, known_sites
from verifier_service.settings import Settings

KEY = new_key()
BODY = {"verifiers": [{"type": "format"}], "groups": [{"completions": ["x"]}]}
FOREIGN_HOSTS = (
    *("evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example"),
    *("localhost@evil.example", "evil.example.", "api", "2130706433", "[::1].evil.example"),
    *("127.1", "localhost:8080:80", "local host", "[localhost]", "xn--lcalhost-2ya"),
)
OWN_HOSTS = (
    *("localhost", "LOCALHOST:8080", "localhost.", "localhost.:80", "127.0.0.1", "127.0.0.1:8080"),
    *("[::1]", "[::1]:8080", "10.1.2.3", "192.168.7.9:30080", "[2001:DB8::1]:8080", "0.0.0.0:1"),
)


def sites(*hosts: str, on: str = "127.0.0.1", has_keys: bool = False) -> Sites:
    return known_sites(listening_on=on, allowed_hosts=hosts, allowed_origins=(), has_keys=has_keys)


def refused(found: Sites, host: str, origin: str | None = None) -> tuple[int, str] | None:
    error = found.refusal(host, origin)
    return None if error is None else (int(error.status), error.kind)


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_name_that_a_page_may_have_is_refused(host: str) -> None:
    assert refused(sites(), host) == (421, "unknown_host")


@pytest.mark.parametrize("host", [*OWN_HOSTS, ""])
def test_addresses_localhost_and_no_host_are_welcome(host: str) -> None:
    """No page has an address as its name and comes from elsewhere; browsers always send Host."""
    assert refused(sites(), host) is None


@pytest.mark.parametrize(
    ("allowed", "host", "is_ours"),
    [
        ("api", "API:8080", True),
        ("Verifier.Example.com", "verifier.example.com.", True),
        ("verifier.example.com", "example.com", False),
        ("verifier.example.com", "a.verifier.example.com", False),
        ("*.example.com", "a.b.example.com:80", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "evilexample.com", False),
        ("*", "evil.example", True),
    ],
)
def test_the_setting_adds_names(allowed: str, host: str, is_ours: bool) -> None:
    assert (refused(sites(allowed), host) is None) == is_ours
    assert refused(sites(allowed), "localhost:8080") is None


def test_with_keys_every_name_is_taken_unless_the_setting_has_some() -> None:
    assert refused(sites(has_keys=True), "evil.example") is None
    assert refused(sites("api", has_keys=True), "api") is None
    assert refused(sites("api", has_keys=True), "evil.example") == (421, "unknown_host")


def test_where_others_reach_it_the_machines_own_name_is_known() -> None:
    name = f"{socket.gethostname()}:8080"
    assert refused(sites(on="0.0.0.0"), name) is None
    assert refused(sites(on="0.0.0.0"), "evil.example") == (421, "unknown_host")
    assert refused(sites(on="node3.cluster"), "node3.cluster:8080") is None


@pytest.mark.parametrize(
    ("host", "origin", "is_welcome"),
    [
        ("localhost:8080", None, True),
        ("localhost:8080", "http://localhost:8080", True),
        ("LOCALHOST:8080", "http://localhost:8080", True),
        ("localhost", "http://localhost", True),
        ("localhost:80", "http://localhost", True),
        ("localhost", "https://localhost", True),  # a proxy takes TLS off
        ("[::1]:8080", "http://[::1]:8080", True),
        ("localhost:8080", "http://localhost:3000", False),
        ("localhost:8080", "http://127.0.0.1:8080", False),
        ("localhost:8080", "http://evil.example:8080", False),
        ("localhost:8080", "null", False),
        ("localhost:8080", "", False),
        ("localhost:8080", "http://localhost:8080/", False),
        ("localhost:8080", "http://evil.example@localhost:8080", False),
        ("", "http://evil.example", False),
    ],
)
def test_only_pages_of_the_service_itself_may_ask(
    host: str, origin: str | None, is_welcome: bool
) -> None:
    expected = None if is_welcome else (403, "foreign_origin")
    assert refused(sites(), host, origin) == expected
    assert refused(sites(has_keys=True), host, origin) == expected


def test_a_refusal_names_the_setting_that_lifts_it() -> None:
    unknown, foreign = sites().refusal("api", None), sites().refusal("", "http://a.example")
    assert unknown is not None
    assert foreign is not None
    assert "'api'" in unknown.message
    assert "VERIFIER_ALLOWED_HOSTS" in unknown.message
    assert "'http://a.example'" in foreign.message
    assert "VERIFIER_ALLOWED_ORIGINS" in foreign.message
    long = sites().refusal("a" * 10_000, None)
    assert long is not None
    assert len(long.message) < 500


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *(("allowed_hosts", one) for one in ("http://api", "api:8080", "a b", "api/", "a.*.b")),
        *(("allowed_origins", one) for one in ("app.example.com", "https://a/", "null", "ftp://a")),
    ],
)
def test_a_wrong_value_is_told_at_start(setting: str, value: str) -> None:
    with pytest.raises(ValidationError, match=r"is no (host|origin): write"):
        Settings.model_validate({setting: value})


@pytest.fixture(scope="module")
def open_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service without keys that has a name and lets pages of one origin ask."""
    log = tmp_path_factory.mktemp("open") / "service.log"
    flags = (
        *("--workers", "1", "--enabled", "format", "--allowed-hosts", "api"),
        *("--allowed-origins", "https://app.example"),
    )
    with running_service(log, *flags) as url, httpx.Client(base_url=url, timeout=600) as client:
        yield client


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "status"), [("evil.example", 421), ("api", 200), ("localhost:1", 200)]
)
@pytest.mark.parametrize("path", ["/v1/score", "/get_reward"])
def test_a_rebound_page_reaches_no_route(
    open_service: httpx.Client, host: str, status: int, path: str
) -> None:
    body = BODY if path == "/v1/score" else {"query": ["x"], "prompts": ["x"], "labels": ["x"]}
    answer = open_service.post(path, json=body, headers={"Host": host})
    if status == 421:
        assert (answer.status_code, answer.json()["error"]["type"]) == (421, "unknown_host")
        assert 'verifier_rejected_total{cause="unknown_host"}' in open_service.get("/metrics").text
    else:
        assert answer.status_code != 421


@pytest.mark.slow
def test_probes_are_answered_under_every_name(open_service: httpx.Client) -> None:
    for path in ("/healthz", "/readyz"):
        assert open_service.get(path, headers={"Host": "probe.example"}).status_code == 200


@pytest.mark.slow
def test_a_page_of_an_allowed_origin_can_ask_and_read(open_service: httpx.Client) -> None:
    origin = {"Origin": "https://app.example"}
    asked = {"Access-Control-Request-Method": "POST"}
    wanted = {"Access-Control-Request-Headers": "authorization,content-type"}
    preflight = open_service.options("/v1/score", headers=origin | asked | wanted)
    assert preflight.status_code == 200
    answer = open_service.post("/v1/score", json=BODY, headers=origin)
    assert answer.status_code == 200
    for found in (preflight, answer):
        assert found.headers["access-control-allow-origin"] == "https://app.example"


@pytest.mark.slow
def test_a_page_of_another_origin_can_neither_ask_nor_read(open_service: httpx.Client) -> None:
    origin = {"Origin": "https://evil.example"}
    answer = open_service.post("/v1/score", json=BODY, headers=origin)
    assert (answer.status_code, answer.json()["error"]["type"]) == (403, "foreign_origin")
    assert "access-control-allow-origin" not in answer.headers
    preflight = {"Access-Control-Request-Method": "POST"} | origin
    assert open_service.options("/v1/score", headers=preflight).status_code == 400


def test_hosts_and_keys_of_settings_meet() -> None:
    assert Settings().sites == sites()
    assert Settings(api_key_hashes=(hash_of(KEY),)).sites == sites(has_keys=True)
    assert Settings(host="0.0.0.0", allowed_hosts=("api",)).sites == sites("api", on="0.0.0.0")
