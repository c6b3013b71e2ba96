"""Packed rows: sequences one after the other in one row, without padding, each seeing only itself.

This registers `packed`, an attention implementation, with `transformers`. It attends within each
sequence of a packed row, and is ordinary scaled dot product attention for other rows.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention.varlen import varlen_attn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

NAME = "packed"
MASK_PLACEHOLDER = (1, 1, 1, 1)
"""Shape of the mask that is passed with packed rows; `_attention` recognises them by it."""
_GROUPS_QUERIES = "enable_gqa" in inspect.signature(varlen_attn).parameters
"""Whether torch's kernel takes fewer heads of keys than of queries; that of torch 2.11 does not."""


class SequenceLengths:
    """Tokens of each sequence of a packed row, which a model passes on to its attention.

    An object and no tuple: `torch.compile` would make a layer anew for each number of sequences.

    Args:
        tokens: of each sequence, in the row's order.
        device: the row's.
    """

    def __init__(self, tokens: tuple[int, ...], device: torch.device) -> None:
        self.tokens = tokens
        # Made once for all layers: each copy to a GPU waits for what the GPU has to do before.
        self.starts = torch.tensor((0, *tokens), device=device).cumsum(0, dtype=torch.int32)
        """int32 `[B + 1]`, where each sequence begins, and the end of the last."""


@dataclass(frozen=True)
class PackedRows:
    """The N tokens of right-padded rows, in one row."""

    input_ids: Tensor
    """int64 `[1, N]`."""
    position_ids: Tensor
    """int64 `[1, N]`, from 0 in each sequence."""
    lengths: tuple[int, ...]
    """Tokens of each sequence."""


def pack(input_ids: Tensor, attention_mask: Tensor) -> PackedRows:
    """The tokens under the mask, row after row; both `[B, T]`."""
    positions = attention_mask.cumsum(dim=1) - 1
    return PackedRows(
        input_ids[attention_mask][None],
        positions[attention_mask][None],
        tuple(attention_mask.sum(dim=1).tolist()),
    )


def supports_packing(model: PreTrainedModel) -> bool:
    """Whether the model has full attention and computes it by torch's scaled dot product.

    Whether packed sequences really stay apart is measured by `saver_checks.packing_error`.
    """
    return has_full_attention(model) and attention_name(model) == "sdpa"


def has_full_attention(model: PreTrainedModel) -> bool:
    """Whether the model declares full attention in all layers and a replaceable implementation.

    Sliding windows, recurrent layers and attention of another kind are none.
    """
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    window = getattr(config, "sliding_window", None)
    # Qwen2 keeps a window in its configuration without using it.
    windowed = window is not None and getattr(config, "use_sliding_window", True)
    return bool(
        getattr(model, "_supports_attention_backend", False)
        and kinds == {"full_attention"}
        and not windowed
    )


def attention_name(model: PreTrainedModel) -> str:
    """The attention implementation that the model has at present."""
    name: str = model.config.get_text_config()._attn_implementation
    return name


def enable_packing(model: PreTrainedModel) -> None:
    """Let the model's forward take `sequence_lengths` with one packed row.

    It stays enabled between forwards: layers that are recomputed in the backward pass must find
    the same attention.
    """
    model.set_attn_implementation(NAME)


def disable_packing(model: PreTrainedModel) -> None:
    """Give the model its ordinary attention back."""
    model.set_attn_implementation("sdpa")


def packed_states(model: PreTrainedModel, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    """Last hidden states of the tokens under the mask, `[N, H]`; both arguments are `[B, T]`."""
    if model.config._attn_implementation != NAME:
        raise ValueError("packed rows need enable_packing(model)")
    rows = pack(input_ids, attention_mask)
    output = model.get_decoder()(
        input_ids=rows.input_ids,
        position_ids=rows.position_ids,
        # transformers passes a mask of four dimensions on unchanged. Without one it would make a
        # mask of N * N, which nothing reads.
        attention_mask=rows.input_ids.new_ones(MASK_PLACEHOLDER, dtype=torch.bool),
        use_cache=False,
        sequence_lengths=SequenceLengths(rows.lengths, rows.input_ids.device),
    )
    states: Tensor = output.last_hidden_state[0]
    return states


def _attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    sequence_lengths: SequenceLengths | None = None,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention `[1, N, heads, D]` of `[1, heads, N, D]` each; ordinary where there are no lengths.

    Raises:
        ValueError: the row is packed, but the model has not passed the lengths on.
    """
    if sequence_lengths is None:
        if _is_mask_placeholder(attention_mask) and query.shape[2] > 1:
            raise ValueError(
                f"{type(module).__name__} was not told where one packed sequence ends: its model "
                "does not pass sequence_lengths on"
            )
        ordinary: tuple[Tensor, None] = ALL_ATTENTION_FUNCTIONS["sdpa"](
            module, query, key, value, attention_mask, scaling=scaling, **kwargs
        )
        return ordinary
    return _packed_attention(query, key, value, sequence_lengths, scaling), None


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _packed_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sequence_lengths: SequenceLengths,
    scaling: float | None,
) -> Tensor:
    """Attention `[1, N, heads, D]` within each sequence of a row.

    It stays out of compiled layers, which would be made anew for each set of lengths.
    """
    if query.is_cuda and query.dtype in (torch.float16, torch.bfloat16):
        return _fused(query, key, value, sequence_lengths, scaling)
    return _a_sequence_at_a_time(query, key, value, sequence_lengths, scaling)


def _a_sequence_at_a_time(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sequence_lengths: SequenceLengths,
    scaling: float | None,
) -> Tensor:
    lengths = list(sequence_lengths.tokens)
    outputs = [
        functional.scaled_dot_product_attention(
            q, k, v, is_causal=True, scale=scaling, enable_gqa=True
        )
        for q, k, v in zip(
            torch.split(query, lengths, dim=2),
            torch.split(key, lengths, dim=2),
            torch.split(value, lengths, dim=2),
            strict=True,
        )
    ]
    # Contiguous, as transformers' own returns it: some models, such as JetMoE, take views of it.
    return torch.cat(outputs, dim=2).transpose(1, 2).contiguous()


def _is_mask_placeholder(attention_mask: Tensor | None) -> bool:
    return attention_mask is not None and attention_mask.shape == MASK_PLACEHOLDER


def _fused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sequence_lengths: SequenceLengths,
    scaling: float | None,
) -> Tensor:
    longest = max(sequence_lengths.tokens)
    options: dict[str, Any] = {"enable_gqa": True}
    if not _GROUPS_QUERIES:
        options = {}
        queries_of_a_key = query.shape[1] // key.shape[1]
        key = key.repeat_interleave(queries_of_a_key, dim=1)
        value = value.repeat_interleave(queries_of_a_key, dim=1)
    queries, keys, values = (
        tensor[0].transpose(0, 1).contiguous() for tensor in (query, key, value)
    )
    output = varlen_attn(
        queries,
        keys,
        values,
        sequence_lengths.starts,
        sequence_lengths.starts,
        longest,
        longest,
        scale=scaling,
        window_size=(-1, 0),  # all earlier tokens, no later one
        **options,
    )
    assert isinstance(output, Tensor)
    return output[None]


AttentionInterface.register(NAME, _attention)
AttentionMaskInterface.register(NAME, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
