"""JSON that two readers may understand differently is refused, and the refusal names the place."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from verifier_service import strict_json
from verifier_service.app import create_app
from verifier_service.code.reference_tests import read_tests
from verifier_service.compat.routers import ROUTERS
from verifier_service.executions.routes import router as execution_router
from verifier_service.file_scoring import BadFile, read_groups
from verifier_service.http.every_route import every_route
from verifier_service.http.routes import router
from verifier_service.sessions import e2b, openenv
from verifier_service.sessions.routes import router as session_router
from verifier_service.settings import Settings
from verifier_service.strict_json import FlawedJson
from verifier_service.verifier import Unverifiable

JSON = {"Content-Type": "application/json"}
TWICE = "the object has this key twice"


def _posted(routers: Iterable[APIRouter]) -> list[str]:
    routes = (route for one in routers for route in every_route(one.routes))
    return sorted(
        route.path for route in routes if isinstance(route, APIRoute) and "POST" in route.methods
    )


POST_PATHS = _posted((router, *ROUTERS.values()))
"""Routes of verdicts, and of the programs that other protocols run."""
EXECUTION_PATHS = _posted((execution_router, session_router, openenv.router, e2b.router))
OPEN_PATHS = [path for path in (*POST_PATHS, *EXECUTION_PATHS) if "{" not in path]
"""Paths that need nothing to exist before."""


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ('{"a": 1, "a": 1}', ("a",), TWICE),
        ('{"a": {"b": [0, {"c": 1, "\\u0063": 2}]}}', ("a", "b", 1, "c"), TWICE),
        ('{"b": {"c": 1, "c": 2}, "a": 1, "a": 2}', ("a",), TWICE),
        ("[1, NaN]", (1,), "NaN is no JSON number"),
        ('{"a": -Infinity}', ("a",), "-Infinity is no JSON number"),
        ("1e999", (), "1e999 is too large for a number; the largest is 1.8e308"),
        ('{"a": [-1e400]}', ("a", 0), "-1e400 is too large for a number; the largest is 1.8e308"),
    ],
)
def test_a_flaw_is_found_with_its_place(
    text: str, place: tuple[int | str, ...], problem: str
) -> None:
    for read in (strict_json.check, strict_json.loads):
        with pytest.raises(FlawedJson) as flawed:
            read(text)
        assert (flawed.value.location, flawed.value.problem) == (place, problem)


@pytest.mark.parametrize(
    "text", ['{"a": {"a": [1.5, -2, 1e308, 1e-999]}, "b": "NaN, 1e999"}', "9" * 5000, '"\\ud800"']
)
def test_other_json_has_no_flaw(text: str) -> None:
    strict_json.check(text)


@pytest.mark.parametrize("text", ["[" * 10**5, '{"a"', b"\xff", "\ufeff{}"])
def test_a_text_that_only_another_reader_takes_is_no_json(text: str | bytes) -> None:
    with pytest.raises(FlawedJson, match=r"nested too deeply|not JSON"):
        strict_json.check(text)


def test_the_walk_sees_every_route() -> None:
    """The two lists of routes are the application's own."""
    paths = create_app(Settings()).openapi()["paths"]
    posted = sorted(path for path in paths if "post" in paths[path])
    assert posted == sorted([*POST_PATHS, *EXECUTION_PATHS])


@pytest.mark.parametrize("padding", [0, 2**16], ids=["small", "large"])
@pytest.mark.parametrize("path", OPEN_PATHS)
def test_every_route_names_the_place_of_a_flaw(http: httpx.Client, path: str, padding: int) -> None:
    for flaw, problem in (('"b": 1, "b": 2', TWICE), ('"b": 1e999', "1e999 is too large")):
        body = _request(path, "@")
        text = json.dumps({**body, "x": {"here": 7, "padding": " " * padding}})
        text = text.replace('"here": 7', flaw) if path != "/v1/score" else _in_reference(flaw)
        place = "groups.0.reference.b" if path == "/v1/score" else "x.b"
        answer = http.post(path, content=text + " " * padding, headers=JSON)
        assert answer.status_code == 422, (path, answer.text)
        assert f"{place}: {problem}" in _message(path, answer), answer.text


def _in_reference(flaw: str) -> str:
    group = f'{{"completions": ["x"], "reference": {{{flaw}}}}}'
    return f'{{"verifiers": [{{"type": "format"}}], "groups": [{group}]}}'


def _message(path: str, answer: httpx.Response) -> str:
    body = answer.json()
    message = body["message"] if path == "/api/v2/execute" else body["error"]["message"]
    assert isinstance(message, str)
    return message


def _request(path: str, text: str) -> dict[str, Any]:
    """A body that the route takes."""
    output = [{"type": "message", "role": "assistant", "content": text}]
    bodies: dict[str, dict[str, Any]] = {
        "/run_code": {"code": text},
        "/get_reward": {"query": [text]},
        "/compat/openrlhf/get_reward": {"query": [text]},
        "/compat/slime/rm": {"response": text},
        "/verify": {"response": {"output": output}, "expected_answer": "2"},
        "/seed_session": {},
        "/aggregate_metrics": {"verify_responses": []},
        "/test_program": {"program": text, "tests": []},
        "/test_program_stdio": {"program": text, "tests": []},
        "/api/v2/execute": {"language": "python", "files": [{"content": text}]},
        "/execute_batch": {"scripts": [text]},
        "/get_prompts": {"dataset": text, "config": {}},
        "/list_ids": {"dataset": text, "config": {}},
        "/get_prompt_by_id": {"dataset": text, "config": {}, "id": 1},
        "/run_jupyter": {"cells": [text]},
        "/submit": {"dataset": "mbpp", "config": {}, "id": 1, "completion": text},
        "/get_metrics": {"dataset": text, "config": {}, "results": []},
        "/v1/score": {},
        "/v1/execute": {"executions": [{"code": text}]},
        "/v1/sessions": {"language": "python"},
        "/compat/e2b/sandboxes": {"templateID": text},
        "/compat/e2b/v2/sandboxes": {"templateID": text},
        "/compat/e2b/execute": {"code": text},
    }
    return bodies[path]


@pytest.mark.parametrize(
    ("label", "judged"),
    [
        ('{"answer": "4", "answer": "5"}', 0.0),
        ('{"answer": NaN}', 0.0),
        ('{"answer": "4", "tolerance": 1e999}', 0.0),
        ('{"answer": "4", "other": {"answer": "5"}}', 1.0),
    ],
)
def test_a_flawed_label_is_a_bad_reference(http: httpx.Client, label: str, judged: float) -> None:
    """Whatever the completion says; the last label, which has no flaw, is judged."""
    for response in ("\\boxed{4}", "\\boxed{5}", ""):
        answer = http.post(
            "/compat/slime/rm",
            params={"reward_key": "reward"},
            json={"response": response, "label": label},
        ).json()
        assert answer["judged"] == judged
        assert (answer["reason"] == "bad_reference") is (judged == 0.0)


def test_flawed_cases_of_open_r1_are_a_bad_reference(http: httpx.Client) -> None:
    def script(cases: str) -> str:
        return (
            f"code_snippet = {json.dumps('print(input())')}\n"
            f"test_cases = json.loads({json.dumps(cases)})\n"
            "evaluate_code(code_snippet, test_cases)"
        )

    flawed = script('[{"input": "1", "output": "1", "output": "2"}]')
    right = script('[{"input": "1", "output": "1"}]')
    answer = http.post("/execute_batch", json={"scripts": [flawed, right]}).json()
    assert [one["exception_str"] for one in answer] == ["unverifiable: bad_reference", None]
    assert answer[1]["text"] == "1.0"


def test_flawed_tests_of_open_instruct_are_refused_with_the_place(http: httpx.Client) -> None:
    tests = '[{"input": "1", "output": "1", "output": "2"}]'
    answer = http.post("/test_program_stdio", json={"program": "", "tests": tests})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == f"tests.0.output: {TWICE}"


@pytest.mark.parametrize("flawed", ['{"a": 1, "a": 2}', "NaN", "[1e999]"])
def test_flawed_json_text_in_tests_is_a_bad_reference(flawed: str) -> None:
    tests = {"inputs": ["[1]"], "outputs": [flawed], "fn_name": "f"}
    with pytest.raises(Unverifiable, match="the JSON text of an input or an output: ") as error:
        read_tests({"tests": tests})
    assert error.value.reason == "bad_reference"
    read_tests({"tests": {**tests, "outputs": ["Not a number"]}})


def test_a_flawed_row_of_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"completion": "4", "answer": "4"}\n{"completion": "4", "answer": NaN}\n')
    with pytest.raises(BadFile, match="line 2: answer: NaN is no JSON number"):
        read_groups(file)
