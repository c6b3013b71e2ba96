"""Prompts that the model cannot read are found before anything is trained."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.device import DEVICE
from tests.trainer_client.runs import plain_sampling, run_config
from trainer_client.config.dataset_section import DatasetConfig
from trainer_client.config.model_section import ModelConfig
from trainer_client.config.sft_section import SftConfig
from trainer_client.policy.chat import ChatError, chat_ids
from trainer_client.policy.policy import load_policy
from trainer_client.problems import Problem, load_problems
from trainer_client.prompts import PromptReader
from trainer_client.rollout.transformers import TransformersEngine
from trainer_client.row_files import DatasetError
from trainer_client.sft_examples import load_examples
from trainer_client.train import train

NO_SYSTEM = (
    "{% for message in messages %}{% if message['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}{{ message['content'] }}"
    "{% endfor %}"
)

Write = Callable[..., DatasetConfig]


@pytest.fixture
def reader(task: Path) -> PromptReader:
    return PromptReader.of(ModelConfig(path=str(task / "model")))


@pytest.fixture
def data(tmp_path: Path) -> Write:
    """Writes problems, and gives the section that names them."""

    def write(*problems: Any, answer: str = "2", **settings: Any) -> DatasetConfig:
        rows = [{"problem": problem, "answer": answer} for problem in problems]
        path = tmp_path / "problems.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return DatasetConfig(path=str(path), **{"system_prompt": None, **settings})

    return write


def fitting(reader: PromptReader, config: DatasetConfig) -> list[Problem]:
    return reader.fitting(load_problems(config), config)


def warnings(reader: PromptReader, config: DatasetConfig, limit: int = 8) -> list[str]:
    return reader.warnings(fitting(reader, config), max_completion_tokens=limit)


@pytest.mark.parametrize("max_model_tokens", [256, None])
def test_a_template_without_a_system_role_names_the_setting(
    reader: PromptReader, data: Write, max_model_tokens: int | None
) -> None:
    reader = replace(reader, max_model_tokens=max_model_tokens)
    reader.tokenizer.chat_template = NO_SYSTEM
    with pytest.raises(ChatError, match=r"System role not supported.*system_prompt to null"):
        fitting(reader, data("1+1=?", system_prompt="Be brief."))
    assert len(fitting(reader, data("1+1=?"))) == 1


def test_a_template_that_refuses_any_chat_names_the_template(
    reader: PromptReader, data: Write
) -> None:
    reader.tokenizer.chat_template = "{{ raise_exception('never') }}"
    with pytest.raises(ChatError, match=r"never. Set model.chat_template"):
        fitting(reader, data("1+1=?", system_prompt="Be brief."))


def test_training_on_it_ends_with_that_error_before_the_model_is_loaded(
    task: Path, tmp_path: Path
) -> None:
    template = tmp_path / "no_system.jinja"
    template.write_text(NO_SYSTEM)
    config = run_config(
        task,
        tmp_path / "run",
        model={"chat_template": str(template)},
        dataset={"system_prompt": "Be brief."},
    )
    with pytest.raises(ChatError, match="System role not supported"):
        train(config)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"1 of 2 prompts are longer than 255 tokens \(the model's limit\).*has 301"),
        ({"max_prompt_tokens": 20}, r"longer than 20 tokens \(dataset.max_prompt_tokens\)"),
        ({"max_prompt_tokens": 999}, r"longer than 255 tokens \(the model's limit\)"),
    ],
)
def test_prompts_that_are_too_long_are_an_error_or_are_skipped_and_counted(
    reader: PromptReader,
    data: Write,
    settings: dict[str, Any],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(DatasetError, match=message):
        fitting(reader, data("1+1=?", "1" * 300, **settings))
    kept = fitting(reader, data("1+1=?", "1" * 300, **settings, on_long_prompt="skip"))
    assert [problem.text for problem in kept] == ["1+1=?"]
    assert "1 of 2 prompts are longer" in capsys.readouterr().out
    with pytest.raises(DatasetError, match="1 of 1 prompts are longer"):
        fitting(reader, data("1" * 300, **settings, on_long_prompt="skip"))


def test_a_prompt_that_leaves_no_room_for_its_completion_is_warned_about(
    reader: PromptReader, data: Write
) -> None:
    config = data("1" * 199)  # and the first token, of the template
    assert warnings(reader, config, limit=56) == []
    (warning,) = warnings(reader, config, limit=57)
    assert "a prompt of 200 tokens and rollout.max_completion_tokens 57" in warning
    assert "Suggested: rollout.max_completion_tokens 56" in warning


@pytest.mark.parametrize("settings", [{"problem": "x ≥ 3"}, {"answer": "≥"}])
def test_text_that_the_tokenizer_cannot_write_is_warned_about(
    reader: PromptReader, data: Write, settings: dict[str, str]
) -> None:
    assert warnings(reader, data("x + 3", answer="3")) == []
    (warning,) = warnings(
        reader, data(settings.get("problem", "?"), answer=settings.get("answer", "3"))
    )
    assert "the tokenizer cannot write 1 of 2 texts" in warning
    assert "lost: '≥'" in warning


def test_a_tokenizer_that_loses_spaces_is_warned_about(reader: PromptReader, data: Write) -> None:
    """A tokenizer that was saved as another class does: every program then has no code."""
    decode = reader.tokenizer.decode
    reader.tokenizer.decode = lambda ids, **options: decode(ids, **options).replace(" ", "")
    (warning,) = warnings(reader, data("def f(a): return a"))
    assert "'def f(a): return a' is read back as 'deff(a):returna'" in warning


def test_a_field_of_messages_that_the_template_leaves_out_is_warned_about(
    reader: PromptReader, data: Write
) -> None:
    config = data([{"role": "user", "name": "Ada", "content": "1+1=?"}])
    (warning,) = warnings(reader, config)
    assert "does not write the field 'name' of messages" in warning
    reader.tokenizer.chat_template = (
        "{% for m in messages %}{{ m.name }}{{ m.content }}{% endfor %}"
    )
    assert warnings(reader, config) == []


def test_a_run_keeps_these_warnings_with_its_others(task: Path, tmp_path: Path) -> None:
    config = run_config(task, tmp_path / "run", train={"steps": 1}, model={"dtype": "float32"})
    path = tmp_path / "signs.jsonl"
    lines = Path(config.dataset[0].path).read_text() + json.dumps({"problem": "≥", "answer": "1"})
    path.write_text(lines)
    train(
        config.model_copy(
            update={"dataset": (config.dataset[0].model_copy(update={"path": str(path)}),)}
        )
    )
    assert "the tokenizer cannot write" in (tmp_path / "run" / "warnings.jsonl").read_text()


def test_supervised_examples_longer_than_the_model_are_named(task: Path, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps({"problem": "1+1=?", "completion": "1" * 300}))
    policy = load_policy(ModelConfig(path=str(task / "model"), device=DEVICE))
    config = DatasetConfig(path=str(path), system_prompt=None)
    with pytest.raises(DatasetError, match=r"row 1 has 307 tokens.*more than the 256 of the model"):
        load_examples(config, SftConfig(), policy)


THINKING = (
    "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}:{% if not enable_thinking %}<think></think>{% endif %}"
    "{% endif %}"
)


def test_variables_reach_the_chat_template_of_every_prompt(task: Path, data: Write) -> None:
    policy = load_policy(ModelConfig(path=str(task / "model"), device=DEVICE))
    policy.tokenizer.chat_template = THINKING
    sampled = []
    for variables in ({"enable_thinking": True}, {}):
        (problem,) = load_problems(data("1+1=?", chat_template_kwargs=variables))
        engine = TransformersEngine(policy, batch_size=2)
        sampling = plain_sampling(2, 1)
        engine.generate([problem], sampling, lambda _, group: sampled.append(group.rollouts[0]))
    texts = [policy.tokenizer.decode(rollout.prompt_ids) for rollout in sampled]
    assert texts == ["<bos>1+1=?:", "<bos>1+1=?:<think></think>"]


def test_a_variable_that_the_template_does_not_have_is_warned_about(
    reader: PromptReader, data: Write
) -> None:
    config = data("1+1=?", chat_template_kwargs={"enable_thinking": False})
    (warning,) = warnings(reader, config)
    assert "the chat template has no variable 'enable_thinking'" in warning
    reader.tokenizer.chat_template = THINKING
    assert warnings(reader, config) == []


def test_arguments_that_are_no_variables_are_refused(data: Write) -> None:
    with pytest.raises(ValueError, match=r"\['tokenize'\] cannot be set"):
        data("1+1=?", chat_template_kwargs={"tokenize": False})


def test_a_completion_goes_on_from_the_assistants_own_beginning(
    reader: PromptReader, data: Write
) -> None:
    """Nothing stands between, and verifiers are told the question."""
    reader.tokenizer.chat_template = THINKING
    chat = [{"role": "user", "content": "1+1=?"}, {"role": "assistant", "content": "<think>"}]
    (problem,) = fitting(reader, data(chat))
    assert problem.text == "1+1=?"
    ids = chat_ids(reader.tokenizer, problem.messages, problem.template_variables)
    assert reader.tokenizer.decode(ids) == "<bos>1+1=?<think>"
