"""The policy: a causal language model, its tokenizer, and the tokens that end and pad."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from peft import PeftModel
from transformers import (
    AutoModelForCausalLM,
    GenerationConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import ADAPTER_CONFIG_NAME

from trainer_client.config.model_section import ModelConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.errors import not_loaded
from trainer_client.given_objects import is_given
from trainer_client.machine import cuda_problem
from trainer_client.policy.chat import chat_ids, load_tokenizer
from trainer_client.policy.given_policy import given_policy
from trainer_client.policy.lora import (
    add_adapter,
    causal_model,
    has_adapter,
    is_quantized,
    merged,
)
from trainer_client.policy.quantization import four_bit
from trainer_client.policy.sharding import is_sharded
from trainer_client.policy.weights import save_adapter, save_weights


@dataclass(frozen=True)
class Policy:
    """A model with its tokenizer on a device.

    The model stays in evaluation mode while it is trained: with dropout, the policy that is trained
    would not be the policy that sampled.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    device: torch.device
    eos_ids: tuple[int, ...]
    """Tokens that end a completion: the tokenizer's and those of the model's generation config."""
    pad_id: int
    autocast: torch.dtype | None = None
    """Type to compute in where that is safe; None: the weights' type."""

    def prompt_ids(
        self, messages: Sequence[dict[str, Any]], variables: Mapping[str, Any] | None = None
    ) -> list[int]:
        """Token ids of a chat, up to where the assistant's completion begins; raises ChatError."""
        return chat_ids(self.tokenizer, messages, variables)

    def decode(self, completion_ids: Sequence[int]) -> str:
        """The text of a completion, without special tokens."""
        text: str = self.tokenizer.decode(completion_ids, skip_special_tokens=True)
        return text

    def save(self, folder: Path) -> None:
        """Write model and tokenizer in Hugging Face format (safetensors); with LoRA, the adapter.

        A sharded model is written by the first process; all processes must call.
        """
        if has_adapter(self.model):
            if save_adapter(self.model, folder):
                self.tokenizer.save_pretrained(folder)
        elif is_sharded(self.model):
            self._save_whole(folder)
        else:
            self.model.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)

    def save_merged(self, folder: Path) -> None:
        """Write model and tokenizer, with an adapter merged; all processes must call.

        A base model in 4 bits is read again as its files have it: merged in 4 bits, the adapter
        would be rounded away.
        """
        if not has_adapter(self.model):
            self.save(folder)
        elif is_quantized(self.model):
            with TemporaryDirectory() as adapter:
                if save_adapter(self.model, Path(adapter)):
                    base = AutoModelForCausalLM.from_pretrained(
                        self.model.config.name_or_path, dtype=self.model.dtype
                    )
                    model = PeftModel.from_pretrained(base, adapter).merge_and_unload()
                    replace(self, model=model).save(folder)
        elif not is_sharded(self.model):
            replace(self, model=merged(self.model)).save(folder)
        else:
            self._save_whole(folder)

    def _save_whole(self, folder: Path) -> None:
        """Write a sharded model and its tokenizer, by the first process; all must call."""
        if save_weights(self.model, folder):
            causal_model(self.model).generation_config.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)


def load_policy(config: ModelConfig, checkpoint: Path | None = None) -> Policy:
    """The policy that a configuration names.

    Args:
        config: section `model`.
        checkpoint: folder with newer weights, or with the adapter where LoRA is trained; None: the
            weights at `model.path`.

    Raises:
        ConfigError: the model cannot be loaded, is an adapter alone, or has no chat template or no
            end-of-sequence token.
    """
    if (Path(config.path) / ADAPTER_CONFIG_NAME).exists():
        raise ConfigError(
            f"model.path: {config.path!r} holds an adapter ({ADAPTER_CONFIG_NAME}), expected a "
            "whole model. Merge it first: a run's checkpoint with `trainer-client export RUN_DIR "
            "FOLDER`"
        )
    # With LoRA a checkpoint holds the adapter alone, and the base model is still at its own path.
    source = config.path if checkpoint is None or config.lora is not None else str(checkpoint)
    device = _device(config)
    options = four_bit("model") if config.quantization else {}
    tokenizer = load_tokenizer(config)
    dtype = getattr(torch, config.dtype)
    if is_given(source):
        model = given_policy(source, dtype, quantized=config.quantization is not None)
    else:
        try:
            model = AutoModelForCausalLM.from_pretrained(source, dtype=dtype, **options)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"model.path: cannot load {not_loaded(error, config.path, 'model.path')}"
            ) from error
    policy = make_policy(model if config.quantization else model.to(device), tokenizer)
    autocast = config.autocast
    if config.lora is not None and config.dtype != "float32":
        # peft keeps adapters in float32. Without this they would compute in it, too, and each layer
        # would keep its inputs in float32 for the backward pass.
        autocast = config.dtype
    if autocast is not None:
        policy = replace(policy, autocast=getattr(torch, autocast))
    if config.lora is None:
        return policy
    return replace(policy, model=add_adapter(policy.model, config.lora, checkpoint))


def _device(config: ModelConfig) -> torch.device:
    """The device that a configuration names; raises ConfigError."""
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            f"model.device: cuda cannot be used: {cuda_problem() or 'torch finds no GPU'}; set it "
            "to auto or cpu, or install what is missing"
        )
    has_gpu = config.device != "cpu" and torch.cuda.is_available()
    return torch.device("cuda" if has_gpu else "cpu")


def make_policy(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Policy:
    """A policy from a loaded model and tokenizer, without the model's sampling defaults.

    Many models ship a top_k, top_p or repetition penalty in their generation config. Samples drawn
    with them are not samples of the policy, so only the token ids are kept.

    Raises:
        ConfigError: neither tokenizer nor model has an end-of-sequence token.
    """
    eos = [tokenizer.eos_token_id, *_as_list(model.generation_config.eos_token_id)]
    eos_ids = tuple(dict.fromkeys(token for token in eos if token is not None))
    if not eos_ids:
        raise ConfigError("neither tokenizer nor model has an end-of-sequence token")
    pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else eos_ids[0]
    model.generation_config = GenerationConfig(
        bos_token_id=model.generation_config.bos_token_id,
        eos_token_id=list(eos_ids),
        pad_token_id=pad_id,
    )
    return Policy(model.eval(), tokenizer, model.device, eos_ids, pad_id)


def frozen_copy(model: PreTrainedModel) -> PreTrainedModel:
    """A copy for the reference policy: evaluation mode, no gradients."""
    reference = copy.deepcopy(model).eval()
    return reference.requires_grad_(False)


def _as_list(value: int | list[int] | None) -> list[int | None]:
    return list(value) if isinstance(value, list) else [value]
