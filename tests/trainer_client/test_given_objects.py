"""Runs that a script starts with objects of its own in place of paths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from tests.trainer_client.runs import run_config
from trainer_client.config.model_section import LoraConfig
from trainer_client.config.run_config import Config, ConfigError
from trainer_client.errors import TrainerError, TrainingStopped
from trainer_client.export import export
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.run.json_lines import read_lines
from trainer_client.run.rollout_log import rollouts_path
from trainer_client.train import train


def digits(completions: list[str], **columns: Any) -> list[float]:
    """The reward of `tests.trainer_client.runs.REWARDS`."""
    return [sum(character.isdigit() for character in text) / 8 for text in completions]


def given_config(task: Path, run_dir: Path, **sections: Any) -> Config:
    """A run whose parts are all given."""
    return run_config(
        task,
        run_dir,
        model={"path": "given:policy"},
        dataset={"path": "given:problems"},
        reward={"functions": [{"path": "given:digits"}]},
        **sections,
    )


def objects(task: Path) -> dict[str, Any]:
    """The objects that `given_config` names, of the files that `run_config` does."""
    folder = task / "model"
    return {
        "policy": (
            AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32),
            AutoTokenizer.from_pretrained(folder),
        ),
        "problems": [
            json.loads(line) for line in (task / "data" / "train.jsonl").read_text().splitlines()
        ],
        "digits": digits,
    }


def weights(model_dir: Path) -> dict[str, torch.Tensor]:
    return dict(AutoModelForCausalLM.from_pretrained(model_dir).state_dict())


def assert_equal(left: Mapping[str, torch.Tensor], right: Mapping[str, torch.Tensor]) -> None:
    assert left.keys() == right.keys()
    assert all(torch.equal(left[name], right[name]) for name in left)


@pytest.mark.slow
def test_a_run_with_given_objects_is_the_run_with_their_files(task: Path, tmp_path: Path) -> None:
    """The trained weights are equal, and those of the given model, which was trained in place."""
    by_path = train(run_config(task, tmp_path / "paths"))
    given = objects(task)
    result = train(given_config(task, tmp_path / "objects"), given=given)
    assert_equal(weights(result.model_dir), weights(by_path.model_dir))
    assert_equal(given["policy"][0].state_dict(), weights(by_path.model_dir))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dataset", "splits"])
def test_problems_may_be_a_data_set(task: Path, tmp_path: Path, kind: str) -> None:
    """The setting `split` chooses among the rows, as among those of a file."""
    given = objects(task)
    rows = datasets.Dataset.from_list(given["problems"])
    given["problems"] = rows if kind == "dataset" else datasets.DatasetDict(train=rows)
    config = given_config(task, tmp_path / "run", train={"steps": 1})
    chosen = config.dataset[0].model_copy(update={"split": "train[:4]"})
    train(config.model_copy(update={"dataset": (chosen,)}), given=given)
    logged = read_lines(rollouts_path(tmp_path / "run", 1))
    asked = {one["messages"][-1]["content"] for one in logged}
    assert asked == {row["problem"] for row in rows.select(range(4))}


@pytest.mark.slow
def test_each_step_is_told_and_an_error_of_the_callback_saves_the_run(
    task: Path, tmp_path: Path
) -> None:
    """The metrics are those of the log; the run can be resumed after the error."""
    told: list[tuple[int, float]] = []

    def on_step(step: int, metrics: Mapping[str, float]) -> None:
        told.append((step, metrics["reward/total"]))
        if len(told) == 2:
            raise KeyError("plot")

    config = given_config(task, tmp_path / "run")
    with pytest.raises(TrainingStopped, match=r"after step 2: on_step raised KeyError: 'plot'"):
        train(config, given=objects(task), on_step=on_step)
    assert list_checkpoints(tmp_path / "run")[-1].step == 2
    train(config, given=objects(task), on_step=on_step, resume=True)
    assert [step for step, _ in told] == [1, 2, 3, 4]
    logged = read_lines(tmp_path / "run" / "metrics.jsonl")
    assert [reward for _, reward in told] == [one["reward/total"] for one in logged]


@pytest.mark.slow
def test_a_run_with_a_reference_and_given_objects_is_resumed_bit_for_bit(
    task: Path, tmp_path: Path
) -> None:
    """The reference of the resumed run is the given model, not the checkpoint's."""

    def stop(step: int, metrics: Mapping[str, float]) -> None:
        if step == 2:
            raise RuntimeError

    loss = {"kl_coefficient": 0.1}
    whole = train(given_config(task, tmp_path / "whole", loss=loss), given=objects(task))
    config = given_config(task, tmp_path / "stopped", loss=loss)
    with pytest.raises(TrainingStopped):
        train(config, given=objects(task), on_step=stop)
    resumed = train(config, given=objects(task), resume=True)
    assert_equal(weights(resumed.model_dir), weights(whole.model_dir))


def half_precision(task: Path) -> Any:
    model, tokenizer = objects(task)["policy"]
    return model.to(torch.bfloat16), tokenizer


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("policy", None, r"model\.path: 'given:policy' is an object .*given are \['digits', 'pro"),
        ("policy", lambda task: objects(task)["policy"][0], r"model\.path: .* must be a pair"),
        ("policy", lambda task: ("m", objects(task)["policy"][1]), r"must be a PreTrainedModel"),
        ("policy", lambda task: (objects(task)["policy"][0], "t"), r"must be a tokenizer"),
        ("policy", half_precision, r"model\.dtype: is float32, but .* are bfloat16"),
        ("problems", lambda task: "train.jsonl", r"dataset\.path: .*a list of dicts, found str"),
        ("problems", lambda task: [], r"no column 'problem'|no problems|has no rows"),
        ("digits", lambda task: 0.5, r"reward\.functions: 'given:digits' must be a function"),
    ],
)
def test_what_cannot_be_used_is_named(
    task: Path, tmp_path: Path, name: str, make: Any, message: str
) -> None:
    given = {key: value for key, value in objects(task).items() if key != name}
    if make is not None:
        given[name] = make(task)
    with pytest.raises(TrainerError, match=message):
        train(given_config(task, tmp_path / "run"), given=given)


def test_a_policy_with_an_adapter_of_an_earlier_run_is_refused(task: Path, tmp_path: Path) -> None:
    """Its saved weights would have names that no model has."""
    given = objects(task)
    lora = given_config(task, tmp_path / "first", train={"steps": 1})
    lora = lora.model_copy(
        update={"model": lora.model.model_copy(update={"lora": LoraConfig(rank=2)})}
    )
    train(lora, given=given)
    for config in (lora, given_config(task, tmp_path / "second")):
        with pytest.raises(ConfigError, match="has layers of an adapter"):
            train(config.model_copy(update={"output_dir": tmp_path / "again"}), given=given)


def test_a_policy_whose_weights_are_all_frozen_is_refused(task: Path, tmp_path: Path) -> None:
    given = objects(task)
    given["policy"][0].requires_grad_(False)
    with pytest.raises(ConfigError, match="all weights of the model are frozen"):
        train(given_config(task, tmp_path / "run"), given=given)


@pytest.mark.parametrize("lora", [None, LoraConfig(rank=2)])
def test_the_checkpoint_of_a_given_policy_is_exported(
    task: Path, tmp_path: Path, lora: LoraConfig | None
) -> None:
    given = objects(task)
    given["policy"][1].chat_template += "{# of the script #}"
    config = given_config(task, tmp_path / "run", train={"steps": 1})
    model = config.model.model_copy(update={"lora": lora})
    result = train(config.model_copy(update={"model": model}), given=given)
    export(tmp_path / "run", tmp_path / "out", checkpoint="last")
    assert_equal(weights(tmp_path / "out"), weights(result.model_dir))
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert tokenizer.chat_template.endswith("{# of the script #}")


def test_gradients_that_a_policy_comes_with_are_not_applied(task: Path, tmp_path: Path) -> None:
    given = objects(task)
    for weight in given["policy"][0].parameters():
        weight.grad = torch.full_like(weight, 100.0)
    for name, policy in (("left", given["policy"]), ("none", objects(task)["policy"])):
        config = given_config(task, tmp_path / name, train={"steps": 1})
        train(config, given={**given, "policy": policy})
    left, none = (read_lines(tmp_path / name / "metrics.jsonl")[0] for name in ("left", "none"))
    assert left["policy/grad_norm"] == none["policy/grad_norm"]


def test_objects_are_given_for_one_call(task: Path, tmp_path: Path) -> None:
    """A later call does not find them, and the message says that commands need paths."""
    config = given_config(task, tmp_path / "run", train={"steps": 1})
    train(config, given=objects(task))
    with pytest.raises(ConfigError, match=r"nothing is given\. A command needs a path"):
        train(config.model_copy(update={"output_dir": tmp_path / "again"}))
