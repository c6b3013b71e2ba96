"""`Accept: application/x-ndjson`: a line for each group as it is done."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.verifier_service.test_large_requests import large_body, without_seconds
from verifier_service.requests.reception import SMALL_BODY_BYTES

NDJSON = {"Accept": "application/x-ndjson"}
POISON = r"\boxed{9^{9^{9^{9}}}}"


def lines(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.mark.parametrize("num_groups", [2, 40], ids=["here", "in a process of its own"])
def test_the_lines_are_the_groups_of_the_whole_answer(http: httpx.Client, num_groups: int) -> None:
    body = large_body(num_groups)
    body["groups"].append({"id": "empty", "completions": []})
    *groups, last = lines(http.post("/v1/score", json=body, headers=NDJSON))
    whole = http.post("/v1/score", json=body).json()
    in_order = sorted(groups, key=lambda group: int(group["index"]))
    assert [group.pop("index") for group in in_order] == list(range(num_groups + 1))
    assert without_seconds(in_order) == without_seconds(whole["groups"])
    assert last["stats"]["completions"] == whole["stats"]["completions"]


@pytest.mark.parametrize("padding", [0, SMALL_BODY_BYTES], ids=["here", "in a process"])
def test_a_group_does_not_wait_for_one_that_takes_long(http: httpx.Client, padding: int) -> None:
    """Only what shares its task waits with it: at most one group more."""
    verifiers = [{"type": "accuracy", "mode": "math_verify"}]
    slow = {"id": "slow", "reference": {"answer": "2"}, "completions": [f"{padding} {POISON}"]}
    quick = [
        {"id": f"q{n}", "reference": {"answer": "2"}, "completions": [f"{n} {k}" for k in range(9)]}
        for n in range(9)
    ]
    body = {"verifiers": verifiers, "groups": [slow, *quick]}
    body["groups"][-1]["prompt"] = "x" * padding  # type: ignore[index]
    found = lines(http.post("/v1/score", json=body, headers=NDJSON))
    order = [group["id"] for group in found[:-1]]
    assert order.index("slow") >= 8


def test_an_error_is_an_error_and_no_stream(http: httpx.Client) -> None:
    answer = http.post("/v1/score", json={"verifiers": [], "groups": []}, headers=NDJSON)
    assert (answer.status_code, answer.json()["error"]["type"]) == (422, "invalid_request")


def test_a_deadline_ends_a_stream_with_every_group_in_it(http: httpx.Client) -> None:
    body = {
        "verifiers": [{"type": "accuracy", "mode": "math_verify"}],
        "deadline_seconds": 0.5,
        "groups": [{"reference": {"answer": "2"}, "completions": [f"late {POISON}", "2"]}] * 3,
    }
    found = lines(http.post("/v1/score", json=body, headers=NDJSON))
    assert sorted(group["index"] for group in found[:-1]) == [0, 1, 2]
    reasons = [c["verdicts"]["accuracy"]["reason"] for g in found[:-1] for c in g["completions"]]
    assert "deadline" in reasons
