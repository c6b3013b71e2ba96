"""GRPO: sample groups, have them scored, and move the policy towards what scored above its group.

One step, top to bottom: problems -> rollouts -> verdicts (over HTTP, while later groups are still
being generated) -> rewards -> advantages -> loss -> update -> log.

Departures from DeepSeekMath (arXiv 2402.03300), each a setting: the reward is a weighted sum of
verifiers' scores, not a reward model; the old policy of the ratio is the sampler, whose own
log-probabilities are kept, so no forward pass recomputes them; completions that could not be judged
take no part in mean and std; groups with equal rewards get exactly 0.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LRScheduler
from transformers import PreTrainedModel, get_scheduler

from trainer_client.advantages import group_advantages
from trainer_client.batch import Batch, make_batch, micro_batches
from trainer_client.checkpoint import (
    Checkpoint,
    list_checkpoints,
    restore_training_state,
    save_checkpoint,
)
from trainer_client.config import Config, ConfigError, OptimizerConfig, dump_config
from trainer_client.dataset import Problem, ProblemOrder, load_problems
from trainer_client.evaluate import Evaluation, evaluate
from trainer_client.logprobs import token_logprobs
from trainer_client.loss import policy_loss, token_weights
from trainer_client.metrics import CONSOLE, MetricsLog, rollout_metrics
from trainer_client.policy import Policy, frozen_copy, load_policy
from trainer_client.rewards import reward
from trainer_client.rollout import RolloutEngine, Sampling
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.scoring import ScoredGroups, Scorer, generate_and_score, open_scorer

CONSOLE_KEYS = {
    "reward/total": "reward",
    "reward/accuracy": "accuracy",
    "policy/kl_divergence": "KL",
    "policy/entropy": "entropy",
    "completion/length": "length",
    "time/step": "seconds",
}


class TrainingError(RuntimeError):
    """Training cannot go on; the message says what was seen."""


@dataclass(frozen=True)
class RunResult:
    """Where a finished run left its model, and what the evaluations said."""

    model_dir: Path
    before: Evaluation | None
    """Of the start model; None without an `evaluation` section, or when the run was resumed."""
    after: Evaluation | None


@dataclass(frozen=True)
class Learner:
    """What a training step works with."""

    policy: Policy
    reference: PreTrainedModel | None
    """The frozen start policy; None when the loss has no KL term."""
    optimizer: Optimizer
    scheduler: LRScheduler
    engine: RolloutEngine


def train(config: Config, *, resume: bool = False) -> RunResult:
    """Run a whole training.

    Args:
        config: of the run; written to `output_dir/config.yaml`.
        resume: go on from the newest checkpoint in `output_dir`.

    Raises:
        ConfigError, DatasetError: the input cannot be used.
        VerifierError: the service did not score a group within the attempts.
        TrainingError: nothing was judged, or the gradient is not finite.
    """
    checkpoint = _checkpoint_to_resume(config.output_dir, resume=resume)
    first_step = checkpoint.step if checkpoint else 0
    order = ProblemOrder(
        load_problems(config.dataset),
        per_step=config.rollout.prompts_per_step,
        seed=config.train.seed,
    )
    held_out = load_problems(config.evaluation[0].dataset) if config.evaluation else []
    with open_scorer(config.reward) as scorer:
        learner = make_learner(config, checkpoint)
        config.output_dir.mkdir(parents=True, exist_ok=True)
        (config.output_dir / "config.yaml").write_text(dump_config(config))
        with MetricsLog(
            config.output_dir,
            title="training",
            num_steps=config.train.steps,
            first_step=first_step,
            log_every_steps=config.train.log_every_steps,
            console_keys=CONSOLE_KEYS,
        ) as log:
            evaluate_at = partial(_evaluate, learner, scorer, held_out, config, log)
            before = evaluate_at(0) if checkpoint is None else None
            after = before
            for step in range(first_step, config.train.steps):
                log.log(step + 1, train_step(learner, scorer, order.step(step), config))
                if _is_due(step + 1, config.train.checkpoint_every_steps, config):
                    save_checkpoint(
                        config.output_dir,
                        step + 1,
                        policy=learner.policy,
                        optimizer=learner.optimizer,
                        scheduler=learner.scheduler,
                        keep=config.train.keep_checkpoints,
                    )
                if config.evaluation and _is_due(
                    step + 1, config.evaluation[0].every_steps, config
                ):
                    after = evaluate_at(step + 1)
    learner.policy.save(config.output_dir / "model")
    return RunResult(config.output_dir / "model", before, after)


def train_step(
    learner: Learner, scorer: Scorer, problems: Sequence[Problem], config: Config
) -> dict[str, float]:
    """One step from problems to an update; returns its metrics."""
    start = time.perf_counter()
    scored = generate_and_score(learner.engine, scorer, problems, _sampling(config))
    rewards = rewards_of(scored, config)
    advantages = group_advantages(
        rewards,
        scale=config.advantage.scale,
        std=config.advantage.std,
        epsilon=config.advantage.epsilon,
        baseline=config.advantage.baseline,
    )
    batch = batch_of(scored, rewards, advantages, config, learner.policy)
    update_start = time.perf_counter()
    for _ in range(config.train.epochs_per_rollout):
        update = update_policy(learner, batch, config)
    end = time.perf_counter()
    return {
        **rollout_metrics(scored, rewards, advantages, config.reward.verifiers),
        **update,
        "time/update": end - update_start,
        "time/step": end - start,
    }


def make_learner(config: Config, checkpoint: Checkpoint | None = None) -> Learner:
    """Policy, reference, optimizer and engine, fresh or as a checkpoint left them."""
    torch.manual_seed(config.train.seed)
    start_policy = load_policy(config.model)
    reference = frozen_copy(start_policy.model) if config.loss.kl_coefficient else None
    policy = start_policy
    if checkpoint is not None:
        policy = load_policy(config.model.model_copy(update={"path": str(checkpoint.folder)}))
    optimizer, scheduler = make_optimizer(
        policy.model,
        config.optimizer,
        num_steps=config.train.steps * config.train.epochs_per_rollout,
    )
    if checkpoint is not None:
        restore_training_state(checkpoint, optimizer=optimizer, scheduler=scheduler)
    engine = TransformersEngine(policy, batch_size=config.rollout.batch_size)
    return Learner(policy, reference, optimizer, scheduler, engine)


def rewards_of(scored: ScoredGroups, config: Config) -> torch.Tensor:
    """float64 `[N, G]`, NaN where a completion could not be judged.

    Raises:
        TrainingError: no completion was judged at all.
    """
    rewards = torch.tensor(
        [
            [
                math.nan if (value := reward(verdicts, config.reward.verifiers)) is None else value
                for verdicts in group.verdicts
            ]
            for group in scored.groups
        ],
        dtype=torch.float64,
    )
    if rewards.isnan().all():
        seen = {
            f"{name}: {verdict.outcome} ({verdict.reason})"
            for group in scored.groups
            for verdicts in group.verdicts
            for name, verdict in verdicts.items()
            if verdict.score is None
        }
        raise TrainingError(
            "the verifier judged none of this step's completions, so there is nothing to learn "
            f"from; its verdicts: {', '.join(sorted(seen))}. Check dataset.reference_columns and "
            "the service's log"
        )
    return rewards


def batch_of(
    scored: ScoredGroups,
    rewards: torch.Tensor,
    advantages: torch.Tensor,
    config: Config,
    policy: Policy,
) -> Batch:
    """The sequences to train on; rewards and advantages are `[N, G]`."""
    rollouts = [rollout for group in scored.groups for rollout in group.group.rollouts]
    kept = [
        (rollout, advantage)
        for rollout, advantage, value in zip(
            rollouts, advantages.flatten().tolist(), rewards.flatten().tolist(), strict=True
        )
        if config.advantage.unjudged == "keep" or not math.isnan(value)
    ]
    return make_batch(
        [rollout for rollout, _ in kept],
        [advantage for _, advantage in kept],
        pad_id=policy.pad_id,
        device=policy.device,
    )


def update_policy(learner: Learner, batch: Batch, config: Config) -> dict[str, float]:
    """One optimizer step on the whole batch, its gradient summed over micro-batches.

    Returns:
        `policy/*` metrics, means over completion tokens.

    Raises:
        TrainingError: the gradient is not finite; the weights are as they were.
    """
    weights = token_weights(
        batch.completion_mask,
        config.loss,
        max_completion_tokens=config.rollout.max_completion_tokens,
    )
    num_tokens = int(batch.completion_mask.sum())
    loss = kl = clipped = entropy = 0.0
    for part in micro_batches(batch.attention_mask, max_tokens=config.train.micro_batch_tokens):
        input_ids = part.take(batch.input_ids)
        attention_mask = part.take(batch.attention_mask)
        mask = part.take(batch.completion_mask)
        logprobs_under = partial(
            token_logprobs,
            input_ids=input_ids,
            attention_mask=attention_mask,
            mask=mask,
            temperature=config.rollout.temperature,
        )
        reference_logprobs = None
        if learner.reference is not None:
            with torch.no_grad():
                reference_logprobs = logprobs_under(learner.reference).logprobs
        current = logprobs_under(learner.policy.model)
        terms = policy_loss(
            current.logprobs,
            part.take(batch.sampler_logprobs),
            part.take(batch.advantages),
            mask,
            part.take(weights),
            config.loss,
            reference_logprobs=reference_logprobs,
        )
        terms.loss.backward()  # type: ignore[no-untyped-call]
        loss += terms.loss.item()
        kl += terms.kl_sum.item()
        clipped += terms.clipped_sum.item()
        entropy += current.entropy.sum().item()
    norm = float(
        torch.nn.utils.clip_grad_norm_(
            learner.policy.model.parameters(), config.optimizer.max_grad_norm
        )
    )
    if not math.isfinite(norm):
        learner.optimizer.zero_grad()
        raise TrainingError(f"the gradient is not finite (loss {loss}, norm {norm})")
    learning_rate = float(learner.scheduler.get_last_lr()[0])
    learner.optimizer.step()
    learner.scheduler.step()
    learner.optimizer.zero_grad()
    metrics = {
        "policy/loss": loss,
        "policy/entropy": entropy / num_tokens,
        "policy/clip_fraction": clipped / num_tokens,
        "policy/grad_norm": norm,
        "policy/learning_rate": learning_rate,
    }
    if learner.reference is not None:
        metrics["policy/kl_divergence"] = kl / num_tokens
    return metrics


def make_optimizer(
    model: PreTrainedModel, config: OptimizerConfig, *, num_steps: int
) -> tuple[Optimizer, LRScheduler]:
    """AdamW with a warm-up from 0 and then the configured schedule."""
    optimizer = AdamW(
        model.parameters(),
        lr=config.learning_rate,
        betas=config.betas,
        weight_decay=config.weight_decay,
    )
    name = "constant_with_warmup" if config.schedule == "constant" else config.schedule
    scheduler = get_scheduler(
        name, optimizer, num_warmup_steps=config.warmup_steps, num_training_steps=num_steps
    )
    return optimizer, scheduler


def _checkpoint_to_resume(run_dir: Path, *, resume: bool) -> Checkpoint | None:
    checkpoints = list_checkpoints(run_dir)
    if checkpoints and not resume:
        raise ConfigError(
            f"output_dir {run_dir} holds checkpoints of another run; go on with --resume or choose "
            "another folder"
        )
    if resume and not checkpoints:
        raise ConfigError(f"output_dir {run_dir} holds no checkpoint to resume from")
    return checkpoints[-1] if checkpoints else None


def _sampling(config: Config) -> Sampling:
    return Sampling(
        group_size=config.rollout.group_size,
        max_completion_tokens=config.rollout.max_completion_tokens,
        temperature=config.rollout.temperature,
        top_p=config.rollout.top_p,
    )


def _evaluate(
    learner: Learner,
    scorer: Scorer,
    held_out: Sequence[Problem],
    config: Config,
    log: MetricsLog,
    step: int,
) -> Evaluation | None:
    """Evaluate on the held-out problems, if there are any; never changes the training."""
    if not config.evaluation:
        return None
    with torch.random.fork_rng():
        result = evaluate(learner.engine, scorer, held_out, config, config.evaluation[0])
    log.record(step, result.metrics)
    values = ", ".join(f"pass@{k} {value:.3f}" for k, value in result.pass_at_k.items())
    CONSOLE.print(f"held-out after step {step}: {values} ({result.num_problems} problems)")
    return result


def _is_due(step: int, every: int | None, config: Config) -> bool:
    return step == config.train.steps or (every is not None and step % every == 0)
