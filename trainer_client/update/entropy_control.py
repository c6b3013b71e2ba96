"""The entropy coefficient that follows a target (Skywork-OR1, arXiv 2505.22312)."""

from __future__ import annotations

import math
from typing import Any

from trainer_client.config.loss_section import LossConfig


class EntropyControl:
    """The coefficient of the next optimizer step.

    With `loss.entropy_target` e*, after step k of mean token entropy e_k:
    c_(k+1) = c_k + d where e_k <= e*, else c_k - d, within [0, `entropy_max`]; the coefficient of
    step k + 1 is c_(k+1) where e_k <= e*, else 0. Before the first step no entropy is known, and
    the coefficient is 0. Without a target it is `entropy_coefficient`.

    >>> control = EntropyControl(LossConfig(entropy_target=0.5, entropy_step=0.01))
    >>> control.coefficient
    0.0
    >>> control.measured(0.4)
    >>> control.coefficient
    0.01
    """

    def __init__(self, config: LossConfig) -> None:
        self._config = config
        self._level = config.entropy_coefficient
        self._entropy = math.inf

    @property
    def coefficient(self) -> float:
        """The weight of the mean token entropy in the next optimizer step."""
        target = self._config.entropy_target
        return self._level if target is None or self._entropy <= target else 0.0

    def measured(self, entropy: float) -> None:
        """Note the mean token entropy of an optimizer step, in nats, over all processes."""
        target, config = self._config.entropy_target, self._config
        if target is None:
            return
        change = config.entropy_step if entropy <= target else -config.entropy_step
        self._level = min(max(self._level + change, 0.0), config.entropy_max)
        self._entropy = entropy

    @property
    def state(self) -> dict[str, float]:
        """The part of a checkpoint from which the control goes on."""
        return {"level": self._level, "entropy": self._entropy}

    def restore(self, state: dict[str, Any] | None) -> None:
        """Go on from a checkpoint's state; None, or no target: from the configuration."""
        if state is not None and self._config.entropy_target is not None:
            self._level, self._entropy = state["level"], state["entropy"]
