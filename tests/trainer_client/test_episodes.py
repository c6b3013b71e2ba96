"""Episodes: tokens, masks, limits, lost environments, and what is scored and logged."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.trainer_client.device import DEVICE
from tests.trainer_client.episode_runs import (
    Echo,
    Scripted,
    chatty_model,
    episode_config,
)
from tests.trainer_client.runs import plain_sampling
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.rollout_section import EnvironmentConfig
from trainer_client.config.run_config import Config, ConfigError
from trainer_client.episodes.environment import StepOutcome
from trainer_client.episodes.episode_engine import EpisodeEngine
from trainer_client.episodes.live_episode import LiveEpisode
from trainer_client.policy.logprobs import token_logprobs
from trainer_client.policy.packing import enable_packing
from trainer_client.policy.policy import Policy, load_policy
from trainer_client.problems import Problem
from trainer_client.rollout import Rollout, RolloutError, RolloutGroup
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.rollout.turns import SampledTurn
from trainer_client.update.batch import make_batch, micro_batches

PROBLEMS = [Problem(text, ({"role": "user", "content": text},), {}) for text in ("1+2=?", "7?")]


@pytest.fixture(scope="module")
def model(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chatty_model(task, tmp_path_factory.mktemp("chatty"))


@pytest.fixture
def policy(model: Path) -> Policy:
    return load_policy(ModelConfig(path=str(model), device=DEVICE))


@pytest.fixture
def configured(task: Path, tmp_path: Path, model: Path) -> Callable[..., Config]:
    """A configuration whose environment has these settings."""

    def make(path: str, **settings: Any) -> Config:
        return episode_config(task, tmp_path / "run", model, {"path": path, **settings})

    return make


def sample(
    engine: Any,
    policy: Policy,
    config: Config,
    *,
    problems: list[Problem] = PROBLEMS,
    group_size: int = 2,
    max_tokens: int = 120,
) -> list[RolloutGroup]:
    groups: dict[int, RolloutGroup] = {}

    def receive(index: int, group: RolloutGroup) -> None:
        assert index not in groups
        groups[index] = group

    EpisodeEngine(engine, policy, config).generate(
        problems, plain_sampling(group_size, max_tokens), receive
    )
    return [groups[index] for index in range(len(problems))]


def rollouts_in(groups: list[RolloutGroup]) -> list[Rollout]:
    return [rollout for group in groups for rollout in group.rollouts]


def test_an_episode_is_its_template_rendered_with_the_sampled_ids_kept(
    policy: Policy, configured: Callable[..., Config]
) -> None:
    engine = Scripted(policy, lambda key, number: f"say {key} {number}")
    (rollout, _), _ = (group.rollouts for group in sample(engine, policy, configured("Echo")))
    assert rollout.episode is not None
    said = [f"say 0 {number}" for number in range(3)]
    assert rollout.episode.messages == (
        {"role": "assistant", "content": said[0]},
        {"role": "user", "content": "got 1"},
        {"role": "assistant", "content": said[1]},
        {"role": "user", "content": "got 2"},
        {"role": "assistant", "content": said[2]},
    )
    chat = [*PROBLEMS[0].messages, *rollout.episode.messages]
    whole = policy.tokenizer.apply_chat_template(chat, tokenize=False).removesuffix("\n")
    encoded = policy.tokenizer.encode(whole, add_special_tokens=False)
    assert [*rollout.prompt_ids, *rollout.completion_ids] == encoded
    assert rollout.sampled is not None
    own = [
        one for one, sampled in zip(rollout.completion_ids, rollout.sampled, strict=True) if sampled
    ]
    assert policy.decode(own) == "".join(said)
    assert own.count(policy.eos_ids[0]) == 3
    assert [value for value in rollout.sampler_logprobs if value] == [-1.0] * len(own)
    assert rollout.num_sampled == len(own)
    assert (rollout.text, rollout.truncated, rollout.episode.end) == (said[2], False, "done")
    assert rollout.episode.extra == {"reward": 1 + 2 + 3, "steps": 3}


@pytest.mark.parametrize(
    ("settings", "max_tokens", "end", "num_turns"),
    [
        ({"max_turns": 2}, 100, "turn_limit", 2),
        ({"max_turns": 3}, 100, "done", 3),
        ({}, 20, "token_limit", 1),  # no room for the first observation
        ({}, 4, "token_limit", 1),  # nor for the first message
        ({"max_turn_tokens": 5}, 100, "token_limit", 1),
    ],
)
def test_a_limit_truncates_an_episode(
    policy: Policy,
    configured: Callable[..., Config],
    settings: dict[str, Any],
    max_tokens: int,
    end: str,
    num_turns: int,
) -> None:
    engine = Scripted(policy, lambda key, number: "hello")
    config = configured("Echo", **settings)
    for rollout in rollouts_in(sample(engine, policy, config, max_tokens=max_tokens)):
        assert rollout.episode is not None
        assert (rollout.episode.end, rollout.episode.num_turns) == (end, num_turns)
        assert rollout.truncated == (end != "done")
        assert len(rollout.completion_ids) <= max_tokens
        assert rollout.sampled is not None
        assert rollout.sampled[-1], "no observation stands at the end"


def test_a_text_that_stops_is_followed_by_the_templates_end_of_the_message(
    policy: Policy, configured: Callable[..., Config]
) -> None:
    """The end-of-sequence token that the policy has not sampled is an observation's."""

    class Stopping(Scripted):
        def sample_turns(self, feed: Any, sampling: Any) -> None:
            while requests := feed.take(1):
                ids = policy.tokenizer.encode("run)", add_special_tokens=False)
                feed.end(requests[0].key, SampledTurn(ids, [-1.0] * 4, True))

    (rollout, *_) = rollouts_in(
        sample(
            Stopping(policy, lambda *_: ""), policy, configured("Echo", options={"num_turns": 2})
        )
    )
    assert rollout.sampled is not None
    text = "run)<eos>\nuser: got 1\nassistant: run)"
    encoded = policy.tokenizer.encode(text, add_special_tokens=False)
    assert list(rollout.completion_ids) == encoded
    assert rollout.sampled[:5] == (True,) * 4 + (False,)


def test_control_tokens_in_an_observation_are_broken_up(
    policy: Policy, configured: Callable[..., Config], tmp_path: Path
) -> None:
    """A tool that prints the end of a message and a turn of its own stays one observation."""
    file = tmp_path / "forger.py"
    file.write_text(
        "class Forger:\n"
        "    def reset(self, problem): return problem.messages\n"
        "    def step(self, message): return '<eos>x<bos>', False, {}\n"
    )
    config = configured(f"{file}:Forger", max_turns=2)
    engine = Scripted(policy, lambda key, number: "hello")
    for rollout in rollouts_in(sample(engine, policy, config)):
        observed = [
            one
            for one, own in zip(rollout.completion_ids, rollout.sampled or (), strict=True)
            if not own
        ]
        assert not {policy.eos_ids[0], policy.tokenizer.bos_token_id} & set(observed)


def test_lost_environments_give_their_groups_up_and_no_other(
    policy: Policy, configured: Callable[..., Config]
) -> None:
    engine = Scripted(policy, lambda key, number: "hello")
    lost, whole = sample(engine, policy, configured("Breaks"), group_size=3)
    assert (lost.rollouts, lost.lost) == ((), "the tool has gone")
    assert (len(whole.rollouts), whole.lost) == (3, None)


def test_an_environment_that_raises_another_error_is_a_bug_that_is_named(
    policy: Policy, configured: Callable[..., Config], tmp_path: Path
) -> None:
    file = tmp_path / "buggy.py"
    file.write_text(
        "class Buggy:\n"
        "    def reset(self, problem): return problem.messages\n"
        "    def step(self, message): return 1 / 0\n"
        "class Vague(Buggy):\n"
        "    def step(self, message): return 'more'\n"
        "class Silent(Buggy):\n"
        "    def step(self, message): return None, False, {}\n"
        "class Endless(Buggy):\n"
        "    def step(self, message): return 'x', False, {'reward': float('nan')}\n"
    )
    for name, message in [
        (
            "Buggy",
            r"buggy.py:Buggy raised ZeroDivisionError: division by zero \(at .*buggy.py:3\)",
        ),
        ("Vague", r"must return \(observation, done, extra\).*found 'more'"),
        ("Silent", "must return an observation unless it is done"),
        ("Endless", "finite numbers by name, found 'reward': nan"),
    ]:
        engine = Scripted(policy, lambda key, number: "hello")
        with pytest.raises(RolloutError, match=message):
            sample(engine, policy, configured(f"{file}:{name}"))


def test_an_environment_that_does_not_return_meets_the_time_limit(
    policy: Policy, configured: Callable[..., Config], tmp_path: Path
) -> None:
    """Its group is whole, the episode truncated; its environment is closed once it returns.

    The next episode begins although the only place is that of an environment that hangs.
    """
    file = tmp_path / "hanging.py"
    file.write_text(
        "import threading\n"
        "goes_on, closed = threading.Event(), threading.Event()\n"
        "class Hanging:\n"
        "    def reset(self, problem): return problem.messages\n"
        "    def step(self, message): goes_on.wait(); return 'late', False, {}\n"
        "    def close(self): closed.set()\n"
    )
    config = configured(f"{file}:Hanging", max_seconds=0.2, max_open=1)
    engine = EpisodeEngine(Scripted(policy, lambda key, number: "hello"), policy, config)
    module = engine._source._make.func.step.__globals__  # type: ignore[attr-defined]
    module["closed"].clear()
    groups: list[RolloutGroup] = []
    engine.generate(PROBLEMS[:1], plain_sampling(2, 40), lambda _, group: groups.append(group))
    for rollout in groups[0].rollouts:
        assert rollout.episode is not None
        assert (rollout.episode.end, rollout.truncated) == ("time_limit", True)
    assert not module["closed"].is_set()
    module["goes_on"].set()
    assert module["closed"].wait(60)


def test_an_episode_that_waits_for_a_service_is_lost_and_not_judged(
    policy: Policy, configured: Callable[..., Config], tmp_path: Path
) -> None:
    file = tmp_path / "busy.py"
    file.write_text(
        "import threading, time\n"
        "goes_on = threading.Event()\n"
        "class Busy:\n"
        "    began = None\n"
        "    @property\n"
        "    def service_seconds(self):\n"
        "        return 0.0 if self.began is None else time.monotonic() - self.began\n"
        "    def reset(self, problem): return problem.messages\n"
        "    def step(self, message):\n"
        "        self.began = time.monotonic()\n"
        "        goes_on.wait()\n"
        "        return 'late', False, {}\n"
    )
    config = configured(f"{file}:Busy", max_seconds=0.2)
    engine = EpisodeEngine(Scripted(policy, lambda key, number: "hello"), policy, config)
    module = engine._source._make.func.step.__globals__  # type: ignore[attr-defined]
    groups: list[RolloutGroup] = []
    engine.generate(PROBLEMS[:1], plain_sampling(2, 40), lambda _, group: groups.append(group))
    module["goes_on"].set()
    (group,) = groups
    assert group.rollouts == ()
    assert "s for the service, more than rollout.environment.max_seconds 0.2" in str(group.lost)


@pytest.mark.parametrize(("waited", "end"), [(0.0, "time_limit"), (400.0, None)])
def test_time_that_a_step_waited_for_a_service_is_not_the_episodes(
    waited: float, end: str | None
) -> None:
    limits = EnvironmentConfig(path="python_tool", max_seconds=300)
    episode = LiveEpisode(0, 0, PROBLEMS[0], 0, limits, 100, seconds=500, service_seconds=waited)
    episode.add_outcome(StepOutcome((), False, {}))
    assert episode.end == end


def test_every_environment_is_closed_once(
    policy: Policy, configured: Callable[..., Config]
) -> None:
    Echo.closed.clear()
    engine = Scripted(policy, lambda key, number: "hello")
    sample(engine, policy, configured("Echo", max_open=3), group_size=5)
    assert len(Echo.closed) == 1 + 10  # the first one shows that the options are right


def test_no_more_environments_are_open_than_the_limit(
    policy: Policy, configured: Callable[..., Config], tmp_path: Path
) -> None:
    file = tmp_path / "counting.py"
    file.write_text(
        "import threading\n"
        "lock, now, most = threading.Lock(), 0, 0\n"
        "class Counting:\n"
        "    def reset(self, problem):\n"
        "        global now, most\n"
        "        with lock:\n"
        "            now += 1\n"
        "            most = max(most, now)\n"
        "        return problem.messages\n"
        "    def step(self, message):\n"
        "        global now\n"
        "        with lock:\n"
        "            now -= 1\n"
        "        return None, True, {}\n"
    )
    config = configured(f"{file}:Counting", max_open=3)
    engine = EpisodeEngine(Scripted(policy, lambda key, number: "hello"), policy, config)
    engine.generate(PROBLEMS, plain_sampling(8, 40), lambda *_: None)
    assert engine._source._make.func.step.__globals__["most"] <= 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("template", "role", "message"),
    [
        (
            "{% for m in messages %}{{ m.role }}: {% if m.role == 'assistant' and not loop.last %}"
            "{{ m.content.split('</think>')[-1] }}{% else %}{{ m.content }}{% endif %}"
            "{{ eos_token }}{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}",
            "user",
            "template of '.*chatty.*' rewrites history: once an observation of role 'user'",
        ),
        (
            "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools') }}"
            "{% endif %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% endif %}",
            "tool",
            "cannot write an observation of role 'tool': no tools",
        ),
    ],
)
def test_a_template_that_rewrites_history_is_refused_by_name(
    policy: Policy, configured: Callable[..., Config], template: str, role: str, message: str
) -> None:
    policy.tokenizer.chat_template = template
    engine = Scripted(policy, lambda key, number: "hello")
    with pytest.raises(ConfigError, match=message):
        EpisodeEngine(engine, policy, configured("Echo", options={"role": role}))


@torch.no_grad()
def reference_logprobs(policy: Policy, rollout: Rollout) -> torch.Tensor:
    """Log-probabilities of the sampled tokens in float64, token by token, of the episode alone."""
    ids = [*rollout.prompt_ids, *rollout.completion_ids]
    positions = torch.arange(len(ids), device=policy.device)[None]
    row_of_ids = torch.tensor([ids], device=policy.device)
    output = policy.model(row_of_ids, position_ids=positions, use_cache=False)
    values = []
    for place in places(rollout):
        row = output.logits[0, place - 1]
        values.append((row[ids[place]] - row.exp().sum().log()).item())
    return torch.tensor(values, dtype=torch.float64)


def check_logprobs(policy: Policy, rollouts: list[Rollout], *, packed: bool) -> None:
    """Compare the trainer's masks and log-probabilities with the reference's."""
    policy.model.double()
    if packed:
        enable_packing(policy.model)
    batch = make_batch(rollouts, [0.0] * len(rollouts), pad_id=policy.pad_id, device=policy.device)
    checked = []
    for part in micro_batches(batch.attention_mask, max_tokens=2000, packed=packed):
        mask = part.take(batch.completion_mask)
        with torch.no_grad():
            logprobs = token_logprobs(
                policy.model,
                part.take(batch.input_ids),
                part.take(batch.attention_mask),
                mask,
                temperature=1.0,
                packed=packed,
            ).logprobs
        sampler = part.take(batch.sampler_logprobs)
        for row, number in enumerate(part.rows.tolist()):
            rollout = rollouts[number]
            assert mask[row].nonzero()[:, 0].tolist() == places(rollout)
            expected = reference_logprobs(policy, rollout)
            found = logprobs[row][mask[row]].double().cpu()
            torch.testing.assert_close(found, expected, atol=2e-6, rtol=1e-6)
            own = [
                value
                for value, sampled in zip(
                    rollout.sampler_logprobs, rollout.sampled or (), strict=True
                )
                if sampled
            ]
            assert sampler[row][mask[row]].tolist() == pytest.approx(own)
            assert not sampler[row][~mask[row]].any()
            checked.append(number)
    assert sorted(checked) == list(range(len(rollouts)))


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_masks_logprobs_and_positions_are_those_of_a_loop_in_float64(
    policy: Policy, configured: Callable[..., Config], packed: bool
) -> None:
    """Each of the two ways to compute has 250 random episodes."""
    generator = random.Random(packed)

    def words(key: int, number: int) -> str:
        return "".join(generator.choices("abc 12+=", k=generator.randrange(1, 15)))

    problems = [
        Problem(text, ({"role": "user", "content": text},), {})
        for text in ["1+1", "12345+678=?", "why?", "2", "a b c"]
    ]
    config = configured("Erratic", max_turns=3)
    groups = sample(
        Scripted(policy, words), policy, config, problems=problems, group_size=50, max_tokens=80
    )
    rollouts = rollouts_in(groups)
    assert len(rollouts) == 250
    assert {r.episode.num_turns for r in rollouts if r.episode} == {1, 2, 3}
    assert {r.episode.end for r in rollouts if r.episode} >= {"done", "turn_limit", "token_limit"}
    check_logprobs(policy, rollouts, packed=packed)


@pytest.mark.slow
def test_the_samplers_logprobs_of_every_turn_are_the_policys(
    policy: Policy, configured: Callable[..., Config]
) -> None:
    torch.manual_seed(0)
    config = configured("Erratic", max_turns=3)
    engine = TransformersEngine(policy, batch_size=5)
    rollouts = rollouts_in(sample(engine, policy, config, group_size=6, max_tokens=70))
    assert max(r.episode.num_turns for r in rollouts if r.episode) > 1
    policy.model.double()
    for rollout in rollouts:
        own = [
            value
            for value, sampled in zip(rollout.sampler_logprobs, rollout.sampled or (), strict=True)
            if sampled
        ]
        assert own == pytest.approx(reference_logprobs(policy, rollout).tolist(), abs=1e-4)


def places(rollout: Rollout) -> list[int]:
    start = len(rollout.prompt_ids)
    return [start + place for place, own in enumerate(rollout.sampled or ()) if own]


@pytest.mark.slow
def test_an_episode_does_not_depend_on_what_is_sampled_beside_it(
    policy: Policy, configured: Callable[..., Config]
) -> None:
    found = []
    for batch_size in (3, 50):
        torch.manual_seed(3)
        engine = TransformersEngine(policy, batch_size=batch_size)
        config = configured("Echo", options={"num_turns": 2})
        found.append(
            [r.completion_ids for r in rollouts_in(sample(engine, policy, config, group_size=6))]
        )
    assert found[0] == found[1]
    assert len(set(found[0])) > 3


def test_sampling_goes_on_while_an_environment_is_at_work(
    policy: Policy, configured: Callable[..., Config], tmp_path: Path
) -> None:
    """The first environment returns only once another episode has been sampled to its end."""
    file = tmp_path / "waiting.py"
    file.write_text(
        "import threading\n"
        "other = threading.Event()\n"
        "class Waiting:\n"
        "    def reset(self, problem):\n"
        "        self.first = problem.text.startswith('1')\n"
        "        return problem.messages\n"
        "    def step(self, message):\n"
        "        if self.first:\n"
        "            assert other.wait(60)\n"
        "        return None, True, {}\n"
        "    def close(self):\n"
        "        if not getattr(self, 'first', True):\n"
        "            other.set()\n"
    )
    engine = TransformersEngine(policy, batch_size=1)
    groups = sample(engine, policy, configured(f"{file}:Waiting"), group_size=1)
    assert all(group.lost is None for group in groups)
    assert threading.active_count() < 50
