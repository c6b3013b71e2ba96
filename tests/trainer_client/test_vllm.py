"""vLLM samples, the trainer trains, and its new weights arrive: in process and over HTTP, on CPU.

That the sampler's log-probabilities equal the trainer's after an update is the proof that the
update arrived; that they do not before it, the proof that this check can fail.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from tests.trainer_client.episode_runs import TEMPLATE
from tests.trainer_client.nucleus import cut_logprobs
from tests.trainer_client.tap import forwarding
from tests.trainer_client.vllm_server import ENVIRONMENT, Server, running_vllm
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.run_config import Config, ConfigError, dump_config, make_config
from trainer_client.data_sets import load_data_sets
from trainer_client.errors import TrainingStopped
from trainer_client.learner import Learner, make_learner, start_position
from trainer_client.policy.logprobs import token_logprobs
from trainer_client.policy.policy import load_policy
from trainer_client.policy.weights import save_weights
from trainer_client.problem_mix import ProblemMix
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import open_scorer
from trainer_client.rollout import Rollout, RolloutError, RolloutGroup, Sampling
from trainer_client.rollout.daemon_thread import start_daemon
from trainer_client.rollout.group_requests import DatedGroup
from trainer_client.rollout.group_sampler import GroupSampler
from trainer_client.rollout.vllm_server import VllmServerEngine
from trainer_client.run.checkpoint import Position, RandomState, list_checkpoints
from trainer_client.sft import fine_tune
from trainer_client.train import train, train_step

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("default")]
pytest.importorskip("vllm")
GENERATE, PUSH = "/inference/v1/generate", "/collective_rpc"
ADAPTER = {"lora": {"rank": 8, "alpha": 16, "rank_stabilized": True}}
SAMPLING = Sampling(group_size=4, max_completion_tokens=24, temperature=0.8, top_p=1.0)


def config(
    model: Path, data: Path, run_dir: Path, url: str, /, *, device: str = "cpu", **sections: Any
) -> Config:
    values: dict[str, Any] = {
        "output_dir": str(run_dir),
        "model": {"path": str(model), "device": device},
        "dataset": {"path": str(data / "train.jsonl"), "system_prompt": None},
        "rollout": {
            "prompts_per_step": 8,
            "group_size": 4,
            "max_completion_tokens": 48,
            "temperature": 0.8,
            "vllm": {"max_model_tokens": 256, "compile": False},
        },
        "reward": {"url": url, "verifiers": [{"type": "accuracy"}, {"type": "tag_count"}]},
        "optimizer": {"learning_rate": 1e-3},
        "train": {"steps": 5},
    }
    for name, section in sections.items():
        values[name] = {**values.get(name, {}), **section}
    return make_config(values)


@pytest.fixture(scope="module")
def taught(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demonstration's model after a short supervised phase: its completions differ."""
    run_dir = tmp_path_factory.mktemp("taught")
    fine_tune(
        make_config(
            {
                "output_dir": str(run_dir),
                "model": {"path": str(task / "model"), "device": "cpu"},
                "dataset": {
                    "path": str(task / "data" / "demonstrations.jsonl"),
                    "system_prompt": None,
                },
                "sft": {"steps": 80, "batch_size": 16, "learning_rate": 3e-3},
            }
        )
    )
    return run_dir / "model"


@pytest.fixture(scope="module")
def served(taught: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same weights, in which the tied output layer has its own name, too."""
    folder = tmp_path_factory.mktemp("served")
    policy = load_policy(ModelConfig(path=str(taught), device="cpu"))
    policy.tokenizer.save_pretrained(folder)
    save_weights(policy.model, folder)
    return folder


@pytest.fixture(scope="module")
def server(served: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_vllm(served, tmp_path_factory.mktemp("vllm") / "log") as running:
        yield running


@pytest.fixture(scope="module")
def adapter_server(served: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that takes adapters, and whole weights as well."""
    flags = ("--enable-lora", "--max-lora-rank", "8")
    environment = {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1"}
    log = tmp_path_factory.mktemp("vllm") / "log"
    with running_vllm(served, log, *flags, environment=environment) as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def quiet_threads() -> None:
    os.environ.update(ENVIRONMENT)


def served_by(server: Server, **more: Any) -> dict[str, Any]:
    return served_at(server.url, **more)


def served_at(url: str, **more: Any) -> dict[str, Any]:
    return {"engine": "vllm_server", "vllm_server": {"urls": [url], **more}}


def sample(learner: Learner, settings: Config, sampling: Sampling = SAMPLING) -> list[Rollout]:
    groups: dict[int, RolloutGroup] = {}
    problems = load_data_sets(settings)[0].problems[:6]
    learner.engine.generate(problems, sampling, groups.__setitem__)
    assert sorted(groups) == list(range(6))
    return [rollout for index in range(6) for rollout in groups[index].rollouts]


def largest_difference(learner: Learner, rollouts: list[Rollout]) -> float:
    """The largest difference between the sampler's log-probabilities and the trainer's."""
    return max(differences(learner, rollout).abs().max().item() for rollout in rollouts)


def differences(learner: Learner, rollout: Rollout) -> torch.Tensor:
    """The trainer's log-probability of each token minus the sampler's."""
    ids = torch.tensor([rollout.prompt_ids + rollout.completion_ids], device=learner.policy.device)
    mask = torch.ones_like(ids, dtype=torch.bool)
    completion = mask.clone()
    completion[:, : len(rollout.prompt_ids)] = False
    with torch.no_grad():
        logprobs = token_logprobs(
            learner.policy.model, ids, mask, completion, temperature=SAMPLING.temperature
        ).logprobs
    return logprobs[completion].cpu() - torch.tensor(rollout.sampler_logprobs)


def check_five_steps(learner: Learner, settings: Config) -> None:
    """Five steps; around each weight update the log-probabilities of fresh samples."""
    mix = ProblemMix(load_data_sets(settings), per_step=8, seed=0)
    position = start_position(None)
    settings.output_dir.mkdir(parents=True)
    with open_scorer(settings.reward) as scorer:
        sampler = GroupSampler(learner, scorer, mix, settings)
        for step in range(5):
            metrics, next_problem = train_step(learner, sampler, position, settings)
            assert metrics["policy/updates"] == 1
            assert metrics["policy/grad_norm"] > 0
            assert largest_difference(learner, sample(learner, settings)) > 1e-3
            learner.engine.update_weights()
            rollouts = sample(learner, settings)
            assert largest_difference(learner, rollouts) < 1e-4
            position = Position(step + 1, next_problem, RandomState.now())
    assert {rollout.truncated for rollout in rollouts} <= {True, False}
    for rollout in rollouts:
        ends = [token in learner.policy.eos_ids for token in rollout.completion_ids]
        assert ends == [False] * (len(ends) - 1) + [not rollout.truncated]


def test_a_servers_logprobs_equal_the_trainers_after_each_update(
    taught: Path, task: Path, service_url: str, server: Server, tmp_path: Path
) -> None:
    """Five steps over HTTP, with weights through `reload_weights`."""
    settings = config(
        taught, task / "data", tmp_path / "run", service_url, rollout=served_by(server)
    )
    with closing(make_learner(settings)) as learner:
        check_five_steps(learner, settings)


@pytest.mark.gpu
@pytest.mark.parametrize("backend", ["ipc", "nccl"])
def test_weights_go_from_gpu_to_gpu(
    served: Path, taught: Path, task: Path, service_url: str, tmp_path: Path, backend: str
) -> None:
    """Five steps with weights that stay on GPUs; nccl needs a second GPU for the server."""
    if backend == "nccl" and torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    flags = ("--weight-transfer-config", json.dumps({"backend": backend}))
    visible = {"CUDA_VISIBLE_DEVICES": "1" if backend == "nccl" else "0"}
    with running_vllm(served, tmp_path / "log", *flags, environment=visible) as server:
        settings = config(
            taught,
            task / "data",
            tmp_path / "run",
            service_url,
            device="cuda",
            rollout=served_by(server, weight_transfer=backend),
        )
        with closing(make_learner(settings)) as learner:
            check_five_steps(learner, settings)


def test_an_adapter_alone_arrives_at_a_server(
    taught: Path, adapter_server: Server, task: Path, service_url: str, tmp_path: Path
) -> None:
    """Five steps; the whole weights go once, for the base, and an adapter before each step."""
    seen: list[str] = []
    with forwarding(adapter_server.url, seen.append) as url:
        settings = config(
            taught,
            task / "data",
            tmp_path / "run",
            service_url,
            model=ADAPTER,
            rollout=served_at(url),
        )
        with closing(make_learner(settings)) as learner:
            check_five_steps(learner, settings)
    assert seen.count(PUSH) == 1
    assert seen.count("/v1/load_lora_adapter") > 5
    assert not (settings.output_dir / "server_weights_adapter").exists()


def test_a_server_without_adapters_gets_the_merged_weights(
    taught: Path, task: Path, service_url: str, server: Server, tmp_path: Path
) -> None:
    settings = config(
        taught,
        task / "data",
        tmp_path / "run",
        service_url,
        model=ADAPTER,
        rollout=served_by(server),
    )
    with closing(make_learner(settings)) as learner:
        check_five_steps(learner, settings)


def test_an_adapter_alone_arrives_at_the_engine_in_this_process(
    taught: Path, task: Path, service_url: str, tmp_path: Path
) -> None:
    settings = config(
        taught,
        task / "data",
        tmp_path / "run",
        service_url,
        model=ADAPTER,
        rollout={"engine": "vllm", "lora_weights": "adapter"},
    )
    with closing(make_learner(settings)) as learner:
        check_five_steps(learner, settings)


def test_a_run_with_a_server_trains_to_its_end(
    taught: Path, task: Path, service_url: str, server: Server, tmp_path: Path
) -> None:
    """`train` from start to end, and nothing of the transfer is left on disk."""
    settings = config(
        taught, task / "data", tmp_path / "run", service_url, rollout=served_by(server)
    )
    train(settings)
    lines = (settings.output_dir / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2, 3, 4, 5]
    assert not (settings.output_dir / "server_weights").exists()


def test_a_run_one_step_off_trains_with_the_correction(
    taught: Path, task: Path, service_url: str, server: Server, tmp_path: Path
) -> None:
    """The completions of a step are of the weights before the last update: their KL shows it."""
    settings = config(
        taught,
        task / "data",
        tmp_path / "run",
        service_url,
        rollout=served_by(server),
        loss={"importance": {"mode": "token_truncate"}},
        train={"max_staleness_steps": 1},
    )
    train(settings)
    lines = (settings.output_dir / "metrics.jsonl").read_text().splitlines()
    divergence = [json.loads(line)["policy/sampler_kl"] for line in lines]
    assert divergence[0] < 1e-6
    assert len(divergence) == 5
    assert min(divergence[1:]) > 1e-5


def test_a_run_of_staleness_two_trains_on_tokens_of_several_weights(
    taught: Path, task: Path, service_url: str, server: Server, tmp_path: Path
) -> None:
    """Weights change within completions, and each token says which weights sampled it."""
    settings = config(
        taught,
        task / "data",
        tmp_path / "run",
        service_url,
        rollout=served_by(server),
        loss={"importance": {"mode": "token_truncate"}},
        train={"max_staleness_steps": 2, "steps": 6},
    )
    train(settings)
    lines = (settings.output_dir / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["step"] for row in rows] == list(range(1, 7))
    assert rows[0]["policy/sampler_kl"] < 1e-6
    assert max(row["staleness/max"] for row in rows) == 2
    assert min(row["policy/sampler_kl"] for row in rows[2:]) > 1e-5


def test_tokens_before_and_after_an_update_are_of_the_weights_that_they_name(
    taught: Path, task: Path, service_url: str, server: Server, tmp_path: Path
) -> None:
    """An update comes while a group is under way: frozen completions read their tokens again."""
    settings = config(
        taught,
        task / "data",
        tmp_path / "run",
        service_url,
        rollout=served_by(server),
        loss={"importance": {"mode": "token_truncate"}},
        train={"max_staleness_steps": 2},
    )
    sampling = replace(SAMPLING, max_completion_tokens=150, seed=1)
    problem = load_data_sets(settings)[0].problems[0]
    with closing(make_learner(settings)) as learner:
        engine = cast(VllmServerEngine, learner.engine)
        engine.update_weights()

        async def ask() -> DatedGroup:
            async with engine.group_requests() as group:
                return await group(problem, sampling)

        for attempt in range(60):
            pending = start_daemon(lambda: asyncio.run(ask()))
            before, first = copy.deepcopy(learner.policy.model), engine.num_updates
            with torch.no_grad():
                for weight in learner.policy.model.parameters():
                    weight.mul_(1.002)
            time.sleep(0.005 * attempt)  # one of them is in the middle of a completion
            engine.update_weights()
            dated = pending.result(120)
            found = [
                (rollout, updates)
                for rollout, updates in zip(dated.group.rollouts, dated.updates, strict=True)
                if len(set(updates)) == 2
            ]
            if found:
                break
        for rollout, updates in found:
            old = sum(update == first for update in updates)
            for model, part in ((before, slice(old)), (learner.policy.model, slice(old, None))):
                learner_of_part = replace(learner, policy=replace(learner.policy, model=model))
                difference = differences(learner_of_part, rollout)[part].abs().max().item()
                assert difference < 1e-4
    assert found


def test_completions_of_other_weights_are_refused(
    taught: Path, task: Path, service_url: str, server: Server, tmp_path: Path
) -> None:
    """Two runs at one server: the first notices that its weights are gone."""
    settings = config(
        taught, task / "data", tmp_path / "run", service_url, rollout=served_by(server)
    )
    first, second = make_learner(settings), make_learner(settings)
    first.engine.update_weights()
    second.engine.update_weights()
    with pytest.raises(RolloutError, match="does another run use it"):
        sample(first, settings)


def test_a_server_without_processed_logprobs_or_none_at_all_is_named(
    taught: Path, task: Path, tmp_path: Path
) -> None:
    """Nobody listens at the address; the message says how to start a server."""
    settings = config(
        taught,
        task / "data",
        tmp_path / "run",
        "http://127.0.0.1:9",
        rollout={"engine": "vllm_server", "vllm_server": {"urls": ["http://127.0.0.1:9"]}},
    )
    with pytest.raises(ConfigError, match="--logprobs-mode processed_logprobs"):
        make_learner(settings)


@pytest.fixture(scope="module")
def in_process(
    taught: Path, task: Path, service_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Learner, Config]]:
    """vLLM in this process."""
    folder = tmp_path_factory.mktemp("in_process") / "run"
    settings = config(taught, task / "data", folder, service_url, rollout={"engine": "vllm"})
    with closing(make_learner(settings)) as learner:
        yield learner, settings


def test_the_in_process_engines_logprobs_equal_the_trainers_after_each_update(
    in_process: tuple[Learner, Config],
) -> None:
    """Five steps with vLLM in this process, weights handed over as tensors."""
    check_five_steps(*in_process)


def check_cut_distribution(learner: Learner, settings: Config) -> None:
    """Log-probabilities are of what top_p leaves; the policy's own are lower."""
    learner.engine.update_weights()
    sampling = replace(SAMPLING, top_p=0.7)
    for rollout in sample(learner, settings, sampling):
        expected = cut_logprobs(learner.policy, rollout, temperature=0.8, top_p=0.7)
        assert rollout.sampler_logprobs == pytest.approx(expected.tolist(), abs=1e-4)


def test_with_top_p_the_in_process_engine_gives_those_of_the_cut_distribution(
    in_process: tuple[Learner, Config],
) -> None:
    """All engines report the same distribution."""
    check_cut_distribution(*in_process)


def test_with_top_p_a_server_gives_those_of_the_cut_distribution(
    taught: Path, task: Path, service_url: str, server: Server, tmp_path: Path
) -> None:
    """All engines report the same distribution."""
    settings = config(
        taught, task / "data", tmp_path / "run", service_url, rollout=served_by(server)
    )
    with closing(make_learner(settings)) as learner:
        check_cut_distribution(learner, settings)


def test_a_prompt_that_is_too_long_for_the_in_process_engine_is_named(
    in_process: tuple[Learner, Config],
) -> None:
    """vLLM's error becomes one after which a run is saved."""
    learner, _ = in_process
    long = Problem("long", ({"role": "user", "content": "1+" * 200},), {})
    with pytest.raises(RolloutError, match=r"vLLM cannot sample: .*256"):
        learner.engine.generate([long], SAMPLING, lambda index, group: None)


@pytest.mark.parametrize("engine", ["vllm", "vllm_server"])
def test_the_turns_of_episodes_have_the_trainers_logprobs(
    taught: Path, task: Path, service_url: str, tmp_path: Path, request: Any, engine: str
) -> None:
    """Two turns of each episode, the second behind an observation, in process and at a server."""
    rollout: dict[str, Any] = {"engine": engine}
    if engine == "vllm_server":
        rollout |= served_by(request.getfixturevalue("server"))
    rollout["environment"] = {
        "path": "tests.trainer_client.episode_runs:Echo",
        "options": {"num_turns": 2},
        "max_turn_tokens": 24,
    }
    rollout["stop"] = list("0123456789")
    model = chatty_model_at(taught, tmp_path / "chatty")
    settings = config(model, task / "data", tmp_path / "run", service_url, rollout=rollout)
    with closing(make_learner(settings)) as learner:
        learner.engine.update_weights()
        turns = replace(SAMPLING, stop=tuple("0123456789"), max_completion_tokens=120)
        rollouts = sample(learner, settings, turns)
        assert 2 in {one.episode.num_turns for one in rollouts if one.episode}
        for one in rollouts:
            assert largest_difference_where_sampled(learner, one) < 1e-4


def chatty_model_at(model: Path, folder: Path) -> Path:
    """The model with a chat template of turns."""
    policy = load_policy(ModelConfig(path=str(model), device="cpu"))
    policy.tokenizer.chat_template = TEMPLATE
    policy.save(folder)
    return folder


def largest_difference_where_sampled(learner: Learner, rollout: Rollout) -> float:
    """The `largest_difference` on the tokens of the policy alone."""
    ids = torch.tensor([rollout.prompt_ids + rollout.completion_ids])
    mask = torch.ones_like(ids, dtype=torch.bool)
    completion = mask.clone()
    completion[:, : len(rollout.prompt_ids)] = False
    with torch.no_grad():
        logprobs = token_logprobs(
            learner.policy.model, ids, mask, completion, temperature=SAMPLING.temperature
        ).logprobs
    difference = logprobs[completion] - torch.tensor(rollout.sampler_logprobs)
    return difference[torch.tensor(rollout.sampled)].abs().max().item()


def in_step_two(path: str, act: Callable[[], None]) -> Callable[[str], None]:
    """Act at the first request for this path once the second step's weights are on their way."""
    pushes: list[str] = []
    done: list[str] = []

    def on_request(seen: str) -> None:
        if seen == PUSH:
            pushes.append(seen)
        if seen == path and len(pushes) == 2 and not done:
            done.append(seen)
            act()

    return on_request


def check_saved_after_one_step(settings: Config) -> None:
    (checkpoint,) = list_checkpoints(settings.output_dir)
    assert checkpoint.step == 1
    assert (checkpoint.folder / "model.safetensors").exists()


@pytest.mark.parametrize("path", [GENERATE, PUSH])
def test_a_server_that_hangs_stops_the_run_at_the_deadline_with_a_checkpoint(
    taught: Path, task: Path, service_url: str, server: Server, tmp_path: Path, path: str
) -> None:
    """Frozen while it samples, or takes weights, for the second step."""
    freeze = in_step_two(path, lambda: server.signal(signal.SIGSTOP))
    with forwarding(server.url, freeze) as url:
        settings = config(
            taught,
            task / "data",
            tmp_path / "run",
            service_url,
            rollout=served_at(url, deadline_seconds=20),
        )
        try:
            with pytest.raises(
                TrainingStopped, match=r"deadline_seconds = 20.*Saved .*step_000001"
            ):
                train(settings)
        finally:
            server.signal(signal.SIGCONT)
    check_saved_after_one_step(settings)


def test_a_server_that_dies_while_it_takes_weights_ends_the_run_at_once_with_a_checkpoint(
    adapter_server: Server, taught: Path, task: Path, service_url: str, tmp_path: Path
) -> None:
    """Killed during the second step's push; the deadline is far away. The last test that has it."""
    kill = in_step_two(PUSH, lambda: adapter_server.signal(signal.SIGKILL))
    with forwarding(adapter_server.url, kill) as url:
        settings = config(
            taught, task / "data", tmp_path / "run", service_url, rollout=served_at(url)
        )
        with pytest.raises(
            TrainingStopped, match=r"the vLLM server is gone: POST .*collective_rpc"
        ):
            train(settings)
    check_saved_after_one_step(settings)


def test_a_server_that_dies_while_it_samples_ends_the_command_with_a_message_and_a_checkpoint(
    taught: Path, task: Path, service_url: str, server: Server, tmp_path: Path
) -> None:
    """`trainer-client train`, killed during the second step. The last test that has a server."""
    kill = in_step_two(GENERATE, lambda: server.signal(signal.SIGKILL))
    with forwarding(server.url, kill) as url:
        settings = config(
            taught, task / "data", tmp_path / "run", service_url, rollout=served_at(url)
        )
        (tmp_path / "config.yaml").write_text(dump_config(settings))
        result = subprocess.run(
            [sys.executable, "-m", "trainer_client", "train", str(tmp_path / "config.yaml")],
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert result.returncode == 1
    message = result.stderr.splitlines()[-1]
    assert "error: stopped after step 1: the vLLM server is gone: POST" in message
    assert "`--resume` goes on from there" in message
    assert "Traceback" not in result.stderr
    check_saved_after_one_step(settings)
