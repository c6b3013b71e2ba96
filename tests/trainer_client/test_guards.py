"""Each guard and each warning, on metrics made by hand."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from trainer_client.config.run_config import Config, make_config
from trainer_client.run.guards import (
    QUIET_STEPS,
    largest_group_std,
    last_step_below_kl_limit,
    new_warnings,
    rate_warnings,
    reason_to_stop,
    warnings_at_start,
)


def config(**sections: Any) -> Config:
    values: dict[str, Any] = {
        "output_dir": "r",
        "model": {"path": "m"},
        "dataset": {"path": "d"},
        "loss": {"kl_coefficient": 0.01},
    }
    return make_config({**values, **sections})


def rows(*values: dict[str, float]) -> list[dict[str, float]]:
    return [{"step": float(index + 1), **value} for index, value in enumerate(values)]


def kl(*values: float) -> list[dict[str, float]]:
    return rows(*({"policy/kl_divergence": value} for value in values))


def test_a_kl_above_its_limit_warns_with_the_setting_and_the_remedy() -> None:
    (warning,) = new_warnings(kl(0.01, 0.06), config())
    assert "policy/kl_divergence is 0.06, above guards.warn_if_kl_above 0.05" in warning
    assert "loss.kl_coefficient 0.01 -> 0.02" in warning
    assert "optimizer.learning_rate 1e-06 -> 5e-07" in warning


def test_a_step_whose_completions_are_all_masked_warns() -> None:
    cut_off = rows({"completion/truncated_fraction": 1.0})
    assert new_warnings(cut_off, config()) == []
    (warning,) = new_warnings(cut_off, config(loss={"truncated": "mask"}))
    assert "so the step has changed nothing" in warning
    assert "rollout.max_completion_tokens 512 -> 1024" in warning
    some = rows({"completion/truncated_fraction": 0.99})
    assert new_warnings(some, config(loss={"truncated": "mask"})) == []


def test_a_warning_is_not_repeated_while_its_condition_comes_and_goes() -> None:
    assert new_warnings(kl(0.06, 0.01, 0.06), config()) == []
    quiet = [0.06, *[0.01] * (QUIET_STEPS + 1), 0.06]
    assert len(new_warnings(kl(*quiet), config())) == 1


def test_a_kl_above_the_hard_limit_stops_the_run() -> None:
    assert reason_to_stop(kl(0.09), config()) is None
    reason = reason_to_stop(kl(0.09, 0.2), config())
    assert reason is not None
    assert "policy/kl_divergence is 0.2, above guards.stop_if_kl_above 0.1" in reason


@pytest.mark.parametrize("guard", ["warn_if_kl_above", "stop_if_kl_above"])
def test_a_guard_that_is_null_never_acts(guard: str) -> None:
    settings = config(guards={guard: None})
    if guard == "warn_if_kl_above":
        assert new_warnings(kl(9.0), settings) == []
    else:
        assert reason_to_stop(kl(9.0), settings) is None


def test_the_last_good_checkpoint_is_judged_by_the_kl_of_the_step_after_it() -> None:
    # the policy that step 3 left is measured in step 4, where the KL is too high
    history = kl(0.0, 0.05, 0.08, 0.2)
    assert last_step_below_kl_limit(history, [1, 2, 3], 0.1) == 2
    assert last_step_below_kl_limit(history, [3], 0.1) is None


def test_updates_that_are_not_finite_stop_the_run_after_some_in_a_row() -> None:
    skipped = {"policy/updates": 1.0, "policy/skipped_updates": 1.0}
    fine = {"policy/updates": 1.0, "policy/skipped_updates": 0.0}
    assert reason_to_stop(rows(skipped, skipped, fine, skipped, skipped), config()) is None
    reason = reason_to_stop(rows(fine, skipped, skipped, skipped), config())
    assert reason is not None
    assert "not finite in 3 updates in a row" in reason


@pytest.mark.parametrize(
    ("always", "never", "remedy"), [(0.6, 0.0, "harder problems"), (0.0, 0.6, "easier problems")]
)
def test_groups_that_do_not_differ_warn_with_the_fitting_remedy(
    always: float, never: float, remedy: str
) -> None:
    row = {
        "reward/zero_variance_fraction": 0.6,
        "reward/always_solved_fraction": always,
        "reward/never_solved_fraction": never,
    }
    (warning,) = new_warnings(rows(row), config())
    assert "60% of the groups have equal rewards" in warning
    assert "rollout.temperature 1 -> 1.2" in warning
    assert "rollout.group_size 8 -> 16" in warning
    assert remedy in warning


@pytest.mark.parametrize(
    ("values", "cause"),
    [
        ({"reason/format/missing_tag": 1.0}, "By 'format' no completion has the wanted form"),
        (
            {"reason/accuracy/no_answer": 0.95},
            "95% of the completions lack the wanted form",
        ),
    ],
)
def test_completions_without_the_wanted_form_are_no_matter_of_temperature(
    values: dict[str, float], cause: str
) -> None:
    row = {"reward/zero_variance_fraction": 1.0, "reward/group_std": 0.0, **values}
    zero_variance, spread = new_warnings(rows(row), config())
    for warning in (zero_variance, spread):
        assert cause in warning
        assert "look at dataset.system_prompt, the chat template and rollout.max_co" in warning
        assert "temperature" not in warning
        assert "solve_rate_range" not in warning


def test_a_form_that_right_completions_lack_is_not_blamed() -> None:
    row = {"reward/zero_variance_fraction": 0.6, "reward/solve_rate": 0.4}
    (warning,) = new_warnings(rows(row | {"reason/format/missing_tag": 1.0}), config())
    assert "rollout.temperature 1 -> 1.2" in warning


def test_problems_that_are_mostly_solved_ask_for_harder_ones_only() -> None:
    row = {"reward/zero_variance_fraction": 0.56, "reward/solve_rate": 0.91}
    (warning,) = new_warnings(rows(row), config())
    assert "The problems are mostly solved (91%). Suggested: harder ones" in warning
    assert "temperature" not in warning


def test_a_temperature_that_is_high_already_is_not_raised_further() -> None:
    settings = config(rollout={"temperature": 1.5})
    (warning,) = new_warnings(rows({"reward/zero_variance_fraction": 1.0}), settings)
    assert "rollout.temperature" not in warning


def test_a_spread_that_is_small_for_the_weights_warns() -> None:
    assert largest_group_std(config().reward.sources) == pytest.approx((1 + 0.1 + 0.05) / 2)
    assert new_warnings(rows({"reward/group_std": 0.06}), config()) == []
    (warning,) = new_warnings(rows({"reward/group_std": 0.05}), config())
    assert "reward/group_std is 0.05, less than 10% of 0.575" in warning


def test_format_that_rises_while_accuracy_falls_warns() -> None:
    def history(accuracy: tuple[float, float]) -> list[dict[str, float]]:
        first = {"reward/accuracy": accuracy[0], "reward/format": 0.2}
        second = {"reward/accuracy": accuracy[1], "reward/format": 0.9}
        return rows(*[first] * 10, *[second] * 10)

    assert new_warnings(history((0.5, 0.5)), config()) == []
    (warning,) = new_warnings(history((0.5, 0.3)), config())
    assert "reward/format rose by 0.700 while reward/accuracy fell by 0.200" in warning
    assert "weight of 'format' (0.1 -> 0.05)" in warning


def test_an_auxiliary_weight_that_reaches_accuracys_is_named_at_the_start() -> None:
    verifiers = [{"type": "accuracy", "weight": 1.0}, {"type": "format", "weight": 1.0}]
    (warning,) = warnings_at_start(config(reward={"verifiers": verifiers}))
    assert "the weight of 'format' is 1, that of 'accuracy' is 1" in warning
    assert "at most 0.1 for 'format'" in warning


def test_k1_as_a_loss_is_named_at_the_start() -> None:
    settings = config(loss={"kl_coefficient": 0.01, "kl_estimator": "k1"})
    (warning,) = warnings_at_start(settings)
    assert "constrains nothing. Suggested: k3" in warning


@pytest.mark.parametrize("engine", ["transformers", "vllm", "vllm_server"])
@pytest.mark.parametrize("importance", [None, {"mode": "token_truncate"}])
def test_a_cut_distribution_is_named_at_the_start(
    engine: str, importance: dict[str, str] | None
) -> None:
    """One warning, whoever samples: a correction weighs what was drawn, not what never was."""
    settings = config(rollout={"engine": engine, "top_p": 0.95}, loss={"importance": importance})
    (warning,) = warnings_at_start(settings)
    assert "rollout.top_p is 0.95: the sampler never draws what it cuts off" in warning
    assert "between 0.95 and 1. Suggested: 1.0" in warning


def test_a_cut_below_the_clip_asks_for_the_correction() -> None:
    """The ratio then starts where a negative advantage has no gradient."""
    (warning,) = warnings_at_start(config(rollout={"top_p": 0.7}))
    assert "below 1 - loss.clip_low = 0.8 a negative advantage is clipped away" in warning
    assert "loss.importance {mode: token_truncate}" in warning
    corrected = config(rollout={"top_p": 0.7}, loss={"importance": {"mode": "token_truncate"}})
    assert "clip_low" not in warnings_at_start(corrected)[0]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("top_k", 20, "rollout.top_k is 20: the sampler never draws what it cuts off"),
        ("min_p", 0.1, "rollout.min_p is 0.1: the sampler never draws what it cuts off"),
        ("repetition_penalty", 1.1, "completions are not samples of the policy"),
    ],
)
def test_samples_that_are_not_the_policys_are_named_at_the_start(
    name: str, value: float, message: str
) -> None:
    (warning,) = warnings_at_start(config(rollout={name: value}))
    assert message in warning


def test_texts_that_stop_change_no_distribution() -> None:
    assert warnings_at_start(config(rollout={"stop": ["</answer>"]})) == []


def test_the_default_configuration_has_nothing_to_warn_of() -> None:
    assert warnings_at_start(config()) == []


def test_weights_that_are_trained_in_bfloat16_are_warned_about() -> None:
    bfloat16 = {"path": "m", "dtype": "bfloat16"}
    (warning,) = warnings_at_start(config(model=bfloat16))
    assert "an update of 1e-06, the learning rate, is lost on each weight larger than" in warning
    assert "model.dtype float32 with model.autocast bfloat16" in warning
    assert warnings_at_start(config(model={"path": "m", "autocast": "bfloat16"})) == []
    assert warnings_at_start(config(model={**bfloat16, "lora": {}})) == []


def test_the_size_above_which_a_bfloat16_weight_does_not_move_is_as_the_warning_says() -> None:
    weights = torch.linspace(512e-6 * 1.001, 8.0, 100_000, dtype=torch.float64).bfloat16()
    assert ((weights + torch.tensor(1e-6).bfloat16()) == weights).all()
    assert (
        torch.tensor(255e-6).bfloat16() + torch.tensor(1e-6).bfloat16()
        != torch.tensor(255e-6).bfloat16()
    )


@pytest.mark.parametrize(("size", "count"), [(2, 1), (3, 1), (4, 0)])
def test_small_groups_are_warned_about(size: int, count: int) -> None:
    warnings = warnings_at_start(config(rollout={"group_size": size}))
    assert len(warnings) == count
    assert all(f"rollout.group_size is {size}" in warning for warning in warnings)


def test_a_warm_up_that_takes_the_whole_run_is_warned_about() -> None:
    short = {"train": {"steps": 20}, "optimizer": {"warmup_steps": 20}}
    (warning,) = warnings_at_start(config(**short))
    assert "the run has 20 updates: the learning rate never reaches 1e-06" in warning
    assert warnings_at_start(config(**{**short, "optimizer": {"warmup_steps": 19}})) == []


def test_a_clip_that_never_acts_on_sequences_is_warned_about() -> None:
    (warning,) = warnings_at_start(config(loss={"type": "gspo"}))
    assert "gspo with a clip of 0.2" in warning
    assert "loss.clip_low 3e-4 and loss.clip_high 4e-4" in warning
    papers = {"type": "gspo", "clip_low": 3e-4, "clip_high": 4e-4}
    assert warnings_at_start(config(loss=papers)) == []
    assert warnings_at_start(config(loss={"type": "grpo"})) == []


def test_a_high_rate_for_all_weights_of_a_large_model_is_warned_about() -> None:
    """Neither a small model nor an adapter is."""
    high = config(optimizer={"learning_rate": 1e-4}).optimizer
    (warning,) = rate_warnings(500_000_000, high)
    assert "optimizer.learning_rate is 0.0001 for 500 million weights" in warning
    assert rate_warnings(20_000_000, high) == []
    assert rate_warnings(500_000_000, config().optimizer) == []


def test_groups_without_variance_are_warned_about_with_the_commonest_reason() -> None:
    """A higher temperature is no help where all programs lack their code."""
    row = {
        "reward/zero_variance_fraction": 0.9,
        "reason/accuracy/no_answer": 0.75,
        "reason/accuracy/equal": 0.25,
        "reason/format/malformed": 1.0,
    }
    (warning,) = new_warnings(rows(row), config())
    assert "The commonest verdict of 'accuracy' is no_answer (75%)" in warning
