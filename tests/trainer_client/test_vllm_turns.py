"""Turns of episodes by vLLM in process, with an object that stands for vLLM."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.trainer_client.episode_runs import chatty_model, episode_config
from tests.trainer_client.runs import plain_sampling
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.rollout_section import VllmConfig
from trainer_client.episodes.episode_engine import EpisodeEngine
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.problems import Problem
from trainer_client.rollout import RolloutError, RolloutGroup
from trainer_client.rollout.vllm import VllmEngine

PROBLEMS = [Problem(text, ({"role": "user", "content": text},), {}) for text in ("1+2", "7+1")]


class FakeVllm:
    """An engine that writes a given text, two tokens of each request a step."""

    def __init__(self, policy: Policy, text: str) -> None:
        self.policy = policy
        self.text = text
        self.version = "0"
        self.asked: list[tuple[list[int], Any]] = []
        self.aborted: list[str] = []
        self.live: dict[str, tuple[Any, int]] = {}
        self.most_at_once = 0
        self.fail: Callable[[], None] = lambda: None

    def add_request(self, name: str, prompt: dict[str, list[int]], parameters: Any) -> None:
        assert name not in self.live
        self.asked.append((prompt["prompt_token_ids"], parameters))
        self.live[name] = (parameters, 0)

    def abort_request(self, names: Sequence[str]) -> None:
        self.aborted += names
        for name in names:
            self.live.pop(name, None)

    def step(self) -> list[Any]:
        self.fail()
        assert self.live, "a step without a request waits for ever"
        self.most_at_once = max(self.most_at_once, len(self.live))
        found = []
        for name, (parameters, length) in list(self.live.items()):
            self.live[name] = (parameters, length + 2)
            ids = [*self.policy.tokenizer.encode(self.text, add_special_tokens=False)]
            ids = [*ids, self.policy.eos_ids[0]][: min(length + 2, parameters.max_tokens)]
            ended = ids[-1] == self.policy.eos_ids[0]
            finished = ended or len(ids) == parameters.max_tokens
            if finished:
                del self.live[name]
            choice = SimpleNamespace(
                token_ids=ids,
                finish_reason="stop" if ended else "length",
                weight_versions=[SimpleNamespace(version=self.version)],
                logprobs=[{token: SimpleNamespace(logprob=-0.5)} for token in ids],
            )
            found.append(SimpleNamespace(request_id=name, finished=finished, outputs=[choice]))
        return found

    def make(self, *arguments: Any, **settings: Any) -> Any:
        """The outputs of `vllm.LLM`."""

        def take_version(version: str) -> None:
            self.version = version

        return SimpleNamespace(
            llm_engine=self,
            collective_rpc=lambda *arguments, **more: None,
            update_weight_version=take_version,
            reset_prefix_cache=lambda: True,
        )


@pytest.fixture(scope="module")
def model(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chatty_model(task, tmp_path_factory.mktemp("chatty"))


@pytest.fixture
def fake(model: Path, monkeypatch: pytest.MonkeyPatch) -> FakeVllm:
    made = FakeVllm(load_policy(ModelConfig(path=str(model), device="cpu")), "hello")
    vllm: Any = ModuleType("vllm")
    vllm.LLM = made.make
    vllm.SamplingParams = SimpleNamespace
    kinds = SimpleNamespace(FINAL_ONLY="final")
    vllm.sampling_params = SimpleNamespace(RequestOutputKind=kinds)
    errors: Any = ModuleType("vllm.exceptions")
    errors.VLLMError = type("VLLMError", (Exception,), {})
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    monkeypatch.setitem(sys.modules, "vllm.exceptions", errors)
    return made


def sample(
    fake: FakeVllm, task: Path, folder: Path, model: Path, environment: dict[str, Any]
) -> list[RolloutGroup]:
    config = episode_config(task, folder, model, environment)
    engine = VllmEngine(fake.policy, VllmConfig(), seed=0)
    engine.update_weights()
    groups: dict[int, RolloutGroup] = {}
    EpisodeEngine(engine, fake.policy, config).generate(
        PROBLEMS, plain_sampling(2, 120), groups.__setitem__
    )
    return [groups[index] for index in range(len(PROBLEMS))]


def test_turns_are_sampled_together_with_the_ids_of_those_before(
    fake: FakeVllm, task: Path, tmp_path: Path, model: Path
) -> None:
    environment = {"path": "Echo", "options": {"num_turns": 2}}
    rollouts = [
        one for group in sample(fake, task, tmp_path, model, environment) for one in group.rollouts
    ]
    assert fake.most_at_once > 1
    assert fake.live == {}
    contexts = [context for context, _ in fake.asked]
    assert len(contexts) == 8
    for one in rollouts:
        assert one.episode is not None
        assert (one.episode.end, one.episode.num_turns) == ("done", 2)
        assert one.sampled is not None
        turn = [*fake.policy.tokenizer.encode("hello", add_special_tokens=False)]
        first = len(turn) + 1
        assert one.completion_ids[:first] == (*turn, fake.policy.eos_ids[0])
        whole = [*one.prompt_ids, *one.completion_ids]
        assert whole[: len(whole) - first] in contexts, "the second turn begins where it is kept"
        assert [bool(value) for value in one.sampler_logprobs] == list(one.sampled)
    parameters = [parameters for _, parameters in fake.asked]
    assert {(one.n, one.detokenize, one.logprobs) for one in parameters} == {(1, False, 0)}
    assert len({one.seed for one in parameters}) == 8
    assert {one.max_tokens for one in parameters if one.max_tokens < 120}, "turns share a limit"


def test_a_turn_that_meets_its_limit_truncates_its_episode(
    fake: FakeVllm, task: Path, tmp_path: Path, model: Path
) -> None:
    environment = {"path": "Echo", "max_turn_tokens": 3}
    for group in sample(fake, task, tmp_path, model, environment):
        for one in group.rollouts:
            assert one.episode is not None
            assert (one.episode.end, one.episode.num_turns, one.num_sampled) == (
                "token_limit",
                1,
                3,
            )


def test_turns_of_lost_groups_are_dropped_from_the_engine(
    fake: FakeVllm, task: Path, tmp_path: Path, model: Path
) -> None:
    lost, whole = sample(fake, task, tmp_path, model, {"path": "Breaks"})
    assert (lost.rollouts, lost.lost) == ((), "the tool has gone")
    assert len(whole.rollouts) == 2
    assert fake.live == {}


def test_an_error_of_the_engine_is_named_and_leaves_no_request(
    fake: FakeVllm, task: Path, tmp_path: Path, model: Path
) -> None:
    def fail() -> None:
        raise RuntimeError("out of blocks")

    fake.fail = fail
    with pytest.raises(RolloutError, match="vLLM cannot sample: out of blocks"):
        sample(fake, task, tmp_path, model, {"path": "Echo"})
    assert fake.aborted
    assert fake.live == {}
