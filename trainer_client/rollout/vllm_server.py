"""Rollouts by stock vLLM servers over HTTP; this process needs no vLLM.

A server is started with

    VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-scale-out --logprobs-mode processed_logprobs

Token ids go in; token ids with log-probabilities come out (`/inference/v1/generate`). Each
token carries the version of the weights that sampled it. New weights take four calls: pause,
update, reset the prefix cache, resume. In flight, completions under way are frozen meanwhile and go
on under the new weights, which read their tokens so far again. Every wait has a deadline.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import httpx
import torch
from pydantic import BaseModel, ValidationError

from trainer_client.config.rollout_section import LoraWeights, VllmServerConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.own_loop import run_async
from trainer_client.policy.lora import has_adapter
from trainer_client.policy.policy import Policy
from trainer_client.policy.weights import base_weights
from trainer_client.problems import Problem
from trainer_client.rollout import Rollout, RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.adapter_transfer import (
    AdapterTransfer,
    adapter_refusal,
    loading_refusal,
)
from trainer_client.rollout.group_requests import AskGroup, DatedGroup
from trainer_client.rollout.stop_texts import StopTexts, finished_rollout
from trainer_client.rollout.turns import (
    MAX_TURNS_AT_ONCE,
    SampledTurn,
    SampleTurns,
    TurnFeed,
    TurnRequest,
)
from trainer_client.rollout.vllm_requests import ask, ask_all, check_server, open_client
from trainer_client.rollout.weight_transfer import WeightTransfer, make_transfer
from trainer_client.run.console import say

T = TypeVar("T")


class _Token(BaseModel):
    logprob: float


class _Logprobs(BaseModel):
    content: list[_Token]


class _Span(BaseModel):
    version: str
    start: int
    end: int


class _Choice(BaseModel):
    token_ids: list[int]
    finish_reason: str
    logprobs: _Logprobs
    weight_versions: list[_Span]


class _Generated(BaseModel):
    choices: list[_Choice]


class VllmServerEngine:
    """Samples at servers whose weights it keeps equal to the policy's.

    Args:
        policy: the policy whose weights the servers get.
        config: addresses, deadline and weight transfer of the servers.
        weights_dir: folder that `weight_transfer: disk` writes, and adapters, unless the
            configuration names one.
        in_flight: whether weights change within completions; else an update waits until the
            servers have ended those under way.
        lora_weights: what the servers get of a policy with an adapter; in flight the merged
            weights, since a completion under way keeps the adapter that it began with.

    Raises:
        ConfigError: no server runs at an address, or it was started without a needed option.
        RolloutError: a server does not respond within the deadline.
    """

    def __init__(
        self,
        policy: Policy,
        config: VllmServerConfig,
        *,
        weights_dir: Path,
        in_flight: bool = False,
        lora_weights: LoraWeights = "auto",
    ) -> None:
        self._policy = policy
        self._config = config
        self._in_flight = in_flight
        # Without it, weights of another run or of a restarted server could have our version's name.
        self._run = uuid.uuid4().hex[:8]
        self._updates = 0
        self._leads = not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0
        self._adapter = self._adapter_transfer(lora_weights, weights_dir)
        self._transfer: WeightTransfer = make_transfer(config, weights_dir)

    @property
    def version(self) -> str:
        """Version of the weights that the servers have."""
        return f"{self._run}.{self._updates}"

    @property
    def num_updates(self) -> int:
        """See `GroupRequestEngine`."""
        return self._updates

    def update_weights(self) -> None:
        """See `RolloutEngine`; in a distributed run the first process talks to the servers."""
        self._updates += 1
        failure = None
        try:
            self._prepare()
            if self._leads:
                self._within_deadline(self._update())
        except RolloutError as error:
            failure = str(error)
        self._run, failure = _of_the_first_process(self._run, failure)
        if failure is not None:
            raise RolloutError(failure)

    def _prepare(self) -> None:
        """Collect what the servers get; with an adapter its base goes along the first time."""
        model = self._policy.model
        if self._adapter is None:
            self._transfer.prepare(model)
            return
        if self._updates == 1:
            self._transfer.prepare(model, base_weights)
        self._adapter.prepare(model, self.version)

    def _adapter_transfer(
        self, lora_weights: LoraWeights, weights_dir: Path
    ) -> AdapterTransfer | None:
        """The transfer of the adapter alone; None: the servers get whole weights. Collective."""
        refusal: str | None = None
        if self._leads:
            refusal = self._within_deadline(self._check())
        (refusal,) = _of_the_first_process(refusal)
        if not has_adapter(self._policy.model) or lora_weights == "merged":
            return None
        if refusal is None:
            folder = self._config.weights_dir or weights_dir
            return AdapterTransfer(folder.with_name(f"{folder.name}_adapter"))
        if lora_weights == "adapter":
            raise ConfigError(f"rollout.lora_weights adapter: {refusal}")
        say(f"the whole merged weights are sent before each step, because {refusal}")
        return None

    def generate(
        self,
        problems: Sequence[Problem],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        """See `RolloutEngine`."""
        generator = None if sampling.seed is None else torch.Generator().manual_seed(sampling.seed)
        # Drawn in the caller's thread and in the order of the problems: drawn as servers respond,
        # they would differ from run to run.
        seeds = torch.randint(2**31, (len(problems),), generator=generator).tolist()
        self._within_deadline(self._generate(problems, seeds, sampling, on_group))

    @asynccontextmanager
    async def group_requests(self) -> AsyncIterator[AskGroup]:
        """See `GroupRequestEngine`; each group goes to the server with the fewest under way."""
        under_way = Counter(dict.fromkeys(self._config.urls, 0))

        async def ask_group(problem: Problem, sampling: Sampling) -> DatedGroup:
            url = min(self._config.urls, key=under_way.__getitem__)
            under_way[url] += 1
            try:
                return await self._sample_group(client, url, problem, sampling)
            finally:
                under_way[url] -= 1

        async with open_client() as client:
            yield ask_group

    def sample_turns(self, feed: TurnFeed, sampling: Sampling) -> None:
        """See `TurnEngine`; each turn is a request of its own, sent as soon as it is ready."""

        async def sample() -> None:
            async with self.turn_requests() as sample_turns:
                await sample_turns(feed, sampling)

        try:
            self._within_deadline(sample())
        except ExceptionGroup as group:  # the first error has cancelled the other requests
            raise group.exceptions[0] from None

    @asynccontextmanager
    async def turn_requests(self) -> AsyncIterator[SampleTurns]:
        """See `TurnRequestEngine`."""
        async with open_client() as client:
            yield partial(self._sample_turns, client)

    @property
    def _served(self) -> dict[str, str]:
        """The name of the adapter that samples; each version has its own."""
        return {} if self._adapter is None else {"model": self.version}

    def close(self) -> None:
        """Close the weight transfer; the servers go on running."""
        self._transfer.close()
        if self._adapter is not None:
            self._adapter.close()

    async def _generate(
        self,
        problems: Sequence[Problem],
        seeds: Sequence[int],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        async def sample_group(client: httpx.AsyncClient, index: int) -> None:
            url = self._config.urls[index % len(self._config.urls)]
            seeded = replace(sampling, seed=seeds[index])
            dated = await self._sample_group(client, url, problems[index], seeded)
            on_group(index, dated.group)

        async with open_client() as client:
            await ask_all(sample_group(client, index) for index in range(len(problems)))

    async def _sample_group(
        self, client: httpx.AsyncClient, url: str, problem: Problem, sampling: Sampling
    ) -> DatedGroup:
        """One group by one request, with the seed of `sampling`."""
        assert sampling.seed is not None
        prompt = self._policy.prompt_ids(problem.messages, problem.template_variables)
        body = {
            **self._served,
            "token_ids": prompt,
            "sampling_params": self._parameters(sampling, sampling.seed),
        }
        response = await ask(client, "POST", f"{url}/inference/v1/generate", json=body)
        stops = StopTexts(sampling.stop, self._policy.decode)
        dated = self._dated_rollouts(url, prompt, response, stops)
        if len(dated) != sampling.group_size:
            raise RolloutError(
                f"{url} returned {len(dated)} completions, expected {sampling.group_size}"
            )
        rollouts, updates = zip(*dated, strict=True)
        return DatedGroup(RolloutGroup(problem, rollouts), updates)

    async def _sample_turns(
        self, client: httpx.AsyncClient, feed: TurnFeed, sampling: Sampling
    ) -> None:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop has ended, and its feed with it
                loop.call_soon_threadsafe(ready.set)

        async def sample_turn(request: TurnRequest) -> None:
            feed.end(request.key, await self._sample_turn(client, request, sampling))
            ready.set()

        feed.on_ready(tell)
        async with asyncio.TaskGroup() as tasks:
            while True:
                ready.clear()
                for request in feed.take(MAX_TURNS_AT_ONCE, wait=False):
                    tasks.create_task(sample_turn(request))
                if feed.is_over:
                    break
                with suppress(TimeoutError):
                    await asyncio.wait_for(ready.wait(), feed.seconds_to_limit())

    async def _sample_turn(
        self, client: httpx.AsyncClient, request: TurnRequest, sampling: Sampling
    ) -> SampledTurn:
        # All turns of an episode go to one server, whose prefix cache has the earlier ones.
        url = self._config.urls[request.key % len(self._config.urls)]
        alone = replace(sampling, group_size=1, max_completion_tokens=request.max_tokens)
        body = {
            **self._served,
            "token_ids": request.context_ids,
            "sampling_params": self._parameters(alone, request.seed % 2**31),
        }
        response = await ask(client, "POST", f"{url}/inference/v1/generate", json=body)
        stops = StopTexts(sampling.stop, self._policy.decode)
        ((rollout, updates),) = self._dated_rollouts(url, request.context_ids, response, stops)
        return SampledTurn.of(rollout, updates)

    def _parameters(self, sampling: Sampling, seed: int) -> dict[str, Any]:
        # Every parameter is given: a server takes missing ones from the model's generation config,
        # and completions sampled with its top_k or penalties are not samples of the policy.
        return {
            "n": sampling.group_size,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k or 0,
            "min_p": sampling.min_p,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "repetition_penalty": sampling.repetition_penalty,
            "max_tokens": sampling.max_completion_tokens,
            "stop_token_ids": list(self._policy.eos_ids),
            "logprobs": 0,
            "detokenize": False,
            "seed": seed,
        }

    def _dated_rollouts(
        self, url: str, prompt: list[int], response: Any, stops: StopTexts
    ) -> list[tuple[Rollout, tuple[int, ...]]]:
        """Each completion with the number of the weight update at each of its tokens."""
        try:
            choices = _Generated.model_validate(response).choices
        except ValidationError as error:
            raise RolloutError(
                f"{url}/inference/v1/generate answered something else than completions with "
                f"log-probabilities and weight versions: {error}"
            ) from error
        dated = []
        for choice in choices:
            rollout = self._rollout(url, prompt, choice, stops)
            updates = self._updates_of(url, choice)
            dated.append((rollout, updates[: len(rollout.completion_ids)]))
        return dated

    def _updates_of(self, url: str, choice: _Choice) -> tuple[int, ...]:
        """The number of the weight update at each token; raises RolloutError."""
        spans = choice.weight_versions
        numbers = [self._update_of(span.version) for span in spans]
        whole = len(numbers) == 1 or self._in_flight
        if not numbers or None in numbers or not whole:
            raise RolloutError(
                f"{url} sampled a completion with weights of version "
                f"{[span.version for span in spans]}, expected {self.version!r}: was it "
                "restarted, or does another run use it?"
            )
        bounds = [0, *(span.end for span in spans)]
        if [span.start for span in spans] != bounds[:-1] or bounds[-1] != len(choice.token_ids):
            raise RolloutError(
                f"{url} returned {len(choice.token_ids)} tokens with weight versions of "
                f"{[(span.start, span.end) for span in spans]}"
            )
        return tuple(
            number
            for number, span in zip(numbers, spans, strict=True)
            if number is not None
            for _ in range(span.start, span.end)
        )

    def _update_of(self, version: str) -> int | None:
        """The number of the update that brought these weights; None: it was not this run's."""
        if not self._in_flight:
            return self._updates if version == self.version else None
        run, _, number = version.partition(".")
        own = run == self._run and number.isdecimal() and int(number) <= self._updates
        return int(number) if own else None

    def _rollout(self, url: str, prompt: list[int], choice: _Choice, stops: StopTexts) -> Rollout:
        if choice.finish_reason not in ("stop", "length") or not choice.token_ids:
            raise RolloutError(
                f"{url} ended a completion of {len(choice.token_ids)} tokens with "
                f"{choice.finish_reason!r}"
            )
        if len(choice.logprobs.content) != len(choice.token_ids):
            raise RolloutError(
                f"{url} returned {len(choice.token_ids)} tokens with "
                f"{len(choice.logprobs.content)} log-probabilities"
            )
        logprobs = [token.logprob for token in choice.logprobs.content]
        return finished_rollout(self._policy, prompt, choice.token_ids, logprobs, stops)

    async def _check(self) -> str | None:
        """The reason why a server cannot take the policy's adapter; None: all can.

        Raises ConfigError when a server lacks an option that every policy needs.
        """
        async with open_client() as client:
            refusals = [
                adapter_refusal(self._policy.model, url, await check_server(client, url))
                for url in self._config.urls
            ]
            if not any(refusals) and has_adapter(self._policy.model):
                refusals = [await loading_refusal(client, url) for url in self._config.urls]
        if self._in_flight:
            refusals.append("completions under way keep the adapter that they began with")
        return next(filter(None, refusals), None)

    async def _update(self) -> None:
        async with open_client() as client:

            async def each(method: str, path: str, **arguments: Any) -> list[Any]:
                return await ask_all(
                    ask(client, method, url + path, **arguments) for url in self._config.urls
                )

            await each("POST", "/pause", params={"mode": "keep" if self._in_flight else "wait"})
            if self._adapter is None or self._updates == 1:
                await self._transfer.send(self._policy.model, each)
            if self._adapter is not None:
                await self._adapter.send(self.version, each)
            await each("POST", "/update_weight_version", json={"new_version": self.version})
            # Frozen completions hold keys and values of the old weights: a server would sample
            # their other tokens from a mixture that no policy has.
            again = {"reset_running_requests": "true"} if self._in_flight else {}
            responses = await each("POST", "/reset_prefix_cache", params=again)
            for url, response in zip(self._config.urls, responses, strict=True):
                if response != {"success": True}:
                    raise RolloutError(
                        f"{url} kept its prefix cache, which is of old weights: {response!r}"
                    )
            await each("POST", "/resume")

    def _within_deadline(self, work: Coroutine[Any, Any, T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(self._config.deadline_seconds):
                return await work

        try:
            return run_async(bounded())
        except TimeoutError as error:
            raise RolloutError(
                f"the vLLM servers {', '.join(self._config.urls)} did not finish within "
                f"rollout.vllm_server.deadline_seconds = {self._config.deadline_seconds:g}"
            ) from error


def _of_the_first_process(*values: Any) -> tuple[Any, ...]:
    """The values of the first process of `torch.distributed`, if it runs. Collective."""
    shared = list(values)
    if torch.distributed.is_initialized():
        torch.distributed.broadcast_object_list(shared)
    return tuple(shared)
