"""Profiles: shipped ones, those of a file, and the mistakes that a file can have."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from verifier_service.app import create_app
from verifier_service.cli import run
from verifier_service.profiles import read_profiles
from verifier_service.settings import Settings
from verifier_service.verifiers import VERIFIERS

GOOD = "<think>\na\n</think>\n<answer>\n2\n</answer>"
GROUP = {"reference": {"answer": "2"}, "completions": [GOOD]}


def test_the_shipped_profiles_are_listed_as_a_request_would_have_them(http: httpx.Client) -> None:
    assert http.get("/v1/profiles").json() == {
        "profiles": [
            {"name": "accuracy", "verifiers": [{"type": "accuracy", "weight": 1.0}]},
            {
                "name": "math",
                "verifiers": [
                    {"type": "accuracy", "weight": 1.0},
                    {"type": "format", "weight": 0.1},
                    {"type": "tag_count", "weight": 0.05},
                ],
            },
            {
                "name": "code",
                "verifiers": [
                    {"type": "code", "weight": 1.0},
                    {"type": "code_format", "weight": 0.1},
                ],
            },
        ]
    }


def test_a_request_may_name_a_profile_instead_of_verifiers(http: httpx.Client) -> None:
    answer = http.post("/v1/score", json={"profile": "math", "groups": [GROUP]}).json()
    (completion,) = answer["groups"][0]["completions"]
    assert completion["reward"] == pytest.approx(1.15)
    assert list(completion["verdicts"]) == ["accuracy", "format", "tag_count"]


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({}, "invalid_request", "give either `verifiers` or `profile`"),
        (
            {"profile": "math", "verifiers": [{"type": "format"}]},
            "invalid_request",
            "give either `verifiers` or `profile`",
        ),
        ({"profile": None}, "invalid_request", "give either `verifiers` or `profile`"),
        ({"profile": "maths"}, "unknown_profile", "no profile 'maths'; there are '"),
        ({"profile": ""}, "unknown_profile", "no profile ''"),
        ({"profile": 3}, "invalid_request", "profile: Input should be a valid string"),
    ],
)
def test_both_neither_and_an_unknown_profile_are_refused(
    http: httpx.Client, fields: dict[str, object], kind: str, message: str
) -> None:
    response = http.post("/v1/score", json={"groups": [GROUP], **fields})
    assert response.status_code == 422
    error = response.json()["error"]
    assert error["type"] == kind
    assert message in error["message"]


@pytest.mark.slow
def test_a_file_adds_profiles_and_replaces_shipped_ones(tmp_path: Path) -> None:
    path = tmp_path / "profiles.yaml"
    path.write_text(
        "math:\n  - {type: exact_match, weight: 2}\n"
        "pattern:\n  - {type: json_schema, name: list, schema: {type: array}}\n"
        "  - {type: regex, pattern: '[0-9]+', weight: 0.5}\n"
    )
    app = create_app(Settings(workers=1, code_workers=1, profiles=path))

    async def ask() -> tuple[Any, Any]:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as http,
        ):
            listed = await http.get("/v1/profiles")
            answer = await http.post("/v1/score", json={"profile": "math", "groups": [GROUP]})
        return listed.json()["profiles"], answer.json()

    listed, answer = asyncio.run(ask())
    assert [profile["name"] for profile in listed] == ["accuracy", "math", "code", "pattern"]
    assert listed[3]["verifiers"] == [
        {"type": "json_schema", "name": "list", "schema": {"type": "array"}},
        {"type": "regex", "pattern": "[0-9]+", "weight": 0.5},
    ]
    assert answer["groups"][0]["completions"][0]["reward"] == 2.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "the file: Input should be a valid dictionary; expected names with lists"),
        ("", "the file: Input should be a valid dictionary"),
        ("a: [", "is not YAML: while parsing"),
        ("a: [{type: format}]\na: [{type: accuracy}]", "a key stands twice in a mapping"),
        ("a: [{type: format, type: accuracy}]", "a key stands twice in a mapping"),
        ("a: []", "a: List should have at least 1 item"),
        ("a: [{type: acuracy}]", "a.0: no type 'acuracy'; did you mean 'accuracy'? There are "),
        ("a: [{type: format, strict: 1}]", "a.0.strict: no option of format, which has "),
        ("a: [{type: format}, {type: format}]", "same name ['format']"),
        ("a: [{type: regex, pattern: '('}]", "a.0.pattern: not a pattern"),
        ("'a b': [{type: format}]", "a b.[key]: String should match pattern"),
        ("a: [{type: code}]", "a asks for ['code'], which VERIFIER_ENABLED leaves out"),
        ("!!python/object/apply:os.getpid []", "is not YAML: could not determine a constructor"),
    ],
)
def test_a_mistake_in_the_file_is_named_at_start(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "profiles.yaml"
    path.write_text(text)
    with pytest.raises(SystemExit) as ended:
        run(["serve", "--enabled", "accuracy,format,regex", "--profiles", str(path)])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert f"--profiles / VERIFIER_PROFILES: {path}" in error
    assert message in error


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no\.yaml: No such file or directory"):
        read_profiles(tmp_path / "no.yaml", VERIFIERS)


def test_a_shipped_profile_that_cannot_be_served_is_not_offered() -> None:
    assert set(read_profiles(None, VERIFIERS)) == {"accuracy", "math", "code"}
    assert set(read_profiles(None, {"accuracy", "format", "tag_count"})) == {"accuracy", "math"}
