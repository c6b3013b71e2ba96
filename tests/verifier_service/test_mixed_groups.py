"""Groups that name verifiers or a profile of their own, in one request."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.verifier_service.test_large_requests import without_seconds
from tests.verifier_service.test_score import score
from verifier_service.engine.mixed_scoring import CHOICES_AT_ONCE

BOXED = {"reference": {"answer": "2"}, "completions": [r"\boxed{2}", r"\boxed{3}"]}
LETTER = {
    "reference": {"answer": "B"},
    "completions": ["<answer>B</answer>", "<answer>C</answer>"],
    "verifiers": [{"type": "exact_match", "name": "letter", "weight": 0.5}],
}
MATH = {**BOXED, "profile": "math"}


def rewards(answer: dict[str, Any]) -> list[list[float | None]]:
    return [[one["reward"] for one in group["completions"]] for group in answer["groups"]]


def names(answer: dict[str, Any]) -> list[list[str]]:
    return [list(group["completions"][0]["verdicts"]) for group in answer["groups"]]


def test_each_group_is_judged_by_its_own_verifiers(http: httpx.Client) -> None:
    body = {"verifiers": [{"type": "accuracy", "weight": 2.0}], "groups": [BOXED, LETTER, MATH]}
    answer = score(http, body)
    assert names(answer) == [["accuracy"], ["letter"], ["accuracy", "format", "tag_count"]]
    assert rewards(answer) == [[2.0, 0.0], [0.5, 0.0], [1.0, 0.0]]


def test_a_request_needs_no_verifiers_where_every_group_has_its_own(http: httpx.Client) -> None:
    answer = score(http, {"groups": [LETTER, MATH]})
    assert rewards(answer) == [[0.5, 0.0], [1.0, 0.0]]


def test_mixed_groups_have_the_verdicts_that_they_have_alone(http: httpx.Client) -> None:
    groups = [LETTER, MATH, {**BOXED, "verifiers": [{"type": "accuracy"}]}, MATH, LETTER]
    mixed = score(http, {"groups": groups})
    alone = [score(http, {"groups": [group]})["groups"][0] for group in groups]
    assert without_seconds(mixed["groups"]) == without_seconds(alone)


def test_stats_tell_of_each_profile(http: httpx.Client) -> None:
    unusable = {"profile": "accuracy", "reference": {}, "completions": ["2"]}
    groups = [BOXED, MATH, MATH, LETTER, unusable]
    stats = score(http, {"profile": "accuracy", "groups": groups})["stats"]
    assert stats["profiles"] == {
        "accuracy": {"completions": 3, "rewarded": 2, "mean_reward": 0.5},
        "math": {"completions": 4, "rewarded": 4, "mean_reward": 0.5},
    }
    assert stats["completions"] == 9


def test_stats_without_profiles_of_groups_are_as_before(http: httpx.Client) -> None:
    stats = score(http, {"profile": "math", "groups": [BOXED]})["stats"]
    assert sorted(stats) == ["completions", "deduplicated", "seconds"]


def test_lines_come_for_each_group_and_the_stats_last(http: httpx.Client) -> None:
    body = {"profile": "accuracy", "groups": [BOXED, LETTER, MATH]}
    lines = http.post("/v1/score", json=body, headers={"Accept": "application/x-ndjson"})
    *groups, last = [json.loads(line) for line in lines.text.splitlines()]
    groups.sort(key=lambda group: group["index"])
    assert rewards({"groups": groups}) == [[1.0, 0.0], [0.5, 0.0], [1.0, 0.0]]
    assert last["stats"]["profiles"]["math"]["completions"] == 2


@pytest.mark.parametrize("encoding", ["small", "light", "large"])
def test_requests_of_any_size_are_judged_alike(http: httpx.Client, encoding: str) -> None:
    long = "So we add. " * {"small": 1, "light": 4000, "large": 4000}[encoding]
    pattern = {"type": "regex", "pattern": "a" + "b?" * 40}  # a text that a light body cuts out
    groups = [
        {**BOXED, "completions": [long + r"\boxed{2}", long]},
        {**LETTER, "completions": [long + "<answer>B</answer>"]},
        {"completions": [long + "a"], "verifiers": [pattern], "id": "r"},
    ]
    if encoding == "large":
        groups += [{**MATH, "id": str(number)} for number in range(600)]
    answer = score(http, {"profile": "accuracy", "groups": groups})
    assert rewards(answer)[:3] == [[1.0, 0.0], [0.5], [1.0]]
    assert all(one == [1.0, 0.0] for one in rewards(answer)[3:])


def test_many_groups_may_each_have_options_of_their_own(http: httpx.Client) -> None:
    num_groups = 3 * CHOICES_AT_ONCE
    groups = [
        {"completions": [f"{n}", "x"], "verifiers": [{"type": "regex", "pattern": f"^{n}$"}]}
        for n in range(num_groups)
    ]
    assert rewards(score(http, {"groups": groups})) == [[1.0, 0.0]] * num_groups


def test_a_group_without_completions_has_its_line(http: httpx.Client) -> None:
    answer = score(http, {"profile": "math", "groups": [{"completions": []}, LETTER]})
    assert [len(group["completions"]) for group in answer["groups"]] == [0, 2]


def test_verifiers_of_whole_groups_work_beside_others(http: httpx.Client) -> None:
    shorter = {**BOXED, "completions": [r"\boxed{2}", r"so \boxed{2}"]}
    by_length = {**shorter, "verifiers": [{"type": "length"}]}
    answer = score(http, {"profile": "accuracy", "groups": [shorter, by_length]})
    assert rewards(answer) == [[1.0, 1.0], [0.5, -0.5]]


def test_explanations_come_for_groups_of_any_verifiers(http: httpx.Client) -> None:
    answer = score(http, {"profile": "accuracy", "explain": True, "groups": [BOXED, LETTER]})
    letter = answer["groups"][1]["completions"][0]["verdicts"]["letter"]
    assert letter["explanation"]["spans"] == [{"start": 8, "end": 9}]


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({"groups": [BOXED]}, "body", "give either `verifiers` or `profile`, here or in every"),
        ({"groups": [LETTER, BOXED]}, "body", "here or in every group"),
        ({"groups": []}, "body", "give either `verifiers` or `profile`"),
        ({"groups": [{**LETTER, "profile": "math"}]}, "groups.0", "give either"),
        (
            {"groups": [{**BOXED, "verifiers": [{"type": "acuracy"}]}]},
            "groups.0.verifiers.0",
            "did you mean 'accuracy'?",
        ),
        (
            {"groups": [LETTER, {**BOXED, "verifiers": [{"type": "accuracy", "tolerence": 1}]}]},
            "groups.1.verifiers.0.tolerence",
            "no option of accuracy",
        ),
        ({"groups": [{**BOXED, "verifiers": []}]}, "groups.0.verifiers", "at least 1 item"),
    ],
)
def test_a_wrong_choice_is_refused_before_anything_runs(
    http: httpx.Client, body: dict[str, Any], field: str, message: str
) -> None:
    response = http.post("/v1/score", json=body)
    assert response.status_code == 422
    (detail,) = response.json()["error"]["details"]
    assert detail["field"] == field
    assert message in detail["message"]


def test_an_unknown_profile_of_a_group_is_refused_by_name(http: httpx.Client) -> None:
    response = http.post("/v1/score", json={"groups": [{**BOXED, "profile": "maths"}]})
    assert response.status_code == 422
    assert response.json()["error"]["message"].startswith("groups.0: no profile 'maths'")
