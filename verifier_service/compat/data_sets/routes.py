"""SandboxFusion's data set endpoints: `/get_prompts`, `/get_prompt_by_id`, `/list_ids`, `/submit`,
`/get_metrics` and `/list_datasets`.

The rows come with the request, as `config.provided_data`. SandboxFusion also has data sets in a
database of its own; this service has none, and says so.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request

from verifier_service.compat.data_sets.kinds import KINDS, DataSetKind
from verifier_service.compat.data_sets.messages import (
    MAX_ROWS,
    DataSetConfig,
    DataSetPrompt,
    DataSetRow,
    Evaluation,
    MetricsRequest,
    RowId,
    RowRequest,
    RowsRequest,
    SubmitRequest,
)
from verifier_service.compat.data_sets.rows import refuse_other_rules
from verifier_service.compat.sandbox_fusion import RunCodeRoute
from verifier_service.compat.scheduling import NotNow
from verifier_service.errors import QueueFull
from verifier_service.http.error_statuses import ApiError
from verifier_service.schemas import ErrorResponse

_RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorResponse, "description": "its rows or its kind are not here"}
}
router = APIRouter(
    route_class=RunCodeRoute, tags=["SandboxFusion's data sets"], responses=_RESPONSES
)


@router.get("/list_datasets")
async def list_datasets() -> list[str]:
    """The names that say of which kind a data set is; none has rows here."""
    return [name for kind in KINDS.values() for name in kind.data_sets]


@router.post("/get_prompts")
async def get_prompts(body: RowsRequest) -> list[DataSetPrompt]:
    """The prompts of rows."""
    return _prompts(body)


@router.post("/list_ids")
async def list_ids(body: RowsRequest) -> list[RowId]:
    """The ids of the prompts of rows."""
    return [prompt.id for prompt in _prompts(body)]


@router.post("/get_prompt_by_id")
async def get_prompt_by_id(body: RowRequest) -> DataSetPrompt:
    """The prompt of one row; CRUXEval's is the one that asks for the output."""
    kind = _kind_of(body.dataset, body.config)
    return kind.prompts(_row(body.dataset, body.config), body.config)[-1]


@router.post(
    "/submit",
    responses={504: {"model": ErrorResponse, "description": "not judged this time; try again"}},
)
async def submit(body: SubmitRequest, request: Request) -> Evaluation:
    """Judge a completion by a row."""
    kind = _kind_of(body.dataset, body.config)
    row = _row(body.dataset, body.config)
    refuse_other_rules(row, body.config)
    try:
        return await kind.evaluate(request, body, row)
    except NotNow as error:
        raise QueueFull(str(error)) from error


@router.post("/get_metrics")
async def get_metrics(body: MetricsRequest) -> dict[str, float]:
    """The number of judgements, of accepted ones, and their share."""
    _kind_of(body.dataset, body.config)
    total, accepted = len(body.results), sum(one.accepted for one in body.results)
    return {"total": total, "accepted": accepted, "accuracy": accepted / total if total else 0.0}


def _prompts(body: RowsRequest) -> list[DataSetPrompt]:
    kind = _kind_of(body.dataset, body.config)
    rows = _rows(body.dataset, body.config)[body.offset : body.offset + body.limit]
    prompts = [kind.prompts(row, body.config) for row in rows]
    # All first prompts come before all second ones, as at SandboxFusion.
    return [prompt for each in zip(*prompts, strict=True) for prompt in each]


def _kind_of(data_set: str, config: DataSetConfig) -> DataSetKind:
    """The kind of a data set, by its name or as the request says. Raises ApiError."""
    for kind in KINDS.values():
        if data_set in kind.data_sets:
            return kind
    if config.dataset_type in KINDS:
        return KINDS[config.dataset_type]
    found = "config.dataset_type is " + (
        f"{config.dataset_type[:50]!r}" if config.dataset_type else "missing"
    )
    raise ApiError(
        HTTPStatus.BAD_REQUEST,
        "unknown_data_set",
        f"data set {data_set[:50]!r} is not served, and {found}; expected one of {sorted(KINDS)}",
    )


def _rows(data_set: str, config: DataSetConfig) -> list[DataSetRow]:
    """The rows of a request. Raises ApiError."""
    rows = config.provided_data
    if not isinstance(rows, list):
        raise _no_rows(data_set, rows, "a list of rows")
    if len(rows) > MAX_ROWS:
        raise ApiError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "too_many_rows",
            f"config.provided_data has {len(rows)} rows; at most {MAX_ROWS}",
        )
    return rows


def _row(data_set: str, config: DataSetConfig) -> DataSetRow:
    """The row of a request. Raises ApiError."""
    if not isinstance(config.provided_data, dict):
        raise _no_rows(data_set, config.provided_data, "one row, an object")
    return config.provided_data


def _no_rows(data_set: str, found: Any, expected: str) -> ApiError:
    why = f"found {type(found).__name__}"
    if found is None:
        why = f"the rows of {data_set[:50]!r} live in SandboxFusion's database, which is not here"
    message = f"config.provided_data: {why}; post {expected}"
    return ApiError(HTTPStatus.BAD_REQUEST, "no_rows", message)
