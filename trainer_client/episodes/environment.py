"""The protocol of environments, and what their steps return.

    class Twice:
        def reset(self, problem):
            return problem.messages

        def step(self, message):
            return "Are you sure?", "sure" in message["content"], {"reward": 0.5}

An environment serves one episode. Its methods are called in threads, one call at a time; those of
two environments run at the same time. It has the rights of the trainer's process: code that the
policy wrote belongs into the service's sandbox (`trainer_client.episodes.python_tool`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

from trainer_client.errors import TrainerError
from trainer_client.problems import Problem
from trainer_client.rollout import RolloutError

Message = dict[str, Any]
"""A chat message with `role` and `content`."""

DEFAULT_ROLE = "user"
"""Role of an observation that is a text, where the environment has no `role` of its own."""


class EnvironmentLost(TrainerError):
    """The environment cannot go on through no fault of the policy; its group is dropped."""


class Environment(Protocol):
    """The other side of one episode.

    It may also have `role` (the role of observations that are texts), `tools` (functions or JSON
    schemas, which the chat template shows the policy), `close()`, called once at the end, and
    `service_seconds`: the time that its calls have waited for a service so far, the call under way
    included. That time is not the episode's; it is read while a call is under way.
    """

    def reset(self, problem: Problem) -> Sequence[Message]:
        """The messages that begin the episode, the same ones for each episode of a problem.

        Raises EnvironmentLost.
        """
        ...

    def step(self, message: Message) -> tuple[Any, bool, Mapping[str, float]]:
        """The reply to a message of the policy: observation, done, extra.

        The observation is a text, a message or a list of messages; when done, it is not shown.
        `extra` has numbers by name, which are summed over the steps and become the metrics
        `episode/NAME`. `reward` is the one that `reward.environment` pays for. Raises
        EnvironmentLost.
        """
        ...


@dataclass(frozen=True)
class StepOutcome:
    """A reply in its one form."""

    observation: tuple[Message, ...]
    done: bool
    extra: dict[str, float]


def read_outcome(result: Any, *, role: str) -> StepOutcome:
    """The reply that a step returned; raises RolloutError where it has another form.

    Args:
        result: of the environment's `step`.
        role: role of an observation that is a text.
    """
    if not isinstance(result, tuple) or len(result) != 3 or not isinstance(result[1], bool):
        raise RolloutError(
            "a step of an environment must return (observation, done, extra), such as "
            f"('try again', False, {{}}), found {_excerpt(result)}"
        )
    observation, done, extra = result
    messages = read_messages(observation, role=role, name="the observation")
    if not done and not messages:
        raise RolloutError("an environment must return an observation unless it is done")
    return StepOutcome(messages, done, _numbers(extra))


def read_messages(value: Any, *, role: str, name: str) -> tuple[Message, ...]:
    """Messages in one of their forms; raises RolloutError.

    Halves of surrogate pairs in their texts become U+FFFD.

    Args:
        value: a text, a message, or a sequence of messages; None: no message.
        role: role of a text.
        name: name of the value in the error.
    """
    if value is None:
        return ()
    if isinstance(value, str):
        return ({"role": role, "content": _whole(value)},)
    messages = [value] if isinstance(value, Mapping) else value
    if not isinstance(messages, Sequence) or not all(map(_is_message, messages)):
        raise RolloutError(
            f"{name} of an environment must be a text or messages with role and content, found "
            f"{_excerpt(value)}"
        )
    return tuple({**message, "content": _whole(message["content"])} for message in messages)


def _whole(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which no tokenizer can read."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("role"), str)
        and isinstance(value.get("content"), str)
    )


def _numbers(extra: Any) -> dict[str, float]:
    """The numbers of a step by name; raises RolloutError."""
    if not isinstance(extra, Mapping):
        raise RolloutError(f"the extra of an environment must be a dict, found {_excerpt(extra)}")
    for name, value in extra.items():
        if not isinstance(name, str) or not isinstance(value, Real) or not math.isfinite(value):
            raise RolloutError(
                "the extra of an environment must have finite numbers by name, found "
                f"{_excerpt(name)}: {_excerpt(value)}"
            )
    return {name: float(value) for name, value in extra.items()}


def _excerpt(value: Any) -> str:
    return repr(value)[:80]
