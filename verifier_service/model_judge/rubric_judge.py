"""The model's verdict on a response by a rubric: each item by itself, or all in one call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec

from verifier_service.model_judge.asking import Asking
from verifier_service.model_judge.call_failed import CallFailed
from verifier_service.model_judge.judge_options import JudgeOptions
from verifier_service.model_judge.open_answer import quoted
from verifier_service.model_judge.reasons import CallReason
from verifier_service.model_judge.replies import JudgeReply, Said
from verifier_service.model_judge.rubric import OpenRubric, RubricItem, rubric_score
from verifier_service.model_judge.votes import Votes, ask_votes
from verifier_service.model_judge.wording import json_schema_constraint
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifier import MAX_EXTRACTED_CHARACTERS

TOKENS_FOR_ITEM = 8
"""Longest part of a reply about all items that tells of one."""


class _Met(msgspec.Struct, forbid_unknown_fields=True):
    """A reply about all items."""

    met: list[bool]


async def ask_rubric(asking: Asking, options: JudgeOptions, rubric: OpenRubric) -> Verdict:
    """Ask about the items that no rule decides."""
    start = time.perf_counter()
    open_items = [item for item in rubric.items if item.met is None]
    found: Sequence[bool | CallReason]
    if rubric.together and options.rubric_template.user_together is not None:
        found = await _all_together(asking, options, rubric, open_items)
    else:
        found = await asyncio.gather(
            *(_by_itself(asking, options, rubric, item) for item in open_items)
        )
    return _verdict(options, rubric, found, time.perf_counter() - start)


def _verdict(
    options: JudgeOptions, rubric: OpenRubric, found: Sequence[bool | CallReason], seconds: float
) -> Verdict:
    extracted = rubric.response[:MAX_EXTRACTED_CHARACTERS]
    details = options.decided(options.rubric_template, seconds)
    decided = [one for one in found if isinstance(one, bool)]
    lost = [one for one in found if isinstance(one, CallReason)]
    if lost:
        details["lost"] = len(lost)
        return Verdict(Outcome.FAILED, None, lost[-1], seconds, extracted, details)
    asked = iter(decided)
    met = [next(asked) if item.met is None else item.met for item in rubric.items]
    score = rubric_score(rubric.items, met)
    details |= score.details
    return Verdict(Outcome.SCORED, score.score, score.reason, seconds, extracted, details)


def _places(asking: Asking, rubric: OpenRubric) -> dict[str, str]:
    return {
        "problem": quoted(rubric.problem),
        "response": quoted(rubric.response),
        "mark": asking.mark(rubric.response),
    }


async def _by_itself(
    asking: Asking, options: JudgeOptions, rubric: OpenRubric, item: RubricItem
) -> bool | CallReason:
    """Whether an item is met, or why no votes decide."""
    template = options.rubric_template
    places = {**_places(asking, rubric), "criterion": quoted(item.text)}
    messages = template.filled(template.user, places)

    async def ask(_: int) -> Said:
        return await asking.said(template, options.model, messages)

    votes: Votes = await ask_votes(options.num_votes, ask)
    if votes.decision is None:
        return votes.lost[-1]
    return (votes.decision == "met") == item.expected


async def _all_together(
    asking: Asking, options: JudgeOptions, rubric: OpenRubric, items: Sequence[RubricItem]
) -> list[bool | CallReason]:
    """Whether each item is met, of one reply; a lost reply loses each."""
    template = options.rubric_template
    assert template.user_together is not None
    places = {**_places(asking, rubric), "criteria": quoted([item.text for item in items])}
    schema = {
        "type": "array",
        "items": {"type": "boolean"},
        "minItems": len(items),
        "maxItems": len(items),
    }
    content = {
        "model": options.model,
        "messages": template.filled(template.user_together, places),
        "temperature": 0,
        "max_tokens": template.max_tokens + TOKENS_FOR_ITEM * len(items),
        **json_schema_constraint("met", schema),
    }

    def read(reply: JudgeReply) -> list[bool]:
        text = reply.text.rpartition("</think>")[2].strip()
        try:
            met = msgspec.json.decode(text, type=_Met).met
        except msgspec.DecodeError as error:
            raise CallFailed(CallReason.UNREADABLE, may_pass=False) from error
        if reply.is_cut_off or len(met) != len(items):
            raise CallFailed(CallReason.UNREADABLE, may_pass=False)
        return met

    try:
        met = await asking.reply(content, read)
    except CallFailed as error:
        return [error.reason] * len(items)
    return [one == item.expected for one, item in zip(met, items, strict=True)]
