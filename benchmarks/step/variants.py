"""Ways to compute our update, and output layers by themselves: seconds and peak memory.

python -m benchmarks.step.variants FOLDER

Part of `benchmarks/grpo_step.py --form gpu`. All ways train on the same made-up completions, whose
lengths are uniform between 1 token and the task's limit. Each way starts from the model's files.
"""

from __future__ import annotations

import gc
import importlib.util
import random
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.step.ours import config_of, timed
from benchmarks.step.phases import Phases, tell
from benchmarks.step.task import StepTask
from trainer_client.config.run_config import ConfigError
from trainer_client.learner import Learner, make_learner
from trainer_client.memory_estimate import estimate_memory
from trainer_client.policy import packing
from trainer_client.policy.logit_passes import Slopes
from trainer_client.policy.output_layer import OutputLayer, SlopesOf
from trainer_client.rollout import Rollout
from trainer_client.update.batch import Batch, make_batch
from trainer_client.update.step import update_policy

MEASURED = 3
BUDGET_SECONDS = 130.0
"""Time of all ways together; those that it does not reach are named."""
OUTPUT_TOKENS_OF_ROWS = 4
"""Rows of full length whose tokens the output layers get."""


def no_change(learner: Learner) -> AbstractContextManager[Any]:
    """Leave the learner as it is."""
    return nullcontext()


OutputLayerLoss = Callable[[Tensor, Tensor, Tensor], Tensor]
"""The loss of states, weights and targets, summed over tokens or for each."""


@dataclass(frozen=True)
class Variant:
    """One way to compute the update."""

    name: str
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    changed: Callable[[Learner], AbstractContextManager[Any]] = no_change
    """A change that no setting offers; it lasts as long as its context."""


def chunks_of(tokens: int) -> Callable[[Learner], AbstractContextManager[Any]]:
    """The output layer takes so many tokens at a time."""
    defaults = OutputLayer.logprobs.__kwdefaults__
    return lambda learner: patch.dict(defaults, chunk_tokens=tokens)


def a_sequence_at_a_time(learner: Learner) -> AbstractContextManager[Any]:
    """Packed rows attend as in float32, where there is no kernel for rows of several lengths."""
    return patch.object(packing, "_fused", packing._a_sequence_at_a_time)


LORA = {"rank": 16, "alpha": 32}
VARIANTS = (
    Variant("as it is"),
    Variant("padded, sorted by length", {"train": {"packing": False}}),
    Variant("layers compiled", {"train": {"compile": True}}),
    Variant("layers computed again", {"train": {"gradient_checkpointing": True}}),
    Variant("both", {"train": {"compile": True, "gradient_checkpointing": True}}),
    Variant("float32 weights, autocast", {"model": {"dtype": "float32", "autocast": "bfloat16"}}),
    Variant("KL term", {"loss": {"kl_coefficient": 0.04}}),
    Variant("AdamW in 8 bits", {"optimizer": {"type": "adamw_8bit"}}),
    Variant("Muon", {"optimizer": {"type": "muon"}}),
    Variant("LoRA", {"model": {"lora": LORA}}),
    Variant("LoRA on 4 bits", {"model": {"lora": LORA, "quantization": "4bit"}}),
    Variant("output layer by 128 tokens", changed=chunks_of(128)),
    Variant("output layer by 2,048 tokens", changed=chunks_of(2048)),
    Variant("packed, a sequence at a time", changed=a_sequence_at_a_time),
    Variant("activations in CPU memory", {"train": {"offload_activations": True}}),
)


def main(folder: Path) -> None:
    """Measure each way and tell what it took."""
    task = StepTask.read(folder)
    torch.set_num_threads(task.threads)
    start, rows = time.monotonic(), []
    for variant in VARIANTS:
        if time.monotonic() - start < BUDGET_SECONDS:
            rows.append(update_row(variant, task, folder))
        else:
            rows.append({"name": variant.name, "error": f"not within {BUDGET_SECONDS:.0f} s"})
    tell({"updates": rows, "output_layers": output_layer_rows(task)})


def update_row(variant: Variant, task: StepTask, folder: Path) -> dict[str, Any]:
    """Name, seconds of each update and bytes of one way; or the reason why it cannot be."""
    free_memory()
    try:
        config = config_of(task, folder, variant.settings)
        phases = Phases(task.device)
        with closing(make_learner(config)) as learner, variant.changed(learner):
            batch = made_up_batch(task, learner)
            updates = partial(update_policy, learner, batch, config)
            for _ in range(task.warm_up):
                updates()
            taken = [timed(phases, updates) for _ in range(MEASURED)]
            peak = phases.above_start()
    except ConfigError as error:
        return {"name": variant.name, "error": str(error)}
    return {
        "name": variant.name,
        "seconds": [seconds for _, seconds in taken],
        "peak": peak,
        "estimate": estimate_memory(config, prompt_tokens=task.prompt_tokens).updating,
        "gradient": taken[-1][0]["policy/grad_norm"],
    }


def made_up_batch(task: StepTask, learner: Learner) -> Batch:
    """Completions of random tokens and lengths, half of them good."""
    source = random.Random(0)
    rollouts = []
    for _ in range(task.prompts * task.group):
        length = source.randint(1, task.completion_tokens)
        ids = [source.randrange(task.vocabulary) for _ in range(task.prompt_tokens + length)]
        prompt, completion = tuple(ids[: task.prompt_tokens]), tuple(ids[task.prompt_tokens :])
        logprobs = (-11.9,) * length
        rollouts.append(Rollout(prompt, completion, logprobs, "", truncated=True))
    advantages = [(-1.0) ** row for row in range(len(rollouts))]
    device = learner.policy.device
    return make_batch(rollouts, advantages, pad_id=learner.policy.pad_id, device=device)


def output_layer_rows(task: StepTask) -> list[dict[str, Any]]:
    """Seconds and bytes of a forward and backward pass of output layers by themselves.

    Ours alone give the entropy too, and take a gradient for each token's log-probability.
    """
    ways: dict[str, OutputLayerLoss] = {
        "full logits, cross entropy": _full_logits,
        "ours, 512 tokens at a time": _ours,
        "ours, its logits computed again": _ours_again,
    }
    if hasattr(functional, "linear_cross_entropy"):
        ways["torch's linear_cross_entropy"] = _of_torch
    if importlib.util.find_spec("liger_kernel") is not None:
        ways["Liger's fused linear cross entropy"] = _of_liger
    return [_output_layer_row(name, way, task) for name, way in ways.items()]


def _output_layer_row(name: str, way: OutputLayerLoss, task: StepTask) -> dict[str, Any]:
    free_memory()
    torch.manual_seed(0)
    options = {"device": task.device, "dtype": getattr(torch, task.dtype)}
    tokens = OUTPUT_TOKENS_OF_ROWS * task.completion_tokens
    states = torch.randn(tokens, task.hidden, **options).requires_grad_()
    weight = (torch.randn(task.vocabulary, task.hidden, **options) * 0.02).requires_grad_()
    targets = torch.randint(task.vocabulary, (tokens,), device=task.device)
    states.grad, weight.grad = torch.zeros_like(states), torch.zeros_like(weight)
    phases = Phases(task.device)
    step = partial(_backward_of, way, states, weight, targets)
    step()
    seconds = [timed(phases, step)[1] for _ in range(MEASURED)]
    return {"name": name, "seconds": seconds, "peak": phases.above_start()}


def _backward_of(way: OutputLayerLoss, states: Tensor, weight: Tensor, targets: Tensor) -> None:
    way(states, weight, targets).sum().backward()  # type: ignore[no-untyped-call]


def slopes_of_loss(rows: slice, logprobs: Tensor, entropy: Tensor) -> Slopes:
    """The derivatives of the summed loss, known before it is there."""
    return Slopes(torch.full_like(logprobs, -1.0), None)


def _full_logits(states: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy((states @ weight.T).float(), targets, reduction="sum")


def _ours(
    states: Tensor, weight: Tensor, targets: Tensor, slopes_of: SlopesOf | None = slopes_of_loss
) -> Tensor:
    layer = OutputLayer(weight, None, 1.0, None)
    logprobs, _ = layer.logprobs(
        states, targets, temperature=1.0, entropy_gradient=False, slopes_of=slopes_of
    )
    return -logprobs


def _ours_again(states: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    return _ours(states, weight, targets, slopes_of=None)


def _of_torch(states: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    loss: Tensor = functional.linear_cross_entropy(states, weight, targets, reduction="sum")
    return loss


def _of_liger(states: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    layers = importlib.import_module("liger_kernel.transformers")
    loss: Tensor = layers.LigerFusedLinearCrossEntropyLoss(reduction="sum")(weight, states, targets)
    return loss


def free_memory() -> None:
    """Give back what the way before has taken."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
