"""GRPO: sample groups, have them scored, and move the policy towards what scored above its group.

One step, top to bottom: problems -> rollouts -> verdicts (over HTTP, while later groups are still
being generated) -> rewards -> advantages -> loss -> update -> log.

Departures from DeepSeekMath (arXiv 2402.03300), each a setting: the reward is a weighted sum of
verifiers' scores, not a reward model; the old policy of the ratio is the sampler, whose own
log-probabilities are kept, so no forward pass recomputes them; completions that could not be judged
take no part in mean and std; groups with equal rewards get exactly 0.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial, reduce
from pathlib import Path
from typing import Any

from trainer_client.config.run_config import Config, ConfigError, make_config
from trainer_client.data_sets import load_data_sets
from trainer_client.errors import TrainingError, room_for_files
from trainer_client.given_objects import given_objects
from trainer_client.learner import Learner
from trainer_client.problem_mix import MixPosition, ProblemMix
from trainer_client.processes import Processes, launched
from trainer_client.prompts import PromptReader
from trainer_client.reward.group_scoring import ScoredGroups, why_lost
from trainer_client.reward.rewards import (
    advantages_of,
    groups_that_teach,
    main_of,
    rewards_of,
)
from trainer_client.rollout.group_sampler import SAMPLING_ERRORS, GroupSampler
from trainer_client.run.checkpoint import (
    Checkpoint,
    Position,
    check_whole,
    checkpoint_to_resume,
)
from trainer_client.run.checkpoint_choice import choose_checkpoint
from trainer_client.run.checkpoint_store import store_of
from trainer_client.run.console import CONSOLE, say
from trainer_client.run.go_back import go_back_to
from trainer_client.run.json_lines import read_lines
from trainer_client.run.metrics import rollout_metrics
from trainer_client.run.rollout_log import append_solve_rates, solve_rate, write_rollouts
from trainer_client.run.run_folder import adapter_problem, checkpoint_folder
from trainer_client.run.sole_run import sole_run
from trainer_client.run.step_progress import STEP
from trainer_client.run.training_run import (
    RunResult,
    StepCallback,
    TrainingRun,
    is_finished,
    open_run,
)
from trainer_client.solve_rates import MeasuredSolveRates
from trainer_client.update.batch import batch_of, kept_groups
from trainer_client.update.measured_kl import kl_to_reference
from trainer_client.update.step import update_on_rollouts


def train(
    config: Config | dict[str, Any],
    *,
    resume: bool = False,
    resume_from: str = "last",
    given: Mapping[str, Any] | None = None,
    on_step: StepCallback | None = None,
) -> RunResult:
    """Run a whole training.

    Args:
        config: configuration of the run, or its nested values, see `make_config`; written to
            `output_dir/config.yaml`.
        resume: go on from the newest checkpoint in `output_dir`; a run that was stopped before its
            first checkpoint starts again. A finished run stays as it is.
        resume_from: name of the checkpoint to go back to, see `choose_checkpoint`; what came after
            it is kept in `output_dir/given_up`.
        given: the objects that settings name as `given:NAME` (`trainer_client.given_objects`). A
            policy is trained in place; a run that is resumed needs it as it was at the start.
        on_step: called in the first process with the number, from 1, and the metrics of each step,
            those of an evaluation included.

    Raises:
        ConfigError, DatasetError, ChatError: the input cannot be used.
        VerifierError: the service does not answer at the start.
        TrainingStopped: the service went away for too long, nothing was judged, a guard stopped
            the run, `on_step` raised an error, or SIGTERM or Ctrl-C came; a checkpoint has been
            saved.
        TrainingError: the disk is full; the run goes on from its newest checkpoint.
    """
    config = make_config(config) if isinstance(config, dict) else config
    if not isinstance(config, Config):
        raise ConfigError(
            f"train takes the configuration of load_config(Path(...)) or make_config({{...}}), "
            f"found {config!r}"
        )
    with given_objects(given or {}), launched(config.model.device) as processes:
        # It stays quiet after the run: each process would say where the trained model is.
        CONSOLE.quiet = not processes.leads
        with sole_run(config.output_dir, processes, make=not resume):
            checkpoint = _checkpoint_to_resume(config, processes, resume=resume)
            if checkpoint is not None and resume_from != "last":
                checkpoint = _go_back(config, resume_from, processes)
            return _train_from(checkpoint, config, processes, on_step)


def _train_from(
    checkpoint: Checkpoint | None,
    config: Config,
    processes: Processes,
    on_step: StepCallback | None,
) -> RunResult:
    """Run the steps after a checkpoint; None: all steps."""
    run_dir, num_steps = config.output_dir, config.train.steps
    if checkpoint is not None and is_finished(run_dir, checkpoint, num_steps=num_steps):
        return _finished(run_dir, checkpoint.step)
    if checkpoint is not None:
        check_whole(checkpoint)
    reader = PromptReader.of(config.model)
    data_sets = load_data_sets(config, reader)
    mix = ProblemMix(
        data_sets,
        per_step=config.rollout.prompts_per_step,
        seed=config.train.seed,
        # Problems that are sampled ahead are taken before the steps in between have verdicts.
        measured=MeasuredSolveRates(lag=config.train.max_staleness_steps),
    )
    opened = open_run(config, data_sets, reader, checkpoint, processes)
    with room_for_files(run_dir), opened as run:
        mix.measured.restore(processes.gather(read_lines(run_dir / "solve_rates.jsonl"))[0])
        sampler = GroupSampler(run.learner, run.scorer, mix, config)
        run.evaluate_at_start()
        while run.position.step < num_steps:
            _next_step(run, sampler, on_step)
    return RunResult.of(run_dir, run.log.history)


def _checkpoint_to_resume(
    config: Config, processes: Processes, *, resume: bool
) -> Checkpoint | None:
    """The checkpoint that the run goes on from, on every node the same. Collective."""
    store, run_dir = store_of(config, processes), config.output_dir
    if store is not None:
        store.check()
        if resume:
            store.restore()

    def newest_step() -> int | None:
        if not processes.leads:
            return None
        found = checkpoint_to_resume(run_dir, resume=resume, has_store=store is not None)
        if (problem := adapter_problem(config)) is not None:
            raise ConfigError(problem)
        return None if found is None else found.step

    step = processes.gather(processes.agree(newest_step, ConfigError))[0]
    return None if step is None else Checkpoint(checkpoint_folder(run_dir, step), step)


def _next_step(run: TrainingRun, sampler: GroupSampler, on_step: StepCallback | None) -> None:
    """One step of a run, with all that follows it: log, evaluation, guards, checkpoint."""
    run.begin_step()
    with run.stopping_on(*SAMPLING_ERRORS, TrainingError):
        metrics, next_problem = train_step(run.learner, sampler, run.position, run.config)
    run.finish_step(metrics, next_problem)
    run.evaluate_if_due()
    if on_step is not None:
        run.tell_step(on_step)
    run.check_guards()
    run.stop_if_interrupted()
    run.save_if_due()


def train_step(
    learner: Learner, sampler: GroupSampler, position: Position, config: Config
) -> tuple[dict[str, float], MixPosition]:
    """One step from problems to updates; returns its metrics and the next problems' position.

    Raises:
        VerifierError, RewardError, RolloutError, OtherProcessFailed, TrainingError: before any
            update.
    """
    start = time.perf_counter()
    processes, step = learner.processes, position.step + 1
    STEP.name(f"step {step}")
    processes.seed_step(config.train.seed, position.step)
    own, weights_seconds = sampler.next_groups(position)
    scored = reduce(ScoredGroups.joined, processes.gather(own.scored))
    if not scored.groups:
        raise TrainingError(f"the step has no whole group: {why_lost(scored.lost)}")
    rewards = rewards_of(scored, config.reward)
    advantages = advantages_of(scored, rewards, config.reward, config.advantage)
    solved = [solve_rate(one, main_of(one.group.problem, config.reward)) for one in scored.groups]
    sampler.measured.record(step, solved)
    sampled = rollout_metrics(scored, rewards, advantages, config.reward)
    if learner.replay is not None:
        main = partial(main_of, config=config.reward)
        scored, replayed = learner.replay.replay(scored, rewards, main, step=step)
        rewards = rewards_of(scored, config.reward)
        advantages = advantages_of(scored, rewards, config.reward, config.advantage)
        sampled |= replayed
    if processes.leads:
        if config.train.write_rollouts:
            write_rollouts(config.output_dir, step, scored, rewards, advantages)
        append_solve_rates(config.output_dir, step, solved)
    update_start = time.perf_counter()
    teaches = groups_that_teach(scored, rewards, config.reward, config.advantage)
    kept = kept_groups(scored, rewards, advantages, config.advantage, teaches)
    group_rows, batch = batch_of(
        kept,
        learner.policy,
        processes,
        mask_truncated=config.loss.truncated == "mask",
        oldest_weights=position.step - config.train.max_staleness_steps,
    )
    # Before the update, as where the KL is in the loss: of the policy that sampled.
    kl = {}
    if batch is not None and config.measures_kl(step):
        kl["policy/kl_divergence"] = kl_to_reference(learner, batch, config)
    update = update_on_rollouts(learner, batch, group_rows, config)
    end = time.perf_counter()
    metrics = {
        **sampled,
        **own.metrics,
        **kl,
        **update,
        "time/weights": weights_seconds,
        "time/update": end - update_start,
        "time/step": end - start,
    }
    return metrics, own.next_problem


def _go_back(config: Config, name: str, processes: Processes) -> Checkpoint:
    """The checkpoint of this name, what came after it moved aside. Collective."""
    chosen = choose_checkpoint(config.output_dir, name, config)
    processes.gather(None)  # all have chosen before anything moves
    if processes.leads and (folder := go_back_to(chosen, config.output_dir)) is not None:
        say(f"back at step {chosen.step}; what came after it is in {folder}")
    processes.gather(None)
    return chosen


def _finished(run_dir: Path, num_steps: int) -> RunResult:
    """Say that the run has no steps left; returns its result."""
    steps = "its one step" if num_steps == 1 else f"all {num_steps} steps"
    say(f"{run_dir} has {steps}: raise train.steps to go on")
    return RunResult.of(run_dir, read_lines(run_dir / "metrics.jsonl"))
