"""The rollout engine that a configuration names."""

from __future__ import annotations

from pathlib import Path

from trainer_client.config.rollout_section import RolloutConfig
from trainer_client.policy.lora import causal_model
from trainer_client.policy.policy import Policy
from trainer_client.rollout import RolloutEngine
from trainer_client.rollout.transformers import TransformersEngine, decoder_error
from trainer_client.rollout.vllm import VllmEngine
from trainer_client.rollout.vllm_server import VllmServerEngine
from trainer_client.run.console import say


def open_engine(
    policy: Policy, config: RolloutConfig, *, seed: int, run_dir: Path, in_flight: bool = False
) -> RolloutEngine:
    """Start or reach the engine; call `update_weights` before it samples.

    Args:
        policy: the policy to sample from.
        config: names the engine and holds its settings.
        seed: seed of an engine in this process.
        run_dir: folder of the run; `weight_transfer: disk` writes below it by default.
        in_flight: whether the weights of servers change within completions.

    Raises:
        ConfigError: it cannot be started or reached.
    """
    if config.engine == "vllm":
        return VllmEngine(policy, config.vllm, seed=seed, lora_weights=config.lora_weights)
    if config.engine == "vllm_server":
        return VllmServerEngine(
            policy,
            config.vllm_server,
            weights_dir=run_dir / "server_weights",
            in_flight=in_flight,
            lora_weights=config.lora_weights,
        )
    return transformers_engine(policy, config)


def transformers_engine(policy: Policy, config: RolloutConfig) -> TransformersEngine:
    """The engine in this process, with its own decoder where the model permits.

    Args:
        policy: the policy to sample from.
        config: its `batch_size` is read, and on a GPU `cuda_graphs`.
    """
    on_gpu = policy.device.type == "cuda"
    if on_gpu and not config.cuda_graphs:
        return TransformersEngine(policy, batch_size=config.batch_size)
    error = decoder_error(policy)
    if error and on_gpu:
        say(f"rollout.cuda_graphs: not with {type(causal_model(policy.model)).__name__}: {error}")
    return TransformersEngine(policy, batch_size=config.batch_size, own_decoder=error is None)
