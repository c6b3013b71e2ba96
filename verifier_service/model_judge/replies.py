"""Replies of a model to a chat completion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from verifier_service.model_judge.call_failed import CallFailed
from verifier_service.model_judge.reasons import CallReason

_CUT_OFF = ("length", "content_filter")
"""Reasons why a reply ended before its end."""


class JudgeReply(msgspec.Struct, frozen=True):
    """The text of a reply, and what it cost."""

    text: str
    num_prompt_tokens: int = 0
    num_reply_tokens: int = 0
    is_cut_off: bool = False
    """Whether the reply met a limit before its end."""
    first_logprobs: Mapping[str, float] = {}
    """Log-probabilities of the likeliest first tokens, where they were asked for."""


class Said(NamedTuple):
    """The meaning of a reply: the name of the decision."""

    decision: str
    probability: float | None = None
    """Share of this decision in the probability of all allowed replies, where it was asked for."""


class _Message(msgspec.Struct):
    content: str | None = None


class _Token(msgspec.Struct):
    token: str
    logprob: float


class _Place(msgspec.Struct):
    top_logprobs: list[_Token] = []


class _Logprobs(msgspec.Struct):
    content: list[_Place] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Body(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


_body = msgspec.json.Decoder(_Body)


def read_reply(body: bytes) -> JudgeReply:
    """The reply in the body of a chat completion. Raises CallFailed."""
    try:
        found = _body.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CallFailed(CallReason.UNREADABLE) from error
    if len(found.choices) != 1:
        raise CallFailed(CallReason.UNREADABLE, may_pass=False)
    choice, usage = found.choices[0], found.usage or _Usage()
    return JudgeReply(
        choice.message.content or "",
        max(usage.prompt_tokens, 0),
        max(usage.completion_tokens, 0),
        choice.finish_reason in _CUT_OFF,
        _first_logprobs(choice.logprobs),
    )


def _first_logprobs(found: _Logprobs | None) -> dict[str, float]:
    """Log-probabilities of the tokens that may come first; equal texts keep the likelier."""
    places = (found.content if found is not None else None) or [_Place()]
    tokens = sorted(places[0].top_logprobs, key=lambda one: one.logprob)
    return {one.token: one.logprob for one in tokens}
