"""An environment of one turn for SkyRL-gym.

skyrl_gym.register(id="verifier", entry_point="verifier_adapters.skyrl_gym:VerifierEnv")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifier_adapters.ray import verifier_at
from verifier_adapters.reference import naming_columns, own_selection, reference_of
from verifier_adapters.settings import check_others


class VerifierEnv:
    """The methods of SkyRL-gym's `BaseTextEnv`.

    SkyRL knows no missing reward: where the reference does not permit to judge, the reward is 0
    and `metadata["judged"]` false.

    Args:
        env_config: `url`, `profile`, `verifiers` and `api_key` of `verifier_at`; a missing one is
            taken from the process's environment. With `own_verifiers` false, `profile` and
            `verifiers` of a row are columns like others.
        extras: the row's extras; the label is in `reward_spec.ground_truth`. `profile` or
            `verifiers`, where there are any, judge this row.

    Raises:
        ValueError: `extras` has no label, or a name in `env_config` is nearly one of these.
    """

    def __init__(
        self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        config, extras = env_config or {}, extras or {}
        if "ground_truth" not in extras.get("reward_spec", {}):
            raise ValueError("extras has no reward_spec.ground_truth, the label to judge by")
        check_others(config)
        self._verifier = verifier_at(
            config.get("url"),
            profile=config.get("profile"),
            verifiers=config.get("verifiers"),
            api_key=config.get("api_key"),
        )
        self._reference = reference_of(extras["reward_spec"]["ground_truth"])
        self._selections = own_selection(extras, own_verifiers=config.get("own_verifiers", True))
        self._metrics: dict[str, Any] = {}

    def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
        """The prompt unchanged, and no metadata."""
        return prompt, {}

    def step(self, action: str) -> dict[str, Any]:
        """End the only turn with the reward of the action. Raises VerifierError."""
        with naming_columns(self._selections):
            (judgement,) = self._verifier.judge(
                [action], [self._reference], selections=self._selections
            )
        judged = judgement.reward is not None
        self._metrics = {"judged": float(judged), "score": judgement.score or 0.0}
        return {
            "observations": [],
            "reward": judgement.reward or 0.0,
            "done": True,
            "metadata": {"judged": judged, "verdicts": judgement.verdicts},
            "postprocessed_action": None,
        }

    def get_metrics(self) -> dict[str, Any]:
        """`judged` and `score` of the last step; empty before it."""
        return self._metrics

    @staticmethod
    def aggregate_metrics(metrics: list[dict[str, Any]]) -> dict[str, Any]:
        """The mean of each metric over the environments; a missing value counts as 0."""
        keys = {key for one in metrics for key in one}
        return {
            key: sum(one.get(key, 0.0) for one in metrics) / len(metrics) for key in sorted(keys)
        }

    def close(self) -> None:
        """Do nothing: the environment holds no connection."""
