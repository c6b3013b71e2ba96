"""Chats as token ids, by the chat template of a model's tokenizer."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from trainer_client.config.model_section import ModelConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.errors import TrainerError, not_loaded
from trainer_client.given_objects import given_pair, is_given


class ChatError(TrainerError):
    """The chat template refuses a chat; the message says what to set."""


def load_tokenizer(config: ModelConfig) -> PreTrainedTokenizerBase:
    """The tokenizer of a model, with the chat template that the configuration names.

    Raises:
        ConfigError: it cannot be loaded, or has no chat template.
    """
    tokenizer = _tokenizer(config.path)
    if config.chat_template is not None:
        try:
            tokenizer.chat_template = config.chat_template.read_text()
        except OSError as error:
            raise ConfigError(f"model.chat_template: cannot read the file: {error}") from error
    if tokenizer.chat_template is None:
        raise ConfigError(
            f"the tokenizer of {config.path!r} has no chat template; "
            "set model.chat_template to a Jinja file"
        )
    return tokenizer


def _tokenizer(path: str) -> PreTrainedTokenizerBase:
    if is_given(path):
        tokenizer = given_pair(path, "model.path")[1]
        if not isinstance(tokenizer, PreTrainedTokenizerBase):
            raise ConfigError(
                f"model.path: the second of the pair {path!r} must be a tokenizer of transformers, "
                f"found {type(tokenizer).__name__}"
            )
        return copy.deepcopy(tokenizer)
    try:
        return AutoTokenizer.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"model.path: cannot load {not_loaded(error, path, 'model.path')}"
        ) from error


def chat_ids(
    tokenizer: PreTrainedTokenizerBase,
    messages: Sequence[Mapping[str, Any]],
    variables: Mapping[str, Any] | None = None,
) -> list[int]:
    """Token ids of a chat, up to where the assistant's completion begins.

    Args:
        tokenizer: has a chat template.
        messages: at least one, each with `role` and `content`; a last one of the assistant is left
            open, so that the completion goes on from it.
        variables: variables of the template, such as `enable_thinking`.

    Raises:
        ChatError: the template refuses the chat, such as one with a system message.
    """
    try:
        return _rendered(tokenizer, messages, variables or {})
    except (jinja2.TemplateError, ValueError, TypeError) as error:
        raise ChatError(
            f"the chat template cannot write a prompt with the roles "
            f"{[message['role'] for message in messages]}: {error}."
            f"{_system_advice(tokenizer, messages, variables or {})}"
        ) from error


def _rendered(
    tokenizer: PreTrainedTokenizerBase,
    messages: Sequence[Mapping[str, Any]],
    variables: Mapping[str, Any],
) -> list[int]:
    goes_on = messages[-1]["role"] == "assistant"
    encoded = tokenizer.apply_chat_template(
        [dict(message) for message in messages],
        add_generation_prompt=not goes_on,
        continue_final_message=goes_on,
        tokenize=True,
        return_dict=True,
        **variables,
    )
    return list(encoded["input_ids"])


def _system_advice(
    tokenizer: PreTrainedTokenizerBase,
    messages: Sequence[Mapping[str, Any]],
    variables: Mapping[str, Any],
) -> str:
    """Advice: another template, or no system message where the template takes the rest."""
    if messages[0]["role"] != "system" or len(messages) == 1:
        return " Set model.chat_template to a Jinja file that can"
    try:
        _rendered(tokenizer, messages[1:], variables)
    except (jinja2.TemplateError, ValueError, TypeError):
        return " Set model.chat_template to a Jinja file that can"
    return (
        " It has no system role: set dataset.system_prompt to null (each data set of an evaluation "
        "has its own), or model.chat_template to a Jinja file that has one"
    )
