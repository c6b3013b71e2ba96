"""`trainer-client check` says what is wrong with a configuration: all of it, a line each."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainer_client import machine
from trainer_client.check import check_model
from trainer_client.check.check_run import check_before_training, check_run
from trainer_client.check.findings import Findings
from trainer_client.cli import run
from trainer_client.config.run_config import ConfigError
from trainer_client.machine import FreeMemory, free_memory
from trainer_client.run.console import say


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


class Locked(Quiet):
    """A verifier service that is ready, and wants a key."""

    def do_GET(self) -> None:
        self._send(200, {"status": "ready"})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send(401, {"error": {"code": "unauthorized", "message": "a key is needed"}})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture(scope="module")
def web_page() -> Iterator[str]:
    """The address of a web server that is no verifier service."""
    yield from served(Quiet)


@pytest.fixture(scope="module")
def service_that_wants_a_key() -> Iterator[str]:
    """The address of a service that refuses requests without a key."""
    yield from served(Locked)


def served(handler: type[SimpleHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server while it is used."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def config(task: Path, tmp_path: Path, service_url: str) -> Path:
    """A configuration in which nothing is wrong."""
    path = tmp_path / "run.yaml"
    values = {
        "output_dir": str(tmp_path / "out"),
        "model": {"path": str(task / "model"), "device": "cpu"},
        "dataset": {"path": str(task / "data" / "train.jsonl"), "system_prompt": None},
        "rollout": {"max_completion_tokens": 8, "batch_size": 8},
        "train": {"micro_batch_tokens": 512},
        "reward": {"url": service_url},
    }
    path.write_text(yaml.safe_dump(values))
    return path


def write_rows(path: Path, *rows: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def problem(config: Path, *overrides: str) -> str:
    """The only problem of a configuration."""
    (line,) = check_run(config, list(overrides)).problems
    assert "\n" not in line
    return line


def test_the_command_that_can_start_is_told_as_it_was_given(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(["check", str(config), "logging=[tensorboard]"])
    told = capsys.readouterr().out
    assert f"ok: `trainer-client train {config} 'logging=[tensorboard]'` can start" in told


@pytest.mark.parametrize("text", ["runs/[bold]x", "[/think] is closed", "it is :100:"])
def test_the_console_shows_texts_as_they_are(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(text)
    assert capsys.readouterr().out == f"{text}\n"


def test_a_sound_configuration_has_facts_alone(config: Path) -> None:
    found = check_run(config)
    assert (found.problems, found.warnings) == ([], [])
    names = [line.partition(":")[0] for line in found.facts]
    assert names == ["data", "model", "memory", "service"]


@pytest.mark.slow
def test_the_command_lists_every_problem_and_ends_with_status_1(
    config: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "trainer_client", "check", str(config), "optimizer.lr=1e-5"]
    command += [
        "dataset.path=nowhere.jsonl",
        f"model.path={tmp_path}/none",
        "reward.url=http://x:0",
    ]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    first, *lines = result.stderr.splitlines()
    assert first == f"error: {config} cannot be used:"
    assert [line.split()[0] for line in lines[:1]] == ["optimizer.lr:"]
    text = "\n".join(lines)
    for part in (
        "optimizer.learning_rate",
        "nowhere.jsonl",
        "no folder",
        "no answer from the veri",
    ):
        assert part in text
    assert len(lines) == 4


@pytest.mark.slow
def test_neither_check_nor_the_beginning_of_train_imports_torch(config: Path) -> None:
    code = (
        "import sys\nfrom trainer_client.cli import run\n"
        "try:\n    run(sys.argv[1:])\nexcept SystemExit as end:\n"
        "    print(end.code, 'torch' in sys.modules, 'transformers' in sys.modules)\n"
    )
    for command, status in (("check", 0), ("train", 1)):
        url = [] if command == "check" else ["dataset.path=nowhere.jsonl"]
        result = subprocess.run(
            [sys.executable, "-c", code, command, str(config), *url], capture_output=True, text=True
        )
        assert result.stdout.splitlines()[-1] == f"{status} False False", result.stderr


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "localhost", "//localhost:8080"])
def test_an_address_needs_a_scheme(config: Path, address: str) -> None:
    assert problem(config, f"reward.url={address}").startswith(
        "reward.url: expected an address with its scheme, such as http://127.0.0.1:8080"
    )


def test_another_server_is_no_verifier_service(config: Path, web_page: str) -> None:
    found = problem(config, f"reward.url={web_page}")
    assert found.startswith(f"{web_page} is not a verifier service: its /readyz gives status 404")


def test_a_missing_key_is_one_line(
    config: Path, service_that_wants_a_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REWARD_VERIFIER_API_KEY", raising=False)
    found = problem(config, f"reward.url={service_that_wants_a_key}")
    assert found.startswith("reward.url: ")
    assert "401: a key is needed" in found
    assert "set REWARD_VERIFIER_API_KEY" in found


def test_a_key_that_cannot_be_sent_is_one_line(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWARD_VERIFIER_API_KEY", "rv-sécret")
    found = problem(config)
    assert "the environment's REWARD_VERIFIER_API_KEY has a character that no key has" in found
    assert "sécret" not in found


def test_each_verifier_that_the_service_refuses_has_a_line(config: Path) -> None:
    verifiers = "[{type: acuracy}, {type: format, wieght: 2}, {type: accuracy, weight: 1e9}]"
    found = check_run(config, [f"reward.verifiers={verifiers}"]).problems
    settings = ["reward.verifiers.0", "reward.verifiers.1.wieght", "reward.verifiers.2.weight"]
    assert [line.partition(": ")[0] for line in found] == settings
    assert "did you mean 'accuracy'?" in found[0]
    assert "did you mean 'weight'?" in found[1]


def test_an_unknown_profile_of_an_evaluation_is_named(config: Path, task: Path) -> None:
    section = f"{{dataset: {{path: {task}/data/held_out.jsonl}}, profile: maths, k: [1]}}"
    found = problem(config, f"evaluation={section}")
    assert found.startswith("evaluation.0.profile: ")
    assert "did you mean 'math'?" in found


def test_references_that_no_verifier_can_read_are_a_problem(config: Path) -> None:
    found = problem(config, "dataset.reference_columns={solution: answer}")
    assert "'accuracy' cannot judge 3 of 3 problems" in found
    assert "missing_reference" in found


def test_one_reference_that_cannot_be_read_is_a_warning(config: Path, tmp_path: Path) -> None:
    rows = [{"problem": f"{n} + 1", "answer": str(n + 1)} for n in range(9)]
    rows[-1]["answer"] = ""
    found = check_run(config, [f"dataset.path={write_rows(tmp_path / 'd.jsonl', *rows)}"])
    assert found.problems == []
    assert "cannot judge 1 of 3 problems" in found.warnings[0]
    assert f"as in row 9 of {tmp_path / 'd.jsonl'}" in found.warnings[0]


def test_empty_references_are_found_wherever_they_are(config: Path, tmp_path: Path) -> None:
    rows = [{"problem": f"{n} + 1", "answer": str(n + 1)} for n in range(99)]
    rows[7]["answer"] = rows[70]["answer"] = " "
    found = check_run(config, [f"dataset.path={write_rows(tmp_path / 'd.jsonl', *rows)}"])
    assert found.problems == []
    assert "cannot judge 1 of 4 problems" in found.warnings[0]
    assert "as in row 8 of" in found.warnings[0]
    assert "Rows with an empty reference: 2, the first is row 8." in found.warnings[0]


def test_a_folder_that_is_not_there_is_not_looked_for_on_the_hub(config: Path) -> None:
    for path in ("./model", "~/model", "/model/x", "models/of/mine"):
        assert problem(config, f"model.path={path}").startswith(
            f"model.path: there is no folder '{path}'"
        )


def test_a_model_of_the_hub_without_a_network_has_one_line(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    found = problem(config, "model.path=some/model")
    assert found.startswith("model.path: 'some/model' is no folder here, and the Hugging Face hub")
    assert "`hf download some/model`" in found


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.safetensors", b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        ("model.safetensors", None, "holds no weights"),
        ("tokenizer.json", None, "has no tokenizer"),
        ("chat_template.jinja", None, "has no chat template"),
        ("config.json", None, "has no config.json"),
        ("config.json", b"{", "is not valid JSON"),
        ("model.safetensors.index.json", b'{"weight_map": {"w": "b.safetensors"}}', "lacks b.safe"),
    ],
)
def test_a_model_folder_that_is_not_whole_is_told_apart(
    config: Path, task: Path, tmp_path: Path, file: str, content: bytes | None, message: str
) -> None:
    folder = shutil.copytree(task / "model", tmp_path / "model")
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    found = problem(config, f"model.path={folder}")
    assert found.startswith("model.path: ")
    assert message in found


def test_a_download_that_was_cut_off_is_told_by_its_length(
    config: Path, task: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(task / "model", tmp_path / "model")
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:-1])
    expected = f"has {len(whole) - 1} bytes, expected {len(whole)}"
    assert expected in problem(config, f"model.path={folder}")


def test_cuda_without_cuda_is_a_line(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_model, "cuda_problem", lambda: "the driver finds no GPU")
    assert problem(config, "model.device=cuda") == (
        "model.device: cuda cannot be used: the driver finds no GPU; set it to auto or cpu, or "
        "install what is missing"
    )


def test_a_hidden_gpu_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert machine.cuda_problem() is not None


def test_the_estimate_is_compared_with_what_is_free(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for free, kind in ((2**20, "problems"), (2**24, "warnings"), (2**40, "facts")):
        memory = FreeMemory(free, "this machine")
        monkeypatch.setattr(check_model, "free_memory", lambda device, memory=memory: memory)
        found: Findings = check_run(config)
        (line,) = (one for one in getattr(found, kind) if one.startswith("memory: about"))
        assert ("Suggested: " in line) == (kind != "facts")


def test_vllm_takes_its_share_of_all_memory_of_the_gpu(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share of 0.3 of 40,000 MiB is 12 GiB, however little of it is free."""
    said: subprocess.CompletedProcess[str] = subprocess.CompletedProcess([], 0, "30000, 40000\n")
    asked: list[list[str]] = []

    def run_smi(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return said

    monkeypatch.setattr(subprocess, "run", run_smi)
    monkeypatch.setattr(machine, "cuda_problem", lambda: None)
    memory = free_memory("auto")
    assert memory == FreeMemory(30000 * 2**20, "GPU 0", 40000 * 2**20)
    assert "--query-gpu=memory.free,memory.total" in asked[0]
    monkeypatch.setattr(check_model, "free_memory", lambda device: memory)
    found = check_run(config, ["rollout.engine=vllm", "model.device=auto"])
    (line,) = (one for one in found.facts if one.startswith("memory: about"))
    assert line == "memory: about 12 GiB at the step's peak, 29 GiB are free on GPU 0"


def test_a_huge_group_is_warned_of(config: Path) -> None:
    found = check_run(config, ["rollout.group_size=1000000", "rollout.max_completion_tokens=4096"])
    assert "kv_cache" in found.warnings[0]
    assert "rollout.group_size" in found.warnings[0]


def test_texts_that_the_tokenizer_loses_are_a_warning(config: Path, tmp_path: Path) -> None:
    rows = [{"problem": f"数 {n} + 1", "answer": str(n + 1)} for n in range(9)]
    found = check_run(config, [f"dataset.path={write_rows(tmp_path / 'd.jsonl', *rows)}"])
    assert found.problems == []
    assert "the tokenizer cannot write 9 of 18 texts" in found.warnings[0]


@pytest.mark.parametrize(
    ("rule", "override"),
    [
        ("evaluation.verifier is not set", "reward.verifiers=[{type: acuracy}]"),
        ("train.max_staleness_steps 2 needs", "train.max_staleness_steps=2"),
    ],
)
def test_a_rule_between_sections_hides_no_other_problem(
    config: Path, task: Path, rule: str, override: str
) -> None:
    held_out = f"evaluation={{dataset: {{path: {task / 'data' / 'held_out.jsonl'}}}}}"
    overrides = [held_out, override, "dataset.problem_column=problm", "model.path=./none"]
    found = "\n".join(check_run(config, overrides).problems)
    for part in (rule, "has no column 'problm'", "there is no folder './none'"):
        assert part in found


def test_a_section_with_a_wrong_setting_is_not_checked_with_its_defaults(config: Path) -> None:
    """The default address has no service: a second line would be about nothing of the user's."""
    assert problem(config, "reward.timeout=3").startswith("reward.timeout: no such setting")


def test_missing_files_are_named(config: Path) -> None:
    overrides = ["reward.functions=[{path: 'rewards.py:f'}]", "model.chat_template=t.jinja"]
    overrides.append("rollout.environment={path: 'world.py:World'}")
    found = check_run(config, overrides).problems
    places = ["reward.functions", "rollout.environment", "model.chat_template"]
    assert [line.partition(":")[0] for line in found] == places


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("brevity", ""),
        ("given_later", ""),
        ("Kept", ""),
        ("brevety", "has no {kind} 'brevety'; did you mean 'brevity'?"),
        ("inner", "has no {kind} 'inner'"),
    ],
)
def test_names_of_files_are_looked_up_and_nothing_is_run(
    config: Path, tmp_path: Path, name: str, told: str
) -> None:
    file = tmp_path / "code.py"
    file.write_text(
        "raise SystemExit\nfrom a import b as Kept\n"
        "if 1:\n    def brevity(completions):\n        inner = 1\n"
        "else:\n    given_later = [inner for inner in []]\n"
    )
    for setting, kind in [
        (f"reward.functions=['{file}:{name}']", "function"),
        (f"rollout.environment={{path: '{file}:{name}'}}", "class or function"),
    ]:
        found = [line for line in check_run(config, [setting]).problems if str(file) in line]
        assert [told.format(kind=kind) in line for line in found] == [True] * bool(told)


@pytest.mark.parametrize(
    "source",
    [
        "from rewards import *\n",
        "globals().update(brevity=len)\n",
        "def __getattr__(name):\n    return len\n",
    ],
)
def test_a_file_that_makes_its_names_as_it_runs_is_left_to_the_run(
    config: Path, tmp_path: Path, source: str
) -> None:
    file = tmp_path / "code.py"
    file.write_text(source)
    assert check_run(config, [f"reward.functions=['{file}:brevity']"]).problems == []


@pytest.mark.parametrize(
    ("parameters", "lacking"),
    [
        ("completions, answer", []),
        ("completions, limit=3, *, more=1, **columns", []),
        ("completions, gold", ["gold"]),
        ("prompts, *, gold, **columns", ["gold"]),
        ("completions, gold, /", []),
    ],
)
def test_a_reward_function_that_asks_for_a_column_that_is_not_there_is_told(
    config: Path, tmp_path: Path, parameters: str, lacking: list[str]
) -> None:
    file = tmp_path / "code.py"
    file.write_text(f"def f({parameters}):\n    return []\n")
    found = check_run(config, [f"reward.functions=['{file}:f']"]).problems
    asked = f"reward.functions: {file}:f asks for {lacking}; there are ['answer', 'completions', "
    assert [line.startswith(asked) for line in found] == [True] * len(lacking)


def test_functions_of_data_sets_with_different_columns_get_all_of_them(
    config: Path, tmp_path: Path
) -> None:
    file = tmp_path / "code.py"
    file.write_text("async def f(completions, gold):\n    return []\n")
    rows = [{"problem": f"{n}+1=?", "answer": str(n + 1), "gold": "x"} for n in range(9)]
    other = write_rows(tmp_path / "other.jsonl", *rows)
    first = yaml.safe_load(config.read_text())["dataset"]
    data_sets = json.dumps([first, {**first, "path": str(other)}])
    overrides = [f"dataset={data_sets}", f"reward.functions=['{file}:f']"]
    assert check_run(config, overrides).problems == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("{num_guesses: 3, level: 1}", []),
        ("{numguesses: 3, level: 1}", ["takes no 'numguesses'; did you mean 'num_guesses'?"]),
        ("{zzz: 3, level: 1}", ["takes no 'zzz'; there are ['level', 'num_guesses']"]),
        ("{}", ["needs level"]),
    ],
)
def test_options_that_an_environment_does_not_take_are_told(
    config: Path, tmp_path: Path, options: str, told: list[str]
) -> None:
    file = tmp_path / "code.py"
    file.write_text(
        "class Guess:\n    def __init__(self, level, num_guesses=5):\n        pass\n"
        "class Other(Guess):\n    pass\n"
    )
    setting = "rollout.environment={{path: '{}:{}', options: {}}}"
    found = check_run(config, [setting.format(file, "Guess", options)]).problems
    assert found == [f"rollout.environment.options: {file}:Guess {one}" for one in told]
    assert check_run(config, [setting.format(file, "Other", options)]).problems == []


def test_tools_that_a_file_does_not_have_are_told(config: Path, tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    options = f"{{paths: ['{file}:add', '{file}:ad']}}"
    found = problem(config, f"rollout.environment={{path: functions, options: {options}}}")
    told = f"{file} has no function 'ad'; did you mean 'add'?"
    assert found == f"rollout.environment.options.paths: {told}"


def test_a_board_that_is_not_installed_is_told(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    told = problem(config, "logging=[tensorboard, wandb]")
    assert told == "logging needs the package wandb: pip install wandb, or leave it out"


def test_code_that_is_no_python_is_told(config: Path, tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text("def f(:")
    assert f"{file} is not Python: " in problem(config, f"reward.functions=['{file}:f']")


def test_a_folder_that_cannot_be_made_is_one_line(config: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "output_dir" in problem(config, f"output_dir={tmp_path / 'file'}")


def test_a_vllm_server_that_is_not_there_is_named(config: Path) -> None:
    overrides = ["rollout.engine=vllm_server", "rollout.vllm_server.urls=['http://127.0.0.1:9']"]
    assert "no vLLM server answers at http://127.0.0.1:9" in problem(config, *overrides)


def test_too_few_problems_for_a_step_are_told(config: Path, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "d.jsonl", {"problem": "1 + 1", "answer": "2"})
    assert "1 different problems, but one step takes" in problem(config, f"dataset.path={rows}")


def test_checkpoints_of_an_earlier_run_are_told(config: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "checkpoints" / "step_000001").mkdir(parents=True)
    assert "holds checkpoints of a run; go on with --resume" in problem(config)
    assert check_run(config, resume=True).problems == []
    with pytest.raises(ConfigError, match="holds checkpoints"):
        check_before_training(config)


def test_a_resumed_run_keeps_the_form_of_its_adapter(config: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "checkpoints" / "step_000001").mkdir(parents=True)
    (tmp_path / "out" / "config.yaml").write_text("model: {lora: null}\n")
    (line,) = check_run(config, ["model.lora={rank: 4}"], resume=True).problems
    assert line.startswith('model.lora: null -> {"rank": 4')


def test_a_run_that_was_never_begun_cannot_be_resumed(config: Path) -> None:
    (line,) = check_run(config, resume=True).problems
    assert "holds no run to resume" in line


def test_a_completion_that_does_not_fit_the_model_is_a_warning(config: Path, task: Path) -> None:
    limit = json.loads((task / "model" / "config.json").read_text())["max_position_embeddings"]
    overrides = [f"rollout.max_completion_tokens={limit}"]
    (warning,) = check_run(config, overrides).warnings
    assert re.fullmatch(
        rf"a prompt of at least \d+ tokens and .*_tokens {limit} are more than the {limit} .*"
        r"Suggested: rollout.max_completion_tokens less than \d+",
        warning,
    )
    held_out = f"{{path: {task}/data/held_out.jsonl, system_prompt: null}}"
    section = f"evaluation={{dataset: {held_out}, max_completion_tokens: {limit}, k: [1]}}"
    assert "max_completion_tokens" in check_run(config, [section]).warnings[0]


def test_a_training_begins_with_the_same_checks(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_before_training(config).reward.max_attempts == 8
    assert capsys.readouterr().out == "checked; loading torch and the model\n"
    with pytest.raises(ConfigError) as caught:
        check_before_training(config, ["model.path=./none", "reward.url=http://127.0.0.1:9"])
    assert len(str(caught.value).splitlines()) == 3


def test_a_finished_run_needs_no_service_to_say_so(config: Path, tmp_path: Path) -> None:
    model = tmp_path / "out" / "model"
    model.mkdir(parents=True)
    (model / "trained_steps").write_text("100\n")
    check_before_training(config, ["reward.url=http://127.0.0.1:9"], resume=True)


def test_prompts_that_are_skipped_need_no_room(config: Path, tmp_path: Path) -> None:
    rows = [{"problem": f"{n}+1=?", "answer": str(n + 1)} for n in range(9)]
    rows[0]["problem"] = "1+" * 2000 + "1=?"
    dataset = f"dataset.path={write_rows(tmp_path / 'long.jsonl', *rows)}"
    assert "a prompt of at least" in "".join(check_run(config, [dataset]).warnings)
    skipping = check_run(config, [dataset, "dataset.on_long_prompt=skip"])
    assert "a prompt of at least" not in "".join(skipping.warnings)


def test_memory_names_the_length_of_prompts_that_it_assumes(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        run(["memory", str(config), "--prompt-tokens", "77"])
    assert end.value.code == 0
    assert "for prompts of 77 tokens (--prompt-tokens); `trainer-client" in capsys.readouterr().out
