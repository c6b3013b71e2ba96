"""The client of the adapters: what it tries again, what it gives up, what it sends."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from reward_verifier.errors import VerifierRejected, VerifierUnavailable
from verifier_adapters.client import Completion, Judgement, Reference, Verifier

REFUSAL = {"error": {"message": "no profile 'x'"}}
Judge = Callable[[Verifier, list[Completion], list[Reference]], list[Judgement]]


def verdict(outcome: str = "scored", reason: str = "equal") -> dict[str, Any]:
    score = 1.0 if outcome == "scored" else None
    return {
        "reward": score,
        "verdicts": {"accuracy": {"outcome": outcome, "score": score, "reason": reason}},
    }


def answering(*answers: Any, requests: list[Any] | None = None) -> Verifier:
    """A verifier whose service answers these, one after the other."""
    left = list(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        if requests is not None:
            requests.append(json.loads(request.content))
        answer = left.pop(0)
        if isinstance(answer, int):
            return httpx.Response(answer, json=REFUSAL, headers={"Retry-After": "0"})
        if isinstance(answer, Exception):
            raise answer
        groups = [{"completions": completions} for completions in answer]
        return httpx.Response(200, json={"groups": groups, "stats": {}})

    transport = httpx.MockTransport(handle)
    return Verifier(url="http://x", transport=transport, backoff_seconds=0.0)


def waiting(
    verifier: Verifier, completions: list[Completion], references: list[Reference]
) -> list[Judgement]:
    return verifier.judge(completions, references)


def awaiting(
    verifier: Verifier, completions: list[Completion], references: list[Reference]
) -> list[Judgement]:
    return asyncio.run(verifier.judge_async(completions, references))


both = pytest.mark.parametrize("judge", [waiting, awaiting])


@both
def test_neighbours_with_one_reference_are_one_group(judge: Judge) -> None:
    requests: list[Any] = []
    verifier = answering([[verdict(), verdict()], [verdict()]], requests=requests)
    found = judge(verifier, ["a", "b", "c"], [{"answer": "1"}, {"answer": "1"}, {"answer": "2"}])
    assert [one.reward for one in found] == [1.0, 1.0, 1.0]
    assert requests[0]["groups"] == [
        {"reference": {"answer": "1"}, "completions": ["a", "b"]},
        {"reference": {"answer": "2"}, "completions": ["c"]},
    ]
    assert requests[0]["profile"] == "accuracy"


@both
@pytest.mark.parametrize(
    "trouble",
    [503, httpx.ConnectError("refused")],
)
def test_trouble_is_tried_again(judge: Judge, trouble: Any) -> None:
    assert judge(answering(trouble, [[verdict()]]), ["a"], [{}])[0].reward == 1.0


@both
def test_a_group_in_which_one_failed_is_sent_again_whole(judge: Judge) -> None:
    """A verifier may judge by the whole group; what it has judged stays, other groups rest."""
    requests: list[Any] = []
    failed, other = verdict("failed", "worker_died"), verdict() | {"reward": 0.5}
    first, second = [[verdict(), failed], [verdict()]], [[failed, other]]
    verifier = answering(first, second, requests=requests)
    found = judge(verifier, ["a", "b", "c"], [{}, {}, {"answer": "2"}])
    assert [one.reward for one in found] == [1.0, 0.5, 1.0]
    assert [group["completions"] for group in requests[1]["groups"]] == [["a", "b"]]


@both
def test_what_keeps_failing_is_an_error_and_no_score(judge: Judge) -> None:
    verifier = answering(*[[[verdict("failed", "worker_died")]]] * 3)
    with pytest.raises(VerifierUnavailable, match=r"3 attempts; .*worker_died"):
        judge(verifier, ["a"], [{}])


@both
def test_a_refused_request_is_not_tried_again(judge: Judge) -> None:
    with pytest.raises(VerifierRejected, match="no profile 'x'"):
        judge(answering(422), ["a"], [{}])


@both
def test_another_service_is_told_apart(judge: Judge) -> None:
    with pytest.raises(VerifierRejected, match="did not answer as a verifier service"):
        judge(answering(200), ["a"], [{}])


@both
def test_what_cannot_be_judged_has_no_reward(judge: Judge) -> None:
    unverifiable = verdict("unverifiable", "missing_reference")
    (found,) = judge(answering([[unverifiable]]), ["a"], [{}])
    assert (found.reward, found.score, found.reason) == (None, None, "missing_reference")


@both
def test_a_profile_whose_weights_are_all_0_is_refused(judge: Judge) -> None:
    """Otherwise each completion would seem to be one that cannot be judged."""
    unweighted = verdict() | {"reward": None}
    with pytest.raises(VerifierRejected, match="the weight of every verifier is 0"):
        judge(answering([[unweighted]]), ["a"], [{}])


@both
def test_nothing_is_asked_about_no_completions(judge: Judge) -> None:
    assert judge(answering(), [], []) == []


@both
@pytest.mark.parametrize("wish", [{}, {"verifiers": [{"type": "accuracy"}]}])
def test_the_service_is_told_to_answer_before_the_client_gives_up(
    judge: Judge, wish: dict[str, Any]
) -> None:
    """Its verdicts by then would be lost otherwise."""
    requests: list[Any] = []
    transport = answering([[verdict()]], requests=requests).transport
    judge(Verifier(url="http://x", timeout_seconds=100.0, transport=transport, **wish), ["a"], [{}])
    assert requests[0]["deadline_seconds"] == 90.0


def test_a_verifier_without_weight_counts_once() -> None:
    requests: list[Any] = []
    verifier = answering([[verdict()]], requests=requests)
    other = Verifier(url="http://x", verifiers=[{"type": "accuracy"}], transport=verifier.transport)
    other.judge(["a"], [{}])
    assert requests[0]["verifiers"] == [{"type": "accuracy", "weight": 1.0}]
    assert "profile" not in requests[0]


def test_the_environment_fills_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        assert request.url.host == "verifier.example"
        assert request.headers["authorization"] == "Bearer secret"
        assert json.loads(request.content)["profile"] == "math"
        return httpx.Response(200, json={"groups": [{"completions": [verdict()]}]})

    monkeypatch.setenv("REWARD_VERIFIER_URL", "http://verifier.example")
    monkeypatch.setenv("REWARD_VERIFIER_API_KEY", "secret")
    monkeypatch.setenv("REWARD_VERIFIER_PROFILE", "math")
    assert Verifier(transport=httpx.MockTransport(handle)).judge(["a"], [{}])[0].reward == 1.0


def test_a_verifier_can_be_pickled() -> None:
    verifier = Verifier(url="http://x", profile="math")
    assert pickle.loads(pickle.dumps(verifier)) == verifier


def test_an_address_without_its_scheme_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"^url '127\.0\.0\.1:8080' needs http:// or https://"):
        Verifier(url="127.0.0.1:8080")
    monkeypatch.setenv("REWARD_VERIFIER_URL", "localhost:8080")
    with pytest.raises(ValueError, match=r"^REWARD_VERIFIER_URL 'localhost:8080' needs http://"):
        Verifier()
    assert Verifier(url="https://x").address == "https://x"


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment at which nobody listens."""
    for name in ("http_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")


@pytest.mark.usefixtures("proxy")
def test_a_service_on_this_machine_is_asked_without_a_proxy(service_url: str) -> None:
    for host in ("127.0.0.1", "localhost", "0.0.0.0"):
        verifier = Verifier(service_url.replace("127.0.0.1", host))
        assert verifier.score(["4"], {"answer": "4"})[0].reward == 1.0


@pytest.mark.usefixtures("proxy")
def test_an_outage_behind_a_proxy_names_it_unless_it_is_passed_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verifier = Verifier("http://verifier.example:8080", max_attempts=1)
    advice = r"through a proxy of the environment .*NO_PROXY=verifier\.example asks directly"
    with pytest.raises(VerifierUnavailable, match=advice):
        verifier.score(["4"], {"answer": "4"})
    monkeypatch.setenv("NO_PROXY", ".example")
    with pytest.raises(VerifierUnavailable, match=r"is url right\?$"):
        verifier.score(["4"], {"answer": "4"})


def test_https_of_a_service_that_speaks_http_is_told(service_url: str) -> None:
    verifier = Verifier(service_url.replace("http://", "https://"), max_attempts=1)
    with pytest.raises(VerifierUnavailable, match="such an address begins with http://"):
        verifier.score(["4"], {"answer": "4"})


def test_white_space_and_slashes_around_an_address_do_not_matter(service_url: str) -> None:
    verifier = Verifier(f" {service_url}//\n")
    assert verifier.score(["4"], {"answer": "4"})[0].reward == 1.0


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"max_attempts": 0}, "max_attempts: expected at least 1, found 0"),
        ({"timeout_seconds": 0}, "timeout_seconds: expected a number above 0, found 0"),
        ({"timeout_seconds": None}, "timeout_seconds: expected a number above 0, found None"),
    ],
)
def test_a_number_out_of_its_range_is_refused_at_once(setting: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Verifier(**setting)
