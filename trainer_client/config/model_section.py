"""The section `model` of a configuration: the policy, and LoRA."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from trainer_client.config.section import PositiveFloat, PositiveInt, Section


class LoraConfig(Section):
    """Low-rank adapters on a frozen base model (arXiv 2106.09685), through peft."""

    rank: PositiveInt = 16
    alpha: PositiveFloat = Field(default=32.0, description="the adapter is scaled by alpha / rank")
    target_modules: str | tuple[str, ...] = Field(
        default="all-linear",
        description="names of modules; all-linear: all linear layers but the output layer",
    )
    rank_stabilized: bool = Field(
        default=False,
        description="scale by alpha / sqrt(rank), so that a large rank learns as fast as a small "
        "one (rsLoRA, arXiv 2312.03732)",
    )
    dora: bool = Field(
        default=False,
        description="train the length of each weight's columns apart from their direction (DoRA, "
        "arXiv 2402.09353); slower, and vLLM gets the merged weights",
    )


class ModelConfig(Section):
    """The policy."""

    path: str = Field(description="Hugging Face model name or folder")
    dtype: Literal["float32", "bfloat16"] = Field(
        default="float32", description="type of the weights that are trained"
    )
    autocast: Literal["bfloat16"] | None = Field(
        default=None,
        description="bfloat16: compute in it where that is safe, with float32 master weights",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="auto: cuda where there is one"
    )
    chat_template: Path | None = Field(
        default=None, description="Jinja file, where the tokenizer has no template or a wrong one"
    )
    lora: LoraConfig | None = Field(default=None, description="null: all weights are trained")
    quantization: Literal["4bit"] | None = Field(
        default=None,
        description="stores the frozen base model under lora in 4 bits (QLoRA); needs CUDA, "
        "bitsandbytes and rollout.engine transformers",
    )

    @model_validator(mode="after")
    def _quantized_weights_are_frozen(self) -> ModelConfig:
        if self.quantization is not None and self.lora is None:
            raise ValueError("quantization needs lora: quantized weights cannot be trained")
        return self
