"""Messages of SandboxFusion's data set endpoints."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from verifier_service.compat.rule_fields import RuledBody
from verifier_service.compat.sandbox_fusion import RunCodeResponse

DataSetRow = dict[str, Any]
RowId = int | str
MAX_ROWS = 10_000


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore")


class DataSetConfig(RuledBody):
    """The rows, and how they are asked and judged."""

    dataset_type: str | None = Field(
        default=None, description="kind of a data set whose name says none: CommonOJDataset, ..."
    )
    language: str | None = None
    locale: str | None = None
    is_fewshot: bool | None = None
    compile_timeout: float | None = Field(default=None, gt=0, le=300, description="seconds")
    run_timeout: float | None = Field(default=None, gt=0, le=300, description="seconds")
    custom_extract_logic: str | None = None
    provided_data: list[DataSetRow] | DataSetRow | None = Field(
        default=None, description="the rows: a list for prompts and ids, else one"
    )
    extra: dict[str, Any] = Field(default={})


class RowsRequest(_Message):
    """Rows whose prompts or ids are asked for."""

    dataset: str
    config: DataSetConfig
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=1_000_000, ge=0)


class RowRequest(_Message):
    """A row whose prompt is asked for."""

    dataset: str
    config: DataSetConfig
    id: RowId


class SubmitRequest(_Message):
    """A completion, and the row that it is judged by."""

    dataset: str
    id: RowId
    completion: str
    config: DataSetConfig


class DataSetPrompt(BaseModel):
    """The prompt of a row."""

    id: RowId
    prompt: str
    labels: dict[str, Any] = {}


class EvaluatedCase(BaseModel):
    """One test of a completion."""

    passed: bool
    exec_info: RunCodeResponse
    test_info: dict[str, Any] | None = None


class Evaluation(BaseModel):
    """The judgement of a completion."""

    id: RowId
    accepted: bool
    extracted_code: str
    full_code: str | None = None
    test_code: str | None = None
    tests: list[EvaluatedCase]
    extracted_type: Literal["fenced", "incomplete_fenced", "heuristic", "empty"] | None = None
    extra: dict[str, Any] | None = None


class AcceptedEvaluation(_Message):
    """The part of an `Evaluation` that metrics are made of."""

    accepted: bool


class MetricsRequest(_Message):
    """The judgements of a data set."""

    dataset: str
    config: DataSetConfig
    results: list[AcceptedEvaluation] = Field(max_length=MAX_ROWS, fail_fast=True)
