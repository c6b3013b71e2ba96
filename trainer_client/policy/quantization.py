"""Weights in 4 bits, through bitsandbytes."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch
from transformers import BitsAndBytesConfig

from trainer_client.config.run_config import ConfigError


def four_bit(setting: str) -> dict[str, Any]:
    """Arguments of `from_pretrained` for NF4 weights on the GPU, computing in bfloat16.

    Args:
        setting: section that asks for quantization; the error message names it.

    Raises:
        ConfigError: this machine has no CUDA device or no bitsandbytes.
    """
    if importlib.util.find_spec("bitsandbytes") is None or not torch.cuda.is_available():
        raise ConfigError(
            f"{setting}: quantization 4bit needs a CUDA device and bitsandbytes "
            "(pip install bitsandbytes)"
        )
    return {
        "quantization_config": BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.bfloat16,
        ),
        "device_map": {"": torch.cuda.current_device()},
    }
