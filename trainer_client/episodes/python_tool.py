"""The environment `python_tool`: programs that run in a session of the verifier service.

    rollout:
      stop: ["</tool_call>"]
      environment: {path: python_tool}

A message has programs in fenced blocks of Python (`form: fenced`) or in calls of the tool `python`
(`form: calls`). All programs of an episode run in one session, which keeps their variables. A
message without a program ends the episode: it holds the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from reward_verifier.execution import ExecutionResult
from trainer_client.episodes.environment import Message
from trainer_client.episodes.service_calls import ServiceCalls
from trainer_client.episodes.service_client import ServiceClients
from trainer_client.episodes.tool_calls import NO_TEXT, calls_in, is_text
from trainer_client.episodes.tool_session import ToolSession
from trainer_client.problems import Problem

Form = Literal["calls", "fenced"]

DEFAULT_SECONDS = 10.0
"""Time limit of one program, where the options have none."""
MAX_PROGRAMS = 8
"""Programs of one message that are run; the others are answered with an error."""
MAX_PROGRAM_CHARACTERS = 100_000
"""Longest program that is run. The service takes a call of up to 1 MiB of JSON, which six bytes for
each character stay below, and what it refuses would lose the episode."""
# A block of Python: ```python\nprint(1)\n```
_BLOCK = re.compile(r"```(?:python|py)[ \t]*\n(.*?)```", re.DOTALL)

TOOL = {
    "type": "function",
    "function": {
        "name": "python",
        "description": "Run Python code. Variables stay from one call to the next. The result is "
        "what the code prints and the value of its last expression.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "the code to run"}},
            "required": ["code"],
        },
    },
}
"""JSON schema of the tool, for chat templates."""


class PythonTool:
    """An episode with one session, which is opened at the first program.

    Args:
        calls: to the service that runs the programs.
        form: where programs stand in a message.
        seconds: time limit of one program.
        max_output_characters: longest output of a program that the policy sees; of a longer one
            the middle is left out.
    """

    def __init__(
        self,
        calls: ServiceCalls,
        *,
        form: Form = "calls",
        seconds: float = DEFAULT_SECONDS,
        max_output_characters: int = 2000,
    ) -> None:
        if form not in ("calls", "fenced"):
            raise ValueError(f"form must be calls or fenced, found {form!r}")
        self.role = "tool" if form == "calls" else "user"
        self.tools = [TOOL] if form == "calls" else []
        self._form = form
        self._max_characters = max_output_characters
        opening = {"language": "python", "limits": {"seconds": seconds}}
        self._calls = calls
        self._session = ToolSession(self._calls, opening)

    @classmethod
    def of(cls, clients: ServiceClients, url: str | None = None, **options: Any) -> PythonTool:
        """The environment at a service; without an address, at the one that scores."""
        return cls(clients.calls(url), **options)

    @property
    def service_seconds(self) -> float:
        """See `Environment`: the programs' own time is the episode's."""
        return self._calls.service_seconds

    def reset(self, problem: Problem) -> Sequence[Message]:
        """See `Environment`."""
        return problem.messages

    def step(self, message: Message) -> tuple[Any, bool, Mapping[str, float]]:
        """See `Environment`; counts `calls` and `failed_calls`."""
        programs = self._programs(message["content"])
        if not programs:
            return None, True, {}
        answers = [self._answer(one, number) for number, one in enumerate(programs)]
        failed = sum(not succeeded for _, succeeded in answers)
        observation = [{"role": self.role, "content": text} for text, _ in answers]
        if self._form == "fenced":
            joined = "\n".join(f"```output\n{text}\n```" for text, _ in answers)
            observation = [{"role": self.role, "content": joined}]
        return observation, False, {"calls": len(programs), "failed_calls": failed}

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def _programs(self, text: str) -> list[str | Exception]:
        """The programs of a message; an error stands for a call that has none."""
        if self._form == "fenced":
            blocks = _BLOCK.findall(text)
            return [block if is_text(block) else ValueError(NO_TEXT) for block in blocks]
        return [_program(call.name, call.arguments, call.error) for call in calls_in(text)]

    def _answer(self, program: str | Exception, number: int) -> tuple[str, bool]:
        """The text that answers a program, and whether it succeeded."""
        if isinstance(program, Exception):
            return f"error: {program}", False
        if len(program) > MAX_PROGRAM_CHARACTERS:
            return f"error: a program has at most {MAX_PROGRAM_CHARACTERS:,} characters", False
        if number >= MAX_PROGRAMS:
            return f"error: only {MAX_PROGRAMS} programs of a message are run", False
        result = self._session.run(program)
        if result.session == "ended":
            self._session.close()
            self._session = self._session.renewed()
        return self._shown(result), result.reason == "completed"

    def _shown(self, result: ExecutionResult) -> str:
        parts = [result.stdout, result.value, result.stderr]
        if result.error is not None:
            parts.append(f"{result.error['name']}: {result.error['message']}")
        elif result.reason != "completed":
            parts.append(result.reason)
        if result.session == "ended":
            parts.append("the interpreter has ended: variables are lost")
        text = "\n".join(part.rstrip("\n") for part in parts if part) or "(no output)"
        if len(text) <= self._max_characters:
            return text
        half = self._max_characters // 2
        return f"{text[:half]}\n[...]\n{text[-half:]}"


def _program(name: str, arguments: Mapping[str, Any], error: str | None) -> str | Exception:
    """The program of a call, or the error that answers the call."""
    code = arguments.get("code")
    if error is not None:
        return ValueError(error)
    if name != "python":
        return ValueError(f"there is no tool {name[:80]!r}, only python")
    if not isinstance(code, str):
        return ValueError("the tool python needs the argument code, a text")
    return code
