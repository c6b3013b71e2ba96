"""Verdicts to rewards."""

from __future__ import annotations

import pytest

from reward_verifier.verdict import Verdict, Verdicts
from trainer_client.config.reward_sections import VerifierConfig
from trainer_client.errors import TrainingError
from trainer_client.reward.rewards import reward

VERIFIERS = [
    VerifierConfig(type="accuracy", weight=1.0),
    VerifierConfig(type="format", weight=0.1),
    VerifierConfig(type="tag_count", weight=0.05),
]


def verdicts(*scores: float | None) -> Verdicts:
    return {
        verifier.key: Verdict(
            outcome="scored" if score is not None else "unverifiable", score=score, reason="r"
        )
        for verifier, score in zip(VERIFIERS, scores, strict=True)
    }


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((1.0, 1.0, 1.0), 1.15),
        ((0.0, 1.0, 1.0), 0.15),
        ((0.0, 0.0, 0.5), 0.025),
        ((0.0, 1.0, 0.5), 0.125),
        ((0.0, 0.0, 0.0), 0.0),
    ],
)
def test_the_reward_is_the_weighted_sum(scores: tuple[float, ...], expected: float) -> None:
    assert reward(verdicts(*scores), VERIFIERS) == pytest.approx(expected, abs=1e-15)


def test_an_unjudged_completion_has_no_reward() -> None:
    assert reward(verdicts(None, 1.0, 1.0), VERIFIERS) is None


def test_a_verifier_without_weight_takes_no_part() -> None:
    watched = [VerifierConfig(type="accuracy", weight=0.0), *VERIFIERS[1:]]
    assert reward(verdicts(None, 1.0, 1.0), watched) == pytest.approx(0.15)


@pytest.mark.parametrize("score", [1e19, -1e19, 1.7e308])
def test_a_reward_whose_square_is_no_number_stops_the_run_with_its_scores(score: float) -> None:
    """Otherwise the advantages would be 0 or no numbers, and the learning rate would be blamed."""
    verdicts = {"brevity": Verdict(outcome="scored", score=score, reason="function")}
    source = VerifierConfig(type="regex", name="brevity", weight=10.0)
    with pytest.raises(TrainingError, match=r"a reward of .* cannot be trained on.*'brevity': "):
        reward(verdicts, [source])
