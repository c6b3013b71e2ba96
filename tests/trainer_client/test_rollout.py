"""Rollouts of a real, tiny model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    Lfm2Config,
    LlamaConfig,
    MistralConfig,
    PretrainedConfig,
    Qwen2Config,
)

from tests.trainer_client.device import DEVICE
from tests.trainer_client.nucleus import cut_logprobs
from tests.trainer_client.runs import plain_sampling
from tests.trainer_client.test_packing import SHAPE
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.policy.logprobs import token_logprobs
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.problems import Problem
from trainer_client.rollout import RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.update.batch import make_batch, micro_batches

PROBLEMS = [
    Problem(text, ({"role": "user", "content": text},), {}) for text in ("1+2=?", "11+222+3=?", "?")
]


@pytest.fixture
def policy(task: Path) -> Policy:
    return load_policy(ModelConfig(path=str(task / "model"), device=DEVICE))


def generate(policy: Policy, sampling: Sampling, *, batch_size: int = 64) -> list[RolloutGroup]:
    torch.manual_seed(0)
    groups: dict[int, RolloutGroup] = {}

    def receive(index: int, group: RolloutGroup) -> None:
        assert index not in groups
        groups[index] = group

    TransformersEngine(policy, batch_size=batch_size).generate(PROBLEMS, sampling, receive)
    return [groups[index] for index in range(len(PROBLEMS))]


def prefer_eos(policy: Policy) -> None:
    """Make completions end at random places, at about every fifth token."""
    embeddings = policy.model.get_output_embeddings().weight
    with torch.no_grad():
        embeddings[policy.eos_ids[0]] *= 12


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_sampler_logprobs_equal_the_policys(policy: Policy, temperature: float) -> None:
    """Rows that had ended left the batch before; the others are not mixed up by it."""
    prefer_eos(policy)
    groups = generate(policy, plain_sampling(8, 24, temperature=temperature))
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    batch = make_batch(rollouts, [0.0] * len(rollouts), pad_id=policy.pad_id, device=policy.device)
    for part in micro_batches(batch.attention_mask, max_tokens=80):
        logprobs = token_logprobs(
            policy.model,
            part.take(batch.input_ids),
            part.take(batch.attention_mask),
            part.take(batch.completion_mask),
            temperature=temperature,
        ).logprobs
        torch.testing.assert_close(
            logprobs, part.take(batch.sampler_logprobs), atol=1e-5, rtol=1e-5
        )


def test_with_top_p_they_are_those_of_the_cut_distribution(policy: Policy) -> None:
    """The probability of a token is its share of the likeliest ones that make up top_p."""
    prefer_eos(policy)
    for group in generate(policy, Sampling(4, 12, temperature=0.5, top_p=0.6)):
        for rollout in group.rollouts:
            expected = cut_logprobs(policy, rollout, temperature=0.5, top_p=0.6)
            assert rollout.sampler_logprobs == pytest.approx(expected.tolist(), abs=1e-4)


def test_weights_that_have_diverged_are_an_error_and_no_completion(policy: Policy) -> None:
    with torch.no_grad():
        policy.model.get_output_embeddings().weight[3] = float("nan")
    with pytest.raises(RolloutError, match="its weights have diverged"):
        generate(policy, plain_sampling(2, 4))


def test_completions_that_have_ended_leave_the_batch(policy: Policy) -> None:
    """No forward has more than twice the rows that still grow, or one; prompts are read once."""
    prefer_eos(policy)
    rows: list[int] = []
    forward = policy.model.forward

    def counted(*args: object, **kwargs: Any) -> object:
        rows.append(len(kwargs["input_ids"]))
        return forward(*args, **kwargs)

    policy.model.forward = counted
    groups = generate(policy, plain_sampling(16, 40))
    lengths = [len(r.completion_ids) for group in groups for r in group.rollouts]
    assert rows.pop(0) == len(PROBLEMS)
    assert len(rows) == max(lengths) > 10
    for position, count in enumerate(rows):
        growing = sum(length > position for length in lengths)
        assert growing <= count < 2 * growing or count == 1
    assert rows[0] == 48
    assert rows[-1] < 24


ARCHITECTURES: dict[str, Callable[..., PretrainedConfig]] = {
    "all tokens": LlamaConfig,
    "window": partial(MistralConfig, sliding_window=4),
    "window in some layers": partial(
        Qwen2Config, use_sliding_window=True, sliding_window=4, max_window_layers=1
    ),
    "states instead of tokens": partial(Lfm2Config, layer_types=["conv", "full_attention"]),
}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_prompt_that_is_read_once_gives_what_reading_it_for_each_completion_gives(
    policy: Policy, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weights are float64, so that the order of a sum does not decide about a token."""
    config = ARCHITECTURES[name](**{**SHAPE, "vocab_size": len(policy.tokenizer)})
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).eval().double().to(policy.device)
    model.generation_config = policy.model.generation_config
    of_config = replace(policy, model=model)
    prefer_eos(of_config)
    sampling = plain_sampling(4, 12)
    once = generate(of_config, sampling)
    monkeypatch.setattr(TransformersEngine, "_read_once", lambda *_: None)
    for one, each in zip(once, generate(of_config, sampling), strict=True):
        for own, other in zip(one.rollouts, each.rollouts, strict=True):
            assert own.completion_ids == other.completion_ids
            assert own.sampler_logprobs == pytest.approx(other.sampler_logprobs, abs=1e-6)


def test_completions_end_with_eos_or_are_truncated(policy: Policy) -> None:
    prefer_eos(policy)
    rollouts = [r for group in generate(policy, plain_sampling(16, 6)) for r in group.rollouts]
    assert {rollout.truncated for rollout in rollouts} == {True, False}
    for rollout in rollouts:
        ends = [token in policy.eos_ids for token in rollout.completion_ids]
        assert ends == [False] * (len(ends) - 1) + [not rollout.truncated]
        assert len(rollout.sampler_logprobs) == len(rollout.completion_ids) <= 6
        assert "<eos>" not in rollout.text


def test_a_group_is_handed_over_before_others_have_ended(policy: Policy) -> None:
    prefer_eos(policy)
    calls: list[int] = []
    forward = policy.model.forward

    def counted(*args: object, **kwargs: object) -> object:
        calls.append(1)
        return forward(*args, **kwargs)

    policy.model.forward = counted
    forwards: list[int] = []
    torch.manual_seed(1)
    TransformersEngine(policy, batch_size=64).generate(
        PROBLEMS,
        plain_sampling(2, 40),
        lambda index, group: forwards.append(len(calls)),
    )
    assert len(forwards) == len(PROBLEMS)
    assert forwards[0] < forwards[-1]


def test_a_groups_rollouts_share_its_problem_and_prompt(policy: Policy) -> None:
    for problem, group in zip(
        PROBLEMS,
        generate(policy, plain_sampling(2, 3), batch_size=2),
        strict=True,
    ):
        assert group.problem == problem
        expected = tuple(policy.prompt_ids(problem.messages))
        assert {rollout.prompt_ids for rollout in group.rollouts} == {expected}


def test_the_models_own_sampling_defaults_are_not_used(task: Path, tmp_path: Path) -> None:
    source = load_policy(ModelConfig(path=str(task / "model"), device=DEVICE))
    source.model.generation_config.do_sample = True
    source.model.generation_config.top_k = 1
    source.model.generation_config.repetition_penalty = 5.0
    source.save(tmp_path / "opinionated")
    policy = load_policy(ModelConfig(path=str(tmp_path / "opinionated"), device=DEVICE))
    texts = {rollout.text for rollout in generate(policy, plain_sampling(8, 5))[0].rollouts}
    assert len(texts) > 1


def test_the_gradient_does_not_depend_on_padding(policy: Policy) -> None:
    rollouts = generate(policy, plain_sampling(2, 4))[0].rollouts
    policy.model.double()  # or rounding would decide: a sum has another order in another shape
    gradients = []
    for width in (0, 7):
        batch = make_batch(rollouts, [0.0, 0.0], pad_id=policy.pad_id, device=policy.device)
        pad = (0, width)
        policy.model.zero_grad()
        token_logprobs(
            policy.model,
            torch.nn.functional.pad(batch.input_ids, pad, value=policy.pad_id),
            torch.nn.functional.pad(batch.attention_mask, pad),
            torch.nn.functional.pad(batch.completion_mask, pad),
            temperature=1.0,
        ).logprobs.sum().backward()  # type: ignore[no-untyped-call]
        gradients.append(policy.model.lm_head.weight.grad.clone())
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-12, rtol=1e-9)


def test_a_tokenizer_without_a_chat_template_is_an_error_that_says_what_to_set(
    task: Path, tmp_path: Path
) -> None:
    source = load_policy(ModelConfig(path=str(task / "model"), device=DEVICE))
    source.tokenizer.chat_template = None
    source.save(tmp_path / "plain")
    plain = ModelConfig(path=str(tmp_path / "plain"), device=DEVICE)
    with pytest.raises(ConfigError, match=r"no chat template; set model\.chat_template"):
        load_policy(plain)
    missing = plain.model_copy(update={"chat_template": tmp_path / "none.jinja"})
    with pytest.raises(ConfigError, match=r"model\.chat_template: cannot read .*none\.jinja"):
        load_policy(missing)
    (tmp_path / "chat.jinja").write_text("{{ messages[0]['content'] }}")
    policy = load_policy(plain.model_copy(update={"chat_template": tmp_path / "chat.jinja"}))
    ids = policy.prompt_ids([{"role": "user", "content": "1+1"}])
    assert policy.decode(ids) == "1+1"
