"""OpenRLHF's remote reward: `--reward.remote_url http://host:8080/compat/openrlhf/get_reward`.

    {"query": [...], "prompts": [...], "labels": [...]} -> {"rewards", "scores", "extra_logs"}

The client waits 180 s and tries five times, whatever the error. It knows no missing reward: if the
label does not permit to judge, the reward is 0 and `extra_logs.unjudged` is 1.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, model_validator

from verifier_service.compat.completions import (
    DEFAULT_PROFILE,
    ProfileQuery,
    rewarded,
    verifiers_of,
)
from verifier_service.compat.label import reference_of
from verifier_service.compat.route import StrictRoute
from verifier_service.compat.rule_fields import RuledBody

DEADLINE_SECONDS = 150.0

router = APIRouter(route_class=StrictRoute, tags=["OpenRLHF"])

# The marker before a turn of the assistant in the templates of ChatML (Qwen), Llama 3 and 4,
# Gemma, Mistral, Phi, DeepSeek and Granite: `<|im_start|>assistant`.
_ASSISTANT = re.compile(
    r"<\|im_start\|>assistant\n?"
    r"|<\|(?:start_header_id|header_start)\|>assistant<\|(?:end_header_id|header_end)\|>\s{0,2}"
    r"|<start_of_turn>model\n?|\[/INST\]|<\|assistant\|>\n?|<｜Assistant｜>"  # noqa: RUF001
    r"|<\|start_of_role\|>assistant<\|end_of_role\|>"
)
_IN_MARKERS = (
    *("|>assistant", "<start_of_turn>model", "[/INST]", "<|assistant|>"),
    "<｜Assistant｜>",  # noqa: RUF001
)
"""Texts of which each marker before a turn has one; looking for them takes a tenth of the time."""
_END_MARKERS = (
    *("<|im_end|>", "<|eot_id|>", "<|eot|>", "<|end_of_text|>", "<|endoftext|>", "<|eom_id|>"),
    *("<|end|>", "<|begin_of_text|>", "<end_of_turn>", "<eos>", "<pad>", "</s>"),
    "<｜end▁of▁sentence｜>",  # noqa: RUF001
)
# End markers at the end of a text, matched in the reversed text: `</s>` as `>s/<`. Matched forward,
# every marker within the text would start a search up to its end.
_END = re.compile(rf"(?:\s*+(?:{'|'.join(re.escape(marker[::-1]) for marker in _END_MARKERS)}))*+")


class RewardRequest(RuledBody):
    """Queries with their prompts and labels; older clients send `query` alone."""

    query: list[str] = Field(
        description="prompts with their responses, special tokens included", fail_fast=True
    )
    prompts: list[Any] = Field(default=[])
    labels: list[Any] = Field(
        default=[], description="references: texts, or the JSON text of a `reference`"
    )

    @model_validator(mode="before")
    @classmethod
    def _lists(cls, value: Any) -> Any:
        """A scalar is a list of one, null a list of none."""
        if not isinstance(value, dict):
            return value
        return {
            key: [] if part is None else part if isinstance(part, list) else [part]
            for key, part in value.items()
        }

    @model_validator(mode="after")
    def _lengths_agree(self) -> RewardRequest:
        for name, part in (("prompts", self.prompts), ("labels", self.labels)):
            if part and len(part) != len(self.query):
                raise ValueError(f"{len(part)} {name} for {len(self.query)} queries")
        return self


class RewardResponse(BaseModel):
    """A reward and a score for each query."""

    rewards: list[float] = Field(description="weighted sums, the profile's `reward`")
    scores: list[float] = Field(description="of the profile's first verifier, between 0 and 1")
    extra_logs: dict[str, list[float]] = Field(
        description="`unjudged`, and the score of each verifier by its name"
    )


@router.post("/compat/openrlhf/get_reward")
@router.post("/get_reward")
async def get_reward(
    body: RewardRequest,
    request: Request,
    profile: ProfileQuery = DEFAULT_PROFILE,
    strip: Annotated[
        bool, Query(description="judge the text after the prompt, without chat markers")
    ] = True,
) -> RewardResponse:
    """Reward queries by their labels, as OpenRLHF's reward server does."""
    verifiers = verifiers_of(request, profile)
    prompts = body.prompts or [None] * len(body.query)
    labels = body.labels or [None] * len(body.query)
    items = [
        (response_in(query, prompt) if strip else query, reference_of(label))
        for query, prompt, label in zip(body.query, prompts, labels, strict=True)
    ]
    judged = await rewarded(request, items, verifiers, deadline_seconds=DEADLINE_SECONDS)
    logs = {
        verifier.key: [one.verdicts[verifier.key].score or 0.0 for one in judged]
        for verifier in verifiers
    }
    return RewardResponse(
        rewards=[one.number for one in judged],
        scores=[one.score for one in judged],
        extra_logs={**logs, "unjudged": [float(one.reward is None) for one in judged]},
    )


def response_in(query: str, prompt: Any) -> str:
    """The response in a query: the text after the prompt, or the last turn of the assistant.

    A prompt is looked for first. A response may contain a marker itself, and the text before it
    would be lost. End markers are removed at the end only.

    >>> response_in("<|im_start|>user\\n2+2?<|im_end|>\\n<|im_start|>assistant\\n4<|im_end|>", None)
    '4'
    >>> response_in("2+2? Answer: 4</s>", "2+2?")
    ' Answer: 4'
    """
    if isinstance(prompt, str) and prompt and query.startswith(prompt):
        response = query[len(prompt) :]
    elif not any(text in query for text in _IN_MARKERS):
        response = query
    else:
        # A deque keeps the last one only: a list of all matches could take gigabytes.
        openings = deque(_ASSISTANT.finditer(query), maxlen=1)
        response = query[openings[0].end() :] if openings else query
    if not response.rstrip().endswith(">"):
        return response
    end = _END.match(response[::-1])
    assert end is not None  # it may be empty
    return response[: len(response) - end.end()]
