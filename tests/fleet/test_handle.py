"""`verifier_adapters.ray`: the same answers without HTTP, from a driver and from actors."""

from __future__ import annotations

import asyncio
import pickle
from contextlib import suppress
from typing import Any

import pytest

from examples import ray_rewards
from reward_verifier.completion_group import CompletionGroup
from reward_verifier.errors import VerifierRejected, VerifierUnavailable
from reward_verifier.verifier import Verifier
from tests.fleet.cluster import APPLICATION
from verifier_adapters import skyrl_gym, verl
from verifier_adapters.ray import ServeTransport, verifier_at

pytestmark = pytest.mark.fleet

URL = f"serve://{APPLICATION}"
RIGHT, WRONG = r"\boxed{4}", r"\boxed{5}"
GROUPS = [
    CompletionGroup([RIGHT, WRONG, "", "\ud7ff \U0001f600 {4}"], {"answer": "4"}),
    CompletionGroup([RIGHT], {}),
    CompletionGroup(["x" * 300_000 + RIGHT] * 5, {"answer": ["4", "5"]}),
]


def fields(scored: list[Any]) -> list[Any]:
    """The verdicts without their times."""
    return [
        [{name: verdict.facts for name, verdict in one.verdicts.items()} for one in group]
        for group in scored
    ]


def test_a_handle_answers_as_http_does(fleet_url: str) -> None:
    """The third group is more than a megabyte: it has a process of its own in the gateway."""
    over_http = Verifier(url=fleet_url).score_groups(GROUPS)
    handle = pickle.loads(pickle.dumps(verifier_at(URL)))
    assert fields(handle.score_groups(GROUPS)) == fields(over_http)
    assert fields(asyncio.run(handle.score_groups_async(GROUPS))) == fields(over_http)
    assert fields(list(handle.stream(GROUPS))) == fields(over_http)


def test_frameworks_take_the_address(fleet_url: str) -> None:
    for score in (
        verl.compute_score("math", RIGHT, "4", url=URL),
        asyncio.run(verl.compute_score_async("math", RIGHT, "4", url=URL)),
    ):
        assert (score["score"], score["reason"]) == (1.0, "equal")
    environment = skyrl_gym.VerifierEnv({"url": URL}, {"reward_spec": {"ground_truth": "4"}})
    assert environment.step(WRONG)["reward"] == 0.0


def test_the_example_scores_in_actors(fleet_url: str) -> None:
    assert ray_rewards.main(URL) == [[1.0, 0.0], [1.0, 1.0, 0.0]]


def test_a_refusal_is_that_of_http(fleet_url: str) -> None:
    wrong = {"verifiers": [{"type": "accurate"}]}
    messages = []
    for verifier in (
        Verifier(url=fleet_url, verifiers=wrong["verifiers"]),
        Verifier(
            url="http://localhost",
            verifiers=wrong["verifiers"],
            transport=ServeTransport(APPLICATION),
        ),
    ):
        with pytest.raises(VerifierRejected) as refused:
            verifier.score([RIGHT], {"answer": "4"})
        message, _, _ = str(refused.value).partition("(request id")
        messages.append(message.replace(fleet_url, "http://localhost"))
    assert messages[0] == messages[1]


def test_an_application_that_does_not_run_is_named(fleet_url: str) -> None:
    transport = ServeTransport("nobody")
    verifier = Verifier(url="http://localhost", max_attempts=1, transport=transport)
    with pytest.raises(VerifierUnavailable, match="nobody"):
        verifier.score([RIGHT], {"answer": "4"})


def test_what_a_time_limit_gives_up_is_an_error_and_ends(fleet_url: str) -> None:
    """A loop that went on would hold the workers of programs."""
    verifier = Verifier(
        url="http://localhost",
        profile="code",
        transport=ServeTransport(APPLICATION),
        timeout_seconds=0.2,
        max_attempts=1,
    )
    tests = {"tests": {"type": "stdio", "cases": [{"stdin": "", "stdout": "1\n"}]}}
    with suppress(VerifierUnavailable):  # or the fleet keeps the deadline that it is told
        (given_up,) = verifier.score(["```python\nwhile True: pass\n```"], tests)
        assert given_up.reward is None
    found = verifier_at(URL, profile="code").score(["```python\nprint(1)\n```"], tests)
    assert found[0].reward == 1.0
