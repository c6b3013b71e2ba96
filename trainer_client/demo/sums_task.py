"""The task of the demonstration: sums, and a model that learns them on a CPU in minutes.

Each character is a token; only the four tags and the chat markers are longer ones.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable
from pathlib import Path

from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from trainer_client.demo.tiny_model import character_tokenizer, tiny_llama

TAGS = ("<think>", "</think>", "<answer>", "</answer>")
CHARACTERS = "\n 0123456789+-*=?:,.()abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
CHAT_TEMPLATE = "{{ bos_token }}{% for message in messages %}{{ message['content'] }}{% endfor %}\n"

NUM_TERMS = 3
CARELESS_SHARE = 0.5
"""Share of the supervised phase's completions that stop one term early."""


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer with one token for each character."""
    return character_tokenizer(TAGS, CHARACTERS, chat_template=CHAT_TEMPLATE)


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A Llama of about a million parameters, random weights."""
    return tiny_llama(tokenizer)


def write_data(folder: Path, *, num_held_out: int, seed: int) -> None:
    """Write every sum of three digits, once, to `train.jsonl` or `held_out.jsonl`.

    `demonstrations.jsonl` has a completion for each problem of `train.jsonl`. Some of them are
    careless and give the wrong sum. A model that imitates them is sometimes right, and the reward
    can teach it to be right more often.
    """
    folder.mkdir(parents=True)
    chosen = random.Random(seed)
    sums = list(itertools.product(range(1, 10), repeat=NUM_TERMS))
    chosen.shuffle(sums)
    held_out, train = sums[:num_held_out], sums[num_held_out:]
    _write(folder / "train.jsonl", map(_row, train))
    _write(folder / "held_out.jsonl", map(_row, held_out))
    _write(
        folder / "demonstrations.jsonl",
        ({**_row(terms), "completion": _demonstration(terms, chosen)} for terms in train),
    )


def _row(terms: tuple[int, ...]) -> dict[str, str]:
    return {"problem": "+".join(map(str, terms)) + "=?", "answer": str(sum(terms))}


def _demonstration(terms: tuple[int, ...], chosen: random.Random) -> str:
    used = terms[:-1] if chosen.random() < CARELESS_SHARE else terms
    totals = list(itertools.accumulate(used))
    steps = [
        f"{before}+{term}={after}"
        for before, term, after in zip(totals, used[1:], totals[1:], strict=False)
    ]
    return f"<think>\n{', '.join(steps)}\n</think>\n<answer>\n{totals[-1]}\n</answer>"


def _write(path: Path, rows: Iterable[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
