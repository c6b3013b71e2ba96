"""Asking a trained model, and having the answer scored."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from reward_verifier.verdict import Verdict
from tests.trainer_client.runs import run_config, run_together
from trainer_client import cli
from trainer_client import generate as generating
from trainer_client.config.run_config import Config, ConfigError, dump_config
from trainer_client.generate import generate, parse_reference, score
from trainer_client.policy.policy import load_policy
from trainer_client.problems import Problem
from trainer_client.reward.group_scoring import ScoredGroup
from trainer_client.rollout import Rollout, RolloutError, RolloutGroup

FUNCTION = """
def answers(completions, answer, problem):
    return [float(one == "2" and text == "1+1=?") for one, text in zip(answer, problem)]
"""


def test_a_function_scores_what_was_asked_with_its_answer(task: Path, tmp_path: Path) -> None:
    """It finds prompt and answer in the columns that the run's data set has them in."""
    path = tmp_path / "answers.py"
    path.write_text(FUNCTION)
    functions = {"functions": [{"path": f"{path}:answers"}]}
    config = run_config(task, tmp_path / "run", reward=functions)
    group = generate(config, "1+1=?", num_completions=2, seed=0)
    scores = [item["answers"].score for item in score(config, group, {"answer": "2"}).verdicts]
    assert scores == [1.0, 1.0]


def test_a_reference_that_is_no_answer_is_given_as_json(task: Path, tmp_path: Path) -> None:
    """A function finds it in the column that the run's data set has it in."""
    path = tmp_path / "by_tests.py"
    path.write_text("def by_tests(completions, cases):\n    return [len(one) for one in cases]\n")
    config = run_config(
        task,
        tmp_path / "run",
        dataset={"reference_columns": {"tests": "cases"}},
        reward={"functions": [{"path": f"{path}:by_tests"}]},
    )
    group = generate(config, "1+1=?", num_completions=1, seed=0)
    scored = score(config, group, parse_reference(['tests=["a", {"b": 1}]'], None))
    assert scored.group.problem.reference == {"tests": ["a", {"b": 1}]}
    assert scored.verdicts[0]["by_tests"].score == 2.0


def test_an_environment_gets_the_reference_that_is_given(task: Path, tmp_path: Path) -> None:
    file = tmp_path / "told.py"
    file.write_text(
        "class Told:\n"
        "    def reset(self, problem): self.wanted = problem.reference['answer']; return '1+1=?'\n"
        "    def step(self, message): return None, True, {'reward': len(self.wanted)}\n"
    )
    environment = {"path": f"{file}:Told", "max_turns": 1}
    config = run_config(task, tmp_path / "run", rollout={"environment": environment})
    group = generate(config, "1+1=?", num_completions=1, seed=0, reference={"answer": "123"})
    assert group.problem.reference == {"answer": "123"}
    assert len(group.rollouts) == 1
    with pytest.raises(RolloutError, match=r"KeyError: 'answer' \(at .*\)\. --answer or --refer"):
        generate(config, "1+1=?", num_completions=1, seed=0)


@pytest.mark.parametrize("entry", ["tests", "tests=[", "=1", ""])
def test_a_reference_that_is_no_json_is_named(entry: str) -> None:
    with pytest.raises(ConfigError, match=r"--reference .* must be KEY=JSON"):
        parse_reference([entry], None)


def test_a_reference_that_is_given_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="answer is given already"):
        parse_reference(["answer=4"], "3")


def test_an_answer_and_other_references_go_together() -> None:
    assert parse_reference(["choices={}"], "A") == {"answer": "A", "choices": {}}


def test_a_verdict_is_shown_with_its_reason_and_message(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_dir = tmp_path / "run"
    (run_dir / "model").mkdir(parents=True)
    (run_dir / "config.yaml").write_text(dump_config(run_config(task, run_dir)))
    rollout = Rollout((1,), (2,), (0.0,), "12", truncated=False)
    group = RolloutGroup(Problem("p", ({"role": "user", "content": "1+1=?"},), {}), (rollout,))
    verdict = Verdict(
        outcome="unverifiable", reason="missing_reference", details={"message": "no tests"}
    )
    scored = ScoredGroup(group, ({"digits": verdict},))
    monkeypatch.setattr(generating, "generate", lambda *_, **__: group)
    monkeypatch.setattr(generating, "score", lambda *_: scored)
    with pytest.raises(SystemExit) as ended:
        cli.run(["generate", str(run_dir), "1+1=?", "--reference", "tests=[]"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert shown == "12\n-> reward none: digits none (missing_reference: no tests)\n"


def test_each_of_several_completions_has_its_number(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_dir = tmp_path / "run"
    (run_dir / "model").mkdir(parents=True)
    (run_dir / "config.yaml").write_text(dump_config(run_config(task, run_dir)))
    problem = Problem("p", ({"role": "user", "content": "1+1=?"},), {})
    rollouts = tuple(Rollout((1,), (2,), (0.0,), text, truncated=False) for text in ("2", "3"))
    group = RolloutGroup(problem, rollouts)
    verdicts = [Verdict(outcome="scored", score=s, reason=r) for s, r in ((1, "is"), (0, "not"))]
    scored = ScoredGroup(group, tuple({"digits": verdict} for verdict in verdicts))
    monkeypatch.setattr(generating, "generate", lambda *_, **__: group)
    monkeypatch.setattr(generating, "score", lambda *_: scored)
    with pytest.raises(SystemExit):
        cli.run(["generate", str(run_dir), "1+1=?", "--answer", "2", "--num", "2"])
    first, second, *rewards = capsys.readouterr().out.splitlines()
    assert (first, second) == ("completion 1: 2", "completion 2: 3")
    assert rewards[0].startswith("-> reward of completion 1: ")
    assert rewards[0].endswith(": digits 1 (is)")
    assert rewards[1].startswith("-> reward of completion 2: 0: digits 0 (not)")


def test_a_greedy_completion_has_the_likeliest_token_at_each_place(
    task: Path, tmp_path: Path
) -> None:
    config = run_config(task, tmp_path / "run")
    texts = {
        generate(config, "1+1=?", num_completions=1, seed=seed, temperature=0.0).rollouts[0]
        for seed in range(3)
    }
    (rollout,) = texts
    model = load_policy(config.model).model
    ids = torch.tensor([[*rollout.prompt_ids, *rollout.completion_ids]], device=model.device)
    with torch.no_grad():
        logprobs = model(ids).logits[0].float().log_softmax(-1)
    first = len(rollout.prompt_ids) - 1
    best = logprobs[first:-1].max(-1)
    assert best.indices.tolist() == list(rollout.completion_ids)
    assert best.values.tolist() == pytest.approx(rollout.sampler_logprobs, abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "temperature"),
    [
        ((), 0.0),
        (("--num", "2"), None),
        (("--num", "2", "--temperature", "0"), 0.0),
        (("--temperature", "0.7"), 0.7),
        (("rollout.temperature=0.5",), None),
        (("rollout.temperature=0.5", "--temperature", "0"), 0.0),
    ],
)
def test_one_completion_is_greedy_unless_something_else_is_asked(
    task: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    temperature: float | None,
) -> None:
    """None is the run's temperature, as overridden."""
    run_dir = tmp_path / "run"
    (run_dir / "model").mkdir(parents=True)
    (run_dir / "config.yaml").write_text(dump_config(run_config(task, run_dir)))
    asked = []

    def note(config: Config, prompt: str, *_: object, **options: Any) -> RolloutGroup:
        asked.append(options["temperature"])
        return RolloutGroup(Problem("p", ({"role": "user", "content": prompt},), {}), ())

    monkeypatch.setattr(generating, "generate", note)
    with pytest.raises(SystemExit) as ended:
        cli.run(["generate", str(run_dir), "1+1=?", *arguments])
    assert (ended.value.code, asked) == (0, [temperature])


@pytest.mark.slow
def test_completions_are_shown_before_a_service_that_is_not_there_is_waited_for(
    task: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    shutil.copytree(task / "model", run_dir / "model")
    reward = {"url": "http://127.0.0.1:9", "max_attempts": 2, "backoff_seconds": 0.01}
    config = run_config(task, run_dir, reward=reward | {"verifiers": [{"type": "accuracy"}]})
    (run_dir / "config.yaml").write_text(dump_config(config))
    command = ("-m", "trainer_client", "generate", str(run_dir), "1+1=?", "--answer", "2")
    scored = run_together([command])
    assert scored.returncode == 1
    completion, said = scored.stdout.rsplit("waiting for the verifier at http://127.0.0.1:9 ", 1)
    assert completion.strip()
    assert said.count("\n") == 1
    assert "error: no answer from the verifier at http://127.0.0.1:9 after 2" in scored.stderr
