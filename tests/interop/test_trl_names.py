"""Every setting of TRL's GRPO has an answer here: its name, or that there is none."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tests.interop.peer import peer
from trainer_client.config.run_config import Config, setting_names
from trainer_client.config.trl_equivalents import EQUIVALENTS, NOT_AVAILABLE

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("default")]

trl, transformers = peer("trl"), peer("transformers")


def own_fields() -> list[str]:
    """The fields of `GRPOConfig`, `ModelConfig` and the script's arguments that TRL adds."""
    inherited = {field.name for field in fields(transformers.TrainingArguments)}
    sections = (trl.GRPOConfig, trl.ModelConfig, trl.ScriptArguments)
    named = {field.name for section in sections for field in fields(section)}
    # A workaround for models whose buffers DDP cannot broadcast; FSDP2 broadcasts none.
    return sorted(named - inherited - {"ignore_bias_buffers"})


def test_each_has_an_answer() -> None:
    ours = {path.rpartition(".")[2] for path in setting_names(Config)}
    answered = EQUIVALENTS.keys() | NOT_AVAILABLE.keys() | ours
    names = own_fields()
    assert len(names) > 80
    assert [name for name in names if name not in answered] == []
