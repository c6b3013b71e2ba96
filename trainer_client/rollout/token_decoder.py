"""The forward pass of one more token, in memory that stays in its place; on a GPU a CUDA graph.

A model of half a billion parameters launches 700 kernels a token, which takes Python seven times as
long as the GPU computes. A graph launches them at once. Keys and values have room for later tokens,
because a graph writes where it wrote when it was captured; it is captured again when the room is
used up or rows have ended. On a CPU room saves the copy of all keys and values that `generate`
makes for each token.

This registers `decoding`, an attention implementation, with `transformers`.

Shapes: B rows; T tokens of room; K heads of keys; D numbers of a head; V tokens in the vocabulary.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

from trainer_client.policy.packing import NAME as PACKED
from trainer_client.policy.packing import attention_name, has_full_attention
from trainer_client.policy.saver_checks import MAX_DIFFERENCE, MAX_HALF_DIFFERENCE
from trainer_client.policy.transformers_names import CACHE

NAME = "decoding"
ROOM_TOKENS = 512
"""Tokens for which keys and values get room at a time, when theirs is used up."""
ROOM_MULTIPLE = 64
"""Room is a multiple of it: attention kernels read aligned masks."""
# An operation waits for the GPU, say, or a model's own code takes no mask of four dimensions.
_ERRORS_OF_A_PASS = (
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


class GraphMemory:
    """A stream and the memory that one captured graph after the other computes in.

    A graph's memory is never given to other tensors of the process, and only to a graph of the same
    stream. So an engine keeps one of these, and its graphs live one at a time.

    Args:
        device: where the graphs run; without a GPU there are none.
    """

    def __init__(self, device: torch.device) -> None:
        self.stream: torch.cuda.Stream | None = None
        if device.type == "cuda":
            self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._last: torch.cuda.CUDAGraph | None = None

    def capture(self, computation: Callable[[], Tensor]) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        """A graph of a computation without arguments, and the tensor that its replays fill."""
        graph = torch.cuda.CUDAGraph()
        pool = None if self._last is None else self._last.pool()
        # The outer context has the usual stream back after a capture that fails. Other threads may
        # go on using the GPU meanwhile.
        with (
            torch.cuda.stream(self.stream),
            torch.cuda.graph(
                graph, pool=pool, stream=self.stream, capture_error_mode="thread_local"
            ),
        ):
            result = computation()
        self._last = graph
        return graph, result


class TokenDecoder:
    """Computes the logits of the rows' next tokens, a call for each token.

    The first pass after a change of shape runs kernel by kernel, and loads what capturing could not
    load; the second is captured. On the CPU each pass runs as it is.

    Args:
        model: a causal language model for which `decoder_error` is None, inside `decoding`.
        cache: keys and values of all but the last token of each row; its layers are replaced.
        mask: int64 `[B, tokens]`, 0 at the padding on the left, for the last tokens too.
        max_tokens: that each row may get at most.
        memory: of the graphs; used on a GPU alone.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        cache: DynamicCache,
        mask: Tensor,
        *,
        max_tokens: int,
        memory: GraphMemory,
    ) -> None:
        self._model = model
        self._memory = memory
        self._cache = cache
        self._num_tokens = mask.shape[1] - 1
        self._max_tokens = self._num_tokens + max_tokens
        device = mask.device
        self._place = torch.tensor([self._num_tokens], device=device)
        """Index of the next token's keys and values, int64 `[1]`."""
        self._positions = mask[:, :-1].sum(dim=1, keepdim=True)
        """Position of each row's next token, int64 `[B, 1]`."""
        self._tokens = torch.zeros_like(self._positions)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._logits: Tensor | None = None
        """Logits that a replay of the graph fills, `[B, V]`."""
        self._is_warm = False
        self._room = 0
        hidden = mask[:, None, None, :-1] == 0
        self._mask = torch.zeros(
            hidden.shape, dtype=cache.layers[0].keys.dtype, device=device
        ).masked_fill_(hidden, -torch.inf)
        """Added to attention scores, `[B, 1, 1, T]`."""
        self._make_room()

    def logits(self, tokens: Tensor) -> Tensor:
        """Logits after one more token, `[B, V]`; they stay until the next call.

        Args:
            tokens: int64 `[B]`, the rows' last tokens.
        """
        if self._num_tokens == self._room:
            self._make_room()
        self._num_tokens += 1
        self._tokens.copy_(tokens[:, None])
        if self._memory.stream is None:
            return self._pass(self._num_tokens)
        if self._graph is None and not self._is_warm:
            self._is_warm = True
            return self._on_stream(self._memory.stream)
        if self._graph is None:
            self._graph, self._logits = self._memory.capture(self._pass)
        self._graph.replay()
        assert self._logits is not None
        return self._logits

    def check_waits(self) -> None:
        """Repeat the last pass, and leave all places as they are.

        Raises:
            RuntimeError: it waits for the GPU. Capturing such a pass fails too, but leaves torch's
                allocator and random numbers behind as if the capture went on.
        """
        if self._memory.stream is None:
            return
        usual = torch.cuda.get_sync_debug_mode()
        with warnings.catch_warnings(action="ignore"):  # torch calls the mode a prototype
            torch.cuda.set_sync_debug_mode("error")
        try:
            self._on_stream(self._memory.stream)
        finally:
            torch.cuda.set_sync_debug_mode(usual)
        self._place -= 1
        self._positions -= 1

    def keep(self, rows: Tensor) -> None:
        """Go on with some of the rows, int64, in that order."""
        self._forget_graph()
        for layer in self._cache.layers:
            layer.keys, layer.values = layer.keys[rows], layer.values[rows]
        self._mask, self._positions = self._mask[rows], self._positions[rows]
        self._tokens = self._tokens[rows]

    def _pass(self, num_keys: int | None = None) -> Tensor:
        """The model's pass over one token of each row; it moves all places on by one.

        Args:
            num_keys: of the room, how many attention reads; None: all, as a graph must.
        """
        self._mask.index_fill_(3, self._place, 0)
        output = self._model(
            input_ids=self._tokens,
            # transformers passes a mask of four dimensions on as it is.
            attention_mask=self._mask[..., :num_keys],
            position_ids=self._positions,
            use_cache=True,
            logits_to_keep=1,
            **{CACHE: self._cache},
        )
        self._place += 1
        self._positions += 1
        logits: Tensor = output.logits[:, -1]
        return logits

    def _on_stream(self, stream: torch.cuda.Stream) -> Tensor:
        """The pass on the stream of the capture, whose libraries get their workspaces by that."""
        current = torch.cuda.current_stream(stream.device)
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            logits = self._pass()
        current.wait_stream(stream)
        logits.record_stream(current)
        return logits

    def _make_room(self) -> None:
        """Give each layer room for `ROOM_TOKENS` more tokens, or for as many as may come."""
        self._forget_graph()
        wanted = min(self._num_tokens + ROOM_TOKENS, self._max_tokens)
        self._room = -(-wanted // ROOM_MULTIPLE) * ROOM_MULTIPLE
        layers = self._cache.layers
        for number, layer in enumerate(layers):
            # One layer after the other, so that old and new keys of one layer exist together.
            layers[number] = _RoomyLayer(
                self._with_room(layer.keys, 2), self._with_room(layer.values, 2), self._place
            )
        self._mask = self._with_room(self._mask, 3, -torch.inf)

    def _with_room(self, tensor: Tensor, dim: int, value: float = 0.0) -> Tensor:
        """A copy whose dimension has `_room` entries, the new ones filled with a value."""
        shape = list(tensor.shape)
        shape[dim] = self._room
        roomy = tensor.new_full(shape, value)
        used = min(tensor.shape[dim], self._num_tokens)
        roomy.narrow(dim, 0, used).copy_(tensor.narrow(dim, 0, used))
        return roomy

    def _forget_graph(self) -> None:
        self._graph, self._logits, self._is_warm = None, None, False


class _RoomyLayer(DynamicLayer):  # type: ignore[misc]
    """Keys and values `[B, K, T, D]` of a layer, of which the last ones are still to be written."""

    def __init__(self, keys: Tensor, values: Tensor, place: Tensor) -> None:
        super().__init__()
        self.keys, self.values, self._place = keys, values, place
        self.dtype, self.device = keys.dtype, keys.device
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Write those of one token, `[B, K, 1, D]`, at the place; returns all."""
        self.keys.index_copy_(2, self._place, key_states.to(self.keys.dtype))
        self.values.index_copy_(2, self._place, value_states.to(self.values.dtype))
        return self.keys, self.values


def decoder_error(model: PreTrainedModel) -> str | None:
    """Why `TokenDecoder` cannot decode a model; None: its tokens have the right distribution.

    It is compared with that of a forward pass over all tokens.

    Args:
        model: a causal language model with the weights and the precision that it samples with.
    """
    if not has_full_attention(model) or attention_name(model) not in ("sdpa", PACKED):
        return "not every layer has full attention by torch's scaled dot product"
    ids = torch.tensor([[0, 0, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]], device=model.device)
    ids %= model.config.get_text_config().vocab_size
    mask = torch.ones_like(ids)
    mask[0, :2] = 0
    try:
        with torch.no_grad():
            difference = _difference(model, ids, mask)
    except _ERRORS_OF_A_PASS as error:
        return f"a pass over one token fails: {_first_line(error)}"
    is_half = model.dtype != torch.float32 or torch.is_autocast_enabled(model.device.type)
    limit = MAX_HALF_DIFFERENCE if is_half else MAX_DIFFERENCE
    return None if difference <= limit else f"log-probabilities are off by {difference:.2g}"


def _first_line(error: Exception) -> str:
    """The beginning of an error's message; a capture that fails has the cause as its context."""
    lines = str(error.__context__ or error).splitlines()
    return lines[0] if lines else type(error).__name__


def _difference(model: PreTrainedModel, ids: Tensor, mask: Tensor) -> float:
    """The mean difference of log-probabilities at the token where it is largest, in nats.

    The mean is over the tokens that the model would draw. The least likely of a large vocabulary
    differ by more than rounding means for a sample.

    Args:
        model: see `decoder_error`.
        ids: int64 `[B, tokens]`, of which the last ones are given to the decoder one by one.
        mask: int64 `[B, tokens]`, 0 at padding on the left.
    """
    prompt_tokens = ids.shape[1] // 2
    positions = (mask.cumsum(dim=-1) - 1).clamp(min=0)
    expected = model(input_ids=ids, attention_mask=mask, position_ids=positions, use_cache=False)
    cache = DynamicCache(config=model.config)
    if any(type(layer) is not DynamicLayer for layer in cache.layers):
        return torch.inf
    read = slice(0, prompt_tokens - 1)
    model(
        input_ids=ids[:, read],
        attention_mask=mask[:, read],
        position_ids=positions[:, read],
        use_cache=True,
        **{CACHE: cache},
    )
    if not all(layer.is_initialized for layer in cache.layers):
        return torch.inf
    found = []
    with decoding(model):
        decoder = TokenDecoder(
            model,
            cache,
            mask[:, :prompt_tokens],
            max_tokens=ids.shape[1] - prompt_tokens + 1,
            memory=GraphMemory(ids.device),
        )
        for place in range(prompt_tokens - 1, ids.shape[1]):
            found.append(decoder.logits(ids[:, place]).float().log_softmax(-1))
            if len(found) == 1:
                decoder.check_waits()
    wanted = expected.logits[:, prompt_tokens - 1 :].float().log_softmax(-1)
    differences = (torch.stack(found, dim=1) - wanted).abs()
    return float((wanted.exp() * differences).sum(dim=-1).max())


@contextmanager
def decoding(model: PreTrainedModel) -> Iterator[None]:
    """Inside, the model's attention is that of `TokenDecoder`: one token of each row."""
    usual = attention_name(model)
    model.set_attn_implementation(NAME)
    try:
        yield
    finally:
        model.set_attn_implementation(usual)


def _attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    *,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention `[B, 1, heads, D]` of a query `[B, heads, 1, D]` to keys `[B, K, T, D]`.

    It reads as many keys as the mask `[B, 1, 1, keys]` has. The queries that share a head of keys
    stand where a kernel expects queries of several tokens: keys and values need no copies for each
    of them.
    """
    rows, heads, _, size = query.shape
    used = attention_mask.shape[-1]
    grouped = query.reshape(rows, key.shape[1], heads // key.shape[1], size)
    output = functional.scaled_dot_product_attention(
        grouped,
        key[:, :, :used],
        value[:, :, :used],
        attn_mask=attention_mask.expand(*grouped.shape[:3], -1),
        scale=scaling,
    )
    return output.reshape(rows, 1, heads, -1), None


AttentionInterface.register(NAME, _attention)
AttentionMaskInterface.register(NAME, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
