"""`Verifier.execute` and sessions, against a service and over a broken connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

import reward_verifier
from reward_verifier import Verifier, VerifierNonsense, VerifierRejected, VerifierUnavailable
from reward_verifier.execution import ExecutionResult
from reward_verifier.request_content import MIN_COMPRESSED_BYTES


def test_programs_are_run_in_order(service_url: str) -> None:
    found = Verifier(service_url).execute(
        [
            "print(1)",
            {"code": "print(input())", "stdin": "2"},
            {"language": "bash", "code": "echo 3"},
        ]
    )
    assert [one.stdout for one in found] == ["1\n", "2\n", "3\n"]
    assert {one.outcome for one in found} == {"ran"}
    assert Verifier(service_url).execute([]) == []


def test_a_large_program_is_run(service_url: str) -> None:
    """The service takes compressed bodies of scores alone."""
    program = f"print(len('{'x' * MIN_COMPRESSED_BYTES}'))"
    (ran,) = Verifier(service_url).execute([program])
    assert ran.stdout == f"{MIN_COMPRESSED_BYTES}\n"


def test_a_session_keeps_its_state_and_ends_with_its_block(service_url: str) -> None:
    with Verifier(service_url) as verifier, verifier.session(limits={"seconds": 20}) as session:
        assert session.run("x = 1\nprint('set')").text == "set"
        assert session.run("x + 1").value == "2"
        raised = session.run("1 / 0")
        assert raised.error is not None
        assert (raised.reason, raised.error["name"]) == ("runtime_error", "ZeroDivisionError")
        assert raised.text.endswith("ZeroDivisionError: division by zero")
    gone = session.run("x") if not session.http.is_closed else None
    assert gone is None
    path = f"{service_url}{session.opened.path}"
    assert httpx.get(path).json()["error"]["details"]["reason"] == "closed"


def test_code_that_awaits_has_the_same(service_url: str) -> None:
    async def run() -> list[str | None]:
        async with Verifier(service_url) as verifier, verifier.session_async() as session:
            first = await session.run("y = 5", files={"a": "text"})
            second = await session.run("y, open('a').read()", fetch=["a"])
            assert second.files == {"a": "text"}
            (one,) = await verifier.execute_async(["print(6)"])
            return [first.value, second.value, one.stdout]

    assert asyncio.run(run()) == [None, "(5, 'text')", "6\n"]


def test_a_session_that_is_gone_is_failed_and_not_an_answer(service_url: str) -> None:
    with Verifier(service_url).session() as session:
        httpx.delete(f"{service_url}{session.opened.path}")
        found = session.run("1")
    assert (found.outcome, found.reason, found.failed) == ("failed", "session_lost", True)
    assert found.stdout is None
    assert "a client has ended it" in (found.message or "")


def test_a_wrong_field_is_named(service_url: str) -> None:
    with pytest.raises(VerifierRejected, match="language"):
        Verifier(service_url).execute([{"code": "", "language": "cobol"}])
    with (
        pytest.raises(VerifierRejected, match="there is no such field"),
        Verifier(service_url).session(limit=1),
    ):
        pass


def over(respond: Callable[[httpx.Request], httpx.Response], **settings: Any) -> Verifier:
    """A client whose requests a function answers."""
    return Verifier(
        "http://test", transport=httpx.MockTransport(respond), backoff_seconds=0.0, **settings
    )


def test_a_lost_response_is_asked_for_again_with_the_same_number() -> None:
    asked: list[dict[str, Any]] = []

    def respond(request: httpx.Request) -> httpx.Response:
        if request.method == "DELETE":
            return httpx.Response(200, json={})
        if request.url.path == "/v1/sessions":
            return httpx.Response(201, json={"id": "s"})
        asked.append(json.loads(request.content))
        if len(asked) == 1:
            raise httpx.ReadError("broken off")
        return httpx.Response(200, json={"outcome": "ran", "reason": "completed", "value": "1"})

    with over(respond).session() as session:
        session.run("1")
        session.run("2", seconds=3)
    assert [(one["code"], one["call"]) for one in asked] == [("1", 1), ("1", 1), ("2", 2)]
    assert asked[2] == {"code": "2", "call": 2, "seconds": 3}


def test_a_session_goes_on_after_a_call_whose_response_was_lost(service_url: str) -> None:
    """The call has run; another one has the next number, which the service tells."""
    lost = True

    class Lossy(httpx.HTTPTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = super().handle_request(request)
            if lost and b"x = 1" in request.content:
                response.close()
                raise httpx.ReadError("broken off")
            return response

    verifier = Verifier(service_url, transport=Lossy(), max_attempts=2, backoff_seconds=0.0)
    with verifier.session() as session:
        with pytest.raises(VerifierUnavailable):
            session.run("x = 1\nnum_runs = globals().get('num_runs', 0) + 1")
        assert session.run("x + 1, num_runs").value == "(2, 1)"
        assert session.run("x + 2").value == "3"


def test_a_call_whose_response_is_not_kept_is_not_run_again() -> None:
    asked = []

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        if request.url.path == "/v1/sessions":
            return httpx.Response(201, json={"id": "s"})
        error = {"type": "response_not_kept", "message": "call 1 has run"}
        return httpx.Response(409, json={"error": error})

    with over(respond).session() as session, pytest.raises(VerifierRejected, match="has run"):
        session.run("1")
    assert asked == ["POST", "POST", "DELETE"]


def test_failed_programs_are_asked_for_again_and_alone() -> None:
    sizes = []

    def respond(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)["executions"]
        sizes.append(len(asked))
        ran = {"outcome": "ran", "reason": "completed", "stdout": ""}
        failed = {"outcome": "failed", "reason": "sandbox_error"}
        found = [failed if one["code"] == "b" and len(sizes) < 3 else ran for one in asked]
        return httpx.Response(200, json={"executions": found})

    found = over(respond).execute(["a", "b", "c"])
    assert [one.outcome for one in found] == ["ran"] * 3
    assert sizes == [3, 1, 1]


@pytest.mark.parametrize(
    "body", [{}, {"executions": []}, {"executions": [{}]}, {"executions": [{"outcome": "?"}]}, []]
)
def test_a_response_of_another_form_is_no_result(body: Any) -> None:
    with pytest.raises(VerifierNonsense):
        over(lambda _: httpx.Response(200, json=body)).execute(["a"])


def test_a_service_that_is_full_is_unavailable() -> None:
    full = {"error": {"type": "sessions_full", "message": "2 sessions are open"}}
    verifier = over(lambda _: httpx.Response(503, json=full), max_attempts=2)
    with pytest.raises(VerifierUnavailable, match="2 sessions are open"), verifier.session():
        pass


def test_results_are_kept_where_the_service_is_away_at_a_later_attempt() -> None:
    reports = [
        {"outcome": "ran", "reason": "completed"},
        {"outcome": "failed", "reason": "deadline"},
    ]
    responses = iter([httpx.Response(200, json={"executions": reports, "stats": {}})])
    verifier = over(lambda _: next(responses, httpx.Response(503)), max_attempts=3)
    found = verifier.execute(["print(1)", "print(2)"])
    assert [one.outcome for one in found] == ["ran", "failed"]


def test_fields_of_a_newer_service_are_kept() -> None:
    found = ExecutionResult.read({"outcome": "ran", "reason": "new", "more": 1})
    assert (found.reason, found.fields) == ("new", {"outcome": "ran", "reason": "new", "more": 1})
    assert reward_verifier.Session is not None
