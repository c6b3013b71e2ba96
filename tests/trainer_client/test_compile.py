"""Compiled layers train as plain ones do, and sampling runs them as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedModel

from tests.trainer_client.runs import rollouts_of, run_config
from trainer_client.config.run_config import ConfigError
from trainer_client.learner import make_learner
from trainer_client.policy import saver_checks
from trainer_client.policy.transformers_names import CACHE
from trainer_client.train import train
from trainer_client.update.batch import make_batch
from trainer_client.update.step import update_policy

torch_warns = pytest.mark.filterwarnings("ignore")
"""torch's compiler warns of what it does itself, and fails where a warning is an error."""


@torch_warns
@pytest.mark.slow
@pytest.mark.parametrize(
    "sections",
    [{}, {"gradient_checkpointing": True}],
    ids=["kept", "recomputed"],
)
def test_an_update_is_that_of_plain_layers(
    task: Path, tmp_path: Path, sections: dict[str, Any]
) -> None:
    """Rows of other lengths and numbers follow, for which nothing is compiled again."""
    found = []
    for compiled in (False, True):
        config = run_config(task, tmp_path / "run", train={**sections, "compile": compiled})
        learner = make_learner(config)
        for lengths in ((1, 7, 3, 5), (4, 2), (9, 9, 1, 1, 1)):
            batch = make_batch(
                rollouts_of(*lengths),
                [1.0, -1.0] + [0.5] * (len(lengths) - 2),
                pad_id=0,
                device=learner.policy.device,
            )
            found.append(update_policy(learner, batch, config))
    for plain, compiled_one in zip(found[:3], found[3:], strict=True):
        assert compiled_one == pytest.approx(plain, rel=1e-4, abs=1e-6)


@torch_warns
@pytest.mark.slow
def test_layers_are_made_once_for_rows_of_any_number_of_sequences(
    task: Path, tmp_path: Path
) -> None:
    config = run_config(task, tmp_path / "run", train={"compile": True})
    learner = make_learner(config)

    def update(*lengths: int) -> int:
        batch = make_batch(
            rollouts_of(*lengths), [1.0] * len(lengths), pad_id=0, device=learner.policy.device
        )
        update_policy(learner, batch, config)
        made: int = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        return made

    first = update(3, 4, 5)
    assert first > 0
    assert {update(6, 7), update(1), update(2, 2, 2, 2, 2), update(30, 1, 30, 1)} == {first}


def test_a_run_samples_with_plain_layers(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sampling alone has a cache, and the stand-in for a compiled layer takes none."""
    calls: list[bool] = []

    def without_a_cache(model: PreTrainedModel) -> None:
        for layer in model.get_decoder().layers:

            def call(*states: Any, layer: Any = layer, **options: Any) -> Any:
                assert options.get(CACHE) is None
                calls.append(torch.is_grad_enabled())
                return layer._call_impl(*states, **options)

            layer._compiled_call_impl = call

    monkeypatch.setattr(saver_checks, "enable_compilation", without_a_cache)
    train(run_config(task, tmp_path / "run", train={"compile": True, "steps": 2}))
    assert any(calls)


def test_what_cannot_be_compiled_or_changes_its_values_is_refused(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = run_config(task, tmp_path / "run", train={"compile": True})

    def fail(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("no C compiler")

    def broken(model: PreTrainedModel) -> None:
        for layer in model.get_decoder().layers:
            layer._compiled_call_impl = fail

    monkeypatch.setattr(saver_checks, "enable_compilation", broken)
    with pytest.raises(ConfigError, match=r"train\.compile: .* LlamaForCausalLM here: no C comp"):
        make_learner(config)

    def wrong(model: PreTrainedModel) -> None:
        for layer in model.get_decoder().layers:
            layer._compiled_call_impl = lambda states, *rest, layer=layer, **options: (
                2 * layer._call_impl(states, *rest, **options)
            )

    monkeypatch.setattr(saver_checks, "enable_compilation", wrong)
    with pytest.raises(ConfigError, match=r"train\.compile: not with LlamaForCausalLM, whose"):
        make_learner(config)
