"""Published recipes as values of this trainer's settings.

Each value names its source; `departures` lists where this trainer differs from the recipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Preset:
    """A named recipe."""

    summary: str
    values: dict[str, tuple[Any, str]]
    """Dotted setting -> (value, source)."""
    departures: tuple[str, ...] = ()

    @property
    def nested(self) -> dict[str, Any]:
        """The values as nested sections, like those of a YAML file."""
        sections: dict[str, Any] = {}
        for key, (value, _) in self.values.items():
            section, name = key.split(".")
            sections.setdefault(section, {})[name] = value
        return sections


_OURS = "not stated by the recipe; this project's choice"
_THREE_VERIFIERS = [
    {"type": "accuracy", "weight": 1.0},
    {"type": "format", "weight": 0.1},
    {"type": "tag_count", "weight": 0.05},
]


def _recipe(source: str, ours: dict[str, Any], **stated: Any) -> dict[str, tuple[Any, str]]:
    """The values of one recipe, each with its source.

    Args:
        source: paper or project that states the recipe.
        ours: dotted setting -> value, where the source states none.
        stated: `section__key=value`, as the source states it.
    """
    values = {key.replace("__", "."): (value, source) for key, value in stated.items()}
    values |= {key: (value, _OURS) for key, value in ours.items()}
    return values


_DEEPSEEK = "DeepSeekMath, arXiv 2402.03300, section 4.2"
_DEEPSEEK_SHORT = "DeepSeekMath's objective at a small scale, as GRPO guides state it"
_OPEN_R1 = "guides that teach open-r1's rewards, not open-r1's own recipe"
_VERIFIABLE = "guides on training with verifiable rewards"
_TRL = "TRL 1.16, GRPOConfig defaults"
_UNCLIPPED = "small from-scratch GRPO guides"
_DAPO = "DAPO, arXiv 2503.14476, section 4.1"
_OPEN_R1_CODE = "open-r1, recipes/Qwen2.5-Coder-7B-Instruct/grpo/config_codeforces.yaml"
_DR_GRPO = "Dr. GRPO, arXiv 2503.20783, appendix"

_ADAMW = {"optimizer.max_grad_norm": 1.0, "optimizer.warmup_steps": 0}
_CONSTANT = {**_ADAMW, "optimizer.schedule": "constant"}
_ONCE = {"train.epochs_per_rollout": 1}
_PLAIN = {"rollout.top_p": 1.0, "advantage.std": "population"}
_NO_SCALE = {"advantage.std": "population", "advantage.epsilon": 0.0}

PRESETS: dict[str, Preset] = {
    "deepseek_math": Preset(
        "clipped, scaled by the group's std, no KL, small groups",
        _recipe(
            _DEEPSEEK_SHORT,
            {**_PLAIN, **_CONSTANT, **_ONCE, "optimizer.learning_rate": 1e-6}
            | {"rollout.temperature": 1.0, "rollout.max_completion_tokens": 1024},
            rollout__group_size=4,
            rollout__prompts_per_step=32,
            advantage__scale="group_std",
            advantage__epsilon=1e-8,
            loss__type="grpo",
            loss__clip_low=0.2,
            loss__clip_high=0.2,
            loss__kl_coefficient=0.0,
        ),
        ("the published KL penalty and group size are in deepseek_math_paper",),
    ),
    "deepseek_math_paper": Preset(
        "as published: 64 completions of each problem, KL 0.04",
        _recipe(
            _DEEPSEEK,
            {**_PLAIN, **_CONSTANT, "rollout.temperature": 1.0, "advantage.epsilon": 1e-8}
            | {"loss.clip_low": 0.2, "loss.clip_high": 0.2},
            rollout__group_size=64,
            rollout__prompts_per_step=16,
            rollout__max_completion_tokens=1024,
            advantage__scale="group_std",
            loss__type="grpo",
            loss__kl_coefficient=0.04,
            loss__kl_estimator="k3",
            optimizer__learning_rate=1e-6,
            train__epochs_per_rollout=1,
        ),
        ("rewards come from verifiers, not from a trained reward model",),
    ),
    "open_r1": Preset(
        "mean-only advantages, light KL, long completions",
        _recipe(
            _OPEN_R1,
            {**_NO_SCALE, **_ADAMW, **_ONCE, "optimizer.schedule": "cosine"}
            | {"rollout.prompts_per_step": 8, "loss.kl_estimator": "k3"},
            rollout__group_size=16,
            rollout__temperature=0.6,
            rollout__top_p=0.95,
            rollout__max_completion_tokens=2048,
            advantage__scale="none",
            loss__type="grpo",
            loss__clip_low=0.2,
            loss__clip_high=0.2,
            loss__kl_coefficient=0.01,
            optimizer__learning_rate=1e-6,
            train__steps=500,
            reward__verifiers=_THREE_VERIFIERS,
        ),
        (
            "open-r1's own demonstration (Qwen2.5-1.5B-Instruct, config_demo.yaml) has 7 "
            "completions of 1,024 tokens and learning rate 2e-5 with a warm-up of 0.1; it states "
            "neither a KL coefficient nor a clip, and its rewards weigh 1 each",
            "top_p 0.95 is sampled as stated, and the sampler's probabilities are those of the cut "
            "distribution: on-policy the ratio is between 0.95 and 1, not 1",
        ),
    ),
    "verifiable": Preset(
        "a clip so wide that it only stops runaway ratios, little KL",
        _recipe(
            _VERIFIABLE,
            {**_PLAIN, **_CONSTANT, **_ONCE, "optimizer.learning_rate": 1e-6}
            | {"rollout.prompts_per_step": 8, "rollout.max_completion_tokens": 1024}
            | {"advantage.epsilon": 1e-6, "loss.type": "grpo", "loss.kl_estimator": "k3"},
            rollout__group_size=16,
            rollout__temperature=1.0,
            advantage__scale="group_std",
            loss__clip_low=10.0,
            loss__clip_high=10.0,
            loss__kl_coefficient=0.001,
        ),
        ("clip 10 means ratios up to 11; the lower bound, 1 - 10, never acts",),
    ),
    "trl": Preset(
        "TRL's defaults",
        _recipe(
            _TRL,
            {},
            rollout__group_size=8,
            rollout__prompts_per_step=1,
            rollout__temperature=1.0,
            rollout__top_p=1.0,
            rollout__max_completion_tokens=256,
            advantage__scale="group_std",
            advantage__std="bessel",
            advantage__epsilon=1e-4,
            loss__type="dapo",
            loss__clip_low=0.2,
            loss__clip_high=0.2,
            loss__kl_coefficient=0.0,
            loss__kl_ratio_weighted=True,
            optimizer__learning_rate=1e-6,
            optimizer__max_grad_norm=1.0,
            optimizer__warmup_steps=0,
            optimizer__schedule="linear",
            train__epochs_per_rollout=1,
        ),
        ("TRL counts 3 epochs; here train.steps says how long",),
    ),
    "unclipped": Preset(
        "mean-only advantages, importance weight without a clip, KL 0.05",
        _recipe(
            _UNCLIPPED,
            {**_NO_SCALE, **_CONSTANT, **_ONCE, "rollout.top_p": 1.0}
            | {"loss.type": "unclipped", "loss.kl_estimator": "k3"},
            rollout__group_size=4,
            rollout__prompts_per_step=16,
            rollout__temperature=1.0,
            rollout__max_completion_tokens=128,
            advantage__scale="none",
            loss__kl_coefficient=0.05,
            optimizer__learning_rate=1e-6,
        ),
        ("batch 1 with accumulation 16 is taken as 16 prompts for each optimizer step",),
    ),
    "dapo": Preset(
        "higher upper clip, mean over all tokens of the step, no KL",
        _recipe(
            _DAPO,
            {
                "advantage.std": "population",
                "advantage.epsilon": 1e-6,
                "optimizer.max_grad_norm": 1.0,
            },
            rollout__group_size=16,
            rollout__prompts_per_step=512,
            rollout__temperature=1.0,
            rollout__top_p=1.0,
            rollout__max_completion_tokens=20_480,
            advantage__scale="group_std",
            loss__type="dapo",
            loss__clip_low=0.2,
            loss__clip_high=0.28,
            loss__kl_coefficient=0.0,
            optimizer__learning_rate=1e-6,
            optimizer__weight_decay=0.1,
            optimizer__warmup_steps=20,
            optimizer__schedule="constant",
            train__epochs_per_rollout=1,
            train__minibatches=16,
            advantage__zero_variance="drop",
            rollout__max_refills=10,
            reward__verifiers=[
                {"type": "accuracy", "weight": 1.0},
                {
                    "type": "soft_overlong",
                    "weight": 0.5,
                    "max_completion_tokens": 20_480,
                    "cache_tokens": 4096,
                },
            ],
        ),
        (
            "dynamic sampling takes only what is missing, and stops after 10 refills; the paper's "
            "takes whole batches until one is full",
            "right and wrong are 1 and 0, not 1 and -1, so the penalty for length weighs 0.5",
        ),
    ),
    "dr_grpo": Preset(
        "no std, constant length denominator: no bias by length or difficulty",
        _recipe(
            _DR_GRPO,
            {"optimizer.max_grad_norm": 1.0, "optimizer.warmup_steps": 0}
            | {
                "advantage.std": "population",
                "advantage.epsilon": 0.0,
                "train.epochs_per_rollout": 1,
            },
            rollout__group_size=8,
            rollout__prompts_per_step=128,
            rollout__temperature=1.0,
            rollout__top_p=1.0,
            rollout__max_completion_tokens=3000,
            advantage__scale="none",
            loss__type="dr_grpo",
            loss__clip_low=0.2,
            loss__clip_high=0.2,
            loss__kl_coefficient=0.0,
            optimizer__learning_rate=1e-6,
            optimizer__schedule="constant",
        ),
    ),
    "code": Preset(
        "programs by their tests: no std, no KL, truncated completions masked",
        _recipe(
            _OPEN_R1_CODE,
            {"advantage.std": "population", "advantage.epsilon": 0.0, **_ONCE}
            | {"rollout.prompts_per_step": 8, "rollout.top_p": 1.0, "optimizer.warmup_steps": 10}
            | {"loss.clip_low": 0.2, "loss.clip_high": 0.2},
            rollout__group_size=16,
            rollout__temperature=0.7,
            rollout__max_completion_tokens=8192,
            advantage__scale="none",
            loss__type="dr_grpo",
            loss__kl_coefficient=0.0,
            loss__truncated="mask",
            optimizer__learning_rate=1e-6,
            optimizer__max_grad_norm=0.2,
            optimizer__schedule="constant",
            reward__verifiers=[
                {"type": "code", "weight": 1.0},
                {"type": "code_format", "weight": 0.1},
            ],
        ),
        (
            "the recipe's programs are in C++: give both verifiers language: cpp for them; "
            "here they are in Python",
            "it trains 40 epochs with a warm-up of a tenth of them; here train.steps says how long",
            "it names no clip, so that of TRL holds, and its step depends on the number of GPUs",
        ),
    ),
}
