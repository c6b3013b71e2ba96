"""The task of the demonstration of tools: products, which the model can have Python compute.

A completion begins with the answer by heart, which is seldom right, or with a call of the tool.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from trainer_client.demo.tiny_model import character_tokenizer, tiny_llama

CALL_OPENING = '<tool_call>{"name": "python", "arguments": {"code": "'
CALL_CLOSING = '"}}</tool_call>'
RESULT_TAGS = ("<tool_response>", "</tool_response>")
ANSWER_TAGS = ("<answer>", "</answer>")
WORDS = (CALL_OPENING, CALL_CLOSING, *RESULT_TAGS, *ANSWER_TAGS)
"""Texts of one token each: the frame of a call is learned at once, its expression by digits."""
CHARACTERS = "\n 0123456789+-*=?:,.()abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}{{ message['content'] }}{{ eos_token }}"
    f"{{% elif message['role'] == 'tool' %}}{RESULT_TAGS[0]}{{{{ message['content'] }}}}"
    f"{RESULT_TAGS[1]}"
    "{% else %}{{ message['content'] }}{% endif %}\n{% endfor %}"
)

FACTORS = range(12, 100)
CALL_SHARE = 0.3
"""Share of the demonstrations that call the tool; the others answer at once."""


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of characters, with a token for the frame of a call."""
    return character_tokenizer(WORDS, CHARACTERS, chat_template=CHAT_TEMPLATE)


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A Llama of about a million parameters, random weights."""
    return tiny_llama(tokenizer)


def write_data(folder: Path, *, num_held_out: int, seed: int) -> None:
    """Write products, each once, to `train.jsonl` or `held_out.jsonl`.

    `demonstrations.jsonl` has messages to imitate for each problem of `train.jsonl`.
    """
    folder.mkdir(parents=True)
    chosen = random.Random(seed)
    products = [(one, other) for one in FACTORS for other in FACTORS]
    chosen.shuffle(products)
    held_out, train = products[:num_held_out], products[num_held_out:]
    _write(folder / "train.jsonl", map(_row, train))
    _write(folder / "held_out.jsonl", map(_row, held_out))
    _write(
        folder / "demonstrations.jsonl",
        (row for factors in train for row in _demonstration(factors, chosen)),
    )


def _row(factors: tuple[int, int]) -> dict[str, Any]:
    one, other = factors
    return {"problem": f"{one}*{other}=?", "answer": str(one * other)}


def _demonstration(factors: tuple[int, int], chosen: random.Random) -> Iterable[dict[str, Any]]:
    """The messages to imitate, each with those before it."""
    one, other = factors
    question = {"role": "user", "content": f"{one}*{other}=?"}
    answer = f"{ANSWER_TAGS[0]}{one * other}{ANSWER_TAGS[1]}"
    if chosen.random() >= CALL_SHARE:
        yield {"problem": [question], "completion": answer}
        return
    call = f"{CALL_OPENING}{one}*{other}{CALL_CLOSING}"
    yield {"problem": [question], "completion": call}
    result = {"role": "tool", "content": str(one * other)}
    yield {"problem": [question, {"role": "assistant", "content": call}, result],
           "completion": answer}


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
