"""The two packages meet only over the wire, and they mean the same by it."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from reward_verifier.errors import VerifierRejected
from reward_verifier.verdict import Verdicts
from trainer_client.config.reward_sections import RewardConfig, VerifierConfig
from trainer_client.reward.group_scoring import open_scorer
from trainer_client.reward.rewards import reward
from trainer_client.reward.selection import VerifierSelection
from trainer_client.reward.verifier_client import ScoreRequest, VerifierClient

ROOT = Path(__file__).parents[2]
VERIFIERS = (
    VerifierConfig(type="accuracy", weight=1.0),
    VerifierConfig(type="format", name="form", weight=0.1),
    VerifierConfig.model_validate({"type": "tag_count", "weight": 0.05, "mode": "open_r1"}),
)
COMPLETIONS = ("<think>\na\n</think>\n<answer>\n2\n</answer>", "$3$", "")


def ask(url: str, *, verifiers: tuple[VerifierConfig, ...] = VERIFIERS) -> list[Verdicts]:
    async def run() -> list[Verdicts]:
        async with VerifierClient(RewardConfig(url=url, verifiers=verifiers)) as client:
            await client.check()
            return await client.score(ScoreRequest(COMPLETIONS, {"answer": "2"}, "1+1=?"))

    return asyncio.run(run())


def test_client_and_service_agree_on_scores_and_rewards(service_url: str) -> None:
    body = {
        "verifiers": [{**verifier.wire, "weight": verifier.weight} for verifier in VERIFIERS],
        "groups": [{"reference": {"answer": "2"}, "completions": COMPLETIONS}],
    }
    answer = httpx.post(f"{service_url}/v1/score", json=body, timeout=600).json()
    for ours, theirs in zip(ask(service_url), answer["groups"][0]["completions"], strict=True):
        assert {name: (v.score, v.reason) for name, v in ours.items()} == {
            name: (v["score"], v["reason"]) for name, v in theirs["verdicts"].items()
        }
        assert reward(ours, VERIFIERS) == theirs["reward"]


@pytest.mark.parametrize(
    ("place", "selection", "message"),
    [
        (
            "evaluation.verifiers",
            VerifierSelection((VerifierConfig(type="acuracy"),)),
            r"acuracy.* \(asked by evaluation\.verifiers\)",
        ),
        ("dataset.1.profile", VerifierSelection(profile="maths"), r"maths.* \(asked by dataset\.1"),
    ],
)
def test_what_the_service_does_not_know_is_refused_before_anything_is_sampled(
    service_url: str, place: str, selection: VerifierSelection, message: str
) -> None:
    with (
        pytest.raises(VerifierRejected, match=message),
        open_scorer(RewardConfig(url=service_url), [(place, selection)]),
    ):
        pass
    unknown = RewardConfig.model_validate(
        {"url": service_url, "verifiers": [{"type": "accuracy", "toleranse": 1}]}
    )
    with (
        pytest.raises(VerifierRejected, match=r"toleranse.* \(asked by reward\.verifiers\)"),
        open_scorer(unknown),
    ):
        pass


def test_a_profile_is_what_the_client_gets_by_sending_its_verifiers(service_url: str) -> None:
    listed = httpx.get(f"{service_url}/v1/profiles", timeout=600).json()["profiles"]
    math = next(profile["verifiers"] for profile in listed if profile["name"] == "math")
    body = {
        "profile": "math",
        "groups": [{"reference": {"answer": "2"}, "completions": COMPLETIONS}],
    }
    answer = httpx.post(f"{service_url}/v1/score", json=body, timeout=600).json()
    verifiers = tuple(VerifierConfig.model_validate(verifier) for verifier in math)
    ours = [reward(verdicts, verifiers) for verdicts in ask(service_url, verifiers=verifiers)]
    assert ours == [one["reward"] for one in answer["groups"][0]["completions"]]
    assert verifiers == RewardConfig().verifiers  # the trainer's default is that profile


def test_an_option_that_the_service_does_not_know_is_refused_by_name(service_url: str) -> None:
    wrong = VerifierConfig.model_validate({"type": "format", "strictness": 3})
    with pytest.raises(VerifierRejected, match=r"verifiers\.0\.strictness: no option of format"):
        ask(service_url, verifiers=(wrong,))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "forbidden"),
    [
        ("verifier_service", {"trainer_client", "torch", "transformers"}),
        ("trainer_client", {"verifier_service", "fastapi", "sympy", "math_verify"}),
        ("reward_verifier", {"verifier_service", "trainer_client", "pydantic", "rich", "typer"}),
        ("verifier_adapters", {"verifier_service", "trainer_client", "pydantic", "rich", "typer"}),
    ],
)
def test_a_package_imports_nothing_of_the_others_side(package: str, forbidden: set[str]) -> None:
    imported = set()
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    assert package in imported
    assert imported & forbidden == set()


@pytest.mark.slow
def test_the_api_process_loads_neither_a_mathematics_parser_nor_torch() -> None:
    script = (
        "import sys, verifier_service.app;"
        "heavy = {'sympy', 'math_verify', 'latex2sympy2_extended', 'torch', 'transformers'};"
        "heavy |= {'numpy', 'pyarrow'};"
        "print(*sorted(heavy & {*sys.modules}))"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "\n"
