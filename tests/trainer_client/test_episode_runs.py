"""Whole runs with environments: what is trained on, scored, logged and reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.device import DEVICE
from tests.trainer_client.episode_runs import Echo, chatty_model, episode_config
from tests.trainer_client.runs import metrics, plain_sampling, rollouts, same, weights
from tests.trainer_client.sampling_server import sampling_server
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.rollout_section import VllmServerConfig
from trainer_client.config.run_config import ConfigError, make_config
from trainer_client.episodes.episode_engine import EpisodeEngine
from trainer_client.errors import TrainingStopped
from trainer_client.policy.policy import load_policy
from trainer_client.problems import Problem
from trainer_client.rollout import RolloutError, RolloutGroup
from trainer_client.rollout.vllm_server import VllmServerEngine
from trainer_client.run.report import write_report
from trainer_client.train import train


@pytest.fixture(scope="module")
def model(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chatty_model(task, tmp_path_factory.mktemp("chatty"))


def test_a_run_trains_on_episodes_and_logs_them(task: Path, tmp_path: Path, model: Path) -> None:
    config = episode_config(
        task,
        tmp_path / "run",
        model,
        {"path": "Echo", "options": {"num_turns": 2}},
        reward={"environment": {"weight": 0.5}},
        train={"steps": 2},
        evaluation={
            "dataset": {"path": str(task / "data" / "held_out.jsonl"), "system_prompt": None},
            "verifier": "digits",
            "num_samples": 1,
            "k": [1],
        },
        rollout={
            "prompts_per_step": 2,
            "group_size": 2,
            "max_completion_tokens": 90,
            "stop": list("aeiou0123456789"),
        },
    )
    train(config)
    rows = [row for row in metrics(tmp_path / "run") if row["step"]]
    assert len(rows) == 2
    for number, row in enumerate(rows, 1):
        logged = rollouts(tmp_path / "run", number)
        assert len(logged) == 4
        turns = [sum(one["role"] == "assistant" for one in line["turns"]) for line in logged]
        assert row["episode/turns"] == sum(turns) / 4
        assert row["episode/steps"] == sum(line["extra"].get("steps", 0) for line in logged) / 4
        assert row["completion/length"] == sum(line["completion_tokens"] for line in logged) / 4
        assert row["policy/sampler_kl"] < 1e-5, "the tokens that were sampled are trained on"
        for line in logged:
            assert line["completion"] == line["turns"][-1]["content"]
            expected = sum(range(1, int(line["extra"].get("steps", 0)) + 1))
            assert line["verdicts"]["environment"]["score"] == expected
            assert line["truncated"] == (line["ended_by"] != "done")
    assert not same(weights(model), weights(tmp_path / "run" / "model"))
    write_report(tmp_path / "run", tmp_path / "report.html")
    assert "[assistant]" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_a_group_whose_environment_is_lost_is_not_trained_on(
    task: Path, tmp_path: Path, model: Path
) -> None:
    file = tmp_path / "leaves.py"
    file.write_text(
        "from trainer_client.episodes.environment import EnvironmentLost\n"
        "import threading\n"
        "lock, seen = threading.Lock(), []\n"
        "class Leaves:\n"
        "    def reset(self, problem):\n"
        "        with lock:\n"
        "            seen.append(problem.id)\n"
        "            self.lost = problem.id == seen[0]\n"
        "        return problem.messages\n"
        "    def step(self, message):\n"
        "        if self.lost: raise EnvironmentLost('the machine is gone')\n"
        "        return None, True, {}\n"
    )
    config = episode_config(
        task,
        tmp_path / "run",
        model,
        {"path": f"{file}:Leaves"},
        train={"steps": 1},
        rollout={
            "prompts_per_step": 3,
            "group_size": 2,
            "max_completion_tokens": 90,
            "stop": list("aeiou0123456789"),
        },
    )
    train(config)
    (row,) = metrics(tmp_path / "run")
    lines = rollouts(tmp_path / "run", 1)
    assert row["episode/lost_groups"] == 1
    assert row["completion/count"] == len(lines) == 4
    assert len({line["id"] for line in lines}) == 2


@pytest.mark.slow
def test_a_step_that_loses_every_group_stops_the_run_with_a_checkpoint(
    task: Path, tmp_path: Path, model: Path
) -> None:
    file = tmp_path / "gone.py"
    file.write_text(
        "from trainer_client.episodes.environment import EnvironmentLost\n"
        "class Gone:\n"
        "    def reset(self, problem): raise EnvironmentLost('nobody is there')\n"
        "    def step(self, message): ...\n"
    )
    config = episode_config(task, tmp_path / "run", model, {"path": f"{file}:Gone"})
    message = "no whole group: 4 groups were lost: nobody is there. Saved .*step_000000"
    with pytest.raises(TrainingStopped, match=message):
        train(config)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"path": "nowhere"}, r"rollout.environment.path: expected file.py:name"),
        ({"path": "python_tool", "turns": 3}, "no such setting in rollout.environment"),
    ],
)
def test_settings_of_an_environment_are_checked(environment: dict[str, Any], message: str) -> None:
    values = {
        "output_dir": "run",
        "model": {"path": "model"},
        "dataset": {"path": "data.jsonl"},
        "rollout": {"environment": environment},
    }
    with pytest.raises(ConfigError, match=message):
        make_config(values)


def test_rewards_of_an_environment_without_one_are_refused() -> None:
    values: dict[str, Any] = {
        "output_dir": "run",
        "model": {"path": "model"},
        "dataset": {"path": "data.jsonl"},
        "reward": {"environment": {}},
    }
    with pytest.raises(ConfigError, match=r"reward\.environment needs rollout\.environment"):
        make_config(values)


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("missing.py:One", {}, "missing.py cannot be imported: ImportError"),
        ("json:nothing", {}, "json has no class or function 'nothing'"),
        ("json:dumps", {"obj": 1}, "json:dumps makes a str, which has no reset and no step"),
        ("python_tool", {"form": "x"}, "form must be calls or fenced, found 'x'"),
        ("Echo", {"turns": 1}, "Echo with options .* raised TypeError"),
    ],
)
def test_an_environment_that_cannot_be_made_is_an_error_at_the_start(
    task: Path, tmp_path: Path, model: Path, path: str, options: dict[str, Any], message: str
) -> None:
    config = episode_config(task, tmp_path / "run", model, {"path": path, "options": options})
    policy = load_policy(ModelConfig(path=str(model), device=DEVICE))
    with pytest.raises(ConfigError, match=message):
        EpisodeEngine(None, policy, config)  # type: ignore[arg-type]


def sample_at_server(task: Path, folder: Path, model: Path, spoil: Any) -> list[RolloutGroup]:
    """Two groups of episodes, whose turns a server samples."""
    policy = load_policy(ModelConfig(path=str(model), device=DEVICE))
    problems = [Problem(text, ({"role": "user", "content": text},), {}) for text in ("1+2", "7")]
    config = episode_config(
        task, folder, model, {"path": "Echo", "options": {"num_turns": 2}, "max_turn_tokens": 12}
    )
    groups: dict[int, RolloutGroup] = {}
    with sampling_server(str(model), spoil) as (url, _):
        server = VllmServerConfig(urls=(url,), deadline_seconds=300)
        engine = VllmServerEngine(policy, server, weights_dir=folder / "weights")
        engine.update_weights()
        episodes = EpisodeEngine(engine, policy, config)
        episodes.generate(problems, plain_sampling(2, 60, seed=1), groups.__setitem__)
    return [groups[index] for index in range(2)]


@pytest.mark.slow
def test_a_server_samples_the_turns_of_episodes(task: Path, tmp_path: Path, model: Path) -> None:
    groups = sample_at_server(task, tmp_path, model, lambda path, response: response)
    turns = set()
    for group in groups:
        for rollout in group.rollouts:
            assert rollout.episode is not None
            turns.add(rollout.episode.num_turns)
            assert rollout.num_sampled <= 24
    assert turns <= {1, 2}


@pytest.mark.slow
def test_an_error_of_the_server_in_an_episode_is_raised_as_itself(
    task: Path, tmp_path: Path, model: Path
) -> None:
    def spoil(path: str, response: Any) -> Any:
        return 500 if path == "/inference/v1/generate" and response != 422 else response

    Echo.closed.clear()
    with pytest.raises(RolloutError, match="generate: 500"):
        sample_at_server(task, tmp_path, model, spoil)
    assert len(Echo.closed) == 1 + 4, "their environments are closed all the same"


@pytest.mark.slow
def test_what_is_judged_is_an_option(task: Path, tmp_path: Path, model: Path) -> None:
    """The text of the last message, of all of the policy's, or the chat as the wire has it."""
    file = tmp_path / "judge.py"
    file.write_text(
        "def judge(completions, **columns):\n    return [len(c) for c in completions]\n"
    )
    found = {}
    for judged in ("last_message", "all_messages", "chat"):
        config = episode_config(
            task,
            tmp_path / judged,
            model,
            {"path": "Echo", "options": {"num_turns": 2}, "judged": judged},
            reward={"functions": [{"path": f"{file}:judge"}]},
            train={"steps": 1},
            rollout={"prompts_per_step": 1, "group_size": 2, "max_completion_tokens": 60},
        )
        train(config)
        found[judged] = rollouts(tmp_path / judged, 1)
    for line in found["all_messages"]:
        said = [turn["content"] for turn in line["turns"] if turn["role"] == "assistant"]
        assert line["completion"] == "\n".join(said)
    assert [one["completion"] for one in found["chat"]] == [
        one["completion"] for one in found["last_message"]
    ]
    assert json.dumps(found["chat"][0]["turns"])
