"""Second opinions on scored completions: the rules of `accuracy`, and those of math-verify."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from verifier_service.audit.scored_rows import ScoredRow
from verifier_service.engine.engine import Engine
from verifier_service.engine.in_flight import in_flight
from verifier_service.engine.mixed_scoring import scoring_of
from verifier_service.schemas import Group, ScoreRequest
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifiers.accuracy import Accuracy

RULES_TITLE = "the rules of accuracy"
_RULES = "rules"
MATH_VERIFY = Accuracy(name="math_verify", mode="math_verify")
ROWS_PER_REQUEST = 64


@dataclass(frozen=True)
class Opinions:
    """The opinions on one completion; None where one has none."""

    rules: bool | None = None
    rules_reason: str = ""
    math_verify: bool | None = None
    answer: str = ""
    """The answer that the rules found in the completion."""


async def opinions_on(
    engine: Engine,
    rows: list[ScoredRow],
    on_judged: Callable[[int], None] = lambda number: None,
    *,
    rules: Accuracy | None = None,
) -> dict[int, Opinions]:
    """The opinions on the completions that have an answer to compare with, by index.

    Args:
        engine: judges.
        rows: scored completions.
        on_judged: is called with a number of rows that got opinions.
        rules: has the options of the rules; default: none.
    """
    own = (rules or Accuracy()).model_copy(update={"name": _RULES})
    judged = [row for row in rows if row.answers]
    found: dict[int, Opinions] = {}
    starts = range(0, len(judged), ROWS_PER_REQUEST)
    batches = (judged[start : start + ROWS_PER_REQUEST] for start in starts)
    async with in_flight(_opinions(engine, own, some) for some in batches) as opinions:
        async for some in opinions:
            found.update(some)
            on_judged(len(some))
    return found


async def _opinions(engine: Engine, rules: Accuracy, rows: list[ScoredRow]) -> dict[int, Opinions]:
    groups = [
        Group.model_construct(reference={"answer": list(row.answers)}, completions=[row.completion])
        for row in rows
    ]
    request = ScoreRequest.model_construct(verifiers=[rules, MATH_VERIFY], groups=groups)
    scored = await scoring_of(request, engine).run(math.inf)
    return {
        row.index: _opinion(one[_RULES], one["math_verify"])
        for row, [one] in zip(rows, scored.groups, strict=True)
    }


def _opinion(rules: Verdict, math_verify: Verdict) -> Opinions:
    return Opinions(
        _accepts(rules), str(rules.reason), _accepts(math_verify), rules.extracted or ""
    )


def _accepts(verdict: Verdict) -> bool | None:
    return verdict.score == 1.0 if verdict.outcome is Outcome.SCORED else None
