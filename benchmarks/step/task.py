"""The task of both sides of a compared GRPO step: a model with random weights, prompts, and sizes.

Nothing here needs our trainer or TRL, since either side reads it in an environment of its own.
"""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import (
    AutoTokenizer,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
)

VERIFIERS = ({"type": "regex", "pattern": "[0-4]$", "part": "completion", "weight": 1.0},)
"""Half of all last tokens match, so that groups differ."""
MEAN_SHARE = 3
"""Completions of varied length have a mean of the limit divided by this, before they are cut."""
NUM_PROMPTS = 64


@dataclass(frozen=True)
class StepTask:
    """The sizes of a step; the same model, prompts, precision and loss on both sides."""

    vocabulary: int
    hidden: int
    intermediate: int
    layers: int
    heads: int
    key_value_heads: int
    prompts: int
    group: int
    prompt_tokens: int
    completion_tokens: int
    micro_batch_rows: int
    """TRL's micro-batch; ours has as many tokens as so many rows of full length."""
    device: str
    dtype: str
    warm_up: int
    steps: int
    kl_coefficient: float = 0.0
    varied_lengths: bool = False
    gradient_checkpointing: bool = False
    threads: int = 2
    url: str = ""

    @property
    def row_tokens(self) -> int:
        """Tokens of a sequence of full length."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def num_end_tokens(self) -> int:
        """Tokens that end a completion; weights are random, so each token is about as likely.

        With one of them nearly every completion has full length; with more, lengths are geometric.
        """
        if not self.varied_lengths:
            return 1
        return self.vocabulary * MEAN_SHARE // self.completion_tokens

    def write(self, folder: Path) -> None:
        """Write `task.json`."""
        (folder / "task.json").write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> StepTask:
        """Read what `write` has written."""
        return cls(**json.loads((folder / "task.json").read_text()))


CPU = StepTask(
    vocabulary=8_000,
    hidden=128,
    intermediate=352,
    layers=4,
    heads=4,
    key_value_heads=2,
    prompts=4,
    group=8,
    prompt_tokens=16,
    completion_tokens=96,
    micro_batch_rows=8,
    device="cpu",
    dtype="float32",
    warm_up=1,
    steps=3,
)
"""Ends in minutes on two cores."""

CPU_SHAPES: dict[str, dict[str, Any]] = {
    "small": {},
    "medium": {"hidden": 256, "intermediate": 704, "vocabulary": 32_000},
    "large": {"layers": 8, "hidden": 512, "intermediate": 1408, "heads": 8, "vocabulary": 151_936},
}
"""Models beside that of the CPU form: 4 layers of 256 and 8 of 512, with larger vocabularies."""

GPU = replace(
    CPU,
    vocabulary=151_936,
    hidden=896,
    intermediate=4864,
    layers=24,
    heads=14,
    prompts=8,
    group=16,
    prompt_tokens=64,
    completion_tokens=512,
    micro_batch_rows=16,
    device="cuda",
    dtype="bfloat16",
    warm_up=1,
    steps=3,
)
"""Half a billion parameters, as Qwen2-0.5B has them."""


def write_inputs(task: StepTask, folder: Path) -> None:
    """Write `model`, `prompts.jsonl` and `task.json` into the folder."""
    torch.manual_seed(0)
    ends = list(range(task.num_end_tokens))
    pad = task.num_end_tokens
    # Qwen2 is this with biases; `transformers` would read a tokenizer beside it as Qwen2's own.
    model = MistralForCausalLM(
        MistralConfig(
            vocab_size=task.vocabulary,
            hidden_size=task.hidden,
            intermediate_size=task.intermediate,
            num_hidden_layers=task.layers,
            num_attention_heads=task.heads,
            num_key_value_heads=task.key_value_heads,
            sliding_window=None,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=ends,
            pad_token_id=pad,
        )
    ).to(getattr(torch, task.dtype))
    model.save_pretrained(folder / "model")
    tokenizer = Tokenizer(
        WordLevel({_word(i): i for i in range(task.vocabulary)}, unk_token=_word(0))
    )
    tokenizer.pre_tokenizer = WhitespaceSplit()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=_word(ends[0]),
        pad_token=_word(pad),
        chat_template="{{ messages[0]['content'] }}",
        clean_up_tokenization_spaces=False,
    ).save_pretrained(folder / "model")
    source = random.Random(0)
    with (folder / "prompts.jsonl").open("w") as file:
        for _ in range(NUM_PROMPTS):
            tokens = (source.randrange(pad + 1, task.vocabulary) for _ in range(task.prompt_tokens))
            text = " ".join(map(_word, tokens))
            file.write(json.dumps({"problem": text, "answer": "none"}) + "\n")
    task.write(folder)
    ids = AutoTokenizer.from_pretrained(folder / "model")(text)["input_ids"]
    if len(ids) != task.prompt_tokens:
        raise RuntimeError(f"a prompt has {len(ids)} tokens, expected {task.prompt_tokens}")


def _word(token: int) -> str:
    # Of equal length: a special token is found inside of longer words.
    return f"t{token:06}"
