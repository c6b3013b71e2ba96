"""Rollouts and errors that the engine makes of a server's responses, good and spoilt."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from tests.trainer_client.runs import plain_sampling
from tests.trainer_client.sampling_server import Spoil, sampling_server
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.rollout_section import VllmServerConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.problems import Problem
from trainer_client.rollout import Rollout, RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.daemon_thread import start_daemon
from trainer_client.rollout.group_requests import DatedGroup
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
            in_choices(weight_versions=[{"version": "other.3", "start": 0, "end": 6}]),
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


def test_a_completion_goes_on_under_new_weights_and_its_logprobs_are_of_each(
    policy: Policy, task: Path, tmp_path: Path
) -> None:
    """Three tokens before the update, three after it; the trainer's own weights say the same."""
    at_fourth, go_on, tokens = threading.Event(), threading.Event(), count()

    def pace() -> None:
        if next(tokens) == 3:
            at_fourth.set()
            assert go_on.wait(60)

    with sampling_server(str(task / "model"), pace=pace) as (url, _):
        config = VllmServerConfig(urls=(url,), deadline_seconds=60)
        engine = VllmServerEngine(policy, config, weights_dir=tmp_path / "weights", in_flight=True)
        engine.update_weights()

        async def ask() -> DatedGroup:
            async with engine.group_requests() as group:
                return await group(PROBLEMS[0], plain_sampling(1, 6, seed=3))

        pending = start_daemon(lambda: asyncio.run(ask()))
        assert at_fourth.wait(60)
        before = copy.deepcopy(policy.model)
        with torch.no_grad():
            for weight in policy.model.parameters():
                weight.mul_(1.5)
        engine.update_weights()
        go_on.set()
        dated = pending.result(60)
    (rollout,) = dated.group.rollouts
    assert len(rollout.completion_ids) == 6
    assert dated.updates == ((1, 1, 1, 2, 2, 2),)
    expected = [*logprobs_of(before, rollout)[:3], *logprobs_of(policy.model, rollout)[3:]]
    assert torch.tensor(rollout.sampler_logprobs).allclose(torch.tensor(expected), atol=1e-5)
    assert not torch.tensor(expected).allclose(
        torch.tensor(logprobs_of(before, rollout)), atol=1e-3
    )


def logprobs_of(model: PreTrainedModel, rollout: Rollout) -> list[float]:
    """Log-probabilities of the tokens of a completion at temperature 1."""
    start = len(rollout.prompt_ids)
    ids = torch.tensor([[*rollout.prompt_ids, *rollout.completion_ids]])
    with torch.no_grad():
        scores = model(ids).logits[0, start - 1 : -1].log_softmax(-1)
    return list(scores.gather(1, ids[0, start:, None])[:, 0].tolist())


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([("other.1", 0, 6)], r"weights of version \['other.1'\], expected"),
        ([("{run}.9", 0, 6)], r"weights of version .*\.9'\], expected"),
        ([("{run}.1", 0, 3), ("default", 3, 6)], r"'default'\], expected"),
        ([("{run}.1", 0, 5)], r"6 tokens with weight versions of \[\(0, 5\)\]"),
        ([("{run}.1", 0, 3), ("{run}.1", 4, 6)], r"weight versions of \[\(0, 3\), \(4, 6\)\]"),
    ],
)
def test_tokens_of_unknown_weights_are_refused_in_flight(
    policy: Policy, task: Path, tmp_path: Path, spans: list[tuple[str, int, int]], message: str
) -> None:
    """Weights of another run, of the future, of a restarted server, or of no token at all."""

    def respond(path: str, answer: Any) -> Any:
        if path != "/inference/v1/generate" or answer == 422:
            return answer
        run = answer["choices"][0]["weight_versions"][0]["version"].partition(".")[0]
        spoilt = [
            {"version": version.replace("{run}", run), "start": start, "end": end}
            for version, start, end in spans
        ]
        return {"choices": [{**choice, "weight_versions": spoilt} for choice in answer["choices"]]}

    with sampling_server(str(task / "model"), respond) as (url, _):
        config = VllmServerConfig(urls=(url,), deadline_seconds=60)
        engine = VllmServerEngine(policy, config, weights_dir=tmp_path / "weights", in_flight=True)
        engine.update_weights()
        with pytest.raises(RolloutError, match=message):
            engine.generate(PROBLEMS[:1], plain_sampling(1, 6, seed=3), lambda *_: None)


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
