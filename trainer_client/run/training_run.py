"""A training under way: the objects it owns, the position it stands at, and the ways it ends."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from trainer_client.config.run_config import Config, config_changes, dump_config
from trainer_client.data_sets import DataSet, load_held_out, questions_of
from trainer_client.errors import (
    TrainingError,
    TrainingInterrupted,
    TrainingStopped,
    TrainingStoppedByUser,
    raised,
    writing,
)
from trainer_client.evaluate import Evaluations, NothingJudged
from trainer_client.learner import Learner, make_learner, start_position
from trainer_client.pass_at_k import pass_at_k_changes
from trainer_client.policy.weights import writing_weights
from trainer_client.problem_mix import MixPosition
from trainer_client.problems import Problem
from trainer_client.processes import OtherProcessFailed, Processes, check_processes
from trainer_client.prompts import PromptReader
from trainer_client.reward.group_scoring import Scorer, open_scorer
from trainer_client.reward.rewards import service_keys, source_keys
from trainer_client.rollout.group_sampler import SAMPLING_ERRORS
from trainer_client.run.boards import open_boards
from trainer_client.run.checkpoint import (
    Checkpoint,
    Position,
    RandomState,
    list_checkpoints,
    remove_checkpoints,
)
from trainer_client.run.checkpoint_choice import best_step
from trainer_client.run.checkpoint_store import store_of
from trainer_client.run.console import CONSOLE_KEYS, say
from trainer_client.run.guards import (
    History,
    last_step_below_kl_limit,
    new_warnings,
    rate_warnings,
    reason_to_stop,
    warnings_at_start,
)
from trainer_client.run.interruption import Interruption, catch_interruptions, name_of
from trainer_client.run.json_lines import keep_lines, read_lines
from trainer_client.run.logged_run import STEP_OF_MODEL
from trainer_client.run.metrics import MetricsLog
from trainer_client.run.rollout_log import rollouts_path
from trainer_client.run.starts import record_start

StepCallback = Callable[[int, Mapping[str, float]], None]
"""Called with the number of a step and its metrics."""

EVALUATION_ERRORS = (*SAMPLING_ERRORS, NothingJudged)
"""Errors of the outside world in an evaluation; any other exception is a bug."""


@dataclass(frozen=True)
class RunResult:
    """The model of a finished run, and its evaluations."""

    model_dir: Path
    before: dict[str, float]
    """`evaluation/*` metrics of the start model."""
    after: dict[str, float]
    """`evaluation/*` metrics of the trained model."""

    @classmethod
    def of(cls, run_dir: Path, history: History) -> RunResult:
        """The result of a run with these metrics."""
        newest = history[-1] if history else {}
        return cls(
            run_dir / "model",
            before=_evaluation_metrics(_row_before_training(history)),
            after=_evaluation_metrics(newest),
        )


@dataclass
class TrainingRun:
    """A training under way."""

    config: Config
    learner: Learner
    scorer: Scorer
    evaluations: Evaluations
    log: MetricsLog
    position: Position
    """The position from which the run could be resumed now."""
    interruption: Interruption

    def evaluate_at_start(self) -> None:
        """Evaluate the start model, or a checkpoint whose step has lost its evaluation."""
        step = self.position.step
        due = self.evaluations.due(step)
        if step == 0 and due:
            self.log.log(0, self._evaluate_held_out())
        elif step and not all(_has_metrics(self.log.history[-1], prefix) for prefix in due):
            self.log.add(self._evaluation_with_changes())

    def begin_step(self) -> None:
        """Note the random state: a run that stops within the step is resumed from here."""
        self.position = replace(self.position, random=RandomState.now())

    def finish_step(self, metrics: Mapping[str, float], next_problem: MixPosition) -> None:
        """Log a step's metrics and move on to the position after it."""
        step = self.position.step + 1
        sync_steps = self.config.loss.reference_sync_steps
        if sync_steps is not None and step % sync_steps == 0:
            self.learner.sync_reference()
        self.log.log(step, metrics)
        path = rollouts_path(self.config.output_dir, step)
        if self.learner.processes.leads and self._shows_rollouts and path.exists():
            self.log.show_rollouts(step, read_lines(path))
        self.position = Position(step, next_problem, RandomState.now())

    @property
    def _shows_rollouts(self) -> bool:
        return set(self.config.logging) != {"tensorboard"}

    def evaluate_if_due(self) -> None:
        """Add the evaluations that are due to the step's metrics; stop the run when they fail."""
        if self.evaluations.due(self.position.step):
            with self.stopping_on(*EVALUATION_ERRORS):
                self.log.add(self._evaluation_with_changes())

    def tell_step(self, on_step: StepCallback) -> None:
        """Hand the step's metrics to a callback; stop the run when it raises an error."""
        processes = self.learner.processes

        def call() -> None:
            if not processes.leads:
                return
            try:
                on_step(self.position.step, dict(self.log.history[-1]))
            except Exception as error:
                raise TrainingError(f"on_step raised {raised(error)}") from error

        with self.stopping_on(TrainingError, OtherProcessFailed):
            processes.agree(call, TrainingError)

    def check_guards(self) -> None:
        """Log the warnings that are new; stop the run when a guard says so."""
        history = self.log.history
        for message in new_warnings(history, self.config):
            self.log.warn(self.position.step, message)
        reason = reason_to_stop(history, self.config)
        if reason is None:
            return
        limit = self.config.guards.stop_if_kl_above
        saved = [checkpoint.step for checkpoint in list_checkpoints(self.config.output_dir)]
        good = None if limit is None else last_step_below_kl_limit(history, saved, limit)
        if good is not None:
            reason += (
                f". The last checkpoint within the KL limit is the one of step {good}: `--resume "
                "--from last_good` goes back to it, with a lower optimizer.learning_rate or a "
                "higher loss.kl_coefficient"
            )
        self._stop(reason)

    def stop_if_interrupted(self) -> None:
        """Stop the run when SIGTERM or Ctrl-C has come to a process and steps are left."""
        came = [one for one in self.learner.processes.gather(self.interruption.signal) if one]
        if came and self.position.step < self.config.train.steps:
            by_user = came[0] is signal.SIGINT
            error = TrainingStoppedByUser if by_user else TrainingInterrupted
            self._stop(name_of(came[0]), error=error)

    def save_if_due(self) -> None:
        """Save every n steps, after the last step, and when an evaluation is the best so far."""
        step, every = self.position.step, self.config.train.checkpoint_every_steps
        best = best_step(self.log.history, self.config.evaluation)
        due = every is not None and step % every == 0
        if not due and step not in (self.config.train.steps, best):
            return
        checkpoint = self.learner.save(self.config.output_dir, self.position)
        if self.learner.processes.leads:
            remove_checkpoints(
                self.config.output_dir,
                keep=self.config.train.keep_checkpoints,
                also=() if best is None else (best,),
            )
        self._store(checkpoint)

    def _store(self, checkpoint: Checkpoint) -> None:
        """Send a checkpoint to the run's store, if it has one."""
        store = store_of(self.config, self.learner.processes)
        if store is not None:
            store.keep(checkpoint)

    @contextmanager
    def stopping_on(self, *errors: type[Exception]) -> Iterator[None]:
        """Inside, these errors stop the run.

        Raises:
            TrainingStopped: one of them came; a checkpoint has been saved.
        """
        try:
            yield
        except errors as error:
            self._stop(str(error), cause=error)

    def save_model(self) -> None:
        """Write the trained model to `model/`, an adapter merged."""
        folder = self.config.output_dir / "model"
        with writing_weights(folder):
            self.learner.policy.save_merged(folder)
        if self.learner.processes.leads:
            (self.config.output_dir / STEP_OF_MODEL).write_text(f"{self.position.step}\n")

    def _evaluation_with_changes(self) -> dict[str, float]:
        """Metrics of the evaluations that are due, and their changes since the start."""
        metrics = self._evaluate_held_out()
        return {**metrics, **pass_at_k_changes(metrics, _row_before_training(self.log.history))}

    def _evaluate_held_out(self) -> dict[str, float]:
        """Metrics of the evaluations that are due, in every process; the first one evaluates."""
        learner, step, start = self.learner, self.position.step, time.perf_counter()

        def evaluate() -> dict[str, float]:
            if learner.processes.leads:
                return self.evaluations.run(step, learner.engine, self.scorer)
            self.evaluations.join(step, learner.engine)
            return {}

        if learner.ahead is not None:
            learner.ahead.wait()
        with learner.offloaded():
            learner.processes.agree(partial(learner.update_sampler, step), *SAMPLING_ERRORS)
            metrics = learner.processes.agree(evaluate, *EVALUATION_ERRORS)
        seconds = {"time/evaluation": time.perf_counter() - start}
        return learner.processes.gather({**metrics, **seconds})[0]

    def _stop(
        self,
        reason: str,
        *,
        cause: Exception | None = None,
        error: type[TrainingStopped] = TrainingStopped,
    ) -> NoReturn:
        """Save the run at its position, and raise."""
        checkpoint = self.learner.save(self.config.output_dir, self.position)
        self._store(checkpoint)
        if self.learner.processes.leads:
            self.log.note_stop(self.position.step, reason)
        end = "" if reason.endswith("?") else "."
        raise error(
            f"stopped after step {self.position.step}: {reason}{end} Saved {checkpoint.folder}; "
            "`--resume` goes on from there"
        ) from cause


@contextmanager
def open_run(
    config: Config,
    data_sets: Sequence[DataSet],
    reader: PromptReader,
    checkpoint: Checkpoint | None,
    processes: Processes,
) -> Iterator[TrainingRun]:
    """A run at its first step, or at that of a checkpoint.

    Its model is written when the block ends without an error. Until then SIGTERM and Ctrl-C are
    caught.

    Args:
        config: configuration of the run.
        data_sets: data sets to train on.
        reader: reads the problems of evaluations.
        checkpoint: the checkpoint to go on from; None: the run starts.
        processes: the processes of the run.

    Raises:
        ConfigError, DatasetError, ChatError: the input cannot be used.
        VerifierError: the service does not answer.
    """
    held_out = [
        reader.fitting(load_held_out(evaluation, config.reward), evaluation.dataset)
        for evaluation in config.evaluation
    ]
    evaluations = Evaluations(
        config.evaluation, held_out, config.rollout, last_step=config.train.steps
    )
    asked = questions_of(config, data_sets, held_out)
    problems = [problem for data_set in data_sets for problem in data_set.problems]
    with open_scorer(config.reward, asked) as scorer, catch_interruptions() as interruption:
        check_processes(config, processes)
        learner = make_learner(config, checkpoint, processes)
        position = start_position(checkpoint)
        if checkpoint is not None:
            learner.restore_groups_ahead(
                checkpoint, problems, partial(service_keys, config=config.reward)
            )
            learner.restore_replay(checkpoint, problems, partial(source_keys, config=config.reward))
        with closing(learner), _open_log(config, position.step, processes) as log:
            if processes.leads:
                record_start(config.output_dir, position.step, learner.num_trained, processes.size)
            if not position.step:
                for message in rate_warnings(learner.num_trained, config.optimizer):
                    log.warn(0, message)
                _warn_at_start(log, config, reader, problems, held_out)
            run = TrainingRun(config, learner, scorer, evaluations, log, position, interruption)
            yield run
        run.save_model()


def is_finished(run_dir: Path, checkpoint: Checkpoint, *, num_steps: int) -> bool:
    """Whether the steps of the run are done, and its model is written."""
    step = run_dir / STEP_OF_MODEL
    return (
        checkpoint.step >= num_steps
        and step.exists()
        and step.read_text().strip() == str(checkpoint.step)
    )


def _open_log(config: Config, first_step: int, processes: Processes) -> MetricsLog:
    """The log of a run that starts or goes on here; `config.yaml` holds its settings.

    Each process that does not lead logs to a folder of its own, with its own times.
    """
    folder = config.output_dir
    if not processes.leads:
        folder = folder / f"process_{processes.rank}"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if processes.leads:
        # An earlier run's model in this folder would otherwise pass for this run's.
        (folder / STEP_OF_MODEL).unlink(missing_ok=True)
    changed = config_changes(folder / "config.yaml", config) if first_step else []
    (folder / "config.yaml").write_text(dump_config(config))
    for name in ("solve_rates.jsonl", "starts.jsonl"):
        keep_lines(folder / name, last_step=first_step)
    log = MetricsLog(
        folder,
        title="training",
        num_steps=config.train.steps,
        first_step=first_step,
        log_every_steps=config.train.log_every_steps,
        console_keys=CONSOLE_KEYS,
        # Other processes have no run of their own elsewhere: one would stand there for each.
        boards=open_boards(config, folder, first_step=first_step) if processes.leads else None,
    )
    # Guards and the best step follow from the history, so all processes need the same one; a
    # process that was not part of the run before has none.
    log.history = processes.gather(log.history)[0]
    # A killed run may have saved its checkpoint and lost the row of its last step.
    if first_step and (not log.history or log.history[-1]["step"] != first_step):
        log.history.append({"step": first_step})
    if changed:
        log.warn(first_step, f"goes on with other settings: {', '.join(changed)}")
    return log


def _warn_at_start(
    log: MetricsLog,
    config: Config,
    reader: PromptReader,
    problems: Sequence[Problem],
    held_out: Sequence[Sequence[Problem]],
) -> None:
    """Log the warnings about settings, and about the prompts of training and evaluations."""
    warnings = warnings_at_start(config)
    limit = config.rollout.max_completion_tokens
    warnings += reader.warnings(problems, max_completion_tokens=limit)
    for evaluation, group in zip(config.evaluation, held_out, strict=True):
        own_limit = evaluation.max_completion_tokens or limit
        warnings += reader.warnings(group, max_completion_tokens=own_limit)
    for message in dict.fromkeys(warnings):
        log.warn(0, message)
    if not config.needs_reference and config.guards.stop_if_kl_above is not None:
        say(
            "the KL is not measured while loss.kl_coefficient is 0, so the limits of guards never "
            "act on it; guards.measure_kl_every_steps=10 measures it"
        )


def _row_before_training(history: History) -> Mapping[str, float]:
    return next((row for row in history if row["step"] == 0), {})


def _evaluation_metrics(row: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in row.items() if name.startswith("evaluation/")}


def _has_metrics(row: Mapping[str, float], prefix: str) -> bool:
    return any(name.startswith(f"{prefix}/") for name in row)
