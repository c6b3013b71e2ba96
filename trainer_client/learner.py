"""The learner: policy, reference policy, optimizer and rollout engine of a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import cast

import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from transformers import AutoModelForCausalLM, PreTrainedModel

from trainer_client.config.loss_section import LossConfig
from trainer_client.config.run_config import Config
from trainer_client.episodes.episode_engine import in_environment
from trainer_client.policy.lora import base_model, causal_model, has_adapter
from trainer_client.policy.memory_savers import offloaded
from trainer_client.policy.output_layer import check_output_layer
from trainer_client.policy.packing import disable_packing, enable_packing, supports_packing
from trainer_client.policy.policy import Policy, frozen_copy, load_policy
from trainer_client.policy.saver_checks import compile_layers, packing_error, recompute_layers
from trainer_client.policy.sharding import shard
from trainer_client.policy.teacher import load_teacher
from trainer_client.problem_mix import MixPosition
from trainer_client.problems import Problem
from trainer_client.processes import Processes
from trainer_client.rollout import RolloutEngine
from trainer_client.rollout.engines import open_engine
from trainer_client.rollout.group_requests import GroupRequestEngine
from trainer_client.rollout.group_stream import GroupStream, StreamLimits
from trainer_client.rollout.one_step_ahead import (
    SamplingAhead,
    StepGroups,
    read_groups,
    write_groups,
)
from trainer_client.rollout.replay import SolvedCompletions
from trainer_client.rollout.stored_group import KnownProblems
from trainer_client.rollout.stream_state import read_stream, write_stream
from trainer_client.run.checkpoint import (
    Checkpoint,
    Position,
    RandomState,
    WriteFiles,
    entropy_state,
    position_of,
    restore_training_state,
    save_checkpoint,
)
from trainer_client.run.console import say
from trainer_client.update.entropy_control import EntropyControl
from trainer_client.update.optimizer import make_optimizer


@dataclass(frozen=True)
class Learner:
    """The parts of a run that a training step reads and changes."""

    policy: Policy
    reference: PreTrainedModel | None
    """`loss.teacher`, or a frozen copy of the start policy; None when no KL is measured, and under
    LoRA without a teacher."""
    optimizer: Optimizer
    scheduler: LRScheduler
    engine: RolloutEngine
    packs: bool
    """Whether micro-batches are packed instead of padded."""
    processes: Processes
    ahead: SamplingAhead | None = None
    """Groups of the next step; None unless `train.max_staleness_steps` is 1."""
    stream: GroupStream | None = None
    """Groups of later steps, in the first process; None unless `train.max_staleness_steps` is at
    least 2."""
    replay: SolvedCompletions | None = None
    """None without `rollout.replay`."""
    offloads: bool = False
    """Whether `train.offload` is set."""
    reference_moves: bool = False
    """Whether `loss.reference_sync_steps` is set, so that checkpoints need the reference."""
    entropy_control: EntropyControl = field(default_factory=lambda: EntropyControl(LossConfig()))

    @property
    def num_trained(self) -> int:
        """Number of weights that are trained, over all processes."""
        return sum(p.numel() for p in self.policy.model.parameters() if p.requires_grad)

    def close(self) -> None:
        """Close the engine and give up groups that are being sampled ahead."""
        if self.ahead is not None:
            self.ahead.close()
        if self.stream is not None:
            self.stream.close()
        self.engine.close()

    def update_sampler(self, step: int) -> None:
        """Give the engine the policy's weights after so many steps; raises RolloutError."""
        with nullcontext() if self.stream is None else self.stream.new_weights(step):
            self.engine.update_weights()

    def offloaded(self) -> AbstractContextManager[None]:
        """Inside, with `train.offload`, optimizer state and reference are in CPU memory."""
        return offloaded(self.optimizer, self.reference) if self.offloads else nullcontext()

    @contextmanager
    def reference_model(self) -> Iterator[PreTrainedModel]:
        """The reference policy of a run that has one; gradients are off.

        Under LoRA without a teacher it is the policy's own base model.
        """
        with torch.no_grad():
            if self.reference is not None:
                yield self.reference
            else:
                with base_model(self.policy.model) as model:
                    yield model

    def sync_reference(self) -> None:
        """Give the reference policy the policy's present weights."""
        assert self.reference is not None
        self.reference.load_state_dict(self.policy.model.state_dict())

    def save(self, run_dir: Path, position: Position) -> Checkpoint:
        """Write a checkpoint, with the groups that were sampled ahead for its next steps."""
        return save_checkpoint(
            run_dir,
            position,
            policy=self.policy,
            optimizer=self.optimizer,
            scheduler=self.scheduler,
            reference=self.reference if self.reference_moves else None,
            groups=[one for one in (self._write_ahead(position), self._write_replay()) if one],
            entropy_control=self.entropy_control.state,
        )

    def restore_replay(
        self,
        checkpoint: Checkpoint,
        problems: Iterable[Problem],
        sources_of: Callable[[Problem], Collection[str]],
    ) -> None:
        """Go on with the solved completions that a checkpoint keeps.

        Args:
            checkpoint: the checkpoint that the run goes on from.
            problems: problems of the data sets.
            sources_of: keys of all sources that judge a problem; completions that lack a verdict
                of one are forgotten.
        """
        if self.replay is not None:
            self.replay.restore(checkpoint.folder, KnownProblems(problems, sources_of))

    def restore_groups_ahead(
        self,
        checkpoint: Checkpoint,
        problems: Iterable[Problem],
        verifiers_of: Callable[[Problem], Collection[str]],
    ) -> None:
        """Go on with the groups that a checkpoint keeps; one step ahead each process with its part.

        Groups that cannot be used are sampled anew.

        Args:
            checkpoint: the checkpoint that the run goes on from.
            problems: problems of the data sets.
            verifiers_of: keys of the verifiers of the service that judge a problem; groups that
                lack one cannot be used. Functions and models score later, when the groups are
                taken.
        """
        known = KnownProblems(problems, verifiers_of)
        if self.stream is not None and (state := read_stream(checkpoint.folder, known)) is not None:
            self.stream.restore(state)
        if self.ahead is None:
            return
        kept = read_groups(checkpoint.folder, known)
        if kept is None or len(kept.scored.groups) % self.processes.size:
            return
        own = replace(kept.scored, groups=self.processes.share(kept.scored.groups))
        self.ahead.restore(StepGroups(own, kept.next_problem), position_of(checkpoint).next_problem)

    def _write_replay(self) -> WriteFiles | None:
        """A function that writes the solved completions; None: they are not replayed."""
        return None if self.replay is None else self.replay.write

    def _write_ahead(self, position: Position) -> WriteFiles | None:
        """A function that writes what was sampled ahead; None: nothing was. Collective."""
        if self.stream is not None and self.stream.started:
            return partial(write_stream, state=self.stream.state(position.step))
        kept = self._kept_ahead(position.next_problem)
        return None if kept is None else partial(write_groups, groups=kept)

    def _kept_ahead(self, position: MixPosition) -> StepGroups | None:
        """The groups of all processes, in the order of their problems; None if one has none."""
        if self.ahead is None:
            return None
        parts = self.processes.gather(self.ahead.kept(position))
        whole = [part for part in parts if part is not None]
        if len(whole) < len(parts) or len({len(part.scored.groups) for part in whole}) > 1:
            return None  # groups that were lost leave the processes with different numbers
        # The inverse of `Processes.share`, which deals the problems out like cards.
        groups = [
            group
            for row in zip(*(part.scored.groups for part in whole), strict=True)
            for group in row
        ]
        return whole[0]._replace(scored=replace(whole[0].scored, groups=groups))


def make_learner(
    config: Config,
    checkpoint: Checkpoint | None = None,
    processes: Processes = Processes(),  # noqa: B008 - frozen
) -> Learner:
    """Policy, reference, optimizer and engine, fresh or as a checkpoint left them.

    Torch's generators are seeded, or restored from the checkpoint. Several processes split the
    models among themselves.
    """
    torch.manual_seed(config.train.seed)
    policy = load_policy(config.model, checkpoint.folder if checkpoint else None)
    reference = _reference(config, policy, checkpoint)
    causal = causal_model(policy.model)
    check_output_layer(causal)
    packs = config.train.packing and _packs(causal, reference, processes)
    if config.train.gradient_checkpointing:
        recompute_layers(causal)
    if config.train.compile:
        for model in (causal, reference):
            if model is not None:
                compile_layers(model, packed=packs)
    if processes.size > 1:
        for model in (policy.model, reference):
            if model is not None:
                shard(model, reshard_after_forward=config.train.reshard_after_forward)
    optimizer, scheduler = make_optimizer(
        policy.model, config.optimizer, num_steps=config.num_updates
    )
    streams = config.train.max_staleness_steps > 1
    sampler = open_engine(
        policy,
        config.rollout,
        seed=config.train.seed,
        run_dir=config.output_dir,
        in_flight=streams,
    )
    engine = in_environment(sampler, policy, config)
    if checkpoint is not None:
        restore_training_state(
            checkpoint, model=policy.model, optimizer=optimizer, scheduler=scheduler
        )
        position_of(checkpoint).random.restore()
    entropy_control = EntropyControl(config.loss)
    entropy_control.restore(None if checkpoint is None else entropy_state(checkpoint))
    return Learner(
        policy,
        reference,
        optimizer,
        scheduler,
        engine,
        packs,
        processes,
        replay=None if config.rollout.replay is None else SolvedCompletions(config.rollout.replay),
        ahead=SamplingAhead() if config.train.max_staleness_steps == 1 else None,
        stream=_stream(engine, config) if streams and processes.leads else None,
        offloads=config.train.offload,
        reference_moves=config.loss.reference_sync_steps is not None,
        entropy_control=entropy_control,
    )


def _stream(engine: RolloutEngine, config: Config) -> GroupStream:
    """The stream of groups of a run with vLLM servers."""
    limits = StreamLimits(
        max_staleness=config.train.max_staleness_steps,
        per_step=config.rollout.prompts_per_step,
        num_steps=config.train.steps,
        deadline_seconds=config.rollout.vllm_server.deadline_seconds,
    )
    return GroupStream(cast(GroupRequestEngine, engine), limits)


def start_position(checkpoint: Checkpoint | None) -> Position:
    """The position at which a run goes on from this checkpoint; None: that of a new run.

    Call it after `make_learner`, which sets the random state that a new run starts with.
    """
    return position_of(checkpoint) if checkpoint else Position(0, MixPosition(), RandomState.now())


def _packs(
    causal: PreTrainedModel, reference: PreTrainedModel | None, processes: Processes
) -> bool:
    """Enable packing if packed sequences do not see each other; returns whether. Collective."""
    models = [causal] if reference is None else [causal, reference]
    if not all(map(supports_packing, models)):
        return False
    for model in models:
        enable_packing(model)
    own = next(filter(None, map(packing_error, models)), None)
    errors = [error for error in processes.gather(own) if error is not None]
    if errors:
        for model in models:
            disable_packing(model)
        say(
            f"train.packing: not with {type(causal).__name__}, micro-batches are padded "
            f"({errors[0]})"
        )
        return False
    return True


def _reference(
    config: Config, policy: Policy, checkpoint: Checkpoint | None
) -> PreTrainedModel | None:
    """The frozen reference policy of a run that starts, or goes on from a checkpoint.

    Under LoRA the policy's own base model is the reference, see `Learner.reference_model`.
    """
    if config.loss.teacher is not None:
        return load_teacher(config.loss.teacher, config.model, policy)
    if not config.needs_reference or has_adapter(policy.model):
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
