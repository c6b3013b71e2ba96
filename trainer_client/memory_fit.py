"""Settings with which a run fits a GPU, tried in the order in which they cost least."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trainer_client.config.run_config import Config, ConfigError, load_config
from trainer_client.memory_estimate import MemoryEstimate, estimate_memory
from trainer_client.model_files import find_model

OVERHEAD_BYTES = 2**30
"""The CUDA context and the allocator's own memory, roughly."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(GiB|GB|G)?", re.IGNORECASE)


@dataclass(frozen=True)
class Fit:
    """Changes of settings, and the memory that the run takes with all of them."""

    changes: tuple[str, ...]
    """`section.key=value` of each, as on the command line; none: the run as it is."""
    estimate: MemoryEstimate
    room: int
    """Bytes that the run may take."""

    @property
    def fits(self) -> bool:
        """Whether the step's peak is within the room."""
        return self.estimate.peak <= self.room


def gpu_bytes(text: str) -> int:
    """The size of a GPU's memory; raises ConfigError.

    >>> gpu_bytes("24GiB") == gpu_bytes("24") == 24 * 2**30
    True
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None or not float(found[1]):
        raise ConfigError(f"--gpu: found {text!r}, expected a size such as 24GiB")
    return int(float(found[1]) * (10**9 if (found[2] or "").upper() == "GB" else 2**30))


def fits_of(
    path: Path, overrides: Sequence[str], num_bytes: int, *, prompt_tokens: int
) -> list[Fit]:
    """The run as it is, then with one change more each time, until it fits.

    Changes of speed alone come first, then those of what is trained. The last entry fits, or
    nothing here makes the run fit.

    Args:
        path: the run's configuration.
        overrides: settings that win over the file's.
        num_bytes: memory of the GPU.
        prompt_tokens: length of a prompt.

    Raises:
        ConfigError: the configuration or the model cannot be read.
    """
    overrides = [*overrides, "model.device=auto"]  # on a CPU offloading would save nothing
    config = load_config(path, overrides)
    files = find_model(config.model.path)
    room = num_bytes - OVERHEAD_BYTES
    changes: dict[str, str] = {}
    estimate_of = partial(
        estimate_memory, prompt_tokens=prompt_tokens, files=files, gpu_bytes=num_bytes
    )
    estimate = estimate_of(config)
    found = [Fit((), estimate, room)]
    for setting, value in _changes(config, prompt_tokens):
        if found[-1].fits:
            break
        others = {name: other for name, other in changes.items() if name != setting}
        tried = _joined({**others, setting: value})
        try:
            changed = load_config(path, [*overrides, *tried])
        except ConfigError:
            continue  # it does not go with another setting of the run
        estimate = estimate_of(changed)
        if estimate.peak < found[-1].estimate.peak:
            changes = {**others, setting: value}
            found.append(Fit(tried, estimate, room))
    return found


def _joined(changes: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{setting}={value}" for setting, value in changes.items())


def _changes(config: Config, prompt_tokens: int) -> Iterator[tuple[str, str]]:
    longest = prompt_tokens + config.rollout.max_completion_tokens
    yield from _halves("train.micro_batch_tokens", config.train.micro_batch_tokens, longest)
    yield from _halves("rollout.batch_size", config.rollout.batch_size, config.rollout.group_size)
    yield "train.gradient_checkpointing", "true"
    yield "train.offload", "true"
    yield "train.offload_activations", "true"
    if config.model.lora is None:
        yield "model.lora", "{rank: 16}"
    # Weights that are trained stay float32: a small step would be lost in bfloat16.
    yield "model.dtype", "bfloat16"
    yield "model.quantization", "4bit"


def _halves(setting: str, value: int, least: int) -> Iterator[tuple[str, str]]:
    while value // 2 >= least:
        value //= 2
        yield setting, str(value)


def fit_lines(fits: Sequence[Fit]) -> Iterator[str]:
    """The fits in words: the peak with each further change, and the command line of the last."""
    last = fits[-1]
    yield f"room for about {last.room / 2**30:.1f} GiB, without the CUDA context"
    for fit in fits:
        change = fit.changes[-1] if fit.changes else "as it is"
        yield f"{fit.estimate.peak / 2**30:8.1f} GiB  {change}"
    if not last.fits:
        yield "it does not fit: a smaller model, shorter completions, or several GPUs (torchrun)"
    elif last.changes:
        yield f"it fits with {shlex.join(last.changes)}"
    else:
        yield "it fits"
