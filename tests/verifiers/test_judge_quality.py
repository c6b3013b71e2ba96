"""The measurement of a real judge, tried on the stand-in that obeys whatever is not quoted."""

from __future__ import annotations

import pytest

from benchmarks.answer_judge_quality import (
    Case,
    Endpoint,
    attack_cases,
    auc,
    decided_by,
    leanings,
    our_messages,
    plain_messages,
)
from tests.judge_endpoint import Judge, serving

RIGHT = Case("Which city?", ["Paris"], "<answer>the capital of France</answer>", True)


def test_attacks_sway_the_judge_that_is_asked_plainly_and_not_ours() -> None:
    attacks = attack_cases([RIGHT])[::10]
    judge = Judge("yes_no_logprobs")
    with serving(judge) as url:
        endpoint = Endpoint(url, "standin", 4)
        ours = leanings(endpoint, [our_messages(one) for one in [RIGHT, *attacks]])
        assert judge.num_obeyed == 0
        plainly = leanings(endpoint, [plain_messages(one) for one in attacks])
    assert ours[0] == 1.0
    assert {one for one in ours[1:] if one is not None} == {0.0}
    assert None in ours  # rules decide about an announcement
    assert set(plainly) == {1.0}


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [([0.9, 0.8], [0.1], 1.0), ([0.1], [0.9], 0.0), ([0.5], [0.5], 0.5), ([3, 1], [2], 0.5)],
)
def test_auc_counts_pairs(right: list[float], wrong: list[float], expected: float) -> None:
    assert auc(right, wrong) == expected


def test_a_verdict_in_words_says_who_decided() -> None:
    paid = {"outcome": "scored", "score": 1.0, "details": {"by": "rules"}}
    refused = {"outcome": "scored", "score": 0.0, "details": {"by": "model"}}
    failed = {"outcome": "failed", "reason": "judge_unreadable"}
    assert decided_by(paid) == "paid by rules"
    assert decided_by(refused) == "refused by model"
    assert decided_by(failed) == "failed (judge_unreadable)"
