"""The rollout engine that a configuration names."""

from __future__ import annotations

from trainer_client.config.run_config import Config
from trainer_client.policy.policy import Policy
from trainer_client.rollout import RolloutEngine
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.rollout.vllm import VllmEngine
from trainer_client.rollout.vllm_server import VllmServerEngine


def open_engine(policy: Policy, config: Config) -> RolloutEngine:
    """The engine; `update_weights` is to be called before it samples.

    Raises:
        ConfigError: it cannot be started or reached.
    """
    rollout = config.rollout
    if rollout.engine == "vllm":
        return VllmEngine(policy, rollout.vllm, seed=config.train.seed)
    if rollout.engine == "vllm_server":
        return VllmServerEngine(
            policy, rollout.vllm_server, weights_dir=config.output_dir / "server_weights"
        )
    return TransformersEngine(policy, batch_size=rollout.batch_size)
