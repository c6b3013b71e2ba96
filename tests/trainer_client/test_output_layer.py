"""Chunked log-probabilities equal the plain form, in value, gradient and a fraction of memory."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    MptConfig,
    MptForCausalLM,
)

from tests.trainer_client.runs import run_python
from tests.trainer_client.test_compile import torch_warns
from trainer_client.config.run_config import ConfigError
from trainer_client.policy import logit_passes
from trainer_client.policy import output_layer as output_layer_module
from trainer_client.policy.logit_passes import EagerPasses, FusedPasses, Slopes, fusion_error
from trainer_client.policy.output_layer import (
    OutputLayer,
    check_output_layer,
    output_layer,
)

NUM_TOKENS, HIDDEN, VOCABULARY = 23, 8, 41
TEMPERATURE = 0.7


def plain(layer: OutputLayer, states: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    logits = states @ layer.weight.T
    if layer.bias is not None:
        logits = logits + layer.bias
    logits = logits * layer.scale
    if layer.softcap is not None:
        logits = layer.softcap * torch.tanh(logits / layer.softcap)
    log_softmax = (logits / TEMPERATURE).log_softmax(dim=-1)
    chosen = log_softmax.gather(1, targets[:, None])[:, 0]
    return chosen, -(log_softmax.exp() * log_softmax).sum(dim=-1)


@pytest.mark.parametrize("softcap", [None, 2.0])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("of_entropy", [0.0, 0.3])
@pytest.mark.parametrize("chunk_tokens", [1, 7, 100])
@pytest.mark.parametrize("told", ["nothing", "slopes", "wrong slopes"])
@pytest.mark.parametrize("passes", [EagerPasses, FusedPasses])
def test_value_and_gradient_equal_the_plain_form(
    softcap: float | None,
    bias: bool,
    of_entropy: float,
    chunk_tokens: int,
    told: str,
    passes: type[EagerPasses] | type[FusedPasses],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Chunks of any size, with a gradient through the entropy and without.

    Told the slopes of the loss, the layer has its gradient before the loss is there. Wrong slopes
    cost time and change nothing. The computations of a GPU run here as they are, not compiled.
    """
    monkeypatch.setattr(output_layer_module, "passes_for", lambda device, dtype: passes)
    monkeypatch.setattr(logit_passes, "_compiled", partial)
    torch.manual_seed(0)
    states = (3 * torch.randn(NUM_TOKENS, HIDDEN)).requires_grad_()
    weight = torch.randn(VOCABULARY, HIDDEN, requires_grad=True)
    offset = torch.randn(VOCABULARY, requires_grad=True) if bias else None
    layer = OutputLayer(weight, offset, 0.5, softcap)
    targets = torch.randint(VOCABULARY, (NUM_TOKENS,))
    factors = torch.randn(NUM_TOKENS)
    off = 0.5 if told == "wrong slopes" else 1.0

    def slopes_of(rows: slice, logprobs: Tensor, entropy: Tensor) -> Slopes:
        assert logprobs.shape == entropy.shape == factors[rows].shape
        return Slopes(off * factors[rows], of_entropy * factors[rows] if of_entropy else None)

    results = []
    for logprobs, entropy in (
        plain(layer, states, targets),
        layer.logprobs(
            states,
            targets,
            temperature=TEMPERATURE,
            entropy_gradient=True,
            chunk_tokens=chunk_tokens,
            slopes_of=None if told == "nothing" else slopes_of,
        ),
    ):
        leaves = [leaf for leaf in (states, weight, offset) if leaf is not None]
        loss = (factors * logprobs).sum()
        if of_entropy:
            loss = loss + of_entropy * (factors * entropy).sum()
        results.append([logprobs, entropy, *torch.autograd.grad(loss, leaves)])
    for expected, actual in zip(*results, strict=True):
        torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("told", "num_chunks"), [(None, 8), (1.0, 4), (1.1, 8)])
def test_logits_are_computed_once_where_the_slopes_are_known(
    told: float | None, num_chunks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four chunks; twice where nothing or the wrong thing was told."""
    computed = []

    def counted(*arguments: Any) -> Tensor:
        computed.append(arguments)
        return logits(*arguments)

    logits = logit_passes._logits_in_place
    monkeypatch.setattr(logit_passes, "_logits_in_place", counted)
    weight = torch.randn(VOCABULARY, HIDDEN, requires_grad=True)

    def slopes_of(rows: slice, logprobs: Tensor, entropy: Tensor) -> Slopes:
        assert told is not None
        return Slopes(torch.full_like(logprobs, told), None)

    logprobs, _ = OutputLayer(weight, None, 1.0, None).logprobs(
        torch.randn(8, HIDDEN),
        torch.zeros(8, dtype=torch.long),
        temperature=1.0,
        entropy_gradient=False,
        chunk_tokens=2,
        slopes_of=None if told is None else slopes_of,
    )
    logprobs.sum().backward()  # type: ignore[no-untyped-call]
    assert len(computed) == num_chunks


def test_a_gradient_made_in_the_forward_pass_is_given_away_and_not_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Tensor] = []
    zeros = output_layer_module._float_zeros

    def noted(tensor: Tensor) -> Tensor:
        made.append(zeros(tensor))
        return made[-1]

    monkeypatch.setattr(output_layer_module, "_float_zeros", noted)
    weight = torch.randn(50, 8, requires_grad=True)
    states, targets = torch.randn(6, 8, requires_grad=True), torch.randint(50, (6,))
    logprobs, _ = OutputLayer(weight, None, scale=1.0, softcap=None).logprobs(
        states,
        targets,
        temperature=1.0,
        entropy_gradient=False,
        slopes_of=lambda rows, logprobs, entropy: Slopes(torch.ones_like(logprobs), None),
    )
    [place] = [one.data_ptr() for one in made]
    made.clear()
    logprobs.sum().backward()  # type: ignore[no-untyped-call]
    assert weight.grad is not None
    assert weight.grad.data_ptr() == place


@pytest.mark.slow
@torch_warns
def test_compiled_passes_find_what_plain_ones_find() -> None:
    """Kernels for this processor; a GPU's are compared when a run starts there."""
    assert fusion_error(torch.device("cpu"), torch.bfloat16) is None
    fusion_error.cache_clear()


def test_kernels_that_find_something_else_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    slopes = logit_passes._put_slopes
    monkeypatch.setattr(logit_passes, "_compiled", partial)
    monkeypatch.setattr(
        logit_passes, "_put_slopes", lambda form, products, *rest: slopes(form, products + 1, *rest)
    )
    fusion_error.cache_clear()
    assert (
        fusion_error(torch.device("cpu"), torch.float32) == "the compiled kernels find other values"
    )
    fusion_error.cache_clear()


def test_without_a_compiler_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("Failed to find C compiler.\nPlease specify CC.")

    monkeypatch.setattr(logit_passes, "_compiled", fails)
    fusion_error.cache_clear()
    assert (
        fusion_error(torch.device("cpu"), torch.float32)
        == "RuntimeError: Failed to find C compiler."
    )
    fusion_error.cache_clear()


def test_without_an_entropy_bonus_the_entropy_has_no_gradient() -> None:
    """It is a metric then."""
    weight = torch.randn(VOCABULARY, HIDDEN, requires_grad=True)
    targets = torch.zeros(3, dtype=torch.long)
    logprobs, entropy = OutputLayer(weight, None, 1.0, None).logprobs(
        torch.randn(3, HIDDEN), targets, temperature=1.0, entropy_gradient=False
    )
    assert logprobs.requires_grad
    assert not entropy.requires_grad


def test_sums_over_chunks_are_kept_in_float32() -> None:
    """512 chunks in bfloat16 add up to what one chunk gives; a bfloat16 sum would not."""
    torch.manual_seed(0)
    states = torch.rand(512, HIDDEN, dtype=torch.bfloat16)
    weight = torch.randn(VOCABULARY, HIDDEN, dtype=torch.bfloat16, requires_grad=True)
    targets = torch.zeros(512, dtype=torch.long)
    gradients = []
    for chunk_tokens in (1, 512):
        logprobs, _ = OutputLayer(weight, None, 1.0, None).logprobs(
            states, targets, temperature=1.0, entropy_gradient=False, chunk_tokens=chunk_tokens
        )
        gradients.append(torch.autograd.grad(logprobs.sum(), weight)[0].float())
    torch.testing.assert_close(gradients[0], gradients[1], rtol=2**-7, atol=0.05)


def test_a_soft_cap_is_found_in_the_configuration() -> None:
    """Gemma 2's logits, whose cap its own forward applies."""
    model = Gemma2ForCausalLM(
        Gemma2Config(
            vocab_size=50,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
            final_logit_softcapping=3.0,
        )
    ).eval()
    assert output_layer(model).softcap == 3.0
    check_output_layer(model)


def test_a_scale_that_is_null_is_none_and_a_word_is_refused() -> None:
    """MPT has both."""
    config = MptConfig(vocab_size=50, d_model=16, n_heads=2, n_layers=1, max_seq_len=32)
    assert config.logit_scale is None
    model = MptForCausalLM(config).eval()
    assert output_layer(model).scale == 1.0
    check_output_layer(model)
    model.config.logit_scale = "inv_sqrt_d_model"
    with pytest.raises(ConfigError, match="logit_scale 'inv_sqrt_d_model', expected a number"):
        check_output_layer(model)


def test_an_architecture_that_changes_its_logits_is_refused() -> None:
    """Rather than trained on other log-probabilities than it samples with."""
    model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=8, n_layer=1, n_head=2)).eval()
    check_output_layer(model)
    model.lm_head.register_forward_hook(lambda module, arguments, logits: logits + 1)
    with pytest.raises(ConfigError, match="changes its logits"):
        check_output_layer(model)


MEASURE = """
import resource, sys, torch
from trainer_client.policy.output_layer import OutputLayer
form, tokens, vocabulary, hidden = sys.argv[1], *map(int, sys.argv[2:])
states = torch.randn(tokens, hidden, requires_grad=True)
weight = torch.randn(vocabulary, hidden, requires_grad=True)
states.grad, weight.grad = torch.zeros_like(states), torch.zeros_like(weight)
targets = torch.randint(vocabulary, (tokens,))
(states[:8] @ weight.T).log_softmax(-1).sum().backward()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if form == "chunked":
    layer = OutputLayer(weight, None, 1.0, None)
    logprobs, _ = layer.logprobs(states, targets, temperature=1.0, entropy_gradient=False)
else:
    logprobs = -torch.nn.functional.cross_entropy(states @ weight.T, targets, reduction="none")
logprobs.sum().backward()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_the_peak_is_at_most_a_quarter_of_the_plain_forms(tmp_path: Path) -> None:
    """The plain form is the leanest there is. A larger vocabulary gives the same ratio."""
    tokens, vocabulary, hidden = 3072, 30_000, 32
    script = tmp_path / "measure.py"
    script.write_text(MEASURE)
    shape = [str(size) for size in (tokens, vocabulary, hidden)]
    plain, chunked = (int(run_python(str(script), form, *shape)) for form in ("plain", "chunked"))
    assert plain > 2 * tokens * vocabulary * 4 / 1024  # logits and their gradient
    assert chunked <= 0.25 * plain, (plain, chunked)
