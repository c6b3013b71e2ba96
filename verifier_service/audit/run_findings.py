"""Findings about a run as a whole: rewards that saturate, rise alone, or follow length."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, fmean

from verifier_service.audit.scored_rows import ScoredRow, groups_of
from verifier_service.audit.second_opinions import RULES_TITLE, Opinions

SATURATED_SHARE = 0.99
MIN_CHANGE = 0.05
"""Least change of a mean, of its range of 1, that counts as a rise or a fall."""
MIN_LENGTH_GROWTH = 1.5
MIN_CORRELATION = 0.5
MIN_ROWS = 20
SAME_SCORES_SHARE = 0.5
MAX_DISAGREEMENT = 0.02
NUM_PERIODS = 4


@dataclass(frozen=True)
class RunFinding:
    """A finding about the run."""

    kind: str
    message: str


def run_findings(
    rows: Sequence[ScoredRow], source: str, opinions: Mapping[int, Opinions]
) -> list[RunFinding]:
    """The findings about a run, whose main source is named."""
    sources = sorted({name for row in rows for name in row.verdicts})
    return [
        *_saturated(rows, sources),
        *_rising_alone(rows, source, sources),
        *_following_length(rows, source, sources),
        *_without_variance(rows, source),
        *_disagreements(rows, source, opinions),
    ]


def reasons_over_time(rows: Sequence[ScoredRow], source: str) -> list[tuple[str, list[float]]]:
    """The share of each reason of a source in each quarter of the steps, the commonest first.

    Sources without reasons have their scores; where there are no steps either, nothing is left to
    say.
    """
    if not any(row.step is not None or _has_reason(row, source) for row in rows):
        return []
    periods = [Counter(_reason(row, source) for row in some) for some in _periods(rows)]
    names = [name for name, _ in sum(periods, Counter()).most_common() if name]
    return [(name, [one[name] / max(1, one.total()) for one in periods]) for name in names]


def _has_reason(row: ScoredRow, source: str) -> bool:
    return source in row.verdicts and bool(row.verdicts[source].reason)


def _reason(row: ScoredRow, source: str) -> str:
    verdict = row.verdicts.get(source)
    if verdict is None or verdict.score is None:
        return "not scored" if verdict is None or not verdict.reason else verdict.reason
    return verdict.reason or f"{verdict.score:g}"


def _periods(rows: Sequence[ScoredRow]) -> list[list[ScoredRow]]:
    """The rows by quarters of the steps; all of them where there are no steps."""
    steps = sorted({row.step for row in rows if row.step is not None})
    if len(steps) < NUM_PERIODS:
        return [list(rows)]
    period = {step: NUM_PERIODS * place // len(steps) for place, step in enumerate(steps)}
    found: list[list[ScoredRow]] = [[] for _ in range(NUM_PERIODS)]
    for row in rows:
        if row.step is not None:
            found[period[row.step]].append(row)
    return found


def _scores(rows: Sequence[ScoredRow], source: str) -> list[float]:
    found = (row.verdicts[source].score for row in rows if source in row.verdicts)
    return [score for score in found if score is not None]


def _saturated(rows: Sequence[ScoredRow], sources: Sequence[str]) -> Iterator[RunFinding]:
    for source in sources:
        scores = _scores(rows, source)
        if len(scores) < MIN_ROWS:
            continue
        [(score, number)] = Counter(scores).most_common(1)
        if number >= SATURATED_SHARE * len(scores):
            told = f"{source} gives {score:g} to {number / len(scores):.1%} of the completions"
            yield RunFinding("saturated", f"{told}: it tells none from another")


def _change(rows: Sequence[ScoredRow], source: str) -> float:
    """The change of a source's mean from the first to the last quarter."""
    periods = _periods(rows)
    means = [fmean(found) for some in periods if (found := _scores(some, source))]
    return means[-1] - means[0] if len(means) > 1 else 0.0


def _rising_alone(
    rows: Sequence[ScoredRow], main: str, sources: Sequence[str]
) -> Iterator[RunFinding]:
    fall = _change(rows, main)
    if fall > -MIN_CHANGE:
        return
    for source in sources:
        rise = _change(rows, source)
        if source != main and rise >= MIN_CHANGE:
            told = f"{source} rises by {rise:.2f} while {main} falls by {-fall:.2f}"
            yield RunFinding("rises_alone", f"{told}: look at what it rewards")


def _following_length(
    rows: Sequence[ScoredRow], main: str, sources: Sequence[str]
) -> Iterator[RunFinding]:
    periods = [some for some in _periods(rows) if some]
    if len(periods) > 1:
        first, last = (fmean(len(row.completion) for row in periods[one]) for one in (0, -1))
        if last >= MIN_LENGTH_GROWTH * first and _change(rows, main) < MIN_CHANGE:
            told = f"completions grow from {first:.0f} to {last:.0f} characters and {main} does not"
            yield RunFinding("length", told)
    wrong = [row for row in rows if row.is_accepted(main) is False]
    for source in sources:
        some = [
            (len(row.completion), row.verdicts[source].score)
            for row in wrong
            if source in row.verdicts
        ]
        pairs = [(length, score) for length, score in some if score is not None]
        if source == main or len(pairs) < MIN_ROWS:
            continue
        try:
            follows = correlation(*zip(*pairs, strict=True))
        except StatisticsError:  # all have one length, or one score
            continue
        if abs(follows) >= MIN_CORRELATION:
            told = f"among wrong completions {source} follows the length (r = {follows:.2f})"
            yield RunFinding("length", told)


def _without_variance(rows: Sequence[ScoredRow], main: str) -> Iterator[RunFinding]:
    groups = [found for some in groups_of(rows) if len(found := _scores(some, main)) > 1]
    same = sum(min(scores) == max(scores) for scores in groups)
    if groups and same >= SAME_SCORES_SHARE * len(groups):
        told = f"in {same} of {len(groups)} groups all completions have the same score of {main}"
        yield RunFinding("no_variance", f"{told}: they teach nothing")


def _disagreements(
    rows: Sequence[ScoredRow], main: str, opinions: Mapping[int, Opinions]
) -> Iterator[RunFinding]:
    counts: defaultdict[str, list[bool]] = defaultdict(list)
    for row in rows:
        accepted, opinion = row.is_accepted(main), opinions.get(row.index)
        if accepted is None or opinion is None:
            continue
        for name, other in ((RULES_TITLE, opinion.rules), ("math-verify", opinion.math_verify)):
            if other is not None:
                counts[name].append(other != accepted)
    for name, differs in counts.items():
        if sum(differs) > MAX_DISAGREEMENT * len(differs):
            told = f"{main} and {name} disagree about {sum(differs)} of {len(differs)}"
            yield RunFinding("disagreement", f"{told} ({fmean(differs):.1%})")
