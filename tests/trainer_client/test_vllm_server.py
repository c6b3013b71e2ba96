"""Rollouts and errors that the engine makes of a server's responses, good and spoilt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.trainer_client.runs import plain_sampling
from tests.trainer_client.sampling_server import Spoil, sampling_server
from trainer_client.config.run_config import ConfigError
from trainer_client.config.sections import ModelConfig, VllmServerConfig
from trainer_client.dataset import Problem
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.rollout import RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.vllm_server import VllmServerEngine

PROBLEMS = [Problem(text, ({"role": "user", "content": text},), {}) for text in ("1+2=?", "?")]


@pytest.fixture
def policy(task: Path) -> Policy:
    return load_policy(ModelConfig(path=str(task / "model"), device="cpu"))


def sample(
    policy: Policy, task: Path, folder: Path, spoil: Spoil, sampling: Sampling
) -> list[RolloutGroup]:
    """The groups of both problems after one update of the weights."""
    groups: dict[int, RolloutGroup] = {}
    with sampling_server(str(task / "model"), spoil) as (url, _):
        engine = VllmServerEngine(
            policy, VllmServerConfig(urls=(url,), deadline_seconds=60), weights_dir=folder
        )
        engine.update_weights()
        engine.generate(PROBLEMS, sampling, groups.__setitem__)
    return [groups[index] for index in range(len(PROBLEMS))]


def of(path: str, change: Callable[[Any], Any]) -> Spoil:
    return lambda seen, answer: change(answer) if seen == path and answer != 422 else answer


def in_choices(**fields: Any) -> Spoil:
    return of(
        "/inference/v1/generate",
        lambda answer: {"choices": [{**choice, **fields} for choice in answer["choices"]]},
    )


def test_a_seed_makes_the_same_completions_again(
    policy: Policy, task: Path, tmp_path: Path
) -> None:
    """Whatever state torch's generator is in, which is left as it was."""
    groups = []
    for state in (1, 2):
        torch.manual_seed(state)
        before = torch.get_rng_state()
        groups.append(
            sample(
                policy,
                task,
                tmp_path,
                lambda path, response: response,
                plain_sampling(2, 6, seed=7),
            )
        )
        assert torch.get_rng_state().equal(before)
    assert groups[0] == groups[1]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            in_choices(weight_versions=[{"version": "other.3"}]),
            r"weights of version \['other.3'\], expected .*: was it restarted",
        ),
        (in_choices(weight_versions=[]), r"weights of version \[\], expected"),
        (in_choices(finish_reason="abort"), r"ended a completion of \d tokens with 'abort'"),
        (in_choices(token_ids=[]), "ended a completion of 0 tokens"),
        (in_choices(logprobs={"content": []}), r"returned \d tokens with 0 log-probabilities"),
        (
            of("/inference/v1/generate", lambda answer: {"choices": answer["choices"][:1]}),
            "returned 1 completions, expected 2",
        ),
        (of("/inference/v1/generate", lambda answer: {}), "answered something else than"),
        (of("/inference/v1/generate", lambda answer: b"<html>"), "expected JSON: <html>"),
        (of("/inference/v1/generate", lambda answer: 500), "generate: 500"),
        (of("/reset_prefix_cache", lambda answer: {"success": False}), "kept its prefix cache"),
        (of("/collective_rpc", lambda answer: 500), "collective_rpc: 500"),
    ],
)
def test_a_wrong_answer_is_an_error_that_names_it(
    policy: Policy, task: Path, tmp_path: Path, spoil: Spoil, message: str
) -> None:
    with pytest.raises(RolloutError, match=message):
        sample(policy, task, tmp_path, spoil, plain_sampling(2, 6))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (of("/server_info", lambda answer: b"hello"), "does not answer as a vLLM server.*hello"),
        (of("/server_info", lambda answer: {}), "does not answer as a vLLM server"),
        (of("/server_info", lambda answer: 404), "VLLM_SERVER_DEV_MODE=1"),
        (
            of(
                "/server_info",
                lambda answer: {"vllm_config": {"model_config": {"logprobs_mode": "raw_logprobs"}}},
            ),
            "reports raw_logprobs",
        ),
        (lambda path, answer: 404 if "generate" in path else answer, "--enable-scale-out"),
    ],
)
def test_a_server_that_lacks_something_is_refused_at_the_start(
    policy: Policy, task: Path, tmp_path: Path, spoil: Spoil, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        sample(policy, task, tmp_path, spoil, plain_sampling(2, 6))


def test_weights_that_cannot_be_written_are_an_error_that_names_the_setting(
    policy: Policy, task: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RolloutError, match=r"vllm_server\.weights_dir: cannot write"):
        sample(
            policy,
            task,
            tmp_path / "file" / "weights",
            lambda path, response: response,
            plain_sampling(2, 6),
        )
