"""slime's remote reward: `--rm-type remote_rm --rm-url http://host:8080/compat/slime/rm`.

    {"prompt", "response", "label"} -> a number, or with ?reward_key=score an object

The client waits 120 s, tries ten times whatever the error, then ends the run. A number has no word
for a label that does not permit to judge, and is 0; the object has `judged`.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from verifier_service.compat.completions import DEFAULT_PROFILE, ProfileName, judge, verifiers_of
from verifier_service.compat.label import reference_of
from verifier_service.compat.route import StrictRoute

DEADLINE_SECONDS = 100.0

router = APIRouter(route_class=StrictRoute, tags=["slime"])


class Sample(BaseModel):
    """One sample."""

    model_config = ConfigDict(extra="ignore")

    prompt: Any = None
    response: str
    label: Any = Field(default=None, description="an answer, tests, or a whole `reference`")


@router.post("/compat/slime/rm")
async def rm(
    body: Sample,
    request: Request,
    profile: ProfileName = DEFAULT_PROFILE,
    reward_key: Annotated[
        str | None, Query(description="answer an object with the reward under this key")
    ] = None,
) -> float | dict[str, float | str]:
    """Reward a sample by its label, as slime's `remote_rm` expects it."""
    verifiers = verifiers_of(request, profile)
    items = [(body.response, reference_of(body.label))]
    (judged,) = await judge(request, items, verifiers, deadline_seconds=DEADLINE_SECONDS)
    if reward_key is None:
        return judged.number
    scores = {name: verdict.score or 0.0 for name, verdict in judged.verdicts.items()}
    return {
        **scores,
        "acc": judged.score,
        "judged": float(judged.reward is not None),
        "reason": judged.first.reason,
        reward_key: judged.number,
    }
