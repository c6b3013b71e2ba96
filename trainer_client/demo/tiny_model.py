"""A model of at most a million parameters whose tokens are characters, for the demonstrations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tokenizers import Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast


def character_tokenizer(
    words: Sequence[str], characters: str, *, chat_template: str
) -> PreTrainedTokenizerFast:
    """A tokenizer with one token for each character, and for each of some longer texts.

    Args:
        words: texts that are one token each.
        characters: all other characters; any that is missing is `<unk>`.
        chat_template: Jinja text.
    """
    special = ["<pad>", "<bos>", "<eos>", "<unk>"]
    vocabulary = [*special, *words, *characters]
    tokenizer = Tokenizer(
        WordLevel({token: i for i, token in enumerate(vocabulary)}, unk_token="<unk>")
    )
    # A word of the vocabulary, or else one character: `<answer>12` is <answer>, 1, 2.
    pattern = "|".join([*map(re.escape, words), "."])
    tokenizer.pre_tokenizer = Split(Regex(pattern), behavior="isolated")
    tokenizer.decoder = Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="<unk>",
        chat_template=chat_template,
        clean_up_tokenization_spaces=False,
    )


def tiny_llama(
    tokenizer: PreTrainedTokenizerFast, *, num_layers: int = 5, weight_std: float = 0.02
) -> LlamaForCausalLM:
    """A Llama with random weights; five layers have about a million parameters.

    Args:
        tokenizer: of the model.
        num_layers: two learn to copy sooner than five.
        weight_std: standard deviation of the weights at the start.
    """
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=128,
            intermediate_size=352,
            num_hidden_layers=num_layers,
            initializer_range=weight_std,
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
