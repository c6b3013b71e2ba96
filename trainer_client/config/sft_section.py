"""The section `sft` of a configuration: the supervised phase."""

from __future__ import annotations

from pydantic import Field

from trainer_client.config.section import NonNegativeInt, PositiveFloat, PositiveInt, Section


class SftConfig(Section):
    """The supervised phase (`trainer-client sft`)."""

    completion_column: str = Field(
        default="completion",
        description="a text, a list of texts (generations) or a chat (messages), whose assistant "
        "messages are the completions of what stands before them",
    )
    correct_column: str | None = Field(
        default=None,
        description="list of booleans beside a list of texts, such as correctness_math_verify; "
        "only texts with true are used; null: all",
    )
    batch_size: PositiveInt = 32
    steps: PositiveInt = 100
    learning_rate: PositiveFloat = 1e-5
    warmup_steps: NonNegativeInt = 0
