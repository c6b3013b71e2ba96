"""Environments and a chat template for tests of episodes on the tiny model."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from tests.trainer_client.device import DEVICE
from tests.trainer_client.runs import run_config
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.run_config import Config
from trainer_client.episodes.environment import EnvironmentLost
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.problems import Problem
from trainer_client.rollout import Sampling
from trainer_client.rollout.turns import SampledTurn, TurnFeed

TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


class Echo:
    """Answers with the number of the message; ends after `num_turns`."""

    closed: list[int] = []  # noqa: RUF012 - the test empties it
    lock = threading.Lock()

    def __init__(self, num_turns: int = 3, role: str = "user") -> None:
        self.num_turns = num_turns
        self.role = role
        self.seen: list[str] = []

    def reset(self, problem: Problem) -> Sequence[dict[str, Any]]:
        return problem.messages

    def step(self, message: dict[str, Any]) -> tuple[Any, bool, dict[str, float]]:
        self.seen.append(message["content"])
        number = len(self.seen)
        return f"got {number}", number == self.num_turns, {"reward": number, "steps": 1}

    def close(self) -> None:
        with self.lock:
            self.closed.append(id(self))


class Erratic:
    """Ends at random, with observations of random lengths, one or two at a time."""

    role = "tool"
    number = 0
    lock = threading.Lock()

    def __init__(self) -> None:
        with self.lock:
            Erratic.number += 1
            self.random = random.Random(Erratic.number)

    def reset(self, problem: Problem) -> Sequence[dict[str, Any]]:
        return problem.messages

    def step(self, message: dict[str, Any]) -> tuple[Any, bool, dict[str, float]]:
        if self.random.random() < 0.3:
            return None, True, {}
        texts = [
            "".join(self.random.choices("abc 123", k=self.random.randrange(1, 12)))
            for _ in range(self.random.randrange(1, 3))
        ]
        return [{"role": "tool", "content": text} for text in texts], False, {}


class Breaks:
    """Is lost at the second step of episodes whose problem begins with a 1."""

    def reset(self, problem: Problem) -> Sequence[dict[str, Any]]:
        self.breaks = problem.text.startswith("1")
        self.num_steps = 0
        return problem.messages

    def step(self, message: dict[str, Any]) -> tuple[Any, bool, dict[str, float]]:
        self.num_steps += 1
        if self.breaks and self.num_steps == 2:
            raise EnvironmentLost("the tool has gone")
        return "more", self.num_steps == 2, {}


class Scripted:
    """A turn engine whose policy says given texts, message after message."""

    def __init__(
        self, policy: Policy, say: Callable[[int, int], str], *, ends: bool = True
    ) -> None:
        self._policy = policy
        self._say = say
        self._ends = ends
        self.contexts: list[list[int]] = []

    def sample_turns(self, feed: TurnFeed, sampling: Sampling) -> None:
        spoken: dict[int, int] = {}
        while requests := feed.take(2):
            for request in requests:
                self.contexts.append(request.context_ids)
                number = spoken[request.key] = spoken.get(request.key, -1) + 1
                text = self._say(request.key, number)
                ids = self._policy.tokenizer.encode(text, add_special_tokens=False)
                ids = [*ids, self._policy.eos_ids[0]] if self._ends else ids
                ended = self._ends and len(ids) <= request.max_tokens
                ids = ids[: request.max_tokens]
                feed.end(request.key, SampledTurn(ids, [-1.0] * len(ids), ended))

    def update_weights(self) -> None:
        pass

    def generate(self, *arguments: Any) -> None:
        raise AssertionError("episodes sample turns")

    def close(self) -> None:
        pass


def chatty_model(task: Path, folder: Path) -> Path:
    """The tiny model with a chat template of turns, most of whose messages end soon."""
    policy = load_policy(ModelConfig(path=str(task / "model"), device=DEVICE))
    policy.tokenizer.chat_template = TEMPLATE
    embeddings = policy.model.get_output_embeddings().weight
    with torch.no_grad():
        embeddings[policy.eos_ids[0]] *= 40
    policy.save(folder)
    return folder


def episode_config(
    task: Path, run_dir: Path, model: Path, environment: dict[str, Any], **sections: Any
) -> Config:
    """A short run with an environment of this file, named by its class, or another one."""
    path = environment["path"]
    environment = {**environment, "path": path if ":" in path or path.islower() else _here(path)}
    rollout = {
        "prompts_per_step": 4,
        "group_size": 4,
        "max_completion_tokens": 60,
        "environment": environment,
        **sections.pop("rollout", {}),
    }
    return run_config(
        task, run_dir, model={"path": str(model), "device": DEVICE}, rollout=rollout, **sections
    )


def _here(name: str) -> str:
    return f"{__name__}:{name}"
