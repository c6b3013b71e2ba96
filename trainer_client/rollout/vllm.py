"""Rollouts by vLLM in the trainer's own process, sharing its GPU.

The engine starts with random weights and gets the policy's as tensors, never through a disk. On a
GPU it sleeps while the policy is trained: its weights are dropped and its KV cache is freed.

vLLM is imported only here, and only when the engine is made: most installations do not have it.
"""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from trainer_client.config.rollout_section import LoraWeights, VllmConfig
from trainer_client.config.run_config import ConfigError
from trainer_client.policy.lora import has_adapter
from trainer_client.policy.policy import Policy
from trainer_client.policy.weights import Weights, base_weights, checkpoint_weights
from trainer_client.problems import Problem
from trainer_client.rollout import Rollout, RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.adapter_transfer import AdapterFolder, unsupported_adapter
from trainer_client.rollout.stop_texts import StopTexts, finished_rollout
from trainer_client.rollout.turns import (
    MAX_TURNS_AT_ONCE,
    SampledTurn,
    TurnFeed,
    TurnRequest,
)

VLLM_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks that vLLM has room for; an adapter takes the next larger one."""


class VllmEngine:
    """Samples with vLLM in this process.

    Raises:
        ConfigError: vLLM is not installed, or does not start.
    """

    def __init__(
        self, policy: Policy, config: VllmConfig, *, seed: int, lora_weights: LoraWeights = "auto"
    ) -> None:
        # Otherwise vLLM starts a process of its own, which cannot be handed tensors. vLLM reads the
        # variable when it is imported.
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
        try:
            self._vllm = importlib.import_module("vllm")
            vllm_error: type[Exception] = importlib.import_module("vllm.exceptions").VLLMError
        except ImportError as error:
            raise ConfigError(
                f"rollout.engine vllm needs vLLM in this environment ({error}): "
                "pip install 'reward-verifier[vllm]', or use vllm_server"
            ) from error
        self._policy = policy
        self._errors = (vllm_error, RuntimeError, ValueError, KeyError)
        self._sleeps = policy.device.type == "cuda"
        self._asleep = False
        self._updates = 0
        self._adapters = _adapter_folder(policy, lora_weights)
        self._adapter: Any = None
        self._llm: Any = self._start(config, seed)

    def update_weights(self) -> None:
        """See `RolloutEngine`."""
        with self._named_errors("vLLM did not take the policy's weights"):
            if self._asleep:
                self._llm.wake_up(tags=["weights"])
            if self._adapters is None:
                self._reload(checkpoint_weights(self._policy.model))
            elif not self._updates:
                self._reload(base_weights(self._policy.model))
            if self._asleep:
                self._llm.wake_up(tags=["kv_cache"])
                self._asleep = False
            self._updates += 1
            if self._adapters is not None:
                self._load_adapter(self._adapters)
            self._llm.update_weight_version(str(self._updates))
            emptied = self._llm.reset_prefix_cache()
        if not emptied:
            raise RolloutError("vLLM kept its prefix cache, which belongs to the old weights")

    def _reload(self, weights: Weights) -> None:
        self._llm.collective_rpc("reload_weights", kwargs={"weights_iterator": weights})

    def _load_adapter(self, adapters: AdapterFolder) -> None:
        engine = self._llm.llm_engine
        if self._adapter is not None:
            engine.remove_lora(self._adapter.lora_int_id)
        folder = adapters.write(self._policy.model, self._updates)
        request = importlib.import_module("vllm.lora.request").LoRARequest
        self._adapter = request(str(self._updates), self._updates, str(folder))
        engine.add_lora(self._adapter)

    def generate(
        self,
        problems: Sequence[Problem],
        sampling: Sampling,
        on_group: Callable[[int, RolloutGroup], None],
    ) -> None:
        """See `RolloutEngine`."""
        if self._asleep:
            self.update_weights()
        engine = self._llm.llm_engine
        prompts = [
            self._policy.prompt_ids(problem.messages, problem.template_variables)
            for problem in problems
        ]
        parameters = self._parameters(sampling, len(prompts))
        stops = StopTexts(sampling.stop, self._policy.decode)
        with self._named_errors("vLLM cannot sample"):
            for index, prompt in enumerate(prompts):
                engine.add_request(
                    str(index),
                    {"prompt_token_ids": prompt},
                    parameters[index],
                    lora_request=self._adapter,
                )
        while engine.has_unfinished_requests():
            with self._named_errors("vLLM cannot sample"):
                outputs = engine.step()
            for output in outputs:
                if output.finished:
                    index = int(output.request_id)
                    rollouts = tuple(
                        self._rollout(prompts[index], choice, stops) for choice in output.outputs
                    )
                    if len(rollouts) != sampling.group_size:
                        raise RolloutError(
                            f"vLLM returned {len(rollouts)} completions, "
                            f"expected {sampling.group_size}"
                        )
                    on_group(index, RolloutGroup(problems[index], rollouts))
        self._sleep()

    def sample_turns(self, feed: TurnFeed, sampling: Sampling) -> None:
        """See `TurnEngine`; turns that become ready join the batch that is being sampled."""
        if self._asleep:
            self.update_weights()
        engine = self._llm.llm_engine
        stops = StopTexts(sampling.stop, self._policy.decode)
        live: dict[str, TurnRequest] = {}
        names = (f"turn {number}" for number in itertools.count())
        try:
            while not feed.is_over:
                for request in feed.take(MAX_TURNS_AT_ONCE, wait=not live):
                    name = next(names)
                    live[name] = request
                    self._add_turn(name, request, sampling)
                for name, choice in self._finished() if live else ():
                    request = live.pop(name)
                    rollout = self._rollout(request.context_ids, choice, stops)
                    feed.end(request.key, SampledTurn.of(rollout))
        finally:
            # Turns of lost groups, and of all groups after an error: the next call shall not
            # receive them.
            engine.abort_request(list(live))
        self._sleep()

    def _add_turn(self, name: str, request: TurnRequest, sampling: Sampling) -> None:
        alone = replace(sampling, group_size=1, max_completion_tokens=request.max_tokens)
        parameters = self._parameters_of(alone, request.seed % 2**31)
        with self._named_errors("vLLM cannot sample"):
            self._llm.llm_engine.add_request(
                name, {"prompt_token_ids": request.context_ids}, parameters
            )

    def _finished(self) -> Iterator[tuple[str, Any]]:
        """Name and completion of the turns that end in the next step of the engine."""
        with self._named_errors("vLLM cannot sample"):
            outputs = self._llm.llm_engine.step()
        for output in outputs:
            if output.finished:
                (choice,) = output.outputs
                yield output.request_id, choice

    def _sleep(self) -> None:
        """Free the engine's memory on a GPU."""
        if self._sleeps:
            with self._named_errors("vLLM does not free its memory"):
                # Weights that are not sent again, a frozen base, wait in CPU memory.
                self._llm.sleep(level=2 if self._adapters is None else 1)
            self._asleep = True

    def close(self) -> None:
        """Shut the engine down."""
        self._llm.llm_engine.engine_core.shutdown()
        if self._adapters is not None:
            self._adapters.close()

    def _start(self, config: VllmConfig, seed: int) -> Any:
        model = self._policy.model
        try:
            return self._vllm.LLM(
                model.config.name_or_path,
                load_format="dummy",
                dtype=str(model.dtype).removeprefix("torch."),
                # The default reports log-probabilities before temperature and top_p, so not those
                # of the distribution that is sampled from.
                logprobs_mode="processed_logprobs",
                # The default is the model's own generation config, whose top_k or penalties would
                # make the completions no samples of the policy.
                generation_config="vllm",
                skip_tokenizer_init=True,
                enable_sleep_mode=self._sleeps,
                gpu_memory_utilization=config.gpu_memory_utilization,
                max_model_len=config.max_model_tokens,
                enforce_eager=not config.compile,
                seed=seed,
                # vLLM's CPU build packs a tied output layer once: it would keep its first weights.
                hf_overrides={} if self._sleeps else {"tie_word_embeddings": False},
                distributed_executor_backend="uni",
                **self._lora_options(),
            )
        except (*self._errors, OSError) as error:
            raise ConfigError(f"vLLM does not start: {error}") from error

    def _lora_options(self) -> dict[str, Any]:
        if self._adapters is None:
            return {}
        rank = max(one.r for one in self._policy.model.peft_config.values())
        largest = next(size for size in VLLM_RANKS if size >= rank)
        return {"enable_lora": True, "max_loras": 1, "max_lora_rank": largest}

    @contextmanager
    def _named_errors(self, message: str) -> Iterator[None]:
        """Inside, errors of vLLM become a RolloutError, such as that of a prompt too long."""
        try:
            yield
        except self._errors as error:
            raise RolloutError(f"{message}: {error}") from error

    def _parameters(self, sampling: Sampling, count: int) -> list[Any]:
        generator = None if sampling.seed is None else torch.Generator().manual_seed(sampling.seed)
        # Drawn from torch's generator when there is no seed: its state is in the checkpoints.
        seeds = torch.randint(2**31, (count,), generator=generator).tolist()
        return [self._parameters_of(sampling, seed) for seed in seeds]

    def _parameters_of(self, sampling: Sampling, seed: int) -> Any:
        return self._vllm.SamplingParams(
            n=sampling.group_size,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k or 0,
            min_p=sampling.min_p,
            repetition_penalty=sampling.repetition_penalty,
            max_tokens=sampling.max_completion_tokens,
            stop_token_ids=list(self._policy.eos_ids),
            logprobs=0,
            detokenize=False,
            seed=seed,
            output_kind=self._vllm.sampling_params.RequestOutputKind.FINAL_ONLY,
        )

    def _rollout(self, prompt: list[int], choice: Any, stops: StopTexts) -> Rollout:
        versions = [span.version for span in choice.weight_versions]
        if versions != [str(self._updates)]:
            raise RolloutError(
                f"a completion was sampled with the weights of update {versions}, "
                f"expected {self._updates}"
            )
        ids = tuple(choice.token_ids)
        if choice.finish_reason not in ("stop", "length") or not ids:
            raise RolloutError(
                f"vLLM ended a completion of {len(ids)} tokens with {choice.finish_reason!r}"
            )
        logprobs = [found[token].logprob for token, found in zip(ids, choice.logprobs, strict=True)]
        return finished_rollout(self._policy, prompt, ids, logprobs, stops)


def _adapter_folder(policy: Policy, lora_weights: LoraWeights) -> AdapterFolder | None:
    """The folder of adapters that are sent alone; None: whole weights are. Raises ConfigError."""
    if not has_adapter(policy.model) or lora_weights == "merged":
        return None
    rank = max(one.r for one in policy.model.peft_config.values())
    refusal = unsupported_adapter(policy.model)
    if rank > VLLM_RANKS[-1]:
        refusal = f"vLLM takes ranks up to {VLLM_RANKS[-1]}, and the adapter has {rank}"
    if refusal is None:
        return AdapterFolder(policy.model)
    if lora_weights == "adapter":
        raise ConfigError(f"rollout.lora_weights adapter: {refusal}")
    return None
