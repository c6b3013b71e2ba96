"""A resource server of NeMo Gym: `POST /verify` and its companions.

The body is a model's response (OpenAI's Responses API) with the task's fields at its top level. The
response is the whole body with a `reward`. The fields decide which verifier judges:

| fields | verifier | as the server |
|---|---|---|
| `verifier_metadata.unit_tests` | `code` | code_gen |
| `options` and `expected_answer` | `multiple_choice` | mcqa |
| `instruction_id_list`, `kwargs` | `instruction_following` | instruction_following, ifbench |
| `schema_str`, `schema_type` | `structured_output` | structured_outputs |
| `n_needles`, `random_string_to_prepend` | `string_similarity` | mrcr |
| `problem_type` | `string_similarity` (set_f1) | graphwalks |
| `match_type` | `string_similarity` (contains) | ruler2 |
| `expected_action` | `tool_calls` | single_step_tool_use_with_argument_comparison |
| `metadata.source_dataset` | `reasoning_gym` | reasoning_gym |
| `expected_output` | `puzzle` (grid) or `code` | arc_agi, nvarc |
| `exp_cal_state` | `puzzle` (schedule) | calendar |
| `expected_judgement` | `multiple_choice` | math_proof_judgement |
| `max_dist` | `puzzle` (point) | gui_coordinate |
| `expected_answer` | `accuracy` | math_with_judge |
| `reference` | those of the profile | |

A task with a field of another rule (`nemo_gym_tasks.UNSERVED_RULES`) is refused by name.

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
    UnusableReference,
    rewarded,
    verifiers_of,
)
from verifier_service.compat.label import reference_of
from verifier_service.compat.nemo_gym_plan import OtherRule, TaskPlan
from verifier_service.compat.nemo_gym_tasks import call_in_tags, plan_for
from verifier_service.compat.route import StrictRoute
from verifier_service.http.error_statuses import ApiError

DEADLINE_SECONDS = 25.0
JUDGE_FAILED = "judge_failed"

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
    verifiers, reference, text = _plan(request, body, profile)
    items = [(text, reference)]
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


def _plan(request: Request, body: VerifyRequest, profile: str | None) -> TaskPlan:
    """The verifiers and the reference of a task, and what they judge. Raises RequestError."""
    text = _text_of(body.response)
    reference = body.reference or {}
    if body.expected_answer is not None:
        reference = {"answer": body.expected_answer, **reference}
    if isinstance(tests := (body.verifier_metadata or {}).get("unit_tests"), Mapping):
        reference = {"tests": dict(tests), **reference}
    if profile is not None:
        return verifiers_of(request, profile), reference, text
    try:
        task = _task(body, reference.get("tests"))
        plan = plan_for(task, text, text + _calls_of(body.response))
        if isinstance(unusable := reference_of(body.reference), UnusableReference):
            raise OtherRule(unusable.message)
    except OtherRule as error:
        raise ApiError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "unknown_task",
            f"{error}: another rule would give a reward that looks right; name a `profile` whose "
            "verifiers implement it",
        ) from error
    if plan is None:
        return verifiers_of(request, DEFAULT_PROFILE), reference, text
    verifiers, own, judged = plan
    return verifiers, {**own, **reference}, judged


def _task(body: VerifyRequest, tests: Any) -> dict[str, Any]:
    """The fields of a task, those in `verifier_metadata` included."""
    known = {
        "options": body.options,
        "expected_answer": body.expected_answer,
        "tools": body.responses_create_params.get("tools"),
        "unit_tests": tests if isinstance(tests, Mapping) else None,
    }
    return {**(body.verifier_metadata or {}), **(body.model_extra or {}), **known}


def _calls_of(response: ModelResponse) -> str:
    """The model's calls of tools, as `tool_calls` reads them."""
    calls = (item.model_extra or {} for item in response.output if item.type == "function_call")
    return "".join(call_in_tags(call.get("name"), call.get("arguments")) for call in calls)


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
