"""Draws from categorical distributions by the inverse of their cumulative distribution.

`torch.multinomial` draws an exponential for each token of the vocabulary, half of the time of a
sampled token at 32,000 tokens; this takes one uniform number a row. `distribution` applies
temperature, top_p, top_k and min_p before. Shapes: B rows; V tokens.
"""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 512
"""Tokens whose probabilities are summed in float32. Sums over blocks are float64: added up one by
one in float32, a thousand tokens of 1e-8 after one of 0.99 would never be drawn."""


def draw(probabilities: Tensor, uniform: Tensor | None = None) -> Tensor:
    """One token of each row, int64 `[B]`; a token of probability 0 is never drawn.

    A token's chance is within 1e-6 of its probability, relative to it.

    Args:
        probabilities: float32 `[B, V]`; need not be normalised.
        uniform: float64 `[B, 1]` in [0, 1), the number that each row draws with; None: from torch's
            generator.

    Raises:
        ValueError: a row has no token to draw, or a value that is not a number.
    """
    sums = _block_sums(probabilities)
    cumulative = sums.cumsum(1)
    total = cumulative[:, -1:]
    if not bool((total.isfinite() & (total > 0)).all()):
        raise ValueError("probabilities to draw from are not finite")
    if uniform is None:
        uniform = torch.rand(total.shape, dtype=torch.float64, device=total.device)
    target = _below(uniform * total, total)
    block = torch.searchsorted(cumulative, target, right=True)
    before = cumulative.gather(1, block) - sums.gather(1, block)
    share = (target - before) / sums.gather(1, block)
    return block[:, 0] * BLOCK + _draw_in_block(probabilities, block, share)


def _block_sums(probabilities: Tensor) -> Tensor:
    """Sums over blocks of tokens, float64 `[B, ceil(V / BLOCK)]`; the last block may be short."""
    rows, tokens = probabilities.shape
    whole = tokens // BLOCK
    sums = probabilities[:, : whole * BLOCK].view(rows, whole, BLOCK).sum(-1)
    if whole * BLOCK < tokens:
        rest = probabilities[:, whole * BLOCK :].sum(-1, keepdim=True)
        sums = torch.cat([sums, rest], dim=1)
    return sums.double()


def _draw_in_block(probabilities: Tensor, block: Tensor, share: Tensor) -> Tensor:
    """The place within its block, int64 `[B]`, at which a share of the block's sum is reached."""
    size = probabilities.shape[1]
    tokens = block * BLOCK + torch.arange(min(BLOCK, size), device=block.device)
    inside = tokens < size
    tokens = tokens.clamp(max=size - 1)
    cumulative = (probabilities.gather(1, tokens).double() * inside).cumsum(1)
    total = cumulative[:, -1:]
    place = torch.searchsorted(cumulative, _below(share.clamp(min=0) * total, total), right=True)
    return place[:, 0]


def _below(value: Tensor, limit: Tensor) -> Tensor:
    """The value, or the largest number below the limit where rounding has reached it.

    Every number below a cumulative sum's end has an entry above it, whose probability is not 0.
    """
    return torch.minimum(value, limit.nextafter(torch.zeros_like(limit)))
