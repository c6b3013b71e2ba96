"""The client that people import, against the real service."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reward_verifier import (
    CompletionGroup,
    NoReward,
    Verifier,
    VerifierNonsense,
    VerifierRejected,
)

GROUPS = [
    CompletionGroup([rf"\boxed{{{number}}}", "nothing"], {"answer": str(number)})
    for number in range(40)
]


def test_a_stream_has_the_scores_of_a_whole_response(service_url: str) -> None:
    verifier = Verifier(service_url, verifiers=["accuracy", {"type": "format", "weight": 0.1}])
    found = [[one.reward for one in group] for group in verifier.stream(GROUPS)]
    assert found == [[one.reward for one in group] for group in verifier.score_groups(GROUPS)]
    assert found == [[1.0, 0.0]] * len(GROUPS)


def test_a_stream_can_be_awaited(service_url: str) -> None:
    async def collect() -> list[float | None]:
        async with Verifier(service_url) as verifier:
            return [group[0].reward async for group in verifier.stream_async(GROUPS)]

    assert asyncio.run(collect()) == [1.0] * len(GROUPS)


def test_a_compressed_body_is_judged_alike(service_url: str) -> None:
    long = "so " * 500_000 + r"\boxed{4}"
    right, wrong = Verifier(service_url).score([long, long + " or 5"], {"answer": "4"})
    assert (right.reward, wrong.verdicts["accuracy"].outcome) == (1.0, "scored")


def test_a_reference_that_does_not_permit_to_judge_is_no_0(service_url: str) -> None:
    (found,) = Verifier(service_url).score(["It is 4."], {"anwser": "4"})
    assert (found.reward, found.verdicts["accuracy"].outcome) == (None, "unverifiable")
    with pytest.raises(NoReward, match=r"missing_reference: .*there are: anwser"):
        found.require_reward()


def test_a_mistake_in_a_field_is_named(service_url: str) -> None:
    wrong = Verifier(service_url, verifiers=["acuracy"])
    with pytest.raises(VerifierRejected, match=r"422: verifiers\.0.*'accuracy'.*request id"):
        wrong.score(["4"], {"answer": "4"})


def test_an_address_with_a_path_is_explained(service_url: str) -> None:
    with pytest.raises(VerifierNonsense, match=r"no /v1/v1/score.*is url right"):
        Verifier(f"{service_url}/v1").score(["4"], {"answer": "4"})


def test_groups_choose_their_verifiers(service_url: str) -> None:
    letter = CompletionGroup(["<answer>B</answer>"], {"answer": "B"}, verifiers=["exact_match"])
    boxed = CompletionGroup([r"\boxed{4}"], {"answer": "4"}, profile="math")
    plain = CompletionGroup([r"\boxed{4}"], {"answer": "4"})
    verifier = Verifier(service_url, profile="accuracy")
    groups = [letter, boxed, plain]
    expected = [["exact_match"], ["accuracy", "format", "tag_count"], ["accuracy"]]
    assert [list(one.verdicts) for (one,) in verifier.score_groups(groups)] == expected
    assert [list(one.verdicts) for (one,) in verifier.stream(groups)] == expected


def test_completions_choose_their_verifiers(service_url: str) -> None:
    verifier = Verifier(service_url, profile="accuracy")
    selections = [None, {"verifiers": ["exact_match"]}]
    judged = verifier.judge(
        ["4", "<answer>4</answer>"], [{"answer": "4"}] * 2, selections=selections
    )
    assert [list(one.verdicts) for one in judged] == [["accuracy"], ["exact_match"]]


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0.0, -0.0)])
def test_neighbours_whose_references_python_calls_equal_are_judged_apart(
    service_url: str, one: Any, other: Any
) -> None:
    verifier = Verifier(service_url, verifiers=["exact_match"])
    answers, references = [str(one)] * 2, [{"answer": one}, {"answer": other}]
    alone = [verifier.judge([answers[n]], [references[n]])[0].reward for n in range(2)]
    assert [found.reward for found in verifier.judge(answers, references)] == alone
    assert alone[0] == 1
    assert alone[1] != 1
