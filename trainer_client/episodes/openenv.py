"""The environment `openenv`: an environment of an OpenEnv server.

    rollout:
      environment:
        path: openenv
        options: {url: "http://127.0.0.1:8080/openenv/{episode}", action: code, form: fenced}

Each message of the policy is an action. `{episode}` in an address stands for a name that no other
episode has; the address of a WebSocket, `ws://127.0.0.1:8000/ws`, needs none.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from trainer_client.episodes.environment import Message
from trainer_client.episodes.openenv_connection import ActionRefused, ServerAnswer, open_connection
from trainer_client.episodes.tool_calls import NO_TEXT, is_text
from trainer_client.problems import Problem

ActionForm = Literal["text", "fenced", "json"]

# The body of a fenced block: ```python\nprint(1)\n```
_BLOCK = re.compile(r"```\w*[ \t]*\n(.*?)```", re.DOTALL)


class OpenEnv:
    """An episode in an environment of a server.

    Args:
        url: address of the server.
        action: field of the action that gets the policy's text.
        form: the text is the whole message, or its last fenced block; `json`: the message is the
            action. A message without a block ends the episode: it is the answer.
        fields: further fields of each action.
        observation: field of the observation that the policy sees; None: all of it, as JSON.
        reset: fields of the request that begins the episode.
        reset_columns: columns of the row that this request gets too.
        show_reset: whether the first observation follows the row's messages. It must be the same
            one for each episode of a problem.
        role: role of the observations.
        seconds: time limit of a request; a server that does not answer loses the group.
        max_output_characters: longest observation; of a longer one the middle is left out.
        token_variable: variable of the process with a bearer token for the server.
    """

    def __init__(
        self,
        url: str,
        *,
        action: str = "message",
        form: ActionForm = "text",
        fields: Mapping[str, Any] | None = None,
        observation: str | None = None,
        reset: Mapping[str, Any] | None = None,
        reset_columns: Sequence[str] = (),
        show_reset: bool = False,
        role: str = "user",
        seconds: float = 60.0,
        max_output_characters: int = 2000,
        token_variable: str | None = None,
    ) -> None:
        if form not in ("text", "fenced", "json"):
            raise ValueError(f"form must be text, fenced or json, found {form!r}")
        self.role = role
        self._action, self._form, self._fields = action, form, dict(fields or {})
        self._field = observation
        self._reset, self._columns = dict(reset or {}), tuple(reset_columns)
        self._shows_reset = show_reset
        self._max_characters = max_output_characters
        address = url.replace("{episode}", uuid.uuid4().hex)
        self._server = open_connection(address, _headers(token_variable), seconds)

    def reset(self, problem: Problem) -> Sequence[Message]:
        """See `Environment`; raises ValueError where the row lacks a column."""
        missing = [name for name in self._columns if name not in problem.columns]
        if missing:
            raise ValueError(f"reset_columns: the row has no column {missing[0]!r}")
        data = {**self._reset, **{name: problem.columns[name] for name in self._columns}}
        try:
            answer = self._server.ask("reset", data)
        except ActionRefused as error:
            raise ValueError(f"the server refuses the reset: {str(error)[:300]}") from error
        if not self._shows_reset:
            return problem.messages
        return [*problem.messages, {"role": self.role, "content": self._shown(answer)}]

    def step(self, message: Message) -> tuple[Any, bool, Mapping[str, float]]:
        """See `Environment`; counts `calls` and `failed_calls`, and has the server's `reward`."""
        action = self._action_of(message["content"])
        if action is None:
            return None, True, {}
        if isinstance(action, Exception):
            return f"error: {action}", False, {"calls": 1, "failed_calls": 1}
        try:
            answer = self._server.ask("step", action)
        except ActionRefused as error:
            shown = self._bounded(f"error: the action is refused: {error}")
            return shown, False, {"calls": 1, "failed_calls": 1}
        reward = {} if answer.reward is None else {"reward": answer.reward}
        return self._shown(answer), answer.done, {"calls": 1, "failed_calls": 0, **reward}

    def close(self) -> None:
        """End the connection."""
        self._server.close()

    def _action_of(self, text: str) -> dict[str, Any] | Exception | None:
        """The action of a message, the error that answers it, or None where it is the answer."""
        if self._form == "json":
            return _json_action(text)
        if self._form == "fenced":
            blocks = _BLOCK.findall(text)
            if not blocks:
                return None
            text = blocks[-1]
        return {**self._fields, self._action: text} if is_text(text) else ValueError(NO_TEXT)

    def _shown(self, answer: ServerAnswer) -> str:
        if self._field is None:
            return self._bounded(json.dumps(answer.observation, ensure_ascii=False))
        value = answer.observation.get(self._field)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return self._bounded(text or "(no output)")

    def _bounded(self, text: str) -> str:
        half = self._max_characters // 2
        return text if len(text) <= 2 * half else f"{text[:half]}\n[...]\n{text[-half:]}"


def _json_action(text: str) -> dict[str, Any] | Exception:
    try:
        action = json.loads(text)
        whole = is_text(json.dumps(action, ensure_ascii=False))
    except (ValueError, RecursionError):
        return ValueError("the message must be a JSON object")
    if not isinstance(action, dict):
        return ValueError("the message must be a JSON object")
    return action if whole else ValueError(NO_TEXT)


def _headers(token_variable: str | None) -> dict[str, str]:
    if token_variable is None:
        return {}
    if not os.environ.get(token_variable):
        raise ValueError(f"token_variable: the variable {token_variable} is not set")
    return {"Authorization": f"Bearer {os.environ[token_variable]}"}
