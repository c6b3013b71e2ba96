"""Rollouts by `transformers`' own generation loop: runs wherever the policy runs.

Shapes: B completions generated together, T tokens so far (left-padded prompt, then completion).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
)

from trainer_client.dataset import Problem
from trainer_client.policy import Policy
from trainer_client.rollout import Rollout, RolloutGroup, Sampling
from trainer_client.sharding import whole


class TransformersEngine:
    """Samples from the policy's own module, so its weights never need to be sent anywhere."""

    def __init__(self, policy: Policy, *, batch_size: int) -> None:
        self._policy = policy
        self._batch_size = batch_size

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
        autocast = self._policy.autocast
        precision = torch.autocast(self._policy.device.type, autocast, enabled=autocast is not None)
        with whole(self._policy.model), precision:
            for start in range(0, len(problems), groups_at_once):
                self._generate_batch(
                    problems[start : start + groups_at_once], start, sampling, on_group
                )

    @torch.no_grad()
    def _generate_batch(
        self,
        problems: Sequence[Problem],
        first_index: int,
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        policy = self._policy
        prompts = [policy.prompt_ids(problem.messages) for problem in problems]
        rows = [ids for ids in prompts for _ in range(sampling.group_size)]
        width = max(map(len, rows))
        input_ids = torch.tensor([[policy.pad_id] * (width - len(ids)) + ids for ids in rows])
        attention_mask = torch.tensor([[0] * (width - len(ids)) + [1] * len(ids) for ids in rows])
        recorder = _Recorder(
            len(rows), sampling.temperature, torch.tensor(policy.eos_ids, device=policy.device)
        )
        emitted: set[int] = set()

        def emit_finished(sequences: Tensor, *, all_groups: bool = False) -> None:
            finished = recorder.finished.view(len(problems), -1).all(dim=1).tolist()
            for index, problem in enumerate(problems):
                if index not in emitted and (finished[index] or all_groups):
                    emitted.add(index)
                    members = slice(index * sampling.group_size, (index + 1) * sampling.group_size)
                    rollouts = self._rollouts(
                        prompts[index],
                        sequences[members, width:].tolist(),
                        recorder.logprobs(members),
                    )
                    on_group(first_index + index, RolloutGroup(problem, rollouts))

        recorder.on_token = emit_finished
        sequences = policy.model.generate(
            inputs=input_ids.to(policy.device),
            attention_mask=attention_mask.to(policy.device),
            generation_config=_generation_config(policy, sampling),
            # Inside `whole` no process waits for another's tokens.
            synced_gpus=False,
            logits_processor=LogitsProcessorList([recorder.processor]),
            stopping_criteria=StoppingCriteriaList([recorder.criterion]),
        )
        emit_finished(sequences, all_groups=True)

    def _rollouts(
        self, prompt_ids: list[int], completions: list[list[int]], logprobs: list[list[float]]
    ) -> tuple[Rollout, ...]:
        rollouts = []
        for ids, values in zip(completions, logprobs, strict=True):
            ends = [position for position, token in enumerate(ids) if token in self._policy.eos_ids]
            length = ends[0] + 1 if ends else len(ids)
            rollouts.append(
                Rollout(
                    prompt_ids=tuple(prompt_ids),
                    completion_ids=tuple(ids[:length]),
                    sampler_logprobs=tuple(values[:length]),
                    text=self._policy.decode(ids[:length]),
                    truncated=not ends,
                )
            )
        return tuple(rollouts)


class _Recorder:
    """Records each sampled token's log-probability, and which rows have ended.

    `generate` could return all logits, but they take B * T * vocabulary floats. It calls its logits
    processors before a token is chosen and its stopping criteria after; no more is needed.
    """

    def __init__(self, num_rows: int, temperature: float, eos_ids: Tensor) -> None:
        self.finished = torch.zeros(num_rows, dtype=torch.bool, device=eos_ids.device)
        self.on_token: Callable[[Tensor], None] = lambda sequences: None
        self._temperature = temperature
        self._eos_ids = eos_ids
        self._next: Tensor | None = None
        self._chosen: list[Tensor] = []
        self.processor = _Processor(self._before)
        self.criterion = _Criterion(self._after)

    def logprobs(self, rows: slice) -> list[list[float]]:
        """Log-probabilities of the tokens so far of these rows."""
        return torch.stack([chosen[rows] for chosen in self._chosen], dim=1).tolist()

    def _before(self, scores: Tensor) -> None:
        self._next = (scores.float() / self._temperature).log_softmax(dim=-1)

    def _after(self, sequences: Tensor) -> Tensor:
        assert self._next is not None
        tokens = sequences[:, -1]
        self._chosen.append(self._next.gather(1, tokens[:, None])[:, 0])
        ended_before = self.finished
        self.finished = ended_before | torch.isin(tokens, self._eos_ids)
        if (self.finished & ~ended_before).any():
            self.on_token(sequences)
        return torch.zeros_like(self.finished)


class _Processor(LogitsProcessor):  # type: ignore[misc]
    def __init__(self, record: Callable[[Tensor], None]) -> None:
        self._record = record

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        self._record(scores)
        return scores


class _Criterion(StoppingCriteria):  # type: ignore[misc]
    def __init__(self, record: Callable[[Tensor], Tensor]) -> None:
        self._record = record

    def __call__(self, input_ids: Tensor, scores: Any, **kwargs: Any) -> Tensor:
        return self._record(input_ids)


def _generation_config(policy: Policy, sampling: Sampling) -> GenerationConfig:
    # The policy's own generation config holds nothing but token ids (see `load_policy`), so that
    # no model's favourite top_k or repetition penalty biases the samples.
    return GenerationConfig(
        do_sample=True,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=0,
        max_new_tokens=sampling.max_completion_tokens,
        eos_token_id=list(policy.eos_ids),
        pad_token_id=policy.pad_id,
    )
