"""Log-probabilities in chunks against full logits, and packed against padded micro-batches.

    python benchmarks/trainer_update.py

Each way runs in a process of its own, which tells its time and how far its peak memory rose above
what model, gradients and inputs take. The full-logits way is `torch`'s fused cross entropy, the
leanest there is. Lengths for packing are log-normal: many short completions, a few long ones.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.nn import functional
from transformers import AutoModelForCausalLM, Qwen2Config

from trainer_client.policy.logit_passes import Slopes
from trainer_client.policy.logprobs import token_logprobs
from trainer_client.policy.output_layer import OutputLayer
from trainer_client.policy.packing import enable_packing
from trainer_client.update.batch import MicroBatch, micro_batches

TOKENS, VOCABULARY, HIDDEN = 4096, 150_000, 128
NUM_SEQUENCES, MEDIAN_LENGTH, LONGEST, BUDGET = 48, 90, 768, 3072
WAYS = ("full logits", "chunked")
PACKINGS = ("order of arrival, padded", "sorted by length, padded", "packed")


def slopes_of_sum(rows: slice, logprobs: Tensor, entropy: Tensor) -> Slopes:
    """The derivatives of the sum of the log-probabilities, known before it is there."""
    return Slopes(torch.ones_like(logprobs), None)


def output_layer_step(way: str) -> tuple[float, float]:
    """Seconds, and MiB above the model, of one forward and backward."""
    torch.manual_seed(0)
    states = torch.randn(TOKENS, HIDDEN, requires_grad=True)
    weight = torch.randn(VOCABULARY, HIDDEN, requires_grad=True)
    targets = torch.randint(VOCABULARY, (TOKENS,))
    states.grad, weight.grad = torch.zeros_like(states), torch.zeros_like(weight)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    if way == "chunked":
        layer = OutputLayer(weight, None, 1.0, None)
        logprobs, _ = layer.logprobs(
            states, targets, temperature=1.0, entropy_gradient=False, slopes_of=slopes_of_sum
        )
    else:
        logprobs = -functional.cross_entropy(states @ weight.T, targets, reduction="none")
    logprobs.sum().backward()  # type: ignore[no-untyped-call]
    seconds = time.perf_counter() - start
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def packing_step(way: str) -> tuple[float, float, float]:
    """Seconds, CPU seconds, and the share of computed positions that is no padding."""
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(
        Qwen2Config(
            vocab_size=500,
            hidden_size=128,
            intermediate_size=352,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        )
    ).eval()
    lengths = torch.randn(NUM_SEQUENCES).mul(0.8).exp().mul(MEDIAN_LENGTH).int().clamp(8, LONGEST)
    mask = torch.arange(int(lengths.max()))[None] < lengths[:, None]
    ids = torch.randint(500, mask.shape)
    completion = mask.clone()
    completion[:, 0] = False
    packed = way == "packed"
    if packed:
        enable_packing(model)
    parts = micro_batches(mask, max_tokens=BUDGET, packed=packed)
    if way == "order of arrival, padded":
        size = BUDGET // mask.shape[1]
        parts = [
            MicroBatch(rows, mask.shape[1])
            for rows in torch.split(torch.arange(NUM_SEQUENCES), size)
        ]

    def step() -> None:
        for part in parts:
            token_logprobs(
                model,
                part.take(ids),
                part.take(mask),
                part.take(completion),
                temperature=1.0,
                packed=packed,
            ).logprobs.sum().backward()  # type: ignore[no-untyped-call]

    step()
    seconds, cpu_seconds = [], []
    for _ in range(3):
        start, cpu_start = time.perf_counter(), time.process_time()
        step()
        seconds.append(time.perf_counter() - start)
        cpu_seconds.append(time.process_time() - cpu_start)
    positions = sum(
        int(part.take(mask).sum() if packed else part.take(mask).numel()) for part in parts
    )
    return min(seconds), min(cpu_seconds), int(mask.sum()) / positions


def _measured(step: str, way: str) -> list[float]:
    output = subprocess.run(
        [sys.executable, __file__, step, way],
        check=True,
        capture_output=True,
        text=True,
        # A thread that waits for the other one by spinning would count as CPU time.
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    ).stdout
    measured: list[float] = json.loads(output)
    return measured


def main() -> None:
    """Measure each way in a process of its own, and print the ratios."""
    console = Console()
    table = Table(
        "output layer",
        "seconds",
        "MiB above the model",
        "of full logits",
        title=f"{TOKENS} tokens, {VOCABULARY} in the vocabulary, hidden size {HIDDEN}, float32",
    )
    results = {way: _measured("output_layer", way) for way in WAYS}
    for way, (seconds, memory) in results.items():
        share = memory / results["full logits"][1]
        table.add_row(way, f"{seconds:.2f}", f"{memory:.0f}", f"{share:.3f}")
    console.print(table)
    table = Table(
        "micro-batches",
        "seconds",
        "CPU seconds",
        "used positions",
        "times the packed ones",
        title=f"{NUM_SEQUENCES} sequences, median {MEDIAN_LENGTH}, at most {LONGEST} tokens",
    )
    results = {way: _measured("packing", way) for way in PACKINGS}
    packed = results["packed"]
    for way, (seconds, cpu_seconds, used) in results.items():
        table.add_row(
            way,
            f"{seconds:.2f}",
            f"{cpu_seconds:.2f}",
            f"{used:.0%}",
            f"{seconds / packed[0]:.2f}, {cpu_seconds / packed[1]:.2f}",
        )
    console.print(table)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        torch.set_num_threads(2)
        measure = output_layer_step if sys.argv[1] == "output_layer" else packing_step
        print(json.dumps(measure(sys.argv[2])))
    else:
        main()
