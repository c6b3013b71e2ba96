"""Episodes in a stream: weights of each token, open environments, lost and given up groups."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.trainer_client.device import DEVICE
from tests.trainer_client.episode_runs import chatty_model, episode_config
from tests.trainer_client.runs import metrics, plain_sampling, rollouts
from tests.trainer_client.sampling_server import sampling_server
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.rollout_section import VllmServerConfig
from trainer_client.config.run_config import Config
from trainer_client.episodes.environment import EnvironmentLost
from trainer_client.episodes.episode_engine import EpisodeEngine
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.problems import Problem
from trainer_client.rollout import Rollout
from trainer_client.rollout.daemon_thread import start_daemon
from trainer_client.rollout.group_requests import DatedGroup
from trainer_client.rollout.vllm_server import VllmServerEngine
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.train import train

PROBLEM = Problem("1", ({"role": "user", "content": "1+2"},), {})
DIGITS = tuple("0123456789")
"""Texts that end a message, so that most episodes have several."""
STEPS = 3
PER_STEP = 2


class Held:
    """Two turns; its first step returns when the test lets it go on."""

    steps_begun = threading.Semaphore(0)
    go_on = threading.Event()
    lock = threading.Lock()
    num_open = 0
    most_open = 0
    num_closed = 0

    def reset(self, problem: Problem) -> Sequence[dict[str, Any]]:
        with self.lock:
            Held.num_open += 1
            Held.most_open = max(Held.most_open, Held.num_open)
        self.num_steps = 0
        return problem.messages

    def step(self, message: dict[str, Any]) -> tuple[Any, bool, dict[str, float]]:
        self.num_steps += 1
        Held.steps_begun.release()
        assert Held.go_on.wait(60)
        return "more", self.num_steps == 2, {}

    def close(self) -> None:
        with self.lock:
            Held.num_open -= 1
            Held.num_closed += 1


class LostAtTimes:
    """Is lost at its first step in episodes of each third problem."""

    def reset(self, problem: Problem) -> Sequence[dict[str, Any]]:
        self.is_lost = int(problem.id, 16) % 3 == 0
        self.num_steps = 0
        return problem.messages

    def step(self, message: dict[str, Any]) -> tuple[Any, bool, dict[str, float]]:
        self.num_steps += 1
        if self.is_lost:
            raise EnvironmentLost("the tool has gone")
        return "more", self.num_steps == 2, {}


@pytest.fixture(scope="module")
def model(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chatty_model(task, tmp_path_factory.mktemp("chatty"))


@dataclass
class Sampled:
    """An engine of episodes whose weights change in flight, and its parts."""

    policy: Policy
    episodes: EpisodeEngine

    def ask(self, *problems: Problem) -> list[DatedGroup]:
        """Sample a group of each problem at once."""

        async def ask_all() -> list[DatedGroup]:
            async with self.episodes.group_requests() as ask:
                sampling = replace(plain_sampling(2, 30), stop=DIGITS)
                asked = (
                    ask(problem, replace(sampling, seed=seed))
                    for seed, problem in enumerate(problems)
                )
                return await asyncio.gather(*asked)

        return asyncio.run(ask_all())


@contextmanager
def sampled(task: Path, folder: Path, model: Path, **environment: Any) -> Iterator[Sampled]:
    policy = load_policy(ModelConfig(path=str(model), device=DEVICE))
    environment = {"path": f"{__name__}:Held", **environment}
    config = episode_config(task, folder, model, environment, rollout={"group_size": 2})
    with sampling_server(str(model)) as (url, _):
        server = VllmServerConfig(urls=(url,), deadline_seconds=300)
        engine = VllmServerEngine(
            policy, server, weights_dir=folder / "weights", in_flight=True, lora_weights="merged"
        )
        episodes = EpisodeEngine(engine, policy, config)
        episodes.update_weights()
        # After the environment that the engine made to read its tools, and has closed.
        Held.go_on.clear()
        Held.steps_begun = threading.Semaphore(0)
        Held.num_open = Held.most_open = Held.num_closed = 0
        yield Sampled(policy, episodes)


def logprobs_of(policy: Policy, rollout: Rollout) -> torch.Tensor:
    """Log-probabilities of an episode's tokens by the policy's present weights."""
    ids = torch.tensor([[*rollout.prompt_ids, *rollout.completion_ids]], device=policy.device)
    with torch.no_grad():
        scores = policy.model(ids).logits[0, len(rollout.prompt_ids) - 1 : -1].log_softmax(-1)
    chosen: torch.Tensor = scores.gather(1, ids[0, len(rollout.prompt_ids) :, None])[:, 0]
    return chosen.cpu()


@pytest.mark.slow
def test_each_turn_is_of_the_weights_that_its_tokens_name(
    task: Path, tmp_path: Path, model: Path
) -> None:
    """New weights come while the environments are at work: the turns after them are of those."""
    with sampled(task, tmp_path / "run", model) as run:
        pending = start_daemon(lambda: run.ask(PROBLEM))
        assert Held.steps_begun.acquire(timeout=60)
        old = {name: one.clone() for name, one in run.policy.model.state_dict().items()}
        with torch.no_grad():
            for weight in run.policy.model.parameters():
                weight += 0.3 * weight.std() * torch.randn_like(weight)
        run.episodes.update_weights()
        Held.go_on.set()
        (dated,) = pending.result(60)
        new_logprobs = [logprobs_of(run.policy, one) for one in dated.group.rollouts]
        run.policy.model.load_state_dict(old)
        old_logprobs = [logprobs_of(run.policy, one) for one in dated.group.rollouts]
    assert {1, 2} == {update for updates in dated.updates for update in updates}
    for rollout, updates, before, after in zip(
        dated.group.rollouts, dated.updates, old_logprobs, new_logprobs, strict=True
    ):
        assert rollout.sampled is not None
        where = torch.tensor(rollout.sampled)
        assert len(updates) == rollout.num_sampled
        found = torch.tensor(rollout.sampler_logprobs)[where]
        of_own = torch.where(torch.tensor(updates) == 1, before[where], after[where])
        of_other = torch.where(torch.tensor(updates) == 1, after[where], before[where])
        torch.testing.assert_close(found, of_own, rtol=0, atol=1e-4)
        assert (found - of_other).abs().max() > 1e-3


@pytest.mark.slow
def test_no_more_environments_are_open_than_the_setting_says(
    task: Path, tmp_path: Path, model: Path
) -> None:
    """Five groups of two episodes are asked for at once; four environments may be open."""
    with sampled(task, tmp_path / "run", model, max_open=4) as run:
        Held.go_on.set()
        run.ask(*(replace(PROBLEM, id=str(number)) for number in range(5)))
    assert 2 <= Held.most_open <= 4
    assert Held.num_closed == 10


@pytest.mark.slow
def test_a_group_that_is_given_up_closes_its_environments(
    task: Path, tmp_path: Path, model: Path
) -> None:
    async def give_up(run: Sampled) -> None:
        async with run.episodes.group_requests() as ask:
            sampling = replace(plain_sampling(2, 30, seed=0), stop=DIGITS)
            asked = asyncio.ensure_future(ask(PROBLEM, sampling))
            assert await asyncio.to_thread(Held.steps_begun.acquire, timeout=60)
            asked.cancel()
            Held.go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await asked

    with sampled(task, tmp_path / "run", model) as run:
        asyncio.run(give_up(run))
        until_closed = threading.Event()
        while Held.num_closed < 2:  # an environment at work is closed when its call returns
            until_closed.wait(0.01)
    assert (Held.num_open, Held.num_closed) == (0, 2)


def streamed(task: Path, run_dir: Path, model: Path, url: str, environment: str) -> Config:
    """A run of staleness 2 on episodes."""
    return episode_config(
        task,
        run_dir,
        model,
        {"path": environment, "options": {"num_turns": 2} if environment == "Echo" else {}},
        rollout={
            "engine": "vllm_server",
            "vllm_server": {"urls": [url], "weights_dir": str(run_dir.parent / "server_weights")},
            "prompts_per_step": PER_STEP,
            "group_size": 2,
            "max_completion_tokens": 40,
            "stop": list(DIGITS),
        },
        loss={"importance": {"mode": "token_truncate"}},
        train={
            "steps": STEPS,
            "max_staleness_steps": 2,
            "checkpoint_every_steps": 1,
            "keep_checkpoints": None,
        },
    )


def check_each_problem_once(run_dir: Path) -> None:
    """A whole run trained on as many problems as its steps have groups, on none of them twice."""
    found = Counter(
        problem
        for step in range(1, STEPS + 1)
        for problem in {row["id"] for row in rollouts(run_dir, step)}
    )
    assert (len(found), max(found.values())) == (STEPS * PER_STEP, 1)


@pytest.mark.slow
def test_a_run_trains_on_episodes_of_several_weights_and_goes_on_from_a_checkpoint(
    task: Path, tmp_path: Path, model: Path
) -> None:
    with sampling_server(str(model)) as (url, _):
        config = streamed(task, tmp_path / "run", model, url, "Echo")
        train(config)
        rows = metrics(config.output_dir)
        assert [row["step"] for row in rows] == list(range(1, STEPS + 1))
        assert rows[0]["policy/sampler_kl"] < 1e-6
        assert max(row["staleness/max"] for row in rows) in (1, 2)
        lines = [row for step in range(1, STEPS + 1) for row in rollouts(config.output_dir, step)]
        for row in lines:
            assert sum(tokens for _, tokens in row["weights"]) == row["completion_tokens"]
        assert max(len(row["turns"]) for row in lines) == 3, "two messages and an observation"
        check_each_problem_once(config.output_dir)
        for checkpoint in list_checkpoints(config.output_dir)[1:]:
            shutil.rmtree(checkpoint.folder)
        shutil.rmtree(config.output_dir / "model")
        train(config, resume=True)
        check_each_problem_once(config.output_dir)


@pytest.mark.slow
def test_lost_groups_are_counted_and_others_take_their_places(
    task: Path, tmp_path: Path, model: Path
) -> None:
    with sampling_server(str(model)) as (url, _):
        config = streamed(task, tmp_path / "run", model, url, f"{__name__}:LostAtTimes")
        train(config)
    rows = metrics(config.output_dir)
    assert sum(row.get("episode/lost_groups", 0) for row in rows) > 0
    assert [row["completion/count"] for row in rows] == [2 * PER_STEP] * STEPS
    check_each_problem_once(config.output_dir)
