"""The model, the GPU and the memory of a run, looked at without torch."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from math import prod

import httpx
from tokenizers import Tokenizer

from trainer_client.check.findings import Findings
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.run_config import Config, ConfigError
from trainer_client.errors import first_line
from trainer_client.lost_text import lost_text_warnings, tried_problems
from trainer_client.machine import cuda_problem, free_memory, num_gpus
from trainer_client.memory_estimate import MemoryEstimate, estimate_memory
from trainer_client.model_files import ModelFiles, find_model
from trainer_client.problems import Problem
from trainer_client.prompt_room import no_room_warnings

GIB = 2**30
ASSUMED_PROMPT_TOKENS = 256
TEMPLATE_TOKENS = 32
"""Tokens that a chat template adds to the texts of a prompt, roughly."""
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
SERVER_SECONDS = 10.0
"""Time limit for a vLLM server to say that it lives."""
ADVICE = {
    "weights": "a smaller model, or model.dtype bfloat16",
    "gradients": "model.lora, or model.dtype bfloat16",
    "optimizer": "model.lora, or model.dtype bfloat16",
    "reference": "model.lora, or loss.kl_coefficient 0",
    "reward_models": "reward.models.0.device cpu, or reward.models.0.quantization 4bit",
    "vllm": "a smaller rollout.vllm.gpu_memory_utilization",
    "kv_cache": "a smaller rollout.batch_size, rollout.group_size or rollout.max_completion_tokens",
    "sampling": "a smaller rollout.batch_size or rollout.group_size",
    "logits": "a smaller train.micro_batch_tokens",
    "activations": "train.gradient_checkpointing true, a smaller train.micro_batch_tokens, or "
    "train.offload_activations true",
    "autocast_weights": "model.lora, or model.dtype bfloat16",
}
"""The settings that make a part of the memory smaller."""


def check_model(config: Config, findings: Findings) -> ModelFiles | None:
    """Note the problems of devices, engine and models; returns the policy's files, if they are."""
    findings.problems.extend(_device_problems(config))
    findings.problems.extend(_engine_problems(config))
    for model in config.reward.models:
        with findings.collecting():
            find_model(model.path, "reward.models")
    files = None
    with findings.collecting():
        found = find_model(config.model.path)
        found.config()
        weights = sum(map(prod, found.shapes().values()))
        findings.facts.append(f"model: {weights:,} weights in {config.model.path}")
        files = found
    if files is not None:
        with findings.collecting():
            _check_tokenizer(files, config)
    return files


def check_texts(files: ModelFiles, problems: Sequence[Problem], findings: Findings) -> None:
    """Warn about texts of the problems that the model's tokenizer loses."""
    with findings.collecting():
        tokenizer = _tokenizer(files)
        if tokenizer is not None:
            tried = tried_problems(problems)
            findings.warnings.extend(
                lost_text_warnings(
                    tried,
                    lambda text: tokenizer.decode(
                        tokenizer.encode(text, add_special_tokens=False).ids
                    ),
                )
            )


def check_room(
    files: ModelFiles,
    problems: Sequence[Problem],
    dataset: DatasetConfig,
    findings: Findings,
    *,
    max_completion_tokens: int,
) -> None:
    """Warn where the longest prompt and completion do not fit the model together.

    Tokens of the chat template are not counted, so that each warning holds; `train` counts them.
    """
    with findings.collecting():
        tokenizer, limit = _tokenizer(files), files.max_tokens()
        if tokenizer is None or limit is None:
            return
        lengths = _text_lengths(tokenizer, problems)
        if dataset.on_long_prompt == "skip":
            longest = min(limit - 1, dataset.max_prompt_tokens or limit)
            lengths = [length for length in lengths if length <= longest]
        warnings = no_room_warnings(
            max(lengths, default=0),
            max_completion_tokens=max_completion_tokens,
            limit=limit,
            at_least=True,
        )
        findings.warnings.extend(one for one in warnings if one not in findings.warnings)


def check_memory(
    config: Config, files: ModelFiles, problems: Sequence[Problem], findings: Findings
) -> None:
    """Compare the estimate with the memory that is free.

    What stays through the whole run must fit. Beyond that the estimate is rough, and only warns.
    """
    free = free_memory(config.model.device)
    try:
        estimate = estimate_memory(
            config,
            prompt_tokens=_prompt_tokens(files, problems),
            files=files,
            gpu_bytes=None if free is None else free.gpu_bytes,
        )
    except ConfigError as error:
        findings.warnings.append(f"memory is not estimated: {error}")
        return
    if free is None:
        findings.facts.append(f"memory: about {_gib(estimate.peak)} at the step's peak")
        return
    line = (
        f"memory: about {_gib(estimate.peak)} at the step's peak, {_gib(free.num_bytes)} are free "
        f"on {free.where}"
    )
    if estimate.peak <= free.num_bytes:
        findings.facts.append(line)
    else:
        fits = estimate.state <= free.num_bytes * max(1, num_gpus())  # torchrun splits it
        (findings.warnings if fits else findings.problems).append(f"{line}. {_largest(estimate)}")


def _device_problems(config: Config) -> list[str]:
    wants = []
    if config.model.device == "cuda":
        wants.append(("model.device: cuda", "set it to auto or cpu, or install what is missing"))
    if config.model.quantization is not None:
        wants.append((f"model.quantization: {config.model.quantization}", "leave it out"))
    problem = cuda_problem() if wants else None
    return [f"{what} cannot be used: {problem}; {advice}" for what, advice in wants if problem]


def _engine_problems(config: Config) -> list[str]:
    engine = config.rollout.engine
    if engine == "vllm" and importlib.util.find_spec("vllm") is None:
        return ["rollout.engine: vllm is not installed: pip install 'reward-verifier[vllm]'"]
    if engine != "vllm_server":
        return []
    return [
        f"rollout.vllm_server.urls: no vLLM server answers at {url} ({trouble}); start "
        "`vllm serve` with the flags of docs/training.md, or mend the address"
        for url in config.rollout.vllm_server.urls
        if (trouble := _trouble_of_server(url)) is not None
    ]


def _trouble_of_server(url: str) -> str | None:
    try:
        status = httpx.get(f"{url.rstrip('/')}/health", timeout=SERVER_SECONDS).status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return first_line(error)
    return None if status == 200 else f"status {status} at /health"


def _check_tokenizer(files: ModelFiles, config: Config) -> None:
    """Raise ConfigError where the tokenizer or its chat template is missing."""
    if not any(files.file(name) for name in TOKENIZER_FILES):
        raise ConfigError(
            f"model.path: {files.path!r} has no tokenizer, expected one of "
            f"{', '.join(TOKENIZER_FILES)} beside the weights"
        )
    if config.model.chat_template is None and not files.has_chat_template():
        raise ConfigError(
            f"model.path: the tokenizer of {files.path!r} has no chat template, as that of a base "
            "model; set model.chat_template to a Jinja file, or take the instruct model"
        )


def _tokenizer(files: ModelFiles) -> Tokenizer | None:
    """The tokenizer; None where it is of a form that only transformers can read."""
    path = files.file("tokenizer.json")
    if path is None:
        return None
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:
        raise ConfigError(
            f"{files.setting}: {path} is no tokenizer ({first_line(error)})"
        ) from error


def _prompt_tokens(files: ModelFiles, problems: Sequence[Problem]) -> int:
    """The length of the longest prompt among those that are tried; assumed where it is unknown."""
    try:
        tokenizer = _tokenizer(files)
    except ConfigError:
        return ASSUMED_PROMPT_TOKENS
    if tokenizer is None or not problems:
        return ASSUMED_PROMPT_TOKENS
    return TEMPLATE_TOKENS + max(_text_lengths(tokenizer, problems))


def _text_lengths(tokenizer: Tokenizer, problems: Sequence[Problem]) -> list[int]:
    """Tokens of each prompt among those that are tried, without its chat template."""
    texts = ["\n".join(m["content"] for m in one.messages) for one in tried_problems(problems)]
    encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
    return [len(one.ids) for one in encoded]


def _largest(estimate: MemoryEstimate) -> str:
    """The parts that take most at the peak, and the settings that make the largest smaller."""
    parts = sorted(estimate.peak_parts.items(), key=lambda part: -part[1])[:3]
    named = ", ".join(f"{name} {_gib(size)}" for name, size in parts)
    return f"The largest parts: {named}. Suggested: {ADVICE[parts[0][0]]}"


def _gib(num_bytes: int) -> str:
    size = num_bytes / GIB
    return f"{size:.2f} GiB" if size < 10 else f"{size:,.0f} GiB"
