"""The section `dataset` of a configuration: rows, columns and prompts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field, field_validator, model_validator

from trainer_client.config.section import PositiveInt, Section, Share
from trainer_client.config.system_prompt import SYSTEM_PROMPT

TAKEN_TEMPLATE_VARIABLES = frozenset(
    [
        "add_generation_prompt",
        "chat_template",
        "continue_final_message",
        "conversation",
        "max_length",
        "messages",
        "padding",
        "return_assistant_tokens_mask",
        "return_dict",
        "return_tensors",
        "tokenize",
        "tokenizer_kwargs",
        "truncation",
    ]
)
"""Arguments of `apply_chat_template` that are no variables for a user to set."""


class DatasetConfig(Section):
    """The source of problems and the meaning of its columns."""

    path: str = Field(
        description="a .jsonl, .parquet or .csv file, several of them (data/*.jsonl), a folder "
        "written by save_to_disk, or a data set of the Hugging Face hub"
    )
    name: str | None = Field(default=None, description="subset of a Hugging Face data set")
    split: str = Field(default="train", description="a split expression, such as train[:100]")
    problem_column: str = Field(default="problem", description="a string or a list of messages")
    reference_columns: dict[str, str] = Field(
        default={"answer": "answer"},
        description="what verifiers judge by: key of the reference -> column of the data set",
    )
    reference_format: str | None = Field(
        default=None,
        description="instead of reference_columns: the service reads the reference from the row's "
        "other columns, in this format of docs/datasets.md; auto: the one that fits",
    )
    verifiers_column: str | None = Field(
        default=None,
        description="column with a row's own verifiers: a list of them with weights, or the name "
        "of a profile in reward.profiles; a row where it is null has those of its data set",
    )
    system_prompt: str | None = Field(
        default=SYSTEM_PROMPT,
        description="null: none; by default it asks for <think> and <answer>; a row's own wins",
    )
    chat_template_kwargs: dict[str, Any] = Field(
        default={}, description="variables of the chat template, such as {enable_thinking: false}"
    )
    on_bad_row: Literal["error", "skip"] = Field(
        default="error",
        description="a row without a problem or a reference, or with what JSON cannot express; "
        "skip: it is left out and counted",
    )
    on_conflict: Literal["error", "drop"] = Field(
        default="error",
        description="rows with one prompt and different references; drop: all of them are left out",
    )
    max_prompt_tokens: PositiveInt | None = Field(
        default=None, description="null: the model's context, but for one token of the completion"
    )
    on_long_prompt: Literal["error", "skip"] = Field(
        default="error", description="prompts of more tokens; skip: they are left out and counted"
    )
    solve_rates: Path | None = Field(
        default=None,
        description="solve_rates.jsonl of a run or of `evaluate --solve-rates`; selects problems",
    )
    solve_rate_range: tuple[Share, Share] = Field(
        default=(0.0, 1.0),
        description="problems outside the range, or without a rate, are left out",
    )

    @model_validator(mode="after")
    def _one_way_to_the_reference(self) -> DatasetConfig:
        if self.reference_format is not None and "reference_columns" in self.model_fields_set:
            raise ValueError("give either reference_columns or reference_format")
        return self

    @property
    def place(self) -> str:
        """The path, with the split where it is not all of `train`."""
        return self.path if self.split == "train" else f"{self.path} [{self.split}]"

    @property
    def name_in_metrics(self) -> str:
        """The name that the path gives."""
        return re.sub(r"[^\w.-]+", "_", Path(self.path).stem).strip("_.-") or "data"

    @property
    def named_columns(self) -> set[str]:
        """Columns that every row must have."""
        named = {self.problem_column, self.verifiers_column} - {None}
        if self.reference_format is None:
            named |= set(self.reference_columns.values())
        return cast("set[str]", named)

    @field_validator("chat_template_kwargs")
    @classmethod
    def _variables_are_the_templates(cls, variables: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(variables.keys() & TAKEN_TEMPLATE_VARIABLES):
            raise ValueError(f"{taken} cannot be set: the trainer decides how a prompt is written")
        return variables

    @property
    def has_rates(self) -> bool:
        """Whether problems have solve rates, by which they can be chosen."""
        return self.solve_rates is not None

    @model_validator(mode="after")
    def _range_has_rates(self) -> DatasetConfig:
        low, high = self.solve_rate_range
        if low > high:
            raise ValueError(f"solve_rate_range {low} to {high} is empty")
        if not self.has_rates and (low, high) != (0.0, 1.0):
            raise ValueError(
                "solve_rate_range needs solve_rates, a file with a rate per problem, or, of the "
                "data that is trained on, solve_rate_steps"
            )
        return self
