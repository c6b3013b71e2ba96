"""Passes over the logits of some tokens: log-probabilities, entropies, and derivatives by logits.

Two classes compute the same. `EagerPasses` are torch's own kernels, each of which reads and writes
all logits. `FusedPasses` are compiled for the GPU and read them twice, with which an output layer
takes 0.43 of the time; they need a C compiler.

Shapes: n tokens, of a chunk or of all; V tokens in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from subprocess import SubprocessError
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

POWER_TOKENS = 64
"""Tokens whose logits and exponentials exist at a time in `EagerPasses`."""
COMPILATION_ERRORS = (RuntimeError, OSError, ImportError, SubprocessError)
"""Errors of `torch.compile`: no C compiler, no headers of Python, a GPU that is too old."""


class Slopes(NamedTuple):
    """Derivatives of a loss by the log-probability and by the entropy of each token."""

    of_logprobs: Tensor | None
    """float32 `[n]`; None: the loss does not hang on them."""
    of_entropy: Tensor | None
    """float32 `[n]`; None: the loss does not hang on them."""


class Statistics(NamedTuple):
    """Numbers that the logits of each token give, float32 `[n]` each."""

    logprobs: Tensor
    """log softmax at the targets."""
    entropy: Tensor
    """Entropy in nats."""
    normaliser: Tensor
    """log sum exp."""


@dataclass(frozen=True)
class LogitForm:
    """How logits are made from the products of states and weights."""

    scale: float
    softcap: float | None
    """A logit z becomes softcap * tanh(z / softcap) (Gemma 2); None: it stays z."""
    temperature: float
    """The sampler's, which divides them at last."""


@dataclass(frozen=True)
class Chunk:
    """Some tokens, as far as their logits are made."""

    products: Tensor
    """Products of states and weights, `[n, V]`; passes may overwrite them."""
    bias: Tensor | None
    """float `[V]`."""
    targets: Tensor
    """int64 `[n]`, token ids."""
    form: LogitForm


class Passes(Protocol):
    """Passes over a chunk, whose statistics a pass before may have found."""

    statistics: Statistics

    def __init__(self, chunk: Chunk, statistics: Statistics | None = None) -> None: ...

    def slopes(self, of_loss: Slopes) -> Tensor:
        """Derivatives of a loss by the products, `[n, V]` in their type; to be called once."""


class EagerPasses:
    """`Passes` by torch's own kernels, in place: passing over n * V numbers takes most time."""

    def __init__(self, chunk: Chunk, statistics: Statistics | None = None) -> None:
        form = chunk.form
        self._targets, self._form, self._dtype = chunk.targets, form, chunk.products.dtype
        logits = _logits_in_place(chunk.products, chunk.bias, form)
        self._capped = None if form.softcap is None else logits.clone()
        _scale_by(logits, 1 / form.temperature)
        if statistics is None:
            self._powers, self._total, self.statistics = self._first_pass(logits)
        else:
            logits -= statistics.normaliser[:, None]
            self._powers, self.statistics = logits.exp_(), statistics
            self._total = torch.ones_like(statistics.entropy)

    def _first_pass(self, logits: Tensor) -> tuple[Tensor, Tensor, Statistics]:
        """Powers `[n, V]` in the memory of the logits, their sums `[n]`, and the statistics.

        With m the largest logit, z = logits - m and s = sum exp(z): log p_y = z_y - log s and
        H = log s - sum(z exp(z)) / s.
        """
        largest = logits.amax(dim=1)
        logits -= largest[:, None]
        chosen = logits.gather(1, self._targets[:, None])[:, 0]
        total, weighted = _raise_to_powers(logits)
        log_total = total.log()
        found = Statistics(chosen - log_total, log_total - weighted / total, largest + log_total)
        return logits, total, found

    def slopes(self, of_loss: Slopes) -> Tensor:
        """Derivatives of a loss by the products, `[n, V]`; see `Passes.slopes`."""
        slope = self._slope(of_loss)
        _scale_by(slope, self._form.scale / self._form.temperature)
        if self._capped is not None:
            assert self._form.softcap is not None
            slope *= 1 - (self._capped / self._form.softcap) ** 2
        return slope.to(self._dtype)

    def _slope(self, of_loss: Slopes) -> Tensor:
        """The derivative by each logit, float32 `[n, V]`, in new memory or that of the powers.

        For z = logits / temperature, p = powers / total = softmax(z), y the target and H the
        entropy: d log p_y / dz_j = [j = y] - p_j and dH / dz_j = -p_j (log p_j + H).
        """
        of_logprobs, of_entropy = of_loss
        powers, total = self._powers, self._total
        if of_entropy is None:
            assert of_logprobs is not None  # one of both gradients started this backward pass
            slope = powers.mul_((-of_logprobs / total)[:, None])
        else:
            # A power that is 0 in float32 has a logarithm here that is finite: 0 times it is 0.
            logp = powers.clamp(min=torch.finfo(powers.dtype).tiny).log_()
            slope = logp.add_((self.statistics.entropy - total.log())[:, None])
            slope.mul_(-of_entropy[:, None])
            if of_logprobs is not None:
                slope -= of_logprobs[:, None]
            slope.mul_(powers)
            slope /= total[:, None]
        if of_logprobs is not None:
            slope.scatter_add_(1, self._targets[:, None], of_logprobs[:, None])
        return slope


class FusedPasses:
    """`Passes` by compiled kernels, which make the logits anew from the products in each of two."""

    def __init__(self, chunk: Chunk, statistics: Statistics | None = None) -> None:
        self._chunk = chunk
        if statistics is None:
            find = _compiled(_statistics, chunk.form)
            statistics = Statistics(*find(chunk.products, chunk.bias, chunk.targets))
        self.statistics = statistics

    def slopes(self, of_loss: Slopes) -> Tensor:
        """Derivatives of a loss by the products, in their memory; see `Passes.slopes`."""
        chunk, found = self._chunk, self.statistics
        put = _compiled(_put_slopes, chunk.form)
        put(chunk.products, chunk.bias, chunk.targets, found.normaliser, found.entropy, *of_loss)
        return chunk.products


@lru_cache(maxsize=64)
def _compiled(computation: Callable[..., Any], form: LogitForm) -> Callable[..., Any]:
    """One of the two computations below as kernels for chunks of any size."""

    def of_form(*tensors: Tensor | None) -> Any:
        return computation(form, *tensors)

    # torch counts the kernels of a code object, gives up after eight, and would count all forms and
    # both computations together.
    code = of_form.__code__
    of_form.__code__ = code.replace(co_name=f"{computation.__name__}_{abs(hash(form))}")
    # The first chunk of a run may be a check's two tokens. Their sums over the vocabulary would be
    # split over many blocks, and later chunks get the same kernels.
    compiled: Callable[..., Any] = torch.compile(
        of_form, dynamic=True, options={"split_reductions": False}
    )
    return compiled


def _statistics(
    form: LogitForm, products: Tensor, bias: Tensor | None, targets: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Fields of `Statistics`, in their order."""
    logits = logits_of(products, bias, form) / form.temperature
    largest = logits.amax(dim=1, keepdim=True)
    logits = logits - largest
    powers = logits.exp()
    total = powers.sum(dim=1)
    weighted = (powers * logits).sum(dim=1)
    chosen = logits.gather(1, targets[:, None])[:, 0]
    log_total = total.log()
    return chosen - log_total, log_total - weighted / total, largest[:, 0] + log_total


def _put_slopes(
    form: LogitForm,
    products: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    normaliser: Tensor,
    entropy: Tensor,
    of_logprobs: Tensor | None,
    of_entropy: Tensor | None,
) -> None:
    """Put the derivatives by the products in their place; `EagerPasses._slope` has the formula."""
    logits = logits_of(products, bias, form)
    logp = logits / form.temperature - normaliser[:, None]
    powers = logp.exp()
    slope = torch.zeros_like(logp)
    if of_logprobs is not None:
        hit = torch.arange(products.shape[1], device=products.device) == targets[:, None]
        slope = of_logprobs[:, None] * (hit.float() - powers)
    if of_entropy is not None:
        # A power that is 0 in float32 has a logarithm here that is finite: 0 times it is 0.
        least = torch.finfo(torch.float32).min
        slope = slope - of_entropy[:, None] * powers * (logp.clamp(min=least) + entropy[:, None])
    if form.softcap is not None:
        slope = slope * (1 - (logits / form.softcap) ** 2)
    products.copy_(slope * (form.scale / form.temperature))


def passes_for(device: torch.device, dtype: torch.dtype) -> type[Passes]:
    """The passes to use on a device for products of a type."""
    fused = device.type == "cuda" and fusion_error(device, dtype) is None
    return FusedPasses if fused else EagerPasses


@lru_cache(maxsize=8)
def fusion_error(device: torch.device, dtype: torch.dtype) -> str | None:
    """Why `FusedPasses` cannot be compiled; None: they can, and find what `EagerPasses` find.

    Args:
        device: of the products.
        dtype: of the products.
    """
    source = torch.Generator().manual_seed(0)
    products = torch.randn(4, 100, generator=source).to(device, dtype)
    targets = torch.tensor([0, 7, 50, 99], device=device)
    of_loss = Slopes(*torch.randn(2, 4, generator=source).to(device))
    form = LogitForm(1.0, None, 1.0)
    try:
        fused = FusedPasses(Chunk(products.clone(), None, targets, form))
        found = (*fused.statistics, fused.slopes(of_loss))
    except COMPILATION_ERRORS as error:
        return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    eager = EagerPasses(Chunk(products.clone(), None, targets, form))
    expected = (*eager.statistics, eager.slopes(of_loss))
    pairs = zip(found, expected, strict=True)
    off = 1e-4 if dtype == torch.float32 else 1e-2  # the slopes are rounded to the products' type
    if all(torch.allclose(one, other, rtol=off, atol=off / 10) for one, other in pairs):
        return None
    return "the compiled kernels find other values"


def logits_of(products: Tensor, bias: Tensor | None, form: LogitForm) -> Tensor:
    """Logits before the temperature, float32 `[n, V]`; they may be the products themselves."""
    logits = products.float()
    if bias is not None:
        logits = logits + bias
    if form.scale != 1:
        logits = logits * form.scale
    if form.softcap is not None:
        logits = form.softcap * (logits / form.softcap).tanh()
    return logits


def _logits_in_place(products: Tensor, bias: Tensor | None, form: LogitForm) -> Tensor:
    """`logits_of`, in the memory of products that are float32."""
    logits = products.float()
    if bias is not None:
        logits += bias
    _scale_by(logits, form.scale)
    if form.softcap is not None:
        logits.div_(form.softcap).tanh_().mul_(form.softcap)
    return logits


def _raise_to_powers(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Put exp(z) in the place of each logit z; returns the sums of exp(z) and of z exp(z).

    A second tensor of all tokens would be the largest thing in memory, so tokens take turns.

    Args:
        logits: float32 `[n, V]`, at most 0.

    Returns:
        float32 `[n]` each.
    """
    total = logits.new_empty(len(logits))
    weighted = torch.empty_like(total)
    for start in range(0, len(logits), POWER_TOKENS):
        rows = slice(start, start + POWER_TOKENS)
        powers = logits[rows].exp()
        total[rows] = powers.sum(dim=1)
        weighted[rows] = torch.linalg.vecdot(powers, logits[rows])
        logits[rows] = powers
    return total, weighted


def _scale_by(numbers: Tensor, factor: float) -> None:
    """Multiply in place, but by 1: a pass over a chunk's logits takes as long as any other."""
    if factor != 1:
        numbers.mul_(factor)
