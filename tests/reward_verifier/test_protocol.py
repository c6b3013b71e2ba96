"""The client's requests, waits and readings of responses, without a network."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reward_verifier.completion_group import CompletionGroup
from reward_verifier.errors import VerifierNonsense, VerifierUnauthorized, VerifierUnavailable
from reward_verifier.protocol import NoResponse, Reply, Request, Response, score
from reward_verifier.retries import Wait
from reward_verifier.service_access import ServiceAccess
from reward_verifier.verdict import ScoredCompletion

ROOT = Path(__file__).parents[2]
ACCESS = ServiceAccess(
    url="http://x", url_setting="url", timeout_seconds=10.0, max_attempts=3, backoff_seconds=1.0
)
SELECTION = {"verifiers": [{"type": "accuracy"}]}
LOST = NoResponse("ReadTimeout: timed out")


def scored(*groups: list[float | None]) -> Response:
    """A response with these scores; None is a verdict that failed."""
    completions = [
        [
            {
                "verdicts": {
                    "accuracy": {
                        "outcome": "failed" if value is None else "scored",
                        "score": value,
                        "reason": "worker_died" if value is None else "equal",
                    }
                }
            }
            for value in group
        ]
        for group in groups
    ]
    return answered(200, {"groups": [{"completions": group} for group in completions]})


def answered(status: int, body: Any = None, retry_after: str | None = None) -> Response:
    return Response("http://x/v1/score", status, json.dumps(body).encode(), retry_after)


def talk(
    *replies: Reply, access: ServiceAccess = ACCESS, groups: tuple[list[str], ...] = (["a"],)
) -> tuple[list[list[ScoredCompletion]], list[Request], list[Wait]]:
    """The result of scoring groups against these replies, the requests, and the waits."""
    asked = [CompletionGroup(group, {"answer": str(index)}) for index, group in enumerate(groups)]
    conversation, left = score(access, SELECTION, asked), list(replies)
    requests: list[Request] = []
    waits: list[Wait] = []
    reply: Reply | None = None
    try:
        while True:
            step = conversation.send(reply)
            reply = None
            if isinstance(step, Wait):
                waits.append(step)
            else:
                requests.append(step)
                reply = left.pop(0)
    except StopIteration as end:
        assert not left
        result: list[list[ScoredCompletion]] = end.value
        return result, requests, waits


def scores(found: list[list[ScoredCompletion]]) -> list[list[float | None]]:
    return [[one.verdicts["accuracy"].score for one in group] for group in found]


def test_attempts_are_counted_over_outages_and_failures_together() -> None:
    found, requests, waits = talk(LOST, scored([None]), scored([None]))
    assert scores(found) == [[None]]
    assert len(requests) == 3
    assert [wait.trouble for wait in waits] == [LOST.trouble, None]


def test_only_groups_with_failures_are_sent_again_and_what_was_judged_stays() -> None:
    found, requests, _ = talk(
        scored([1.0], [1.0, None]), scored([0.0, 0.5]), groups=(["a"], ["b", "c"])
    )
    assert scores(found) == [[1.0], [1.0, 0.5]]
    assert [len(request.body["groups"]) for request in requests if request.body] == [2, 1]


def test_an_outage_loses_no_verdict_that_came_before_it() -> None:
    found, _, _ = talk(scored([1.0, None]), LOST, LOST, groups=(["a", "b"],))
    assert scores(found) == [[1.0, None]]


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("7", 7.0),
        ("3600", 30.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 1.0),
        ("-7", 1.0),
        ("nan", 1.0),
        ("inf", 30.0),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_the_service_chooses_the_wait_within_limits(
    asked: str, seconds: float, status: int
) -> None:
    _, _, (wait,) = talk(answered(status, retry_after=asked), scored([1.0]))
    assert seconds / 2 <= wait.seconds <= seconds


@pytest.mark.parametrize(
    ("given", "environment", "advice"),
    [
        (None, None, "No key was sent: set REWARD_VERIFIER_API_KEY"),
        (None, "secret", "is the environment's REWARD_VERIFIER_API_KEY; it must be what"),
        ("secret", None, "is the argument api_key; it must be what new-key prints"),
        ("Bearer secret", None, "what new-key prints, without 'Bearer '"),
    ],
)
def test_a_refused_key_is_explained(
    monkeypatch: pytest.MonkeyPatch, given: str | None, environment: str | None, advice: str
) -> None:
    monkeypatch.delenv("REWARD_VERIFIER_API_KEY", raising=False)
    if environment:
        monkeypatch.setenv("REWARD_VERIFIER_API_KEY", environment)
    access = ServiceAccess("http://x", "url", 10.0, 3, 1.0, given)
    refused = answered(401, {"error": {"message": "a key is needed"}})
    with pytest.raises(VerifierUnauthorized, match="with 401: a key is needed") as error:
        talk(refused, access=access)
    assert advice in str(error.value)
    assert "secret" not in str(error.value)


def test_an_outage_names_the_setting_with_the_address() -> None:
    access = ServiceAccess("http://x", "reward.url", 10.0, 1, 1.0)
    with pytest.raises(VerifierUnavailable, match=r"after 1 attempt; .* is reward\.url right\?"):
        talk(LOST, access=access)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (3, "expected an object with groups, found 3"),
        ({"groups": {}}, r"groups must not be \{\}"),
        ({"groups": [{"completions": [{"verdicts": None}]}]}, "verdicts must not be None"),
        (
            {"groups": [{"completions": [{"verdicts": {"accuracy": {"outcome": "scored"}}}]}]},
            "reason must not be None",
        ),
        (
            {
                "groups": [
                    {
                        "completions": [
                            {"verdicts": {"a": {"outcome": "won", "reason": "luck"}}},
                        ]
                    }
                ]
            },
            "outcome 'won', expected one of",
        ),
        (scored([float("nan")]), "score nan is not finite"),
    ],
)
def test_a_response_that_is_no_verdicts_says_what_is_wrong_and_is_not_asked_for_again(
    body: Any, message: str
) -> None:
    with pytest.raises(VerifierNonsense, match=message):
        talk(body if isinstance(body, Response) else answered(200, body))


def test_the_core_imports_only_the_standard_library_and_httpx() -> None:
    imported = set()
    for path in (ROOT / "reward_verifier").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    assert imported - sys.stdlib_module_names == {"httpx", "reward_verifier"}


def test_the_protocol_is_imported_without_httpx() -> None:
    script = "import sys, reward_verifier.protocol; print('httpx' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "False\n"


def test_a_group_names_verifiers_or_a_profile() -> None:
    with pytest.raises(ValueError, match="give either `profile` or `verifiers` of a group"):
        CompletionGroup(["4"], {"answer": "4"}, verifiers=["accuracy"], profile="math")
    with pytest.raises(TypeError, match="expected a list of verifiers"):
        CompletionGroup(["4"], {"answer": "4"}, verifiers="accuracy")
    assert CompletionGroup(["4"], {}, verifiers=["accuracy"]).wire["verifiers"] == [
        {"type": "accuracy"}
    ]
