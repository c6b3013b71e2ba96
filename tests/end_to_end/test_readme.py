"""What the README shows works as it stands."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import yaml

from trainer_client.config.run_config import make_config

README = (Path(__file__).parents[2] / "README.md").read_text()
SERVICE = "http://127.0.0.1:8080"


def block(language: str) -> str:
    """The first fenced block in a language."""
    found = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found, f"the README has no {language} block"
    return found[1]


def without_seconds(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: without_seconds(value) for key, value in node.items() if key != "seconds"}
    return [without_seconds(item) for item in node] if isinstance(node, list) else node


def test_the_python_example_prints_what_its_comment_says(service_url: str) -> None:
    code = block("python")
    assert SERVICE in code
    result = subprocess.run(
        [sys.executable, "-c", code.replace(SERVICE, service_url)],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = re.search(r"print\(.*\)  # (.*)", code)
    assert expected
    assert result.stdout == expected[1] + "\n"


def test_the_curl_example_gets_the_answer_that_is_shown(service_url: str) -> None:
    command = re.search(r"\$ curl .*?-d '(.*?)'\n", README, re.DOTALL)
    assert command
    response = httpx.post(
        f"{service_url}/v1/score",
        content=command[1],
        headers={"Content-Type": "application/json"},
        timeout=600,
    )
    assert without_seconds(response.json()) == without_seconds(json.loads(block("json")))


def test_the_configuration_example_is_valid() -> None:
    assert make_config(yaml.safe_load(block("yaml"))).loss.kl_coefficient == 0.001
