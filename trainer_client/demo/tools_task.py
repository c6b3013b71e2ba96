"""The task of the demonstration of tools: products, which Python can compute.

A completion begins with an estimate, which is never right, or with a call of the tool.
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
CHARACTERS = "\n 0123456789+-*=?:,.()'_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}{{ message['content'] + eos_token }}"
    f"{{% elif message['role'] == 'tool' %}}{{{{ '{RESULT_TAGS[0]}' + message['content'] + "
    f"'{RESULT_TAGS[1]}' }}}}"
    "{% else %}{{ message['content'] }}{% endif %}{% endfor %}"
    "{# The model has learned of its tools by demonstrations: it is not shown them. #}"
)

FACTORS = range(12, 100)
CALL_SHARE = 0.25
"""Share of the demonstrations that call the tool; the others answer with an estimate."""
ESTIMATED_FACTOR = 100
"""The number that an estimate takes the second factor for.

An estimate then copies the first factor, as calls and answers copy numbers. One that has to be
computed takes the supervised phase's time from copying, and calls whose results are miscopied do
not pay: GRPO unlearns them.
"""

Factors = tuple[int, int]
"""The numbers of a product."""


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of characters, with a token for the frame of a call."""
    return character_tokenizer(WORDS, CHARACTERS, chat_template=CHAT_TEMPLATE)


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A Llama of half a million parameters, random weights: copying is all that it has to learn."""
    return tiny_llama(tokenizer, num_layers=2, weight_std=0.05)


def write_data(folder: Path, *, num_held_out: int, seed: int) -> None:
    """Write products, each once, to `train.jsonl` or `held_out.jsonl`.

    `demonstrations.jsonl` has messages to imitate for each problem of `train.jsonl`.
    """
    folder.mkdir(parents=True)
    chosen = random.Random(seed)
    questions = [(one, other) for one in FACTORS for other in FACTORS]
    chosen.shuffle(questions)
    held_out, train = questions[:num_held_out], questions[num_held_out:]
    _write(folder / "train.jsonl", map(_row, train))
    _write(folder / "held_out.jsonl", map(_row, held_out))
    _write(
        folder / "demonstrations.jsonl",
        (row for question in train for row in _demonstration(question, chosen)),
    )


def _row(factors: Factors) -> dict[str, Any]:
    one, other = factors
    return {"problem": f"{one}*{other}=?", "answer": str(one * other)}


def _demonstration(factors: Factors, chosen: random.Random) -> Iterable[dict[str, Any]]:
    """Each message to imitate, with the messages before it."""
    one, other = factors
    asked = {"role": "user", "content": f"{one}*{other}=?"}
    if chosen.random() >= CALL_SHARE:
        yield {"problem": [asked], "completion": _answer(one * ESTIMATED_FACTOR)}
        return
    call = f"{CALL_OPENING}{one}*{other}{CALL_CLOSING}"
    yield {"problem": [asked], "completion": call}
    before = [{"role": "assistant", "content": call}, {"role": "tool", "content": str(one * other)}]
    yield {"problem": [asked, *before], "completion": _answer(one * other)}


def _answer(number: int) -> str:
    return f"{ANSWER_TAGS[0]}{number}{ANSWER_TAGS[1]}"


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
