"""slime's remote reward: `--rm-type remote_rm --rm-url http://host:8080/compat/slime/rm`.

    {"prompt", "response", "label"} -> a number, or with ?reward_key=score an object

The client waits 120 s, tries ten times whatever the error, then ends the run. If the label does not
permit to judge, the number is 0; the object tells the two apart by `judged`.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field

from verifier_service.compat.completions import (
    DEFAULT_PROFILE,
    ProfileQuery,
    rewarded,
    verifiers_of,
)
from verifier_service.compat.label import reference_of
from verifier_service.compat.route import StrictRoute
from verifier_service.compat.rule_fields import RuledBody

DEADLINE_SECONDS = 100.0

router = APIRouter(route_class=StrictRoute, tags=["slime"])


class Sample(RuledBody):
    """A response of a model and the label of its prompt."""

    prompt: Any = None
    response: str
    label: Any = Field(default=None, description="an answer, tests, or a whole `reference`")


@router.post("/compat/slime/rm")
async def rm(
    body: Sample,
    request: Request,
    profile: ProfileQuery = DEFAULT_PROFILE,
    reward_key: Annotated[
        str | None, Query(description="respond with an object that has the reward under this key")
    ] = None,
) -> float | dict[str, float | str]:
    """Reward a sample by its label, as slime's `remote_rm` expects it."""
    verifiers = verifiers_of(request, profile)
    items = [(body.response, reference_of(body.label))]
    (judged,) = await rewarded(request, items, verifiers, deadline_seconds=DEADLINE_SECONDS)
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
