"""Many clients at once, each with a group of long completions: answered, or told when to return."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from trainer_client.service_process import running_service

NUM_CLIENTS = 256
GROUP_SIZE = 16
MAX_PENDING = 32 * GROUP_SIZE
NO_TIMEOUT_SECONDS = 600.0
"""Longer than any machine needs: a response that does not come fails the test."""


@dataclass(frozen=True)
class Answer:
    """The response to one request."""

    status: int
    retry_after: str | None
    rewards: list[float | None]


def body(client: int) -> bytes:
    """A group of long completions that no other client has; every second one is right."""
    reasoning = f"<think>client {client}: " + "so we go on, step by step. " * 200
    completions = [
        f"{reasoning} {number}</think>\n\\boxed{{{4 + number % 2}}}" for number in range(GROUP_SIZE)
    ]
    group = {"reference": {"answer": "4"}, "completions": completions}
    return json.dumps({"verifiers": [{"type": "accuracy"}], "groups": [group]}).encode()


def ask(connection: HTTPConnection, content: bytes) -> Answer:
    connection.request("POST", "/v1/score", content, {"Content-Type": "application/json"})
    response = connection.getresponse()
    found = json.loads(response.read())
    groups = found.get("groups", [])
    rewards = [one["reward"] for group in groups for one in group["completions"]]
    return Answer(response.status, response.getheader("Retry-After"), rewards)


@pytest.mark.slow
def test_clients_beyond_the_bound_are_told_when_to_return_and_nobody_waits_in_vain(
    tmp_path: Path,
) -> None:
    flags = ["--workers", "1", "--enabled", "accuracy"]
    flags += ["--max-pending-completions", str(MAX_PENDING)]
    together = threading.Barrier(NUM_CLIENTS)
    returning = threading.Lock()

    with running_service(tmp_path / "service.log", *flags) as url:

        def call(client: int) -> list[Answer]:
            connection = HTTPConnection(urlsplit(url).netloc, timeout=NO_TIMEOUT_SECONDS)
            content = body(client)
            answers = []
            try:
                connection.connect()
                together.wait()
                answers.append(ask(connection, content))
                with returning:
                    while answers[-1].status != HTTPStatus.OK:
                        answers.append(ask(connection, content))
            finally:
                connection.close()
            return answers

        with ThreadPoolExecutor(NUM_CLIENTS) as threads:
            calls = list(threads.map(call, range(NUM_CLIENTS)))

    answers = [answer for call in calls for answer in call]
    assert {answer.status for answer in answers} == {
        HTTPStatus.OK,
        HTTPStatus.SERVICE_UNAVAILABLE,
    }
    refused = [one for one in answers if one.status == HTTPStatus.SERVICE_UNAVAILABLE]
    assert {one.retry_after for one in refused} == {"1"}
    assert all(call[-1].rewards == [1.0, 0.0] * (GROUP_SIZE // 2) for call in calls)
