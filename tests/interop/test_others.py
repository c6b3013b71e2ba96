"""verifiers' Rubric, SkyRL-gym's registry and SandboxFusion's SDK: their code, our verdicts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.interop.peer import peer
from verifier_adapters.prime_verifiers import rubric_function, score_trace
from verifier_adapters.skyrl_gym import VerifierEnv

pytestmark = pytest.mark.interop


def test_a_rubric_of_verifiers_scores_rollouts() -> None:
    verifiers = peer("verifiers.legacy")
    rubric = verifiers.Rubric(funcs=[rubric_function(name="verified")])
    assert rubric._get_reward_func_names() == ["verified"]

    def reward(text: str) -> Any:
        state = verifiers.State(
            prompt=[{"role": "user", "content": "2+2?"}],
            completion=[{"role": "assistant", "content": text}],
            answer="4",
            timing={},
        )
        return asyncio.run(rubric._call_individual_reward_func(rubric.funcs[0], state))

    assert [reward(r"\boxed{4}"), reward(r"\boxed{5}")] == [1.0, 0.0]


def test_a_task_of_verifiers_scores_its_trace() -> None:
    vf = peer("verifiers.v1")

    class Data(vf.TaskData):  # type: ignore[misc, name-defined]
        answer: str

    class Sum(vf.Task[Data]):  # type: ignore[misc, name-defined]
        @vf.reward  # type: ignore[untyped-decorator]
        async def correct(self, trace: Any) -> float:
            return await score_trace(trace, self.data.answer)

    task = Sum(Data(idx=0, prompt="2+2?", answer="4"))

    def reward(text: str) -> Any:
        said = vf.MessageNode(message=vf.AssistantMessage(content=text), sampled=True)
        trace = vf.Trace(
            task=vf.TraceTask(type="Sum", data=task.data),
            agent=vf.AgentInfo(config=vf.AgentConfig()),
            nodes=[said],
        )
        asyncio.run(task.score(trace))
        return trace.reward

    assert [reward(r"\boxed{4}"), reward(r"\boxed{5}")] == [1.0, 0.0]


def test_skyrl_gym_makes_our_environment() -> None:
    gym = peer("skyrl_gym")
    base = peer("skyrl_gym.envs.base_text_env")
    made = type("Verified", (VerifierEnv, base.BaseTextEnv), {})
    gym.register(id="verifier", entry_point=made)
    extras = {"reward_spec": {"method": "rule", "ground_truth": "4"}}
    env = gym.make("verifier", env_config={}, extras=extras)
    env.init([{"role": "user", "content": "2+2?"}])
    step = env.step(r"\boxed{4}")
    env.close()
    assert (step["reward"], step["done"]) == (1.0, True)


def test_the_sdk_of_sandbox_fusion_runs_programs(service_url: str) -> None:
    sdk = peer("sandbox_fusion")
    asked = sdk.RunCodeRequest(code="print(input())", stdin="in", language="python")
    found = sdk.run_code(asked, endpoint=service_url, max_attempts=1)
    assert found.status == sdk.RunStatus.Success
    assert found.run_result.stdout == "in\n"
