"""The check of a whole configuration: files, model, memory, service.

Every part is looked at even where another one has a problem, so that all are listed at once. Only
sections in which a setting is wrong are left out: their defaults are not what the user meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from trainer_client.check.check_code import code_problems
from trainer_client.check.check_model import check_memory, check_model, check_room, check_texts
from trainer_client.check.check_service import ReadData, check_service
from trainer_client.check.findings import Findings
from trainer_client.config.run_config import Config, ConfigError, PartialConfig, read_config
from trainer_client.data_sets import load_data_sets, load_held_out, require_enough_of_each
from trainer_client.model_files import ModelFiles
from trainer_client.problems import Problem
from trainer_client.run.console import CONSOLE, say
from trainer_client.run.run_folder import adapter_problem, start_problem


def check_run(path: Path, overrides: list[str] | None = None, *, resume: bool = False) -> Findings:
    """Everything that `trainer-client check` says of a YAML file.

    Args:
        path: the YAML file.
        overrides: settings that win over the file's.
        resume: whether the run is meant to go on from its newest checkpoint.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or an override is not of its form.
    """
    partial, wrong = read_config(path, overrides)
    findings = Findings(problems=wrong)
    data = _check_files(partial, findings, resume=resume)
    files = _check_model(partial, data.problems, findings)
    if files is not None and data.problems:
        check_texts(files, data.problems, findings)
    if files is not None and (config := partial.usable("rollout", "evaluation")):
        _check_rooms(config, files, data, findings)
    if config := partial.usable("reward", "evaluation"):
        check_service(config, data, findings, max_attempts=1)
    return findings


def check_before_training(
    path: Path, overrides: list[str] | None = None, *, resume: bool = False
) -> Config:
    """The configuration of a run in which no mistake was found that can be found early.

    The service is waited for, as it may be starting. Texts that the tokenizer loses are left to the
    run, which logs them. Of several processes the first one checks.

    Raises:
        ConfigError: the message lists every problem.
    """
    partial, wrong = read_config(path, overrides)
    config, findings = partial.config, Findings(problems=wrong)
    if config is not None and not wrong and (not _leads() or (resume and _has_trained(config))):
        return config
    with _quiet():
        data = _check_files(partial, findings, resume=resume)
    _check_model(partial, data.problems, findings)
    if usable := partial.usable("reward", "evaluation"):
        attempts = 1 if findings.problems else usable.reward.max_attempts
        check_service(usable, data, findings, max_attempts=attempts)
    if findings.problems or config is None:
        raise ConfigError(problem_list(path, findings))
    for line in findings.warnings:
        say(f"warning: {line}")
    say("checked; loading torch and the model")
    return config


def problem_list(path: Path, findings: Findings) -> str:
    """The problems of a configuration, a line each."""
    return "\n".join([f"{path} cannot be used:", *(f"  {line}" for line in findings.problems)])


def _check_model(
    partial: PartialConfig, problems: Sequence[Problem], findings: Findings
) -> ModelFiles | None:
    """Check the model and the memory; returns the model's files, if they can be read."""
    config = partial.usable("model")
    files = None if config is None else check_model(config, findings)
    config = partial.usable("model", "rollout", "train", "loss")
    if files is not None and config is not None and _num_processes() == 1:
        check_memory(config, files, problems, findings)
    return files


def _check_rooms(config: Config, files: ModelFiles, data: ReadData, findings: Findings) -> None:
    """Check the room for completions to the problems of training and of each evaluation."""
    limit = config.rollout.max_completion_tokens
    for one in data.data_sets:
        check_room(files, one.problems, one.config, findings, max_completion_tokens=limit)
    if len(data.held_out) < len(config.evaluation):
        return  # the one that could not be read is a problem already
    for evaluation, problems in zip(config.evaluation, data.held_out, strict=True):
        own_limit = evaluation.max_completion_tokens or limit
        check_room(files, problems, evaluation.dataset, findings, max_completion_tokens=own_limit)


def _check_files(partial: PartialConfig, findings: Findings, *, resume: bool) -> ReadData:
    """Check data sets, Python files, templates and the folder of the run; returns the data."""
    data = ReadData()
    if config := partial.usable("dataset"):
        with findings.collecting():
            data.data_sets.extend(load_data_sets(config))
            for one in data.data_sets:
                label = f" {one.config.name_in_metrics}" if config.is_mixed else ""
                findings.facts.append(
                    f"data{label}: {len(one.problems)} problems in {one.config.path}"
                )
            if "rollout" not in partial.wrong_sections:
                require_enough_of_each(data.data_sets, per_step=config.rollout.prompts_per_step)
    if config := partial.usable("evaluation"):
        for evaluation in config.evaluation:
            with findings.collecting():
                held_out = load_held_out(evaluation, config.reward)
                data.held_out.append(held_out)
                where = evaluation.dataset.place
                findings.facts.append(f"{evaluation.prefix}: {len(held_out)} problems in {where}")
    if config := partial.config:
        findings.problems.extend(code_problems(config, data.data_sets))
        findings.problems.extend(_missing_packages(config))
        findings.problems.extend(_missing_template(config))
        has_store = config.train.checkpoint_store is not None
        problem = start_problem(config.output_dir, resume=resume, has_store=has_store)
        if problem is not None:
            findings.problems.append(f"output_dir: {problem}")
        elif resume and (problem := adapter_problem(config)) is not None:
            findings.problems.append(problem)
    return data


def _missing_packages(config: Config) -> Iterator[str]:
    for name in config.logging:
        if name != "tensorboard" and find_spec(name) is None:
            yield f"logging needs the package {name}: pip install {name}, or leave it out"


def _missing_template(config: Config) -> Iterator[str]:
    template = config.model.chat_template
    if template is not None and not template.is_file():
        yield f"model.chat_template: there is no file {template}"


def _has_trained(config: Config) -> bool:
    """Whether the run has its model, and `--resume` has nothing left to do."""
    steps = config.output_dir / "model" / "trained_steps"
    return steps.is_file() and int(steps.read_text() or 0) >= config.train.steps


@contextmanager
def _quiet() -> Iterator[None]:
    """Inside, the console says nothing: the run reads the data again, and tells then."""
    CONSOLE.quiet, before = True, CONSOLE.quiet
    try:
        yield
    finally:
        CONSOLE.quiet = before


def _num_processes() -> int:
    """The number of processes that torchrun has started; the models are split among them."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def _leads() -> bool:
    return os.environ.get("RANK", "0") == "0"
