"""POST /v1/score over HTTP, against the real service."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.verifier_service.poison import POISON
from verifier_service.engine.reward import reward, shares_of
from verifier_service.reason import EngineReason
from verifier_service.schemas import ScoreResponse
from verifier_service.verdict import Outcome, Verdict, failed, unverifiable
from verifier_service.verifiers.accuracy import Accuracy

RIGHT = "<think>\n...\n</think>\n<answer>\nx = 2\n</answer>"
WRONG = "<think>\n...\n</think>\n<answer>\n3\n</answer>"
HALF_THE_TAGS = "<think>\n...\n</think> 3"
THREE = [
    {"type": "accuracy", "weight": 1.0},
    {"type": "format", "weight": 0.1},
    {"type": "tag_count", "weight": 0.05},
]


def score(http: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """The answer, checked against the schema that the service documents."""
    response = http.post("/v1/score", json=body)
    assert response.status_code == 200, response.text
    ScoreResponse.model_validate_json(response.content)
    answer: dict[str, Any] = response.json()
    return answer


def verdicts(
    http: httpx.Client, verifier: dict[str, Any], *completions: Any, **reference: Any
) -> list[dict[str, Any]]:
    """The verdicts of one verifier on a group."""
    group = {"reference": reference, "completions": list(completions)}
    answer = score(http, {"verifiers": [verifier], "groups": [group]})
    return [next(iter(c["verdicts"].values())) for c in answer["groups"][0]["completions"]]


def test_the_wire_example_gets_its_verdicts(http: httpx.Client) -> None:
    group = {
        "id": "p17",
        "prompt": "Solve 2x + 3 = 7",
        "reference": {"answer": "2"},
        "completions": [RIGHT],
    }
    answer = score(http, {"verifiers": THREE, "groups": [group]})
    assert answer["groups"][0]["id"] == "p17"
    (completion,) = answer["groups"][0]["completions"]
    for verdict in completion["verdicts"].values():
        assert verdict.pop("seconds") >= 0
    assert completion == {
        "reward": 1.15,
        "verdicts": {
            "accuracy": {
                "outcome": "scored",
                "score": 1.0,
                "reason": "equal",
                "extracted": "x = 2",
            },
            "format": {"outcome": "scored", "score": 1.0, "reason": "matched"},
            "tag_count": {
                "outcome": "scored",
                "score": 1.0,
                "reason": "all_tags",
                "details": {"tags": 4},
            },
        },
    }


@pytest.mark.parametrize(
    ("completion", "expected"), [(RIGHT, 1.15), (WRONG, 0.15), (HALF_THE_TAGS, 0.025)]
)
def test_rewards_are_weighted_sums(http: httpx.Client, completion: str, expected: float) -> None:
    group = {"reference": {"answer": "2"}, "completions": [completion]}
    answer = score(http, {"verifiers": THREE, "groups": [group]})
    assert answer["groups"][0]["completions"][0]["reward"] == pytest.approx(expected, abs=1e-12)


def test_order_is_kept_over_many_groups(http: httpx.Client) -> None:
    sizes = [1, 0, 70, 3, 200, 33, 32, 31]
    groups = [
        {
            "id": str(number),
            "reference": {"answer": str(number)},
            "completions": [
                f"note {index}. The answer is ${number + index % 2}$" for index in range(size)
            ],
        }
        for number, size in enumerate(sizes)
    ]
    answer = score(http, {"verifiers": [{"type": "accuracy"}], "groups": groups})
    assert [group["id"] for group in answer["groups"]] == [group["id"] for group in groups]
    for number, size in enumerate(sizes):
        scores = [
            c["verdicts"]["accuracy"]["score"] for c in answer["groups"][number]["completions"]
        ]
        assert scores == [1.0 - index % 2 for index in range(size)]


def test_a_completion_may_be_a_text_a_chat_or_an_object(http: httpx.Client) -> None:
    chat = [
        {"role": "assistant", "content": "It is $7$."},
        {"role": "user", "content": "Sure?", "name": "ann"},
        {"role": "assistant", "content": "No, it is $2$."},
    ]
    found = verdicts(
        http,
        {"type": "accuracy"},
        "It is $2$.",
        chat,
        {"text": "It is $2$.", "num_tokens": 5, "truncated": False},
        answer="2",
    )
    assert [verdict["reason"] for verdict in found] == ["equal", "equal", "equal"]


def test_a_deadline_over_the_maximum_is_lowered_to_it(http: httpx.Client) -> None:
    groups = [{"reference": {"answer": "2"}, "completions": ["$2$"]}]
    body = {"verifiers": [{"type": "accuracy"}], "groups": groups, "deadline_seconds": 9999}
    (group,) = score(http, body)["groups"]
    assert group["completions"][0]["verdicts"]["accuracy"]["reason"] == "equal"


@pytest.mark.parametrize("answer", ["1/2", 0.5, ["7", "0.5"], "$\\frac{1}{2}$", "so ... #### 0.5"])
def test_a_reference_may_be_text_number_or_list(http: httpx.Client, answer: object) -> None:
    assert (
        verdicts(http, {"type": "accuracy"}, r"\boxed{\frac12}", answer=answer)[0]["score"] == 1.0
    )


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ({}, "missing_reference"),
        ({"answer": None}, "missing_reference"),
        ({"answer": ""}, "missing_reference"),
        ({"answer": []}, "missing_reference"),
        ({"answer": {"value": 2}}, "bad_reference"),
        ({"answer": [["2"]]}, "bad_reference"),
    ],
)
def test_a_useless_reference_is_unverifiable_and_harms_nothing_else(
    http: httpx.Client, reference: dict[str, Any], reason: str
) -> None:
    groups = [
        {"reference": reference, "completions": [RIGHT]},
        {"reference": {"answer": "2"}, "completions": [RIGHT]},
    ]
    useless, useful = score(http, {"verifiers": THREE, "groups": groups})["groups"]
    verdict = useless["completions"][0]["verdicts"]["accuracy"]
    assert (verdict["outcome"], verdict["score"], verdict["reason"]) == (
        "unverifiable",
        None,
        reason,
    )
    assert useless["completions"][0]["verdicts"]["format"]["score"] == 1.0
    assert useless["completions"][0]["reward"] is None
    assert useful["completions"][0]["reward"] == 1.15


def test_an_unjudged_verdict_without_weight_leaves_the_reward(http: httpx.Client) -> None:
    verifiers = [{"type": "accuracy", "weight": 0}, {"type": "format", "weight": 0.1}]
    answer = score(http, {"verifiers": verifiers, "groups": [{"completions": [RIGHT]}]})
    assert answer["groups"][0]["completions"][0]["reward"] == 0.1


def test_there_is_no_reward_where_every_weight_is_0(http: httpx.Client) -> None:
    """A sum of nothing would be 0, which is the reward of a wrong completion."""
    verifiers = [{"type": "accuracy", "weight": 0}, {"type": "format", "weight": 0}]
    groups = [
        {"reference": {"answer": "2"}, "completions": [RIGHT, WRONG]},
        {"completions": [RIGHT]},
    ]
    answer = score(http, {"verifiers": verifiers, "groups": groups})
    found = [one for group in answer["groups"] for one in group["completions"]]
    outcomes = [one["verdicts"]["accuracy"]["outcome"] for one in found]
    assert outcomes == ["scored", "scored", "unverifiable"]
    assert [one["reward"] for one in found] == [None, None, None]


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(Outcome.SCORED, 1.0, "equal", 0.0),
        unverifiable(EngineReason.MISSING_REFERENCE),
        failed(EngineReason.DEADLINE),
    ],
    ids=lambda verdict: verdict.outcome,
)
def test_no_verdict_without_weight_becomes_a_reward(verdict: Verdict) -> None:
    assert reward({"accuracy": verdict}, shares_of([Accuracy(weight=0)])) is None


@pytest.mark.parametrize("given", [{}, {"weight": None}], ids=["missing", "null"])
def test_a_missing_weight_is_1(http: httpx.Client, given: dict[str, Any]) -> None:
    verifiers = [{"type": "tag_count", **given}, {"type": "format", "weight": 0.1}]
    answer = score(http, {"verifiers": verifiers, "groups": [{"completions": [RIGHT]}]})
    assert answer["groups"][0]["completions"][0]["reward"] == 1.1


def test_one_type_can_be_used_twice_under_two_names(http: httpx.Client) -> None:
    verifiers = [{"type": "format"}, {"type": "format", "name": "loose", "mode": "open_r1"}]
    trailing = RIGHT + "\nand more"
    answer = score(http, {"verifiers": verifiers, "groups": [{"completions": [trailing]}]})
    found = answer["groups"][0]["completions"][0]["verdicts"]
    assert {name: verdict["score"] for name, verdict in found.items()} == {
        "format": 0.0,
        "loose": 1.0,
    }


def test_equal_completions_of_a_group_are_judged_once(http: httpx.Client) -> None:
    group = {"reference": {"answer": "2"}, "completions": [RIGHT, WRONG, RIGHT, RIGHT]}
    answer = score(http, {"verifiers": THREE, "groups": [group, group]})
    assert answer["stats"]["completions"] == 8
    assert answer["stats"]["deduplicated"] == 6
    first, _, third, _ = answer["groups"][0]["completions"]
    assert first == third  # `seconds` included


def test_the_same_request_gives_the_same_verdicts(http: httpx.Client) -> None:
    def once() -> list[dict[str, Any]]:
        found = verdicts(http, {"type": "accuracy"}, RIGHT, WRONG, "", r"\boxed{2.0}", answer="2")
        for verdict in found:
            del verdict["seconds"]
        return found

    assert once() == once()


def test_what_is_not_judged_by_the_deadline_is_failed(http: httpx.Client) -> None:
    endless = POISON.replace("9", "8", 1)  # not one whose verdict is known already
    group = {"reference": {"answer": "2"}, "completions": [RIGHT, endless]}
    body = {"verifiers": THREE, "groups": [group], "deadline_seconds": 1.0}
    normal, poisoned = score(http, body)["groups"][0]["completions"]
    verdict = poisoned["verdicts"]["accuracy"]
    assert (verdict["outcome"], verdict["score"], verdict["reason"]) == ("failed", None, "deadline")
    assert poisoned["verdicts"]["format"]["reason"] == "missing_tag"
    assert poisoned["reward"] is None
    assert normal["reward"] == 1.15  # what was judged by then counts


def test_no_verdict_is_missing_however_short_the_deadline(http: httpx.Client) -> None:
    group = {"reference": {"answer": "2"}, "completions": [f"${n}$" for n in range(500)]}
    body = {"verifiers": THREE, "groups": [group], "deadline_seconds": 1e-6}
    completions = score(http, body)["groups"][0]["completions"]
    assert [set(c["verdicts"]) for c in completions] == [{"accuracy", "format", "tag_count"}] * 500


@pytest.mark.parametrize(
    "groups",
    [
        [],
        [{"completions": []}],
        [{"prompt": [{"role": "user", "content": "?"}], "completions": ["$2$"]}],
        [{"prompt": "?", "reference": {"unknown": {"nested": [1]}}, "completions": ["$2$"]}],
    ],
)
def test_unusual_groups_are_fine(http: httpx.Client, groups: list[dict[str, Any]]) -> None:
    answer = score(http, {"verifiers": [{"type": "format"}], "groups": groups})
    assert [len(g["completions"]) for g in answer["groups"]] == [
        len(g["completions"]) for g in groups
    ]
    assert all("id" not in group for group in answer["groups"])
