"""The section `optimizer` of a configuration."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trainer_client.config.section import (
    Decay,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    Section,
)


class OptimizerConfig(Section):
    """The optimizer and its learning rate schedule."""

    type: Literal["adamw", "adamw_8bit", "muon"] = Field(
        default="adamw",
        description="adamw_8bit: moments in 8 bits, needs CUDA and bitsandbytes; muon: orthogonal "
        "updates of the layers' matrices, adamw for the rest",
    )
    learning_rate: PositiveFloat = 1e-6
    betas: tuple[Decay, Decay] = (0.9, 0.999)
    weight_decay: NonNegativeFloat = 0.0
    max_grad_norm: PositiveFloat = 1.0
    warmup_steps: NonNegativeInt = 0
    schedule: Literal["constant", "linear", "cosine"] = "constant"
