"""Guards and warnings of a run: each message names the metric it saw and a setting to try.

All of it is a function of the metrics so far: a resumed run warns and stops as if it had never
stopped. A warning is given when its condition begins to hold, not at each step it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainer_client.config.loss_section import LossConfig
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.optimizer_section import OptimizerConfig
from trainer_client.config.reward_sections import RewardSource, main_source
from trainer_client.config.rollout_section import RolloutConfig
from trainer_client.config.run_config import Config

History = Sequence[Mapping[str, float]]
"""Rows of `metrics.jsonl`, oldest first; a row may lack any key but `step`."""

HOTTER = 1.2
"""The sampling temperature that is suggested below it."""
HOTTEST = 1.5
"""The highest sampling temperature that is suggested."""
SMALL_GROUP = 4
"""Groups of fewer completions are warned about."""
LARGEST_SEQUENCE_CLIP = 0.01
"""The clip of a mean ratio over a sequence above which it never acts; 30 times that of GSPO's
paper (arXiv 2507.18071)."""
LARGE_MODEL = 100_000_000
"""Number of trained weights from which the learning rate is warned about."""
HIGH_RATE = 1e-5
"""The learning rate above which training all weights of a large model seldom goes well."""
QUIET_STEPS = 20
"""A warning is not repeated until its condition did not hold for this many steps."""
FORMLESS = 0.9
"""Smallest share of completions without the wanted form at which nothing else is suggested."""
FORMLESS_REASONS = frozenset({"missing_tag", "no_answer", "no_code"})
"""Reasons of verdicts on completions in which there is nothing to judge."""
PLAIN_REASONS = frozenset({"function", "environment", "reward_model"})
"""Reasons that say where a score comes from, and nothing about the completion."""
SOLVED = 0.8
"""Solve rate of a step from which its problems count as mostly solved."""
TREND = 0.05
"""Smallest change of the mean score, between halves of a window, that counts as a trend."""


def warnings_at_start(config: Config) -> list[str]:
    """Warnings about a configuration, before the first step."""
    warnings = [
        f"{_where(one.name_in_metrics, config)}{message}"
        for one in config.dataset
        for message in _weight_warnings(one.sources(config.reward))
    ]
    if config.loss.kl_coefficient and config.loss.kl_estimator == "k1":
        warnings.append(
            "loss.kl_estimator is k1, whose gradient has expectation 0 on-policy: it constrains "
            "nothing. Suggested: k3 (or k2)"
        )
    if config.rollout.group_size < SMALL_GROUP:
        warnings.append(
            f"rollout.group_size is {config.rollout.group_size}: a baseline of so few completions "
            "is mostly noise, and most groups have equal rewards. Suggested: 8"
        )
    clip = max(config.loss.clip_low, config.loss.clip_high)
    if config.loss.type == "gspo" and clip > LARGEST_SEQUENCE_CLIP:
        warnings.append(
            f"loss.type is gspo with a clip of {clip:g}: its ratio is a mean over the sequence and "
            "never goes so far, so the clip never acts. Suggested: loss.clip_low 3e-4 and "
            "loss.clip_high 4e-4, as in its paper"
        )
    if config.optimizer.warmup_steps >= config.num_updates:
        warnings.append(
            f"optimizer.warmup_steps is {config.optimizer.warmup_steps}, and the run has "
            f"{config.num_updates} updates: the learning rate never reaches "
            f"{config.optimizer.learning_rate:g}. Suggested: {config.num_updates // 10}"
        )
    if config.rollout.top_p < 1:
        warnings.append(_cut_distribution_warning(config.rollout.top_p, config.loss))
    warnings += _other_distribution_warnings(config.rollout)
    return [*warnings, *precision_warnings(config.model, config.optimizer.learning_rate)]


def _where(label: str, config: Config) -> str:
    """The beginning of a warning about one data set; empty where there is only one."""
    return f"data set {label}: " if config.is_mixed else ""


def _weight_warnings(sources: Sequence[RewardSource]) -> list[str]:
    """A warning for each source that weighs as much as the one that says what is right."""
    main = main_source(sources)
    return [
        f"the weight of {source.key!r} is {source.weight:g}, that of {main.key!r} is "
        f"{main.weight:g}: a policy can earn as much by form as by being right. Suggested: "
        f"at most {main.weight / 10:g} for {source.key!r}"
        for source in sources
        if source.key != main.key and source.weight >= main.weight > 0
    ]


def precision_warnings(model: ModelConfig, learning_rate: float) -> list[str]:
    """A warning where the weights that are trained are bfloat16, with 8 bits of precision.

    Adam moves a weight by about the learning rate, and a move of less than 1/512 of the weight is
    rounded away. Adapters are float32 whatever the type of their base model.
    """
    if model.dtype != "bfloat16" or model.lora is not None:
        return []
    return [
        "model.dtype is bfloat16, so the weights that are trained and Adam's moments are too: an "
        f"update of {learning_rate:g}, the learning rate, is lost on each weight larger than "
        f"{512 * learning_rate:g}. Suggested: model.dtype float32 with model.autocast bfloat16, "
        "which is mixed precision"
    ]


def rate_warnings(num_trained: int, optimizer: OptimizerConfig) -> list[str]:
    """A warning where so many weights are trained that the learning rate is too high for them.

    Args:
        num_trained: number of weights that are trained; under LoRA those of the adapter.
        optimizer: section `optimizer`.
    """
    if num_trained < LARGE_MODEL or optimizer.learning_rate <= HIGH_RATE:
        return []
    return [
        f"optimizer.learning_rate is {optimizer.learning_rate:g} for {num_trained / 1e6:.0f} "
        f"million weights: above {HIGH_RATE:g} training all weights of a large model seldom goes "
        "well. Suggested: 1e-6, or model.lora, whose rates are 1e-5 to 1e-4"
    ]


def new_warnings(history: History, config: Config) -> list[str]:
    """Warnings whose condition holds after the newest step and did not hold for a while before.

    Args:
        history: rows of the metrics, the newest step last.
        config: configuration of the run.
    """
    found = _warnings(history, config)
    earlier = range(max(len(history) - QUIET_STEPS, 0), len(history)) if found else ()
    before = {name for end in earlier for name, _ in _warnings(history[:end], config)}
    return [message for name, message in found if name not in before]


def reason_to_stop(history: History, config: Config) -> str | None:
    """The reason to stop the run after its newest step; None: it may go on."""
    newest = history[-1]
    limit = config.guards.stop_if_kl_above
    kl = newest.get("policy/kl_divergence")
    if limit is not None and kl is not None and kl > limit:
        return (
            f"policy/kl_divergence is {kl:.4g}, above guards.stop_if_kl_above {limit:g}. "
            f"{_kl_remedy(config.loss, config.optimizer)}, or raise the limit"
        )
    count = _skipped_in_a_row(history)
    if count >= config.guards.max_nonfinite_updates:
        return (
            f"loss or gradient was not finite in {count} updates in a row "
            f"(guards.max_nonfinite_updates {config.guards.max_nonfinite_updates}). "
            f"Suggested: {_lower_rate(config.optimizer.learning_rate)}"
        )
    return None


def last_step_below_kl_limit(history: History, steps: Sequence[int], limit: float) -> int | None:
    """The newest of these finished steps whose policy had a KL within the limit; None: none had.

    A step's KL is measured on completions of the policy before its update, so the policy after
    step n is measured in step n + 1.
    """
    measured = {int(row["step"]) - 1: row.get("policy/kl_divergence") for row in history}
    good = [step for step in steps if (kl := measured.get(step)) is not None and kl <= limit]
    return max(good, default=None)


def _warnings(history: History, config: Config) -> list[tuple[str, str]]:
    """Name and message of each warning whose condition holds after the newest step."""
    if not history or not history[-1]["step"]:
        return []
    found = {
        "kl": _kl_warning(history[-1], config),
        "masked": _masked_warning(history[-1], config),
    }
    for data_set in config.dataset:
        label = data_set.name_in_metrics
        own = _of_data_set(history, label) if config.is_mixed else history
        if not own or own[-1]["step"] != history[-1]["step"]:
            continue  # no problem of it in this step
        sources = data_set.sources(config.reward)
        warnings = {
            "zero_variance": _zero_variance_warning(own[-1], config, main_source(sources).key),
            "spread": _spread_warning(own[-1], config, sources),
            "trend": _trend_warning(own, config.guards.trend_steps, sources),
        }
        for name, message in warnings.items():
            found[f"{name} {label}"] = message and _where(label, config) + message
    return [(name, message) for name, message in found.items() if message is not None]


def _of_data_set(history: History, label: str) -> History:
    """The rows of the steps that had problems of a data set, with its own metrics."""
    prefix = f"dataset/{label}/"
    rows = []
    for row in history:
        own = {name.removeprefix(prefix): row[name] for name in row if name.startswith(prefix)}
        if own:
            rows.append({"step": row["step"], **own})
    return rows


def _cut_distribution_warning(top_p: float, loss: LossConfig) -> str:
    """The bias that top_p causes, and the part of it that an importance weight removes."""
    lowest = 1 - loss.clip_low
    message = (
        f"rollout.top_p is {top_p:g}: the sampler never draws what it cuts off, so nothing is "
        "learnt about those tokens, and the KL is not that of the policy. The others are weighed "
        f"by policy over sampler probability, which is between {top_p:g} and 1"
    )
    clips = loss.type not in ("cispo", "unclipped")
    if loss.importance is None and clips and top_p < lowest:
        return (
            f"{message}; below 1 - loss.clip_low = {lowest:g} a negative advantage is clipped "
            "away. Suggested: loss.importance {mode: token_truncate}, or rollout.top_p 1.0"
        )
    return f"{message}. Suggested: 1.0"


def _other_distribution_warnings(rollout: RolloutConfig) -> list[str]:
    """Warnings about settings with which completions are no samples of the policy, but top_p."""
    warnings = []
    cuts = {"top_k": rollout.top_k, "min_p": rollout.min_p or None}
    off = {"top_k": "null", "min_p": "0"}
    for name, value in cuts.items():
        if value is not None:
            warnings.append(
                f"rollout.{name} is {value:g}: the sampler never draws what it cuts off, so "
                "nothing is learnt about those tokens, and the KL is not that of the policy. The "
                "others are weighed by policy over sampler probability, the share that the cut "
                f"leaves, which may be small. Suggested: {off[name]}"
            )
    if rollout.repetition_penalty != 1:
        warnings.append(
            f"rollout.repetition_penalty is {rollout.repetition_penalty:g}: completions are not "
            "samples of the policy, which may go on to repeat itself without it. Tokens are "
            "weighed by policy over sampler probability, and the clip takes the gradient of many. "
            "Suggested: 1, and the verifier `repetition` with a weight"
        )
    return warnings


def _kl_warning(row: Mapping[str, float], config: Config) -> str | None:
    limit = config.guards.warn_if_kl_above
    kl = row.get("policy/kl_divergence")
    if limit is None or kl is None or kl <= limit:
        return None
    return (
        f"policy/kl_divergence is {kl:.4g}, above guards.warn_if_kl_above {limit:g}: the policy is "
        f"leaving its reference. {_kl_remedy(config.loss, config.optimizer)}"
    )


def _masked_warning(row: Mapping[str, float], config: Config) -> str | None:
    if config.loss.truncated != "mask" or row.get("completion/truncated_fraction", 0) < 1:
        return None
    limit = config.rollout.max_completion_tokens
    return (
        f"all completions met rollout.max_completion_tokens {limit}, and loss.truncated is mask: "
        "none is in the loss, so the step has changed nothing. Suggested: "
        f"rollout.max_completion_tokens {limit} -> {2 * limit}, or loss.truncated keep"
    )


def _zero_variance_warning(row: Mapping[str, float], config: Config, main: str) -> str | None:
    limit = config.guards.warn_if_zero_variance_above
    share = row.get("reward/zero_variance_fraction")
    if limit is None or share is None or share <= limit:
        return None
    found = (
        f"{share:.0%} of the groups have equal rewards (guards.warn_if_zero_variance_above "
        f"{limit:.0%}) and teach nothing. "
    )
    if (clear := _clear_cause(row)) is not None:
        return found + clear
    harder = row.get("reward/always_solved_fraction", 0) >= row.get(
        "reward/never_solved_fraction", 0
    )
    return (
        f"{found}{_diversity_remedy(config.rollout)}; or "
        f"{'harder' if harder else 'easier'} problems (dataset.solve_rate_range [0.1, 0.9])"
        f"{_commonest_reason(row, main)}"
    )


def _clear_cause(row: Mapping[str, float]) -> str | None:
    """The cause of equal rewards, and its remedy, where diversity is none; None: not known."""
    solved = row.get("reward/solve_rate", 0)
    if solved >= SOLVED:
        return (
            f"The problems are mostly solved ({solved:.0%}). Suggested: harder ones "
            "(dataset.solve_rate_range [0.1, 0.9])"
        )
    name, share = max(_formless_shares(row).items(), key=lambda item: item[1], default=("", 0.0))
    if share < FORMLESS or solved > 1 - FORMLESS:
        return None
    count = "no completion has" if share > 0.999 else f"{share:.0%} of the completions lack"
    return (
        f"By {name!r} {count} the wanted form: look at dataset.system_prompt, the chat template "
        "and rollout.max_completion_tokens first, and at completions in rollouts/"
    )


def _formless_shares(row: Mapping[str, float]) -> dict[str, float]:
    """The share of completions without the wanted form, by each verifier that says so."""
    shares: dict[str, float] = {}
    for name, share in row.items():
        kind, _, rest = name.partition("/")
        key, _, reason = rest.rpartition("/")
        if kind == "reason" and reason in FORMLESS_REASONS:
            shares[key] = shares.get(key, 0) + share
    return shares


def _commonest_reason(row: Mapping[str, float], source: str) -> str:
    """A sentence on the reason that most verdicts of a source have; empty where none is known."""
    prefix = f"reason/{source}/"
    shares = {name.removeprefix(prefix): row[name] for name in row if name.startswith(prefix)}
    if not shares:
        return ""
    reason, share = max(shares.items(), key=lambda item: item[1])
    if reason in PLAIN_REASONS:
        return ""
    return f". The commonest verdict of {source!r} is {reason} ({share:.0%}); see rollouts/"


def _spread_warning(
    row: Mapping[str, float], config: Config, sources: Sequence[RewardSource]
) -> str | None:
    share = config.guards.warn_if_spread_below
    spread = row.get("reward/group_std")
    largest = largest_group_std(sources)
    if share is None or spread is None or spread >= share * largest:
        return None
    return (
        f"reward/group_std is {spread:.3g}, less than {share:.0%} of {largest:.3g}, the largest "
        f"that the weights allow: completions of a problem hardly differ. "
        f"{_clear_cause(row) or _diversity_remedy(config.rollout)}"
    )


def largest_group_std(sources: Sequence[RewardSource]) -> float:
    """The population std of rewards of which half have every score 1 and half every score 0."""
    return sum(abs(source.weight) for source in sources) / 2


def _trend_warning(
    history: History, window: int | None, sources: Sequence[RewardSource]
) -> str | None:
    rows = [row for row in history if row["step"] > 0]
    if window is None or len(rows) < window:
        return None
    main = main_source(sources).key
    changes = {
        source.key: _change(rows[-window:], f"reward/{source.key}")
        for source in sources
        if source.weight > 0
    }
    fall = changes.pop(main, None)
    rising = {name: rise for name, rise in changes.items() if rise is not None and rise > TREND}
    if fall is None or fall >= -TREND or not rising:
        return None
    name, rise = max(rising.items(), key=lambda item: item[1])
    weights = {source.key: source.weight for source in sources}
    return (
        f"within {window} steps reward/{name} rose by {rise:.3f} while reward/{main} fell by "
        f"{-fall:.3f}: the policy learns form at the cost of being right. Suggested: a smaller "
        f"weight of {name!r} ({weights[name]:g} -> {weights[name] / 2:g}), and look at rollouts/"
    )


def _change(rows: History, key: str) -> float | None:
    """The mean of the second half of the rows minus that of the first; None: too few values."""
    values = [row[key] for row in rows if key in row]
    half = len(values) // 2
    if not half:
        return None
    return sum(values[-half:]) / half - sum(values[:half]) / half


def _skipped_in_a_row(history: History) -> int:
    """Number of skipped updates since the last step with an update that was not skipped."""
    count = 0
    for row in reversed(history):
        skipped = row.get("policy/skipped_updates", 0)
        if skipped < row.get("policy/updates", 0):
            break
        count += int(skipped)
    return count


def _kl_remedy(loss: LossConfig, optimizer: OptimizerConfig) -> str:
    beta = loss.kl_coefficient
    return (
        f"Suggested: loss.kl_coefficient {beta:g} -> {max(2 * beta, 0.01):g}, or "
        f"{_lower_rate(optimizer.learning_rate)}"
    )


def _lower_rate(rate: float) -> str:
    return f"optimizer.learning_rate {rate:g} -> {rate / 2:g}"


def _diversity_remedy(rollout: RolloutConfig) -> str:
    temperature, size = rollout.temperature, rollout.group_size
    hotter = HOTTER if temperature < HOTTER else HOTTEST
    parts = [f"rollout.group_size {size} -> {2 * size}"]
    if temperature < HOTTEST:
        parts.insert(0, f"rollout.temperature {temperature:g} -> {hotter:g}")
    return f"Suggested: {', '.join(parts)}"
