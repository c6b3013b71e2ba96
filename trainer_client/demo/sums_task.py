"""The task of the demonstration: sums, and a model that learns them on a CPU in minutes.

Each character is a token; only the four tags and the chat markers are longer ones.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TAGS = ("<think>", "</think>", "<answer>", "</answer>")
CHARACTERS = "\n 0123456789+-*=?:,.()abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
CHAT_TEMPLATE = "{{ bos_token }}{% for message in messages %}{{ message['content'] }}{% endfor %}\n"

NUM_TERMS = 3
CARELESS_SHARE = 0.5
"""Share of the supervised phase's completions that stop one term early."""


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer with one token for each character."""
    special = ["<pad>", "<bos>", "<eos>", "<unk>"]
    vocabulary = [*special, *TAGS, *CHARACTERS]
    tokenizer = Tokenizer(
        WordLevel({token: i for i, token in enumerate(vocabulary)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = Split(Regex("</?(?:think|answer)>|."), behavior="isolated")
    tokenizer.decoder = Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="<unk>",
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A Llama of about a million parameters, random weights."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=128,
            intermediate_size=352,
            num_hidden_layers=5,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=256,
            rope_theta=10_000.0,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


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
