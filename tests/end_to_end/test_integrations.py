"""Examples of docs/integrations.md work as they stand."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from verifier_service.compat import PROTOCOLS
from verifier_service.compat.routers import ROUTERS

PAGE = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text()
SERVICE = "http://127.0.0.1:8080"
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
CURL = re.findall(r"\$ curl -s '?(\S+?)'? -H .*?-d '(.*?)'\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("code", PYTHON)
def test_a_python_example_prints_what_its_comments_say(code: str, service_url: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", code.replace(SERVICE, service_url)],
        capture_output=True,
        text=True,
        env={**os.environ, "REWARD_VERIFIER_URL": service_url},
    )
    expected = re.findall(r"^# (.*)$", code, re.MULTILINE)
    assert result.stdout.splitlines() == expected, result.stderr


@pytest.mark.parametrize(("url", "body", "answer"), CURL)
def test_a_curl_example_gets_the_answer_that_is_shown(
    url: str, body: str, answer: str, service_url: str
) -> None:
    response = httpx.post(
        url.replace(SERVICE, service_url),
        content=body,
        headers={"Content-Type": "application/json"},
        timeout=600,
    )
    assert response.text == answer


def test_there_are_examples() -> None:
    assert (len(PYTHON), len(CURL)) == (3, 2)


def test_every_address_on_the_page_is_one_of_the_service(service_url: str) -> None:
    served = set(httpx.get(f"{service_url}/openapi.json", timeout=600).json()["paths"])
    shown = set(re.findall(rf"{SERVICE}(/[\w/]+)", PAGE))
    assert shown
    assert shown <= served


def test_every_name_of_an_adapter_on_the_page_exists() -> None:
    names = set(re.findall(r"from (verifier_adapters\.\w+) import (\w+)", PAGE))
    names |= {("verifier_adapters.verl", "compute_score"), ("verifier_adapters.areal", "reward_fn")}
    names |= {("verifier_adapters.prime_verifiers", "score_trace")}
    assert len(names) > 6
    for module, name in names:
        assert hasattr(importlib.import_module(module), name), (module, name)


def test_every_protocol_and_adapter_is_on_the_page() -> None:
    assert tuple(ROUTERS) == PROTOCOLS
    assert all(f"`{name}`" in PAGE for name in PROTOCOLS)
    for section in ("TRL", "verl", "SkyRL", "OpenRLHF", "slime", "NeMo Gym", "open-instruct"):
        assert f"\n## {section}\n" in PAGE
    for section in ("open-r1", "AReaL", "rLLM", "ms-swift", "verifiers"):
        assert f"\n## {section}\n" in PAGE
