"""The environments of the package: programs in sessions, functions as tools, verdicts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from reward_verifier.protocol import Conversation
from tests.growth import assert_linear
from tests.trainer_client.device import DEVICE
from tests.trainer_client.episode_runs import Scripted, chatty_model, episode_config
from tests.trainer_client.runs import plain_sampling
from tests.trainer_client.session_server import session_server
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.reward_sections import RewardConfig
from trainer_client.config.rollout_section import SHIPPED_ENVIRONMENTS
from trainer_client.config.run_config import ConfigError
from trainer_client.episodes.environment import EnvironmentLost, read_outcome
from trainer_client.episodes.environment_source import SHIPPED, EnvironmentSource
from trainer_client.episodes.episode_engine import EpisodeEngine
from trainer_client.episodes.function_tools import MAX_RESULT_CHARACTERS, FunctionTools
from trainer_client.episodes.python_tool import MAX_PROGRAMS, PythonTool
from trainer_client.episodes.service_client import ServiceClients
from trainer_client.episodes.tool_calls import MAX_CALLS, NO_TEXT, PolicyCall, calls_in
from trainer_client.episodes.verifier_feedback import VerifierFeedback
from trainer_client.episodes.verifiers_environment import VerifiersEnvironment
from trainer_client.policy.policy import load_policy
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import open_scorer
from trainer_client.rollout import RolloutGroup

PROBLEM = Problem("1", ({"role": "user", "content": "17*23?"},), {"answer": "391"})


_open_clients: list[ServiceClients] = []


@pytest.fixture(autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    while _open_clients:
        _open_clients.pop().close()


def clients_of(url: str, **settings: Any) -> ServiceClients:
    """Clients that are closed after the test."""
    _open_clients.append(ServiceClients(RewardConfig(url=url, **settings)))
    return _open_clients[-1]


def call(code: str) -> str:
    asked = {"name": "python", "arguments": {"code": code}}
    return f"<tool_call>{json.dumps(asked)}</tool_call>"


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no call", []),
        (
            '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call> and '
            '<tool_call>\n{"name": "g", "arguments": "{\\"b\\": 2}"}\n</tool_call>',
            [PolicyCall("f", {"a": 1}), PolicyCall("g", {"b": 2})],
        ),
        ('<tool_call>{"name": "f"}</tool_call>', [PolicyCall("f", {})]),
        ("<tool_call>f(1)</tool_call>", [PolicyCall("", {}, "the call is not valid JSON")]),
        (
            '<tool_call>{"name": "f", "arguments": [1]}</tool_call>',
            [PolicyCall("f", {}, "the arguments of a call must be an object")],
        ),
        (
            "<tool_call>[]</tool_call>",
            [PolicyCall("", {}, 'a call must be {"name": ..., "arguments": {...}}')],
        ),
        (
            '<tool_call>{"name": "f"}',
            [PolicyCall("", {}, "a <tool_call> is not closed with </tool_call>")],
        ),
        (
            "<tool_call>" + "[" * 100_000 + "</tool_call>",
            [PolicyCall("", {}, "the call is not valid JSON")],
        ),
        (
            r'<tool_call>{"name": "f", "arguments": {"a": ["\ud800"]}}</tool_call>',
            [PolicyCall("", {}, NO_TEXT)],
        ),
        (
            r'<tool_call>{"name": "f", "arguments": "{\"\\udc00\": 1}"}</tool_call>',
            [PolicyCall("", {}, NO_TEXT)],
        ),
        (
            r'<tool_call>{"name": "f", "arguments": {"a": "\ud83d\ude00"}}</tool_call>',
            [PolicyCall("f", {"a": "😀"})],
        ),
    ],
)
def test_calls_of_a_message(text: str, expected: list[PolicyCall]) -> None:
    assert calls_in(text) == expected


def test_more_calls_than_are_run_are_one_error() -> None:
    calls = calls_in('<tool_call>{"name": "f"}</tool_call>' * 10_000)
    assert len(calls) == MAX_CALLS + 1
    assert calls[-1].error == f"only {MAX_CALLS} calls of a message are run"


@pytest.mark.parametrize(
    "piece", ["<tool_call>", "</tool_call>", "<tool_call>{</tool_call>", "<tool_call>[", "<tool_"]
)
def test_calls_are_found_in_linear_time(piece: str) -> None:
    assert_linear(calls_in, piece)


@pytest.mark.parametrize(
    "piece", ["```python\n", "```", "```py ", "`", "```python \t", "```python\nx\n```"]
)
def test_fenced_programs_are_found_in_linear_time(piece: str) -> None:
    tool = PythonTool.of(clients_of("http://127.0.0.1:9"), form="fenced")
    assert_linear(tool._programs, piece)
    assert_linear(tool._programs, piece, before="```python\n")
    assert_linear(tool._programs, " ", before="```python")


def python_tool(url: str, **options: Any) -> PythonTool:
    tool = PythonTool.of(clients_of(url, max_attempts=3, backoff_seconds=0.01), **options)
    tool.reset(PROBLEM)
    return tool


def test_programs_of_an_episode_share_a_session_that_is_ended() -> None:
    with session_server() as (url, sessions):
        tool = python_tool(url)
        observation, done, extra = tool.step(said(call("x = 17 * 23") + call("print(x)")))
        assert [one["content"] for one in observation] == ["(no output)", "391"]
        assert (done, extra) == (False, {"calls": 2, "failed_calls": 0})
        observation, _, extra = tool.step(said(call("print(x)\n1 / 0")))
        assert observation == [
            {"role": "tool", "content": "391\nZeroDivisionError: division by zero"}
        ]
        assert extra == {"calls": 1, "failed_calls": 1}
        assert tool.step(said("the answer is 391")) == (None, True, {})
        tool.close()
        assert (list(sessions.variables), sessions.ended) == (["s-0"], ["s-0"])


@pytest.mark.slow
def test_programs_run_in_a_session_of_the_service(service_url: str) -> None:
    """Variables stay, errors and limits are told, and an interpreter that ends is replaced."""
    tool = python_tool(service_url, seconds=2.0)
    try:
        shown = [
            tool.step(said(call(code)))[0][0]["content"]
            for code in (
                "x = 17 * 23\nx",
                "print(x); 1 / 0",
                "while True: pass",
                "import os; os._exit(3)",
                "x",
            )
        ]
    finally:
        tool.close()
    assert shown[0] == "391"
    assert shown[1] == "391\nZeroDivisionError: division by zero"
    assert "CellTimeout" in shown[2]
    assert "the interpreter has ended: variables are lost" in shown[3]
    assert "NameError" in shown[4]


def test_a_session_bears_programs_that_are_many_or_large_or_print_without_end(
    service_url: str,
) -> None:
    """Each is followed by an honest program of the same message."""
    tool = python_tool(service_url, seconds=2.0)
    try:
        observation, _, extra = tool.step(said(call("20 + 1") * 10_000))
        assert [one["content"] for one in observation[:MAX_PROGRAMS]] == ["21"] * MAX_PROGRAMS
        assert extra == {"calls": MAX_CALLS + 1, "failed_calls": MAX_CALLS + 1 - MAX_PROGRAMS}
        for program, expected in (
            (f"len('{'x' * 2**20}')", "error: a program has at most 100,000 characters"),
            ("len('" + "\x01" * 99_980 + "')", "99980"),
            ("while True: print('x' * 60_000)", "the interpreter has ended"),
            ("print('y' * 10**6)", "[...]"),
        ):
            observation, _, _ = tool.step(said(call(program) + call("6 * 7")))
            shown, honest = (one["content"] for one in observation)
            assert expected in shown
            assert len(shown) < 3000
            assert honest == "42"
    finally:
        tool.close()


def test_fenced_programs_are_answered_in_one_message() -> None:
    with session_server() as (url, _):
        tool = python_tool(url, form="fenced", max_output_characters=20)
        message = "So:\n```python\nprint(2)\n```\nand\n```py\nprint('a' * 100)\n```"
        observation, done, _ = tool.step(said(message))
        assert observation == [
            {
                "role": "user",
                "content": "```output\n2\n```\n```output\naaaaaaaaaa\n[...]\naaaaaaaaaa\n```",
            }
        ]
        assert not done


@pytest.mark.parametrize(
    ("form", "program"),
    [
        (
            "calls",
            r"""<tool_call>{"name": "python", "arguments": {"code": "'\ud800'"}}</tool_call>""",
        ),
        ("fenced", "```python\n'\ud800'\n```"),
    ],
)
def test_a_program_with_half_a_character_is_answered_and_not_sent(form: str, program: str) -> None:
    with session_server() as (url, sessions):
        observation, _, extra = python_tool(url, form=form).step(said(program))
        assert NO_TEXT in observation[0]["content"]
        assert extra == {"calls": 1, "failed_calls": 1}
        assert sessions.requests == []


def test_half_a_character_in_an_observation_is_replaced() -> None:
    """A program or a function may print one, which the tokenizer could not read."""
    outcome = read_outcome(("a\ud800b😀", False, {}), role="user")
    assert outcome.observation == ({"role": "user", "content": "a\ufffdb😀"},)
    messages = [{"role": "tool", "content": "\udc00"}]
    assert read_outcome((messages, False, {}), role="user").observation == (
        {"role": "tool", "content": "\ufffd"},
    )


def test_an_episode_without_a_program_opens_no_session() -> None:
    with session_server() as (url, sessions):
        tool = python_tool(url)
        assert tool.step(said("391"))[1]
        tool.close()
        assert sessions.requests == []


def test_a_call_whose_response_was_lost_is_not_run_twice() -> None:
    calls = []

    def spoil(method: str, path: str, response: tuple[int, Any]) -> tuple[int, Any] | None:
        calls.append(path)
        return None if len(calls) == 3 else response

    with session_server(spoil) as (url, _):
        tool = python_tool(url)
        for code in ("n = 0", "n += 1"):
            tool.step(said(call(code)))
        observation, *_ = tool.step(said(call("print(n)")))
        assert observation[0]["content"] == "1"
        assert calls == ["/v1/sessions"] + 4 * ["/v1/sessions/s-0"]


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ((410, {"error": {"type": "session_lost", "message": "it is gone"}}), "failed: it is gone"),
        ((200, {"outcome": "failed", "reason": "session_lost"}), "failed: session_lost"),
        ((503, {"error": {"message": "draining"}}), "from the verifier at .*draining"),
        ((200, {"hello": 1}), "did not answer as a verifier service"),
    ],
)
def test_a_session_that_is_gone_is_a_lost_environment(
    response: tuple[int, Any], message: str
) -> None:
    def spoil(method: str, path: str, right: tuple[int, Any]) -> tuple[int, Any]:
        return right if path == "/v1/sessions" or method == "DELETE" else response

    with session_server(spoil) as (url, _), pytest.raises(EnvironmentLost, match=message):
        python_tool(url).step(said(call("1")))


RUNS_WHEN_ASKED = """
from trainer_client.config.reward_sections import RewardConfig
from trainer_client.episodes.python_tool import PythonTool
from trainer_client.episodes.service_client import ServiceClients

class RunsWhenAsked:
    def __init__(self, url, max_attempts=2):
        config = RewardConfig(url=url, max_attempts=max_attempts, backoff_seconds=0.01)
        self.clients = ServiceClients(config)
        self.tool = PythonTool.of(self.clients, form="fenced")

    def close(self):
        self.tool.close()
        self.clients.close()

    @property
    def service_seconds(self):
        return self.tool.service_seconds

    def reset(self, problem):
        return self.tool.reset(problem)

    def step(self, message):
        program = "```py\\n1+1\\n```" if message["content"] == "run" else ""
        return self.tool.step({**message, "content": program})
"""


@contextmanager
def session_process() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL of a session server in a process of its own."""
    command = [sys.executable, "-m", "tests.trainer_client.session_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def test_killing_the_tools_server_in_mid_episode_drops_the_groups_under_way(
    task: Path, tmp_path: Path
) -> None:
    """The first group has ended before; the others are lost, and no reward is made of them."""
    model = chatty_model(task, tmp_path / "model")
    policy = load_policy(ModelConfig(path=str(model), device=DEVICE))
    problems = [Problem(f"p{n}", ({"role": "user", "content": f"{n}+1"},), {}) for n in range(3)]
    with session_process() as (url, process):

        def say(key: int, number: int) -> str:
            if key and number:
                process.kill()
                process.wait()
            return "run" if key else "12"

        file = tmp_path / "runs.py"
        file.write_text(RUNS_WHEN_ASKED)
        environment = {"path": f"{file}:RunsWhenAsked", "options": {"url": url}}
        config = episode_config(task, tmp_path / "run", model, environment)
        groups: dict[int, RolloutGroup] = {}
        EpisodeEngine(Scripted(policy, say), policy, config).generate(
            problems, plain_sampling(1, 200), groups.__setitem__
        )
    assert groups[0].lost is None
    for index in (1, 2):
        assert groups[index].rollouts == ()
        assert "no answer from" in str(groups[index].lost)


def test_an_episode_whose_service_keeps_the_client_trying_is_lost(
    task: Path, tmp_path: Path
) -> None:
    """It has had no answer when its time is over, and a score would be the service's."""
    model = chatty_model(task, tmp_path / "model")
    policy = load_policy(ModelConfig(path=str(model), device=DEVICE))

    def spoil(method: str, path: str, response: tuple[int, Any]) -> tuple[int, Any]:
        return 503, {"error": {"message": "draining"}}

    with session_server(spoil) as (url, _):
        file = tmp_path / "runs.py"
        file.write_text(RUNS_WHEN_ASKED)
        options = {"url": url, "max_attempts": 10}
        environment = {"path": f"{file}:RunsWhenAsked", "options": options, "max_seconds": 0.5}
        config = episode_config(task, tmp_path / "run", model, environment)
        groups: list[RolloutGroup] = []
        EpisodeEngine(Scripted(policy, lambda *_: "run"), policy, config).generate(
            [PROBLEM], plain_sampling(1, 200), lambda _, group: groups.append(group)
        )
    assert groups[0].rollouts == ()
    assert "s for the service, more than rollout.environment.max_seconds 0.5" in str(groups[0].lost)


def test_time_in_which_a_program_ran_is_not_time_that_the_service_took() -> None:
    calls = clients_of("http://127.0.0.1:9").calls()

    def answered() -> Conversation[float]:
        under_way.append(calls.service_seconds)
        return 1e9
        yield  # a conversation is a generator

    under_way: list[float] = []
    assert calls.converse(answered(), ran_seconds=lambda result: result) == 1e9
    assert under_way[0] > 0
    assert calls.service_seconds == 0
    calls.converse(answered())
    assert 0 < under_way[1] < calls.service_seconds


def test_environments_share_a_client_that_is_closed_with_the_engine(
    task: Path, tmp_path: Path
) -> None:
    with session_server() as (url, _):
        model = chatty_model(task, tmp_path / "model")
        policy = load_policy(ModelConfig(path=str(model), device=DEVICE))
        environment = {"path": "python_tool", "options": {"url": url, "form": "fenced"}}
        config = episode_config(task, tmp_path / "run", model, environment)
        engine = EpisodeEngine(Scripted(policy, lambda *_: ""), policy, config)
        clients = []
        for _ in range(2):
            tool = engine._source.make()
            tool.step(said("```py\n1\n```"))
            clients.append(tool._calls._http)  # type: ignore[attr-defined]
        assert clients[0] is clients[1]
        assert not clients[0].is_closed
        engine.close()
        assert clients[0].is_closed


def test_every_environment_that_a_configuration_may_name_is_shipped() -> None:
    assert set(SHIPPED) == set(SHIPPED_ENVIRONMENTS)


def test_an_environment_of_verifiers_is_loaded_by_its_name(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "verifiers", None)
    environment = {"path": "verifiers", "options": {"environment": "missing_env:load_environment"}}
    config = episode_config(task, tmp_path / "run", task / "model", environment)
    with pytest.raises(ConfigError, match=r"ValueError: verifiers is not installed .*: pip insta"):
        EnvironmentSource(config)


def test_a_program_may_not_run_as_long_as_its_episode(task: Path, tmp_path: Path) -> None:
    environment = {"path": "python_tool", "options": {"seconds": 60}, "max_seconds": 60}
    config = episode_config(task, tmp_path / "run", task / "model", environment)
    with pytest.raises(ConfigError, match=r"max_seconds must be more than .*seconds 60, found 60"):
        EnvironmentSource(config)


TOOLS = '''
def add(a: int, b: int) -> int:
    """
    Add two numbers.

    Args:
        a: the first number
        b: the second number
    """
    return a + b


def fail(text: str) -> str:
    """
    Raise an error.

    Args:
        text: its message
    """
    raise ValueError(text)
'''


def test_functions_are_tools_with_a_schema(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text(TOOLS)
    tools = FunctionTools([f"{file}:add", f"{file}:fail"])
    assert [one["function"]["name"] for one in tools.tools] == ["add", "fail"]
    assert tools.tools[0]["function"]["parameters"]["properties"]["a"]["type"] == "integer"
    tools.reset(PROBLEM)
    observation, done, extra = tools.step(
        said(
            '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'
            '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
            '<tool_call>{"name": "fail", "arguments": {"text": "no"}}</tool_call>'
            '<tool_call>{"name": "rm", "arguments": {}}</tool_call>'
        )
    )
    assert [one["content"] for one in observation] == [
        "3",
        "error: TypeError: missing a required argument: 'b'",
        "error: ValueError: no",
        "error: there is no tool 'rm', only add, fail",
    ]
    assert (done, extra) == (False, {"calls": 4, "failed_calls": 3})
    assert tools.step(said("3")) == (None, True, {})


def test_functions_bear_calls_that_are_many_or_large(tmp_path: Path) -> None:
    """Some of 10,000 calls are run and one error answers the others; errors are cut off."""
    file = tmp_path / "tools.py"
    file.write_text(TOOLS)
    tools = FunctionTools([f"{file}:add", f"{file}:fail"])
    right = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'
    observation, _, extra = tools.step(said(right * 10_000))
    assert [one["content"] for one in observation[:-1]] == ["3"] * MAX_CALLS
    assert extra == {"calls": MAX_CALLS + 1, "failed_calls": 1}
    large = "x" * 2**20
    for text in (
        f'<tool_call>{{"name": "fail", "arguments": {{"text": "{large}"}}}}</tool_call>',
        f'<tool_call>{{"name": "add", "arguments": {{"{large}": 1}}}}</tool_call>',
        f'<tool_call>{{"name": "{large}", "arguments": {{}}}}</tool_call>',
        f'<tool_call>{{"name": "add", "arguments": {{"a": {"9" * 2**20}, "b": 1}}}}</tool_call>',
    ):
        observation, _, extra = tools.step(said(text + right))
        assert len(observation[0]["content"]) <= MAX_RESULT_CHARACTERS
        assert observation[1]["content"] == "3"
        assert extra == {"calls": 2, "failed_calls": 1}


@pytest.mark.slow
def test_feedback_tells_why_and_ends_at_the_right_answer(service_url: str) -> None:
    feedback = VerifierFeedback(clients_of(service_url), num_tries=3)
    feedback.reset(PROBLEM)
    observation, done, _ = feedback.step(said("<answer>390</answer>"))
    assert (observation, done) == ("That is not accepted: different. Tries left: 2.", False)
    assert feedback.step(said("<answer>391</answer>")) == (None, True, {"tries": 1})


def test_feedback_ends_with_the_last_try_and_is_lost_without_a_service(service_url: str) -> None:
    feedback = VerifierFeedback(clients_of(service_url), num_tries=2)
    feedback.reset(PROBLEM)
    assert not feedback.step(said("1"))[1]
    assert feedback.step(said("2"))[1]
    lost = VerifierFeedback(clients_of("http://127.0.0.1:9", max_attempts=1))
    lost.reset(PROBLEM)
    with pytest.raises(EnvironmentLost, match="no answer from the verifier"):
        lost.step(said("1"))


def test_the_service_judges_a_chat_with_calls_and_observations(
    service_url: str, task: Path, tmp_path: Path
) -> None:
    """Its last message of the policy counts; one that ends with an observation is judged too."""
    model = chatty_model(task, tmp_path / "model")
    policy = load_policy(ModelConfig(path=str(model), device=DEVICE))
    file = tmp_path / "twice.py"
    file.write_text(
        "class Twice:\n"
        "    role = 'tool'\n"
        "    n = 0\n"
        "    def reset(self, problem): return problem.messages\n"
        "    def step(self, message):\n"
        "        self.n += 1\n"
        "        return '<answer>390</answer>', self.n == 2, {}\n"
    )
    config = episode_config(
        task, tmp_path / "run", model, {"path": f"{file}:Twice", "judged": "chat"}
    )
    texts = ["<answer>1</answer>", "<answer>391</answer>"]
    groups: list[RolloutGroup] = []
    EpisodeEngine(Scripted(policy, lambda key, number: texts[number]), policy, config).generate(
        [PROBLEM], plain_sampling(1, 100), lambda _, group: groups.append(group)
    )
    with open_scorer(RewardConfig(url=service_url)) as scorer:
        ((verdict),) = scorer.submit(groups[0]).result()
    assert verdict["accuracy"].extracted == "391"
    assert verdict["accuracy"].score == 1
    episode = groups[0].rollouts[0].episode
    assert episode is not None
    assert [one["role"] for one in asdict(episode)["messages"]] == [
        "assistant",
        "tool",
        "assistant",
    ]
    assert httpx.get(f"{service_url}/healthz").status_code == 200


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (None, r"^verifiers is not installed \(.*: pip install 'verifiers<0.4'$"),
        ("0.4.0", r"^verifiers 0.4.0 has no environments with .*: pip install 'verifiers<0.4'$"),
    ],
)
def test_a_release_of_verifiers_without_environments_is_told(
    version: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "verifiers"]:
        monkeypatch.delitem(sys.modules, name)
    if version is None:
        monkeypatch.setitem(sys.modules, "verifiers", None)
    else:
        (tmp_path / "verifiers").mkdir()
        (tmp_path / "verifiers" / "__init__.py").write_text(f"__version__ = {version!r}")
        monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=message):
        VerifiersEnvironment("my_env", {"version": version})
    monkeypatch.delitem(sys.modules, "verifiers", raising=False)
