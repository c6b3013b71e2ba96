"""The environment `openenv`: HTTP at the service's own server, WebSockets at a small one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from websockets.protocol import State
from websockets.sync.server import ServerConnection, serve

from trainer_client.episodes.environment import EnvironmentLost
from trainer_client.episodes.openenv import OpenEnv
from trainer_client.episodes.openenv_connection import SocketConnection
from trainer_client.episodes.tool_calls import NO_TEXT
from trainer_client.problems import Problem

PROBLEM = Problem(
    "1", ({"role": "user", "content": "17*23?"},), {"answer": "391"}, columns={"task": "multiply"}
)


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def fenced(code: str) -> dict[str, Any]:
    return said(f"So:\n```python\n{code}\n```")


def test_episodes_at_the_service_keep_their_state_and_share_none(service_url: str) -> None:
    url = f"{service_url}/openenv/{{episode}}"
    one, other = (OpenEnv(url, action="code", form="fenced") for _ in range(2))
    try:
        assert one.reset(PROBLEM) == PROBLEM.messages
        other.reset(PROBLEM)
        _, done, extra = one.step(fenced("x = 17 * 23"))
        assert (done, extra) == (False, {"calls": 1, "failed_calls": 0})
        observation, *_ = one.step(fenced("print(x)"))
        assert json.loads(observation) == {"stdout": "391\n", "stderr": "", "exit_code": 0}
        assert "NameError" in other.step(fenced("x"))[0]
        assert one.step(said("391")) == (None, True, {})
        assert one.step(fenced("import os; os._exit(0)"))[1]
        with pytest.raises(EnvironmentLost, match=r"410: .*session_lost"):
            one.step(fenced("1"))
    finally:
        one.close()
        other.close()


def test_one_field_of_the_observation_is_shown_and_bounded(service_url: str) -> None:
    environment = OpenEnv(
        f"{service_url}/openenv/{{episode}}",
        action="code",
        observation="stdout",
        max_output_characters=20,
    )
    try:
        environment.reset(PROBLEM)
        assert environment.step(said("1"))[0] == "(no output)"
        assert environment.step(said("print('a' * 100)"))[0] == f"{'a' * 10}\n[...]\n{'a' * 9}\n"
        assert environment.step(said("'\ud800'"))[0] == f"error: {NO_TEXT}"
    finally:
        environment.close()


@contextmanager
def http_server(answers: dict[str, tuple[int, Any]]) -> Iterator[tuple[str, list[Any]]]:
    """A server that gives each path its answer, and the bodies that it got."""
    bodies: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.do_GET()

        def do_GET(self) -> None:
            status, answer = answers[self.path.strip("/")]
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", bodies
        finally:
            server.shutdown()


def reply(text: str, reward: Any = None, done: bool = False) -> tuple[int, Any]:
    return 200, {"observation": {"text": text}, "reward": reward, "done": done}


STATE = (200, {"episode_id": "e", "step_count": 1})


def test_rewards_and_the_row_cross_the_wire() -> None:
    answers = {"reset": reply("go"), "step": reply("good", 0.5, True), "state": STATE}
    with http_server(answers) as (url, bodies):
        environment = OpenEnv(
            url,
            form="json",
            observation="text",
            reset={"seed": 7},
            reset_columns=["task"],
            show_reset=True,
        )
        shown = environment.reset(PROBLEM)
        assert shown == [*PROBLEM.messages, {"role": "user", "content": "go"}]
        expected = ("good", True, {"calls": 1, "failed_calls": 0, "reward": 0.5})
        assert environment.step(said('{"move": "e4"}')) == expected
        assert environment.step(said("e4"))[0] == "error: the message must be a JSON object"
        with pytest.raises(ValueError, match="the row has no column 'level'"):
            OpenEnv(url, reset_columns=["level"]).reset(PROBLEM)
        environment.close()
    assert bodies == [
        {"seed": 7, "task": "multiply"},
        {"action": {"move": "e4"}, "timeout_s": 60.0},
    ]


def test_a_refused_action_is_the_policys_fault_and_told() -> None:
    answers = {"reset": reply("go"), "step": (422, {"detail": "no such move"}), "state": STATE}
    with http_server(answers) as (url, _):
        environment = OpenEnv(url)
        environment.reset(PROBLEM)
        observation, done, extra = environment.step(said("e9"))
        environment.close()
    assert observation == 'error: the action is refused: {"detail": "no such move"}'
    assert (done, extra) == (False, {"calls": 1, "failed_calls": 1})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((503, {"detail": "full"}), "503: .*full"),
        ((200, {"hello": 1}), "does not answer as an OpenEnv server"),
        ((200, b"<html>"), "does not answer as an OpenEnv server"),
        ((200, b"[" * 100_000), "does not answer as an OpenEnv server"),
        (reply("x", reward="much"), "reward must be a number or null, found 'much'"),
    ],
)
def test_an_answer_that_cannot_be_used_loses_the_environment(
    answer: tuple[int, Any], message: str
) -> None:
    with http_server({"reset": reply("go"), "step": answer, "state": STATE}) as (url, _):
        environment = OpenEnv(url)
        environment.reset(PROBLEM)
        with pytest.raises(EnvironmentLost, match=message):
            environment.step(said("e4"))
        environment.close()


def test_a_server_that_forgets_between_requests_is_refused_by_name() -> None:
    """Version 0.2 and later give each HTTP request an environment of its own."""
    forgetful = (200, {"episode_id": None, "step_count": 0})
    with http_server({"reset": reply("go"), "step": reply("x"), "state": forgetful}) as (url, _):
        environment = OpenEnv(url)
        environment.reset(PROBLEM)
        with pytest.raises(RuntimeError, match="keeps no state between HTTP requests"):
            environment.step(said("e4"))
        environment.close()


def test_a_server_that_is_not_there_loses_the_environment() -> None:
    for url in ("http://127.0.0.1:9", "ws://127.0.0.1:9/ws"):
        environment = OpenEnv(url)
        with pytest.raises(EnvironmentLost, match="no answer from"):
            environment.reset(PROBLEM)
        environment.close()


@contextmanager
def socket_server(answer: Callable[[int, dict[str, Any]], Any]) -> Iterator[str]:
    """A WebSocket server that answers each message of a connection by its number."""

    def converse(connection: ServerConnection) -> None:
        for number, message in enumerate(connection):
            found = json.loads(message)
            if found["type"] == "close":
                break
            connection.send(json.dumps(answer(number, found)))

    with serve(converse, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/ws"
        finally:
            server.shutdown()
            thread.join()


def test_each_socket_is_an_environment_of_its_own() -> None:
    def count(number: int, message: dict[str, Any]) -> Any:
        text = f"{message['type']} {number} {message['data'].get('message')}"
        _, data = reply(text, reward=1, done=number == 2)
        return {"type": "observation", "data": data}

    with socket_server(count) as url:
        one, other = (OpenEnv(url, observation="text") for _ in range(2))
        one.reset(PROBLEM)
        other.reset(PROBLEM)
        told = {"calls": 1, "failed_calls": 0, "reward": 1.0}
        assert one.step(said("a")) == ("step 1 a", False, told)
        assert one.step(said("b")) == ("step 2 b", True, told)
        assert other.step(said("c")) == ("step 1 c", False, told)
        one.close()
        other.close()


def test_a_connection_whose_last_message_cannot_be_sent_is_closed() -> None:
    def answer(number: int, message: dict[str, Any]) -> Any:
        return {"type": "observation", "data": reply("go")[1]}

    with socket_server(answer) as url:
        connection = SocketConnection(url, {}, seconds=600)
        connection.ask("reset", {})
        socket = connection._socket
        socket.send = lambda text: 1 / 0
        connection.close()
        assert socket.state is State.CLOSED


@pytest.mark.parametrize(
    ("code", "error"), [("VALIDATION_ERROR", None), ("CAPACITY_REACHED", EnvironmentLost)]
)
def test_errors_of_a_socket_are_the_policys_or_the_environments(
    code: str, error: type[Exception] | None
) -> None:
    def fail(number: int, message: dict[str, Any]) -> Any:
        if message["type"] == "reset":
            return {"type": "observation", "data": reply("go")[1]}
        return {"type": "error", "data": {"message": "no", "code": code}}

    with socket_server(fail) as url:
        environment = OpenEnv(url)
        environment.reset(PROBLEM)
        if error is None:
            assert environment.step(said("x"))[2] == {"calls": 1, "failed_calls": 1}
        else:
            with pytest.raises(error, match="CAPACITY_REACHED"):
                environment.step(said("x"))
        environment.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "ftp://host"}, "url must begin with http://"),
        ({"url": "http://host", "form": "xml"}, "form must be text, fenced or json"),
        ({"url": "http://host", "token_variable": "NO_SUCH_TOKEN"}, "NO_SUCH_TOKEN is not set"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OpenEnv(**options)
