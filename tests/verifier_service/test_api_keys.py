"""Named API keys: their file, their limits, their place in the log and the metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from tests.processes import until
from trainer_client.service_process import running_service
from verifier_service.engine.admission import Admission, PendingBounds
from verifier_service.engine.allowance import Allowance, KeyLimits
from verifier_service.errors import KeyLimitReached, QueueFull, VerifierNotEnabled
from verifier_service.http.api_keys import hash_of, new_key
from verifier_service.http.error_statuses import headers_of, status_of
from verifier_service.settings import Settings

NAMES = ("training", "slow", "small", "forms")
KEYS = {name: new_key() for name in NAMES}
BARE_KEY = new_key()
LIMITS = {
    "training": "",
    "slow": "  max_requests_per_minute: 1\n",
    "small": "  max_pending_completions: 2\n",
    "forms": "  verifiers: [format]\n",
}
FILE = "".join(f"{name}:\n  hash: {hash_of(KEYS[name])}\n{LIMITS[name]}" for name in NAMES)


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def body(num_completions: int = 1, verifier: str = "format") -> dict[str, Any]:
    group = {"reference": {"answer": "2"}, "completions": ["x"] * num_completions}
    return {"verifiers": [{"type": verifier}], "groups": [group]}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keyed") / "service.log"


@pytest.fixture(scope="module")
def keyed(log: Path) -> Iterator[httpx.Client]:
    """A service with named keys of a file and one that is known by its hash alone."""
    file = log.parent / "keys.yaml"
    file.write_text(FILE)
    flags = (
        *("--workers", "1", "--enabled", "format,accuracy", "--log-format", "json"),
        *("--api-keys-file", str(file), "--api-key-hashes", hash_of(BARE_KEY)),
    )
    with running_service(log, *flags) as url, httpx.Client(base_url=url, timeout=600) as client:
        yield client


def score(http: httpx.Client, name: str, asked: dict[str, Any]) -> httpx.Response:
    return http.post("/v1/score", json=asked, headers=bearer(KEYS[name]))


def first_refused(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """The first answer that asks for a wait, of a key that may ask once in a minute."""
    for _ in range(100):
        answer = ask()
        if "retry-after" in answer.headers:
            return answer
    raise AssertionError("a hundred calls were taken")


@pytest.mark.slow
def test_each_key_opens_the_service_and_no_other_does(keyed: httpx.Client) -> None:
    for key in (KEYS["training"], KEYS["small"], BARE_KEY):
        assert keyed.get("/v1/verifiers", headers=bearer(key)).status_code == 200
    for headers in ({}, bearer(new_key()), bearer(hash_of(BARE_KEY))):
        assert keyed.get("/v1/verifiers", headers=headers).status_code == 401


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "name"), [(KEYS["training"], "training"), (BARE_KEY, "unnamed")], ids=["named", "bare"]
)
def test_the_log_and_the_metrics_name_the_key(
    keyed: httpx.Client, log: Path, key: str, name: str
) -> None:
    headers = bearer(key) | {"X-Request-Id": f"key-of-{name}"}
    assert keyed.post("/v1/score", json=body(3), headers=headers).status_code == 200

    def lines() -> list[str]:
        return [one for one in log.read_text().splitlines() if f'"key-of-{name}"' in one]

    until(lambda: bool(lines()))
    assert json.loads(lines()[0])["key"] == name
    metrics = keyed.get("/metrics", headers=headers).text
    assert f'verifier_key_completions_total{{key="{name}"}} 3.0' in metrics
    assert f'verifier_key_requests_total{{key="{name}",status="200"}}' in metrics


@pytest.mark.slow
def test_names_of_keys_in_the_metrics_are_those_of_the_settings(keyed: httpx.Client) -> None:
    for key in ("evil", new_key()):
        keyed.get("/v1/verifiers", headers=bearer(key))
    text = keyed.get("/metrics", headers=bearer(BARE_KEY)).text
    assert set(re.findall(r'key="([^"]*)"', text)) <= {*NAMES, "unnamed"}


@pytest.mark.slow
def test_a_key_that_asks_too_often_is_told_when_to_ask_again(keyed: httpx.Client) -> None:
    """The service still answers calls with other keys."""
    refused = first_refused(lambda: score(keyed, "slow", body()))
    assert (refused.status_code, refused.json()["error"]["type"]) == (429, "key_limit")
    assert "'slow' may ask 1 times in a minute" in refused.json()["error"]["message"]
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert score(keyed, "training", body()).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(("path", "status"), [("/get_reward", 503), ("/run_code", 504)])
def test_clients_of_other_frameworks_are_told_in_a_status_that_they_retry(
    keyed: httpx.Client, path: str, status: int
) -> None:
    refused = first_refused(lambda: keyed.post(path, json={}, headers=bearer(KEYS["slow"])))
    assert (refused.status_code, refused.json()["error"]["type"]) == (status, "key_limit")
    assert "retry-after" in refused.headers


@pytest.mark.slow
def test_a_request_that_its_key_can_never_have_is_not_to_be_asked_again(
    keyed: httpx.Client,
) -> None:
    assert score(keyed, "small", body(2)).status_code == 200
    refused = score(keyed, "small", body(3))
    assert (refused.status_code, refused.json()["error"]["type"]) == (413, "too_many_completions")
    assert score(keyed, "training", body(3)).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("padding", [0, 100_000], ids=["small", "large"])
def test_a_key_uses_its_verifiers_only(keyed: httpx.Client, padding: int) -> None:
    """A large body is read in another process."""

    def asked(verifier: str) -> dict[str, Any]:
        found = body(verifier=verifier)
        found["groups"][0]["completions"] = ["x" * (padding + 1)]
        return found

    assert score(keyed, "forms", asked("format")).status_code == 200
    refused = score(keyed, "forms", asked("accuracy"))
    assert (refused.status_code, refused.json()["error"]["type"]) == (422, "verifier_not_enabled")
    assert refused.json()["error"]["message"].startswith(
        "not enabled for the API key 'forms': ['accuracy']; enabled are ['format']"
    )
    assert score(keyed, "training", asked("accuracy")).status_code == 200


@pytest.mark.slow
def test_the_verifiers_of_a_key_hold_for_other_protocols(keyed: httpx.Client) -> None:
    asked = {"response": "x", "label": "2"}
    refused = keyed.post("/compat/slime/rm", json=asked, headers=bearer(KEYS["forms"]))
    assert (refused.status_code, refused.json()["error"]["type"]) == (422, "verifier_not_enabled")
    taken = keyed.post("/compat/slime/rm", json=asked, headers=bearer(KEYS["training"]))
    assert taken.status_code == 200


def test_requests_come_back_at_the_rate_of_the_limit() -> None:
    now = 0.0
    allowance = Allowance("a", KeyLimits(max_requests_per_minute=3), clock=lambda: now)
    for _ in range(3):
        allowance.take_request()
    with pytest.raises(KeyLimitReached) as raised:
        allowance.take_request()
    assert raised.value.retry_after_seconds == 20
    now = 20.0
    allowance.take_request()
    with pytest.raises(KeyLimitReached):
        allowance.take_request()
    now = 10_000.0
    for _ in range(3):  # no more than those of a minute are saved up
        allowance.take_request()
    with pytest.raises(KeyLimitReached):
        allowance.take_request()


def test_completions_of_a_key_that_wait_leave_room_for_other_keys() -> None:
    whole = Admission(PendingBounds(100, 100))
    allowance = Allowance("a", KeyLimits(max_pending_completions=5))
    own, other = whole.within(allowance), whole.within(Allowance("b", KeyLimits()))
    with own.reservation() as first, own.reservation() as second, other.reservation() as third:
        first.grow(completions=3)
        with pytest.raises(KeyLimitReached, match="3 completions of the API key 'a', of at most 5"):
            second.grow(completions=3)
        second.grow(completions=2)
        with pytest.raises(KeyLimitReached):
            own.check_not_full()
        third.grow(completions=90)
        assert whole.pending_completions == 95
        with pytest.raises(QueueFull, match="of at most 100"):
            third.grow(completions=10)
    assert whole.pending_completions == allowance.pending_completions == 0
    own.check_not_full()


def test_a_limit_of_a_key_is_429_with_the_time_to_wait() -> None:
    error = KeyLimitReached("it is used up", retry_after_seconds=7)
    assert (status_of(error), headers_of(error)) == (429, {"Retry-After": "7"})


def test_limits_of_a_key_narrow_those_of_the_service() -> None:
    limits = Settings(enabled=("format", "accuracy"), max_completions=10).request_limits
    narrowed = limits.within(
        Allowance("a", KeyLimits(max_pending_completions=5, verifiers=("format", "code")))
    )
    assert (narrowed.max_completions, narrowed.enabled) == (5, ("format",))
    with pytest.raises(VerifierNotEnabled, match="for the API key 'a'"):
        narrowed.check_enabled(["accuracy"])
    wide = limits.within(Allowance("a", KeyLimits(max_pending_completions=50)))
    assert wide == limits


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "line 1: the file is not YAML"),
        (
            f"a: {{hash: {'0' * 64}}}\na: {{hash: {'1' * 64}}}",
            "line 2: a key stands twice in a mapping",
        ),
        (f"a: {{hash: {'0' * 64}, hash: {'1' * 64}}}", "line 1: a key stands twice"),
        ("- a", "expected names of keys"),
        ("a: {hash: KEY}", "a.hash is not the hash that new-key prints"),
        ("KEY: {}", "entry 1: a name is not 'unnamed' and does not begin with 'rv-'"),
        ("a b: {}", "entry 1 has no right name"),
        ("unnamed: {}", "entry 1: a name is not 'unnamed'"),
        ("a: {}", "a.hash: Field required"),
        ("a: {key: KEY}", "a.key: no such setting"),
        ("a: {hsh: HASH}", "a.hsh: no such setting; did you mean hash"),
        ("a: {hash: HASH, max_request_per_minute: 1}", "did you mean max_requests_per_minute"),
        ("a: {hash: HASH, max_requests_per_minute: 0}", "a.max_requests_per_minute: Input should"),
        ("a: {hash: HASH, max_pending_completions: many}", "a.max_pending_completions: Input"),
        ("a: {hash: HASH, verifiers: []}", "a.verifiers: List should have at least 1 item"),
        ("a: {hash: HASH, verifiers: [acuracy]}", r"a.verifiers: no such verifier: \['acuracy'\]"),
        ("a: {hash: HASH}\nb: {hash: HASH}", "one hash stands for several API keys: a, b"),
    ],
)
def test_a_mistake_in_the_file_is_named_without_a_key(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "keys.yaml"
    file.write_text(text.replace("HASH", hash_of(BARE_KEY)).replace("KEY", KEYS["slow"]))
    with pytest.raises(ValidationError, match=message) as raised:
        Settings(api_keys_file=file)
    assert KEYS["slow"][:10] not in str(raised.value)


def test_a_key_has_one_name(tmp_path: Path) -> None:
    file = tmp_path / "keys.yaml"
    file.write_text(FILE)
    with pytest.raises(ValidationError, match="several API keys: training, unnamed"):
        Settings(api_key_hashes=(hash_of(KEYS["training"]),), api_keys_file=file)
    assert [key.name for key in Settings(api_keys_file=file).api_keys] == list(NAMES)


@pytest.mark.parametrize("text", ["", "# none yet\n", "{}\n"])
def test_a_file_of_keys_without_any_does_not_open_the_service(tmp_path: Path, text: str) -> None:
    """Whoever names the file wants keys; one that was cut off would let in everybody."""
    file = tmp_path / "keys.yaml"
    file.write_text(text)
    with pytest.raises(ValidationError, match="has no key: name one, with the hash"):
        Settings(api_keys_file=file)


def test_a_service_that_requires_a_key_does_not_start_without_one(tmp_path: Path) -> None:
    """A file of hashes may be empty: that of compose is, until somebody wants keys."""
    file = tmp_path / "hashes"
    file.write_text("# none yet\n")
    assert Settings(api_key_hashes_file=file).api_keys == ()
    with pytest.raises(ValidationError, match="there is no API key: `verifier-service new-key`"):
        Settings(api_key_hashes_file=file, require_api_key=True)
    file.write_text(hash_of(BARE_KEY))
    assert Settings(api_key_hashes_file=file, require_api_key=True).api_keys
