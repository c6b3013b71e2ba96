"""The demonstration as a user runs it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.trainer_client.runs import run_together
from trainer_client.config.run_config import dump_config, load_config
from trainer_client.demo.next_commands import COMPOSE_SERVICE, NextCommands
from trainer_client.demo.run_demo import write_default_url, write_grpo_config
from trainer_client.demo.sums_task import write_data

ROOT = Path(__file__).parents[2]
SHORT = """
from dataclasses import replace
from trainer_client.__main__ import main
from trainer_client.demo import demo_task
demo_task.SUMS = replace(
    demo_task.SUMS, sft_steps=250, steps=12, learning_rate=3e-4, num_samples=4
)
main()
"""
"""The command `trainer-client`, with half of the supervised steps and a seventh of the others, each
of which is three times as long."""


def trainer_client(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command that ends before it would import torch."""
    command = [sys.executable, "-m", "trainer_client", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
def test_the_demonstration_raises_held_out_pass_at_1(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    script = tmp_path / "trainer-client"
    script.write_text(SHORT)
    result = run_together([(str(script), "demo", "--output", str(folder), "--seed", "3")])
    assert result.returncode == 0, result.stdout + result.stderr
    lines = (folder / "grpo" / "metrics.jsonl").read_text().splitlines()
    passed = [
        line["evaluation/pass@1"] for line in map(json.loads, lines) if "evaluation/pass@1" in line
    ]
    assert len(passed) == 2
    assert passed[1] - passed[0] >= 0.12
    assert f"held-out pass@1: {passed[0]:.3f} before GRPO, {passed[1]:.3f} after" in result.stdout

    for name in ("grpo.yaml", "grpo/config.yaml"):  # its own service has ended
        assert "url: http://127.0.0.1:8080\n" in (folder / name).read_text()
    assert (folder / "grpo" / "report.html").is_file()
    assert re.search(r"generate \S+/grpo '7\+8\+9=\?' --answer 24, while \S+ serve", result.stdout)
    told = re.search(r"a held-out problem, (\S+) \(answer (\d+)\), the first .*\n", result.stdout)
    assert told
    assert told[1] in problems_of(folder / "data", "held_out")
    before, after = re.findall(r"reward \S+: accuracy (\S+) \(", result.stdout[told.end() :])
    assert before == "0"
    assert after == "1"
    assert not re.search(r"\d\.0*[1-9]\d{4}", result.stdout)  # four digits

    ask = re.search(r"ask it: \S+/trainer-client (.*)", result.stdout)
    assert ask
    asked = run_together([("-m", "trainer_client", *shlex.split(ask[1]))])
    assert asked.stdout.count("</answer>") == 1, asked.stderr
    again = trainer_client("demo", "--output", str(folder))
    assert again.returncode == 1
    assert "exists; choose another folder" in again.stderr


@pytest.mark.slow
def test_a_demonstration_that_was_ended_can_go_on(tmp_path: Path) -> None:
    serve, train = re.findall(r"`(.*?)`", NextCommands(tmp_path, None, None).resume)
    command = serve.replace("verifier-service", "python -m verifier_service").split()
    assert subprocess.run([*command, "--help"], capture_output=True).returncode == 0
    write_grpo_config(tmp_path, url="http://127.0.0.1:1", seed=0)
    command = train.replace("trainer-client", "python -m trainer_client").split()
    refused = subprocess.run(command, capture_output=True, text=True)
    assert f"{tmp_path}/grpo.yaml cannot be used" in refused.stderr  # its service has ended
    assert NextCommands(tmp_path, "http://127.0.0.1:9", None).resume.strip("`") in train


def test_in_compose_the_commands_are_those_of_compose() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    (name,) = (
        name for name, one in services.items() if COMPOSE_SERVICE in one.get("environment", {})
    )
    assert services[name]["environment"][COMPOSE_SERVICE] == name
    assert "/runs" in {volume.split(":")[1] for volume in services[name]["volumes"]}
    folder = Path(services[name]["command"][services[name]["command"].index("--output") + 1])
    commands = NextCommands(folder, "http://api:8080", name)
    assert commands.resume == (
        "`docker compose run --rm trainer train /runs/demo/grpo.yaml --resume`"
    )
    assert commands.after_the_end == {
        "ask it": "docker compose run --rm trainer generate /runs/demo/grpo '7+8+9=?'",
        "have its answer scored": "docker compose run --rm trainer generate /runs/demo/grpo "
        "'7+8+9=?' --answer 24",
        "copy it all": "docker compose cp trainer:/runs/demo demo",
        "all of it on one page": "docker compose cp trainer:/runs/demo/grpo/report.html "
        "report.html",
    }


def test_configurations_name_the_usual_address_when_the_service_has_ended(tmp_path: Path) -> None:
    config = write_grpo_config(tmp_path, url="http://127.0.0.1:41545", seed=0)
    (tmp_path / "grpo").mkdir()
    (tmp_path / "grpo" / "config.yaml").write_text(dump_config(config))
    write_default_url(tmp_path, "http://127.0.0.1:41545")
    for path in (tmp_path / "grpo.yaml", tmp_path / "grpo" / "config.yaml"):
        assert load_config(path).reward.url == "http://127.0.0.1:8080"
    first_line = (tmp_path / "grpo.yaml").read_text().splitlines()[0]
    assert first_line.startswith("# start `verifier-service serve` first")


def problems_of(folder: Path, name: str) -> set[str]:
    lines = (folder / f"{name}.jsonl").read_text().splitlines()
    return {json.loads(line)["problem"] for line in lines}


def test_held_out_problems_are_in_no_training_set(tmp_path: Path) -> None:
    write_data(tmp_path / "data", num_held_out=100, seed=0)
    held_out = problems_of(tmp_path / "data", "held_out")
    assert len(held_out) == 100
    assert len(problems_of(tmp_path / "data", "train")) == 629
    for name in ("train", "demonstrations"):
        assert held_out & problems_of(tmp_path / "data", name) == set()


@pytest.mark.slow
def test_a_folder_that_no_demonstration_has_made_is_not_replaced(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("mine")
    result = trainer_client("demo", "--output", str(tmp_path), "--replace")
    assert result.returncode == 1
    assert "is not of a demonstration; it is left alone" in result.stderr
    assert kept.read_text() == "mine"


@pytest.mark.slow
def test_a_second_make_demo_is_told_what_make_takes_before_torch_is_imported(
    tmp_path: Path,
) -> None:
    (tmp_path / "runs" / "demo").mkdir(parents=True)
    told = {}
    for name, level in (("make", {"MAKELEVEL": "1"}), ("shell", {})):
        environment = {key: value for key, value in os.environ.items() if key != "MAKELEVEL"}
        told[name] = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "trainer_client", "demo"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment | level,
        ).stderr
    expected = f"error: {tmp_path}/runs/demo exists; choose another folder with --output, or remove"
    assert told["make"].endswith(f"{expected} it with --replace (make demo ARGS=--replace)\n")
    assert told["shell"].endswith(f"{expected} it with --replace\n")
    assert not re.search(r"\| +torch$", told["make"], re.M)
