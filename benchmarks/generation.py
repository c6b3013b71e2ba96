"""Generated tokens per second of vLLM, in process and as a server, against `transformers`.

    .venv-vllm/bin/python benchmarks/generation.py

One Qwen2-shaped model with random weights, the same prompts, group size and length: such a model
hardly ever ends a completion, so all meet the limit. The engines are the trainer's own and take
turns. Needs vLLM: `make test-vllm` makes an environment that has it. Where CUDA is, the model has
the shape of Qwen2's 0.5B in bfloat16, otherwise it is a small one in float32.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from rich.console import Console
from rich.table import Table
from transformers import Qwen2Config, Qwen2ForCausalLM

from tests.trainer_client.vllm_server import ENVIRONMENT, running_vllm
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.rollout_section import VllmConfig, VllmServerConfig
from trainer_client.demo import sums_task
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.problems import Problem
from trainer_client.rollout import RolloutEngine, RolloutGroup, Sampling
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.rollout.vllm import VllmEngine
from trainer_client.rollout.vllm_server import VllmServerEngine


@dataclass(frozen=True)
class Form:
    """One shape that is measured."""

    device: Literal["cpu", "cuda"]
    dtype: Literal["float32", "bfloat16"]
    hidden: int
    layers: int
    vocabulary: int
    num_prompts: int
    group_size: int
    tokens: int

    def __str__(self) -> str:
        return (
            f"{self.num_prompts} prompts x {self.group_size} completions x {self.tokens} tokens; "
            f"hidden {self.hidden}, {self.layers} layers, vocabulary {self.vocabulary:,}, "
            f"{self.dtype} on {self.device}"
        )


CPU = Form("cpu", "float32", 256, 4, 8_000, 8, 8, 64)
GPU = Form("cuda", "bfloat16", 896, 24, 151_936, 8, 16, 512)


def main(rounds: int) -> None:
    """Measure the three engines in turn and print their medians."""
    if importlib.util.find_spec("vllm") is None:
        raise SystemExit(
            "nothing to measure: no vLLM here; .venv-vllm/bin/python, of make test-vllm, has it"
        )
    os.environ.update(ENVIRONMENT)
    form = GPU if torch.cuda.is_available() else CPU
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_model(form, folder / "model")
        policy = load_policy(
            ModelConfig(path=str(folder / "model"), dtype=form.dtype, device=form.device)
        )
        engines = open_engines(form, policy, folder, stack)
        rates: dict[str, list[float]] = {name: [] for name in engines}
        for engine in engines.values():
            engine.update_weights()
            tokens_per_second(engine, form)
        for _ in range(rounds):
            for name, engine in engines.items():
                engine.update_weights()
                rates[name].append(tokens_per_second(engine, form))
    tell(form, rates)


def write_model(form: Form, folder: Path) -> None:
    """Random weights, untied: what vLLM's CPU build can load again."""
    torch.manual_seed(0)
    tokenizer = sums_task.make_tokenizer()
    Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=form.vocabulary,
            hidden_size=form.hidden,
            intermediate_size=form.hidden * 11 // 4,
            num_hidden_layers=form.layers,
            num_attention_heads=form.hidden // 64,
            num_key_value_heads=2,
            max_position_embeddings=2048,
            tie_word_embeddings=False,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    ).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def open_engines(
    form: Form, policy: Policy, folder: Path, stack: ExitStack
) -> dict[str, RolloutEngine]:
    """The trainer's three engines, closed with the stack."""
    num_rows, longest = form.num_prompts * form.group_size, form.tokens + 64
    server = stack.enter_context(
        running_vllm(
            folder / "model",
            folder / "server.log",
            *("--dtype", form.dtype, "--max-num-seqs", str(num_rows)),
            *("--max-model-len", str(longest), "--gpu-memory-utilization", "0.3"),
            environment={"OMP_NUM_THREADS": str(torch.get_num_threads())},
        )
    )
    engines: dict[str, RolloutEngine] = {
        "transformers": TransformersEngine(policy, batch_size=num_rows),
        "vllm": VllmEngine(
            policy,
            VllmConfig(max_model_tokens=longest, compile=form.device == "cuda"),
            seed=0,
        ),
        "vllm_server": VllmServerEngine(
            policy, VllmServerConfig(urls=(server.url,)), weights_dir=folder / "weights"
        ),
    }
    for engine in engines.values():
        stack.enter_context(closing(engine))
    return engines


def tokens_per_second(engine: RolloutEngine, form: Form) -> float:
    """Tokens per second of one call of `generate`; the engine has its weights."""
    texts = [f"{number}+{number + 1}=?" for number in range(form.num_prompts)]
    problems = [Problem(text, ({"role": "user", "content": text},), {}) for text in texts]
    groups: list[RolloutGroup] = []
    start = time.perf_counter()
    engine.generate(
        problems,
        Sampling(form.group_size, form.tokens, temperature=1.0, top_p=1.0),
        lambda index, group: groups.append(group),
    )
    seconds = time.perf_counter() - start
    return sum(len(r.completion_ids) for group in groups for r in group.rollouts) / seconds


def tell(form: Form, rates: dict[str, list[float]]) -> None:
    """The medians, and how many times those of `transformers` they are."""
    table = Table("engine", "tokens/s, median", "lowest", "highest", "times transformers")
    slowest = statistics.median(rates["transformers"])
    for name, values in rates.items():
        median = statistics.median(values)
        cells = (median, min(values), max(values))
        table.add_row(name, *(f"{value:,.0f}" for value in cells), f"{median / slowest:.2f}")
    console = Console()
    console.print(str(form))
    console.print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    main(parser.parse_args().rounds)
