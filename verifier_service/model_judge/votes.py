"""Votes on one question: asked until more than half of all agree, or no longer can.

Nothing here decides for want of a vote: lost votes change no decision, they only leave it out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from verifier_service.model_judge.call_failed import CallFailed
from verifier_service.model_judge.reasons import CallReason
from verifier_service.model_judge.replies import Said

AskOnce = Callable[[int], Awaitable[Said]]
"""Asks for the vote of a number; raises CallFailed."""


@dataclass(frozen=True)
class Votes:
    """The votes that were given, and the reasons of those that are lost."""

    wanted: int
    given: list[Said]
    lost: list[CallReason]

    def num(self, decision: str) -> int:
        """Number of votes for a decision."""
        return sum(said.decision == decision for said in self.given)

    @property
    def decision(self) -> str | None:
        """The decision of more than half of all votes; None where there is none."""
        for said in self.given:
            if self.num(said.decision) > self.wanted // 2:
                return said.decision
        return None

    def probability(self, decision: str) -> float | None:
        """Mean probability of one of two decisions; None where no vote has any."""
        found = [
            one.probability if one.decision == decision else 1 - one.probability
            for one in self.given
            if one.probability is not None
        ]
        return sum(found) / len(found) if found else None


async def ask_votes(num_votes: int, ask: AskOnce) -> Votes:
    """Ask as few times as it takes for more than half of all votes.

    Args:
        num_votes: votes to ask for at most, an odd number.
        ask: asks for one vote.
    """
    votes = Votes(num_votes, [], [])
    while True:
        most = max((votes.num(said.decision) for said in votes.given), default=0)
        missing = num_votes // 2 + 1 - most
        first = len(votes.given) + len(votes.lost)
        if missing <= 0 or missing > num_votes - first:
            return votes
        for found in await _some_votes(ask, range(first, first + missing)):
            if isinstance(found, Said):
                votes.given.append(found)
            else:
                votes.lost.append(found)


async def _some_votes(ask: AskOnce, numbers: range) -> list[Said | CallReason]:
    if len(numbers) == 1:  # without a task of its own, which costs a tenth of a question
        return [await _vote(ask, numbers[0])]
    return await asyncio.gather(*(_vote(ask, number) for number in numbers))


async def _vote(ask: AskOnce, number: int) -> Said | CallReason:
    try:
        return await ask(number)
    except CallFailed as error:
        return error.reason
