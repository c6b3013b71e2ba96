"""Names that `transformers` has changed: 5.24 warns of the old ones, and version 6 ends them.

The library is asked which it has, because this package takes versions on both sides.
"""

from __future__ import annotations

from dataclasses import fields

from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

CACHE = (
    "cache"
    if "cache" in {field.name for field in fields(CausalLMOutputWithPast)}
    else "past_key_values"
)
"""The keys and values of earlier tokens, among a model's arguments and results."""
_ENABLE_CHECKPOINTING = ("activation_checkpointing_enable", "gradient_checkpointing_enable")


def enable_checkpointing(model: PreTrainedModel) -> None:
    """Have each layer keep its inputs alone. Raises ValueError where the architecture cannot."""
    name = next(name for name in _ENABLE_CHECKPOINTING if hasattr(model, name))
    getattr(model, name)({"use_reentrant": False})
