"""`tool_use`: a penalty for calls of tools that fail or repeat, over all turns of a chat."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field, field_validator

from verifier_service.completion import ChatTurn, Completion
from verifier_service.patterns import compiled
from verifier_service.reason import Reason
from verifier_service.tool_calls.call import MAX_CALLS, BadCall
from verifier_service.tool_calls.reading import calls_in
from verifier_service.verifier import MAX_WEIGHT, Judge, Judgement, TextVerifier

FAILURE = (
    # Error: there is no file    [ERROR] refused    <error>no such tool</error>    fatal: no branch
    r"^[\[<(]?(?i:(fatal |internal )?error( code)?|exception|fatal)[\]>)]?( ?\d+)?"
    r"(:\s*($|[^\s\d.+-])|: ?\d{3} - | - )|^npm ERR!"
    r"|^(\[|<)(?i:error)[\]>]"
    # ValueError: no    requests.exceptions.ConnectTimeout    [Errno 2] No such file or directory
    r"|^[A-Za-z_][A-Za-z0-9_.]*(Error|Exception|Timeout)(:|$)|^\[Errno \d+\]"
    r"|^Traceback \(most recent call last\)|^[a-z]+_(error|limit_exceeded)$"
    # {"is_error": true}    {"isError": true}    {"error": "bad"}    {"error": {"code": -32601}}
    r"|\"(is_error|isError)\": ?true"
    r"|^\{ ?(\"[A-Za-z_]+\" ?: ?(\"[^\"\\]*\"|-?[0-9.]+|null|true|false), ?)*"
    r"\"error\" ?: ?(\"[^\"]|\{\s*\"|\[\s*[^\]\s]|true)"
)
"""The first or last line of an observation that tells of a failure, as Python, MCP and common tools
write it."""
MAX_PATTERN_CHARACTERS = 1000
# A fenced program: ```python\nprint(1)\n```
_BLOCK = re.compile(r"```(?:python|py|bash|sh)[ \t]*\n(.*?)```", re.DOTALL)


class ToolUseReason(Reason):
    """Reasons of `tool_use`; `details` has the numbers of calls that fail and that repeat."""

    CLEAN = "clean", "0, less the cost: no call fails, and none repeats an earlier one."
    NO_CALL = "no_call", "0: the completion calls no tool."
    FAILED = "failed_calls", "Below 0: some calls fail; others may repeat."
    REPEATED = "repeated_calls", "Below 0: no call fails, and some repeat an earlier one."


class _Round(NamedTuple):
    """The calls of one message, and the observations that answer it."""

    calls: list[str]
    num_malformed: int
    observations: list[str]


class ToolUse(TextVerifier):
    """(calls that fail or repeat / calls) * max_penalty - cost * calls."""

    purpose: ClassVar[str] = (
        "(calls that fail or repeat / calls) * max_penalty - cost * calls, over all messages of a "
        "chat; a call fails when it cannot be read or its observation tells of a failure, and "
        "repeats when an earlier one has the same name and arguments. Nothing is ever called"
    )
    score_range: ClassVar[tuple[float, float]] = (-1.0, 0.0)
    """The range with the defaults of `max_penalty`, which is the lower end, and of `cost`."""
    reasons: ClassVar[Iterable[Reason]] = ToolUseReason
    reads_turns: ClassVar[bool] = True
    is_stored: ClassVar[bool] = False
    """The store has the last message alone, by which nobody could judge again."""

    type: Literal["tool_use"] = "tool_use"
    form: Literal["tagged", "fenced"] = Field(
        default="tagged",
        description="tagged: calls are JSON in <tool_call>, or the message's `tool_calls`; fenced: "
        "they are fenced blocks of Python or bash",
    )
    failure: str = Field(
        default=FAILURE,
        max_length=MAX_PATTERN_CHARACTERS,
        description="pattern of RE2; an observation whose first or last line has a match tells of "
        "a failure",
    )
    count_repeats: bool = Field(default=True, description="whether repeated calls are penalised")
    max_penalty: float = Field(
        default=-1.0,
        ge=-MAX_WEIGHT,
        le=0,
        allow_inf_nan=False,
        description="score where every call fails or repeats, of any size below 0",
    )
    cost: float = Field(
        default=0.0,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="subtracted for each call, so that one has to be worth it",
    )

    @field_validator("failure")
    @classmethod
    def _is_pattern(cls, failure: str) -> str:
        compiled(failure)
        return failure

    @property
    def score_if_killed(self) -> float:
        """The highest penalty."""
        return self.max_penalty

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Return the judge of completions; no reference is needed."""
        return self._judge

    def _judge(self, completion: Completion) -> Judgement:
        turns = completion.turns or (ChatTurn("assistant", completion.text),)
        seen: set[str] = set()
        total = failed = repeated = 0
        for one in _rounds(turns, self.form):
            num_calls = len(one.calls) + one.num_malformed
            total += num_calls
            num_failed = min(num_calls, one.num_malformed + self._num_failures(one))
            new = {call for call in one.calls if call not in seen}
            num_repeated = len(one.calls) - len(new) if self.count_repeats else 0
            seen |= new
            failed += num_failed
            # A call that fails and repeats is one bad call.
            repeated += min(num_repeated, num_calls - num_failed)
        return self._judgement(total, failed, repeated)

    def _judgement(self, total: int, failed: int, repeated: int) -> Judgement:
        details = {"calls": total, "failed": failed, "repeated": repeated}
        if not total:
            return Judgement(0.0, ToolUseReason.NO_CALL)
        reason = ToolUseReason.CLEAN
        if failed + repeated:
            reason = ToolUseReason.FAILED if failed else ToolUseReason.REPEATED
        penalty = (failed + repeated) / total * -self.max_penalty + self.cost * total
        return Judgement(0.0 - penalty, reason, details=details)  # never -0.0

    def _num_failures(self, one: _Round) -> int:
        """The observations that tell of a failure; those of malformed calls are counted already."""
        pattern = _pattern(self.failure)
        told = sum(any(pattern.search(line) for line in _ends(text)) for text in one.observations)
        return max(0, told - one.num_malformed)


def _rounds(turns: Sequence[ChatTurn], form: str) -> list[_Round]:
    """Each message with calls, with the observations up to the next message of the policy."""
    rounds: list[_Round] = []
    for turn in turns:
        if turn.role == "assistant":
            rounds.append(_Round(*_calls(turn.text, form), []))
        elif rounds:
            rounds[-1].observations.append(turn.text)
    return [one for one in rounds if one.calls or one.num_malformed]


def _calls(text: str, form: str) -> tuple[list[str], int]:
    """The calls of a message in one form each, and the number of those that cannot be read."""
    if form == "fenced":
        return [block.strip() for block in _BLOCK.findall(text)][:MAX_CALLS], 0
    try:
        found = calls_in(text, "tagged")
    except BadCall:
        return [], 1
    return [json.dumps([one.name, one.arguments], sort_keys=True) for one in found], 0


def _ends(text: str) -> list[str]:
    """The first and the last line that have a sign."""
    stripped = text.strip()
    return [stripped.partition("\n")[0].rstrip(), stripped.rpartition("\n")[2].strip()]


@lru_cache(maxsize=64)
def _pattern(text: str) -> Any:
    return compiled(text)
