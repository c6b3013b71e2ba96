"""Supervised fine-tuning on given completions: teaches a format before GRPO rewards it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from trainer_client.config.optimizer_section import OptimizerConfig
from trainer_client.config.run_config import Config, ConfigError, dump_config
from trainer_client.config.sft_section import SftConfig
from trainer_client.errors import writing
from trainer_client.policy.logit_passes import Slopes
from trainer_client.policy.logprobs import token_logprobs
from trainer_client.policy.lora import causal_model
from trainer_client.policy.output_layer import check_output_layer
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.policy.weights import writing_weights
from trainer_client.row_files import DatasetError
from trainer_client.run.console import SFT_CONSOLE_KEYS
from trainer_client.run.guards import precision_warnings
from trainer_client.run.metrics import MetricsLog
from trainer_client.sft_examples import Example, load_examples
from trainer_client.update.batch import pad
from trainer_client.update.optimizer import make_optimizer


def fine_tune(config: Config) -> Path:
    """Fine-tune `model.path` on a column of completions; returns the folder of the new model.

    The model is whole, an adapter merged, so that GRPO can start from it with or without LoRA.

    Raises:
        ConfigError, DatasetError: the input cannot be used.
        TrainerError: the folder cannot be made.
    """
    if (config.output_dir / "model").exists():
        raise ConfigError(f"output_dir {config.output_dir} already holds a model; choose another")
    torch.manual_seed(config.train.seed)
    policy = load_policy(config.model)
    check_output_layer(causal_model(policy.model))
    examples = _examples_of_all(config, policy)
    shares = [one.share or len(own) for one, own in zip(config.dataset, examples, strict=True)]
    with writing(config.output_dir):
        config.output_dir.mkdir(parents=True, exist_ok=True)
    (config.output_dir / "config.yaml").write_text(dump_config(config))
    warnings = precision_warnings(config.model, config.sft.learning_rate)
    draw = ExampleDraw(examples, shares, seed=config.train.seed)
    fit(policy, draw, config.sft, config.output_dir, warnings=warnings)
    with writing_weights(config.output_dir / "model"):
        policy.save_merged(config.output_dir / "model")
    return config.output_dir / "model"


def _examples_of_all(config: Config, policy: Policy) -> list[list[Example]]:
    """The examples of each data set; raises DatasetError, which names what each of them lacks."""
    examples, errors = [], []
    for one in config.dataset:
        try:
            examples.append(load_examples(one, config.sft, policy))
        except DatasetError as error:
            errors.append(str(error))
    if errors:
        raise DatasetError("\n".join(errors))
    return examples


class ExampleDraw:
    """Draws examples of data sets by their shares, with replacement.

    Args:
        data_sets: the examples of each data set.
        shares: part of each, relative to the others.
        seed: seed of the draws.
    """

    def __init__(
        self, data_sets: Sequence[Sequence[Example]], shares: Sequence[float], *, seed: int
    ) -> None:
        self._data_sets = data_sets
        self._shares = torch.tensor(shares, dtype=torch.float64)
        self._generator = torch.Generator().manual_seed(seed)

    def take(self, count: int) -> list[Example]:
        """The next examples."""
        if len(self._data_sets) == 1:
            return self._of(self._data_sets[0], count)
        which = torch.multinomial(
            self._shares, count, replacement=True, generator=self._generator
        ).tolist()
        return [self._of(self._data_sets[index], 1)[0] for index in which]

    def _of(self, examples: Sequence[Example], count: int) -> list[Example]:
        chosen = torch.randint(len(examples), (count,), generator=self._generator)
        return [examples[index] for index in chosen.tolist()]


def fit(
    policy: Policy,
    draw: ExampleDraw,
    config: SftConfig,
    run_dir: Path,
    *,
    warnings: Sequence[str] = (),
) -> None:
    """Minimise the mean negative log-probability of completion tokens, in place.

    Args:
        policy: the policy that is trained.
        draw: draws each batch of prompts with completions to imitate.
        config: section `sft`.
        run_dir: folder of the log.
        warnings: what to tell before the first step.
    """
    settings = OptimizerConfig(
        learning_rate=config.learning_rate, warmup_steps=config.warmup_steps, schedule="cosine"
    )
    optimizer, scheduler = make_optimizer(policy.model, settings, num_steps=config.steps)
    with MetricsLog(
        run_dir,
        title="supervised",
        num_steps=config.steps,
        log_every_steps=max(1, config.steps // 10),
        console_keys=SFT_CONSOLE_KEYS,
    ) as log:
        for message in warnings:
            log.warn(0, message)
        for step in range(config.steps):
            loss = imitation_loss(policy, draw.take(config.batch_size))
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(policy.model.parameters(), settings.max_grad_norm)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            log.log(
                step + 1,
                {"sft/loss": loss.item(), "sft/perplexity": loss.detach().exp().item()},
            )


def imitation_loss(policy: Policy, examples: Sequence[Example]) -> Tensor:
    """Mean negative log-probability of the completion tokens, in nats; carries the gradient."""
    tensors = pad([(e.prompt_ids, e.completion_ids) for e in examples], pad_id=policy.pad_id)
    input_ids, attention_mask, mask = (tensor.to(policy.device) for tensor in tensors)
    num_tokens = mask.sum()

    def slopes_of(rows: slice, logprobs: Tensor, entropy: Tensor) -> Slopes:
        return Slopes((-1 / num_tokens).expand(len(logprobs)), None)

    logprobs = token_logprobs(
        policy.model,
        input_ids,
        attention_mask,
        mask,
        temperature=1.0,
        autocast=policy.autocast,
        slopes_of=slopes_of,
    ).logprobs
    return -logprobs.sum() / num_tokens
