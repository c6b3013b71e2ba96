"""Rollouts by stock vLLM servers over HTTP; this process needs no vLLM.

A server is started with

    VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-scale-out --logprobs-mode processed_logprobs

Token ids go in; token ids with log-probabilities come out (`/inference/v1/generate`). Each
completion carries the version of the weights that sampled it. New weights take four calls: pause,
update, reset the prefix cache, resume. Every wait has a deadline.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import httpx
import torch
from pydantic import BaseModel, ValidationError

from trainer_client.config.run_config import ConfigError
from trainer_client.config.sections import VllmServerConfig
from trainer_client.dataset import Problem
from trainer_client.policy.policy import Policy
from trainer_client.rollout import Rollout, RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.stop_texts import StopTexts, finished_rollout
from trainer_client.rollout.turns import (
    MAX_TURNS_AT_ONCE,
    SampledTurn,
    TurnFeed,
    TurnRequest,
)
from trainer_client.rollout.weight_transfer import WeightTransfer, make_transfer

T = TypeVar("T")


class _Token(BaseModel):
    logprob: float


class _Logprobs(BaseModel):
    content: list[_Token]


class _Span(BaseModel):
    version: str


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
        weights_dir: folder that `weight_transfer: disk` writes, unless the configuration names one.

    Raises:
        ConfigError: no server runs at an address, or it was started without a needed option.
        RolloutError: a server does not respond within the deadline.
    """

    def __init__(self, policy: Policy, config: VllmServerConfig, *, weights_dir: Path) -> None:
        self._policy = policy
        self._config = config
        # Without it, weights of another run or of a restarted server could have our version's name.
        self._run = uuid.uuid4().hex[:8]
        self._updates = 0
        self._leads = not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0
        if self._leads:
            self._within_deadline(self._check())
        self._transfer: WeightTransfer = make_transfer(config, weights_dir)

    @property
    def version(self) -> str:
        """Version of the weights that the servers have."""
        return f"{self._run}.{self._updates}"

    def update_weights(self) -> None:
        """See `RolloutEngine`; in a distributed run the first process talks to the servers."""
        self._updates += 1
        failure = None
        try:
            self._transfer.prepare(self._policy.model)
            if self._leads:
                self._within_deadline(self._update())
        except RolloutError as error:
            failure = str(error)
        self._run, failure = _of_the_first_process(self._run, failure)
        if failure is not None:
            raise RolloutError(failure)

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

    def sample_turns(self, feed: TurnFeed, sampling: Sampling) -> None:
        """See `TurnEngine`; each turn is a request of its own, sent as soon as it is ready."""
        try:
            self._within_deadline(self._sample_turns(feed, sampling))
        except ExceptionGroup as group:  # the first error has cancelled the other requests
            raise group.exceptions[0] from None

    def close(self) -> None:
        """Close the weight transfer; the servers go on running."""
        self._transfer.close()

    async def _generate(
        self,
        problems: Sequence[Problem],
        seeds: Sequence[int],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        stops = StopTexts(sampling.stop, self._policy.decode)

        async def sample_group(client: httpx.AsyncClient, index: int) -> None:
            url = self._config.urls[index % len(self._config.urls)]
            prompt = self._policy.prompt_ids(
                problems[index].messages, problems[index].template_variables
            )
            body = {
                "token_ids": prompt,
                "sampling_params": self._parameters(sampling, seeds[index]),
            }
            response = await _ask(client, "POST", f"{url}/inference/v1/generate", json=body)
            rollouts = self._rollouts(url, prompt, response, stops)
            if len(rollouts) != sampling.group_size:
                raise RolloutError(
                    f"{url} returned {len(rollouts)} completions, expected {sampling.group_size}"
                )
            on_group(index, RolloutGroup(problems[index], rollouts))

        async with _client() as client:
            await _all(sample_group(client, index) for index in range(len(problems)))

    async def _sample_turns(self, feed: TurnFeed, sampling: Sampling) -> None:
        stops = StopTexts(sampling.stop, self._policy.decode)
        loop, ready = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop has ended, and its feed with it
                loop.call_soon_threadsafe(ready.set)

        async def sample_turn(client: httpx.AsyncClient, request: TurnRequest) -> None:
            # All turns of an episode go to one server, whose prefix cache has the earlier ones.
            url = self._config.urls[request.key % len(self._config.urls)]
            alone = replace(sampling, group_size=1, max_completion_tokens=request.max_tokens)
            body = {
                "token_ids": request.context_ids,
                "sampling_params": self._parameters(alone, request.seed % 2**31),
            }
            response = await _ask(client, "POST", f"{url}/inference/v1/generate", json=body)
            (rollout,) = self._rollouts(url, request.context_ids, response, stops)
            feed.end(request.key, SampledTurn.of(rollout))
            ready.set()

        feed.on_ready(tell)
        async with _client() as client, asyncio.TaskGroup() as tasks:
            while True:
                ready.clear()
                for request in feed.take(MAX_TURNS_AT_ONCE, wait=False):
                    tasks.create_task(sample_turn(client, request))
                if feed.is_over:
                    break
                with suppress(TimeoutError):
                    await asyncio.wait_for(ready.wait(), feed.seconds_to_limit())

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

    def _rollouts(
        self, url: str, prompt: list[int], response: Any, stops: StopTexts
    ) -> tuple[Rollout, ...]:
        try:
            choices = _Generated.model_validate(response).choices
        except ValidationError as error:
            raise RolloutError(
                f"{url}/inference/v1/generate answered something else than completions with "
                f"log-probabilities and weight versions: {error}"
            ) from error
        return tuple(self._rollout(url, prompt, choice, stops) for choice in choices)

    def _rollout(self, url: str, prompt: list[int], choice: _Choice, stops: StopTexts) -> Rollout:
        versions = [span.version for span in choice.weight_versions]
        if versions != [self.version]:
            raise RolloutError(
                f"{url} sampled a completion with weights of version {versions}, expected "
                f"{self.version!r}: was it restarted, or does another run use it?"
            )
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

    async def _check(self) -> None:
        """Raise ConfigError when a server lacks an option."""
        async with _client() as client:
            for url in self._config.urls:
                await _check_server(client, url)

    async def _update(self) -> None:
        async with _client() as client:

            async def each(method: str, path: str, **arguments: Any) -> list[Any]:
                return await _all(
                    _ask(client, method, url + path, **arguments) for url in self._config.urls
                )

            await each("POST", "/pause", params={"mode": "wait"})
            await self._transfer.send(self._policy.model, each)
            await each("POST", "/update_weight_version", json={"new_version": self.version})
            responses = await each("POST", "/reset_prefix_cache")
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
            return asyncio.run(bounded())
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


async def _check_server(client: httpx.AsyncClient, url: str) -> None:
    """Raise ConfigError when no server runs at the address, or it lacks an option."""
    try:
        response = await client.get(f"{url}/server_info?config_format=json")
    except httpx.RequestError as error:
        raise ConfigError(
            f"rollout.vllm_server.urls: no server at {url} ({error!r}). Start one with "
            "VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-scale-out "
            "--logprobs-mode processed_logprobs"
        ) from error
    if response.status_code == httpx.codes.NOT_FOUND:
        raise ConfigError(f"{url}: start the server with VLLM_SERVER_DEV_MODE=1")
    mode = _logprobs_mode(url, response)
    if mode != "processed_logprobs":
        raise ConfigError(
            f"{url} reports {mode}, which are not those of the distribution it samples "
            "from: start it with --logprobs-mode processed_logprobs"
        )
    probe = await client.post(f"{url}/inference/v1/generate", json={})
    if probe.status_code == httpx.codes.NOT_FOUND:
        raise ConfigError(f"{url}: start the server with --enable-scale-out")


def _logprobs_mode(url: str, response: httpx.Response) -> str:
    """The kind of log-probabilities that a server reports; raises ConfigError if it is no vLLM."""
    try:
        return str(response.json()["vllm_config"]["model_config"]["logprobs_mode"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"rollout.vllm_server.urls: {url} does not answer as a vLLM server: "
            f"/server_info: {response.status_code}: {response.text[:200]}"
        ) from error


def _client() -> httpx.AsyncClient:
    # httpx would give up after 5 seconds and wait for one of 100 connections. A group may take
    # minutes, the servers queue requests, and `_within_deadline` bounds the whole.
    return httpx.AsyncClient(
        timeout=None, limits=httpx.Limits(max_connections=None), trust_env=False
    )


async def _ask(client: httpx.AsyncClient, method: str, url: str, **arguments: Any) -> Any:
    """The JSON of the response, None when it is empty; raises RolloutError."""
    try:
        response = await client.request(method, url, **arguments)
    except httpx.RequestError as error:
        raise RolloutError(f"the vLLM server is gone: {method} {url}: {error!r}") from error
    if response.is_error:
        raise RolloutError(f"{method} {url}: {response.status_code}: {response.text[:500]}")
    try:
        return response.json() if response.content else None
    except ValueError as error:
        raise RolloutError(f"{method} {url}: expected JSON: {response.text[:500]}") from error


async def _all(work: Iterable[Awaitable[T]]) -> list[T]:
    """The results of all; the first error cancels the others and is raised unwrapped."""
    tasks = [asyncio.ensure_future(item) for item in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
