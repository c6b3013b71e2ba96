"""Losses, gradients and advantages equal those of TRL's `GRPOTrainer` on random inputs.

`_compute_loss` is called on a stand-in for the trainer, since it needs settings and tensors only.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.interop.peer import peer
from trainer_client.config.advantage_section import AdvantageConfig
from trainer_client.config.loss_section import ImportanceConfig, LossConfig
from trainer_client.demo import sums_task
from trainer_client.update.advantages import decoupled_advantages, group_advantages
from trainer_client.update.entropy_control import EntropyControl
from trainer_client.update.loss import (
    StepTotals,
    entropy_bonus,
    importance_weights,
    policy_loss,
    token_weights,
)

grpo_trainer = peer("trl.trainer.grpo_trainer")

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("default")]

TYPES = ("grpo", "bnpo", "dr_grpo", "dapo", "gspo", "cispo", "sapo")
MODES = ("token_truncate", "token_mask", "sequence_truncate", "sequence_mask")


def random_config(generator: torch.Generator, kind: str) -> LossConfig:
    def value(low: float, high: float) -> float:
        return low + (high - low) * torch.rand((), generator=generator).item()

    def yes() -> bool:
        return torch.rand((), generator=generator).item() < 0.5

    cap = value(1.0, 6.0) if kind == "cispo" or (kind != "sapo" and yes()) else None
    mode = MODES[int(value(0, 4))]
    return LossConfig(
        type=kind,
        clip_low=value(0.0, 0.5),
        clip_high=value(0.0, 0.5),
        ratio_cap=cap,
        sapo_temperature_positive=value(0.5, 2.0),
        sapo_temperature_negative=value(0.5, 2.0),
        kl_coefficient=value(0.001, 1.0) if yes() else 0.0,
        kl_ratio_weighted=yes(),
        entropy_coefficient=value(0.0, 0.1) if yes() else 0.0,
        importance=ImportanceConfig(
            mode=mode,
            low=value(0.0, 0.9) if yes() else None,
            high=value(1.0, 4.0) if yes() else None,
        )
        if yes()
        else None,
    )


def trl_loss(
    config: LossConfig,
    logprobs: Tensor,
    entropy: Tensor,
    start: Tensor,
    reference: Tensor,
    weights: Tensor | None,
    advantages: Tensor,
    mask: Tensor,
    *,
    max_completion_tokens: int,
) -> Tensor:
    """The loss of `GRPOTrainer._compute_loss`, one micro-batch being the whole step."""
    trainer = trl_stand_in(config, logprobs, entropy, weights, max_completion_tokens)
    return trl_loss_of(trainer, start, reference, weights, advantages, mask)


def trl_stand_in(
    config: LossConfig,
    logprobs: Tensor,
    entropy: Tensor,
    weights: Tensor | None,
    max_completion_tokens: int,
    *,
    adaptive: dict[str, float] | None = None,
) -> SimpleNamespace:
    """The attributes of a `GRPOTrainer` that its loss needs.

    Args:
        config: settings of the loss.
        logprobs: of the policy.
        entropy: of the policy.
        weights: importance weights; None: without a correction.
        max_completion_tokens: limit of a completion.
        adaptive: state of TRL's control of the entropy; None: the coefficient is constant.
    """
    accelerator = SimpleNamespace(
        num_processes=1,
        sync_gradients=True,
        gather=lambda tensor: tensor,
        reduce=lambda tensor, reduction: tensor,
    )
    cispo = config.type == "cispo"
    return SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *args, **kwargs: (logprobs, entropy, None),
        aux_loss_enabled=False,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        importance_sampling_level="sequence" if config.type == "gspo" else "token",
        loss_type="grpo" if config.type == "gspo" else config.type,
        beta=config.kl_coefficient,
        epsilon_low=config.clip_low,
        epsilon_high=config.ratio_cap if cispo else config.clip_high,
        use_vllm=weights is not None,
        vllm_importance_sampling_correction=weights is not None,
        args=SimpleNamespace(
            delta=None if cispo else config.ratio_cap,
            use_bias_correction_kl=config.kl_ratio_weighted,
            sapo_temperature_pos=config.sapo_temperature_positive,
            sapo_temperature_neg=config.sapo_temperature_negative,
            entropy_target=config.entropy_target,
            entropy_coef_delta=config.entropy_step,
            entropy_coef_min=0.0,
            entropy_coef_max=config.entropy_max,
            steps_per_generation=1,
        ),
        model=SimpleNamespace(training=True),
        current_gradient_accumulation_steps=1,
        max_completion_length=max_completion_tokens,
        accelerator=accelerator,
        _entropy_bonus_enabled=config.entropy_coefficient != 0,
        use_adaptive_entropy=adaptive is not None,
        _entropy_window_stats=None,
        _metrics={"train": defaultdict(list)},
        **(adaptive or {"entropy_coef": config.entropy_coefficient}),
    )


def trl_loss_of(
    trainer: SimpleNamespace,
    start: Tensor,
    reference: Tensor,
    weights: Tensor | None,
    advantages: Tensor,
    mask: Tensor,
) -> Tensor:
    """The loss of TRL's code for a stand-in."""
    ids = torch.zeros(mask.shape, dtype=torch.long)
    inputs = {
        "prompt_ids": ids[:, :1],
        "prompt_mask": ids[:, :1] + 1,
        "completion_ids": ids,
        "completion_mask": mask.to(start.dtype),
        "advantages": advantages,
        "old_per_token_logps": start,
        "ref_per_token_logps": reference,
        "importance_sampling_ratio": weights,
        "num_items_in_batch": mask.sum(),
    }
    loss: Tensor = grpo_trainer.GRPOTrainer._compute_loss(trainer, trainer.model, inputs)
    return loss


def our_loss(
    config: LossConfig,
    logprobs: Tensor,
    entropy: Tensor,
    sampler: Tensor,
    proximal: Tensor,
    reference: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    max_completion_tokens: int,
) -> Tensor:
    totals = StepTotals.of(mask)
    loss = policy_loss(
        logprobs,
        sampler,
        advantages,
        mask,
        token_weights(mask, config, max_completion_tokens=max_completion_tokens),
        config,
        reference_logprobs=reference if config.kl_coefficient else None,
        proximal_logprobs=proximal if config.importance else None,
    ).loss
    return loss - config.entropy_coefficient * entropy_bonus(entropy, mask, totals)


@pytest.mark.parametrize("kind", TYPES)
def test_loss_and_gradient_equal_trl_on_400_random_configurations(kind: str) -> None:
    generator = torch.Generator().manual_seed(TYPES.index(kind))
    for _ in range(400):
        config = random_config(generator, kind)
        rows, width = (int(torch.randint(1, 9, (), generator=generator)) for _ in range(2))
        lengths = torch.randint(0, width + 1, (rows, 1), generator=generator)
        mask = torch.arange(width)[None] < lengths

        def noise(
            scale: float, shape: tuple[int, int] = (rows, width), g: torch.Generator = generator
        ) -> Tensor:
            return scale * torch.randn(shape, generator=g, dtype=torch.float64)

        sampler = -noise(1.0).abs() - 0.1
        proximal = sampler + noise(0.2)
        reference = sampler + noise(0.5)
        start = proximal if config.importance else sampler
        advantages = noise(1.0, (rows, 1))[:, 0]
        options = {"max_completion_tokens": int(torch.randint(8, 33, (), generator=generator))}
        results = []
        base, entropies = start + noise(0.3), noise(1.0).abs()
        for side in ("ours", "theirs"):
            logprobs = base.clone().requires_grad_()
            entropy = entropies.clone().requires_grad_()
            if side == "ours":
                loss = our_loss(
                    config,
                    logprobs,
                    entropy,
                    sampler,
                    proximal,
                    reference,
                    advantages,
                    mask,
                    **options,
                )
            else:
                ratio = None
                if config.importance is not None:
                    ratio = importance_weights(proximal, sampler, mask, config.importance)
                loss = trl_loss(
                    config, logprobs, entropy, start, reference, ratio, advantages, mask, **options
                )
            loss.backward()  # type: ignore[no-untyped-call]
            assert logprobs.grad is not None
            grad = entropy.grad if entropy.grad is not None else torch.zeros_like(entropy)
            results.append((loss.detach(), logprobs.grad, grad))
        for ours, theirs in zip(*results, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A real `GRPOTrainer` on a tiny model, 4 problems with 4 completions each."""
    import datasets  # noqa: PLC0415
    import trl  # noqa: PLC0415

    folder: Path = tmp_path_factory.mktemp("trl")
    torch.manual_seed(0)
    tokenizer = sums_task.make_tokenizer()
    arguments = trl.GRPOConfig(
        output_dir=str(folder),
        num_generations=4,
        per_device_train_batch_size=16,
        max_completion_length=2,
        use_cpu=True,
        report_to=[],
    )
    return trl.GRPOTrainer(
        model=sums_task.make_model(tokenizer),
        processing_class=tokenizer,
        reward_funcs=lambda completions, **columns: [0.0] * len(completions),
        args=arguments,
        train_dataset=datasets.Dataset.from_list([{"prompt": f"{n}+1=?"} for n in range(4)]),
    )


@pytest.mark.parametrize(
    ("theirs", "ours"), [("group", "group_std"), ("batch", "batch_std"), ("none", "none")]
)
def test_advantages_equal_trl_also_where_completions_were_not_judged(
    trainer: Any, monkeypatch: pytest.MonkeyPatch, theirs: str, ours: Any
) -> None:
    generator = torch.Generator().manual_seed(0)
    trainer.scale_rewards = theirs
    config = AdvantageConfig.model_validate({"scale": ours, "std": "bessel", "epsilon": 1e-4})
    inputs = [{"prompt": f"{n}+1=?"} for n in range(4) for _ in range(4)]
    for _ in range(40):
        # Eighths, so that TRL's means are exact: where equal rewards are not, its rounding errors
        # become advantages and ours are 0.
        rewards = torch.randint(0, 9, (4, 4), generator=generator) / 8
        rewards[torch.rand((4, 4), generator=generator) < 0.25] = torch.nan
        monkeypatch.setattr(
            trainer, "_calculate_rewards", lambda *args, r=rewards: r.reshape(16, 1).clone()
        )
        found = trainer._generate_and_score_completions(inputs)["advantages"]
        expected = group_advantages(rewards, config)
        torch.testing.assert_close(found, expected.flatten(), rtol=0, atol=1e-6)


def test_advantages_of_several_sources_equal_trls_gdpo(
    trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every completion is judged here: TRL takes a missing score for 0, ours is no advantage."""
    generator = torch.Generator().manual_seed(1)
    factors = torch.tensor([1.0, 0.1, 0.5])
    monkeypatch.setattr(trainer, "multi_objective_aggregation", "normalize_then_sum")
    monkeypatch.setattr(trainer, "reward_funcs", [None] * 3)
    monkeypatch.setattr(trainer, "reward_func_names", ["a", "b", "c"])
    monkeypatch.setattr(trainer, "reward_weights", factors)
    config = AdvantageConfig(aggregation="normalize_first", std="bessel", epsilon=1e-4)
    inputs = [{"prompt": f"{n}+1=?"} for n in range(4) for _ in range(4)]
    for _ in range(40):
        scores = torch.randint(0, 9, (4, 4, 3), generator=generator) / 8
        monkeypatch.setattr(
            trainer, "_calculate_rewards", lambda *args, s=scores: s.reshape(16, 3).clone()
        )
        found = trainer._generate_and_score_completions(inputs)["advantages"]
        expected = decoupled_advantages(scores, factors.repeat(4, 1), config)
        torch.testing.assert_close(found, expected.flatten().float(), rtol=0, atol=1e-5)


def test_the_entropy_coefficient_is_that_of_trls_control() -> None:
    """Coefficients of 60 steps, from TRL's loss with and without its bonus."""
    config = LossConfig(
        entropy_coefficient=0.05, entropy_target=1.0, entropy_step=0.02, entropy_max=0.2
    )
    generator = torch.Generator().manual_seed(2)
    ours, level, last = EntropyControl(config), 0.05, float("inf")
    mask = torch.ones(2, 3, dtype=torch.bool)
    zeros = torch.zeros(2, 3)
    for _ in range(60):
        entropy = 2 * torch.rand(2, 3, generator=generator)
        adaptive = {"entropy_coef": level, "_last_world_entropy": last}
        trainer = trl_stand_in(config, zeros, entropy, None, 3, adaptive=adaptive)
        loss = trl_loss_of(trainer, zeros, zeros, None, torch.zeros(2), mask)
        assert loss.item() == pytest.approx(-ours.coefficient * entropy.mean().item(), abs=1e-6)
        ours.measured(entropy.mean().item())
        level, last = trainer.entropy_coef, trainer._last_world_entropy
