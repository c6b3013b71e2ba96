"""The curves of a report: which are drawn, how large, and which say nothing and are only named.

A point is `[step, value]`, or `[step, mean, lowest, highest]` where it stands for several steps.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from trainer_client.run.guards import largest_group_std
from trainer_client.run.logged_run import LoggedRun

Points = list[list[float]]

MAX_POINTS = 400
"""Most points of one curve; a longer run's are means over neighbours."""
MAX_REASONS = 7
"""Most reasons of a source that have an area of their own; the others share one."""
ROUNDING = 1e-9
"""Values up to this size are 0 but for rounding."""
ROUNDING_OF_KL = 1e-6
"""KL between sampler and policy, in nats, that float32 makes of equal distributions."""
SAME = 1e-6
"""Relative difference up to which values count as equal."""
SHARE = (0.0, 1.0)
"""Range of the axis of a share."""


@dataclass(frozen=True)
class Series:
    """One curve."""

    name: str
    """The words of the legend."""
    metric: str
    """The key in `metrics.jsonl`."""
    points: Points


@dataclass(frozen=True)
class Chart:
    """Curves with one unit."""

    title: str
    unit: str
    series: Sequence[Series]
    range: tuple[float, float] | None = None
    """Begin and end of the axis; None: they follow from the values."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """The run's own limits, by what happens there."""
    smooth: bool = False
    rounding: float = ROUNDING


def charts(run: LoggedRun) -> dict[str, list[object]]:
    """`large` and `small` charts, and `quiet`: sentences on the curves that are not drawn.

    A curve is not drawn where it is constant, where it is rounding, or where it is another one
    again. Of the large charts, a constant one is news.
    """
    drawn: list[tuple[str, Points]] = []
    found: dict[str, list[object]] = {"large": [], "small": [], "quiet": []}
    for size, planned in (("large", _large_charts(run)), ("small", _small_charts(run))):
        for chart in planned:
            series = []
            for one in chart.series:
                why = _already_drawn(one, drawn)
                if why is not None or size == "small":
                    why = _says_nothing(one, chart) or why
                if why is None:
                    drawn.append((one.name, one.points))
                    series.append(one)
                else:
                    where = f"{chart.title}, " if len(chart.series) > 1 else ""
                    found["quiet"].append(f"{where}{why}")
            if series:
                found[size].append(_drawable(chart, series))
    return found


def _drawable(chart: Chart, series: Sequence[Series]) -> dict[str, object]:
    shortened = [{**asdict(one), "points": _shortened(one.points)} for one in series]
    return {**asdict(chart), "series": shortened}


def _already_drawn(one: Series, drawn: Iterable[tuple[str, Points]]) -> str | None:
    """The sentence that names a curve with the same points."""
    for name, points in drawn:
        if len(points) == len(one.points) and all(
            a[0] == b[0] and math.isclose(a[1], b[1], rel_tol=SAME, abs_tol=ROUNDING)
            for a, b in zip(points, one.points, strict=True)
        ):
            return f"{one.name}: the same as {name}"
    return None


def _says_nothing(one: Series, chart: Chart) -> str | None:
    """The sentence on a curve that is constant, or nothing but rounding."""
    values = [point[1] for point in one.points]
    size = max(map(abs, values))
    if size <= chart.rounding:
        bound = f", but for rounding (at most {size:.0e})" if size else ""
        return f"{one.name}: 0 throughout{bound}"
    if len(values) > 1 and max(values) - min(values) <= SAME * size:
        return f"{one.name}: {values[0]:.4g} throughout"
    return None


def _large_charts(run: LoggedRun) -> Iterator[Chart]:
    """The main score, held-out pass@k, and the KL, or else the length."""
    main = run.config.main.key
    score = _series(run, f"reward/{main}", f"{main}, mean score")
    yield Chart(f"{main} in training", "mean score", score, _share_range(score), smooth=True)
    names = [
        f"{evaluation.prefix}/pass@{k}"
        for evaluation in run.config.evaluation
        for k in evaluation.k
    ]
    held_out = [
        series for name in names for series in _series(run, name, name.removeprefix("evaluation/"))
    ]
    yield Chart("Held-out problems", "share of problems", held_out, SHARE)
    yield _kl_chart(run) if run.values("policy/kl_divergence") else _length_chart(run)


def _kl_chart(run: LoggedRun) -> Chart:
    guards = run.config.guards
    limits = {"warns above": guards.warn_if_kl_above, "stops above": guards.stop_if_kl_above}
    return Chart(
        "KL to the start policy",
        "nats per token",
        _series(run, "policy/kl_divergence", "KL"),
        limits={name: value for name, value in limits.items() if value is not None},
    )


def _length_chart(run: LoggedRun) -> Chart:
    return Chart(
        "Completion length",
        "tokens",
        _series(run, "completion/length", "mean length"),
        limits={"cut off at": run.config.rollout.max_completion_tokens},
        smooth=True,
    )


def _small_charts(run: LoggedRun) -> Iterator[Chart]:
    yield from _reward_charts(run)
    yield from _teaching_charts(run)
    yield from _policy_charts(run)
    yield from _episode_charts(run)
    yield from _cost_charts(run)


def _reward_charts(run: LoggedRun) -> Iterator[Chart]:
    config = run.config
    weighted = [source for source in config.sources if source.weight]
    if len(weighted) > 1:  # the sum of one score is that score's curve again, in another scale
        total = _series(run, "reward/total", "reward")
        yield Chart("Reward, weighted sum", "reward", total, smooth=True)
    others = [source.key for source in config.sources if source.key != config.main.key]
    scores = [one for key in others for one in _series(run, f"reward/{key}", key)]
    yield Chart("Other scores", "mean score", scores, _share_range(scores))
    yield _share_chart(run, "Solve rate", "reward/solve_rate", "mean solve rate of problems")
    if config.is_mixed:
        labels = [one.name_in_metrics for one in config.dataset]
        rates = [
            series
            for label in labels
            for series in _series(run, f"dataset/{label}/reward/solve_rate", label)
        ]
        yield Chart("Solve rate by data set", "mean solve rate of problems", rates, SHARE)


def _teaching_charts(run: LoggedRun) -> Iterator[Chart]:
    guards = run.config.guards
    yield Chart(
        "Problems that teach nothing",
        "share of problems",
        [
            *_series(run, "reward/zero_variance_fraction", "equal rewards"),
            *_series(run, "reward/never_solved_fraction", "never solved"),
            *_series(run, "reward/always_solved_fraction", "always solved"),
        ],
        SHARE,
        limits=_limit("warns: equal rewards above", guards.warn_if_zero_variance_above),
    )
    spread = guards.warn_if_spread_below
    if run.config.is_mixed:  # each data set has its own limit
        spread = None
    largest = largest_group_std(run.config.sources)
    yield Chart(
        "Spread of rewards within groups",
        "standard deviation",
        _series(run, "reward/group_std", "mean std"),
        limits=_limit("warns below", None if spread is None else spread * largest),
    )
    std = _series(run, "advantage/std", "advantage std")
    yield Chart("Spread of advantages", "standard deviation", std)


def _policy_charts(run: LoggedRun) -> Iterator[Chart]:
    if run.values("policy/kl_divergence"):
        yield _length_chart(run)
    for title, key, name in (
        ("Cut-off completions", "completion/truncated_fraction", "cut off at the token limit"),
        ("Clipped tokens", "policy/clip_fraction", "clipped"),
        ("References at fault", "verifier/unverifiable_fraction", "unverifiable verdicts"),
        ("Service at fault", "verifier/failed_fraction", "failed verdicts"),
    ):
        yield _share_chart(run, title, key, name)
    entropy = _series(run, "policy/entropy", "entropy")
    yield Chart("Entropy", "nats per token", entropy)
    yield Chart(
        "KL between sampler and policy",
        "nats per token",
        _series(run, "policy/sampler_kl", "KL between sampler and policy"),
        rounding=ROUNDING_OF_KL,
    )
    if run.values("staleness/mean"):
        yield Chart(
            "Staleness", "weight updates", _series(run, "staleness/mean", "mean of the tokens")
        )
    yield Chart(
        "Gradient norm",
        "norm",
        _series(run, "policy/grad_norm", "gradient norm"),
        limits={"clipped above": run.config.optimizer.max_grad_norm},
    )


def _episode_charts(run: LoggedRun) -> Iterator[Chart]:
    """Turns, the environment's own counts such as calls, observations, time, ends and losses."""
    ends, observed, time, lost = (
        f"episode/{name}"
        for name in ("ended_by/", "observation_tokens", "environment_seconds", "lost_groups")
    )
    counts = [
        one
        for one in _all_series(run, "episode/")
        if not one.metric.startswith(ends) and one.metric not in (observed, time, lost)
    ]
    yield Chart("Turns and calls", "mean of an episode", counts)
    yield Chart("Observations", "tokens an episode", _series(run, observed, "observation tokens"))
    yield Chart("Time in tools", "seconds an episode", _series(run, time, "time in tools"))
    yield Chart("Ends of episodes", "share of episodes", _all_series(run, ends), SHARE)
    yield Chart("Lost groups", "groups a step", _series(run, lost, "groups lost"))


def _cost_charts(run: LoggedRun) -> Iterator[Chart]:
    rate = _series(run, "policy/learning_rate", "learning rate")
    yield Chart("Learning rate", "per update", rate)
    yield Chart("Time", "seconds a step", _all_series(run, "time/"))
    yield Chart("Throughput", "tokens a second", _all_series(run, "tokens/"))


def _all_series(run: LoggedRun, prefix: str) -> list[Series]:
    """The curves of all metrics whose name begins so."""
    present = dict.fromkeys(name for row in run.history for name in row)
    return [
        one
        for name in present
        if name.startswith(prefix)
        for one in _series(run, name, name.removeprefix(prefix).replace("_", " "))
    ]


def _share_chart(run: LoggedRun, title: str, metric: str, name: str) -> Chart:
    return Chart(title, "share", _series(run, metric, name))


def _limit(name: str, value: float | None) -> dict[str, float]:
    return {} if value is None else {name: value}


def _share_range(series: Sequence[Series]) -> tuple[float, float] | None:
    """0 to 1 where all values lie there; scores of functions and models may be others."""
    values = [point[1] for one in series for point in one.points]
    return SHARE if values and min(values) >= 0 and max(values) <= 1 else None


def _series(run: LoggedRun, metric: str, name: str) -> list[Series]:
    """The curve of a metric; empty where it was never logged."""
    points: Points = [[step, value] for step, value in run.values(metric).items()]
    return [Series(name, metric, points)] if points else []


def _shortened(points: Points) -> Points:
    """Points to draw, `MAX_POINTS` at most; each may be the mean of some, with their extremes."""
    size = math.ceil(len(points) / MAX_POINTS)
    if size == 1:
        return points
    parts = [points[start : start + size] for start in range(0, len(points), size)]
    return [_mean_point(part) for part in parts]


def _mean_point(part: Points) -> list[float]:
    values = [value for _, value in part]
    return [part[-1][0], sum(values) / len(values), min(values), max(values)]


def reasons(run: LoggedRun) -> list[dict[str, object]]:
    """The reasons of each source's verdicts, the commonest first, as shares of a step's verdicts.

    `count` of a reason is its number of verdicts in the whole run; None in a run of a version that
    did not log how many completions a step had.
    """
    by_source: dict[str, set[str]] = defaultdict(set)
    for row in run.history:
        for name in row:
            if name.startswith("reason/"):
                source, _, reason = name.removeprefix("reason/").rpartition("/")
                by_source[source].add(reason)
    weights = {source.key: source.weight for source in run.config.sources}
    order = sorted(by_source, key=lambda key: -weights.get(key, 0.0))
    return [
        {"source": key, "reasons": _reasons_of(run.history, key, by_source[key])} for key in order
    ]


def _reasons_of(
    history: Sequence[Mapping[str, float]], source: str, names: Iterable[str]
) -> list[dict[str, object]]:
    prefix = f"reason/{source}/"
    rows = [row for row in history if any(name.startswith(prefix) for name in row)]
    shares = {name: [row.get(prefix + name, 0.0) for row in rows] for name in names}
    order = sorted(shares, key=lambda name: (-sum(shares[name]), name))
    if len(order) > MAX_REASONS + 1:
        rest = [shares[name] for name in order[MAX_REASONS:]]
        shares["other reasons"] = [sum(values) for values in zip(*rest, strict=True)]
        order = [*order[:MAX_REASONS], "other reasons"]
    steps = [row["step"] for row in rows]
    counts = [row.get("completion/count") for row in rows]
    return [
        {
            "name": name,
            "count": _total(shares[name], counts),
            "points": [
                point[:2]
                for point in _shortened([list(p) for p in zip(steps, shares[name], strict=True)])
            ],
        }
        for name in order
    ]


def _total(shares: Sequence[float], counts: Sequence[float | None]) -> int | None:
    """The number of verdicts; None where a step's number of completions is unknown."""
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return None
    return sum(round(share * count) for share, count in zip(shares, known, strict=True))
