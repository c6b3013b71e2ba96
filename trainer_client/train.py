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
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import NoReturn

import torch

from trainer_client.config.run_config import Config, ConfigError, config_changes, dump_config
from trainer_client.dataset import ProblemOrder, load_problems
from trainer_client.errors import TrainerError
from trainer_client.evaluate import Evaluations, NothingJudged, changes, question_of
from trainer_client.learner import Learner, make_learner, start_position
from trainer_client.policy.policy import Policy
from trainer_client.processes import Processes, check_processes, launched
from trainer_client.reward.group_scoring import ScoredGroups, Scorer, open_scorer
from trainer_client.reward.rewards import raw_rewards
from trainer_client.rollout import Rollout
from trainer_client.rollout.next_groups import SAMPLING_ERRORS, next_groups
from trainer_client.run.checkpoint import (
    Checkpoint,
    Position,
    RandomState,
    list_checkpoints,
    remove_checkpoints,
)
from trainer_client.run.console import CONSOLE
from trainer_client.run.guards import (
    last_step_below_kl_limit,
    new_warnings,
    reason_to_stop,
    warnings_at_start,
)
from trainer_client.run.interruption import EXIT_STATUS, Interruption, catch_sigterm
from trainer_client.run.metrics import MetricsLog, keep_lines, read_lines, rollout_metrics
from trainer_client.run.rollout_log import append_solve_rates, write_rollouts
from trainer_client.update.advantages import group_advantages, groups_that_differ
from trainer_client.update.batch import Batch, make_batch, standing_for_none
from trainer_client.update.step import update_on_rollouts

EVALUATION_ERRORS = (*SAMPLING_ERRORS, NothingJudged)
"""What can go wrong in an evaluation, and is not of this program's making."""

MAX_SHOWN_VERDICTS = 5
STEP_OF_MODEL = Path("model", "trained_steps")
"""In a run's folder: the step after which `model/` was written, last of all its files."""
CONSOLE_KEYS = {
    "reward/total": "reward",
    "reward/accuracy": "accuracy",
    "policy/kl_divergence": "KL",
    "policy/entropy": "entropy",
    "completion/length": "length",
    "time/step": "seconds",
    "evaluation/pass@1": "held-out pass@1",
}


class TrainingError(TrainerError):
    """Training cannot go on; the message says what was seen."""


class TrainingStopped(TrainingError):
    """Training was stopped in good order: a checkpoint of the last whole step is there."""


class TrainingInterrupted(TrainingStopped):
    """SIGTERM came, and a checkpoint has been saved."""

    exit_status = EXIT_STATUS


@dataclass(frozen=True)
class RunResult:
    """Where a finished run left its model, and what the evaluations said."""

    model_dir: Path
    before: dict[str, float]
    """`evaluation/*` metrics of the start model."""
    after: dict[str, float]
    """`evaluation/*` metrics of the trained model."""


def train(config: Config, *, resume: bool = False) -> RunResult:
    """Run a whole training.

    Args:
        config: of the run; written to `output_dir/config.yaml`.
        resume: go on from the newest checkpoint in `output_dir`; where a run was stopped before its
            first one, start it again. Of a run whose steps are done nothing is written.

    Raises:
        ConfigError, DatasetError: the input cannot be used.
        VerifierError: the service is not there at the start.
        TrainingStopped: the service went away for too long, nothing was judged, a guard stopped
            the run, or SIGTERM came; a checkpoint has been saved.
    """
    with launched() as processes:
        # Until the process ends: what follows a run is said once too.
        CONSOLE.quiet = not processes.leads
        checkpoint = _checkpoint_to_resume(config.output_dir, resume=resume)
        finished = None if checkpoint is None else _finished(config, checkpoint)
        return _run(config, checkpoint, processes) if finished is None else finished


def _run(config: Config, checkpoint: Checkpoint | None, processes: Processes) -> RunResult:
    """The steps that are left, and the model."""
    problems = load_problems(config.dataset)
    order = ProblemOrder(
        problems,
        per_step=config.rollout.prompts_per_step,
        seed=config.train.seed,
    )
    evaluations = Evaluations(config)
    questions = [question_of(evaluation) for evaluation in config.evaluation]
    with open_scorer(config.reward, *questions) as scorer, catch_sigterm() as interruption:
        check_processes(config, processes)
        learner = make_learner(config, checkpoint, processes)
        position = start_position(checkpoint)
        if checkpoint is not None:
            learner.take_kept(checkpoint, problems, config)
        with closing(learner), _open_log(config, position.step, processes) as log:
            _evaluate_at_start(evaluations, learner, scorer, log, position.step)
            while position.step < config.train.steps:
                position = replace(position, random=RandomState.now())
                try:
                    metrics, next_problems = train_step(learner, scorer, order, position, config)
                except (*SAMPLING_ERRORS, TrainingError) as error:
                    _stop(learner, position, config, str(error), cause=error)
                step = position.step + 1
                if config.loss.reference_sync_steps and not step % config.loss.reference_sync_steps:
                    learner.sync_reference()
                log.log(step, metrics)
                position = Position(step, next_problems, RandomState.now())
                try:
                    log.add(_evaluate(evaluations, learner, scorer, log, step))
                except EVALUATION_ERRORS as error:
                    _stop(learner, position, config, str(error), cause=error)
                _check(learner, position, config, log, interruption)
                _save_if_due(learner, position, config, log)
        learner.policy.save_merged(config.output_dir / "model")
        if learner.processes.leads:
            (config.output_dir / STEP_OF_MODEL).write_text(f"{position.step}\n")
    return _result(config, log.history)


def train_step(
    learner: Learner, scorer: Scorer, order: ProblemOrder, position: Position, config: Config
) -> tuple[dict[str, float], int]:
    """One step from problems to updates; returns its metrics and the next problems' position.

    Raises:
        VerifierError, RewardError, RolloutError, OtherProcessFailed, TrainingError: before any
            update.
    """
    start = time.perf_counter()
    processes = learner.processes
    processes.seed_step(config.train.seed, position.step)
    own, problems, weights_seconds = next_groups(learner, scorer, order, position, config)
    scored = reduce(ScoredGroups.joined, processes.gather(own))
    rewards = rewards_of(scored, config)
    advantages = group_advantages(
        rewards,
        scale=config.advantage.scale,
        std=config.advantage.std,
        epsilon=config.advantage.epsilon,
        baseline=config.advantage.baseline,
    )
    if processes.leads:
        if config.train.write_rollouts:
            write_rollouts(config.output_dir, position.step + 1, scored, rewards, advantages)
        append_solve_rates(config.output_dir, position.step + 1, scored, config.reward.main.key)
    update_start = time.perf_counter()
    update = {"policy/updates": 0.0, "policy/skipped_updates": 0.0}
    group_rows, batch = batch_of(scored, rewards, advantages, config, learner.policy, processes)
    if batch is not None:
        update |= update_on_rollouts(learner, batch, group_rows, config)
    end = time.perf_counter()
    metrics = {
        **rollout_metrics(scored, rewards, advantages, config.reward),
        **update,
        "time/weights": weights_seconds,
        "time/update": end - update_start,
        "time/step": end - start,
    }
    return metrics, problems


def rewards_of(scored: ScoredGroups, config: Config) -> torch.Tensor:
    """float64 `[N, G]`, NaN where a completion could not be judged.

    Raises:
        TrainingError: no completion was judged at all.
    """
    rewards = raw_rewards(scored, config.reward.sources)
    if rewards.isnan().all():
        seen = {
            f"{name}: {verdict.outcome} ({verdict.why})"
            for group in scored.groups
            for verdicts in group.verdicts
            for name, verdict in verdicts.items()
            if verdict.score is None
        }
        shown = ", ".join(sorted(seen)[:MAX_SHOWN_VERDICTS])
        raise TrainingError(
            "the verifier judged none of this step's completions, so there is nothing to learn "
            f"from; its verdicts: {shown}. Check dataset.reference_columns and the service's log"
        )
    return rewards


def batch_of(
    scored: ScoredGroups,
    rewards: torch.Tensor,
    advantages: torch.Tensor,
    config: Config,
    policy: Policy,
    processes: Processes = Processes(),  # noqa: B008 - frozen
) -> tuple[list[list[int]], Batch | None]:
    """The sequences that this process trains on; rewards and advantages are `[N, G]`.

    Args:
        scored: the groups of all processes.
        rewards: NaN where a completion was not judged.
        advantages: of each completion.
        config: says which groups and completions are dropped; the rest is shared out.
        policy: whose device the batch is for.
        processes: this one among them.

    Returns:
        The rows of each group, and the batch; None where no process has a sequence left.
    """
    groups = processes.share(kept := _kept(scored, rewards, advantages, config))
    if not kept:
        return [], None
    rollouts, values = zip(*(row for group in groups or kept[:1] for row in group), strict=True)
    batch = make_batch(rollouts, values, pad_id=policy.pad_id, device=policy.device)
    if config.loss.truncated == "mask":
        ended = torch.tensor([not rollout.truncated for rollout in rollouts], device=policy.device)
        batch = replace(batch, completion_mask=batch.completion_mask & ended[:, None])
    row_numbers = iter(range(len(rollouts)))
    group_rows = [list(islice(row_numbers, len(group))) for group in groups or kept[:1]]
    return group_rows, batch if groups else standing_for_none(batch)


def _kept(
    scored: ScoredGroups, rewards: torch.Tensor, advantages: torch.Tensor, config: Config
) -> list[list[tuple[Rollout, float]]]:
    """Rollouts and advantages of each group that is trained on."""
    teaches = groups_that_differ(rewards) | (config.advantage.zero_variance == "keep")
    keeps = ~rewards.isnan() | (config.advantage.unjudged == "keep")
    groups = []
    for index, group in enumerate(scored.groups):
        rows = zip(group.group.rollouts, advantages[index].tolist(), keeps[index], strict=True)
        groups.append(
            [(rollout, value) for rollout, value, kept in rows if kept and teaches[index]]
        )
    return [group for group in groups if group]


def _open_log(config: Config, first_step: int, processes: Processes) -> MetricsLog:
    """The log of a run that starts or goes on here; `config.yaml` says what it was run with.

    Processes that do not lead have a folder of their own, with their own times.
    """
    folder = config.output_dir
    if not processes.leads:
        folder = folder / f"process_{processes.rank}"
    folder.mkdir(parents=True, exist_ok=True)
    if processes.leads:
        (folder / STEP_OF_MODEL).unlink(missing_ok=True)  # until the model is this run's
    changed = config_changes(folder / "config.yaml", config) if first_step else []
    (folder / "config.yaml").write_text(dump_config(config))
    keep_lines(folder / "solve_rates.jsonl", last_step=first_step)
    log = MetricsLog(
        folder,
        title="training",
        num_steps=config.train.steps,
        first_step=first_step,
        log_every_steps=config.train.log_every_steps,
        console_keys=CONSOLE_KEYS,
    )
    # What follows from the history every process has to do, and one of them may be new.
    log.history = processes.gather(log.history)[0]
    # A killed run may have saved its checkpoint and lost the row of its last step.
    if first_step and (not log.history or log.history[-1]["step"] != first_step):
        log.history.append({"step": first_step})
    if not first_step:
        for message in warnings_at_start(config):
            log.warn(0, message)
    if changed:
        log.warn(first_step, f"goes on with other settings: {', '.join(changed)}")
    return log


def _evaluate_at_start(
    evaluations: Evaluations, learner: Learner, scorer: Scorer, log: MetricsLog, step: int
) -> None:
    """Evaluate the start model, or what a run that is resumed could not evaluate any more."""
    if step == 0 and evaluations.due(0):
        log.log(0, _held_out(evaluations, learner, scorer, 0))
    elif step and any(
        not any(name.startswith(f"{prefix}/") for name in log.history[-1])
        for prefix in evaluations.due(step)
    ):
        log.add(_evaluate(evaluations, learner, scorer, log, step))


def _evaluate(
    evaluations: Evaluations, learner: Learner, scorer: Scorer, log: MetricsLog, step: int
) -> dict[str, float]:
    if not evaluations.due(step):
        return {}
    held_out = _held_out(evaluations, learner, scorer, step)
    return {**held_out, **changes(held_out, _first_row(log.history))}


def _held_out(
    evaluations: Evaluations, learner: Learner, scorer: Scorer, step: int
) -> dict[str, float]:
    """The metrics of what is due, in every process; the first one evaluates."""

    def run() -> dict[str, float]:
        if learner.processes.leads:
            return evaluations.run(step, learner.engine, scorer)
        evaluations.join(step, learner.engine)
        return {}

    if learner.ahead is not None:
        learner.ahead.wait()
    with learner.offloaded():
        learner.processes.agree(learner.engine.update_weights, *SAMPLING_ERRORS)
        metrics = learner.processes.agree(run, *EVALUATION_ERRORS)
    return learner.processes.gather(metrics)[0]


def _check(
    learner: Learner,
    position: Position,
    config: Config,
    log: MetricsLog,
    interruption: Interruption,
) -> None:
    """Give the warnings that are new; stop where a guard or SIGTERM says so."""
    for message in new_warnings(log.history, config):
        log.warn(position.step, message)
    reason = reason_to_stop(log.history, config)
    if reason is not None:
        limit = config.guards.stop_if_kl_above
        saved = [checkpoint.step for checkpoint in list_checkpoints(config.output_dir)]
        good = None if limit is None else last_step_below_kl_limit(log.history, saved, limit)
        if good is not None:
            reason += f". The last checkpoint within the KL limit is the one of step {good}"
        _stop(learner, position, config, reason)
    if learner.processes.any(interruption.requested) and position.step < config.train.steps:
        _stop(learner, position, config, "SIGTERM", error=TrainingInterrupted)


def _stop(
    learner: Learner,
    position: Position,
    config: Config,
    reason: str,
    *,
    cause: Exception | None = None,
    error: type[TrainingStopped] = TrainingStopped,
) -> NoReturn:
    """Save the run as it stands, and raise."""
    checkpoint = learner.save(position, config)
    raise error(
        f"stopped after step {position.step}: {reason}. Saved {checkpoint.folder}; "
        "`--resume` goes on from there"
    ) from cause


def _save_if_due(learner: Learner, position: Position, config: Config, log: MetricsLog) -> None:
    """Save every n steps, at the end, and when an evaluation is the best so far."""
    every = config.train.checkpoint_every_steps
    best = best_step(log.history, config)
    if position.step in (config.train.steps, best) or (
        every is not None and position.step % every == 0
    ):
        learner.save(position, config)
        if learner.processes.leads:
            remove_checkpoints(
                config.output_dir,
                keep=config.train.keep_checkpoints,
                also=() if best is None else (best,),
            )


def best_step(history: Sequence[dict[str, float]], config: Config) -> int | None:
    """The step with the highest pass@k, of the first evaluation and its first k; None: none yet."""
    if not config.evaluation:
        return None
    first = config.evaluation[0]
    key = f"{first.prefix}/pass@{first.k[0]}"
    rows = [row for row in history if key in row and row["step"] > 0]
    return int(max(rows, key=lambda row: row[key])["step"]) if rows else None


def _checkpoint_to_resume(run_dir: Path, *, resume: bool) -> Checkpoint | None:
    checkpoints = list_checkpoints(run_dir)
    if checkpoints and not resume:
        raise ConfigError(
            f"output_dir {run_dir} holds checkpoints of a run; go on with --resume or choose "
            "another folder"
        )
    if resume and not checkpoints:
        if not (run_dir / "config.yaml").exists():
            raise ConfigError(f"output_dir {run_dir} holds no run to resume")
        CONSOLE.print(
            f"{run_dir} holds no checkpoint yet: starting from the beginning",
            highlight=False,
            soft_wrap=True,
        )
    return checkpoints[-1] if checkpoints else None


def _finished(config: Config, checkpoint: Checkpoint) -> RunResult | None:
    """What a run came to whose steps are done and whose model is written; None: it goes on."""
    step = config.output_dir / STEP_OF_MODEL
    done = checkpoint.step >= config.train.steps
    if not done or not step.exists() or step.read_text().strip() != str(checkpoint.step):
        return None
    steps = "its one step" if checkpoint.step == 1 else f"all {checkpoint.step} steps"
    CONSOLE.print(
        f"{config.output_dir} has {steps}: raise train.steps to go on",
        highlight=False,
        soft_wrap=True,
    )
    return _result(config, read_lines(config.output_dir / "metrics.jsonl"))


def _result(config: Config, history: Sequence[dict[str, float]]) -> RunResult:
    return RunResult(
        config.output_dir / "model",
        _evaluation_metrics(_first_row(history)),
        _evaluation_metrics(history[-1]) if history else {},
    )


def _first_row(history: Sequence[dict[str, float]]) -> dict[str, float]:
    """The metrics before the first step."""
    return next((row for row in history if row["step"] == 0), {})


def _evaluation_metrics(row: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in row.items() if name.startswith("evaluation/")}
