"""The command lines: the trainer's messages when something is wrong."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import verifier_service.commands.new_key
from tests.end_to_end.commands import commands_of
from trainer_client import cli as trainer_cli
from verifier_service import cli
from verifier_service.verifiers import VERIFIERS

TRAINER_COMMANDS = commands_of(trainer_cli.app)
SERVICE_COMMANDS = list(cli.COMMANDS)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trainer_client", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.slow
def test_a_missing_configuration_ends_with_one_line() -> None:
    result = run("train", "nowhere.yaml")
    assert result.returncode == 1
    assert result.stderr == (
        "error: cannot read the configuration nowhere.yaml: No such file or directory "
        f"(relative paths start at {Path.cwd()})\n"
    )


@pytest.mark.slow
def test_commands_that_start_no_server_do_not_load_one_nor_numpy() -> None:
    """They take longer to import than all that most commands need."""
    script = (
        "import sys; from verifier_service.cli import make_app; make_app();"
        "print({'fastapi', 'numpy'} & sys.modules.keys())"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout == "set()\n"


@pytest.mark.slow
def test_a_wrong_setting_ends_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("output_dir: o\nmodel: {path: m}\ndataset: {path: d}\n")
    result = run("train", str(path), "train.stepz=3", HF_ENDPOINT="http://127.0.0.1:9")
    first, *problems = result.stderr.splitlines()
    assert first == f"error: {path} cannot be used:"
    assert problems[0] == "  train.stepz: no such setting in train; did you mean train.steps?"
    told = "\n".join(problems[1:])
    assert "cannot load d: there is no such file or folder here, and the Hugging Face hub" in told
    assert "'m' is no folder here, and the Hugging Face hub does not give it" in told
    assert "Retrying" not in told


@pytest.mark.slow
def test_verifiers_are_listed_with_the_options_of_the_wire() -> None:
    command = [sys.executable, "-m", "verifier_service", "verifiers"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name, verifier in VERIFIERS.items():
        found = re.search(rf"^{name}  \[(?:.+\n)*?  options: (.*)$", shown, re.MULTILINE)
        options = set(found[1].split(", ")) if found else set()
        wire = set(verifier.model_json_schema()["properties"])
        assert options == wire - {"type", "name", "weight"}


def run_unread(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command whose output nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", module, *arguments]
    try:
        return subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(writer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("verifier_service", ["verifiers"]),
        ("verifier_service", ["openapi"]),
        ("verifier_service", ["new-key"]),
        ("trainer_client", ["presets"]),
        ("trainer_client", ["--help"]),
    ],
)
def test_a_command_whose_output_nobody_reads_ends_quietly(
    module: str, arguments: list[str]
) -> None:
    result = run_unread(module, *arguments)
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.slow
def test_scores_that_nobody_reads_are_no_fault_of_a_file(tmp_path: Path) -> None:
    """They are more than Python keeps back until the end."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"completion": "1", "answer": "1"}\n' * 99)
    result = run_unread("verifier_service", "score", str(rows), "--verifier", "exact_match")
    assert (result.returncode, result.stderr.strip()) == (1, "exact_match: 99 scored/equal")


def test_another_broken_pipe_than_that_of_the_output_is_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> str:
        raise BrokenPipeError(errno.EPIPE, "another pipe")

    monkeypatch.setattr(verifier_service.commands.new_key, "new_key", broken)
    with pytest.raises(RuntimeError, match="a pipe to another process broke"):
        cli.run(["new-key"])


@pytest.mark.slow
@pytest.mark.parametrize("module", ["verifier_service", "trainer_client"])
def test_the_version_is_told(module: str) -> None:
    command = [sys.executable, "-m", module, "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown == f"{module.replace('_', '-')} {verifier_service.__version__}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name"),
    [("verifier_service", "VERIFIER_SERVICE"), ("trainer_client", "TRAINER_CLIENT")],
)
def test_a_shell_can_complete_commands(module: str, name: str) -> None:
    environment = {**os.environ, f"_{name}_COMPLETE": "complete_bash"}
    prefix = {"COMP_WORDS": f"{module.replace('_', '-')} ", "COMP_CWORD": "1"}
    shown = subprocess.run(
        [sys.executable, "-m", module],
        env={**environment, **prefix},
        capture_output=True,
        text=True,
    ).stdout
    assert {"verifier_service": "serve", "trainer_client": "train"}[module] in shown.split()


@pytest.mark.parametrize(
    ("app", "program", "command"),
    [
        *((trainer_cli.app, "trainer-client", command) for command in TRAINER_COMMANDS),
        *((cli.make_app(), "verifier-service", command) for command in SERVICE_COMMANDS),
    ],
)
def test_the_help_of_each_command_shows_an_example(
    app: typer.Typer, program: str, command: str
) -> None:
    shown = CliRunner().invoke(app, [command, "--help"]).stdout
    assert f"Example:\n    {program} {command}" in shown


def test_a_folder_that_is_no_run_is_named(tmp_path: Path) -> None:
    result = run("generate", str(tmp_path), "1+1=?")
    assert f"{tmp_path} holds no trained model" in result.stderr


def test_one_preset_is_shown_alone() -> None:
    shown = run("presets", "dapo").stdout
    assert "dapo:" in shown
    assert "deepseek_math:" not in shown


def test_an_unknown_preset_is_refused_with_the_nearest() -> None:
    result = run("presets", "dapoo")
    assert result.returncode == 1
    assert "did you mean 'dapo'?" in result.stderr


@pytest.mark.slow
def test_presets_are_listed_with_values_sources_and_departures() -> None:
    result = run("presets")
    for text in ("deepseek_math_paper", "arXiv 2402.03300", "departs:"):
        assert text in result.stdout
