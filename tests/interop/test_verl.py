"""verl's own code: its client of SandboxFusion, and its loader of reward functions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.interop.peer import peer

pytestmark = pytest.mark.interop

sandbox_fusion = peer("verl.utils.reward_score.sandbox_fusion")

ADD = "```python\ndef add(a, b):\n    return a + b\n```"


def check(url: str, code: str, cases: dict[str, Any], **options: Any) -> tuple[list[Any], Any]:
    found: tuple[list[Any], Any] = sandbox_fusion.utils.check_correctness(
        f"{url}/run_code", cases, code, **options
    )
    return found


def test_stdio_problems_are_judged(service_url: str) -> None:
    cases = {"inputs": ["3\n", "4\n", "5\n"], "outputs": ["9\n", "16", "24"]}
    results, details = check(service_url, "print(int(input())**2)", cases)
    assert results == [True, True, False]
    assert [one["status"] for one in details] == ["success", "success", "wrong_answer"]


def test_function_problems_are_judged(service_url: str) -> None:
    truth = json.dumps(
        {"inputs": ["1\n2", "[1]\n[2]"], "outputs": ["3", "[1, 2]"], "fn_name": "add"}
    )
    score, details = sandbox_fusion.compute_score(
        f"{service_url}/run_code", None, 1024, ADD, truth, continuous=True
    )
    assert score == 1.0, details


def test_assertions_are_judged(service_url: str) -> None:
    truth = json.dumps({"assert_case": ["assert add(1, 2) == 3", "assert add(1, 2) == 4"]})
    score, details = sandbox_fusion.compute_score(f"{service_url}/run_code", None, 1024, ADD, truth)
    assert score == 0.5
    assert [one["status"] for one in details] == ["success", "runtime_error"]


@pytest.mark.parametrize(
    ("code", "options", "result", "status"),
    [
        ("raise ValueError", {}, -2, "runtime_error"),
        ("while True: pass", {"timeout": 1}, -3, "timeout"),
        ("int main() {", {"language": "cpp"}, -4, "compile_error"),
        ("println(1)", {"language": "julia"}, -1, "sandbox_error"),
    ],
)
def test_verl_reads_how_a_program_ended(
    service_url: str, code: str, options: dict[str, Any], result: int, status: str
) -> None:
    results, details = check(service_url, code, {"inputs": [""], "outputs": ["1"]}, **options)
    assert (results, details[0]["status"]) == ([result], status)


def test_cpp_is_judged(service_url: str) -> None:
    code = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n * n; }"
    cases = {"inputs": ["3"], "outputs": ["9"]}
    assert check(service_url, code, cases, language="cpp")[0] == [True]


def test_verl_loads_and_calls_our_reward_function(service_url: str) -> None:
    omegaconf = peer("omegaconf")
    reward = peer("verl.trainer.ppo.reward")
    config = omegaconf.OmegaConf.create(
        {
            "reward": {
                "custom_reward_function": {
                    "path": "pkg://verifier_adapters.verl",
                    "name": "compute_score",
                    "reward_kwargs": {"url": service_url, "profile": "accuracy"},
                }
            }
        }
    )
    compute = reward.get_custom_reward_fn(config)
    found = [
        compute(data_source="x", solution_str=text, ground_truth="4", extra_info={})
        for text in (r"\boxed{4}", r"\boxed{5}")
    ]
    assert [one["score"] for one in found] == [1.0, 0.0]
    assert found[0].keys() == found[1].keys()
