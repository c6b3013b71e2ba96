"""The unbiased pass@k of one problem, and how it changes over a run."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb


def pass_at_k(num_samples: int, num_passed: int, k: int) -> float:
    """1 - C(n - c, k) / C(n, k): the chance that at least one of k samples passes.

    The unbiased estimate from n samples of which c passed (Chen et al., arXiv 2107.03374, eq. 1).

    >>> pass_at_k(10, 3, 1)
    0.3
    >>> pass_at_k(2, 1, 2)
    1.0
    """
    if not 0 <= num_passed <= num_samples or not 1 <= k <= num_samples:
        raise ValueError(f"pass@{k} of {num_passed} passed in {num_samples} samples")
    return round(1 - comb(num_samples - num_passed, k) / comb(num_samples, k), 12)


def pass_at_k_changes(
    metrics: Mapping[str, float], before: Mapping[str, float]
) -> dict[str, float]:
    """`pass@k_change` for each `pass@k`: its difference to the value before training."""
    return {
        f"{name}_change": value - before[name]
        for name, value in metrics.items()
        if "/pass@" in name and name in before
    }
