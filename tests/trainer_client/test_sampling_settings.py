"""Settings that change the distribution of tokens, or end completions, in every engine."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import MinPLogitsWarper, RepetitionPenaltyLogitsProcessor, TopKLogitsWarper

from tests.trainer_client.device import DEVICE
from tests.trainer_client.runs import plain_sampling
from tests.trainer_client.sampling_server import sampling_server
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.rollout_section import VllmServerConfig
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.problems import Problem
from trainer_client.rollout import Rollout, RolloutGroup, Sampling
from trainer_client.rollout.distribution import drawn_probabilities
from trainer_client.rollout.stop_texts import StopTexts, finished_rollout
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.rollout.vllm_server import VllmServerEngine

PROBLEMS = [
    Problem(text, ({"role": "user", "content": text},), {}) for text in ("1+2=?", "11+222+3=?")
]
PLAIN = plain_sampling(4, 8)
ALL = replace(PLAIN, temperature=0.7, top_p=0.9, top_k=6, min_p=0.02, repetition_penalty=1.4)


@pytest.fixture
def policy(task: Path) -> Policy:
    return load_policy(ModelConfig(path=str(task / "model"), device=DEVICE))


def by_definition(logits: list[float], seen: set[int], sampling: Sampling) -> list[float]:
    """The probability of each token, from the definitions of the settings, one after another."""
    scores = [
        (score / sampling.repetition_penalty if score > 0 else score * sampling.repetition_penalty)
        if token in seen
        else score
        for token, score in enumerate(logits)
    ]
    scores = [score / sampling.temperature for score in scores]
    weights = [math.exp(score - max(scores)) for score in scores]
    weights = [weight if weight >= sampling.min_p * max(weights) else 0.0 for weight in weights]
    likeliest = sorted(weights, reverse=True)[: sampling.top_k]
    weights = [weight if weight >= likeliest[-1] else 0.0 for weight in weights]
    total, kept, share = math.fsum(weights), 0.0, 0.0
    for weight in sorted(weights, reverse=True):
        if share >= sampling.top_p * total:
            break
        share, kept = share + weight, weight
    weights = [weight if weight >= kept else 0.0 for weight in weights]
    return [weight / math.fsum(weights) for weight in weights]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"temperature": 0.6},
        {"top_k": 5},
        {"top_k": 500},
        {"min_p": 0.2},
        {"top_p": 0.7},
        {"repetition_penalty": 1.5},
        {"repetition_penalty": 0.8},
        {"temperature": 1.3, "top_k": 9, "min_p": 0.1, "top_p": 0.8, "repetition_penalty": 1.2},
    ],
)
def test_the_drawn_distribution_is_that_of_the_definitions(changes: dict[str, Any]) -> None:
    torch.manual_seed(0)
    logits = 3 * torch.randn(20, 40)
    seen = torch.rand(20, 40) < 0.2
    sampling = replace(PLAIN, **changes)
    probabilities = drawn_probabilities(
        logits, sampling, seen if sampling.repetition_penalty != 1 else None
    )
    for row in range(20):
        tokens = set(seen[row].nonzero()[:, 0].tolist())
        expected = by_definition(logits[row].tolist(), tokens, sampling)
        assert probabilities[row].tolist() == pytest.approx(expected, abs=1e-6)


def test_each_setting_is_that_of_transformers() -> None:
    torch.manual_seed(0)
    logits = 3 * torch.randn(20, 40)
    ids = torch.randint(40, (20, 6))
    seen = torch.zeros(20, 40, dtype=torch.bool).scatter(1, ids, value=True)
    for sampling, processor in [
        (replace(PLAIN, top_k=5), TopKLogitsWarper(5)),
        (replace(PLAIN, min_p=0.2), MinPLogitsWarper(0.2)),
        (replace(PLAIN, repetition_penalty=1.5), RepetitionPenaltyLogitsProcessor(1.5)),
    ]:
        ours = drawn_probabilities(
            logits, sampling, seen if sampling.repetition_penalty != 1 else None
        )
        theirs = processor(ids, logits.clone()).softmax(-1)
        torch.testing.assert_close(ours, theirs)


def generate(policy: Policy, sampling: Sampling) -> list[Rollout]:
    torch.manual_seed(0)
    groups: dict[int, RolloutGroup] = {}
    engine = TransformersEngine(policy, batch_size=64)
    engine.generate(PROBLEMS, sampling, lambda index, group: groups.update({index: group}))
    return [rollout for index in sorted(groups) for rollout in groups[index].rollouts]


@torch.no_grad()
def test_sampler_logprobs_are_those_of_the_distribution_that_is_drawn_from(policy: Policy) -> None:
    """Both prompts are compared; the shorter is padded, and padding is no token that was seen."""
    for rollout in generate(policy, ALL):
        ids = torch.tensor([rollout.prompt_ids + rollout.completion_ids], device=policy.device)
        logits = policy.model(ids).logits[0].double()
        for place, token in enumerate(rollout.completion_ids):
            before = len(rollout.prompt_ids) + place
            expected = by_definition(
                logits[before - 1].tolist(), set(ids[0, :before].tolist()), ALL
            )
            assert math.exp(rollout.sampler_logprobs[place]) == pytest.approx(
                expected[token], rel=1e-3
            )


def test_a_top_k_of_one_is_greedy(policy: Policy) -> None:
    greedy = generate(policy, replace(PLAIN, temperature=0.0))
    cut = generate(policy, replace(PLAIN, top_k=1))
    assert [one.completion_ids for one in cut] == [one.completion_ids for one in greedy]
    assert {logprob for one in cut for logprob in one.sampler_logprobs} == {0.0}


@pytest.fixture
def stops(policy: Policy) -> tuple[str, ...]:
    """Texts in the middle of completions that are sampled without them."""
    texts = [rollout.text for rollout in generate(policy, PLAIN)]
    return texts[0][2:4], texts[5][3]


def check_stopped(rollouts: list[Rollout], whole: list[Rollout], stops: tuple[str, ...]) -> None:
    """Completions end with the first text that stops; what never has one is as it was."""
    ended = 0
    for rollout, other in zip(rollouts, whole, strict=True):
        length = len(rollout.completion_ids)
        assert rollout.completion_ids == other.completion_ids[:length]
        assert rollout.sampler_logprobs == pytest.approx(other.sampler_logprobs[:length], abs=1e-5)
        if any(text in other.text for text in stops):
            ended += 1
            assert not rollout.truncated
            assert any(rollout.text.endswith(text) for text in stops)
            assert not any(text in rollout.text[:-1] for text in stops)
        else:
            assert rollout == other
    assert ended >= 2


def test_a_text_ends_a_completion_and_stays_in_it(policy: Policy, stops: tuple[str, ...]) -> None:
    sampled = generate(policy, replace(PLAIN, stop=stops))
    assert any(not one.truncated and any(map(one.text.endswith, stops)) for one in sampled)
    for one in sampled:
        assert not any(text in one.text[:-1] for text in stops)
        assert one.truncated == (
            not any(map(one.text.endswith, stops)) and one.completion_ids[-1] not in policy.eos_ids
        )


@pytest.mark.slow
def test_completions_of_a_server_are_cut_off_after_the_text(
    task: Path, policy: Policy, tmp_path: Path
) -> None:
    """The server is not told: it has token ids alone."""
    with sampling_server(str(task / "model")) as (url, _):
        engine = VllmServerEngine(policy, VllmServerConfig(urls=(url,)), weights_dir=tmp_path)
        engine.update_weights()

        def sample(sampling: Sampling) -> list[Rollout]:
            groups: dict[int, RolloutGroup] = {}
            engine.generate(PROBLEMS, sampling, lambda i, group: groups.update({i: group}))
            return [one for index in sorted(groups) for one in groups[index].rollouts]

        seeded = replace(PLAIN, seed=3, max_completion_tokens=24)
        whole = sample(seeded)
        stops = (whole[0].text[4:6], whole[5].text[3:5])
        check_stopped(sample(replace(seeded, stop=stops)), whole, stops)
        engine.close()


def test_a_text_is_found_at_the_token_that_completes_it() -> None:
    words = ["a", "</ans", "wer>", "b", "<", "/answer>\n"]

    def decode(ids: Any) -> str:
        return "".join(words[index] for index in ids)

    stops = StopTexts(("</answer>",), decode)
    assert stops.length_to_end([0, 1, 2, 3, 4, 5]) == 3
    assert stops.length_to_end([0, 1, 3, 4, 5, 0]) == 5
    assert stops.length_to_end([0, 1, 3]) is None
    assert not StopTexts((), decode)


def test_a_completion_without_the_text_stays_whole(policy: Policy) -> None:
    stops = StopTexts(("no such text",), policy.decode)
    rollout = finished_rollout(policy, [1], [5, 6], [-1.0, -2.0], stops)
    assert (rollout.completion_ids, rollout.truncated) == ((5, 6), True)
