"""Rollouts by the policy's own module: a `TokenDecoder` where the model permits, else `generate`.

Shapes: N completions generated together, of which B are still in the batch; T tokens so far
(left-padded prompt, then completion); V tokens in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from transformers import (
    DynamicCache,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
)
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from trainer_client.policy.compiled_layers import not_compiled
from trainer_client.policy.lora import causal_model
from trainer_client.policy.policy import Policy
from trainer_client.policy.sharding import is_sharded, unsharded
from trainer_client.policy.transformers_names import CACHE
from trainer_client.problems import Problem
from trainer_client.rollout import Rollout, RolloutError, RolloutGroup, Sampling, token_decoder
from trainer_client.rollout.distribution import drawn_probabilities
from trainer_client.rollout.draw import draw
from trainer_client.rollout.stop_texts import StopTexts
from trainer_client.rollout.token_decoder import GraphMemory, TokenDecoder, decoding
from trainer_client.rollout.turns import SampledTurn, TurnFeed, TurnRequest
from trainer_client.run.step_progress import STEP

_KEEPS_TOKENS = (DynamicLayer, DynamicSlidingWindowLayer)
"""Layers of a cache that has keys and values of each token, and nothing else."""


class TransformersEngine:
    """Samples from the policy's own module, so its weights never need to be sent anywhere.

    Args:
        policy: the policy to sample from.
        batch_size: completions sampled at once, rounded down to whole groups.
        own_decoder: whether `TokenDecoder` computes the tokens, on a GPU by CUDA graphs, and not
            `generate`; only for a policy of which `decoder_error` is None.
    """

    def __init__(self, policy: Policy, *, batch_size: int, own_decoder: bool = False) -> None:
        self._policy = policy
        self._batch_size = batch_size
        self._own_decoder = own_decoder
        self._graph_memory = GraphMemory(policy.device)

    def update_weights(self) -> None:
        """Nothing to do: the policy's own module samples."""

    def close(self) -> None:
        """Nothing to do."""

    def generate(
        self,
        problems: Sequence[Problem],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        """See `RolloutEngine`."""
        groups_at_once = max(1, self._batch_size // sampling.group_size)
        with sampling_policy(self._policy):
            for start in range(0, len(problems), groups_at_once):
                self._generate_batch(
                    problems[start : start + groups_at_once], start, sampling, on_group
                )

    def sample_turns(self, feed: TurnFeed, sampling: Sampling) -> None:
        """See `TurnEngine`; a batch has the turns that are ready when the one before has ended."""
        with sampling_policy(self._policy):
            while requests := feed.take(self._batch_size):
                self._sample_turns(requests, feed, sampling)

    def _sample_turns(
        self, requests: Sequence[TurnRequest], feed: TurnFeed, sampling: Sampling
    ) -> None:
        """Sample a turn for each request, and hand each over as it ends."""
        rows = [request.context_ids for request in requests]
        limits = [request.max_tokens for request in requests]
        longest = replace(sampling, max_completion_tokens=max(limits))
        recorder = _Recorder(rows, longest, self._policy, limits=limits, uniforms=_drawn(requests))
        emitted: set[int] = set()

        def emit_finished() -> None:
            for row in recorder.finished.nonzero()[:, 0].tolist():
                if row not in emitted:
                    emitted.add(row)
                    length = int(recorder.lengths[row])
                    turn = SampledTurn(
                        recorder.tokens[row, :length].tolist(),
                        recorder.logprobs[row, :length].tolist(),
                        bool(recorder.ended[row]),
                    )
                    feed.end(requests[row].key, turn)

        recorder.on_finished = emit_finished
        self._sample(rows, recorder)

    def _generate_batch(
        self,
        problems: Sequence[Problem],
        first_index: int,
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        policy, size = self._policy, sampling.group_size
        prompts = [
            policy.prompt_ids(problem.messages, problem.template_variables) for problem in problems
        ]
        rows = [ids for ids in prompts for _ in range(size)]
        recorder = _Recorder(rows, sampling, policy)
        emitted: set[int] = set()

        def emit_finished() -> None:
            finished = recorder.finished.view(len(problems), size).all(dim=1).tolist()
            for index, problem in enumerate(problems):
                if finished[index] and index not in emitted:
                    emitted.add(index)
                    rollouts = self._rollouts(prompts[index], recorder, index * size, size)
                    on_group(first_index + index, RolloutGroup(problem, rollouts))

        recorder.on_finished = emit_finished
        self._sample(rows, recorder)

    @torch.no_grad()
    def _sample(self, rows: list[list[int]], recorder: _Recorder) -> None:
        """Generate until every row has finished, dropping finished rows half a batch at a time.

        `generate` computes every row until the last one has ended, so most of its work would go
        into finished rows. It is stopped when half of the rows have finished, and goes on from its
        cache with the other half.
        """
        policy, pad_id = self._policy, self._policy.pad_id
        width = max(map(len, rows))
        sequences = torch.tensor([[pad_id] * (width - len(ids)) + ids for ids in rows])
        sequences = sequences.to(policy.device)
        mask = torch.tensor([[0] * (width - len(ids)) + [1] * len(ids) for ids in rows])
        mask = mask.to(policy.device)
        cache = self._read_once(rows, sequences, mask)
        if self._own_decoder and cache is not None:
            self._decode(sequences, mask, cache, recorder)
            return
        while recorder.rows.numel():
            output = policy.model.generate(
                inputs=sequences,
                attention_mask=mask,
                generation_config=_generation_config(policy, recorder.num_tokens_left),
                # Inside `whole` each process has all weights. With synced_gpus, processes would go
                # on until the slowest has ended.
                synced_gpus=False,
                logits_processor=LogitsProcessorList([recorder.processor]),
                stopping_criteria=StoppingCriteriaList([recorder.criterion]),
                **{CACHE: cache},
            )
            kept = recorder.drop_finished()
            sequences, cache = output.sequences[kept], getattr(output, CACHE)
            mask = torch.nn.functional.pad(
                mask[kept], (0, sequences.shape[1] - mask.shape[1]), value=1
            )
            if cache is not None:
                cache.reorder_cache(kept)

    def _decode(
        self,
        sequences: Tensor,
        mask: Tensor,
        cache: DynamicCache,
        recorder: _Recorder,
    ) -> None:
        """Generate as `_sample` does, without `generate`."""
        model = causal_model(self._policy.model)
        with decoding(model):
            decoder = TokenDecoder(
                model,
                cache,
                mask,
                max_tokens=recorder.num_tokens_left,
                memory=self._graph_memory,
            )
            tokens = sequences[:, -1]
            while recorder.rows.numel():
                tokens = recorder.draw(decoder.logits(tokens))
                if recorder.record(tokens):
                    kept = recorder.drop_finished()
                    decoder.keep(kept)
                    tokens = tokens[kept]

    def _read_once(
        self, rows: list[list[int]], sequences: Tensor, mask: Tensor
    ) -> DynamicCache | None:
        """The cache of all rows, for which each prompt was read once, however many rows have it.

        The last token is left out: its logits are the first that are needed. None where a prompt
        has one token, or the model keeps more than keys and values of each token, or no prompt
        comes twice and the decoder does not need the cache.
        """
        numbers: dict[tuple[int, ...], int] = {}
        prompt_of = [numbers.setdefault(tuple(ids), len(numbers)) for ids in rows]
        comes_twice = len(numbers) < len(rows)
        if sequences.shape[1] < 2 or not (comes_twice or self._own_decoder):
            return None
        first = torch.tensor([prompt_of.index(number) for number in range(len(numbers))])
        prompts = sequences[first.to(sequences.device), :-1]
        prompt_mask = mask[first.to(mask.device), :-1]
        cache = DynamicCache(config=self._policy.model.config)
        if any(type(layer) not in _KEEPS_TOKENS for layer in cache.layers):
            return None
        self._policy.model(
            input_ids=prompts,
            attention_mask=prompt_mask,
            position_ids=(prompt_mask.cumsum(dim=-1) - 1).clamp(min=0),
            use_cache=True,
            logits_to_keep=1,
            **{CACHE: cache},
        )
        cache.reorder_cache(torch.tensor(prompt_of, device=sequences.device))
        return cache

    def _rollouts(
        self, prompt_ids: list[int], recorder: _Recorder, first: int, size: int
    ) -> tuple[Rollout, ...]:
        rollouts = []
        for row in range(first, first + size):
            length = int(recorder.lengths[row])
            ids = recorder.tokens[row, :length].tolist()
            rollouts.append(
                Rollout(
                    prompt_ids=tuple(prompt_ids),
                    completion_ids=tuple(ids),
                    sampler_logprobs=tuple(recorder.logprobs[row, :length].tolist()),
                    text=self._policy.decode(ids),
                    truncated=not recorder.ended[row],
                )
            )
        return tuple(rollouts)


@contextmanager
def sampling_policy(policy: Policy) -> Iterator[None]:
    """Inside, the policy has whole weights, plain layers and the precision of its samples."""
    model, autocast = policy.model, policy.autocast
    precision = torch.autocast(policy.device.type, autocast, enabled=autocast is not None)
    with unsharded(model), not_compiled(model), precision:
        yield


def decoder_error(policy: Policy) -> str | None:
    """Why `TokenDecoder` cannot sample from a policy; None: it can.

    See `token_decoder.decoder_error`.
    """
    if is_sharded(policy.model):
        return "its weights are split over several processes"
    with sampling_policy(policy):
        return token_decoder.decoder_error(causal_model(policy.model))


class _Recorder:
    """Records tokens, their log-probabilities and the rows that have ended, while they are sampled.

    All logits would take B * T * V floats. The loop over the decoder calls `draw` and `record` for
    each token; `generate` calls its logits processors before it chooses a token and its stopping
    criteria after.

    Args:
        prompts: token ids before each completion.
        sampling: its token limit is the longest of all rows.
        policy: the policy that samples.
        limits: token limit of each row; None: that of `sampling`.
        uniforms: float64 `[N, max_completion_tokens]`, the numbers to draw with; None: from
            torch's generator.
    """

    def __init__(
        self,
        prompts: Sequence[Sequence[int]],
        sampling: Sampling,
        policy: Policy,
        *,
        limits: Sequence[int] | None = None,
        uniforms: Tensor | None = None,
    ) -> None:
        num_rows, device = len(prompts), policy.device
        shape = (num_rows, sampling.max_completion_tokens)
        self.tokens = torch.zeros(shape, dtype=torch.long, device=device)
        """int64 `[N, max_completion_tokens]`; positions beyond `lengths` are padding."""
        self.logprobs = torch.zeros(shape, device=device)
        """Log-probabilities of `tokens` under the sampled distribution, float32."""
        self.lengths = torch.zeros(num_rows, dtype=torch.long, device=device)
        """Number of tokens of each completion, its end-of-sequence token included, int64 `[N]`."""
        self.ended = torch.zeros(num_rows, dtype=torch.bool, device=device)
        """Bool `[N]`, True after an end-of-sequence token or a text that stops."""
        self._limits = (
            torch.full_like(self.lengths, sampling.max_completion_tokens)
            if limits is None
            else torch.tensor(limits, device=device)
        )
        self._uniforms = None if uniforms is None else uniforms.to(device)
        self.rows = torch.arange(num_rows, device=device)
        """Row numbers of the completions in the batch, int64 `[B]`."""
        self.on_finished: Callable[[], None] = lambda: None
        self._prompts = prompts
        self._sampling = sampling
        self._stops = StopTexts(sampling.stop, policy.decode)
        self._eos_ids = torch.tensor(policy.eos_ids, device=device)
        self._seen: Tensor | None = None
        self._num_tokens = 0
        self._num_going = num_rows
        self._next: Tensor | None = None
        """Probabilities that the next token of each row is drawn with, float32 `[B, V]`."""
        self.processor = _Processor(self._before)
        self.criterion = _Criterion(self._after)

    @property
    def finished(self) -> Tensor:
        """Bool `[N]`, True for completions that have ended or met the token limit."""
        return self.ended | (self.lengths == self._limits)

    @property
    def num_tokens_left(self) -> int:
        """Number of tokens that the rows in the batch may still get."""
        return self.tokens.shape[1] - self._num_tokens

    def drop_finished(self) -> Tensor:
        """Take finished rows out of the batch; returns the batch positions of the others."""
        kept = (~self.finished[self.rows]).nonzero()[:, 0]
        self.rows = self.rows[kept]
        return kept

    def draw(self, logits: Tensor) -> Tensor:
        """The next token of each row of the batch, int64 `[B]`, from its logits `[B, V]`."""
        seen = self._seen_tokens(logits.shape[1])
        self._next = drawn_probabilities(logits, self._sampling, seen)
        try:
            if not self._sampling.temperature:
                return draw(_likeliest(self._next), self._uniform())
            return draw(self._next, self._uniform())
        except ValueError as error:
            raise RolloutError(
                "the policy's log-probabilities are not finite: its weights have diverged. "
                "Suggested: a lower optimizer.learning_rate, from an earlier checkpoint"
            ) from error

    def record(self, chosen: Tensor) -> bool:
        """Record the tokens `[B]` that were drawn; returns whether half of the rows have ended."""
        assert self._next is not None
        if self._seen is not None:
            self._seen[self.rows, chosen] = True
        self.tokens[self.rows, self._num_tokens] = chosen
        probabilities = self._next.gather(1, chosen[:, None])[:, 0]
        self.logprobs[self.rows, self._num_tokens] = probabilities.log()
        self._num_tokens += 1
        STEP.token(self._num_tokens, self.tokens.shape[1])
        going = ~self.finished[self.rows]
        self.lengths[self.rows] += going
        self.ended[self.rows] |= torch.isin(chosen, self._eos_ids) & going
        if self._stops:
            self._end_at_texts(self.rows[going & ~self.ended[self.rows]])
        num_going = int((~self.finished[self.rows]).sum())
        if num_going < self._num_going:
            self._num_going = num_going
            self.on_finished()
        return 2 * num_going <= len(self.rows)

    def _before(self, logits: Tensor) -> Tensor:
        """Draw each row's token; returns 1 at it and 0 elsewhere, uint8 `[B, V]`.

        `generate` takes the highest score: it would draw much slower (`trainer_client.rollout.draw`
        says why). In bytes the search for it is fast.
        """
        chosen = torch.zeros_like(logits, dtype=torch.uint8)
        return chosen.scatter_(1, self.draw(logits)[:, None], 1)

    def _after(self, sequences: Tensor) -> Tensor:
        """Record the tokens that were chosen; returns bool `[B]`, True to stop `generate`."""
        stops = self.record(sequences[:, -1])
        return torch.full((len(sequences),), stops, device=sequences.device)

    def _uniform(self) -> Tensor | None:
        """The number that each row of the batch draws its next token with, `[B, 1]`."""
        if self._uniforms is None:
            return None
        return self._uniforms[self.rows, self._num_tokens][:, None]

    def _end_at_texts(self, going: Tensor) -> None:
        """End those of some rows whose last token completes a text that stops."""
        first = max(0, self._num_tokens - self._stops.window)
        tails = self.tokens[going, first : self._num_tokens].tolist()
        ends = [self._stops.ends(tail) for tail in tails]
        self.ended[going] = torch.tensor(ends, dtype=torch.bool, device=self.ended.device)

    def _seen_tokens(self, num_tokens: int) -> Tensor | None:
        """Bool `[B, V]`, True on the tokens of prompt and completion; None without a penalty."""
        if self._sampling.repetition_penalty == 1:
            return None
        if self._seen is None:
            device = self.tokens.device
            self._seen = torch.zeros(
                (len(self._prompts), num_tokens), dtype=torch.bool, device=device
            )
            for row, prompt in enumerate(self._prompts):
                self._seen[row, torch.tensor(prompt, device=device)] = True
        return self._seen[self.rows]


def _drawn(requests: Sequence[TurnRequest]) -> Tensor:
    """The numbers that each turn draws its tokens with, float64 `[N, longest limit]`.

    They depend on the turn's own seed alone, so that it does not matter what is sampled beside it.
    """
    numbers = torch.zeros(
        (len(requests), max(one.max_tokens for one in requests)), dtype=torch.float64
    )
    for row, one in enumerate(requests):
        generator = torch.Generator().manual_seed(one.seed)
        numbers[row, : one.max_tokens] = torch.rand(
            one.max_tokens, generator=generator, dtype=torch.float64
        )
    return numbers


def _likeliest(probabilities: Tensor) -> Tensor:
    """The probabilities `[B, V]` with all but each row's likeliest token left out."""
    best = probabilities.max(dim=-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter_(1, best.indices, best.values)


class _Processor(LogitsProcessor):  # type: ignore[misc]
    """A function as a logits processor."""

    def __init__(self, process: Callable[[Tensor], Tensor]) -> None:
        self._process = process

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        return self._process(scores)


class _Criterion(StoppingCriteria):  # type: ignore[misc]
    """A function as a stopping criterion."""

    def __init__(self, stops: Callable[[Tensor], Tensor]) -> None:
        self._stops = stops

    def __call__(self, input_ids: Tensor, scores: Any, **kwargs: Any) -> Tensor:
        return self._stops(input_ids)


def _generation_config(policy: Policy, max_new_tokens: int) -> GenerationConfig:
    # The policy's own generation config holds token ids alone (see `make_policy`), so no top_k or
    # repetition penalty of the model biases the samples.
    return GenerationConfig(
        do_sample=False,  # the recorder has drawn the token: its score is the highest
        max_new_tokens=max_new_tokens,
        eos_token_id=list(policy.eos_ids),
        pad_token_id=policy.pad_id,
        return_dict_in_generate=True,
    )
