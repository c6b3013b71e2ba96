"""LoRA: the base model is the reference, the adapter is what is trained and saved."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from tests.trainer_client.runs import metrics, run_config, same, weights
from trainer_client.config.run_config import Config, ConfigError, make_config
from trainer_client.export import export
from trainer_client.learner import make_learner
from trainer_client.policy.lora import merged
from trainer_client.policy.policy import load_policy
from trainer_client.policy.weights import base_weights, checkpoint_weights
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.sft import fine_tune
from trainer_client.train import train

LORA = {"lora": {"rank": 4, "alpha": 8}}
SECTIONS: dict[str, Any] = {
    "model": LORA,
    "loss": {"kl_coefficient": 0.1},
    "guards": {"stop_if_kl_above": None},
}


def lora_config(task: Path, run_dir: Path, steps: int = 2) -> Config:
    return run_config(
        task, run_dir, **SECTIONS, train={"steps": steps, "checkpoint_every_steps": 1}
    )


@pytest.fixture(scope="module")
def finished_run(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run_dir = tmp_path_factory.mktemp("lora") / "whole"
    train(lora_config(task, run_dir))
    return run_dir


def test_the_reference_is_the_model_without_its_adapter(task: Path, finished_run: Path) -> None:
    assert make_learner(lora_config(task, finished_run)).reference is None
    kls = [row["policy/kl_divergence"] for row in metrics(finished_run)]
    assert kls[0] == pytest.approx(0, abs=1e-9)  # a new adapter changes nothing
    assert kls[1] > 1e-6


def test_only_the_adapter_is_in_a_checkpoint_and_its_base_is_left_alone(
    task: Path, finished_run: Path
) -> None:
    folder = list_checkpoints(finished_run)[-1].folder
    assert (folder / "adapter_model.safetensors").exists()
    assert not (folder / "model.safetensors").exists()


@pytest.mark.parametrize(
    ("lora", "change"),
    [
        ({"rank": 8, "alpha": 8}, "model.lora.rank: 4 -> 8"),
        ({"rank": 4, "alpha": 16}, "model.lora.alpha: 8.0 -> 16.0"),
        ({"rank": 4, "alpha": 8, "dora": True}, "model.lora.dora: false -> true"),
        (None, 'model.lora: {"rank": 4'),
    ],
)
def test_an_adapter_of_another_form_is_refused_before_anything_is_changed(
    task: Path, finished_run: Path, lora: dict[str, Any] | None, change: str
) -> None:
    before = (finished_run / "config.yaml").read_text()
    sections = {**SECTIONS, "model": {"lora": lora}, "train": {"steps": 4}}
    with pytest.raises(ConfigError, match=re.escape(change)):
        train(run_config(task, finished_run, **sections), resume=True, resume_from="1")
    assert (finished_run / "config.yaml").read_text() == before
    assert [one.step for one in list_checkpoints(finished_run)] == [1, 2]


@pytest.mark.parametrize("modules", [["q_prj"], ["model"]])
def test_layers_that_cannot_be_adapted_are_told_by_name(
    task: Path, tmp_path: Path, modules: list[str]
) -> None:
    model = {"lora": {"rank": 4, "target_modules": modules}}
    config = run_config(task, tmp_path / "run", model=model)
    with pytest.raises(ConfigError, match=r"target_modules: .*; linear layers of Llama.* q_proj"):
        load_policy(config.model)


@pytest.mark.slow
def test_a_resumed_lora_run_ends_with_the_same_weights_bit_for_bit(
    task: Path, finished_run: Path, tmp_path: Path
) -> None:
    train(lora_config(task, tmp_path / "run", steps=1))
    train(lora_config(task, tmp_path / "run"), resume=True)
    assert same(weights(finished_run / "model"), weights(tmp_path / "run" / "model"))


def test_the_merged_model_says_what_model_and_adapter_say(task: Path, finished_run: Path) -> None:
    checkpoint = list_checkpoints(finished_run)[-1]
    policy = make_learner(lora_config(task, finished_run), checkpoint).policy
    alone = AutoModelForCausalLM.from_pretrained(finished_run / "model").eval().to(policy.device)
    ids = torch.tensor([[1, 20, 30, 40]], device=policy.device)
    with torch.no_grad():
        torch.testing.assert_close(alone(input_ids=ids).logits, policy.model(input_ids=ids).logits)
        torch.testing.assert_close(
            merged(policy.model)(input_ids=ids).logits, policy.model(input_ids=ids).logits
        )
    assert not same(weights(finished_run / "model"), weights(task / "model"))


@pytest.mark.parametrize("kind", [{}, {"rank_stabilized": True}, {"dora": True}])
def test_weights_that_are_sent_are_those_of_the_merged_model(
    task: Path, kind: dict[str, bool]
) -> None:
    """Merged layer by layer, they equal peft's merged model; the base is left as it is."""
    config = run_config(task, task / "unused", model={"lora": {"rank": 4, "alpha": 8, **kind}})
    model = load_policy(config.model).model
    start = load_policy(run_config(task, task / "unused").model).model
    torch.manual_seed(0)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data.add_(torch.rand_like(parameter) / 10)
    sent = dict(checkpoint_weights(model))
    expected = dict(merged(model).named_parameters(remove_duplicate=False))
    assert sent.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(sent[name], value.detach())
    before = dict(start.named_parameters(remove_duplicate=False))
    assert same(dict(base_weights(model)), before)
    assert not same(sent, before)


@pytest.mark.parametrize("kind", ["rank_stabilized", "dora"])
def test_the_kinds_of_adapters_are_pefts_own(task: Path, tmp_path: Path, kind: str) -> None:
    """A folder that was saved says so, whoever loads it."""
    config = run_config(task, tmp_path / "run", model={"lora": {"rank": 4, kind: True}})
    load_policy(config.model).save(tmp_path / "adapter")
    saved = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text())
    assert {"rank_stabilized": saved["use_rslora"], "dora": saved["use_dora"]} == {
        "rank_stabilized": kind == "rank_stabilized",
        "dora": kind == "dora",
    }


def test_an_export_has_the_merged_model_and_the_adapter(finished_run: Path, tmp_path: Path) -> None:
    export(finished_run, tmp_path / "out", checkpoint="last")
    assert same(weights(tmp_path / "out"), weights(finished_run / "model"))
    assert (tmp_path / "out" / "adapter" / "adapter_model.safetensors").exists()


@pytest.mark.slow
def test_grpo_goes_on_from_a_supervised_phase_with_lora(task: Path, tmp_path: Path) -> None:
    """Its model is whole: with an adapter anew and without one."""
    demonstrations = {"path": str(task / "data" / "demonstrations.jsonl"), "system_prompt": None}
    supervised = fine_tune(
        run_config(
            task,
            tmp_path / "sft",
            model=LORA,
            dataset=demonstrations,
            sft={"steps": 2, "batch_size": 4, "learning_rate": 1e-2},
        )
    )
    assert weights(supervised).keys() == weights(task / "model").keys()
    assert not same(weights(supervised), weights(task / "model"))
    for name, lora in {"with": LORA["lora"], "without": None}.items():
        model = {"path": str(supervised), "lora": lora}
        train(run_config(task, tmp_path / name, model=model, train={"steps": 1}))
        trained = weights(tmp_path / name / "model")
        assert trained.keys() == weights(task / "model").keys()
        assert not same(trained, weights(supervised))


def test_an_adapter_is_no_model_to_start_from(task: Path, finished_run: Path) -> None:
    """The message names the command that merges it."""
    folder = list_checkpoints(finished_run)[-1].folder
    with pytest.raises(ConfigError, match=r"holds an adapter .*trainer-client export RUN_DIR"):
        load_policy(run_config(task, finished_run, model={"path": str(folder)}).model)


def test_quantized_weights_cannot_be_trained_without_an_adapter() -> None:
    with pytest.raises(ConfigError, match="quantization needs lora"):
        make_config(
            {
                "output_dir": "r",
                "model": {"path": "m", "quantization": "4bit"},
                "dataset": {"path": "d"},
            }
        )


def test_an_adapter_is_float32_whatever_the_type_of_its_base(
    task: Path, finished_run: Path
) -> None:
    """No warning about trained bfloat16 weights is given under LoRA."""
    config = run_config(task, finished_run, model={**LORA, "dtype": "bfloat16"}).model
    for folder in (None, list_checkpoints(finished_run)[-1].folder):
        parameters = load_policy(config, folder).model.named_parameters()
        types = {(p.requires_grad, p.dtype) for _, p in parameters}
        assert types == {(True, torch.float32), (False, torch.bfloat16)}
