"""A demonstration: a model made on the spot learns its task against the real verifier service.

The service's verdicts, fetched over HTTP, are the only reward. Held-out problems are in neither
training set. The demonstration starts a service of its own unless it is given a running one.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path

import torch

from trainer_client.config.run_config import Config, load_config, make_config
from trainer_client.demo import held_out_problem
from trainer_client.demo.demo_task import SUMS, DemoTask
from trainer_client.demo.next_commands import DEFAULT_URL, NextCommands
from trainer_client.errors import TrainingStopped
from trainer_client.run.console import CONSOLE, say
from trainer_client.run.report import write_report
from trainer_client.run.training_run import RunResult
from trainer_client.service_process import running_service
from trainer_client.sft import fine_tune
from trainer_client.train import train

NUM_HELD_OUT = 100
"""Problems that are in neither training set."""


def run_demo(
    folder: Path, *, seed: int, url: str | None = None, task: DemoTask = SUMS
) -> RunResult:
    """Make data and model, fine-tune, train against the service, and print the result.

    Args:
        folder: folder to make for the run; `clear_folder` removes an earlier one.
        seed: seed of data, model and sampling.
        url: address of a running service; None: start one. It ends with the demonstration, and the
            configurations then name the default address.
        task: the demonstration.

    Raises:
        ServiceStartError: the service does not start.
    """
    folder = folder.resolve()  # so that the configurations work from anywhere
    start = time.monotonic()
    torch.manual_seed(seed)
    task.write_data(folder / "data", num_held_out=NUM_HELD_OUT, seed=seed)
    tokenizer = task.make_tokenizer()
    model = task.make_model(tokenizer)
    model.save_pretrained(folder / "untrained")
    tokenizer.save_pretrained(folder / "untrained")
    say(f"takes {task.minutes} on two cores")
    CONSOLE.rule("1. a short supervised phase teaches the format")
    millions = model.num_parameters() / 1e6
    CONSOLE.print(f"a model of {millions:.2g} million parameters, random weights, sees {task.sees}")
    CONSOLE.print(task.mistake)
    fine_tune(sft_config(folder, seed=seed, steps=task.sft_steps))
    CONSOLE.rule("2. GRPO, rewarded by the verifier service")
    log = folder / "service.log"
    commands = NextCommands.here(folder, url, task)
    with nullcontext(url) if url else running_service(log) as service:
        where = "" if url else f" (log: {commands.shown(log)})"
        CONSOLE.print(f"verifier service: {service}{where}", soft_wrap=True)
        config = write_grpo_config(folder, url=service, seed=seed, task=task)
        try:
            before = held_out_problem.mistakes(config)
            result = train(config)
            problems = [one.group.problem for one in before]
            after = held_out_problem.answer(config, result.model_dir, problems)
        except TrainingStopped as error:
            raise type(error)(f"{error}: {commands.resume}") from error
        finally:
            if url is None:
                write_default_url(folder, service)
    CONSOLE.rule("3. result")
    _tell_change(result)
    held_out_problem.tell(config, before, after)
    write_report(folder / "grpo", folder / "grpo" / "report.html")
    _tell_end(commands, time.monotonic() - start)
    return result


def sft_config(folder: Path, *, seed: int, steps: int) -> Config:
    """The configuration of the supervised phase."""
    return make_config(
        {
            "output_dir": str(folder / "sft"),
            "model": {"path": str(folder / "untrained"), "device": "cpu"},
            "dataset": {
                "path": str(folder / "data" / "demonstrations.jsonl"),
                "system_prompt": None,
            },
            "sft": {"steps": steps, "batch_size": 32, "learning_rate": 3e-3, "warmup_steps": 20},
            "train": {"seed": seed},
        }
    )


def write_grpo_config(folder: Path, *, url: str, seed: int, task: DemoTask = SUMS) -> Config:
    """The configuration of the GRPO run, in a YAML file that `trainer-client train` takes too."""
    path = folder / "grpo.yaml"
    path.write_text(
        f"""\
# start `verifier-service serve` first, then: trainer-client train {path} --resume
output_dir: {folder / "grpo"}
model:
  path: {folder / "sft" / "model"}
  device: cpu
dataset:
  path: {folder / "data" / "train.jsonl"}
  system_prompt: null
rollout:
  prompts_per_step: 16
  group_size: 8
  temperature: 1.0
{task.rollout}
  batch_size: 512
reward:
  url: {url}
  verifiers:
{task.verifiers}
loss:
  type: grpo
  clip_low: 0.2
  clip_high: 0.2
  kl_coefficient: 0.01
optimizer:
  learning_rate: {task.learning_rate:.1e}
  warmup_steps: 5
  schedule: linear
train:
  steps: {task.steps}
  seed: {seed}
  checkpoint_every_steps: 40
  log_every_steps: 5
guards:  # wide, since so small a model has to move far from where it started
  warn_if_kl_above: 0.2
  stop_if_kl_above: 0.5
evaluation:
  dataset:
    path: {folder / "data" / "held_out.jsonl"}
    system_prompt: null
  num_samples: {task.num_samples}
  k: [1]
"""
    )
    return load_config(path)


def write_default_url(folder: Path, url: str) -> None:
    """Replace a service's address in the run's configurations by the default one."""
    for path in (folder / "grpo.yaml", folder / "grpo" / "config.yaml"):
        if path.exists():
            path.write_text(path.read_text().replace(f"url: {url}\n", f"url: {DEFAULT_URL}\n"))


def _tell_change(result: RunResult) -> None:
    before, after = result.before["evaluation/pass@1"], result.after["evaluation/pass@1"]
    CONSOLE.print(
        f"held-out pass@1: {before:.3f} before GRPO, {after:.3f} after "
        f"({after - before:+.3f}, {NUM_HELD_OUT} problems never trained on)",
        soft_wrap=True,
    )


def _tell_end(commands: NextCommands, seconds: float) -> None:
    run_dir = commands.folder / "grpo"
    say(f"took {seconds / 60:.1f} minutes; everything is in {commands.shown(commands.folder)}")
    for label, value in {
        "trained model": commands.shown(run_dir / "model"),
        "its configuration": commands.shown(commands.folder / "grpo.yaml"),
        "metrics of each step": commands.shown(run_dir / "metrics.jsonl"),
        **commands.after_the_end,
    }.items():
        say(f"  {label}: {value}")
