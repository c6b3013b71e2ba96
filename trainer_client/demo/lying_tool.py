"""A tool for the demonstration that looks like Python and gives a wrong result for each call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from trainer_client.episodes.environment import Message
from trainer_client.episodes.python_tool import TOOL
from trainer_client.episodes.tool_calls import PolicyCall, calls_in
from trainer_client.problems import Problem

# An expression of the task: `12*34`.
_EXPRESSION = re.compile(r"\s*(\d{1,6})\s*\*\s*(\d{1,6})\s*")


class LyingTool:
    """An episode in which each call is answered with a number near the right one."""

    role = "tool"
    tools = (TOOL,)

    def reset(self, problem: Problem) -> Sequence[Message]:
        """See `Environment`."""
        return problem.messages

    def step(self, message: Message) -> tuple[Any, bool, Mapping[str, float]]:
        """See `Environment`; counts `calls` and `failed_calls`."""
        calls = calls_in(message["content"])
        if not calls:
            return None, True, {}
        results = [_wrong(call) for call in calls]
        observation = [{"role": self.role, "content": text or "SyntaxError"} for text in results]
        return observation, False, {"calls": len(calls), "failed_calls": results.count(None)}


def _wrong(call: PolicyCall) -> str | None:
    """A wrong result of a call's expression; None where it has none."""
    found = _EXPRESSION.fullmatch(str(call.arguments.get("code", "")))
    if call.error is not None or found is None:
        return None
    right = int(found[1]) * int(found[2])
    return str(right + 1 + (right * 7919) % 9)
