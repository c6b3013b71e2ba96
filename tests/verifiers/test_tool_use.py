"""`tool_use`: calls that fail or repeat, over the messages of a chat."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.growth import assert_linear
from verifier_service.completion import ChatTurn, Completion
from verifier_service.verifier import Judgement
from verifier_service.verifiers.tool_use import ToolUse


def call(name: str = "python", **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def judged(*texts: str, **options: Any) -> Judgement:
    """The judgement on messages of which the odd ones are observations."""
    roles = ("assistant", "tool")
    turns = tuple(ChatTurn(roles[index % 2], text) for index, text in enumerate(texts))
    found = ToolUse(**options).prepare({})(Completion(texts[-1], turns=turns))
    assert isinstance(found, Judgement)
    return found


ADD, MULTIPLY = call(code="1+1"), call(code="2*3")


@pytest.mark.parametrize(
    ("texts", "score", "reason"),
    [
        (["I know: 2"], 0.0, "no_call"),
        ([ADD, "2", "It is 2."], 0.0, "clean"),
        ([ADD, "2", MULTIPLY, "6", "2 and 6"], 0.0, "clean"),
        ([ADD, "ZeroDivisionError: division by zero", "none"], -1.0, "failed_calls"),
        ([ADD, "half\nValueError: no", MULTIPLY, "6", "6"], -0.5, "failed_calls"),
        ([ADD, "error: there is no tool 'x'", "none"], -1.0, "failed_calls"),
        ([ADD, "time_limit_exceeded", "none"], -1.0, "failed_calls"),
        ([ADD, "2", ADD, "2", "2"], -0.5, "repeated_calls"),
        ([ADD + ADD, "2", "2"], -0.5, "repeated_calls"),
        ([ADD, "error: no", ADD, "error: no", "?"], -1.0, "failed_calls"),
        (["<tool_call>{</tool_call>", "error: no valid JSON", "?"], -1.0, "failed_calls"),
        # Words of a result that tell of no failure of the call:
        ([ADD, "The word error: in the middle\nof three\nlines", "ok"], 0.0, "clean"),
        ([ADD, "chapter\nValueError: is raised where\nthe end", "ok"], 0.0, "clean"),
    ],
)
def test_the_share_of_bad_calls_is_the_penalty(texts: list[str], score: float, reason: str) -> None:
    found = judged(*texts)
    assert (found.score, found.reason) == (score, reason)


@pytest.mark.parametrize(
    ("observation", "fails"),
    [
        ("Error: File not found", True),
        ("ERROR: bad", True),
        ("Error 404: there is no such page", True),
        ("[ERROR] refused", True),
        ("Error code: 400 - bad request", True),
        ("Error - no such city", True),
        ("npm ERR! missing script", True),
        ('{"success": false, "error": "no"}', True),
        ('{ "error" : "no" }', True),
        ("<error>no such tool</error>", True),
        ("fatal: not a git repository", True),
        ("Exception: boom", True),
        ("requests.exceptions.ConnectTimeout: after 3 s", True),
        ("[Errno 2] No such file or directory: 'x'", True),
        ('{"error": "bad"}', True),
        ('{"error": {"code": -32601, "message": "no such method"}}', True),
        ('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}}', True),
        ('{"content": [{"type": "text", "text": "no"}], "isError": true}', True),
        # Data in which the word stands:
        ("Error rates fell by half.", False),
        ("Errors: 0", False),
        ("Error: 0.0012", False),
        ("Error: 1e-6", False),
        ("Error: -3", False),
        ("Timeout: 30", False),
        ('{"error": {}}', False),
        ('{"error": []}', False),
        ("Exceptions are raised by raise.", False),
        ("error", False),
        ("12 errors found in the log", False),
        ('{"error": null, "result": 5}', False),
        ('{"error": "", "result": 5}', False),
        ('{"error": false}', False),
        ('{"error": 0.03, "slope": 2}', False),
        ('{"title": "on \\"error\\": \\"bad\\"", "pages": 3}', False),
        ('{"errors": []}', False),
        ('{"isError": false}', False),
    ],
)
def test_what_common_tools_say_of_a_failure_counts_as_one(observation: str, fails: bool) -> None:
    found = judged(ADD, observation, "so be it")
    assert found.reason == ("failed_calls" if fails else "clean")
    assert str(found.score) == ("-1.0" if fails else "0.0")


def test_the_order_and_layout_of_arguments_make_no_other_call() -> None:
    one = '<tool_call>{"name": "f", "arguments": {"a": 1, "b": 2}}</tool_call>'
    other = '<tool_call>\n{"arguments": {"b": 2, "a": 1}, "name": "f"}\n</tool_call>'
    found = judged(one, "3", other, "3", "3")
    assert found.details == {"calls": 2, "failed": 0, "repeated": 1}
    assert judged(one, "3", other, "3", "3", count_repeats=False).reason == "clean"


def test_options_choose_the_penalty_the_failures_and_the_form() -> None:
    assert judged(ADD, "oops", "?", failure="^oops$", max_penalty=-0.2).score == -0.2
    assert judged(ADD, "ValueError: x", "?", failure="^oops$").reason == "clean"
    program = "```python\nprint(1)\n```"
    found = judged(program, "1", f"again\n{program}", "1", "1", form="fenced")
    assert (found.score, found.reason) == (-0.5, "repeated_calls")
    found = judged(ADD, "2", ADD, "2", "2", cost=0.1)
    assert found.score == pytest.approx(-0.5 - 0.2)
    assert found.reason == "repeated_calls"
    assert judged("2", cost=0.1).score == 0
    with pytest.raises(ValueError, match="not a pattern of RE2"):
        ToolUse(failure="(")


def test_a_text_without_observations_is_judged_by_its_calls_alone() -> None:
    judge = ToolUse().prepare({})
    assert judge(Completion(ADD + ADD)).score == -0.5  # type: ignore[union-attr]
    assert judge(Completion("<tool_call>x</tool_call>")).score == -1  # type: ignore[union-attr]


@pytest.mark.parametrize("piece", ["<tool_call>", "<tool_call>{</tool_call>", "```python\n", ADD])
@pytest.mark.parametrize("form", ["tagged", "fenced"])
def test_a_message_is_read_in_linear_time(piece: str, form: str) -> None:
    judge = ToolUse(form=form).prepare({})
    assert_linear(lambda text: judge(Completion(text)), piece)


def test_a_chat_is_judged_whole_beside_verifiers_of_its_last_message(http: httpx.Client) -> None:
    """Two chats with one last message differ for `tool_use`, and are one answer for `accuracy`."""

    def chat(*observations: str) -> list[dict[str, Any]]:
        spoken: list[dict[str, Any]] = []
        for observation in observations:
            asked = {"name": "python", "arguments": json.dumps({"code": f"f({len(spoken)})"})}
            spoken += [
                {"role": "assistant", "content": None, "tool_calls": [{"function": asked}]},
                {"role": "tool", "content": observation},
            ]
        return [*spoken, {"role": "assistant", "content": "<answer>6</answer>"}]

    long = "x" * 800_000  # three of them are too long for a text, and no text of the policy's
    body = {
        "verifiers": [{"type": "accuracy"}, {"type": "tool_use", "weight": 0.2}],
        "groups": [
            {
                "reference": {"answer": "6"},
                "completions": [
                    chat("6"),
                    chat("error: no", "6"),
                    chat("6"),
                    chat(long, long, long),
                    "<answer>6</answer>",
                ],
            }
        ],
    }
    response = http.post("/v1/score", json=body)
    assert response.status_code == 200, response.text
    found = response.json()["groups"][0]["completions"]
    assert [one["verdicts"]["accuracy"]["reason"] for one in found] == ["equal"] * 5
    expected = ["clean", "failed_calls", "clean", "too_large", "no_call"]
    assert [one["verdicts"]["tool_use"]["reason"] for one in found] == expected
    assert found[1]["reward"] == pytest.approx(1 - 0.2 * 0.5)
