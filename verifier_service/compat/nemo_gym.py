"""A resource server of NeMo Gym: `POST /verify` and its companions.

The body is a model's response (OpenAI's Responses API) with the task's fields at its top level. The
response is the whole body with a `reward`. The fields decide which verifier judges:

| fields | verifier | as the server |
|---|---|---|
| `verifier_metadata.unit_tests` | `code` | code_gen |
| `options` and `expected_answer` | `multiple_choice` | mcqa |
| `expected_answer` | `accuracy` | math_with_judge |
| `reference` | those of the profile | |

axolotl and verifiers speak this protocol too; axolotl waits 30 s. If the task does not permit to
judge, the reward is 0 and `_ng_failure_class` says so; NeMo Gym then leaves the sample out.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from verifier_service.compat.completions import (
    DEFAULT_PROFILE,
    ProfileQuery,
    rewarded,
    verifiers_of,
)
from verifier_service.compat.route import StrictRoute
from verifier_service.http.errors import ApiError
from verifier_service.profiles import Verifiers
from verifier_service.verifiers.code import Code
from verifier_service.verifiers.multiple_choice import MultipleChoice

DEADLINE_SECONDS = 25.0
JUDGE_FAILED = "judge_failed"
NOT_SERVED = ("instruction_id_list", "verifier", "extraction_mode")
"""Fields of tasks for other servers; they would be judged by the wrong rules here."""

router = APIRouter(route_class=StrictRoute, tags=["NeMo Gym"])


class ContentPart(BaseModel):
    """A part of a message."""

    model_config = ConfigDict(extra="allow")

    type: str = "output_text"
    text: str | None = None


class OutputItem(BaseModel):
    """One item of a response: a message, a call of a tool, reasoning."""

    model_config = ConfigDict(extra="allow")

    type: str = "message"
    role: str | None = None
    content: list[ContentPart] | str | None = None


class ModelResponse(BaseModel):
    """A response of the Responses API."""

    model_config = ConfigDict(extra="allow")

    output: list[OutputItem]


class VerifyRequest(BaseModel):
    """A response and its task. Fields that are not named here are echoed."""

    model_config = ConfigDict(extra="allow")

    responses_create_params: dict[str, Any] = {}
    response: ModelResponse
    expected_answer: Any = None
    options: Any = None
    verifier_metadata: dict[str, Any] | None = None
    reference: dict[str, Any] | None = Field(
        default=None, description="a whole `reference` of POST /v1/score"
    )


class VerifyResponse(BaseModel):
    """The request with its reward and verdict."""

    model_config = ConfigDict(extra="allow")

    reward: float
    reward_components: dict[str, float] = Field(description="scores by verifier")
    extracted_answer: str | None
    outcome: Literal["scored", "unverifiable"]
    reason: str


class AggregateRequest(BaseModel):
    """Responses of `/verify`."""

    model_config = ConfigDict(extra="ignore")

    verify_responses: list[dict[str, Any]] = Field(fail_fast=True)


class AggregateResponse(BaseModel):
    """The mean of each finite number in the responses that have a verdict."""

    agent_metrics: dict[str, float]
    key_metrics: dict[str, float]


class SeedSessionResponse(BaseModel):
    """Nothing: verification has no state."""


class ReverifyModeResponse(BaseModel):
    """Whether responses can be verified again later."""

    reverify_mode: Literal["stateless"] = "stateless"


@router.post("/verify")
async def verify(
    body: VerifyRequest, request: Request, profile: ProfileQuery | None = None
) -> VerifyResponse:
    """Reward a model's response by its task, as a resource server of NeMo Gym does."""
    verifiers, reference = _verifiers_and_reference(request, body, profile)
    items = [(_text_of(body.response), reference)]
    (judged,) = await rewarded(request, items, verifiers, deadline_seconds=DEADLINE_SECONDS)
    found: dict[str, Any] = {
        "reward": judged.number,
        "reward_components": {
            name: verdict.score
            for name, verdict in judged.verdicts.items()
            if verdict.score is not None
        },
        "extracted_answer": judged.first.extracted,
        "outcome": "scored",
        "reason": judged.first.reason,
    }
    if judged.reward is None:
        found |= {"outcome": "unverifiable", "_ng_failure_class": JUDGE_FAILED}
    return VerifyResponse.model_validate({**body.model_dump(exclude_unset=True), **found})


@router.post("/seed_session")
async def seed_session(body: dict[str, Any]) -> SeedSessionResponse:
    """Begin a session, which needs nothing here."""
    return SeedSessionResponse()


@router.post("/aggregate_metrics")
async def aggregate_metrics(body: AggregateRequest) -> AggregateResponse:
    """The means over responses of `/verify`."""
    numbers = defaultdict(list)
    for response in body.verify_responses:
        if response.get("_ng_failure_class") is not None:
            continue
        for key, value in response.items():
            # The comparison leaves out integers that no float can hold.
            if isinstance(value, int | float) and abs(value) <= sys.float_info.max:
                numbers[key].append(float(value))
    means = {f"mean/{key}": sum(values) / len(values) for key, values in numbers.items()}
    means = {key: mean for key, mean in means.items() if math.isfinite(mean)}
    key_metrics = {key: value for key, value in means.items() if key == "mean/reward"}
    return AggregateResponse(agent_metrics=means, key_metrics=key_metrics)


@router.get("/reverify_mode")
async def reverify_mode() -> ReverifyModeResponse:
    """Verification is a pure function of the request."""
    return ReverifyModeResponse()


def _verifiers_and_reference(
    request: Request, body: VerifyRequest, profile: str | None
) -> tuple[Verifiers, dict[str, Any]]:
    """The verifiers and the reference of a task. Raises RequestError."""
    reference = body.reference or {}
    if body.expected_answer is not None:
        reference = {"answer": body.expected_answer, **reference}
    if isinstance(tests := (body.verifier_metadata or {}).get("unit_tests"), Mapping):
        reference = {"tests": dict(tests), **reference}
    if profile is not None:
        return verifiers_of(request, profile), reference
    unknown = sorted(set(NOT_SERVED) & (body.model_extra or {}).keys())
    if unknown:
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "unknown_task",
            f"tasks with {unknown} are not served; there are `expected_answer`, `options` and "
            "`verifier_metadata.unit_tests`, or name a `profile`",
        )
    if "tests" in reference:
        return [Code(weight=1.0)], reference
    if body.options is not None:
        choices = {"choices": _merged_options(body.options)}
        return [MultipleChoice(weight=1.0)], {**choices, **reference}
    return verifiers_of(request, DEFAULT_PROFILE), reference


def _merged_options(options: Any) -> Any:
    """NeMo Gym's options, `[{"A": "Paris"}, {"B": "Rome"}]`, as one object."""
    if isinstance(options, list) and all(isinstance(option, dict) for option in options):
        return {letter: text for option in options for letter, text in option.items()}
    return options


def _text_of(response: ModelResponse) -> str:
    """The text of the model's messages."""
    texts = []
    for item in response.output:
        if item.type != "message" or item.role not in (None, "assistant"):
            continue
        if isinstance(item.content, str):
            texts.append(item.content)
        elif item.content is not None:
            texts += [part.text for part in item.content if part.text is not None]
    return "".join(texts)
