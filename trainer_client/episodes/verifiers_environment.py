"""The environment `verifiers`: an environment of the package `verifiers`, as it stands.

    rollout:
      environment: {path: verifiers, options: {environment: "my_env:load_environment"}}
    reward: {verifiers: [], environment: {weight: 1.0}}

The environment's own `rollout` runs, with a client whose model is the policy: each of its requests
ends an observation, and each message of the policy is the response. Its rubric gives the reward.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import queue
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from typing import Any

from trainer_client.episodes.environment import EnvironmentLost, Message
from trainer_client.episodes.tool_calls import calls_in
from trainer_client.problems import Problem
from trainer_client.python_file import from_file

_ADVICE = "pip install 'verifiers<0.4'"
_Event = tuple[str, Any]
"""`asked` with the messages of a request, `ended` with the state, or `failed` with an error."""


class VerifiersEnvironment:
    """An episode that an environment of `verifiers` conducts.

    The row's prompt, `answer` and `info` are the environment's; `dataset.path` is its data set in a
    file (`load_environment(...).get_dataset().to_json("rows.jsonl")`).

    Args:
        environment: file.py:function or package.module:function that loads the environment, or the
            id of one that is installed.
        arguments: of that function.

    Raises:
        ValueError: the package is not installed, or has no such environments, as from 0.4 on.
    """

    role = "user"

    def __init__(self, environment: str, arguments: Mapping[str, Any] | None = None) -> None:
        self._loaded = _loaded(environment, json.dumps(dict(arguments or {}), sort_keys=True))
        self.tools = [_schema(tool) for tool in self._loaded.tool_defs or ()]
        if self.tools:
            self.role = "tool"
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._response: Future[str] | None = None
        self._rollout: Future[None] | None = None
        self._prompt: list[Message] = []

    def reset(self, problem: Problem) -> Sequence[Message]:
        """See `Environment`."""
        row = {
            "prompt": list(problem.messages),
            "answer": problem.reference.get("answer", ""),
            "info": problem.columns.get("info") or {},
            "example_id": problem.columns.get("example_id", 0),
        }
        self._rollout = asyncio.run_coroutine_threadsafe(self._conducted(row), _loop())
        event, value = self._events.get()
        if event != "asked":
            raise self._error(event, value)
        self._prompt = value
        return self._prompt

    def step(self, message: Message) -> tuple[Any, bool, Mapping[str, float]]:
        """See `Environment`; the last step has `reward` and the rubric's numbers by their names."""
        response = self._response
        assert response is not None, "reset comes first"
        response.set_result(message["content"])
        event, value = self._events.get()
        if event == "asked":
            num_seen = len(self._prompt)
            if value[:num_seen] != self._prompt or len(value) < num_seen + 2:
                raise RuntimeError(
                    "the environment rewrites its messages between two requests, so that the "
                    "tokens of earlier turns would not be those that were sampled"
                )
            self._prompt = value
            return value[num_seen + 1 :], False, {}
        if event == "failed" or _is_lost(value):
            raise self._error(event, value)
        numbers = {name: float(number) for name, number in (value["metrics"] or {}).items()}
        return None, True, {**numbers, "reward": float(value["reward"])}

    def close(self) -> None:
        """Cancel a rollout that is under way; its environment then cleans up."""
        if self._rollout is not None:
            self._rollout.cancel()

    async def _conducted(self, row: dict[str, Any]) -> None:
        """Run the environment's rollout, and tell its requests and its end."""
        try:
            client = _client_class()(self._asked)
            state = await self._loaded.rollout(row, client, "policy", {})
            if not _is_lost(state):
                await self._loaded.rubric.score_rollout(state)
        # `step` tells a bug of the environment from an environment that is lost.
        except Exception as error:  # noqa: BLE001
            self._events.put(("failed", error))
        else:
            self._events.put(("ended", state))

    async def _asked(self, prompt: Sequence[Any]) -> str:
        """The policy's message after these messages."""
        self._response = Future()
        self._events.put(("asked", [_plain(one) for one in prompt]))
        return await asyncio.wrap_future(self._response)

    def _error(self, event: str, value: Any) -> Exception:
        if event == "failed":
            assert isinstance(value, Exception)
            return value
        error = value.get("error")
        if error is None:
            return RuntimeError("the environment ended before it asked the policy for a message")
        return EnvironmentLost(f"{type(error).__name__}: {error}")


def _is_lost(state: Any) -> bool:
    """Whether a rollout ended by an error that is no fault of the policy."""
    error = state.get("error")
    faults = importlib.import_module("verifiers").ToolError
    return error is not None and not isinstance(error, faults)


def _plain(message: Any) -> Message:
    """Role and content of a message of `verifiers`, the calls of the assistant in its text."""
    values = message if isinstance(message, Mapping) else message.model_dump()
    content = values.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content if isinstance(part, Mapping))
    return {"role": values["role"], "content": content}


def _schema(tool: Any) -> dict[str, Any]:
    values = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": values}


@cache
def _loaded(environment: str, arguments: str) -> Any:
    """The environment, which all episodes of a process share; raises ValueError."""
    try:
        package = importlib.import_module("verifiers")
    except ImportError as error:
        raise ValueError(f"verifiers is not installed ({error}): {_ADVICE}") from error
    if importlib.util.find_spec("verifiers.legacy") is None:
        raise ValueError(
            f"verifiers {package.__version__} has no environments with a `rollout` of their own, "
            f"which ended with 0.3: {_ADVICE}"
        )
    place, _, name = environment.rpartition(":")
    if not place:
        return package.load_environment(environment, **json.loads(arguments))
    module = from_file(place) if place.endswith(".py") else importlib.import_module(place)
    return getattr(module, name)(**json.loads(arguments))


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all environments, in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


@cache
def _client_class() -> type:
    """The class of a client whose model is a function that awaits the policy."""
    package: Any = importlib.import_module("verifiers.legacy.clients")
    types: Any = importlib.import_module("verifiers.legacy.types")

    class PolicyClient(package.Client):  # type: ignore[misc]
        """Gives the policy's messages as responses."""

        async def get_response(
            self, prompt: Any, model: str, sampling_args: Any, tools: Any = None, **_: Any
        ) -> Any:
            """The policy's message, its calls read."""
            text = await self._client(prompt)
            calls = [
                types.ToolCall(
                    id=f"call_{number}",
                    name=call.name,
                    arguments="" if call.error else json.dumps(call.arguments),
                )
                for number, call in enumerate(calls_in(text))
            ]
            message = types.ResponseMessage(
                content=text,
                tool_calls=calls or None,
                finish_reason="tool_calls" if calls else "stop",
                is_truncated=False,
            )
            return types.Response(id="policy", created=0, model=model, message=message)

        async def close(self) -> None:
            """Nothing to close."""

    for name in PolicyClient.__abstractmethods__ - {"get_response", "close"}:
        setattr(PolicyClient, name, None)  # `get_response` calls none of them
    with suppress(AttributeError):
        PolicyClient.__abstractmethods__ = frozenset()
    return PolicyClient
