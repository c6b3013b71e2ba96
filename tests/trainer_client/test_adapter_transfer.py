"""An adapter alone goes to a server that can take it; others get merged weights, or an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.trainer_client.device import DEVICE
from tests.trainer_client.runs import plain_sampling
from tests.trainer_client.sampling_server import Sampler, sampling_server
from trainer_client.config.model_section import LoraConfig, ModelConfig
from trainer_client.config.rollout_section import VllmServerConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.policy.logprobs import token_logprobs
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.problems import Problem
from trainer_client.rollout import RolloutError, RolloutGroup
from trainer_client.rollout.vllm_server import VllmServerEngine

PROBLEM = Problem("p", ({"role": "user", "content": "1+2=?"},), {})
LOAD, PUSH = "/v1/load_lora_adapter", "/collective_rpc"


@pytest.fixture(scope="module")
def roomy(task: Path) -> Iterator[tuple[str, Sampler]]:
    with sampling_server(str(task / "model"), max_lora_rank=4) as served:
        yield served


def adapted(task: Path, **lora: Any) -> Policy:
    """A policy whose adapter changes what the model says."""
    config = LoraConfig(**{"rank": 4, "alpha": 32, **lora})
    policy = load_policy(ModelConfig(path=str(task / "model"), device=DEVICE, lora=config))
    change(policy)
    return policy


def change(policy: Policy) -> None:
    for parameter in policy.model.parameters():
        if parameter.requires_grad:
            parameter.data.add_(torch.rand_like(parameter) / 10)


def engine_at(url: str, policy: Policy, folder: Path, **options: Any) -> VllmServerEngine:
    config = VllmServerConfig(urls=(url,), deadline_seconds=600)
    return VllmServerEngine(policy, config, weights_dir=folder / "weights", **options)


def difference(policy: Policy, engine: VllmServerEngine) -> float:
    """The largest one between the server's log-probabilities and the policy's own."""
    groups: list[RolloutGroup] = []
    engine.generate([PROBLEM], plain_sampling(2, 6), lambda _, group: groups.append(group))
    largest = 0.0
    for rollout in groups[0].rollouts:
        ids = torch.tensor([rollout.prompt_ids + rollout.completion_ids], device=policy.device)
        mask = torch.ones_like(ids, dtype=torch.bool)
        completion = mask.clone()
        completion[:, : len(rollout.prompt_ids)] = False
        with torch.no_grad():
            own = token_logprobs(policy.model, ids, mask, completion, temperature=1.0).logprobs
        found = own[completion].cpu() - torch.tensor(rollout.sampler_logprobs)
        largest = max(largest, found.abs().max().item())
    return largest


@pytest.mark.slow
def test_a_server_samples_with_the_newest_adapter_and_gets_its_base_once(
    task: Path, tmp_path: Path, roomy: tuple[str, Sampler]
) -> None:
    """Its folder holds one version at a time, and nothing when the engine is closed."""
    url, sampler = roomy
    policy = adapted(task)
    engine = engine_at(url, policy, tmp_path)
    pushes = sampler.paths.count(PUSH)
    for _ in range(2):
        engine.update_weights()
        assert difference(policy, engine) < 1e-4
        change(policy)
        assert difference(policy, engine) > 1e-3
        assert [folder.name for folder in (tmp_path / "weights_adapter").iterdir()] == [
            engine.version
        ]
    assert sampler.paths.count(PUSH) == pushes + 1
    engine.close()
    assert not list(tmp_path.iterdir())


def test_an_adapter_that_another_run_replaced_is_an_error(
    task: Path, tmp_path: Path, roomy: tuple[str, Sampler], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is gone, so nothing is sampled with weights of others."""
    url, sampler = roomy
    policy = adapted(task)
    engine = engine_at(url, policy, tmp_path)
    if sampler.adapter is not None:
        sampler.respond("/v1/unload_lora_adapter", {"lora_name": sampler.adapter}, {})
    engine.update_weights()
    monkeypatch.setattr(sampler, "adapter", "of another run")
    with pytest.raises(RolloutError, match="404"):
        difference(policy, engine)
    monkeypatch.undo()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("room", "lora", "reason"),
    [
        (None, {}, "was started without --enable-lora"),
        (2, {}, "was started with --max-lora-rank 2, below the rank 4"),
        (4, {"dora": True}, r"vLLM does not compute model\.lora\.dora"),
    ],
)
def test_a_server_that_cannot_take_the_adapter_gets_merged_weights_and_says_why(
    task: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    room: int | None,
    lora: dict[str, Any],
    reason: str,
) -> None:
    """The setting `adapter` makes that an error."""
    policy = adapted(task, **lora)
    with sampling_server(str(task / "model"), max_lora_rank=room) as (url, sampler):
        with pytest.raises(ConfigError, match=rf"rollout\.lora_weights adapter: .*{reason}"):
            engine_at(url, policy, tmp_path, lora_weights="adapter")
        engine = engine_at(url, policy, tmp_path)
        said = " ".join(capsys.readouterr().out.split())
        assert "the whole merged weights are sent before each step, because" in said
        engine.update_weights()
        assert difference(policy, engine) < 1e-4
        assert sampler.adapter is None


def test_merged_weights_are_sent_if_wanted(
    task: Path, tmp_path: Path, roomy: tuple[str, Sampler]
) -> None:
    url, sampler = roomy
    if sampler.adapter is not None:
        sampler.respond("/v1/unload_lora_adapter", {"lora_name": sampler.adapter}, {})
    policy = adapted(task)
    engine = engine_at(url, policy, tmp_path, lora_weights="merged")
    loads = sampler.paths.count(LOAD)
    engine.update_weights()
    assert difference(policy, engine) < 1e-4
    assert sampler.paths.count(LOAD) == loads
