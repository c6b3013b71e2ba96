"""Examples of the README and docs work as they stand."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.end_to_end.commands import commands_of
from trainer_client import cli as trainer_cli
from trainer_client.config.run_config import load_config, make_config
from trainer_client.config.system_prompt import SYSTEM_PROMPT
from verifier_service import cli as service_cli
from verifier_service.settings import Settings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").glob("*.md")),
    ]
}
TEXT = "\n".join(PAGES.values())
SERVICE = "http://127.0.0.1:8080"
MAX_README_BYTES = 12_000

CALL = re.compile(
    r"\$ curl -s http://127\.0\.0\.1:8080/v1/score .*?-d '(.*?)'\n```\n\n```json\n(.*?)```", re.S
)
CALLS = [(page, *found) for page, text in PAGES.items() for found in CALL.findall(text)]
PYTHON = [
    (page, code)
    for page in ("README.md", "docs/client.md")
    for code in re.findall(r"```python\n(.*?)```", PAGES[page], re.DOTALL)
]
LINKS = [
    (page, link)
    for page, text in PAGES.items()
    for link in re.findall(r"\]\(([^)\s]+)\)", text)
    if not link.startswith("http")
]


def block(page: str, language: str) -> str:
    """The first fenced block in a language."""
    found = re.search(rf"```{language}\n(.*?)```", PAGES[page], re.DOTALL)
    assert found, f"{page} has no {language} block"
    return found[1]


def without_seconds(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: without_seconds(value) for key, value in node.items() if key != "seconds"}
    return [without_seconds(item) for item in node] if isinstance(node, list) else node


@pytest.mark.slow
@pytest.mark.parametrize(("page", "code"), PYTHON)
def test_a_python_example_prints_what_its_comments_say(
    page: str, code: str, service_url: str
) -> None:
    assert SERVICE in code
    result = subprocess.run(
        [sys.executable, "-c", code.replace(SERVICE, service_url)], capture_output=True, text=True
    )
    expected = re.findall(r"^# (.*)$", code, re.MULTILINE)
    assert expected
    assert result.stdout.splitlines() == expected, result.stderr


def test_the_first_python_example_is_the_client() -> None:
    assert block("README.md", "python").startswith("from reward_verifier import Verifier\n")


@pytest.mark.parametrize(("page", "body", "response"), CALLS)
def test_a_curl_example_gets_the_response_that_is_shown(
    page: str, body: str, response: str, service_url: str
) -> None:
    found = httpx.post(
        f"{service_url}/v1/score",
        content=body,
        headers={"Content-Type": "application/json"},
        timeout=600,
    )
    assert without_seconds(found.json()) == without_seconds(json.loads(response))


def test_there_are_curl_examples() -> None:
    pages = {"README.md", "docs/api.md", "docs/scoring.md", "docs/tasks.md"}
    assert {page for page, _, _ in CALLS} == pages


def test_the_configuration_example_is_valid() -> None:
    config = make_config(yaml.safe_load(block("docs/configuration.md", "yaml")))
    assert config.loss.kl_coefficient == 0.001


def test_the_configuration_for_data_of_ones_own_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(block("docs/training.md", "yaml"))
    config = load_config(path)
    assert config.dataset[0].reference_columns == {"answer": "answer"}
    assert config.dataset[0].system_prompt == SYSTEM_PROMPT
    assert f"```\n{SYSTEM_PROMPT}\n```" in PAGES["docs/training.md"]
    command = re.search(r"train mine.yaml (output_dir=.*?)\n```", PAGES["docs/training.md"], re.S)
    assert command
    tiny = load_config(path, shlex.split(command[1].replace("\\\n", " ")))
    assert tiny.dataset[0].system_prompt is None
    assert tiny.model.path == "runs/demo/sft/model"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "first"),
    [
        ("docs/scoring.md", "cat rows.jsonl"),
        ("docs/scoring.md", 'echo \'{"completion": "2"'),
        ("docs/tasks.md", 'echo \'{"completion": "<p>'),
        ("docs/tasks.md", "cat queries.jsonl"),
    ],
)
def test_a_session_of_the_shell_prints_what_is_shown(page: str, first: str, tmp_path: Path) -> None:
    """`cat` shows a file that the session begins with."""
    session = re.search(rf"```\n(\$ {re.escape(first)}.*?)\n```\n", PAGES[page], re.S)
    assert session
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for step in session[1].removeprefix("$ ").split("\n$ "):
        command, _, shown = step.strip("\n").partition("\n")
        if command.startswith("cat "):
            (tmp_path / command.removeprefix("cat ")).write_text(shown + "\n")
            continue
        result = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        assert result.stdout.strip("\n") == shown, result.stderr


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_a_link_leads_somewhere(page: str, link: str) -> None:
    file, _, heading = link.partition("#")
    target = (ROOT / page).parent / file if file else ROOT / page
    assert target.exists()
    if heading:
        titles = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
        anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
        assert heading in anchors


@pytest.mark.parametrize(
    "command",
    [
        *(f"trainer-client {name}" for name in commands_of(trainer_cli.app)),
        *(f"verifier-service {name}" for name in service_cli.COMMANDS),
    ],
)
def test_every_command_is_documented(command: str) -> None:
    assert re.search(rf"{command}\b", TEXT)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_of_the_service_is_documented(name: str) -> None:
    assert f"`VERIFIER_{name.upper()}`" in PAGES["docs/service-settings.md"]


@pytest.mark.parametrize(
    "target", re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.M)
)
def test_every_make_target_is_documented(target: str) -> None:
    assert re.search(rf"make {target}\b", TEXT)


def test_the_readme_is_short() -> None:
    assert len(README.encode()) <= MAX_README_BYTES
