"""OpenRLHF's own executor of one turn, with a model that says what the test says."""

from __future__ import annotations

import asyncio
import importlib
import sys
import types
from types import SimpleNamespace
from typing import Any

import pytest

from tests.interop.peer import peer, peer_folder

pytestmark = pytest.mark.interop

peer("aiohttp")


@pytest.fixture(scope="module")
def agent() -> Any:
    """Its module `openrlhf.utils.agent`, without the package around it, which needs deepspeed."""
    root = peer_folder("openrlhf")
    for name, path in (("openrlhf", root), ("openrlhf.utils", root / "utils")):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
    return importlib.import_module("openrlhf.utils.agent")


class Tokenizer:
    """A character is a token."""

    def __call__(self, *, text: str, **options: Any) -> dict[str, Any]:
        ids = SimpleNamespace(tolist=lambda: [ord(character) for character in text])
        return {"input_ids": [ids]}

    def decode(self, ids: list[int], *, skip_special_tokens: bool) -> str:
        assert not skip_special_tokens
        return "".join(map(chr, ids))


class Engine:
    """Answers one text."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    async def generate(self, prompt_token_ids: list[int], *given: Any, **options: Any) -> Any:
        ids = [ord(character) for character in self._answer]
        output = SimpleNamespace(token_ids=ids, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def rollout(agent: Any, url: str | list[str], answer: str, label: Any) -> dict[str, Any]:
    prompt = "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n"
    executor = agent.SingleTurnAgentExecutor(url)
    sampling = SimpleNamespace(max_tokens=100, logprobs=None)
    engine = Engine(answer + "<|im_end|>\n")
    found: dict[str, Any] = asyncio.run(
        executor.execute(prompt, label, sampling, 1000, Tokenizer(), engine)
    )
    return found


@pytest.mark.parametrize("path", ["get_reward", "compat/openrlhf/get_reward"])
def test_a_rollout_gets_its_reward(agent: Any, service_url: str, path: str) -> None:
    url = f"{service_url}/{path}"
    right, wrong = (rollout(agent, url, text, "4") for text in (r"\boxed{4}", r"\boxed{5}"))
    assert (right["reward"], right["scores"]) == ([1.0], [1.0])
    assert (wrong["reward"], wrong["scores"]) == ([0.0], [0.0])
    assert right["extra_logs"] == {"accuracy": [1.0], "unjudged": [0.0]}


def test_a_label_that_cannot_be_judged_is_marked(agent: Any, service_url: str) -> None:
    found = rollout(agent, f"{service_url}/get_reward", r"\boxed{4}", "")
    assert (found["reward"], found["extra_logs"]["unjudged"]) == ([0.0], [1.0])


def test_several_servers_share_the_work(agent: Any, service_url: str) -> None:
    urls = [f"{service_url}/get_reward", f"{service_url}/compat/openrlhf/get_reward"]
    executor = agent.SingleTurnAgentExecutor(urls)
    queries = [rf"\boxed{{{number}}}" for number in range(5)]
    found = asyncio.run(
        executor._fetch_rewards_via_http(queries, [""] * 5, [str(n) for n in range(5)])
    )
    assert [reward for answer in found for reward in answer["rewards"]] == [1.0] * 5
