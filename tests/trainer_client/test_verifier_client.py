"""The client against services that are down, slow, overloaded or nonsense, across the HTTP seam."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from reward_verifier.errors import VerifierNonsense, VerifierRejected, VerifierUnavailable
from reward_verifier.verdict import Verdicts
from trainer_client.config.reward_sections import RewardConfig, VerifierConfig
from trainer_client.reward import verifier_client
from trainer_client.reward.verifier_client import ScoreRequest, VerifierClient

CONFIG = RewardConfig(verifiers=(VerifierConfig(type="accuracy"),), max_attempts=3)
GROUP = ScoreRequest(("a", "b"), {"answer": "1"})
Handler = Callable[[httpx.Request], httpx.Response]


def scored(request: httpx.Request, **verdict: Any) -> httpx.Response:
    values = {"outcome": "scored", "score": 1.0, "reason": "equal", "seconds": 0.1} | verdict
    completions = json.loads(request.content)["groups"][0]["completions"]
    answers = [{"reward": None, "verdicts": {"accuracy": values}} for _ in completions]
    return httpx.Response(200, json={"groups": [{"completions": answers}], "stats": {}})


def ask(
    handler: Handler, waits: list[float] | None = None, *, config: RewardConfig = CONFIG
) -> list[Verdicts]:
    async def sleep(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)

    async def run() -> list[Verdicts]:
        transport = httpx.MockTransport(handler)
        async with VerifierClient(config, transport=transport, sleep=sleep) as client:
            return await client.score(GROUP)

    return asyncio.run(run())


def in_turn(*handlers: Handler) -> Handler:
    remaining = list(handlers)
    return lambda request: remaining.pop(0)(request)


def refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


def test_verdicts_come_back_in_order_and_unknown_fields_are_ignored() -> None:
    verdicts = ask(lambda request: scored(request, shiny_new_field=1))
    assert [item["accuracy"].score for item in verdicts] == [1.0, 1.0]


def test_the_service_is_told_to_answer_before_the_client_gives_up() -> None:
    """Its verdicts by then would be lost otherwise."""
    sent: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content)["deadline_seconds"])
        return scored(request)

    ask(answer, config=CONFIG.model_copy(update={"timeout_seconds": 100.0}))
    assert sent == [90.0]


def test_a_service_that_is_down_is_tried_again_with_growing_waits() -> None:
    waits: list[float] = []
    assert len(ask(in_turn(refuse, refuse, scored), waits)) == 2
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0


def test_a_service_that_stays_down_gives_a_clear_error() -> None:
    with pytest.raises(VerifierUnavailable, match=r"after 3 attempts.*ConnectError: refused"):
        ask(refuse)


@pytest.mark.parametrize(("attempts", "times"), [(1, 0), (3, 1)])
def test_that_a_service_is_waited_for_is_said_once_and_only_where_it_is(
    capsys: pytest.CaptureFixture[str], attempts: int, times: int
) -> None:
    """The only attempt is followed by no other."""
    with pytest.raises(VerifierUnavailable, match=rf"after {attempts} attempt"):
        ask(refuse, config=CONFIG.model_copy(update={"max_attempts": attempts}))
    assert capsys.readouterr().out.count("waiting for the verifier") == times


def test_a_slow_service_gives_a_clear_error() -> None:
    def slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("timed out", request=request)

    with pytest.raises(VerifierUnavailable, match="ReadTimeout"):
        ask(slow)


def test_an_overloaded_service_is_left_alone_as_long_as_it_asks() -> None:
    waits: list[float] = []
    ask(in_turn(lambda _: httpx.Response(503, headers={"Retry-After": "7"}), scored), waits)
    assert waits == [7.0]


def test_the_key_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("authorization"))
        return scored(request)

    monkeypatch.delenv("REWARD_VERIFIER_API_KEY", raising=False)
    ask(answer)
    monkeypatch.setenv("REWARD_VERIFIER_API_KEY", "rv-secret")
    ask(answer)
    assert sent == [None, "Bearer rv-secret"]


def test_a_missing_or_wrong_key_says_where_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"error": {"type": "unauthorized", "message": "a key is needed"}}
    monkeypatch.delenv("REWARD_VERIFIER_API_KEY", raising=False)
    with pytest.raises(VerifierRejected, match=r"set REWARD_VERIFIER_API_KEY"):
        ask(lambda _: httpx.Response(401, json=body))
    monkeypatch.setenv("REWARD_VERIFIER_API_KEY", "rv-secret")
    with pytest.raises(
        VerifierRejected, match=r"is the environment.s REWARD_VERIFIER_API_KEY"
    ) as refused:
        ask(lambda _: httpx.Response(401, json=body))
    assert "rv-secret" not in str(refused.value)


def test_a_refused_request_is_not_tried_again_and_tells_why() -> None:
    body = {"error": {"type": "invalid_request", "message": "verifiers.0: no such type"}}
    with pytest.raises(VerifierRejected, match=r"422: verifiers\.0: no such type"):
        ask(in_turn(lambda _: httpx.Response(422, json=body)))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("<html>It works!</html>", "did not answer with scores"),
        (
            '{"groups": []}',
            r"asked about one group of 2 completions and answered for groups of \[\]",
        ),
        ('{"groups": [{"completions": [{"verdicts": {}}]}]}', r"groups of \[1\]"),
        (
            '{"groups": [{"completions": [{"verdicts": {}}, {"verdicts": {}}]}]}',
            r"verdicts of \['accuracy'\] and answered with \[\]",
        ),
    ],
)
def test_nonsense_is_an_error_that_shows_it(answer: str, message: str) -> None:
    with pytest.raises(VerifierNonsense, match=message):
        ask(lambda _: httpx.Response(200, text=answer))


@pytest.mark.parametrize(
    "verdict",
    [
        {"outcome": "failed", "score": 0.0},
        {"outcome": "scored", "score": None},
        {"outcome": "perhaps"},
    ],
)
def test_a_score_without_a_judgement_is_nonsense(verdict: dict[str, Any]) -> None:
    with pytest.raises(VerifierNonsense):
        ask(lambda request: scored(request, **verdict))


def test_a_group_with_a_failed_verdict_is_asked_for_again_whole() -> None:
    """A verifier may judge by the whole group; what it has judged stays as it was."""
    sizes: list[int] = []

    def second_fails_at_first(request: httpx.Request) -> httpx.Response:
        sizes.append(len(json.loads(request.content)["groups"][0]["completions"]))
        answer = json.loads(scored(request, score=float(len(sizes))).content)
        if len(sizes) == 1:
            verdict = {"outcome": "failed", "score": None, "reason": "deadline", "seconds": 0}
            answer["groups"][0]["completions"][1]["verdicts"]["accuracy"] = verdict
        return httpx.Response(200, json=answer)

    verdicts = ask(second_fails_at_first)
    assert sizes == [2, 2]
    assert [item["accuracy"].score for item in verdicts] == [1.0, 2.0]


def test_what_keeps_failing_stays_failed_and_is_no_zero() -> None:
    verdicts = ask(lambda request: scored(request, outcome="failed", score=None))
    assert [item["accuracy"].score for item in verdicts] == [None, None]


def test_what_keeps_failing_is_not_asked_for_as_often_as_a_service_that_is_away() -> None:
    waits: list[float] = []
    config = CONFIG.model_copy(update={"max_attempts": 8})
    ask(lambda request: scored(request, outcome="failed", score=None), waits, config=config)
    assert len(waits) == 2
    assert sum(waits) <= 1.5
    waits.clear()
    with pytest.raises(VerifierUnavailable, match="after 8 attempts"):
        ask(refuse, waits, config=config)
    assert len(waits) == 7


def test_a_text_that_kept_failing_is_asked_for_once_until_it_is_judged() -> None:
    """One such text in each step would otherwise be waited for in each step."""
    calls: list[str] = []
    failing = {"bad"}

    def answer(request: httpx.Request) -> httpx.Response:
        (group,) = json.loads(request.content)["groups"]
        (text,) = group["completions"]
        calls.append(text)
        verdict = {"outcome": "failed", "score": None} if text in failing else {}
        return scored(request, **verdict)

    async def run() -> None:
        async def no_sleep(seconds: float) -> None:
            pass

        async with VerifierClient(
            CONFIG, transport=httpx.MockTransport(answer), sleep=no_sleep
        ) as client:

            async def ask_for(text: str, reference: str = "1") -> int:
                calls.clear()
                await client.score(ScoreRequest((text,), {"answer": reference}))
                return len(calls)

            assert await ask_for("bad") == 3
            assert await ask_for("bad") == 1
            assert await ask_for("good") == 1
            assert await ask_for("bad", "another question") == 3
            failing.clear()
            assert await ask_for("bad") == 1
            failing.add("bad")
            assert await ask_for("bad") == 3

    asyncio.run(run())


def test_no_more_failing_texts_are_remembered_than_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The oldest is forgotten, and asked for as often as a new one."""
    monkeypatch.setattr(verifier_client, "MAX_REMEMBERED_FAILURES", 2)
    calls: list[int] = []

    def fail(request: httpx.Request) -> httpx.Response:
        calls.append(1)
        return scored(request, outcome="failed", score=None)

    async def run() -> None:
        async def no_sleep(seconds: float) -> None:
            pass

        transport = httpx.MockTransport(fail)
        async with VerifierClient(CONFIG, transport=transport, sleep=no_sleep) as client:
            for text, expected in (("a", 3), ("b", 3), ("b", 1), ("c", 3), ("b", 1), ("a", 3)):
                calls.clear()
                await client.score(ScoreRequest((text,), {"answer": "1"}))
                assert (text, len(calls)) == (text, expected)

    asyncio.run(run())


def test_a_client_without_verifiers_asks_for_nothing() -> None:
    """Only evaluations need its service, and bring their own verifiers."""
    assert ask(refuse, config=CONFIG.model_copy(update={"verifiers": ()})) == [{}, {}]


def test_what_cannot_be_verified_is_not_asked_for_again() -> None:
    calls: list[int] = []

    def handler(request: httpx.Request) -> httpx.Response:
        calls.append(1)
        return scored(request, outcome="unverifiable", score=None)

    assert ask(handler)[0]["accuracy"].outcome == "unverifiable"
    assert len(calls) == 1


def test_options_of_a_verifier_are_sent_and_its_weight_is_not() -> None:
    config = VerifierConfig.model_validate(
        {"type": "format", "name": "strict", "weight": 0.1, "mode": "open_r1"}
    )
    assert config.wire == {"name": "strict", "type": "format", "mode": "open_r1"}
