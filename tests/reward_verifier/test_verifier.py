"""`Verifier`, blocking and awaiting: verdicts, streams, connections, and errors that explain."""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import pickle
import subprocess
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any
from uuid import uuid4

import httpx
import pytest

from reward_verifier import (
    CompletionGroup,
    NoReward,
    ScoredCompletion,
    Verifier,
    VerifierNonsense,
    VerifierRejected,
    VerifierUnauthorized,
    VerifierUnavailable,
)
from reward_verifier.request_content import MIN_COMPRESSED_BYTES

Scores = list[list[ScoredCompletion]]
Call = Callable[[Verifier, list[CompletionGroup]], Scores]


def completion(score: float | None = 1.0, outcome: str = "failed") -> dict[str, Any]:
    """A completion of a response; None: a verdict without a score."""
    fields = {"reason": "equal", "extracted": "2"} if score is not None else {"reason": "broken"}
    verdict = {"outcome": "scored" if score is not None else outcome, "score": score, **fields}
    return {"reward": score, "verdicts": {"accuracy": verdict}}


class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that arrives in parts, the last of which may be an error."""

    def __init__(self, *parts: bytes | Exception) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            if isinstance(part, Exception):
                raise part
            yield part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self:
            yield part


class Service(httpx.MockTransport):
    """A service that answers these, one after the other, and counts closed clients."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.requests: list[httpx.Request] = []
        self.num_closed = 0
        self._answers = list(answers)
        super().__init__(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.num_closed += 1

    async def aclose(self) -> None:
        self.num_closed += 1

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


def whole(*groups: list[dict[str, Any]]) -> httpx.Response:
    return httpx.Response(200, json={"groups": [{"completions": group} for group in groups]})


def line(index: int, *completions: dict[str, Any]) -> bytes:
    value = {"index": index, "completions": completions}
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


LAST = b'{"stats": {"completions": 1}}\n'


def streamed(*parts: bytes | Exception) -> httpx.Response:
    return httpx.Response(200, stream=Stream(*parts))


def refused(status: int, message: str, **headers: str) -> httpx.Response:
    return httpx.Response(
        status, json={"error": {"type": "t", "message": message}}, headers={**headers}
    )


def verifier(service: Service, **settings: Any) -> Verifier:
    settings = {"max_attempts": 3, "backoff_seconds": 0.0, **settings}
    return Verifier("http://x", transport=service, **settings)


def groups(*sizes: int) -> list[CompletionGroup]:
    return [CompletionGroup(["a"] * size, {"answer": str(i)}) for i, size in enumerate(sizes)]


def waiting(verifier: Verifier, asked: list[CompletionGroup]) -> Scores:
    return verifier.score_groups(asked)


def awaiting(verifier: Verifier, asked: list[CompletionGroup]) -> Scores:
    return asyncio.run(verifier.score_groups_async(asked))


def streaming(verifier: Verifier, asked: list[CompletionGroup]) -> Scores:
    return list(verifier.stream(asked))


def streaming_async(verifier: Verifier, asked: list[CompletionGroup]) -> Scores:
    async def collect() -> Scores:
        return [scored async for scored in verifier.stream_async(asked)]

    return asyncio.run(collect())


either = pytest.mark.parametrize("call", [waiting, awaiting])
stream = pytest.mark.parametrize("call", [streaming, streaming_async])
every = pytest.mark.parametrize("call", [waiting, awaiting, streaming, streaming_async])


def scores(found: Scores) -> list[list[float | None]]:
    return [[one.verdicts["accuracy"].score for one in group] for group in found]


def test_one_problem_has_typed_verdicts() -> None:
    service = Service(whole([completion(), completion(0.0)]))
    right, wrong = verifier(service).score(["2", "3"], {"answer": "2"}, prompt="1+1?")
    assert (right.reward, wrong.require_reward()) == (1.0, 0.0)
    verdict = right.verdicts["accuracy"]
    assert (verdict.outcome, verdict.score, verdict.reason) == ("scored", 1.0, "equal")
    assert verdict.extracted == "2"
    (body,) = service.bodies()
    assert body["groups"] == [
        {"prompt": "1+1?", "reference": {"answer": "2"}, "completions": ["2", "3"]}
    ]


def test_one_problem_can_be_awaited() -> None:
    service = Service(whole([completion()]))
    (found,) = asyncio.run(verifier(service).score_async(["2"], {"answer": "2"}))
    assert found.reward == 1.0


def test_a_type_alone_names_a_verifier() -> None:
    service = Service(whole([completion()]))
    chosen: list[Any] = ["accuracy", {"type": "format", "weight": 0.1}]
    with pytest.raises(VerifierNonsense, match=r"verdicts of \['accuracy', 'format'\]"):
        verifier(service, verifiers=chosen).score(["2"], {})
    assert service.bodies()[0]["verifiers"] == [
        {"type": "accuracy", "weight": 1.0},
        {"type": "format", "weight": 0.1},
    ]


@either
def test_a_failed_verdict_is_asked_for_again_and_never_a_0(call: Call) -> None:
    service = Service(*[whole([completion(), completion(None)])] * 3)
    ((right, failed),) = call(verifier(service), groups(2))
    assert len(service.requests) == 3
    assert (right.reward, failed.reward) == (1.0, None)
    assert (failed.verdicts["accuracy"].outcome, failed.verdicts["accuracy"].score) == (
        "failed",
        None,
    )
    with pytest.raises(NoReward, match="not a reward of 0: accuracy: failed: broken"):
        failed.require_reward()


@every
def test_what_cannot_be_judged_is_not_asked_for_again(call: Call) -> None:
    unjudged = completion(None, "unverifiable")
    answer = whole([unjudged]) if call in (waiting, awaiting) else streamed(line(0, unjudged), LAST)
    service = Service(answer)
    ((found,),) = call(verifier(service), groups(1))
    assert (found.reward, len(service.requests)) == (None, 1)
    with pytest.raises(NoReward, match="accuracy: unverifiable: broken"):
        found.require_reward()


@every
def test_nothing_is_asked_about_no_groups(call: Call) -> None:
    assert call(verifier(Service()), []) == []


@stream
def test_a_stream_has_the_order_of_its_groups(call: Call) -> None:
    parts = [line(1, completion(0.5)), line(0, completion(), completion(0.0)), LAST]
    service = Service(streamed(*parts))
    assert scores(call(verifier(service), groups(2, 1))) == [[1.0, 0.0], [0.5]]
    assert service.requests[0].headers["accept"] == "application/x-ndjson"


@stream
@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_lines_are_put_together_from_parts_of_any_size(call: Call, size: int) -> None:
    """A line ends in LF alone: U+2028 and U+0085 are signs like others in texts of JSON."""
    extracted = "a\u2028b\x85c\x0cd"
    one = completion()
    one["verdicts"]["accuracy"]["extracted"] = extracted
    body = line(0, one) + b"\n" + line(1, completion(0.0)) + LAST
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    found = call(verifier(Service(streamed(*parts))), groups(1, 1))
    assert scores(found) == [[1.0], [0.0]]
    assert found[0][0].verdicts["accuracy"].extracted == extracted


def test_a_group_is_there_before_the_stream_has_ended() -> None:
    later = httpx.ReadError("the rest was read too early")
    service = Service(streamed(line(0, completion()), later))
    found = verifier(service).stream(groups(1, 1))
    assert next(found)[0].reward == 1.0
    assert len(service.requests) == 1


@stream
@pytest.mark.parametrize("end", [httpx.ReadError("reset"), b""], ids=["broken", "cut off"])
def test_a_stream_that_breaks_off_goes_on_with_the_rest(call: Call, end: Any) -> None:
    first = streamed(line(2, completion(0.2)), line(0, completion(0.0)), end)
    second = streamed(line(0, completion(0.1)), LAST)
    service = Service(first, second)
    assert scores(call(verifier(service), groups(1, 1, 1))) == [[0.0], [0.1], [0.2]]
    again = [group["reference"]["answer"] for group in service.bodies()[1]["groups"]]
    assert again == ["1"]


@stream
def test_a_stream_that_keeps_breaking_off_is_an_error(call: Call) -> None:
    service = Service(
        *(streamed(line(0, completion()), httpx.ReadError("reset")) for _ in range(3))
    )
    with pytest.raises(VerifierUnavailable, match=r"after 3 attempts; .*ReadError: reset"):
        call(verifier(service), groups(1, 1, 1, 1))


@stream
def test_a_failed_verdict_of_a_stream_is_asked_for_again(call: Call) -> None:
    first = streamed(line(0, completion(None), completion(0.5)), line(1, completion()), LAST)
    second = streamed(line(0, completion(0.7), completion(0.9)), LAST)
    service = Service(first, second)
    found = call(verifier(service), groups(2, 1))
    assert scores(found) == [[0.7, 0.5], [1.0]]  # what was judged stays as it was
    assert len(service.bodies()[1]["groups"]) == 1


@stream
@pytest.mark.parametrize("outage", [False, True])
def test_what_keeps_failing_in_a_stream_is_handed_on_as_failed(call: Call, outage: bool) -> None:
    lost: list[Any] = [httpx.ConnectError("refused")] * 2
    failing = (streamed(line(0, completion(None)), LAST) for _ in range(3))
    service = Service(*([next(failing), *lost] if outage else failing))
    ((found,),) = call(verifier(service), groups(1))
    assert (found.verdicts["accuracy"].outcome, found.reward) == ("failed", None)
    assert len(service.requests) == 3


@stream
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([line(1, completion()), LAST], "group 1, not asked for"),
        ([line(0, completion()), line(0, completion()), LAST], "group 0, not asked for"),
        ([line(0, completion(), completion()), LAST], "asked about one group of 1"),
        ([LAST], "no verdicts on 1 of the groups"),
        ([b"<html>\n"], r"did not answer as a verifier service.*begins '<html>'"),
        ([b'{"index": 0}\n'], "completions must not be None"),
        ([b"[" * 100_000 + b"\n"], "nested too deeply|recursion"),
    ],
)
def test_a_stream_of_something_else_is_told_apart(
    call: Call, parts: list[bytes], message: str
) -> None:
    with pytest.raises(VerifierNonsense, match=message):
        call(verifier(Service(streamed(*parts))), groups(1))


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reward_verifier.client.MAX_LINE_BYTES", 100)
    with pytest.raises(VerifierNonsense, match="a line of more than 100 bytes"):
        streaming(verifier(Service(streamed(*[b"x" * 60] * 3))), groups(1))


def test_a_loop_that_is_left_early_ends_its_stream() -> None:
    async def first(service: Service) -> None:
        async with aclosing(verifier(service).stream_async(groups(1, 1))) as found:
            async for _ in found:
                break

    for leave in (lambda one: next(verifier(one).stream(groups(1, 1))), None):
        service = Service(streamed(line(0, completion()), httpx.ReadError("read on")))
        if leave is None:
            asyncio.run(first(service))
        else:
            leave(service)
        assert service.num_closed == 1


@every
def test_trouble_is_tried_again_and_told(call: Call, caplog: pytest.LogCaptureFixture) -> None:
    is_stream = call not in (waiting, awaiting)
    good = streamed(line(0, completion()), LAST) if is_stream else whole([completion()])
    service = Service(httpx.ConnectError("refused"), refused(503, "the queue is full"), good)
    assert scores(call(verifier(service), groups(1))) == [[1.0]]
    first, second = (one.getMessage() for one in caplog.records if one.name == "reward_verifier")
    assert first.startswith("verifier service: ConnectError: refused; trying again in 0.0")
    assert "the queue is full; trying again in" in second


@every
@pytest.mark.parametrize(
    ("status", "message"), [(503, "raise max_attempts"), (502, "is url right"), (500, "is url")]
)
def test_a_service_that_has_no_room_is_told_from_one_that_is_away(
    call: Call, status: int, message: str
) -> None:
    busy = [refused(status, "the queue is full", **{"X-Request-Id": "r-1"}) for _ in range(3)]
    with pytest.raises(VerifierUnavailable, match=rf"3 attempts; .*{status}.*{message}") as error:
        call(verifier(Service(*busy)), groups(1))
    assert "the queue is full (request id r-1)" in str(error.value)


@every
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (refused(422, "verifiers.0.type: no such type"), r"with 422: verifiers\.0\.type: no such"),
        (refused(401, "a key is needed"), "No key was sent: set REWARD_VERIFIER_API_KEY"),
        (refused(404, "there is no /v1/v1/score"), r"404: there is no .*is url right\?"),
        (httpx.Response(404, json={"detail": "Not Found"}), r"Not Found.*is url right\?"),
        (httpx.Response(200, text="<html>"), "did not answer as a verifier service"),
        (
            httpx.Response(308, headers={"Location": "https://x/v1/score"}),
            r"leads to 'https://x/v1/score'.*is url right\?",
        ),
    ],
)
def test_a_refusal_explains_itself_at_once(
    call: Call, answer: httpx.Response, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REWARD_VERIFIER_API_KEY", raising=False)
    # A body that has been read cannot be streamed.
    content, headers = answer.content + b"\n", dict(answer.headers)
    headers.pop("content-length", None)
    service = Service(httpx.Response(answer.status_code, content=content, headers=headers))
    with pytest.raises(VerifierRejected, match=message):
        call(verifier(service), groups(1))
    assert len(service.requests) == 1


@every
def test_a_value_that_cannot_be_sent_is_named(call: Call) -> None:
    bad = CompletionGroup(["2"], {"answer": float("nan")})
    with pytest.raises(ValueError, match=r"the body\.groups\.1\.reference\.answer is nan"):
        call(verifier(Service()), [*groups(1), bad])


@every
def test_a_key_is_sent_without_the_white_space_around_it(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_stream = call not in (waiting, awaiting)
    monkeypatch.setenv("REWARD_VERIFIER_API_KEY", " rv-secret\r\n")
    for settings in ({}, {"api_key": " "}, {"api_key": "rv-secret \n"}):
        good = streamed(line(0, completion()), LAST) if is_stream else whole([completion()])
        service = Service(good)
        call(verifier(service, **settings), groups(1))
        assert service.requests[0].headers["Authorization"] == "Bearer rv-secret"


@pytest.mark.parametrize("key", ["rv-sécret", "rv-se\ncret", "rv-se\x7fcret"])
def test_a_key_that_no_header_can_hold_is_refused_at_once(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(VerifierUnauthorized, match="in the argument api_key has a char") as first:
        Verifier("http://x", api_key=key)
    monkeypatch.setenv("REWARD_VERIFIER_API_KEY", key)
    with pytest.raises(
        VerifierUnauthorized, match="in the environment's REWARD_VERIFIER_API_KEY has"
    ) as second:
        Verifier("http://x")
    assert "cret" not in f"{first.value} {second.value}"


@every
def test_a_request_that_breaks_http_is_not_sent_again_and_its_header_is_not_shown(
    call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    key = str(uuid4())  # a text that no line of this file has, which the traceback quotes
    service = Service(httpx.LocalProtocolError(f"Illegal header value {key!r}"))
    with pytest.raises(VerifierUnauthorized, match="a header of the request has a val") as error:
        call(verifier(service), groups(1))
    assert len(service.requests) == 1
    shown = "".join(traceback.format_exception(error.value)) + caplog.text
    assert key not in shown


@every
def test_a_connection_that_broke_is_tried_again(call: Call) -> None:
    is_stream = call not in (waiting, awaiting)
    good = streamed(line(0, completion()), LAST) if is_stream else whole([completion()])
    service = Service(httpx.LocalProtocolError("Can't send data when our state is ERROR"), good)
    call(verifier(service), groups(1))
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    ("completions", "reference", "message"),
    [
        ("It is 2.", {"answer": "2"}, "completions: expected a list of completions, found one str"),
        ({"text": "2"}, {"answer": "2"}, "expected a list of completions, found one dict"),
        (["It is 2."], "2", 'reference: expected an object such as {"answer": "4"}, found str'),
    ],
)
def test_what_would_be_taken_apart_is_refused(
    completions: Any, reference: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        verifier(Service()).score(completions, reference)


@every
def test_a_large_body_is_sent_compressed_and_a_small_one_is_not(call: Call) -> None:
    is_stream = call not in (waiting, awaiting)
    text = "x" * MIN_COMPRESSED_BYTES
    for texts, encoding in (([text], "gzip"), (["x"], None)):
        good = streamed(line(0, completion()), LAST) if is_stream else whole([completion()])
        service = Service(good)
        call(verifier(service), [CompletionGroup(texts, {"answer": "2"})])
        (request,) = service.requests
        assert request.headers.get("content-encoding") == encoding
        body = gzip.decompress(request.content) if encoding else request.content
        assert json.loads(body)["groups"][0]["completions"] == texts


def test_calls_in_a_block_share_connections() -> None:
    service = Service(*[whole([completion()]) for _ in range(4)])
    asked = verifier(service)
    with asked:
        asked.score(["2"], {})
        asked.score(["2"], {})
        assert service.num_closed == 0
    assert service.num_closed == 1
    asked.score(["2"], {})
    assert service.num_closed == 2

    async def awaited() -> None:
        async with asked:
            await asked.score_async(["2"], {})

    asyncio.run(awaited())
    assert service.num_closed == 3


def test_copies_of_a_verifier_have_no_open_connections() -> None:
    with Verifier("http://x", profile="math") as asked:
        for twin in (pickle.loads(pickle.dumps(asked)), copy.copy(asked)):
            assert twin == asked
            assert twin._open.blocking is None


def test_a_key_is_in_no_text_of_a_verifier() -> None:
    assert "secret" not in repr(Verifier("http://x", api_key="secret"))


def test_names_of_the_package_are_found_and_others_are_not() -> None:
    script = (
        "import sys, reward_verifier as r\n"
        "assert 'httpx' not in sys.modules\n"
        "print(all(hasattr(r, name) for name in r.__all__), hasattr(r, 'Verifire'))"
    )
    found = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert found == "True False\n"
