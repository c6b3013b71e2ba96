"""What a training step works with: policy, reference, optimizer, rollout engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace

import torch
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LRScheduler
from transformers import AutoModelForCausalLM, PreTrainedModel, get_scheduler

from trainer_client.config.run_config import Config
from trainer_client.config.sections import OptimizerConfig
from trainer_client.dataset import Problem
from trainer_client.policy.logprobs import packing_error, recompute_layers
from trainer_client.policy.lora import base_model, causal_model, has_adapter
from trainer_client.policy.memory_savers import offloaded
from trainer_client.policy.output_layer import check_output_layer
from trainer_client.policy.packing import disable_packing, enable_packing, supports_packing
from trainer_client.policy.policy import Policy, frozen_copy, load_policy
from trainer_client.policy.sharding import shard
from trainer_client.processes import Processes
from trainer_client.rollout import RolloutEngine
from trainer_client.rollout.engines import open_engine
from trainer_client.rollout.sampling_ahead import SamplingAhead, Taken, read_groups
from trainer_client.run.checkpoint import (
    Checkpoint,
    Position,
    RandomState,
    position_of,
    restore_training_state,
    save_checkpoint,
)
from trainer_client.run.console import CONSOLE


@dataclass(frozen=True)
class Learner:
    """What a training step works with."""

    policy: Policy
    reference: PreTrainedModel | None
    """A frozen copy of the start policy; None when the loss has no KL term, and under LoRA."""
    optimizer: Optimizer
    scheduler: LRScheduler
    engine: RolloutEngine
    packs: bool
    """Whether micro-batches are packed; otherwise padded."""
    processes: Processes
    ahead: SamplingAhead | None = None
    """With `train.one_step_off`."""
    offloads: bool = False
    """With `train.offload`."""

    def close(self) -> None:
        """Let go of the engine, and of what it was still asked for."""
        if self.ahead is not None:
            self.ahead.close()
        self.engine.close()

    def offloaded(self) -> AbstractContextManager[None]:
        """Inside, with `train.offload`, what only updates need is in the CPU's memory."""
        return offloaded(self.optimizer, self.reference) if self.offloads else nullcontext()

    @contextmanager
    def reference_model(self, config: Config) -> Iterator[PreTrainedModel | None]:
        """The reference policy, None without a KL term; gradients are off."""
        with torch.no_grad():
            if config.loss.kl_coefficient and has_adapter(self.policy.model):
                with base_model(self.policy.model) as model:
                    yield model
            else:
                yield self.reference

    def sync_reference(self) -> None:
        """Make the reference policy what the policy is now."""
        assert self.reference is not None
        self.reference.load_state_dict(self.policy.model.state_dict())

    def save(self, position: Position, config: Config) -> Checkpoint:
        """Write a checkpoint, with the groups that were sampled ahead for its next step."""
        moves = config.loss.reference_sync_steps is not None
        return save_checkpoint(
            config.output_dir,
            position,
            policy=self.policy,
            optimizer=self.optimizer,
            scheduler=self.scheduler,
            reference=self.reference if moves else None,
            ahead=self._kept_ahead(position.problems),
        )

    def take_kept(
        self, checkpoint: Checkpoint, problems: Sequence[Problem], config: Config
    ) -> None:
        """Go on with the groups that a checkpoint keeps, each process with its part.

        Where it keeps none that this configuration can use, they are sampled anew.
        """
        if self.ahead is None:
            return
        keys = [verifier.key for verifier in config.reward.verifiers]  # others score when taken
        kept = read_groups(checkpoint.folder, problems, keys)
        if kept is None or len(kept[0].groups) % self.processes.size:
            return
        scored, next_problems = kept
        own = replace(scored, groups=self.processes.share(scored.groups))
        self.ahead.restore((own, next_problems), position_of(checkpoint).problems)

    def _kept_ahead(self, position: int) -> Taken | None:
        """The groups of all processes, in the order of their problems."""
        if self.ahead is None:
            return None
        parts = self.processes.gather(self.ahead.kept(position))
        whole = [part for part in parts if part is not None]
        if len(whole) < len(parts):
            return None
        groups = [
            group
            for row in zip(*(scored.groups for scored, _ in whole), strict=True)
            for group in row
        ]
        scored, next_problems = whole[0]
        return replace(scored, groups=groups), next_problems


def make_learner(
    config: Config,
    checkpoint: Checkpoint | None = None,
    processes: Processes = Processes(),  # noqa: B008 - frozen
) -> Learner:
    """Policy, reference, optimizer and engine, fresh or as a checkpoint left them.

    Seeds torch's generators, or puts them back to where the checkpoint left them. The models
    are split over the processes, if there are several.
    """
    torch.manual_seed(config.train.seed)
    policy = load_policy(config.model, checkpoint.folder if checkpoint else None)
    reference = _reference(config, policy, checkpoint)
    causal = causal_model(policy.model)
    check_output_layer(causal)
    packs = config.train.packing and _packs(causal, reference, processes)
    if config.train.gradient_checkpointing:
        recompute_layers(causal)
    if processes.size > 1:
        for model in (policy.model, reference):
            if model is not None:
                shard(model, reshard_after_forward=config.train.reshard_after_forward)
    optimizer, scheduler = make_optimizer(
        policy.model, config.optimizer, num_steps=config.num_updates
    )
    engine = open_engine(policy, config)
    if checkpoint is not None:
        restore_training_state(
            checkpoint, model=policy.model, optimizer=optimizer, scheduler=scheduler
        )
        position_of(checkpoint).random.restore()
    ahead = SamplingAhead() if config.train.one_step_off else None
    return Learner(
        policy,
        reference,
        optimizer,
        scheduler,
        engine,
        packs,
        processes,
        ahead,
        offloads=config.train.offload,
    )


def start_position(checkpoint: Checkpoint | None) -> Position:
    """Where a run that has this checkpoint goes on; call it after `make_learner`."""
    return position_of(checkpoint) if checkpoint else Position(0, 0, RandomState.now())


def make_optimizer(
    model: PreTrainedModel, config: OptimizerConfig, *, num_steps: int
) -> tuple[Optimizer, LRScheduler]:
    """AdamW with a warm-up from 0 and then the configured schedule."""
    optimizer = AdamW(
        [parameter for parameter in model.parameters() if parameter.requires_grad],
        lr=config.learning_rate,
        betas=config.betas,
        weight_decay=config.weight_decay,
        fused=True if model.device.type == "cuda" else None,
    )
    name = "constant_with_warmup" if config.schedule == "constant" else config.schedule
    scheduler = get_scheduler(
        name, optimizer, num_warmup_steps=config.warmup_steps, num_training_steps=num_steps
    )
    return optimizer, scheduler


def _packs(
    causal: PreTrainedModel, reference: PreTrainedModel | None, processes: Processes
) -> bool:
    """Have the models pack, where their sequences then do not see each other; collective."""
    if not supports_packing(causal):
        return False
    enable_packing(causal)
    errors = [error for error in processes.gather(packing_error(causal)) if error is not None]
    if errors:
        disable_packing(causal)
        CONSOLE.print(
            f"train.packing: not with {type(causal).__name__}, micro-batches are padded "
            f"({errors[0]})",
            highlight=False,
            soft_wrap=True,
        )
        return False
    if reference is not None:
        enable_packing(reference)
    return True


def _reference(
    config: Config, policy: Policy, checkpoint: Checkpoint | None
) -> PreTrainedModel | None:
    if not config.loss.kl_coefficient or has_adapter(policy.model):
        return None
    if checkpoint is None:
        return frozen_copy(policy.model)
    if checkpoint.reference_folder is None:
        return load_policy(config.model).model.requires_grad_(False)
    return (
        AutoModelForCausalLM.from_pretrained(checkpoint.reference_folder, dtype=policy.model.dtype)
        .to(policy.device)
        .eval()
        .requires_grad_(False)
    )
