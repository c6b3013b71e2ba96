"""The section `train` of a configuration: steps, checkpoints, logs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from trainer_client.config.section import NonNegativeInt, PositiveInt, Section


class TrainConfig(Section):
    """The training loop."""

    steps: PositiveInt = 100
    seed: Annotated[int, Field(ge=-(2**31), lt=2**31)] = 0
    epochs_per_rollout: PositiveInt = Field(
        default=1, description="passes over the rollouts of one step"
    )
    minibatches: PositiveInt = Field(
        default=1, description="optimizer steps that one pass is split into, by whole groups"
    )
    micro_batch_tokens: PositiveInt = Field(
        default=16_384,
        description="tokens of one forward; gradients accumulate over micro-batches",
    )
    packing: bool = Field(
        default=True,
        description="no padding in micro-batches, where the model's attention allows it; false, "
        "and for other models: sequences of like length are padded together",
    )
    compile: bool = Field(
        default=False,
        description="layers go through torch.compile: faster updates in less memory on a GPU, up "
        "to a minute later; it needs a C compiler. The CPU gains nothing",
    )
    gradient_checkpointing: bool = Field(
        default=False,
        description="less memory for more time: the backward pass computes layers again",
    )
    offload_activations: bool = Field(
        default=False,
        description="activations wait in CPU memory for the backward pass: less memory than "
        "without, more time",
    )
    offload: bool = Field(
        default=False,
        description="optimizer state and reference policy in CPU memory while completions are "
        "sampled",
    )
    max_staleness_steps: NonNegativeInt = Field(
        default=0,
        description="optimizer steps by which the weights that sampled a completion may lag behind "
        "those that train on it. 0: on-policy; 1: the next step's completions are sampled while "
        "this one trains; more: sampling never pauses and goes on under new weights within a "
        "completion, whose older tokens are left out of the loss. Above 0 it needs rollout.engine "
        "vllm_server and loss.importance",
    )
    reshard_after_forward: bool = Field(
        default=True,
        description="with several processes: gather a layer's weights again for the backward pass "
        "(ZeRO-3); false keeps them (ZeRO-2): more memory, less communication",
    )
    checkpoint_every_steps: PositiveInt | None = Field(
        default=50, description="null: one checkpoint, at the end"
    )
    keep_checkpoints: PositiveInt | None = Field(
        default=3,
        description="number of newest checkpoints; null: all. The best by evaluation stays too",
    )
    checkpoint_store: str | None = Field(
        default=None,
        description="address that gets each checkpoint too, such as s3://bucket/run or "
        "gs://bucket/run; a run that is resumed takes from it what its disk lacks. It needs "
        "fsspec's package for the address, such as s3fs or gcsfs",
    )
    write_rollouts: bool = Field(
        default=True, description="write each step's completions and verdicts to rollouts/"
    )
    log_every_steps: PositiveInt = Field(default=1, description="steps per line on the console")

    @model_validator(mode="before")
    @classmethod
    def _reads_runs_of_0_2(cls, values: Any) -> Any:
        """Every run of 0.2 has `one_step_off` in its folder: a staleness of 1, or of 0."""
        if not isinstance(values, dict) or not isinstance(values.get("one_step_off"), bool):
            return values
        others = {name: value for name, value in values.items() if name != "one_step_off"}
        return {"max_staleness_steps": int(values["one_step_off"])} | others
