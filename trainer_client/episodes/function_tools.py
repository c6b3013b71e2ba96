"""The environment `functions`: Python functions with type hints as the policy's tools.

    rollout:
      environment: {path: functions, options: {paths: ["tools.py:add", "tools.py:lookup"]}}

The chat template shows the policy each function's JSON schema, which `transformers` makes of its
type hints and docstring. The functions run in the trainer's process, so none of them may execute
what the policy writes.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from transformers.utils import get_json_schema

from trainer_client.episodes.environment import EnvironmentLost, Message
from trainer_client.episodes.tool_calls import PolicyCall, calls_in
from trainer_client.problems import Problem
from trainer_client.python_file import from_file
from trainer_client.rollout.daemon_thread import start_daemon

MAX_RESULT_CHARACTERS = 4000
"""Longest result of a call that the policy sees; of a longer one, the beginning."""


class FunctionTools:
    """An episode in which the policy may call functions; a message without a call ends it.

    Calls of one message run at the same time, and their results stand in the order of the calls.

    Args:
        paths: functions as file.py:name.
    """

    role = "tool"

    def __init__(self, paths: Sequence[str]) -> None:
        self._functions = {path.rpartition(":")[2]: _function(path) for path in paths}
        self.tools = [_schema(path) for path in paths]

    def reset(self, problem: Problem) -> Sequence[Message]:
        """See `Environment`."""
        return problem.messages

    def step(self, message: Message) -> tuple[Any, bool, Mapping[str, float]]:
        """See `Environment`; counts `calls` and `failed_calls`."""
        calls = calls_in(message["content"])
        if not calls:
            return None, True, {}
        pending = [start_daemon(lambda call=call: self._result(call)) for call in calls]  # type: ignore[misc]
        results = [future.result() for future in pending]
        failed = sum(not succeeded for _, succeeded in results)
        observation = [{"role": self.role, "content": text} for text, _ in results]
        return observation, False, {"calls": len(calls), "failed_calls": failed}

    def _result(self, call: PolicyCall) -> tuple[str, bool]:
        """The text that answers a call, and whether the call succeeded."""
        if call.error is not None:
            return f"error: {call.error}", False
        function = self._functions.get(call.name)
        if function is None:
            names = ", ".join(self._functions)
            return f"error: there is no tool {call.name[:80]!r}, only {names}", False
        try:
            inspect.signature(function).bind(**call.arguments)
            result = function(**call.arguments)
        except EnvironmentLost:
            raise
        # Whatever a function raises is for the policy to see: it chose the arguments.
        except Exception as error:  # noqa: BLE001
            return f"error: {type(error).__name__}: {error}"[:MAX_RESULT_CHARACTERS], False
        return _text(result)[:MAX_RESULT_CHARACTERS], True


def _text(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result, default=str)


@cache
def _function(path: str) -> Callable[..., Any]:
    function = getattr(from_file(path.rpartition(":")[0]), path.rpartition(":")[2], None)
    if not callable(function):
        raise ValueError(f"there is no function at {path!r}, expected file.py:name")
    found: Callable[..., Any] = function
    return found


@cache
def _schema(path: str) -> dict[str, Any]:
    schema: dict[str, Any] = get_json_schema(_function(path))
    return schema
